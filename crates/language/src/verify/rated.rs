//! Which terms count by their rarity, in every document that matches or in some.
//!
//! Example: `big << cat`, `big | cat`, `big -cat`
//!
//! ```text
//!            big        cat
//! <<         always     never       only the first operand does
//! |          maybe      maybe
//! -          always     never
//! ```

use super::prepared::{Kind, Prepared, Standing};

/// Whether the rarity of a term counts in a document that matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rated {
    /// In none.
    #[default]
    Never,
    /// In some of the documents.
    Maybe,
    /// In each, in at least one of the fields in which the term may stand.
    Always,
}

impl Rated {
    /// What of a term's value counts in the upper bound of a weight: a value that may not count must not lower it. Exact but for
    /// [`Rated::Maybe`].
    #[inline(always)]
    #[must_use]
    pub fn of(self, value: i64) -> i64 {
        match self {
            Rated::Never => 0,
            Rated::Maybe => value.max(0),
            Rated::Always => value,
        }
    }
}

impl Prepared {
    /// Raises the entries of the terms, by number. `rated`: that of this node in the documents that match the tree.
    pub(super) fn rate(&self, rated: Rated, of: &mut [Rated]) {
        let mut raise = |word: &Standing, rated: Rated| {
            if let Some(of) = of.get_mut(word.term) {
                *of = (*of).max(rated);
            }
        };
        let maybe = rated.min(Rated::Maybe);
        match &self.kind {
            Kind::All | Kind::Not(_) => {}
            Kind::Word(word) | Kind::Repeated(word, _) => raise(word, rated),
            Kind::Phrase(words) => words.iter().for_each(|(word, _)| raise(word, rated)),
            Kind::Proximity(asked) => {
                let listed = asked.listed.iter();
                listed.for_each(|(word, _)| raise(word, rated));
            }
            Kind::Near(near) => {
                near.left.rate(rated, of);
                near.right.rate(rated, of);
            }
            Kind::NotNear(left, ..) => left.rate(rated, of),
            Kind::Order(parts) => {
                for (at, part) in parts.iter().enumerate() {
                    part.rate(if at == 0 { rated } else { Rated::Never }, of);
                }
            }
            Kind::And(parts) | Kind::Together(_, parts) => {
                parts.iter().for_each(|part| part.rate(rated, of));
            }
            Kind::AtLeast(parts, _) => parts.iter().for_each(|part| part.rate(maybe, of)),
            Kind::Maybe(left, right) => {
                left.rate(rated, of);
                right.rate(maybe, of);
            }
        }
    }
}
