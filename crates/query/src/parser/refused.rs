//! Operators of the language that are not built yet. They are refused, so that a stored query never changes its meaning when
//! they come.

use super::{Parser, refuse};
use crate::analysis::in_run;
use crate::tree::QueryError;

impl Parser<'_> {
    /// Refuses an operator at the cursor, inside a word or at its beginning; `stuck`: a letter of the word stands before it.
    pub(super) fn refuse_operator(&self, c: char, stuck: bool) -> Result<(), QueryError> {
        let next = self.cursor.ahead().chars().nth(1);
        let before_word = next.is_some_and(in_run);
        let what = match c {
            '*' => "wildcards, *",
            '<' if next == Some('<') => "strict order, <<",
            '^' if stuck && next.is_some_and(|c| c.is_ascii_digit()) => "boosts, word^N",
            '^' if !stuck && before_word => "the start of a field, ^word",
            '$' if stuck && !before_word => "the end of a field, word$",
            '=' if !stuck && (before_word || next == Some('"')) => "exact forms, =word",
            _ => return Ok(()),
        };
        self.not_yet(self.cursor.at, what)
    }

    /// Refuses a keyword that was written as the word from `start` to the cursor.
    pub(super) fn refuse_keyword(&self, word: &str, start: usize) -> Result<(), QueryError> {
        let opens = self.cursor.peek() == Some('(');
        let counts = |name| {
            let count = word
                .strip_prefix(name)
                .and_then(|rest| rest.strip_prefix('/'));
            count.is_some_and(|count| count.starts_with(|c: char| c.is_ascii_digit()))
        };
        let what = match word {
            "MAYBE" => "MAYBE",
            "SENTENCE" => "SENTENCE",
            "PARAGRAPH" => "PARAGRAPH",
            "ZONE:" | "ZONESPAN:" if opens => "zones",
            "REGEX" if opens => "REGEX",
            _ if counts("NEAR") => "NEAR/N",
            _ if counts("NOTNEAR") => "NOTNEAR/N",
            _ => return Ok(()),
        };
        self.not_yet(start, what)
    }

    /// Refuses an operator at the cursor, inside a phrase.
    pub(super) fn refuse_in_phrase(&self, c: char) -> Result<(), QueryError> {
        if c == '|' {
            return self.not_yet(self.cursor.at, "alternatives inside a phrase");
        }
        let stuck = self.cursor.behind().chars().next_back().is_some_and(in_run);
        self.refuse_operator(c, stuck)
    }

    /// Refuses an operator right behind a closing quote.
    pub(super) fn refuse_after_phrase(&self) -> Result<(), QueryError> {
        let mut ahead = self.cursor.ahead().chars();
        let operator = ahead.next();
        let counts = ahead.next().is_some_and(|c| c.is_ascii_digit() || c == '.');
        match operator {
            Some('~') if counts => self.not_yet(self.cursor.at, r#"proximity, "…"~N"#),
            Some('/') if counts => self.not_yet(self.cursor.at, r#"quorum, "…"/N"#),
            Some('^') if counts => self.not_yet(self.cursor.at, r#"boosts, "…"^N"#),
            _ => Ok(()),
        }
    }

    fn not_yet(&self, position: usize, what: &str) -> Result<(), QueryError> {
        refuse(position, format!("not yet: {what}"))
    }
}
