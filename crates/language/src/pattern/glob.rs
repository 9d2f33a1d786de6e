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
    /// The longest stretch of letters between wildcards; empty where none is longer than prefix and suffix.
    infix: Box<str>,
    /// Whether the pattern is `prefix*suffix` or `*infix*`: these then decide.
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
        let mut glob = Glob {
            infix: "".into(),
            prefix: prefix.into(),
            suffix: suffix.into_iter().collect(),
            simple,
            steps,
        };
        let literal = glob.literal(text);
        if let Literal::Infix(infix) = &literal {
            let is_any = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte == b'*');
            let around = text.split_once(&**infix);
            glob.simple = around.is_some_and(|(before, behind)| is_any(before) && is_any(behind));
            glob.infix = infix.clone();
        }
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

    /// Memory of it in bytes.
    pub(super) fn memory(&self) -> usize {
        let texts = self.prefix.len() + self.suffix.len() + self.infix.len();
        size_of_val(&*self.steps) + texts
    }

    pub(super) fn is_match(&self, word: &str) -> bool {
        // Without these tests, comparing no bytes at the address of an empty text takes some 100 ns.
        let begins = |rest: &str| self.prefix.is_empty() || rest.starts_with(&*self.prefix);
        let ends = |rest: &str| self.suffix.is_empty() || rest.ends_with(&*self.suffix);
        let is_long = word.len() >= self.prefix.len() + self.suffix.len();
        if !is_long
            || !begins(word)
            || !ends(word)
            || !holds(word.as_bytes(), self.infix.as_bytes())
            || (self.prefix.is_empty() && word.starts_with(['#', '@', '=']))
        {
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

/// Whether a word holds an infix. Words are short: a search that prepares itself would take longer.
#[inline]
pub(super) fn holds(word: &[u8], infix: &[u8]) -> bool {
    let Some((first, rest)) = infix.split_first() else {
        return true;
    };
    let starts = word.iter().enumerate().filter(|(_, byte)| *byte == first);
    let mut behind = starts.filter_map(|(at, _)| word.get(at + 1..));
    behind.any(|behind| rest.is_empty() || behind.starts_with(rest))
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
