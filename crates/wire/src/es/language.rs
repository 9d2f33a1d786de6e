//! Words, phrases and patterns of text fields, as operands of our own query language.

use language::analysis::Analyzer;

use super::condition::Condition;
use super::error::EsError;
use super::mapping::{Mapping, UNMAPPED, column_name};

type Result<T> = std::result::Result<T, EsError>;

/// A text field of the query language: its column, and a prefix of each word. A mapped field has no prefix. All unmapped fields
/// share one column, where the prefix tells them apart: see [`before`].
#[derive(Clone, Debug)]
pub(super) struct TextField {
    column: String,
    before: String,
}

impl TextField {
    pub(super) fn mapped(column: &str) -> TextField {
        TextField {
            column: column.to_owned(),
            before: String::new(),
        }
    }

    /// A field that the mapping does not know. `None`: the index does not map unknown fields to text.
    pub(super) fn unmapped(mapping: &Mapping, path: &str) -> Option<TextField> {
        let known = mapping.unmapped_as_text && path != mapping.percolator;
        known.then(|| TextField {
            column: UNMAPPED.to_owned(),
            before: before(path),
        })
    }

    pub(super) fn any_of(&self, words: &[String]) -> Condition {
        self.joined(words, " | ")
    }

    pub(super) fn all_of(&self, words: &[String]) -> Condition {
        self.joined(words, " ")
    }

    fn joined(&self, words: &[String], between: &str) -> Condition {
        if words.is_empty() {
            return Condition::Nothing;
        }
        let words: Vec<String> = words
            .iter()
            .map(|word| format!("{}{word}", self.before))
            .collect();
        self.limited(&words.join(between))
    }

    /// At least `count` of the words.
    pub(super) fn at_least(&self, words: &[String], count: usize) -> Condition {
        match count {
            0 => Condition::Everything,
            1 => self.any_of(words),
            _ if count > words.len() => Condition::Nothing,
            _ if count == words.len() => self.all_of(words),
            _ => self.limited(&format!("{}/{count}", self.quoted(words, ""))),
        }
    }

    /// The words in order, with at most `slop` other words between them. `after` is appended to the last word.
    pub(super) fn phrase(&self, words: &[String], slop: u64, after: &str) -> Condition {
        match words {
            [] => Condition::Nothing,
            [one] => self.limited(&format!("{}{one}{after}", self.before)),
            _ if slop == 0 => self.limited(&self.quoted(words, after)),
            // The span has room for the words and the slop.
            _ => self.limited(&format!(
                "{}~{}",
                self.quoted(words, after),
                slop.saturating_add(1)
            )),
        }
    }

    fn quoted(&self, words: &[String], after: &str) -> String {
        let words: Vec<String> = words
            .iter()
            .map(|word| format!("{}{word}", self.before))
            .collect();
        format!("\"{}{after}\"", words.join(" "))
    }

    /// One word with `*` and `?`. The text between wildcards must be part of a single word.
    pub(super) fn pattern(&self, pattern: &str, path: &str) -> Result<Condition> {
        let mut out = self.before.clone();
        let mut literal = String::new();
        let mut characters = pattern.chars();
        let mut last = None;
        while let Some(character) = characters.next() {
            match character {
                '\\' => literal.extend(characters.next()),
                '*' | '?' => {
                    out.push_str(&folded(&literal, path)?);
                    literal.clear();
                    if (last, character) != (Some('*'), '*') || !out.ends_with('*') {
                        out.push(character);
                    }
                }
                _ => literal.push(character),
            }
            last = Some(character);
        }
        out.push_str(&folded(&literal, path)?);
        if out.chars().all(|character| matches!(character, '*' | '?')) {
            return Err(EsError::not_yet(
                path,
                "a pattern without a letter or digit",
            ));
        }
        Ok(self.limited(&out))
    }

    /// Any word.
    pub(super) fn any_word(&self) -> Condition {
        if self.before.is_empty() {
            return self.limited("REGEX(/.+/)");
        }
        self.limited(&format!("{}*", self.before))
    }

    fn limited(&self, inside: &str) -> Condition {
        Condition::Text(format!("(@{} {inside})", self.column))
    }
}

/// Prefix of each word of an unmapped field.
pub(super) fn before(path: &str) -> String {
    format!("{}__", column_name(path))
}

/// The folded words of a text, in order. The signs of hashtags and handles are no part of a word.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    Analyzer::default().words(text, &mut |word| {
        if !word.text.starts_with(['#', '@']) {
            words.push(word.text.to_owned());
        }
    });
    words
}

/// A part of a word, folded.
fn folded(literal: &str, path: &str) -> Result<String> {
    if literal.is_empty() {
        return Ok(String::new());
    }
    let parts = literal.chars().any(|character| {
        character.is_whitespace() || (character.is_ascii_punctuation() && character != '_')
    });
    match words(literal).as_slice() {
        [one] if !parts => Ok(one.clone()),
        _ => Err(EsError::not_yet(
            path,
            format!("'{literal}' in a pattern: words are letters, digits and _"),
        )),
    }
}
