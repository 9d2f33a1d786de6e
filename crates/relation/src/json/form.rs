//! The tags of the compact form, and the steps of a path.

/// Deepest nesting of arrays and objects.
pub const JSON_DEPTH_MAX: usize = 64;

pub(super) const NULL: u8 = 0;
pub(super) const FALSE: u8 = 1;
pub(super) const TRUE: u8 = 2;
pub(super) const WHOLE: u8 = 3;
pub(super) const REAL: u8 = 4;
pub(super) const TEXT: u8 = 5;
pub(super) const ARRAY: u8 = 6;
pub(super) const OBJECT: u8 = 7;
/// A whole number from 2^63 to 2^64 - 1.
pub(super) const UNSIGNED: u8 = 8;

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JsonStep {
    /// `.key`, `['key']`: the member of an object.
    Key(String),
    /// `[2]`: the item of an array, from 0.
    Item(u32),
    /// Last in the path of a value that is compared, and never written: a text or a truth that stands there is read as a document
    /// of its own, so that it does not pass for a text or a number of a column.
    Itself,
}

/// Why a text is no document that can be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JsonError {
    /// Not JSON.
    Syntax {
        /// The byte, from 0, at which the text breaks; its length where it ends too early.
        at: usize,
    },
    /// Nested deeper than [`JSON_DEPTH_MAX`].
    Depth,
    /// Longer than [`super::JSON_BYTES_MAX`].
    Length,
    /// The meter has stopped.
    Stopped,
}
