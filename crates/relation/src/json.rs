//! JSON documents in a compact form, in which a path is read without parsing the document.
//!
//! A node is a tag and what the tag demands, up to the end of the node's bytes. Numbers are little-endian.
//!
//! | tag | node | bytes behind the tag |
//! |---|---|---|
//! | 0, 1, 2 | null, false, true | none |
//! | 3 | whole number of 64 bits with a sign | 8 |
//! | 4 | any other number, as a double | 8 |
//! | 5 | text | UTF-8 |
//! | 6 | array | number of items (4), end of each item (4 each), the items |
//! | 7 | object | number of members (4), for each the end of its key and of its value (4 + 4), the keys, the values |
//! | 8 | whole number from 2^63 to 2^64 - 1 | 8 |
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

mod edit;
mod form;
mod read;
#[cfg(test)]
mod tests;
mod write;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

pub use edit::JsonEditError;
pub use form::{JSON_DEPTH_MAX, JsonError, JsonStep};
use language::meter::{Meter, Unmetered, Work};
pub use read::{JsonNode, each_member, node_at};

/// Longest text of a document, in bytes.
pub const JSON_BYTES_MAX: usize = 4 << 20;

/// A document. Cloning shares its bytes.
#[derive(Clone, PartialEq, Eq)]
pub struct Json(Arc<[u8]>);

impl Json {
    /// Reads a text. Cost: a copy for each level of nesting, and memory of twice the compact form, which has at most seven bytes
    /// for a byte of text.
    ///
    /// # Errors
    /// [`JsonError`].
    pub fn parse(text: &[u8]) -> Result<Json, JsonError> {
        Json::parse_within(text, &Unmetered)
    }

    /// As [`Json::parse`]; its work is counted.
    ///
    /// # Errors
    /// [`JsonError`].
    pub fn parse_within(text: &[u8], meter: &dyn Meter) -> Result<Json, JsonError> {
        if text.len() > JSON_BYTES_MAX {
            return Err(JsonError::Length);
        }
        write::compact(text, &Work::new(meter)).map(|bytes| Json(bytes.into()))
    }

    /// The object without members.
    #[must_use]
    pub fn empty() -> Json {
        Json(Arc::new([form::OBJECT, 0, 0, 0, 0]))
    }

    /// The document that holds this alone.
    #[must_use]
    pub fn of_node(node: JsonNode<'_>) -> Json {
        Json(write::node(node).into())
    }

    /// An array of whole numbers.
    #[must_use]
    pub fn of_numbers(numbers: &[i64]) -> Json {
        let numbers = numbers.iter();
        Json::of_items(numbers.map(|number| JsonNode::Whole((*number).into())))
    }

    /// An array of real numbers.
    #[must_use]
    pub(crate) fn of_reals(numbers: &[f64]) -> Json {
        Json::of_items(numbers.iter().map(|number| JsonNode::Real(*number)))
    }

    /// An array of these items.
    #[must_use]
    pub(crate) fn of_items<'n>(items: impl Iterator<Item = JsonNode<'n>>) -> Json {
        let items: Vec<Vec<u8>> = items.map(write::node).collect();
        Json(edit::array(items.iter().map(Vec::as_slice)).into())
    }

    /// An object of these members.
    #[must_use]
    pub(crate) fn of_members(members: &BTreeMap<String, Json>) -> Json {
        let parts = members.iter();
        let parts: Vec<_> = parts
            .map(|(key, value)| (key.as_bytes(), value.bytes()))
            .collect();
        Json(edit::object(&parts).into())
    }

    /// Whether it is an object.
    #[must_use]
    pub(crate) fn is_object(&self) -> bool {
        read::member_count(&self.0).is_some()
    }

    /// Number of an object's members; 0 of any other document.
    #[must_use]
    pub(crate) fn members(&self) -> usize {
        read::member_count(&self.0).unwrap_or(0)
    }

    /// Number of an array's items; `None`: it is no array.
    #[must_use]
    pub(crate) fn items(&self) -> Option<usize> {
        read::item_count(&self.0)
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

    /// The document with a value at a path. What stands there is replaced. Where nothing stands, the value becomes the last
    /// step's member, or the item behind the last one. Cost: a copy of the document; its text too, if that may be too long.
    ///
    /// # Errors
    /// [`JsonEditError`].
    pub fn with(
        &self,
        path: &[JsonStep],
        value: &Json,
        meter: &dyn Meter,
    ) -> Result<Json, JsonEditError> {
        let work = Work::new(meter);
        let document = Json(edit::set(&self.0, path, &value.0, &work)?.into());
        match document.is_too_long(&work) {
            None => Err(JsonEditError::Stopped),
            Some(true) => Err(JsonEditError::Length),
            Some(false) => Ok(document),
        }
    }

    /// Whether the document's text is longer than a text that [`Json::parse`] reads. A byte has at most eight bytes of text: the
    /// tag of `false` with a comma has six, and a control character too. `None`: the meter has stopped.
    fn is_too_long(&self, work: &Work<'_>) -> Option<bool> {
        if self.0.len() <= JSON_BYTES_MAX / 8 {
            return Some(false);
        }
        let mut text = Vec::new();
        self.write_text_within(&mut text, work)?;
        Some(text.len() > JSON_BYTES_MAX)
    }

    /// Appends the document as text, without blanks, members by rising key.
    pub fn write_text(&self, out: &mut Vec<u8>) {
        // Nothing stops it.
        let _ = self.write_text_within(out, &Work::new(&Unmetered));
    }

    /// As [`Json::write_text`]; `None`: the meter has stopped, and the text is not whole.
    pub(crate) fn write_text_within(&self, out: &mut Vec<u8>, work: &Work<'_>) -> Option<()> {
        read::write(&self.0, 0, out, work);
        (!work.is_stopped()).then_some(())
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Vec::new();
        self.write_text(&mut text);
        formatter.write_str(&String::from_utf8_lossy(&text))
    }
}
