//! SELECTs that consist of several SELECTs, or give several result sets.

use relation::expression::List;
use relation::request::{Facet, Grouping, JoinedSelect, Select};

use super::Constant;

/// SELECT … UNION [ALL] SELECT …, or SELECT … FROM (SELECT …), which has one part.
#[derive(Clone, Debug, PartialEq)]
pub struct Union {
    /// The SELECTs; at least one.
    pub parts: Vec<Part>,
    /// Of the rows of this many parts, from the first, equal ones are one row: those up to the last UNION without ALL.
    pub distinct_parts: usize,
    /// The columns of the answer; at least one. Only a sub-select has others than all.
    pub shown: Vec<Shown>,
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
    /// A UNION of its own, or a sub-select.
    Union(Box<Union>),
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

/// SELECT … FACET …: a result set for the SELECT, and one for each FACET.
#[derive(Clone, Debug, PartialEq)]
pub struct Faceted {
    /// Gives the first result set.
    pub select: Select,
    /// GROUP BY of the SELECT itself; without keys for aggregates alone. `None`: it gives rows.
    pub grouping: Option<Grouping>,
    /// The FACETs; at least one.
    pub facets: Vec<Facet>,
}

/// An item of the list around a sub-select.
#[derive(Clone, Debug, PartialEq)]
pub enum Shown {
    /// `*`
    All,
    /// A column of the sub-select.
    Column {
        /// Its header there, in any case.
        column: String,
        /// Its header in the answer: the alias, else the name as written.
        header: String,
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
    /// By its header, in any case.
    Named(String),
    /// By its number, from 1.
    Numbered(u64),
}
