//! The parser of search queries; `docs/language.md` describes the language to its users.
//!
//! ```text
//! query       = [ "@@relaxed" ] chain
//! chain       = conjunction { ( "<<" | "NEAR/N" | "NOTNEAR/N" ) conjunction }
//! conjunction = { alternation }
//! alternation = together { ( "|" | "MAYBE" ) together }
//! together    = operand { ( "SENTENCE" | "PARAGRAPH" ) operand }
//! operand     = { field limit } ( ("-" | "!") alternation | "(" chain ")" | phrase | expression | word )
//! ```
//!
//! Examples, with brackets where the parser sees them:
//!
//! ```text
//! a b | c d         a (b | c) d             | binds tighter than words side by side
//! a b NEAR/3 c      (a b) NEAR/3 c          NEAR binds more loosely than these
//! a -b | c          a -(b | c)              - excludes a whole alternation, at its beginning only
//! @title a b | c    @title: a (b | c)       a field limit holds to the next limit or the closing bracket
//! ```
//!
//! All operators are left-associative. The tree is flat: no `And` in an `And`, no `Or` in an `Or`, no list of one.

mod chain;
mod cursor;
mod expression;
mod fields;
mod infix;
pub mod lucene;
mod phrase;
mod raw;
mod words;

#[cfg(test)]
mod tests;

use cursor::Cursor;

use crate::analysis::Analyzer;
use crate::limits::{
    QUERY_BYTES_MAX, QUERY_DEPTH_MAX, QUERY_NODES_MAX, QUERY_TREE_DEPTH_MAX, QUERY_WORDS_MAX,
};
use crate::nearest::nearest_name;
use crate::tree::{FieldSet, Node, Query, QueryError, UnknownField};

/// How leniently a query's text is read. The default is the reading of every standing query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Leniency {
    /// Words side by side are alternatives; excluded words stay excluded.
    pub any_word: bool,
    /// A query may consist of exclusions alone: it then starts from every document.
    pub only_negated: bool,
    /// Reads as earlier builds did: `a NEAR/ 3 b`, `"a b"~x`, `- a`, `me@title`. For stored queries that are refused
    /// today.
    pub as_before: bool,
}

/// Sphinx's message for a query that only excludes.
const ONLY_NEGATION: &str = "query is non-computable (single NOT operator)";

/// Parses a query. `fields` are the names of the table's text columns in order, at most
/// [`crate::schema::TEXT_COLUMNS_MAX`] of them. An empty text is [`Node::All`]; a text without a word is an
/// [`Node::Or`] without children.
///
/// # Errors
/// [`QueryError`] with the byte position: bad syntax, an unknown field, only exclusions, an operator that is not
/// built yet, or a bound of [`crate::limits`] exceeded.
pub fn parse(text: &str, fields: &[&str], analyzer: &Analyzer) -> Result<Query, QueryError> {
    parse_as(Leniency::default(), text, fields, analyzer)
}

/// As [`parse`], with another leniency.
///
/// # Errors
/// Those of [`parse`].
pub fn parse_as(
    leniency: Leniency,
    text: &str,
    fields: &[&str],
    analyzer: &Analyzer,
) -> Result<Query, QueryError> {
    if text.len() > QUERY_BYTES_MAX {
        return refuse(
            QUERY_BYTES_MAX,
            format!("query is longer than {QUERY_BYTES_MAX} bytes"),
        );
    }
    let mut parser = Parser::new(text, fields, analyzer);
    parser.leniency = leniency;
    parser.cursor.skip_blank();
    parser.relaxed = parser.cursor.take("@@relaxed");
    let root = parser.chain(0)?;
    if parser.cursor.peek() == Some(')') {
        return refuse(
            parser.cursor.at,
            "closing bracket without an opening one".to_owned(),
        );
    }
    parser.finish(root)
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    fields: &'a [&'a str],
    analyzer: &'a Analyzer,
    leniency: Leniency,
    /// Whether unknown fields are empty rather than errors: `@@relaxed`.
    relaxed: bool,
    /// The field limit that holds at the cursor.
    limit: Limit,
    /// Byte at which the alternation at hand begins.
    alternation_at: usize,
    /// Byte of the last negation.
    negated_at: usize,
    words: usize,
    regexes: usize,
    nodes: usize,
    /// Height of the node made last: 1 for a word.
    height: u32,
    warnings: Vec<String>,
}

/// Limits of the words that follow: their fields and positions.
#[derive(Clone, Copy)]
struct Limit {
    fields: FieldSet,
    /// Last position allowed; 0 is no limit.
    within: u32,
}

