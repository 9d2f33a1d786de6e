//! Reads the compact form: a node by its path, a node's value, the whole as text. Bytes that are no document give nothing.

use std::io::Write;
use std::ops::Range;

use language::meter::Work;

use super::form::{
    ARRAY, FALSE, JSON_DEPTH_MAX, JsonStep, NULL, OBJECT, REAL, TEXT, TRUE, UNSIGNED, WHOLE,
};

/// Units of a node that becomes text, and of each byte of a text in it.
const NODE_UNITS: u64 = 60;
const TEXT_UNITS: u64 = 4;

/// What stands at a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum JsonNode<'d> {
    /// JSON's null; a path that leads to nothing has no node.
    Null,
    /// true or false
    Truth(bool),
    /// A whole number, from -2^63 to 2^64 - 1.
    Whole(i128),
    /// Any other number.
    Real(f64),
    /// UTF-8, without quotes and escapes.
    Text(&'d str),
    /// An array or object, and behind [`JsonStep::Itself`] a text or a truth: a document of its own.
    Document(&'d [u8]),
}

/// What stands at a path in a document of these bytes ([`super::Json::bytes`]), as [`super::Json::node_at`].
#[must_use]
pub fn node_at<'d>(document: &'d [u8], path: &[JsonStep]) -> Option<JsonNode<'d>> {
    let node = find(document, path)?;
    match (path.last(), node.first()) {
        (Some(JsonStep::Itself), Some(&(TEXT | TRUE | FALSE))) => Some(JsonNode::Document(node)),
        _ => read(node),
    }
}

fn find<'d>(mut node: &'d [u8], path: &[JsonStep]) -> Option<&'d [u8]> {
    for step in path {
        node = match step {
            JsonStep::Key(key) => member(node, key.as_bytes())?,
            JsonStep::Item(at) => item(node, *at as usize)?,
            JsonStep::Itself => node,
        };
    }
    Some(node)
}

fn read(node: &[u8]) -> Option<JsonNode<'_>> {
    let (tag, rest) = node.split_first()?;
    Some(match *tag {
        NULL => JsonNode::Null,
        FALSE => JsonNode::Truth(false),
        TRUE => JsonNode::Truth(true),
        WHOLE => JsonNode::Whole(i64::from_le_bytes(rest.try_into().ok()?).into()),
        UNSIGNED => JsonNode::Whole(u64::from_le_bytes(rest.try_into().ok()?).into()),
        REAL => JsonNode::Real(f64::from_le_bytes(rest.try_into().ok()?)),
        TEXT => JsonNode::Text(std::str::from_utf8(rest).ok()?),
        ARRAY | OBJECT => JsonNode::Document(node),
        _ => return None,
    })
}

/// The number of four bytes at a place.
pub(super) fn number(bytes: &[u8], at: usize) -> Option<usize> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?) as usize)
}

/// The items of an array or the members of an object: their count, the bytes of ends, and what lies behind.
fn parts(node: &[u8], tag: u8, ends_each: usize) -> Option<(usize, &[u8], &[u8])> {
    if node.first() != Some(&tag) {
        return None;
    }
    let count = number(node, 1)?;
    let (ends, content) = node
        .get(5..)?
        .split_at_checked(count.checked_mul(4 * ends_each)?)?;
    Some((count, ends, content))
}

fn item(node: &[u8], at: usize) -> Option<&[u8]> {
    node.get(item_range(node, at)?)
}

/// Number of an array's items; `None`: the node is no array.
pub(super) fn item_count(node: &[u8]) -> Option<usize> {
    parts(node, ARRAY, 1).map(|(count, ..)| count)
}

/// Number of an object's members; `None`: the node is no object.
pub(super) fn member_count(node: &[u8]) -> Option<usize> {
    parts(node, OBJECT, 2).map(|(count, ..)| count)
}

/// Where an item of an array lies in its bytes; `None`: there is no such item.
pub(super) fn item_range(node: &[u8], at: usize) -> Option<Range<usize>> {
    let (count, ends, content) = parts(node, ARRAY, 1)?;
    if at >= count {
        return None;
    }
    let before = node.len() - content.len();
    let start = if at == 0 {
        0
    } else {
        number(ends, 4 * at - 4)?
    };
    let end = number(ends, 4 * at)?;
    (start <= end && end <= content.len()).then(|| before + start..before + end)
}

/// Where the value of an object's member lies in its bytes; `None`: there is no such member.
pub(super) fn value_range(node: &[u8], at: usize) -> Option<Range<usize>> {
    let (count, ends, content) = parts(node, OBJECT, 2)?;
    if at >= count {
        return None;
    }
    let before = node.len() - content.len();
    let (_, _, value, value_end) = member_at(count, ends, content, at)?;
    let fits = value <= value_end && value_end <= content.len();
    fits.then(|| before + value..before + value_end)
}

