//! What is asked of a table: one shape for SQL, for JSON and for the reference.

use crate::expression::Expression;

/// One item of a SELECT list.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// `*`
    Star,
    /// A column (or `id`), an arithmetic expression, or a call named below, with the name it is shown under.
    Value {
        /// What.
        what: Output,
        /// Its header: the alias, else the text as written.
        name: String,
    },
}

/// What one column of the answer holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// An expression over the row.
    Expression(Expression),
    /// `weight()`
    Weight,
    /// `count(*)`: the answer is one row.
    Count,
}

/// A key of ORDER BY.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderBy {
    /// The key. `Output::Count` is refused here.
    pub key: Output,
    /// DESC.
    pub descending: bool,
}

/// A SELECT on one table.
#[derive(Clone, Debug, PartialEq)]
pub struct Select {
    /// Lower-case table name without a database.
    pub table: String,
    /// What is shown; at least one.
    pub items: Vec<Item>,
    /// Text of MATCH('…'), if there is one.
    pub matching: Option<String>,
    /// The rest of WHERE.
    pub filter: Option<Expression>,
    /// Empty: weight descending with MATCH, else document id; the document id always breaks ties.
    pub order: Vec<OrderBy>,
    /// LIMIT as written; `None` where none was (the implicit one is the engine's matter).
    pub limit: Option<u64>,
    /// Rows skipped first.
    pub offset: u64,
    /// OPTION name=value pairs, names in lower case, as written.
    pub options: Vec<(String, String)>,
}
