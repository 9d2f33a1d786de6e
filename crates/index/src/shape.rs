//! The definition of a table, as this crate needs it.

use std::sync::Arc;

use language::analysis::Analyzer;
use relation::schema::{Column, ColumnType};

/// Columns, analysis and shards of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableShape {
    /// The columns without `id`. Text columns are numbered in this order, for `FieldSet` and
    /// `Words`.
    pub columns: Vec<Column>,
    /// Makes the words of its rows, and of queries on it.
    pub analyzer: Analyzer,
    /// Number of shards: a row's id decides in which tail, and later in which segments, it lies.
    /// From 1 to [`crate::limits::SHARDS_MAX`]. Answers do not depend on it.
    pub shards: u16,
}

impl TableShape {
    /// Indexes in `columns` of the text columns, in the order in which their fields are numbered.
    pub(crate) fn texts(&self) -> impl Iterator<Item = usize> {
        let numbered = self.columns.iter().enumerate();
        numbered
            .filter(|(_, column)| column.kind == ColumnType::Text)
            .map(|(place, _)| place)
    }

    /// Indexes in `columns` of the columns with a KEY, rising.
    pub(crate) fn keyed(&self) -> Arc<[u16]> {
        let numbered = (0u16..).zip(&self.columns);
        let keyed = numbered.filter(|(_, column)| column.keyed);
        keyed.map(|(place, _)| place).collect()
    }

    /// Number of text columns.
    pub(crate) fn text_columns(&self) -> usize {
        self.texts().count()
    }
}
