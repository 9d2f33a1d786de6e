//! SHOW TABLE … STATUS.

use super::{Snapshot, View, kind_name};
use crate::error::Result;

impl Snapshot {
    /// SHOW TABLE … STATUS: names and values, in a fixed order.
    ///
    /// # Errors
    /// `NoSuchTable`.
    pub fn table_status(&self, name: &str) -> Result<Vec<(String, String)>> {
        let kind = kind_name(&self.definition(name)?.kind);
        let numbers: Vec<(&str, u64)> = match self.view(name)? {
            View::Search(view) => vec![
                ("indexed_documents", view.status.rows_live),
                ("tail_rows", view.status.rows_tail),
                ("tail_bytes", view.status.bytes_tail),
                ("segments", view.status.segments),
                ("segment_bytes", view.status.bytes_segments),
                ("tombstones", view.status.tombstones),
                ("checkpoint", view.folded),
            ],
            View::Percolate(view) => vec![
                ("stored_queries", view.queries.len() as u64),
                ("always_tried", view.queries.always_len() as u64),
                ("query_bytes", view.text_bytes),
                ("checkpoint", view.folded),
            ],
            View::Queue(cell) => {
                let view = cell.load();
                vec![
                    ("rows", view.rows),
                    ("owned", view.owned),
                    ("waiting", view.waiting),
                    ("memory_bytes", view.memory_bytes),
                    ("files", view.files),
                    ("next_row", view.next_row),
                    ("checkpoint", view.folded),
                ]
            }
        };
        let mut status = vec![("table_type".to_owned(), kind.to_owned())];
        status.extend(
            numbers
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value.to_string())),
        );
        Ok(status)
    }
}
