//! What a table is made of.

use query::analysis::Analyzer;
use query::schema::{Column, ColumnType};

/// What a table is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct TableShape {
    /// Without `id`. Text columns are numbered in this order, for `FieldSet` and `Words`.
    pub columns: Vec<Column>,
    /// What the words of its rows, and of queries on it, are made with.
    pub analyzer: Analyzer,
    /// Tails and sets of segments that the rows are spread over by their ids; at least 1, at most [`crate::limits::SHARDS_MAX`].
    /// Answers do not depend on it.
    pub shards: u16,
}

impl TableShape {
    /// Places of the text columns, in the order in which their fields are numbered.
    pub(crate) fn texts(&self) -> impl Iterator<Item = usize> {
        let numbered = self.columns.iter().enumerate();
        numbered
            .filter(|(_, column)| column.kind == ColumnType::Text)
            .map(|(place, _)| place)
    }

    /// How many text columns there are.
    pub(crate) fn text_columns(&self) -> usize {
        self.texts().count()
    }
}