impl Limit {
    const NONE: Limit = Limit {
        fields: FieldSet::ALL,
        within: 0,
    };
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, fields: &'a [&'a str], analyzer: &'a Analyzer) -> Parser<'a> {
        Parser {
            cursor: Cursor::new(text),
            fields,
            analyzer,
            leniency: Leniency::default(),
            relaxed: false,
            limit: Limit::NONE,
            alternation_at: 0,
            negated_at: 0,
            words: 0,
            regexes: 0,
            nodes: 0,
            height: 0,
            warnings: Vec::new(),
        }
    }

    /// Ends the query. `root` is `None` for a text without a word.
    fn finish(mut self, root: Option<Node>) -> Result<Query, QueryError> {
        let root = match root {
            Some(root) if only_excludes(&root) => Some(self.without(root)?),
            root => root,
        };
        let root = match root {
            Some(root) => root,
            None if self.cursor.behind().is_empty() => Node::All,
            None => {
                self.warn("the query holds no word: no document matches");
                Node::Or(Vec::new())
            }
        };
        Ok(Query {
            root,
            warnings: self.warnings,
        })
    }

    /// Every document but the excluded ones, if the leniency allows it.
    fn without(&mut self, excluded: Node) -> Result<Node, QueryError> {
        if !self.leniency.only_negated {
            return refuse(self.negated_at, ONLY_NEGATION.to_owned());
        }
        let mut parts = vec![Node::All];
        if !matches!(excluded, Node::And(_)) {
            self.count_node()?;
            self.grow(self.height + 1)?;
        }
        parts.extend(excluded.into_all());
        Ok(Node::And(parts))
    }

    /// Reads an operand; the cursor stands on its first character.
    fn operand(&mut self, depth: u32) -> Result<Option<Node>, QueryError> {
        let start = self.cursor.at;
        self.check_depth(depth)?;
        let mut limited = false;
        while self.cursor.peek() == Some('@') {
            self.limit = self.field_limit()?;
            self.cursor.skip_blank();
            limited = true;
        }
        if let Some((infix, _)) = self.infix()? {
            return self.missing_beside(infix.name());
        }
        match self.cursor.peek() {
            None | Some(')') if limited => refuse(start, "field limit without a word".to_owned()),
            None | Some(')' | '|') => refuse(start, "a word is missing beside |".to_owned()),
            Some('-' | '!') => self.negation(start == self.alternation_at, depth),
            Some('(') => self.brackets(depth),
            Some('"') => self.phrase(false),
            Some(_) if self.cursor.ahead().starts_with("=\"") => {
                self.cursor.bump();
                self.phrase(true)
            }
            Some(_) if self.cursor.ahead().starts_with("REGEX(") => self.expression(),
            Some(_) => self.word(),
        }
    }

    /// Reads a negation. `leads`: it begins an alternation, and so excludes all of it.
    fn negation(&mut self, leads: bool, depth: u32) -> Result<Option<Node>, QueryError> {
        let start = self.cursor.at;
        let mut signs = 0;
        while matches!(self.cursor.peek(), Some('-' | '!')) {
            self.cursor.bump();
            signs += 1;
        }
        let is_apart = self.cursor.peek().is_none_or(char::is_whitespace);
        if signs == 1 && !self.leniency.as_before {
            self.cursor.skip_blank();
        }
        let ends = |c: char| c.is_whitespace() || matches!(c, ')' | '|');
        if (is_apart && signs > 1) || self.cursor.peek().is_none_or(ends) {
            if signs == 1 {
                self.warn("a - or ! that stands alone is passed over: write -word to exclude");
            }
            return Ok(None);
        }
        if signs > 1 {
            return refuse(start, "double negation".to_owned());
        }
        let excluded = match leads && !self.leniency.as_before {
            true => self.alternation(depth + 1)?,
            false => self.operand(depth + 1)?,
        };
        let Some(excluded) = excluded else {
            return Ok(None);
        };
        if only_excludes(&excluded) {
            return refuse(start, ONLY_NEGATION.to_owned());
        }
        self.negated_at = start;
        self.count_node()?;
        self.grow(self.height + 1)?;
        Ok(Some(Node::Not(Box::new(excluded))))
    }

    fn brackets(&mut self, depth: u32) -> Result<Option<Node>, QueryError> {
        let start = self.cursor.at;
        let limit = self.limit;
        self.cursor.bump();
        let inside = self.chain(depth + 1)?;
        if !self.cursor.take(")") {
            return refuse(start, "unclosed bracket".to_owned());
        }
        self.limit = limit;
        self.boost();
        Ok(inside)
    }

    fn check_depth(&self, depth: u32) -> Result<(), QueryError> {
        if depth > QUERY_DEPTH_MAX {
            return refuse(
                self.cursor.at,
                format!("query is nested deeper than {QUERY_DEPTH_MAX}"),
            );
        }
        Ok(())
    }

    /// Sets the height of the node that is being made. Error: it exceeds the limit.
    fn grow(&mut self, height: u32) -> Result<(), QueryError> {
        self.height = height;
        if height > QUERY_TREE_DEPTH_MAX {
            return refuse(
                self.cursor.at,
                format!("operators are nested deeper than {QUERY_TREE_DEPTH_MAX}"),
            );
        }
        Ok(())
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

    /// Adds a warning, if it is new.
    fn warn(&mut self, warning: &str) {
        if !self.warnings.iter().any(|known| known == warning) {
            self.warnings.push(warning.to_owned());
        }
    }

    fn missing_beside<T>(&self, operator: &str) -> Result<T, QueryError> {
        refuse(
            self.cursor.at,
            format!("a word is missing beside {operator}"),
        )
    }
}

/// Whether a node only excludes.
fn only_excludes(node: &Node) -> bool {
    let is_not = |node: &Node| matches!(node, Node::Not(_));
    is_not(node) || matches!(node, Node::And(children) if children.iter().all(is_not))
}

fn refuse<T>(position: usize, message: String) -> Result<T, QueryError> {
    Err(QueryError {
        position,
        message,
        field: None,
    })
}

/// Refuses the name of a field that there is not. `sign`: how it is written where it is a word.
fn refuse_field<T>(
    position: usize,
    name: &str,
    fields: &[&str],
    sign: &str,
) -> Result<T, QueryError> {
    let near = nearest_name(name, fields.iter().copied()).map(str::to_owned);
    let meant = near.as_ref();
    let meant = meant.map_or_else(String::new, |near| format!("; did you mean {near}?"));
    Err(QueryError {
        position,
        message: format!("no field '{name}' found in schema: write {sign}{meant}"),
        field: Some(UnknownField {
            name: name.to_owned(),
            near,
        }),
    })
}
