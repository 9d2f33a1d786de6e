//! The tree of a search query; the same for a search and for a standing query.

mod print;

pub use print::Printed;

use std::fmt;

/// A set of text columns: bit `n` is the table's `n`-th text column, in the order of CREATE TABLE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FieldSet(pub u64);

impl FieldSet {
    /// Every field.
    pub const ALL: FieldSet = FieldSet(u64::MAX);

    /// Whether the field of that number is in the set.
    #[must_use]
    pub fn holds(self, field: u8) -> bool {
        field < 64 && self.0 >> field & 1 == 1
    }
}

/// A folded word and the fields it may stand in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Word {
    /// As analysis gives it: never empty.
    pub text: Box<str>,
    /// Where it may stand.
    pub fields: FieldSet,
}

/// A node of the tree. Children are never empty lists; `And` and `Or` have at least two children.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// Every document (an empty query).
    All,
    /// One word.
    Word(Word),
    /// Words at fixed distances in one field: (word, distance from the phrase's first word), distances rising from 0.
    Phrase {
        /// At least two.
        words: Vec<(Box<str>, u32)>,
        /// Where it may stand (all of it in one field).
        fields: FieldSet,
    },
    /// All of them. `Not` stands only here, and never as the only kind of child.
    And(Vec<Node>),
    /// Any of them.
    Or(Vec<Node>),
    /// Not this. Only a direct child of `And`.
    Not(Box<Node>),
}

/// A parsed query.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// Its tree, checked against the limits.
    pub root: Node,
    /// What the writer probably meant otherwise (`AND`, `OR`, `NOT` in capitals): stored and obeyed as words all the same.
    pub warnings: Vec<String>,
}

/// Why a query text was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryError {
    /// Byte offset in the text.
    pub position: usize,
    /// What is wrong, lower case, no full stop, without the position.
    pub message: String,
}

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.message, self.position)
    }
}

impl std::error::Error for QueryError {}
