//! SELECTs that read several tables, or consist of several SELECTs.

use query::expression::{Expression, List};
use query::request::{Item, OrderBy, Select};

use super::Constant;

/// SELECT … FROM a JOIN b …. A column with a table before it has the name `alias.column`, in lower case.
#[derive(Clone, Debug, PartialEq)]
pub struct JoinedSelect {
    /// The tables in the order written; at least two.
    pub tables: Vec<JoinedTable>,
    /// The SELECT list. `weight(t)` is the column `t.weight()`.
    pub items: Vec<Item>,
    /// WHERE without its MATCHes.
    pub filter: Option<Expression>,
    /// Keys of ORDER BY. Empty: rows come in the order of the first table's rows, then of the second's, and so on.
    pub order: Vec<OrderBy>,
    /// LIMIT as written.
    pub limit: Option<u64>,
    /// Rows skipped first.
    pub offset: u64,
    /// OPTION name=value pairs, as written.
    pub options: Vec<(String, String)>,
}

/// A table of a join.
#[derive(Clone, Debug, PartialEq)]
pub struct JoinedTable {
    /// Lower-case name without a database.
    pub table: String,
    /// The name before its columns: the alias, else the table's name.
    pub name: String,
    /// LEFT JOIN: rows of the tables before it stay where none of its rows belongs to them.
    pub is_left: bool,
    /// The columns of USING; empty without it.
    pub using: Vec<String>,
    /// The condition of ON.
    pub on: Option<Expression>,
    /// Text of MATCH('…', table), or of MATCH('…') for the first table.
    pub matching: Option<String>,
}

/// SELECT … UNION [ALL] SELECT ….
#[derive(Clone, Debug, PartialEq)]
pub struct Union {
    /// The SELECTs; at least two.
    pub parts: Vec<Part>,
    /// Of the rows of this many parts, from the first, equal ones are one row: those up to the last UNION without ALL.
    pub distinct_parts: usize,
    /// ORDER BY of the whole.
    pub order: Vec<UnionKey>,
    /// LIMIT of the whole.
    pub limit: Option<u64>,
    /// Rows of the whole that are skipped first.
    pub offset: u64,
}

/// A part of a UNION.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// One SELECT of a table.
    Select(Box<Select>),
    /// One SELECT of several tables.
    Joined(Box<JoinedSelect>),
    /// One SELECT without a table.
    Constants(Vec<(String, Constant)>),
    /// The SELECT of `WHERE column = constant` for each constant, in turn: parts that differ in nothing else.
    Each {
        /// The SELECT of one of them.
        select: Box<Select>,
        /// Column that each of them compares, in lower case.
        column: String,
        /// Constants, in the order of the SELECTs; at least one.
        constants: List,
    },
}

/// A key of a UNION's ORDER BY.
#[derive(Clone, Debug, PartialEq)]
pub struct UnionKey {
    /// The column of the answer.
    pub column: UnionColumn,
    /// Whether it is DESC.
    pub descending: bool,
}

/// A column of a UNION's answer.
#[derive(Clone, Debug, PartialEq)]
pub enum UnionColumn {
    /// By its name, in lower case.
    Named(String),
    /// By its number, from 1.
    Numbered(u64),
}
