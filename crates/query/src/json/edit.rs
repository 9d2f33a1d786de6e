//! Sets one value inside a document: only what changes is written again.
//!
//! # Example
//! `{"a": [1, 2]}` with `.a[1]` set to `"x"`. The walk goes through the object to its value `a`, then to the array's second item,
//! and keeps for both the place of the end that follows them. The item's bytes are replaced, and these ends move by the
//! difference. `.a[2]` is one behind the last item: the array's bytes are replaced by those of an array with one item more.

use super::form::{ARRAY, JSON_DEPTH_MAX, JsonStep, OBJECT};
use super::read::{item_ranges, member_ranges};

/// Why a value cannot be set at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JsonEditError {
    /// Nothing stands where this many steps lead, so no step leads on.
    Nothing(usize),
    /// What stands where this many steps lead is no object, and the next step is a key.
    NoObject(usize),
    /// What stands where this many steps lead is no array, and the next step is the number of an item.
    NoArray(usize),
    /// The array where this many steps lead is too short: the next step is beyond the place behind its last item.
    Short(usize),
    /// The document would be nested deeper than [`JSON_DEPTH_MAX`].
    Depth,
    /// The document would be longer than [`super::JSON_BYTES_MAX`].
    Length,
}

/// Ends that move when bytes before them grow: the first one's place, the distance to the next, and their count.
struct Ends {
    first: usize,
    stride: usize,
    count: usize,
}

/// The document with a value, in its compact form, at a path. Cost: a copy, and the ends of each array and object on the way.
pub(super) fn set(
    document: &[u8],
    path: &[JsonStep],
    value: &[u8],
) -> Result<Vec<u8>, JsonEditError> {
    if path.len() > JSON_DEPTH_MAX || path.len() + depth(value, JSON_DEPTH_MAX) > JSON_DEPTH_MAX {
        return Err(JsonEditError::Depth);
    }
    let mut moved = Vec::new();
    let mut node = 0..document.len();
    let mut added = None;
    for (at, step) in path.iter().enumerate() {
        let is_last = at + 1 == path.len();
        let bytes = document.get(node.clone()).unwrap_or_default();
        let found = match step {
            JsonStep::Key(key) => member(bytes, key),
            JsonStep::Item(number) => item(bytes, *number as usize),
        };
        match found {
            Found::Here(inner, ends) => {
                moved.push(Ends {
                    first: node.start + ends.first,
                    ..ends
                });
                node = node.start + inner.start..node.start + inner.end;
            }
            Found::Room(place) if is_last => added = Some(place),
            Found::Room(_) if matches!(step, JsonStep::Key(_)) => {
                return Err(JsonEditError::Nothing(at + 1));
            }
            Found::Room(_) | Found::Beyond => return Err(JsonEditError::Short(at)),
            Found::Other if matches!(step, JsonStep::Key(_)) => {
                return Err(JsonEditError::NoObject(at));
            }
            Found::Other => return Err(JsonEditError::NoArray(at)),
        }
    }
    let old = document.get(node.clone()).unwrap_or_default();
    let new = match (added, path.last()) {
        (Some(place), Some(JsonStep::Key(key))) => with_member(old, place, key, value),
        (Some(_), _) => with_item(old, value),
        (None, _) => value.to_vec(),
    };
    let mut out = Vec::with_capacity(document.len() + new.len() - old.len().min(new.len()));
    out.extend_from_slice(document.get(..node.start).unwrap_or_default());
    for Ends {
        first,
        stride,
        count,
    } in moved
    {
        for place in (0..count).map(|at| first + at * stride) {
            if let Some(end) = out.get_mut(place..).and_then(<[u8]>::first_chunk_mut) {
                let before = u32::from_le_bytes(*end);
                let after = before
                    .wrapping_add(new.len() as u32)
                    .wrapping_sub(old.len() as u32);
                *end = after.to_le_bytes();
            }
        }
    }
    out.extend(new);
    out.extend_from_slice(document.get(node.end..).unwrap_or_default());
    Ok(out)
}

