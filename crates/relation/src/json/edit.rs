//! Sets one value inside a document: only what changes is written again.
//!
//! # Example
//! `{"a": [1, 2]}` with `.a[1]` set to `"x"`. The walk goes through the object to its value `a`, then to the array's second item,
//! and keeps for both the place of the end that follows them. The item's bytes are replaced, and these ends move by the
//! difference. `.a[2]` is one behind the last item: the array's bytes are replaced by those of an array with one item more.

use std::ops::Range;

use language::meter::Work;

use super::form::{ARRAY, JSON_DEPTH_MAX, JsonStep, OBJECT};
use super::read::{item_count, item_range, member_count, number, place_of, value_range};

/// Units of a node at which its depth is asked.
const NODE_UNITS: u64 = 20;

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
    /// The meter has stopped.
    Stopped,
}

/// Ends that move when bytes before them grow: the first one's place, the distance to the next, and their count.
struct Ends {
    first: usize,
    stride: usize,
    count: usize,
}

/// Where a path leads.
struct Place {
    /// The node that is replaced, or that gets a part more.
    node: Range<usize>,
    /// The number of the part that is added to the node; `None`: the node is replaced.
    added: Option<usize>,
    /// Ends behind the node, of all arrays and objects around it.
    moved: Vec<Ends>,
}

/// The document with a value, in its compact form, at a path. Cost: a copy, and a walk of the value.
pub(super) fn set(
    document: &[u8],
    path: &[JsonStep],
    value: &[u8],
    work: &Work<'_>,
) -> Result<Vec<u8>, JsonEditError> {
    if path.len() > JSON_DEPTH_MAX {
        return Err(JsonEditError::Depth);
    }
    let levels = depth(value, JSON_DEPTH_MAX, work).ok_or(JsonEditError::Stopped)?;
    if path.len() + levels > JSON_DEPTH_MAX {
        return Err(JsonEditError::Depth);
    }
    let place = place(document, path)?;
    work.copy(document.len() + value.len())
        .ok_or(JsonEditError::Stopped)?;
    let grows = match (place.added, path.last()) {
        (Some(_), Some(JsonStep::Key(key))) => 8 + key.len() + value.len(),
        (Some(_), _) => 4 + value.len(),
        (None, _) => value.len(),
    };
    let mut out = Vec::with_capacity(document.len() + grows);
    out.extend_from_slice(document.get(..place.node.start).unwrap_or_default());
    let old = document.get(place.node.clone()).unwrap_or_default();
    match (place.added, path.last()) {
        (Some(at), Some(JsonStep::Key(key))) => put_with_member(old, at, key, value, &mut out),
        (Some(_), _) => put_with_item(old, value, &mut out),
        (None, _) => out.extend_from_slice(value),
    }
    let new = out.len() - place.node.start.min(out.len());
    let difference = (new as u32).wrapping_sub(old.len() as u32);
    for ends in &place.moved {
        move_ends(&mut out, ends, difference);
    }
    out.extend_from_slice(document.get(place.node.end..).unwrap_or_default());
    Ok(out)
}

fn move_ends(out: &mut [u8], ends: &Ends, difference: u32) {
    for place in (0..ends.count).map(|at| ends.first + at * ends.stride) {
        if let Some(end) = out.get_mut(place..).and_then(<[u8]>::first_chunk_mut) {
            let before = u32::from_le_bytes(*end);
            *end = before.wrapping_add(difference).to_le_bytes();
        }
    }
}

fn place(document: &[u8], path: &[JsonStep]) -> Result<Place, JsonEditError> {
    let mut place = Place {
        node: 0..document.len(),
        added: None,
        moved: Vec::with_capacity(path.len()),
    };
    for (at, step) in path.iter().enumerate() {
        let is_last = at + 1 == path.len();
        let start = place.node.start;
        let bytes = document.get(place.node.clone()).unwrap_or_default();
        let found = match step {
            JsonStep::Key(key) => member(bytes, key),
            JsonStep::Item(number) => item(bytes, *number as usize),
            JsonStep::Itself => continue,
        };
        match (found, step) {
            (Found::Here(inner, ends), _) => {
                place.moved.push(Ends {
                    first: start + ends.first,
                    ..ends
                });
                place.node = start + inner.start..start + inner.end;
            }
            (Found::Room(number), _) if is_last => place.added = Some(number),
            (Found::Room(_), JsonStep::Key(_)) => return Err(JsonEditError::Nothing(at + 1)),
            (Found::Room(_) | Found::Beyond, _) => return Err(JsonEditError::Short(at)),
            (Found::Other, JsonStep::Key(_)) => return Err(JsonEditError::NoObject(at)),
            (Found::Other, JsonStep::Item(_) | JsonStep::Itself) => {
                return Err(JsonEditError::NoArray(at));
            }
        }
    }
    Ok(place)
}

