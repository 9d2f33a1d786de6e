//! The tree of a search query. A search and a standing query have the same tree.
//!
//! Example, over the fields `title` (bit 0) and `body` (bit 1): `storm (gulf | coast) -"cold front"` is
//!
//! ```text
//! And [ Word storm, Or [ Word gulf, Word coast ], Not Phrase [ (cold, 0), (front, 1) ] ]
//! ```
//!
//! and `@title "storm * warning"` is `Phrase [ (storm, 0), (warning, 2) ]` in the fields `01`.
//!
//! Invariants of a parsed tree:
//! - `And`, `Order` and `Together` have at least two children. `Or` has at least two, or none: it then matches no
//!   document, which is the meaning of a text without a word.
//! - No `And` is a child of an `And`, and no `Or` of an `Or`.
//! - `Not` is a child of `And` alone, beside at least one child that is no `Not`.
//! - Distances in a phrase rise from 0.
//!
//! `reference.rs` gives the meaning of each node.

mod necessary;
mod outline;
mod print;

pub use outline::Outline;
pub use print::Printed;

use std::fmt;

/// A set of text columns: bit `n` is the table's `n`-th text column, in the order of CREATE TABLE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FieldSet(pub u64);

impl FieldSet {
    /// Every field.
    pub const ALL: FieldSet = FieldSet(u64::MAX);

    /// Whether the field is in the set. False above 63.
    #[must_use]
    pub fn holds(self, field: u8) -> bool {
        field < 64 && self.0 >> field & 1 == 1
    }
}

/// How the text of a term is compared with the words of a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Form {
    /// The text is the word.
    #[default]
    Whole,
    /// `*` stands for any letters, `?` for one, `%` for one or none.
    Pattern,
    /// A regular expression over the whole word.
    Regex,
}

/// The place in its field that a term must have. By default it may stand anywhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FieldPlace {
    /// `^word`: at position 1.
    pub first: bool,
    /// `word$`: at the field's last position.
    pub last: bool,
    /// `@field[N]`: at position N or before it; 0 is no limit.
    pub within: u32,
}

/// A word or a pattern, and the place in the field that it must have.
///
/// In a table that stems, documents and terms have a word as written as `=word`, and its stem as the bare word.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Term {
    /// The folded text, or the pattern. Never empty.
    pub text: Box<str>,
    /// How the text is compared with words.
    pub form: Form,
    /// The place in its field that it must have.
    pub place: FieldPlace,
}

impl Term {
    /// A whole word, anywhere in its field.
    #[must_use]
    pub fn whole(text: impl Into<Box<str>>) -> Term {
        Term {
            text: text.into(),
            form: Form::Whole,
            place: FieldPlace::default(),
        }
    }

    /// Whether it is a whole word that may stand anywhere in its field.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.form == Form::Whole && self.place == FieldPlace::default()
    }
}

/// A term and the fields it may stand in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Word {
    /// The word, pattern or exact form.
    pub term: Term,
    /// Where it may stand.
    pub fields: FieldSet,
}

impl Word {
    /// A whole word, anywhere in these fields.
    #[must_use]
    pub fn whole(text: impl Into<Box<str>>, fields: FieldSet) -> Word {
        let term = Term::whole(text);
        Word { term, fields }
    }
}

/// A part of a text with bounds of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unit {
    /// A sentence: up to a full stop, `!` or the like, or the end of the paragraph.
    Sentence,
    /// A paragraph: up to an empty line.
    Paragraph,
}

/// A node of the tree; see the invariants of this module.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// Every document (an empty query).
    All,
    /// Rows that hold a term.
    Word(Word),
    /// One term that occurs at least `times` times in all its fields together: a word that a quorum names repeatedly.
    Repeated {
        /// The term and its limits.
        word: Word,
        /// Least number of occurrences; at least 2.
        times: u32,
    },
    /// Terms at fixed distances in one field: (term, distance from the phrase's first term).
    Phrase {
        /// At least two.
        words: Vec<(Term, u32)>,
        /// Where it may stand (all of it in one field).
        fields: FieldSet,
    },
    /// `"a b"~slack`: all terms in one field, in any order, in fewer positions than `slack` plus the number of terms.
    Proximity {
        /// At least two.
        terms: Vec<Term>,
        /// Where it may stand (all of it in one field).
        fields: FieldSet,
        /// Positions that the window may have beyond the terms; at least 1.
        slack: u32,
    },
    /// `"a b c"/least`: at least `least` of the parts, wherever they stand.
    Quorum {
        /// At least two.
        parts: Vec<Node>,
        /// 1 to the number of parts.
        least: u32,
    },
    /// `a << b`: each part behind the one before, in one field.
    Order(Vec<Node>),
    /// `a NEAR/n b`: both in one field, in any order. The later starts inside of the other or at most `distance`
    /// behind its end; two spans with the same start are not near.
    Near {
        /// The left operand.
        left: Box<Node>,
        /// The right operand.
        right: Box<Node>,
        /// Positions, at least 1.
        distance: u32,
    },
    /// `a NOTNEAR/n b`: the left one, where no right one overlaps it or lies at most `distance` positions away.
    NotNear {
        /// The operand that must match.
        left: Box<Node>,
        /// The operand that must not be near.
        right: Box<Node>,
        /// Positions, at least 1.
        distance: u32,
    },
    /// `a SENTENCE b`: all parts in one sentence or paragraph of one field.
    Together {
        /// Sentence or paragraph.
        unit: Unit,
        /// At least two.
        parts: Vec<Node>,
    },
    /// `a MAYBE b`: the left one must match; the right one only adds to the weight.
    Maybe(Box<Node>, Box<Node>),
    /// All children match. `Not` stands only here, beside at least one other child.
    And(Vec<Node>),
    /// At least one child matches; without children, no document does.
    Or(Vec<Node>),
    /// The child does not match.
    Not(Box<Node>),
}

