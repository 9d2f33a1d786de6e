//! Lucene's syntax, as Elasticsearch's `query_string` reads it.
//!
//! ```text
//! clauses = { [ "AND" | "&&" | "OR" | "||" ] [ "+" | "-" | "!" | "NOT" ] clause }
//! clause  = [ field ":" ] ( "(" clauses ")" | phrase [ "~" slop ] | "/" expression "/" | "*:*" | word ) [ "^" boost ]
//! ```
//!
//! As in Lucene, AND and OR only say whether the clauses beside them are required: `a AND b OR c` is `+a +b c`.
//! Beside required clauses, a clause that is not required cannot make a document match; it becomes the right side of
//! a MAYBE.

mod clauses;

#[cfg(test)]
mod tests;

use super::raw::{Raw, Sign};
use super::{Limit, Parser, refuse, refuse_field};
use crate::analysis::{Analyzer, in_run};
use crate::limits::QUERY_BYTES_MAX;
use crate::tree::{FieldSet, Node, Query, QueryError};

/// The reading of a text where it does not say so itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Whether clauses without an operator between them are all required (`default_operator: AND`), not any of them.
    pub all: bool,
    /// Fields of words without a field of their own.
    pub fields: FieldSet,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            all: false,
            fields: FieldSet::ALL,
        }
    }
}

/// Parses a query in Lucene's syntax; `fields` as for [`crate::parse`].
///
/// # Errors
/// [`QueryError`] with the byte position: bad syntax, an unknown field, only exclusions, a feature that is not built
/// yet (`a~`, `[a TO b]`), or a bound of [`crate::limits`] exceeded.
pub fn parse(
    text: &str,
    fields: &[&str],
    analyzer: &Analyzer,
    options: Options,
) -> Result<Query, QueryError> {
    if text.len() > QUERY_BYTES_MAX {
        return refuse(
            QUERY_BYTES_MAX,
            format!("query is longer than {QUERY_BYTES_MAX} bytes"),
        );
    }
    let mut parser = Parser::new(text, fields, analyzer);
    parser.limit = Limit {
        fields: options.fields,
        within: 0,
    };
    let root = parser.clauses(options.all, 0)?;
    if parser.cursor.peek().is_some() {
        return refuse(
            parser.cursor.at,
            "closing bracket without an opening one".to_owned(),
        );
    }
    parser.finish(root)
}

