//! The parser of search queries; `docs/language.md` is the language for its users.
//!
//! ```text
//! query       = [ "@@relaxed" ] conjunction
//! conjunction = { alternation }
//! alternation = operand { "|" operand }
//! operand     = { field limit } ( ("-" | "!") operand | "(" conjunction ")" | phrase | word )
//! ```
//!
//! A field limit holds to the next one or to the closing bracket. The result is flat: no `And` in an `And`, no `Or` in an `Or`,
//! no list of one.

mod cursor;
mod fields;
mod refused;
mod words;

#[cfg(test)]
mod tests;

use crate::analysis::Analyzer;
use crate::limits::{QUERY_BYTES_MAX, QUERY_DEPTH_MAX, QUERY_NODES_MAX, QUERY_WORDS_MAX};
use crate::tree::{FieldSet, Node, Query, QueryError};
use cursor::Cursor;

/// What Sphinx answers to a query that only excludes.
const ONLY_NEGATION: &str = "query is non-computable (single NOT operator)";

/// The same for one branch of an OR.
const NEGATION_IN_OR: &str = "query is non-computable (NOT inside OR)";

/// Parses a query. `fields` are the names of the table's text columns, in order, at most
/// [`crate::schema::TEXT_COLUMNS_MAX`] of them. An empty text is [`Node::All`].
///
/// # Errors
/// [`QueryError`] with the byte position: bad syntax, an unknown field, only negation, an operator that is not built yet, a
/// bound of [`crate::limits`] exceeded.
pub fn parse(text: &str, fields: &[&str], analyzer: &Analyzer) -> Result<Query, QueryError> {
    if text.len() > QUERY_BYTES_MAX {
        return refuse(
            QUERY_BYTES_MAX,
            format!("query is longer than {QUERY_BYTES_MAX} bytes"),
        );
    }
    let mut parser = Parser {
        cursor: Cursor::new(text),
        fields,
        analyzer,
        relaxed: false,
        limit: FieldSet::ALL,
        negated_at: 0,
        words: 0,
        nodes: 0,
        warnings: Vec::new(),
    };
    parser.cursor.skip_blank();
    parser.relaxed = parser.cursor.take("@@relaxed");
    let root = parser.conjunction(0)?;
    if parser.cursor.peek() == Some(')') {
        return refuse(
            parser.cursor.at,
            "closing bracket without an opening one".to_owned(),
        );
    }
    if root.as_ref().is_some_and(only_excludes) {
        return refuse(parser.negated_at, ONLY_NEGATION.to_owned());
    }
    if root.is_none() && !text.trim().is_empty() {
        parser.warn("the query holds no word: every document matches");
    }
    Ok(Query {
        root: root.unwrap_or(Node::All),
        warnings: parser.warnings,
    })
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    fields: &'a [&'a str],
    analyzer: &'a Analyzer,
    /// Unknown fields are empty rather than errors.
    relaxed: bool,
    /// The field limit at the cursor.
    limit: FieldSet,
    /// Where the last negation was written.
    negated_at: usize,
    words: usize,
    nodes: usize,
    warnings: Vec<String>,
}

