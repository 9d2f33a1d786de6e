//! The columns of a table as ALTER TABLE makes them, and where the values of rows from before come from.
//!
//! Example: `ADD stars int DEFAULT 1, DROP COLUMN title` for the columns (title, n) gives the columns (n, stars), with the origins
//! column 1 and the value 1.

use queue::Origin;
use relation::schema::Column;
use relation::value::Value;

use crate::command::{Change, ColumnPlace};
use crate::error::{Error, Result, ShownValue, Why};

/// A table's columns as the changes make them, and where each comes from.
pub(crate) struct Altered {
    /// The table's name, for errors.
    table: String,
    pub(crate) columns: Vec<Column>,
    pub(crate) origins: Vec<Origin>,
}

impl Altered {
    pub(crate) fn new(table: &str, columns: &[Column]) -> Altered {
        Altered {
            table: table.to_lowercase(),
            columns: columns.to_vec(),
            origins: (0..columns.len() as u32).map(Origin::Column).collect(),
        }
    }

    /// Errors: `UnknownColumn`; `BadValue` of a default.
    pub(crate) fn change(&mut self, change: &Change) -> Result<()> {
        match change {
            Change::Add { column, place } => {
                let at = match place {
                    ColumnPlace::First => 0,
                    ColumnPlace::Last => self.columns.len(),
                    ColumnPlace::After(name) => self.find(name)? + 1,
                };
                let column = Column {
                    name: column.name.to_lowercase(),
                    ..column.clone()
                };
                self.origins.insert(at, Origin::Value(filled(&column)?));
                self.columns.insert(at, column);
            }
            Change::Drop { name } => {
                let at = self.find(name)?;
                self.columns.remove(at);
                self.origins.remove(at);
            }
            Change::Modify { column } => {
                let at = self.find(&column.name)?;
                self.columns[at] = Column {
                    name: column.name.to_lowercase(),
                    keyed: self.columns[at].keyed,
                    ..column.clone()
                };
                if let Origin::Value(value) = &mut self.origins[at]
                    && *value != Value::Null
                {
                    let fits = column.kind.accept(value.clone());
                    let why = |_| Why::Incorrect(column.kind, ShownValue::of(value));
                    let fits = fits.map_err(|error| bad(column, 1, why(error)))?;
                    *value = fits;
                }
            }
            Change::Rename { from, to } => {
                let at = self.find(from)?;
                self.columns[at].name = to.to_lowercase();
            }
            Change::Key { name, keyed } => {
                let at = self.find(name)?;
                self.columns[at].keyed = *keyed;
            }
        }
        Ok(())
    }

    fn find(&self, name: &str) -> Result<usize> {
        let name = name.to_lowercase();
        let at = self.columns.iter().position(|column| column.name == name);
        at.ok_or_else(|| Error::UnknownColumn {
            column: name,
            table: self.table.clone(),
        })
    }
}

/// What rows from before have in a column that is added.
pub(crate) fn filled(column: &Column) -> Result<Value> {
    match &column.default {
        Some(default) if *default != Value::Null => {
            let fits = column.kind.accept(default.clone());
            let why = || Why::Incorrect(column.kind, ShownValue::of(default));
            fits.map_err(|_| bad(column, 1, why()))
        }
        _ if column.nullable => Ok(Value::Null),
        _ => match column.kind.empty() {
            Value::Str(empty) if column.kind.accept(Value::Str(empty.clone())).is_err() => {
                let zero = column.kind.accept(Value::Int(0));
                zero.map_err(|_| bad(column, 1, Why::NoDefault))
            }
            empty => Ok(empty),
        },
    }
}

pub(crate) fn bad(column: &Column, row: usize, why: Why) -> Error {
    Error::BadValue {
        column: column.name.clone(),
        row,
        why,
    }
}
