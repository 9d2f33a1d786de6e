//! What a SELECT shows.

use std::sync::Arc;

use query::expression::{Expression, Prepared};
use query::request::{Item, Output, Select};
use query::schema::ColumnType;
use query::value::Value;

use super::best::Found;
use super::values::{self, ID, RowValues};
use crate::control::{Control, Memory};
use crate::error::{Error, Result};
use crate::snapshot::Snapshot;
use crate::table::TableShape;

/// One column of the answer.
enum Show {
    Id,
    Column(usize),
    Expression(Prepared),
    Weight,
    Count,
}

/// The columns of the answer.
pub(super) struct Shown {
    /// Header and type.
    pub(super) columns: Vec<(String, Option<ColumnType>)>,
    shows: Vec<Show>,
    /// Whether the answer is the one row of COUNT(*).
    pub(super) is_count: bool,
}

impl Shown {
    /// Errors: `UnknownColumn`, `Unsupported`.
    pub(super) fn new(select: &Select, shape: &TableShape) -> Result<Shown> {
        let mut columns = Vec::new();
        let mut shows = Vec::new();
        for item in &select.items {
            match item {
                Item::Star => {
                    columns.push(("id".to_owned(), Some(ColumnType::Bigint)));
                    shows.push(Show::Id);
                    for (at, column) in shape.columns.iter().enumerate() {
                        columns.push((column.name.clone(), Some(column.kind)));
                        shows.push(Show::Column(at));
                    }
                }
                Item::Value { what, name } => {
                    let (show, kind) = show(what, shape)?;
                    columns.push((name.clone(), kind));
                    shows.push(show);
                }
            }
        }
        let counts = shows
            .iter()
            .filter(|show| matches!(show, Show::Count))
            .count();
        if counts > 0 && counts < shows.len() {
            return Err(Error::Unsupported {
                what: "count(*) beside other columns is not supported",
            });
        }
        Ok(Shown {
            columns,
            shows,
            is_count: counts > 0,
        })
    }

    pub(super) fn needs_weight(&self) -> bool {
        self.shows.iter().any(|show| matches!(show, Show::Weight))
    }

    /// The row of COUNT(*), as LIMIT and OFFSET leave it.
    pub(super) fn count_row(&self, total: u64, select: &Select) -> Option<Vec<Value>> {
        let is_shown = select.offset == 0 && select.limit != Some(0);
        is_shown.then(|| vec![Value::Int(i128::from(total)); self.shows.len()])
    }
}

fn show(what: &Output, shape: &TableShape) -> Result<(Show, Option<ColumnType>)> {
    Ok(match what {
        Output::Weight => (Show::Weight, Some(ColumnType::Int)),
        Output::Count => (Show::Count, Some(ColumnType::Bigint)),
        Output::Expression(Expression::Column(name)) => match values::slot(name, shape) {
            None => return Err(super::unknown_column(name)),
            Some(ID) => (Show::Id, Some(ColumnType::Bigint)),
            Some(slot) => (Show::Column(slot - 1), Some(shape.columns[slot - 1].kind)),
        },
        Output::Expression(expression) => {
            (Show::Expression(values::prepare(expression, shape)?), None)
        }
    })
}

impl Show {
    fn value(&self, row: &RowValues<'_>, found: &Found) -> Value {
        match self {
            Show::Id => Value::Int(i128::from(found.id)),
            Show::Column(column) => row.value(column + 1),
            Show::Expression(prepared) => prepared.evaluate(&|slot| row.value(slot)),
            Show::Weight | Show::Count => Value::Int(i128::from(found.weight)),
        }
    }
}

/// Rows that were found, read one by one.
pub(crate) struct FoundRows {
    snapshot: Arc<Snapshot>,
    shows: Vec<Show>,
    found: std::vec::IntoIter<Found>,
    memory: Arc<Memory>,
}

impl FoundRows {
    pub(super) fn new(
        snapshot: Arc<Snapshot>,
        shown: Shown,
        found: Vec<Found>,
        control: &Control,
    ) -> FoundRows {
        FoundRows {
            memory: Arc::clone(&control.memory),
            snapshot,
            shows: shown.shows,
            found: found.into_iter(),
        }
    }

    /// Rows left.
    pub(crate) fn len(&self) -> usize {
        self.found.len()
    }

    pub(crate) fn next(&mut self) -> Option<Result<Vec<Value>>> {
        let found = self.found.next()?;
        let row = RowValues::new(&self.snapshot.parts[found.part as usize], found.doc);
        Some(self.values(&row, &found))
    }

    fn values(&self, row: &RowValues<'_>, found: &Found) -> Result<Vec<Value>> {
        let mut values = Vec::with_capacity(self.shows.len());
        let mut bytes = 0;
        for show in &self.shows {
            let value = show.value(row, found);
            if let Some(text) = value.text_bytes() {
                // A statement may name a large column many times.
                bytes += text.len() as u64;
                self.memory.take_row(bytes)?;
            }
            values.push(value);
        }
        row.check().map(|()| values)
    }
}