impl Node {
    /// Places that a node takes in the text of its query, as Sphinx counts them. Each term takes one, and so does
    /// each gap in a phrase. The number behind the quotes of `~N` or of a quorum takes one, too.
    #[must_use]
    pub fn places(&self) -> u32 {
        let all = |parts: &[Node]| parts.iter().map(Node::places).sum();
        match self {
            Node::All => 0,
            Node::Word(_) | Node::Repeated { .. } => 1,
            Node::Phrase { words, .. } => words.last().map_or(0, |(_, distance)| distance + 1),
            Node::Proximity { terms, .. } => terms.len() as u32 + 1,
            Node::Quorum { parts, .. } => all(parts) + 1,
            Node::Order(parts)
            | Node::Together { parts, .. }
            | Node::And(parts)
            | Node::Or(parts) => all(parts),
            Node::Near { left, right, .. }
            | Node::NotNear { left, right, .. }
            | Node::Maybe(left, right) => left.places() + right.places(),
            Node::Not(part) => part.places(),
        }
    }

    /// The parts of an `And`; any other node alone.
    #[must_use]
    pub fn into_all(self) -> Vec<Node> {
        if let Node::And(parts) = self {
            parts
        } else {
            vec![self]
        }
    }

    /// The branches of an `Or`; any other node alone.
    #[must_use]
    pub fn into_any(self) -> Vec<Node> {
        if let Node::Or(branches) = self {
            branches
        } else {
            vec![self]
        }
    }

    /// The parts of an `Order`, `Together` or `And`; any other node alone.
    pub(crate) fn into_parts(self) -> Vec<Node> {
        if let Node::Order(parts) | Node::Together { parts, .. } = self {
            parts
        } else {
            self.into_all()
        }
    }

    /// Whether some part asks where a field, a sentence or a paragraph ends.
    #[must_use]
    pub fn asks_ends(&self) -> bool {
        match self {
            Node::Together { .. } => true,
            Node::Quorum { parts, .. }
            | Node::Order(parts)
            | Node::And(parts)
            | Node::Or(parts) => parts.iter().any(Node::asks_ends),
            Node::Near { left, right, .. }
            | Node::NotNear { left, right, .. }
            | Node::Maybe(left, right) => left.asks_ends() || right.asks_ends(),
            Node::Not(part) => part.asks_ends(),
            Node::All
            | Node::Word(_)
            | Node::Repeated { .. }
            | Node::Phrase { .. }
            | Node::Proximity { .. } => {
                let mut asks = false;
                self.each_term(&mut |term| asks |= term.place.last);
                asks
            }
        }
    }

    /// Calls `visit` with every term in the order of the query; a repeated term is visited each time.
    pub fn each_term<'n>(&'n self, visit: &mut dyn FnMut(&'n Term)) {
        match self {
            Node::All => {}
            Node::Word(word) | Node::Repeated { word, .. } => visit(&word.term),
            Node::Phrase { words, .. } => words.iter().for_each(|(term, _)| visit(term)),
            Node::Proximity { terms, .. } => terms.iter().for_each(visit),
            Node::Quorum { parts, .. }
            | Node::Order(parts)
            | Node::Together { parts, .. }
            | Node::And(parts)
            | Node::Or(parts) => parts.iter().for_each(|part| part.each_term(visit)),
            Node::Near { left, right, .. }
            | Node::NotNear { left, right, .. }
            | Node::Maybe(left, right) => {
                left.each_term(visit);
                right.each_term(visit);
            }
            Node::Not(part) => part.each_term(visit),
        }
    }
}

/// A parsed query.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// The tree, within the limits of [`crate::limits`].
    pub root: Node,
    /// Hints for texts that may not mean what their writer thinks, such as `AND` in capitals, which is a word.
    pub warnings: Vec<String>,
}

/// The reason why a query's text was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryError {
    /// Byte offset in the text.
    pub position: usize,
    /// Message: lower case, no full stop, without the position.
    pub message: String,
    /// The field that there is not, if the text is refused for naming it.
    pub field: Option<UnknownField>,
}

/// A field that a query names and its table does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownField {
    /// As it was written.
    pub name: String,
    /// The field that may have been meant.
    pub near: Option<String>,
}

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.message, self.position)
    }
}

impl std::error::Error for QueryError {}
