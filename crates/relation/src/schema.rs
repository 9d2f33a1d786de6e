//! Columns and their types, common to all kinds of tables.

mod accept;
mod calendar;
mod column;
mod column_type;
mod comparable;
mod constant;
mod decimal;
mod family;
mod names;
pub mod samples;
mod timestamp;
mod value_error;

#[cfg(test)]
mod tests;

pub use column::Column;
pub use column_type::{ColumnType, TAGS, TYPES};
pub(crate) use column_type::{DIGITS_MAX, SCALE_MAX};
pub use family::{Moment, NumberForm, TypeFamily};
pub use names::{TypeError, TypeSystem};
pub(crate) use timestamp::parse_local as local_timestamp;
pub use value_error::ValueError;

/// Most text columns of a table: a set of fields is a `u64`.
pub const TEXT_COLUMNS_MAX: usize = 64;

/// Names of the text columns, in the order of their numbers.
#[must_use]
pub fn text_names(columns: &[Column]) -> Vec<&str> {
    let texts = columns
        .iter()
        .filter(|column| column.kind == ColumnType::Text);
    texts.map(|column| column.name.as_str()).collect()
}