/// The number of an object's member with this key; `Err`: the number that it would have. `None`: the node is no whole object.
pub(super) fn place_of(node: &[u8], wanted: &[u8]) -> Option<Result<usize, usize>> {
    let (count, ends, content) = parts(node, OBJECT, 2)?;
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        let (key, key_end, ..) = member_at(count, ends, content, middle)?;
        match content.get(key..key_end)?.cmp(wanted) {
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Greater => high = middle,
            std::cmp::Ordering::Equal => return Some(Ok(middle)),
        }
    }
    Some(Err(low))
}

/// Calls `visit` with the members of a document that is an object, and with those of the objects in it, down to `depth` levels:
/// their keys from the outermost, and what stands there. Arrays are not entered. Cost: all these members.
pub fn each_member<'d>(
    document: &'d [u8],
    depth: usize,
    path: &mut Vec<&'d str>,
    visit: &mut dyn FnMut(&[&'d str], JsonNode<'d>),
) {
    let Some((count, ends, content)) = parts(document, OBJECT, 2) else {
        return;
    };
    for at in 0..count {
        let Some((key, key_end, value, value_end)) = member_at(count, ends, content, at) else {
            return;
        };
        let key = content.get(key..key_end).map(std::str::from_utf8);
        let (Some(Ok(key)), Some(value)) = (key, content.get(value..value_end)) else {
            return;
        };
        let Some(node) = read(value) else { continue };
        path.push(key);
        visit(path, node);
        if path.len() < depth {
            each_member(value, depth, path, visit);
        }
        path.pop();
    }
}

/// Start and end of a member's key, and of its value.
fn member_at(
    count: usize,
    ends: &[u8],
    content: &[u8],
    at: usize,
) -> Option<(usize, usize, usize, usize)> {
    let before = |offset: usize| match at {
        0 => Some(0),
        at => number(ends, 8 * (at - 1) + offset),
    };
    let keys = match count {
        0 => 0,
        count => number(ends, 8 * (count - 1))?,
    };
    let (key, key_end) = (before(0)?, number(ends, 8 * at)?);
    let (value, value_end) = (before(4)?, number(ends, 8 * at + 4)?);
    let fits = key <= key_end && key_end <= keys && keys <= content.len();
    fits.then_some((
        key,
        key_end,
        keys.checked_add(value)?,
        keys.checked_add(value_end)?,
    ))
}

fn member<'d>(node: &'d [u8], wanted: &[u8]) -> Option<&'d [u8]> {
    let at = place_of(node, wanted)?.ok()?;
    node.get(value_range(node, at)?)
}

/// Appends a node as text; bytes that are no node become null, and so do nodes behind the end of the
/// work.
pub(super) fn write(node: &[u8], depth: usize, out: &mut Vec<u8>, work: &Work<'_>) {
    if depth > JSON_DEPTH_MAX || written(node, depth, out, work).is_none() {
        out.extend(b"null");
    }
}

fn written(node: &[u8], depth: usize, out: &mut Vec<u8>, work: &Work<'_>) -> Option<()> {
    work.begin(NODE_UNITS)?;
    match *node.first()? {
        NULL => return None,
        FALSE => out.extend(b"false"),
        TRUE => out.extend(b"true"),
        WHOLE | UNSIGNED | REAL => match read(node)? {
            // A list of bytes takes all that is written.
            JsonNode::Whole(number) => write!(out, "{number}").ok()?,
            JsonNode::Real(number) => {
                let number = serde_json::Number::from_f64(number)?;
                write!(out, "{number}").ok()?;
            }
            _ => return None,
        },
        TEXT => text(&node[1..], out, work)?,
        ARRAY => {
            let (count, ..) = parts(node, ARRAY, 1)?;
            out.push(b'[');
            for at in (0..count).take_while(|_| !work.is_stopped()) {
                if at > 0 {
                    out.push(b',');
                }
                write(item(node, at).unwrap_or_default(), depth + 1, out, work);
            }
            out.push(b']');
        }
        OBJECT => {
            let (count, ends, content) = parts(node, OBJECT, 2)?;
            out.push(b'{');
            for at in (0..count).take_while(|_| !work.is_stopped()) {
                if at > 0 {
                    out.push(b',');
                }
                let found = member_at(count, ends, content, at).unwrap_or_default();
                let (key, key_end, value, value_end) = found;
                text(content.get(key..key_end).unwrap_or_default(), out, work)?;
                out.push(b':');
                write(
                    content.get(value..value_end).unwrap_or_default(),
                    depth + 1,
                    out,
                    work,
                );
            }
            out.push(b'}');
        }
        _ => return None,
    }
    Some(())
}

/// Appends a text in quotes.
fn text(bytes: &[u8], out: &mut Vec<u8>, work: &Work<'_>) -> Option<()> {
    work.begin(TEXT_UNITS * bytes.len() as u64)?;
    let text = String::from_utf8_lossy(bytes);
    let quoted = serde_json::Value::String(text.into_owned());
    out.extend(quoted.to_string().as_bytes());
    Some(())
}
