//! Phrases, proximity and quorums as text.

use std::fmt;

use super::{FieldSet, Limit, Node, Printed, Term, Word, write_term};
use crate::analysis::Analyzer;
use crate::tree::Form;

impl Printed<'_> {
    pub(super) fn phrase(
        &self,
        f: &mut fmt::Formatter<'_>,
        words: &[(Term, u32)],
        fields: FieldSet,
    ) -> fmt::Result {
        let limit = words
            .first()
            .map_or(Limit::NONE, |(term, _)| Limit::of(fields, term));
        self.limited(f, limit, &|f| {
            f.write_str("\"")?;
            let mut behind = 0;
            for (number, (term, distance)) in words.iter().enumerate() {
                f.write_str(if number > 0 { " " } else { "" })?;
                for _ in behind..*distance {
                    f.write_str("* ")?;
                }
                write_term(f, term, true)?;
                behind = distance + positions(term);
            }
            f.write_str("\"")
        })
    }

    pub(super) fn proximity(
        &self,
        f: &mut fmt::Formatter<'_>,
        terms: &[Term],
        fields: FieldSet,
        slack: u32,
    ) -> fmt::Result {
        let limit = terms
            .first()
            .map_or(Limit::NONE, |term| Limit::of(fields, term));
        self.limited(f, limit, &|f| {
            f.write_str("\"")?;
            for (number, term) in terms.iter().enumerate() {
                f.write_str(if number > 0 { " " } else { "" })?;
                write_term(f, term, true)?;
            }
            write!(f, "\"~{slack}")
        })
    }

    /// Writes a quorum. The language has quorums of words and of alternatives of words only, all in the same fields.
    pub(super) fn quorum(
        &self,
        f: &mut fmt::Formatter<'_>,
        parts: &[Node],
        least: u32,
    ) -> fmt::Result {
        let limit = parts.first().map_or(Limit::NONE, limit_of);
        self.limited(f, limit, &|f| {
            f.write_str("\"")?;
            for (number, part) in parts.iter().enumerate() {
                f.write_str(if number > 0 { " " } else { "" })?;
                let Node::Or(branches) = part else {
                    self.quorum_part(f, part)?;
                    continue;
                };
                f.write_str("( ")?;
                for (number, branch) in branches.iter().enumerate() {
                    f.write_str(if number > 0 { " | " } else { "" })?;
                    self.quorum_part(f, branch)?;
                }
                f.write_str(" )")?;
            }
            write!(f, "\"/{least}")
        })
    }

    fn quorum_part(&self, f: &mut fmt::Formatter<'_>, part: &Node) -> fmt::Result {
        if let Node::Word(Word { term, .. })
        | Node::Repeated {
            word: Word { term, .. },
            ..
        } = part
        {
            return write_term(f, term, true);
        }
        let Node::And(words) = part else {
            return self.operand(f, part);
        };
        for (number, word) in words.iter().enumerate() {
            f.write_str(if number > 0 { " " } else { "" })?;
            self.quorum_part(f, word)?;
        }
        Ok(())
    }
}

fn limit_of(node: &Node) -> Limit {
    if let Node::Word(Word { term, fields }) = node {
        Limit::of(*fields, term)
    } else if let Node::And(parts) | Node::Or(parts) = node {
        parts.first().map_or(Limit::NONE, limit_of)
    } else {
        Limit::NONE
    }
}

/// Positions that a term's text takes in a phrase: a marked run of Chinese is one term of several positions.
fn positions(term: &Term) -> u32 {
    let mut last = 1;
    if term.form == Form::Whole {
        let count = &mut |word: crate::analysis::FoldedWord<'_>| last = word.position;
        Analyzer::default().folded(&term.text, count);
    }
    last
}
