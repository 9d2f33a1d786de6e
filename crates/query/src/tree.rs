//! The tree of a search query; the same for a search and for a standing query.

mod necessary;
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

/// Where in its field a term must stand. The default is anywhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Place {
    /// `^word`: at position 1.
    pub first: bool,
    /// `word$`: at the field's last position.
    pub last: bool,
    /// `@field[N]`: at position N or before it; 0 is no limit.
    pub within: u32,
}

/// What may stand at one position.
///
/// In a table that stems, a word as written is `=word` in documents and in terms; the bare word is its stem.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Term {
    /// As analysis gives it: never empty.
    pub text: Box<str>,
    /// How it is compared.
    pub form: Form,
    /// Where it must stand.
    pub place: Place,
}

impl Term {
    /// A word, anywhere.
    #[must_use]
    pub fn whole(text: impl Into<Box<str>>) -> Term {
        Term {
            text: text.into(),
            form: Form::Whole,
            place: Place::default(),
        }
    }

    /// Whether it is a word that may stand anywhere.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.form == Form::Whole && self.place == Place::default()
    }
}

/// A term and the fields it may stand in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Word {
    /// What.
    pub term: Term,
    /// Where it may stand.
    pub fields: FieldSet,
}

impl Word {
    /// A word, anywhere in these fields.
    #[must_use]
    pub fn whole(text: impl Into<Box<str>>, fields: FieldSet) -> Word {
        let term = Term::whole(text);
        Word { term, fields }
    }
}

/// A part of a text with bounds of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unit {
    /// Up to a full stop and the like, or the end of the paragraph.
    Sentence,
    /// Up to an empty line.
    Paragraph,
}

/// A node of the tree. `And`, `Order` and `Together` have at least two children. `Or` has at least two too, or none: then no document
/// matches, which is what a text without a word says.
/// `reference.rs` is the meaning of each.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// Every document (an empty query).
    All,
    /// One term.
    Word(Word),
    /// One term at least so many times in all its fields together: a word that a quorum asks for again.
    Repeated {
        /// Which.
        word: Word,
        /// At least 2.
        times: u32,
    },
    /// Terms at fixed distances in one field: (term, distance from the phrase's first one), distances rising from 0.
    Phrase {
        /// At least two.
        words: Vec<(Term, u32)>,
        /// Where it may stand (all of it in one field).
        fields: FieldSet,
    },
    /// `"a b"~slack`: all of them in one field, in any order, in fewer positions than `slack` and their number.
    Proximity {
        /// At least two.
        terms: Vec<Term>,
        /// Where it may stand (all of it in one field).
        fields: FieldSet,
        /// See above.
        slack: u32,
    },
    /// `"a b c"/least`: at least so many of them, wherever they stand.
    Quorum {
        /// At least two.
        parts: Vec<Node>,
        /// 1 to the number of parts.
        least: u32,
    },
    /// `a << b`: each behind the one before, in one field.
    Order(Vec<Node>),
    /// `a NEAR/n b`: in one field, at most so many positions apart, in any order, not overlapping.
    Near {
        /// One.
        left: Box<Node>,
        /// And the other.
        right: Box<Node>,
        /// At least 1.
        distance: u32,
    },
    /// `a NOTNEAR/n b`: the left one with no right one overlapping it or at most so many positions away.
    NotNear {
        /// What must be there.
        left: Box<Node>,
        /// What must not be near.
        right: Box<Node>,
        /// At least 1.
        distance: u32,
    },
    /// `a SENTENCE b`: all in one part of one field.
    Together {
        /// Which part.
        unit: Unit,
        /// What.
        parts: Vec<Node>,
    },
    /// `a MAYBE b`: the left one; the right one only adds to the weight.
    Maybe(Box<Node>, Box<Node>),
    /// All of them. `Not` stands only here, and never as the only kind of child.
    And(Vec<Node>),
    /// Any of them; of none, no document.
    Or(Vec<Node>),
    /// Not this. Only a direct child of `And`.
    Not(Box<Node>),
}

impl Node {
    /// Places that a node takes in the text of its query: one for each term, in a phrase also for what stands between, and one for the number
    /// behind the quotes of `~N` and a quorum, as in Sphinx.
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

    /// Calls `visit` with every term, in the order in which they stand in the query, each as often as it does.
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
