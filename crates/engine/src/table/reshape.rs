//! ALTER TABLE of search tables: whether rows must be written again, and how each becomes one of the new columns.

use std::sync::Arc;

use index::Reshape;
use queue::Origin;
use relation::schema::Column;
use relation::value::Value;

use super::search::shape;
use crate::command::Definition;

/// Whether the rows of a table are not those of the new columns, or lack a key.
pub(crate) fn is_needed(before: &[Column], columns: &[Column], origins: &[Origin]) -> bool {
    let stays = |(at, (column, origin)): (usize, (&Column, &Origin))| {
        *origin == Origin::Column(at as u32)
            && before.get(at).is_some_and(|before| {
                before.kind == column.kind
                    && (column.nullable || !before.nullable)
                    && (before.keyed || !column.keyed)
            })
    };
    let mut each = columns.iter().zip(origins).enumerate();
    before.len() != columns.len() || !each.all(stays)
}

/// How the rows of a table get the columns of `definition`.
pub(crate) fn reshape(
    before: &[Column],
    definition: &Definition,
    origins: &[Origin],
) -> Arc<Reshape> {
    let (before, columns) = (before.to_vec(), definition.columns.clone());
    let origins = origins.to_vec();
    let row = move |id: u64, values: Vec<Value>| {
        let of = |(column, origin): (&Column, &Origin)| match origin {
            Origin::Value(value) => Ok(value.clone()),
            Origin::Column(place) => {
                let place = *place as usize;
                let value = values.get(place).cloned().unwrap_or(Value::Null);
                let kind = before.get(place).map(|before| before.kind);
                converted(column, value, kind == Some(column.kind))
            }
        };
        let each = columns.iter().zip(&origins);
        let row: std::result::Result<Vec<Value>, String> = each.map(of).collect();
        row.map_err(|why| format!("the row with id {id} has {why}"))
    };
    Arc::new(Reshape {
        shape: shape(definition),
        row: Box::new(row),
    })
}

/// A stored value in a column that may have another type.
fn converted(
    column: &Column,
    value: Value,
    is_same_type: bool,
) -> std::result::Result<Value, String> {
    let (name, kind) = (&column.name, column.kind);
    match value {
        Value::Null if kind.keeps_null() && !column.nullable => {
            Err(format!("NULL in the column '{name}'"))
        }
        Value::Null if kind.keeps_null() => Ok(Value::Null),
        Value::Null => Ok(kind.empty()),
        value if is_same_type => Ok(value),
        value => {
            let fits = kind.accept(value);
            fits.map_err(|_| {
                format!(
                    "a value in the column '{name}' that is no {}",
                    kind.sql_name()
                )
            })
        }
    }
}