/// What a step finds in a node.
enum Found {
    /// The value's range in the node, and the ends from its own on.
    Here(Range<usize>, Ends),
    /// Nothing, but a value may be added as the member or item of this number.
    Room(usize),
    /// An array with too few items.
    Beyond,
    /// A node of another kind.
    Other,
}

fn member(node: &[u8], key: &str) -> Found {
    let (Some(count), Some(place)) = (member_count(node), place_of(node, key.as_bytes())) else {
        return Found::Other;
    };
    match place {
        Ok(at) => value_range(node, at).map_or(Found::Other, |range| {
            let ends = Ends {
                first: 5 + 8 * at + 4,
                stride: 8,
                count: count - at,
            };
            Found::Here(range, ends)
        }),
        Err(at) => Found::Room(at),
    }
}

fn item(node: &[u8], number: usize) -> Found {
    let Some(count) = item_count(node) else {
        return Found::Other;
    };
    if number >= count {
        return match number == count {
            true => Found::Room(number),
            false => Found::Beyond,
        };
    }
    item_range(node, number).map_or(Found::Other, |range| {
        let ends = Ends {
            first: 5 + 4 * number,
            stride: 4,
            count: count - number,
        };
        Found::Here(range, ends)
    })
}

/// Appends an object with one member more, as number `place`.
fn put_with_member(node: &[u8], place: usize, key: &str, value: &[u8], out: &mut Vec<u8>) {
    let count = member_count(node).unwrap_or(0);
    let (ends, content) = node.get(5..).unwrap_or_default().split_at(8 * count);
    let end = |at| number(ends, at).unwrap_or(0);
    let ends_before = |at: usize| match at.checked_sub(1) {
        Some(last) => (end(8 * last), end(8 * last + 4)),
        None => (0, 0),
    };
    let ((key_at, value_at), (keys, values)) = (ends_before(place), ends_before(count));
    let (before, behind) = ends.split_at(8 * place);
    out.push(OBJECT);
    out.extend((count as u32 + 1).to_le_bytes());
    out.extend_from_slice(before);
    let first = out.len();
    out.extend((key_at as u32).to_le_bytes());
    out.extend((value_at as u32).to_le_bytes());
    out.extend_from_slice(behind);
    for (first, bytes) in [(first, key.len()), (first + 4, value.len())] {
        let moved = Ends {
            first,
            stride: 8,
            count: count + 1 - place,
        };
        move_ends(out, &moved, bytes as u32);
    }
    let part = |from: usize, to: usize| content.get(from..to).unwrap_or_default();
    out.extend_from_slice(part(0, key_at));
    out.extend_from_slice(key.as_bytes());
    out.extend_from_slice(part(key_at, keys + value_at));
    out.extend_from_slice(value);
    out.extend_from_slice(part(keys + value_at, keys + values));
}

/// Appends an array with one item more, its last.
fn put_with_item(node: &[u8], value: &[u8], out: &mut Vec<u8>) {
    let count = item_count(node).unwrap_or(0);
    let (ends, items) = node.get(5..).unwrap_or_default().split_at(4 * count);
    out.push(ARRAY);
    out.extend((count as u32 + 1).to_le_bytes());
    out.extend_from_slice(ends);
    out.extend(((items.len() + value.len()) as u32).to_le_bytes());
    out.extend_from_slice(items);
    out.extend_from_slice(value);
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

/// An object of these members, whose keys rise.
pub(super) fn object(members: &[(&[u8], &[u8])]) -> Vec<u8> {
    let mut out = vec![OBJECT];
    out.extend((members.len() as u32).to_le_bytes());
    let (mut key_end, mut value_end) = (0, 0);
    for (key, value) in members {
        key_end += key.len() as u32;
        value_end += value.len() as u32;
        out.extend(key_end.to_le_bytes());
        out.extend(value_end.to_le_bytes());
    }
    members.iter().for_each(|(key, _)| out.extend(*key));
    members.iter().for_each(|(_, value)| out.extend(*value));
    out
}

/// Levels of arrays and objects in a node; at most `most` + 1 are looked at. `None`: the meter has stopped.
fn depth(node: &[u8], most: usize, work: &Work<'_>) -> Option<usize> {
    let (items, members) = (item_count(node), member_count(node));
    let Some(count) = items.or(members) else {
        return Some(0);
    };
    let inner = if items.is_some() {
        item_range
    } else {
        value_range
    };
    let mut deepest = 0;
    for at in (0..count).take_while(|_| most > 0) {
        work.begin(NODE_UNITS)?;
        let node = inner(node, at).and_then(|range| node.get(range));
        deepest = deepest.max(depth(node.unwrap_or_default(), most - 1, work)?);
    }
    Some(1 + deepest)
}
