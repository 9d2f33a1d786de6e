//! The characters between operators, apart from the signs that belong to single words.
//!
//! Example: `^sto*` becomes the text `sto*` with two signs: `First` before byte 0, and `Wild` at byte 3.

use super::Parser;
use crate::analysis::{in_run, is_mark};
use crate::pattern::is_wildcard;
use crate::tree::QueryError;

/// A sign that belongs to a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    /// This character is a wildcard.
    Wild,
    /// `^` before a word: it must be the first of its field.
    First,
    /// `$` behind a word: it must be the last of its field.
    Last,
    /// `=` before a word: the word as written, not its stem.
    Exact,
}

/// A piece of text without its signs.
#[derive(Debug, Default)]
pub(super) struct Raw {
    pub(super) text: String,
    /// Byte in `text`, sign, and byte in the query; by rising byte.
    signs: Vec<(usize, Sign, usize)>,
    /// Whether a character of it stood behind a backslash.
    pub(super) escaped: bool,
}

impl Raw {
    /// Whether the text ends with a letter or a wildcard.
    pub(super) fn is_stuck(&self) -> bool {
        let wild =
            matches!(self.signs.last(), Some((at, Sign::Wild, _)) if at + 1 == self.text.len());
        wild || self.text.chars().next_back().is_some_and(in_run)
    }

    /// Whether the sign stands between two bytes of `text`, both included.
    pub(super) fn has(&self, sign: Sign, from: usize, to: usize) -> bool {
        let first = self.signs.partition_point(|(at, ..)| *at < from);
        let there = self.signs.iter().skip(first);
        let mut there = there.take_while(|(at, ..)| *at <= to);
        there.any(|(_, other, _)| *other == sign)
    }

    /// The byte in the query of the wildcard at a byte of `text`, if there is one.
    pub(super) fn wildcard(&self, at: usize) -> Option<usize> {
        let first = self.signs.partition_point(|(other, ..)| *other < at);
        let there = self.signs.iter().skip(first);
        let mut there = there.take_while(|(other, ..)| *other == at);
        there
            .find(|(_, sign, _)| *sign == Sign::Wild)
            .map(|(.., place)| *place)
    }

    /// Adds a sign before the next character, which stands at byte `place` of the query.
    pub(super) fn sign(&mut self, sign: Sign, place: usize) {
        self.signs.push((self.text.len(), sign, place));
    }

    pub(super) fn has_wildcards(&self) -> bool {
        self.signs.iter().any(|(_, sign, _)| *sign == Sign::Wild)
    }
}

impl Parser<'_> {
    /// Takes the character at the cursor, which must be no operator between words.
    pub(super) fn take_into(&mut self, raw: &mut Raw) -> Result<(), QueryError> {
        let place = self.cursor.at;
        let Some(c) = self.cursor.bump() else {
            return Ok(());
        };
        let next = self.cursor.peek();
        let before_word = next.is_some_and(|c| in_run(c) || is_mark(c) || is_wildcard(c));
        let stuck = raw.is_stuck();
        let sign = match c {
            '\\' => {
                raw.text.extend(self.cursor.bump());
                raw.escaped = true;
                return Ok(());
            }
            '^' if self.boost_at(place, stuck, raw) => return Ok(()),
            '^' if !stuck && (before_word || matches!(next, Some('=' | '\\'))) => Sign::First,
            '$' if stuck && !next.is_some_and(in_run) => Sign::Last,
            '=' if !stuck && (before_word || next == Some('\\')) => Sign::Exact,
            c if is_wildcard(c) => {
                if c != '*' && stuck && next.is_none_or(|c| c.is_whitespace() || c == '"') {
                    self.warn(r"? and % stand for a letter of a word: write \? or \% for the sign");
                }
                raw.sign(Sign::Wild, place);
                raw.text.push(c);
                return Ok(());
            }
            c => {
                raw.text.push(c);
                return Ok(());
            }
        };
        raw.sign(sign, place);
        Ok(())
    }

    /// Takes the number of a boost, if the `^` taken at `place` begins one.
    fn boost_at(&mut self, place: usize, stuck: bool, raw: &Raw) -> bool {
        let at_end = matches!(raw.signs.last(), Some((at, Sign::Last, _)) if *at == raw.text.len());
        if !stuck && !at_end {
            return false;
        }
        self.cursor.at = place;
        let taken = self.boost();
        if !taken {
            self.cursor.bump();
        }
        taken
    }

    /// Takes a boost at the cursor, `^1.5`. Boosts change no match.
    pub(super) fn boost(&mut self) -> bool {
        let start = self.cursor.at;
        let digits = |c: char| c.is_ascii_digit() || c == '.';
        let is_boost = self.cursor.take("^")
            && self
                .cursor
                .take_while(digits)
                .starts_with(|c: char| c.is_ascii_digit())
            && !self.cursor.peek().is_some_and(in_run);
        if is_boost {
            self.warn("boosts such as word^1.5 are read and passed over");
        } else {
            self.cursor.at = start;
        }
        is_boost
    }
}