impl Parser<'_> {
    /// Up to the end or to a closing bracket, which stays. `None`: not one word in it.
    fn conjunction(&mut self, depth: u32) -> Result<Option<Node>, QueryError> {
        let mut children = Vec::new();
        loop {
            self.cursor.skip_blank();
            match self.cursor.peek() {
                None | Some(')') => break,
                _ => match self.alternation(depth)? {
                    Some(Node::And(grandchildren)) => children.extend(grandchildren),
                    Some(child) => children.push(child),
                    None => {}
                },
            }
        }
        self.join(children, Node::And)
    }

    fn alternation(&mut self, depth: u32) -> Result<Option<Node>, QueryError> {
        let mut start = self.cursor.at;
        let mut branch = self.operand(depth)?;
        let mut branches = Vec::new();
        loop {
            self.cursor.skip_blank();
            let more = self.cursor.take("|");
            if (more || !branches.is_empty()) && branch.as_ref().is_some_and(only_excludes) {
                return refuse(start, NEGATION_IN_OR.to_owned());
            }
            match branch {
                Some(Node::Or(grandchildren)) => branches.extend(grandchildren),
                Some(child) => branches.push(child),
                None => {}
            }
            if !more {
                return self.join(branches, Node::Or);
            }
            self.cursor.skip_blank();
            start = self.cursor.at;
            branch = self.operand(depth)?;
        }
    }

    /// One operand; the cursor stands on its first character.
    fn operand(&mut self, depth: u32) -> Result<Option<Node>, QueryError> {
        let start = self.cursor.at;
        if depth > QUERY_DEPTH_MAX {
            return refuse(
                start,
                format!("query is nested deeper than {QUERY_DEPTH_MAX}"),
            );
        }
        let mut limited = false;
        while self.cursor.peek() == Some('@') {
            self.limit = self.field_limit()?;
            self.cursor.skip_blank();
            limited = true;
        }
        match self.cursor.peek() {
            None | Some(')') if limited => refuse(start, "field limit without a word".to_owned()),
            None | Some(')' | '|') => refuse(start, "a word is missing beside |".to_owned()),
            Some('-' | '!') => self.negation(depth),
            Some('(') => self.brackets(depth),
            Some('"') => self.phrase(),
            Some(_) => self.word(),
        }
    }

    fn negation(&mut self, depth: u32) -> Result<Option<Node>, QueryError> {
        let start = self.cursor.at;
        let mut signs = 0;
        while matches!(self.cursor.peek(), Some('-' | '!')) {
            self.cursor.bump();
            signs += 1;
        }
        if self
            .cursor
            .peek()
            .is_none_or(|c| c.is_whitespace() || matches!(c, ')' | '|'))
        {
            if signs == 1 {
                self.warn("a - or ! that stands alone is passed over: write -word to exclude");
            }
            return Ok(None);
        }
        if signs > 1 {
            return refuse(start, "double negation".to_owned());
        }
        let Some(excluded) = self.operand(depth + 1)? else {
            return Ok(None);
        };
        if only_excludes(&excluded) {
            return refuse(start, ONLY_NEGATION.to_owned());
        }
        self.negated_at = start;
        self.count_node()?;
        Ok(Some(Node::Not(Box::new(excluded))))
    }

    fn brackets(&mut self, depth: u32) -> Result<Option<Node>, QueryError> {
        let start = self.cursor.at;
        let limit = self.limit;
        self.cursor.bump();
        let inside = self.conjunction(depth + 1)?;
        if !self.cursor.take(")") {
            return refuse(start, "unclosed bracket".to_owned());
        }
        self.limit = limit;
        Ok(inside)
    }

    /// A list of children as one node.
    fn join(
        &mut self,
        mut children: Vec<Node>,
        list: fn(Vec<Node>) -> Node,
    ) -> Result<Option<Node>, QueryError> {
        if children.len() < 2 {
            return Ok(children.pop());
        }
        self.count_node()?;
        Ok(Some(list(children)))
    }

    fn count_node(&mut self) -> Result<(), QueryError> {
        self.nodes += 1;
        if self.nodes > QUERY_NODES_MAX {
            return refuse(
                self.cursor.at,
                format!("query has more than {QUERY_NODES_MAX} nodes"),
            );
        }
        Ok(())
    }

    fn count_word(&mut self) -> Result<(), QueryError> {
        self.words += 1;
        if self.words > QUERY_WORDS_MAX {
            return refuse(
                self.cursor.at,
                format!("query has more than {QUERY_WORDS_MAX} words"),
            );
        }
        Ok(())
    }

    /// Adds a warning, once.
    fn warn(&mut self, warning: &str) {
        if !self.warnings.iter().any(|known| known == warning) {
            self.warnings.push(warning.to_owned());
        }
    }
}

/// Whether a node says only what a document must not hold.
fn only_excludes(node: &Node) -> bool {
    match node {
        Node::Not(_) => true,
        Node::And(children) => children.iter().all(|child| matches!(child, Node::Not(_))),
        _ => false,
    }
}

fn refuse<T>(position: usize, message: String) -> Result<T, QueryError> {
    Err(QueryError { position, message })
}
