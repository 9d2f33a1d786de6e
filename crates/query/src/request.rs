//! What is asked of a table: one shape for SQL, for JSON and for the reference.

use crate::expression::Expression;
use crate::schema::Column;
use crate::value::Value;

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

/// INSERT or REPLACE into one table: one durable unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Insert {
    /// Into which table.
    pub table: String,
    /// Column names as written; `None`: all, in table order, `id` first where the table has one.
    pub columns: Option<Vec<String>>,
    /// At least one. Rows may differ in length: only the table can say which one is wrong.
    pub rows: Vec<Vec<Value>>,
    /// REPLACE: an id that is there is replaced. Refused by queues.
    pub replace: bool,
}

/// DELETE from one table: one durable unit, also of many rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Delete {
    /// From which table.
    pub table: String,
    /// Text of MATCH('…'), for search tables.
    pub matching: Option<String>,
    /// The rest of WHERE; neither: every row.
    pub filter: Option<Expression>,
    /// Of queues only: the first `limit` in this order go. Empty: rows by rising id, or in queue order.
    pub order: Vec<OrderBy>,
    /// LIMIT.
    pub limit: Option<u64>,
}

impl Delete {
    /// Every row of a table of which the condition holds.
    #[must_use]
    pub fn of(table: String, filter: Option<Expression>) -> Delete {
        Delete {
            table,
            matching: None,
            filter,
            order: Vec::new(),
            limit: None,
        }
    }
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

/// Where rows of queues may come from: one argument of `queue_wait`.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitSource {
    /// The queue.
    pub table: String,
    /// Only rows for which this is true; `None`: every row.
    pub condition: Option<Expression>,
}

impl WaitSource {
    /// Every row of a queue.
    #[must_use]
    pub fn all(table: impl Into<String>) -> WaitSource {
        WaitSource {
            table: table.into(),
            condition: None,
        }
    }
}

/// The mode of `queue_set_srcid`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceMode {
    /// `'a'`: a row number at or below the last one received is passed over: the INSERT was done before.
    Append,
    /// `'w'`: the row number is taken as it is.
    Reset,
}

/// One change of ALTER TABLE.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// ADD COLUMN.
    Add {
        /// The new column, of the table's types.
        column: Column,
        /// Where it stands.
        place: Place,
    },
    /// DROP COLUMN.
    Drop {
        /// Its name.
        name: String,
    },
    /// MODIFY COLUMN, and CHANGE COLUMN that keeps the name: another type, default or NULL.
    Modify {
        /// The column as it is to be.
        column: Column,
    },
}

/// Where a new column stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// FIRST.
    First,
    /// AFTER a column.
    After(String),
    /// Behind all others.
    Last,
}
