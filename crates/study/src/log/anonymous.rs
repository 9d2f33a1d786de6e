//! Words of queries as hashes, so that a report can be shown to people who must not read them.
//!
//! The hash is keyed: with another key the same word has another hash, and nobody without the key can try a dictionary. The
//! caller makes the key, such as [`RandomState::new`](std::hash::RandomState::new), and uses one for all that is to be compared.

use std::hash::{BuildHasher, RandomState};

/// How words of queries are shown.
#[derive(Clone, Debug, Default)]
pub enum Words {
    /// As they are.
    #[default]
    Kept,
    /// Each as eight hexadecimal digits.
    Hashed(RandomState),
}

/// First words of statements: in them only the texts in quotes are words of people.
const STATEMENTS: [&str; 6] = ["select", "call", "update", "insert", "replace", "delete"];

impl Words {
    /// A query, its normal form or a statement, as it is shown.
    pub fn show(&self, text: &str) -> String {
        match self {
            Words::Kept => text.to_owned(),
            Words::Hashed(key) => {
                let first = text
                    .split(|letter: char| !letter.is_ascii_alphabetic())
                    .next()
                    .unwrap_or_default();
                let is_statement = STATEMENTS
                    .iter()
                    .any(|word| first.eq_ignore_ascii_case(word))
                    && text[first.len()..].starts_with([' ', '(']);
                hashed(text, key, is_statement)
            }
        }
    }

    /// A message of an error, which may quote a query.
    pub fn show_message(&self, text: &str) -> String {
        match self {
            Words::Kept => text.to_owned(),
            Words::Hashed(key) => hashed(text, key, true),
        }
    }

    /// A line of unknown form, which may hold anything.
    pub fn show_line(&self, text: &str) -> String {
        match self {
            Words::Kept => text.to_owned(),
            Words::Hashed(_) => format!("({} bytes)", text.len()),
        }
    }
}

/// `text` with its words hashed; with `quoted`, only those between quotes.
fn hashed(text: &str, key: &RandomState, quoted: bool) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut quote = None;
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
        if is_word(letter) {
            let length = rest.find(|letter| !is_word(letter)).unwrap_or(rest.len());
            let (word, after) = rest.split_at(length);
            if quoted && quote.is_none() {
                shown.push_str(word);
            } else {
                shown.push_str(&format!("{:08x}", key.hash_one(word) as u32));
            }
            rest = after;
            continue;
        }
        match quote {
            None if matches!(letter, '\'' | '"') => quote = Some(letter),
            Some(open) if open == letter => quote = None,
            _ => {}
        }
        shown.push(letter);
        rest = &rest[letter.len_utf8()..];
        if letter == '\\' && quote.is_some() {
            // The escaped letter ends no quote.
            let escaped = rest.chars().next().filter(|letter| !is_word(*letter));
            shown.extend(escaped);
            rest = &rest[escaped.map_or(0, char::len_utf8)..];
        }
    }
    shown
}

#[cfg(test)]
mod tests;