/// What a step finds in a node.
enum Found {
    /// The value's range in the node, and the ends from its own on.
    Here(std::ops::Range<usize>, Ends),
    /// Nothing, but a value may be added as the member or item of this number.
    Room(usize),
    /// An array with too few items.
    Beyond,
    /// A node of another kind.
    Other,
}

fn member(node: &[u8], key: &str) -> Found {
    let Some(members) = member_ranges(node) else {
        return Found::Other;
    };
    let key_of = |(key, _): &super::read::MemberRanges| node.get(key.clone()).unwrap_or_default();
    match members.binary_search_by(|member| key_of(member).cmp(key.as_bytes())) {
        Ok(at) => {
            let ends = Ends {
                first: 5 + 8 * at + 4,
                stride: 8,
                count: members.len() - at,
            };
            Found::Here(members[at].1.clone(), ends)
        }
        Err(at) => Found::Room(at),
    }
}

fn item(node: &[u8], number: usize) -> Found {
    let Some(items) = item_ranges(node) else {
        return Found::Other;
    };
    match items.get(number) {
        Some(range) => {
            let ends = Ends {
                first: 5 + 4 * number,
                stride: 4,
                count: items.len() - number,
            };
            Found::Here(range.clone(), ends)
        }
        None if number == items.len() => Found::Room(number),
        None => Found::Beyond,
    }
}

/// An object with one member more, as number `place`.
fn with_member(node: &[u8], place: usize, key: &str, value: &[u8]) -> Vec<u8> {
    let members = member_ranges(node).unwrap_or_default();
    let part = |range: &std::ops::Range<usize>| node.get(range.clone()).unwrap_or_default();
    let mut all: Vec<(&[u8], &[u8])> = members
        .iter()
        .map(|(key, value)| (part(key), part(value)))
        .collect();
    all.insert(place.min(all.len()), (key.as_bytes(), value));
    let mut out = vec![OBJECT];
    out.extend((all.len() as u32).to_le_bytes());
    let (mut key_end, mut value_end) = (0, 0);
    for (key, value) in &all {
        key_end += key.len() as u32;
        value_end += value.len() as u32;
        out.extend(key_end.to_le_bytes());
        out.extend(value_end.to_le_bytes());
    }
    all.iter().for_each(|(key, _)| out.extend_from_slice(key));
    all.iter()
        .for_each(|(_, value)| out.extend_from_slice(value));
    out
}

/// An array with one item more, its last.
fn with_item(node: &[u8], value: &[u8]) -> Vec<u8> {
    let items = item_ranges(node).unwrap_or_default();
    let parts = items
        .iter()
        .map(|range| node.get(range.clone()).unwrap_or_default());
    array(parts.chain([value]))
}

/// An array of these items.
pub(super) fn array<'i>(items: impl Iterator<Item = &'i [u8]>) -> Vec<u8> {
    let (mut ends, mut content) = (Vec::new(), Vec::new());
    for item in items {
        content.extend_from_slice(item);
        ends.push(content.len() as u32);
    }
    let mut out = vec![ARRAY];
    out.extend((ends.len() as u32).to_le_bytes());
    ends.iter().for_each(|end| out.extend(end.to_le_bytes()));
    out.extend(content);
    out
}

/// Levels of arrays and objects in a node; at most `most` + 1 are looked at.
fn depth(node: &[u8], most: usize) -> usize {
    let inner = match (item_ranges(node), member_ranges(node)) {
        (Some(items), _) => items,
        (None, Some(members)) => members.into_iter().map(|(_, value)| value).collect(),
        (None, None) => return 0,
    };
    if most == 0 {
        return 1;
    }
    let nodes = inner
        .into_iter()
        .map(|range| node.get(range).unwrap_or_default());
    1 + nodes.map(|node| depth(node, most - 1)).max().unwrap_or(0)
}
