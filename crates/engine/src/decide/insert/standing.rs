//! Values as they were sent become standing queries.

use percolate::Matchers;
use relation::schema::{Column, ColumnType};
use relation::value::Value;

use crate::command::Definition;
use crate::decide::rows::{Plan, absent_in_document};
use crate::error::Result;
use crate::made::Compiled;
use crate::record::QueryRow;
use crate::table::standing::Reading;

/// Turns values as they were sent into rows of a pq table.
pub(crate) struct MakingQueries {
    plan: Plan,
    columns: Vec<Column>,
}

impl MakingQueries {
    /// `named`: the columns of the statement; `None`: the query alone, or all that `*` shows, as the first of `rows` has values.
    pub(crate) fn new(
        definition: &Definition,
        named: Option<Vec<String>>,
        rows: &[Vec<Value>],
    ) -> Result<MakingQueries> {
        let columns = query_columns();
        let named = named.unwrap_or_else(|| written(rows));
        Ok(MakingQueries {
            plan: Plan::new(&definition.name, &columns, true, Some(&named))?,
            columns,
        })
    }

    /// The id given in a row. `number`: that of the row, from 1.
    pub(crate) fn id(&self, values: &mut [Value], number: usize) -> Result<Option<u64>> {
        self.plan.id(values, number)
    }

    /// The row of that id, of the values that are left when the given id was taken out.
    pub(crate) fn row(&self, id: u64, values: &mut [Value], number: usize) -> Result<QueryRow> {
        let row = self
            .plan
            .row(&self.columns, values, number, absent_in_document)?;
        Ok(query_row(id, row))
    }
}

/// Compiles the query of a row, its regular expressions, and its filter. `number`: that of the row, from 1.
///
/// # Errors
/// As [`Reading::read`].
pub(crate) fn compile(reading: &Reading, row: &QueryRow, number: usize) -> Result<Compiled> {
    let mut read = reading.read(format_args!("row {number}"), &row.query, &row.filters)?;
    read.matchers = Matchers::of(&read.parsed.root);
    Ok(read)
}

/// The columns of a pq table's own rows, without the id.
fn query_columns() -> Vec<Column> {
    let column = |name: &str| Column {
        name: name.to_owned(),
        kind: ColumnType::String,
        nullable: true,
        default: None,
        keyed: false,
    };
    ["query", "tags", "filters", "source"].map(column).into()
}

/// The columns of values without names: the query alone, or all that `*` shows.
fn written(rows: &[Vec<Value>]) -> Vec<String> {
    let names: &[&str] = match rows.first().map(Vec::len) {
        Some(1) => &["query"],
        _ => &["id", "query", "tags", "filters"],
    };
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// `row`: query, tags, filters, source.
fn query_row(id: u64, row: Vec<Value>) -> QueryRow {
    let mut texts = row.into_iter().map(|value| match value {
        Value::Str(text) => text,
        other => other.to_string(),
    });
    let mut next = || texts.next().unwrap_or_default();
    QueryRow {
        id,
        query: next(),
        tags: next(),
        filters: next(),
        source: next(),
    }
}
