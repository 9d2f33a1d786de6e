//! SHOW TABLE … STATUS.

use super::{Snapshot, View, kind_name};
use crate::error::Result;

impl Snapshot {
    /// SHOW TABLE … STATUS: names and values, in a fixed order. A search table or distributed table with more than one shard in
    /// all has the counts of each shard, as `shard[0].indexed_documents`, behind the sums.
    ///
    /// # Errors
    /// `NoSuchTable`.
    pub fn table_status(&self, name: &str) -> Result<Vec<(String, String)>> {
        let definition = self.definition(name)?;
        let mut status = vec![(
            "table_type".to_owned(),
            kind_name(&definition.kind).to_owned(),
        )];
        let mut put = |name: &str, value: u64| status.push((name.to_owned(), value.to_string()));
        if let Some(view) = self.searched(name)? {
            let sum = |of: Count| view.shards.iter().map(of).sum();
            OF_SHARDS.iter().for_each(|(name, of)| put(name, sum(*of)));
            put("shards", view.shards.len() as u64);
            put("checkpoint", view.folded);
            let many = view
                .shards
                .iter()
                .enumerate()
                .filter(|_| view.shards.len() > 1);
            for (at, shard) in many {
                let name = |name: &str| format!("shard[{at}].{name}");
                OF_SHARDS
                    .iter()
                    .for_each(|(of, value)| put(&name(of), value(shard)));
            }
            return Ok(status);
        }
        let numbers: Vec<(&str, u64)> = match self.view(name)? {
            View::Search(_) => Vec::new(),
            View::Percolate(view) => vec![
                ("stored_queries", view.queries.len() as u64),
                ("always_tried", view.queries.always_len() as u64),
                ("query_bytes", view.text_bytes),
                ("refused_queries", view.refused),
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
                    ("next_row", view.next_row.0),
                    ("checkpoint", view.folded),
                ]
            }
        };
        numbers
            .into_iter()
            .for_each(|(name, value)| put(name, value));
        Ok(status)
    }
}

impl Snapshot {
    /// Bytes of a search table on disk and in memory, and the segments that a search of it reads; `None`: it is no search table, or
    /// not there.
    #[must_use]
    pub fn table_size(&self, name: &str) -> Option<(u64, u64)> {
        let view = self.searched(name).ok()??;
        let bytes = view
            .shards
            .iter()
            .map(|of| of.bytes_segments + of.bytes_tail);
        let segments = view.shards.iter().map(|of| of.segments);
        Some((bytes.sum(), segments.sum()))
    }
}

/// Takes a number from the counts of a shard.
type Count = fn(&index::Status) -> u64;

/// The numbers that the status shows of each shard, and as sums of the table.
const OF_SHARDS: [(&str, Count); 6] = [
    ("indexed_documents", |shard| shard.rows_live),
    ("tail_rows", |shard| shard.rows_tail),
    ("tail_bytes", |shard| shard.bytes_tail),
    ("segments", |shard| shard.segments),
    ("segment_bytes", |shard| shard.bytes_segments),
    ("tombstones", |shard| shard.tombstones),
];
