//! Values of an INSERT become rows in table order: each value is converted to its column's type or refused.

use language::meter::{Meter, Unmetered};
use relation::schema::{Column, ColumnType};
use relation::value::Value;

use crate::error::{Error, Result, ShownValue, Why};
use crate::into::{store, store_within};

/// Which given value goes where.
pub(crate) struct Plan {
    /// Place of the id among the given values.
    id: Option<usize>,
    /// For each column of the table, the place of its value.
    places: Vec<Option<usize>>,
    /// Values a row must have.
    width: usize,
}

impl Plan {
    /// `columns`: those of the table. `has_id`: the table implies an `id`, which comes first where no names are given.
    pub(crate) fn new(
        table: &str,
        columns: &[Column],
        has_id: bool,
        named: Option<&[String]>,
    ) -> Result<Plan> {
        let Some(named) = named else {
            let shift = usize::from(has_id);
            return Ok(Plan {
                id: has_id.then_some(0),
                places: (0..columns.len())
                    .map(|column| Some(column + shift))
                    .collect(),
                width: columns.len() + shift,
            });
        };
        let mut plan = Plan {
            id: None,
            places: vec![None; columns.len()],
            width: named.len(),
        };
        for (place, name) in named.iter().enumerate() {
            let slot = if has_id && name.eq_ignore_ascii_case("id") {
                &mut plan.id
            } else {
                let column = columns.iter().position(|column| is_named(column, name));
                column
                    .and_then(|column| plan.places.get_mut(column))
                    .ok_or_else(|| Error::UnknownColumn {
                        column: name.to_lowercase(),
                        table: table.to_owned(),
                    })?
            };
            if slot.replace(place).is_some() {
                return Err(Error::invalid(format!("column '{name}' twice")));
            }
        }
        Ok(plan)
    }

    /// The id given in a row; `None` for none or 0: one is to be assigned. `row`: its number, from 1.
    pub(crate) fn id(&self, values: &mut [Value], row: usize) -> Result<Option<u64>> {
        if values.len() != self.width {
            return Err(Error::WrongColumnCount { row });
        }
        let Some(given) = self.id.and_then(|place| values.get_mut(place)) else {
            return Ok(None);
        };
        let number = match std::mem::replace(given, Value::Null) {
            Value::Null => return Ok(None),
            Value::Int(number) => number,
            other => match store(&id_column(), other, row)? {
                Value::Int(number) => number,
                _ => return Ok(None),
            },
        };
        let id = u64::try_from(number);
        let id = id.map_err(|_| Error::OutOfRange {
            column: "id".to_owned(),
            row,
            value: Some(ShownValue::of(&Value::Int(number))),
        })?;
        Ok((id != 0).then_some(id))
    }

    /// Whether a row gives a value for a column of the table.
    pub(crate) fn is_given(&self, column: usize) -> bool {
        self.places.get(column).is_some_and(Option::is_some)
    }

    /// The columns' values as stored; the given ones are taken out of `values`.
    pub(crate) fn row(
        &self,
        columns: &[Column],
        values: &mut [Value],
        row: usize,
        absent: fn(&Column, bool, usize) -> Result<Value>,
    ) -> Result<Vec<Value>> {
        let mut stored = Vec::with_capacity(columns.len());
        self.fill(columns, (values, row), absent, &Unmetered, &mut stored)?;
        Ok(stored)
    }

    /// As [`Plan::row`], into a buffer, which is emptied first. If the meter has stopped, the answer is of no use.
    pub(crate) fn fill(
        &self,
        columns: &[Column],
        (values, row): (&mut [Value], usize),
        absent: fn(&Column, bool, usize) -> Result<Value>,
        meter: &dyn Meter,
        stored: &mut Vec<Value>,
    ) -> Result<()> {
        if values.len() != self.width {
            return Err(Error::WrongColumnCount { row });
        }
        stored.clear();
        for (column, place) in columns.iter().zip(&self.places) {
            let given = place.and_then(|place| values.get_mut(place));
            let is_given = given.is_some();
            stored.push(
                match given.map(|value| std::mem::replace(value, Value::Null)) {
                    None | Some(Value::Null) => absent(column, is_given, row)?,
                    Some(value) => store_within(column, value, row, meter)?,
                },
            );
        }
        Ok(())
    }
}

fn is_named(column: &Column, name: &str) -> bool {
    match name.is_ascii() {
        true => column.name.eq_ignore_ascii_case(name),
        false => column.name == name.to_lowercase(),
    }
}

fn id_column() -> Column {
    let kind = ColumnType::Integer {
        bytes: 8,
        unsigned: true,
    };
    Column {
        name: "id".to_owned(),
        kind,
        nullable: true,
        default: None,
        keyed: false,
    }
}

/// What a document stores for NULL or nothing: the default, else empty or 0. In columns of MySQL's types it is as in a queue.
pub(crate) fn absent_in_document(column: &Column, is_given: bool, row: usize) -> Result<Value> {
    match &column.default {
        Some(default) if !is_given => Ok(default.clone()),
        _ if column.kind.keeps_null() => absent_in_queue(column, is_given, row),
        _ => Ok(column.kind.empty()),
    }
}

/// What a queue stores for NULL or nothing.
pub(crate) fn absent_in_queue(column: &Column, is_given: bool, row: usize) -> Result<Value> {
    let refuse = |why| {
        Err(Error::BadValue {
            column: column.name.clone(),
            row,
            why,
        })
    };
    match (&column.default, is_given, column.nullable) {
        (Some(default), false, _) => Ok(default.clone()),
        (_, _, true) => Ok(Value::Null),
        (_, true, false) => refuse(Why::Null),
        (None, false, false) => refuse(Why::NoDefault),
    }
}
