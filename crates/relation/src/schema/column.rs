//! One column of a table.

use super::column_type::ColumnType;
use crate::expression::Expression;
use crate::value::Value;

/// A column of a table. Names are stored and compared in lower case.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// The name: lower case, unique in its table, and never `id` in a search or pq table, where `id` is implied.
    pub name: String,
    /// The type, which decides the values that the column accepts.
    pub kind: ColumnType,
    /// False for NOT NULL. In search tables a NULL becomes "empty or 0" in columns of Sphinx's types.
    pub nullable: bool,
    /// The value of DEFAULT, if given.
    pub default: Option<Value>,
    /// Whether a search table keeps a look-up index of the column: `KEY (name)`. Only of a type that
    /// [`ColumnType::takes_key`].
    pub keyed: bool,
}

impl Column {
    /// The default as the shortest SQL constant that gives it; `None` without a default.
    #[must_use]
    pub fn default_constant(&self) -> Option<String> {
        let default = self.default.as_ref()?;
        if let (Value::Float(number), ColumnType::Float) = (default, self.kind) {
            return Some(format!("{:?}", *number as f32));
        }
        Some(Expression::Literal(default.clone()).to_string())
    }
}
