//! One column of a table.

use super::column_type::ColumnType;
use crate::expression::Expression;
use crate::value::Value;

/// One column of a table. Names are stored in lower case and compared so.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Lower case; unique in its table; never `id` in a search or pq table (that one is implied).
    pub name: String,
    /// Its type.
    pub kind: ColumnType,
    /// False where NOT NULL was written. Search tables store no NULL: there it means "empty or 0".
    pub nullable: bool,
    /// DEFAULT, if written.
    pub default: Option<Value>,
}

impl Column {
    /// The default as a constant of SQL that makes the same one, in the shortest text; `None` where there is none.
    #[must_use]
    pub fn default_constant(&self) -> Option<String> {
        let default = self.default.as_ref()?;
        Some(match (default, self.kind) {
            (Value::Float(number), ColumnType::Float) => format!("{:?}", *number as f32),
            _ => Expression::Literal(default.clone()).to_string(),
        })
    }
}