impl Parser<'_> {
    /// Reads a clause without its sign; the cursor stands on its first character.
    fn clause(&mut self, all: bool, depth: u32) -> Result<Option<Node>, QueryError> {
        self.check_depth(depth)?;
        if self.cursor.take("*:*") {
            self.boost();
            return Ok(Some(Node::All));
        }
        let limit = self.limit;
        if let Some(fields) = self.field_before_colon()? {
            self.limit = Limit { fields, within: 0 };
            self.cursor.skip_blank();
        }
        let node = self.value(all, depth)?;
        self.limit = limit;
        Ok(node)
    }

    /// Reads `name:` if it comes next.
    fn field_before_colon(&mut self) -> Result<Option<FieldSet>, QueryError> {
        let start = self.cursor.at;
        let name = self.cursor.take_while(|c| in_run(c) || c == '.');
        if name.is_empty() || !self.cursor.take(":") {
            self.cursor.at = start;
            return Ok(None);
        }
        match self
            .fields
            .iter()
            .position(|field| field.eq_ignore_ascii_case(name))
        {
            Some(number) => {
                let field = FieldSet(1u64.checked_shl(number as u32).unwrap_or(0));
                Ok(Some(if self.fields.len() == 1 {
                    FieldSet::ALL
                } else {
                    field
                }))
            }
            None if name == "_exists_" => refuse(start, "not yet: _exists_".to_owned()),
            None => {
                let sign = format!(r"{name}\: for the text");
                refuse_field(start, name, self.fields, &sign)
            }
        }
    }

    fn value(&mut self, all: bool, depth: u32) -> Result<Option<Node>, QueryError> {
        let start = self.cursor.at;
        match self.cursor.peek() {
            None | Some(')') => self.missing_beside(":"),
            Some('(') => {
                self.cursor.bump();
                let inside = self.clauses(all, depth + 1)?;
                if !self.cursor.take(")") {
                    return refuse(start, "unclosed bracket".to_owned());
                }
                self.boost();
                Ok(inside)
            }
            Some('"') => self.sloppy_phrase(),
            Some('/') => {
                self.cursor.bump();
                let Some(text) = self.delimited('/').filter(|text| !text.is_empty()) else {
                    return refuse(start, "a regular expression is written /…/".to_owned());
                };
                self.boost();
                self.regex(&text, start).map(Some)
            }
            Some('[' | '{' | '<' | '>') => refuse(start, "not yet: ranges".to_owned()),
            Some(_) => self.lucene_word(),
        }
    }

    /// Reads `"a b"`, and `"a b"~2`: with at most two other words between, in any order.
    fn sloppy_phrase(&mut self) -> Result<Option<Node>, QueryError> {
        let start = self.cursor.at;
        self.cursor.bump();
        let mut raw = Raw::default();
        loop {
            match self.cursor.peek() {
                None => return refuse(start, "unclosed quote".to_owned()),
                Some('"') => break,
                Some('\\') => self.take_into(&mut raw)?,
                Some(c) => {
                    self.cursor.bump();
                    raw.text.push(c);
                }
            }
        }
        self.cursor.bump();
        let slack = self.slop()?;
        self.boost();
        self.joined_words(&raw, slack)
    }

    /// Reads `~N` as the slack of a proximity. Lucene counts the words between; a proximity also counts the phrase's
    /// own.
    fn slop(&mut self) -> Result<Option<u32>, QueryError> {
        let start = self.cursor.at;
        if !self.cursor.take("~") {
            return Ok(None);
        }
        let count = self.cursor.take_while(|c| c.is_ascii_digit());
        match count.parse::<u32>() {
            Ok(0) => Ok(None),
            Ok(slop) => Ok(Some(slop.saturating_add(1))),
            Err(_) => refuse(
                start,
                format!("a slop is a whole number up to {}", u32::MAX),
            ),
        }
    }

    /// Reads a word. A word that analysis splits is a phrase.
    fn lucene_word(&mut self) -> Result<Option<Node>, QueryError> {
        let mut raw = Raw::default();
        while let Some(c) = self.cursor.peek() {
            let ahead = self.cursor.ahead();
            match c {
                _ if c.is_whitespace() => break,
                '(' | ')' | '"' | '^' | ':' | '[' | ']' | '{' | '}' => break,
                '~' => return refuse(self.cursor.at, "not yet: fuzzy words, word~".to_owned()),
                _ if ahead.starts_with("&&") || ahead.starts_with("||") => break,
                '\\' => self.take_into(&mut raw)?,
                _ => {
                    if matches!(c, '*' | '?') {
                        raw.sign(Sign::Wild, self.cursor.at);
                    }
                    self.cursor.bump();
                    raw.text.push(c);
                }
            }
        }
        match self.cursor.peek() {
            Some(c @ (':' | ']' | '}')) => {
                return refuse(
                    self.cursor.at,
                    format!(r"{c} stands for nothing here: write \{c} for the sign"),
                );
            }
            Some('^') if !self.boost() => {
                self.cursor.bump();
            }
            _ => {}
        }
        self.joined_words(&raw, None)
    }

    fn joined_words(&mut self, raw: &Raw, slack: Option<u32>) -> Result<Option<Node>, QueryError> {
        let words = self.run(raw, false)?.terms;
        for _ in &words {
            self.count_word()?;
        }
        if words.is_empty() && raw.has_wildcards() {
            self.warn("wildcards without a letter are passed over");
        }
        self.count_node()?;
        Ok(self.in_quotes(words, slack))
    }
}
