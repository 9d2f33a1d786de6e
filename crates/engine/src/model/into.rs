//! How hits fill the rows of an `into=` queue.

use language::meter::{Meter, Unmetered};
use queue::Source;
use relation::schema::{Column, ColumnType, TypeFamily};
use relation::value::Value;

use crate::command::Definition;
use crate::error::{Error, Result, ShownValue, Why};

/// The source of each column of an `into=` queue, and the columns whose values need a check.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Into {
    /// The source of each column, in the queue's column order.
    pub(crate) sources: Vec<Source>,
    /// Places of the columns that are narrower than their source. The engine checks each of their values before it admits the
    /// insert.
    pub(crate) narrow: Vec<usize>,
}

impl Into {
    /// Finds the source of each column of the queue by the column's name. The names `query_id`, `query`, `tags`, `doc_table`,
    /// `doc_id` and `hit_at` take values of the hit; any other name takes the document's column of that name.
    ///
    /// # Errors
    /// `Invalid`: the message names the first column that has no source, or whose type holds no value of its source.
    pub(crate) fn resolve(queue: &Definition, documents: &Definition) -> Result<Into> {
        let mut into = Into {
            sources: Vec::new(),
            narrow: Vec::new(),
        };
        for (place, column) in queue.columns.iter().enumerate() {
            let (source, kind) = supplier(&column.name, &documents.columns).ok_or_else(|| {
                let (queue, on) = (&queue.name, &documents.name);
                let name = &column.name;
                Error::invalid(format!(
                    "column '{name}' of '{queue}': neither a hit nor '{on}' supplies it"
                ))
            })?;
            let may_be_null = match source {
                Source::Document(place) => {
                    let given = &documents.columns[usize::from(place)];
                    given.nullable && given.kind.keeps_null() && !column.nullable
                }
                _ => false,
            };
            match fit(kind, column.kind) {
                Fit::Always if may_be_null => into.narrow.push(place),
                Fit::Always => {}
                Fit::Checked => into.narrow.push(place),
                Fit::Never => {
                    let (from, to) = (kind.sql_name(), column.kind.sql_name());
                    let what = format!(
                        "column '{}' of '{}': {from} does not go into {to}",
                        column.name, queue.name
                    );
                    return Err(Error::Invalid { what });
                }
            }
            into.sources.push(source);
        }
        Ok(into)
    }
}

/// The value as the queue's column stores it. `row` is the document's number in its command, from 1, for the error.
///
/// # Errors
/// `OutOfRange`; `BadValue` for a value that is too long, of another type, or NULL in a NOT NULL column.
pub(crate) fn store(column: &Column, value: Value, row: usize) -> Result<Value> {
    store_within(column, value, row, &Unmetered)
}

/// As [`store`]; what takes long is counted. If the meter has stopped, the answer is of no use.
pub(crate) fn store_within(
    column: &Column,
    value: Value,
    row: usize,
    meter: &dyn Meter,
) -> Result<Value> {
    use relation::schema::ValueError;
    // Of these no text is incorrect, so none is copied.
    let takes_all = column.kind.family().takes_texts();
    let kept = match takes_all {
        true => Value::Null,
        false => ShownValue::beginning(&value),
    };
    column.kind.accept_within(value, meter).map_err(|error| {
        let why = match error {
            ValueError::OutOfRange => {
                return Error::OutOfRange {
                    column: column.name.clone(),
                    row,
                    value: Some(ShownValue::of(&kept)),
                };
            }
            ValueError::NotJson { at } => Why::NotJson(ShownValue::of(&kept), at),
            ValueError::Incorrect => Why::Incorrect(column.kind, ShownValue::of(&kept)),
            ValueError::TooLong => Why::TooLong,
            ValueError::TooDeep => Why::TooDeep,
            ValueError::Null => Why::Null,
        };
        Error::BadValue {
            column: column.name.clone(),
            row,
            why,
        }
    })
}

/// The source of a column of that name, and the type of the source's values. `None`: there is no source.
fn supplier(name: &str, documents: &[Column]) -> Option<(Source, ColumnType)> {
    let id = ColumnType::Integer {
        bytes: 8,
        unsigned: true,
    };
    Some(match name {
        "query_id" => (Source::QueryId, id),
        "query" => (Source::Query, ColumnType::Text),
        "tags" => (Source::Tags, ColumnType::String),
        "doc_table" => (Source::DocumentTable, ColumnType::String),
        "doc_id" => (Source::DocumentId, id),
        "hit_at" => (Source::HitAt, ColumnType::Timestamp),
        _ => {
            let place = documents.iter().position(|column| column.name == name)?;
            (
                Source::Document(u16::try_from(place).ok()?),
                documents.get(place)?.kind,
            )
        }
    })
}

/// Whether values of one type go into a column of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fit {
    Always,
    /// Some values fit. A value that does not fit makes the engine refuse the insert of its document.
    Checked,
    Never,
}

fn fit(from: ColumnType, to: ColumnType) -> Fit {
    if let (Some(from), Some(to)) = (from.range(), to.range()) {
        let inside = to.start() <= from.start() && from.end() <= to.end();
        return if inside { Fit::Always } else { Fit::Checked };
    }
    let (written, taken) = (from.empty(), to.empty());
    let is_text = matches!(written, Value::Str(_)) && to.family().takes_texts();
    let is_unlimited = to.family() == TypeFamily::Text && to.sizes().chars == Some(u32::MAX);
    match (is_text, is_unlimited) {
        _ if to == from => Fit::Always,
        (true, true) => Fit::Always,
        (true, false) => Fit::Checked,
        // A float goes into a double.
        _ if from == ColumnType::Float && taken == written => Fit::Always,
        (false, _) => Fit::Never,
    }
}
