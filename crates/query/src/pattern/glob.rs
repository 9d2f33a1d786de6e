//! Wildcards: `*` for any letters, `?` for one, `%` for one or none.
//!
//! Example: the pattern `a?c%` has four steps. Bit `n` of a set says that the first `n` steps took the letters so
//! far.
//!
//! ```text
//! letters  reached (bits)
//!          0
//! a        1
//! ab       2
//! abc      3, 4         % takes no letter, so the fourth step is done as well
//! abcd     4            bit 4 at the end: a match
//! ```
//!
//! So one pass over the word suffices, whatever the pattern.

use super::Literal;
use crate::limits::PATTERN_CHARS_MAX;

/// A pattern with wildcards.
#[derive(Clone, Debug)]
pub(super) struct Glob {
    steps: Box<[Step]>,
    /// Text that every match begins with, and text that it ends with. They dismiss most words; in no match do they
    /// overlap.
    prefix: Box<str>,
    suffix: Box<str>,
    /// Whether the pattern is `prefix*suffix`: prefix and suffix then decide.
    simple: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Char(char),
    One,
    OneOrNone,
    Any,
}

impl Glob {
    pub(super) fn new(text: &str) -> Result<(Glob, Literal), String> {
        let steps: Box<[Step]> = text.chars().map(step).collect();
        if steps.len() > PATTERN_CHARS_MAX {
            return Err(format!(
                "a word with wildcards is longer than {PATTERN_CHARS_MAX} characters"
            ));
        }
        let prefix: String = steps.iter().map_while(letter).collect();
        let behind = steps.get(prefix.chars().count()..).unwrap_or_default();
        let mut suffix: Vec<char> = behind.iter().rev().map_while(letter).collect();
        suffix.reverse();
        let between = behind
            .get(..behind.len() - suffix.len())
            .unwrap_or_default();
        let simple = !between.is_empty() && between.iter().all(|step| *step == Step::Any);
        let glob = Glob {
            prefix: prefix.into(),
            suffix: suffix.into_iter().collect(),
            simple,
            steps,
        };
        let literal = glob.literal(text);
        Ok((glob, literal))
    }

    /// The longest stretch of letters; the first of equal ones.
    fn literal(&self, text: &str) -> Literal {
        let pieces = text.split(is_wildcard);
        let longest = pieces.fold("", |longest, piece| {
            if piece.chars().count() > longest.chars().count() {
                piece
            } else {
                longest
            }
        });
        match longest {
            "" => Literal::None,
            _ if *longest == *self.prefix => Literal::Prefix(longest.into()),
            _ if *longest == *self.suffix => Literal::Suffix(longest.into()),
            _ => Literal::Infix(longest.into()),
        }
    }

    pub(super) fn is_match(&self, word: &str) -> bool {
        let rest = word
            .strip_prefix(&*self.prefix)
            .and_then(|rest| rest.strip_suffix(&*self.suffix));
        if rest.is_none() || (self.prefix.is_empty() && word.starts_with(['#', '@', '='])) {
            return false;
        }
        self.simple || self.run(word)
    }

    /// Follows all ways through the pattern at once.
    fn run(&self, word: &str) -> bool {
        let mut reached = self.closed(1);
        for c in word.chars() {
            let mut next = 0;
            let mut left = reached;
            while left != 0 {
                let at = left.trailing_zeros() as usize;
                left &= left - 1;
                next |= match self.steps.get(at) {
                    Some(Step::Char(wanted)) if *wanted != c => 0,
                    Some(Step::Char(_) | Step::One | Step::OneOrNone) => 2u128 << at,
                    Some(Step::Any) => 1 << at,
                    None => 0,
                };
            }
            reached = self.closed(next);
            if reached == 0 {
                return false;
            }
        }
        reached >> self.steps.len() & 1 == 1
    }

    /// Adds the steps that are reached without a letter.
    fn closed(&self, mut reached: u128) -> u128 {
        for (at, step) in self.steps.iter().enumerate() {
            if matches!(step, Step::Any | Step::OneOrNone) {
                reached |= (reached >> at & 1) << (at + 1);
            }
        }
        reached
    }
}

/// Whether a character of a pattern is a wildcard.
pub(crate) fn is_wildcard(c: char) -> bool {
    matches!(c, '*' | '?' | '%')
}

fn step(c: char) -> Step {
    match c {
        '*' => Step::Any,
        '?' => Step::One,
        '%' => Step::OneOrNone,
        c => Step::Char(c),
    }
}

fn letter(step: &Step) -> Option<char> {
    match step {
        Step::Char(c) => Some(*c),
        _ => None,
    }
}
