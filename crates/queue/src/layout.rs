//! Rows as they were stored before ALTER TABLE: read as the table is now.
//!
//! Which layout a row has follows from its number, so an ALTER rewrites nothing.

use query::codec::{Read, Reader, put_column, put_list, put_number, put_value, read_column};
use query::schema::Column;
use query::value::Value;

use crate::backlog::Backlog;
use crate::error::{Error, Result};

/// Where a column of the next layout takes its value from.
#[derive(Clone, Debug, PartialEq)]
pub enum Origin {
    /// A column of this layout, by its place.
    Column(u32),
    /// The same for every row.
    Value(Value),
}

/// Appends where columns come from.
pub fn put_origins(out: &mut Vec<u8>, origins: &[Origin]) {
    put_list(out, origins, |out, origin| match origin {
        Origin::Column(place) => {
            out.push(0);
            put_number(out, (*place).into());
        }
        Origin::Value(value) => {
            out.push(1);
            put_value(out, value);
        }
    });
}

/// Reads what [`put_origins`] wrote.
pub fn read_origins(reader: &mut Reader<'_>) -> Read<Vec<Origin>> {
    reader.list(|reader| {
        Ok(match reader.flag()? {
            false => Origin::Column(reader.small()?),
            true => Origin::Value(reader.value()?),
        })
    })
}

/// One earlier form of a queue's rows.
#[derive(Clone, Debug, PartialEq)]
struct Layout {
    /// Rows below have it, or an earlier one.
    end: u64,
    columns: Vec<Column>,
    /// How the columns of the next layout come of these.
    origins: Vec<Origin>,
}

/// The earlier forms of a queue's rows, oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Layouts {
    before: Vec<Layout>,
}

impl Layouts {
    pub(crate) fn len(&self) -> usize {
        self.before.len()
    }

    /// Rows below `end` have these columns; the next layout's come of them so. Layouts that no row has any more go.
    pub(crate) fn push(&mut self, backlog: &Backlog, columns: Vec<Column>, origins: Vec<Origin>) {
        let end = backlog.next();
        let first = backlog.first_at_or_above(0).unwrap_or(end);
        self.before.push(Layout {
            end,
            columns,
            origins,
        });
        self.before.retain(|layout| layout.end > first);
    }

    /// The values of a row in the columns of now.
    pub(crate) fn values(
        &self,
        backlog: &Backlog,
        columns: &[Column],
        row: u64,
    ) -> Result<Option<Vec<Value>>> {
        let from = self.before.partition_point(|layout| layout.end <= row);
        let steps = self.before.get(from..).unwrap_or_default();
        let Some(stored) = steps.first() else {
            return backlog.values(row, columns);
        };
        let Some(mut values) = backlog.values(row, &stored.columns)? else {
            return Ok(None);
        };
        let later = steps.iter().skip(1).map(|layout| layout.columns.as_slice());
        for (step, next) in steps.iter().zip(later.chain([columns])) {
            values = carry(&values, &step.columns, &step.origins, next)?;
        }
        Ok(Some(values))
    }

    pub(crate) fn put(&self, out: &mut Vec<u8>) {
        put_list(out, &self.before, |out, layout| {
            put_number(out, layout.end);
            put_list(out, &layout.columns, put_column);
            put_origins(out, &layout.origins);
        });
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Read<Layouts> {
        let before = reader.list(|reader| {
            Ok(Layout {
                end: reader.number()?,
                columns: reader.list(read_column)?,
                origins: read_origins(reader)?,
            })
        })?;
        Ok(Layouts { before })
    }
}

/// A row's values in the columns that come of its own.
pub(crate) fn carry(
    values: &[Value],
    columns: &[Column],
    origins: &[Origin],
    next: &[Column],
) -> Result<Vec<Value>> {
    let carried = origins
        .iter()
        .zip(next)
        .map(|(origin, column)| match origin {
            Origin::Value(value) => Ok(value.clone()),
            Origin::Column(place) => {
                let place = *place as usize;
                let value = values.get(place).cloned().unwrap_or(Value::Null);
                let same = columns
                    .get(place)
                    .is_some_and(|own| own.kind == column.kind);
                if same || value == Value::Null {
                    return Ok(value);
                }
                // ALTER TABLE has made sure that every row's value fits.
                let fits = column.kind.accept(value);
                fits.map_err(|_| Error::Internal(format!("a value does not fit '{}'", column.name)))
            }
        });
    carried.collect()
}
