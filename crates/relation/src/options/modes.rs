//! Sphinx's old match modes: from a text without operators to a query.
//!
//! Example: `a b|c` in mode `any` is the query `"a b\|c"/1`: the bar is escaped, and one word is enough.

use super::{Ranker, one_of};

/// How the text of MATCH is read. The first three modes know no operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchMode {
    /// All words are required.
    All,
    /// One word is enough.
    Any,
    /// The words must stand side by side.
    Phrase,
    /// Operators are known; every row has the same weight.
    Boolean,
    /// Operators are known.
    Extended,
    /// The text is ignored: every row matches.
    Fullscan,
}

/// Characters whose meaning a backslash takes away.
const OPERATORS: &str = "<\\()|-!@~\"&/^$=";

impl MatchMode {
    /// The mode of a name, in any case; `extended2` is `extended`.
    pub(super) fn named(name: &str) -> Result<MatchMode, String> {
        let named = [
            ("all", MatchMode::All),
            ("any", MatchMode::Any),
            ("phrase", MatchMode::Phrase),
            ("boolean", MatchMode::Boolean),
            ("extended", MatchMode::Extended),
            ("extended2", MatchMode::Extended),
            ("fullscan", MatchMode::Fullscan),
        ];
        one_of(name, "match_mode", &named)
    }

    /// The ranker of the mode, if it has one of its own.
    pub(super) fn ranker(self) -> Option<Ranker> {
        match self {
            MatchMode::All | MatchMode::Phrase => Some(Ranker::Proximity),
            MatchMode::Any => Some(Ranker::Matchany),
            MatchMode::Boolean => Some(Ranker::None),
            MatchMode::Extended | MatchMode::Fullscan => None,
        }
    }

    /// The text as a query in extended syntax.
    #[must_use]
    pub fn query(self, text: &str) -> String {
        match self {
            MatchMode::All => escaped(text),
            MatchMode::Fullscan => String::new(),
            // Every row, as in the other modes.
            _ if text.is_empty() => String::new(),
            MatchMode::Any => format!("\"{}\"/1", escaped(text)),
            MatchMode::Phrase => format!("\"{}\"", escaped(text)),
            MatchMode::Boolean | MatchMode::Extended => text.to_owned(),
        }
    }
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut before = ' ';
    for letter in text.chars() {
        // An operator in capitals is a word once its first letter is escaped.
        let begins = letter.is_ascii_uppercase() && !before.is_alphanumeric();
        if begins || OPERATORS.contains(letter) {
            escaped.push('\\');
        }
        escaped.push(letter);
        before = letter;
    }
    escaped
}
