//! JSON documents in a compact form, in which a path is read without parsing the document.
//!
//! A node is a tag and what the tag demands, up to the end of the node's bytes. Numbers are little-endian.
//!
//! | tag | node | bytes behind the tag |
//! |---|---|---|
//! | 0, 1, 2 | null, false, true | none |
//! | 3 | whole number of 64 bits | 8 |
//! | 4 | any other number, as a double | 8 |
//! | 5 | text | UTF-8 |
//! | 6 | array | number of items (4), end of each item (4 each), the items |
//! | 7 | object | number of members (4), for each the end of its key and of its value (4 + 4), the keys, the values |
//!
//! Example: `{"a": 7, "b": [true]}` takes 41 bytes.
//!
//! ```text
//! 07  02 00 00 00                              an object of two members
//!     01 00 00 00  09 00 00 00                 key ends at 1, value at 9
//!     02 00 00 00  13 00 00 00                 key ends at 2, value at 19
//!     61 62                                    keys: a, b
//!     03 07 00 00 00 00 00 00 00               7
//!     06 01 00 00 00  01 00 00 00  02          an array whose one item ends at 1: true
//! ```
//!
//! Ends count from the start of the keys, values or items, and never fall. Keys rise by their bytes, each once: the last of
//! repeated members stays. So a key is found by a binary search, and equal documents have equal bytes.

mod form;
mod read;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use form::{ARRAY, FALSE, NULL, OBJECT, REAL, TEXT, TRUE, WHOLE};
pub use form::{JSON_DEPTH_MAX, JsonStep};
pub use read::JsonNode;

/// Longest text of a document, in bytes: MySQL's MEDIUMTEXT.
pub const JSON_BYTES_MAX: usize = (1 << 24) - 1;

/// A document. Cloning shares its bytes.
#[derive(Clone, PartialEq, Eq)]
pub struct Json(Arc<[u8]>);

/// Why a text is no document that can be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JsonError {
    /// Not JSON.
    Syntax,
    /// Nested deeper than [`JSON_DEPTH_MAX`].
    Depth,
    /// Longer than [`JSON_BYTES_MAX`].
    Length,
}

impl Json {
    /// Reads a text. Cost: linear, and a tree of the document for the time of the call.
    ///
    /// # Errors
    /// [`JsonError`].
    pub fn parse(text: &[u8]) -> Result<Json, JsonError> {
        if text.len() > JSON_BYTES_MAX {
            return Err(JsonError::Length);
        }
        let tree: serde_json::Value = serde_json::from_slice(text).map_err(|error| {
            // The parser has its own bound, deeper than ours.
            match error.to_string().starts_with("recursion limit") {
                true => JsonError::Depth,
                false => JsonError::Syntax,
            }
        })?;
        let mut out = Vec::with_capacity(text.len() + 16);
        put(&tree, 0, &mut out)?;
        Ok(Json(out.into()))
    }

    /// The document of these bytes, which [`Json::bytes`] gave. Bytes of another origin give a document in which nothing, or
    /// something else, is found.
    #[must_use]
    pub fn of_bytes(bytes: &[u8]) -> Json {
        Json(bytes.into())
    }

    /// The compact form.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// What stands at a path; `None` where there is nothing. Cost: a binary search in each object on the way; nothing else is
    /// read.
    #[must_use]
    pub fn node_at(&self, path: &[JsonStep]) -> Option<JsonNode<'_>> {
        read::node_at(&self.0, path)
    }

    /// Appends the document as text, without blanks, members by rising key.
    pub fn write_text(&self, out: &mut Vec<u8>) {
        read::write(&self.0, 0, out);
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Vec::new();
        self.write_text(&mut text);
        formatter.write_str(&String::from_utf8_lossy(&text))
    }
}

fn put(tree: &serde_json::Value, depth: usize, out: &mut Vec<u8>) -> Result<(), JsonError> {
    use serde_json::Value as Tree;
    match tree {
        Tree::Null => out.push(NULL),
        Tree::Bool(false) => out.push(FALSE),
        Tree::Bool(true) => out.push(TRUE),
        Tree::Number(number) => match number.as_i64() {
            Some(whole) => {
                out.push(WHOLE);
                out.extend(whole.to_le_bytes());
            }
            None => {
                out.push(REAL);
                out.extend(number.as_f64().unwrap_or(f64::MAX).to_le_bytes());
            }
        },
        Tree::String(text) => {
            out.push(TEXT);
            out.extend(text.as_bytes());
        }
        Tree::Array(items) => {
            check_depth(depth)?;
            out.push(ARRAY);
            out.extend((items.len() as u32).to_le_bytes());
            let ends = reserve(out, items.len());
            let start = out.len();
            for (at, item) in items.iter().enumerate() {
                put(item, depth + 1, out)?;
                set_end(out, ends + 4 * at, start);
            }
        }
        Tree::Object(members) => {
            check_depth(depth)?;
            let mut sorted: Vec<(&String, &Tree)> = members.iter().collect();
            sorted.sort_unstable_by_key(|(key, _)| *key);
            out.push(OBJECT);
            out.extend((sorted.len() as u32).to_le_bytes());
            let ends = reserve(out, 2 * sorted.len());
            let start = out.len();
            for (at, (key, _)) in sorted.iter().enumerate() {
                out.extend(key.as_bytes());
                set_end(out, ends + 8 * at, start);
            }
            let start = out.len();
            for (at, (_, value)) in sorted.iter().enumerate() {
                put(value, depth + 1, out)?;
                set_end(out, ends + 8 * at + 4, start);
            }
        }
    }
    Ok(())
}

fn check_depth(depth: usize) -> Result<(), JsonError> {
    match depth < JSON_DEPTH_MAX {
        true => Ok(()),
        false => Err(JsonError::Depth),
    }
}

/// Appends room for ends; returns where it begins.
fn reserve(out: &mut Vec<u8>, ends: usize) -> usize {
    let at = out.len();
    out.resize(at + 4 * ends, 0);
    at
}

/// Notes that what began at `start` ends here. Texts are at most 16 MiB, and no node takes more than 30 bytes a byte of text.
fn set_end(out: &mut [u8], at: usize, start: usize) {
    let end = (out.len() - start) as u32;
    out[at..at + 4].copy_from_slice(&end.to_le_bytes());
}
