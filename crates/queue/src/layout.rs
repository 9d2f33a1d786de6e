//! Rows that were stored before an ALTER TABLE, read in the columns of now.
//!
//! Rows rise by number, so the number says which columns a row was stored in, and an ALTER rewrites nothing. Rows 1 to 10 came
//! as (id), then `ADD COLUMN prio DEFAULT 0`, rows 11 to 20, then `DROP COLUMN id`:
//!
//! | layout | `end` | columns | origins of the next layout's columns |
//! |---|---|---|---|
//! | 0 | 11 | id | id: column 0; prio: value 0 |
//! | 1 | 21 | id, prio | prio: column 1 |
//! | of now | | prio | |
//!
//! Row 7 is below 11: its values are decoded as (id), carried to (id, prio), then to (prio). Row 30 is decoded as (prio).
//!
//! Invariants: `end` rises from layout to layout; a layout that no row needs goes with the next ALTER.

use relation::codec::{Read, Reader, put_column, put_list, put_number, put_value, read_column};
use relation::schema::Column;
use relation::value::Value;

use crate::backlog::Backlog;
use crate::error::{Error, Result};
use crate::ids::RowNumber;

/// The source of a column's values in rows from before an ALTER.
#[derive(Clone, Debug, PartialEq)]
pub enum Origin {
    /// A column of the layout before, by its place from 0.
    Column(u32),
    /// One value for every row: the default of a new column.
    Value(Value),
}

/// Appends origins, as the record ALTER and the manifest hold them.
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

/// The columns of a queue's rows before one ALTER.
#[derive(Clone, Debug, PartialEq)]
struct Layout {
    /// Rows below have this layout or an earlier one.
    end: RowNumber,
    columns: Vec<Column>,
    /// For each column of the next layout, its source.
    origins: Vec<Origin>,
}

/// The earlier layouts of a queue's rows, oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Layouts {
    before: Vec<Layout>,
}

impl Layouts {
    pub(crate) fn len(&self) -> usize {
        self.before.len()
    }

    /// Adds the layout that an ALTER ends: every row up to now has `columns` or an earlier layout. Drops layouts without rows.
    pub(crate) fn push(&mut self, backlog: &Backlog, columns: Vec<Column>, origins: Vec<Origin>) {
        let end = backlog.next();
        let first = backlog.first_at_or_above(RowNumber(0)).unwrap_or(end);
        self.before.push(Layout {
            end,
            columns,
            origins,
        });
        self.before.retain(|layout| layout.end > first);
    }

    /// The values of a row in the columns of now; `None` where the row is gone. Cost: the row, and one step for each later
    /// layout.
    pub(crate) fn values(
        &self,
        backlog: &Backlog,
        columns: &[Column],
        row: RowNumber,
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
            put_number(out, layout.end.0);
            put_list(out, &layout.columns, put_column);
            put_origins(out, &layout.origins);
        });
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Read<Layouts> {
        let before = reader.list(|reader| {
            Ok(Layout {
                end: RowNumber(reader.number()?),
                columns: reader.list(read_column)?,
                origins: read_origins(reader)?,
            })
        })?;
        Ok(Layouts { before })
    }
}

/// Carries a row's values from one layout to the next.
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
                // ALTER TABLE has refused the change unless every row's value fits.
                let fits = column.kind.accept(value);
                fits.map_err(|_| Error::Internal(format!("a value does not fit '{}'", column.name)))
            }
        });
    carried.collect()
}
