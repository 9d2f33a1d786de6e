//! `REGEX(/…/)`: regular expressions in queries.

use super::{Parser, refuse};
use crate::limits::QUERY_REGEXES_MAX;
use crate::pattern::Matcher;
use crate::tree::{FieldPlace, Form, Node, QueryError, Term, Word};

impl Parser<'_> {
    /// Reads an expression; the cursor stands on `REGEX(`. The character behind it is the delimiter.
    pub(super) fn expression(&mut self) -> Result<Option<Node>, QueryError> {
        let start = self.cursor.at;
        self.cursor.take("REGEX(");
        let text = match self.cursor.bump() {
            Some(delimiter) if !delimiter.is_alphanumeric() && !delimiter.is_whitespace() => {
                self.delimited(delimiter)
            }
            _ => None,
        };
        self.cursor.skip_blank();
        let Some(text) = text.filter(|text| !text.is_empty() && self.cursor.take(")")) else {
            return refuse(
                start,
                "a regular expression is written REGEX(/…/)".to_owned(),
            );
        };
        self.boost();
        self.regex(&text, start).map(Some)
    }

    /// Takes the text up to the delimiter, and the delimiter. A backslash stays, and hides a delimiter behind it.
    pub(super) fn delimited(&mut self, delimiter: char) -> Option<String> {
        let start = self.cursor.at;
        loop {
            let end = self.cursor.at;
            match self.cursor.bump()? {
                c if c == delimiter => {
                    let text = self.cursor.since(start);
                    return text.get(..end - start).map(str::to_owned);
                }
                '\\' => {
                    self.cursor.bump();
                }
                _ => {}
            }
        }
    }

    /// The node of a regular expression over whole words, which stands at `start` of the query.
    pub(super) fn regex(&mut self, text: &str, start: usize) -> Result<Node, QueryError> {
        self.regexes += 1;
        if self.regexes > QUERY_REGEXES_MAX {
            return refuse(
                start,
                format!("query has more than {QUERY_REGEXES_MAX} regular expressions"),
            );
        }
        // In a table that stems, words as written begin with `=`.
        let text = if self.analyzer.settings().stems() && !text.starts_with('=') {
            format!("=(?:{text})")
        } else {
            text.to_owned()
        };
        let within = self.limit.within;
        let term = Term {
            text: text.into(),
            form: Form::Regex,
            place: FieldPlace {
                within,
                ..FieldPlace::default()
            },
        };
        if let Err(message) = Matcher::new(&term) {
            return refuse(start, message);
        }
        self.count_word()?;
        self.count_node()?;
        self.grow(1)?;
        let fields = self.limit.fields;
        Ok(Node::Word(Word { term, fields }))
    }
}
