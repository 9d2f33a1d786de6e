//! Standing queries that cannot be read, because a block of a file is damaged ([`super::file`]).
//!
//! The table knows their ids, and serves without them. What would be wrong without them is refused, the rest says that they are
//! missing: docs/adr/052-small-files-twice-and-queries-in-blocks.md has the list. Example: queries 1 to 62 are lost.
//!
//! | statement | outcome |
//! |---|---|
//! | a document is stored in a table that the pq table watches | refused |
//! | CALL PQ, SELECT | the other queries, with a warning |
//! | COUNT(*), a look-up of query 5, DELETE by tags | refused |
//! | REPLACE or DELETE of query 5 by its id | done; query 5 is lost no more |
//!
//! An id leaves the list when a record stores or deletes its query. The damaged file stays named by the manifest until then: no
//! new base takes its place, so each start finds the same ids again.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::command::Damaged;
use crate::error::{Error, Result};
use crate::failure;
use crate::ranges::ranges_up_to;

/// Ranges of ids in an error or a warning.
const RANGES_MAX: usize = 20;

/// The lost queries of a table; usually none.
#[derive(Clone, Debug, Default)]
pub(crate) struct LostQueries {
    /// By id: the file that held the query, and where its block begins.
    ids: BTreeMap<u64, (Arc<str>, u64)>,
}

impl LostQueries {
    /// Adds the queries of a damaged block.
    pub(crate) fn add(&mut self, file: &str, offset: u64, ids: impl Iterator<Item = u64>) {
        let file: Arc<str> = file.into();
        self.ids
            .extend(ids.map(|id| (id, (Arc::clone(&file), offset))));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    pub(crate) fn contains(&self, id: u64) -> bool {
        self.ids.contains_key(&id)
    }

    /// Whether the id was there.
    pub(crate) fn remove(&mut self, id: u64) -> bool {
        self.ids.remove(&id).is_some()
    }

    /// Their ids, rising.
    pub(crate) fn ids(&self) -> impl Iterator<Item = u64> {
        self.ids.keys().copied()
    }

    /// For what would be wrong without them. `table`: the table's name.
    ///
    /// # Errors
    /// `Corrupt`, which names the first damaged file and the ids.
    pub(crate) fn check(&self, table: &str) -> Result<()> {
        match self.ids.values().next() {
            Some((file, offset)) => Err(self.error(table, file, *offset)),
            None => Ok(()),
        }
    }

    /// For an answer of some ids. Errors: as [`LostQueries::check`], where one of these is lost.
    pub(crate) fn check_ids(&self, table: &str, ids: &[u64]) -> Result<()> {
        match ids.iter().find_map(|id| self.ids.get(id)) {
            Some((file, offset)) => Err(self.error(table, file, *offset)),
            None => Ok(()),
        }
    }

    /// The damaged files, for an answer that lacks the lost queries.
    pub(crate) fn damaged(&self, table: &str) -> Damaged {
        let damaged = Damaged::default();
        for (file, offset) in self.ids.values() {
            let what = self.what(table);
            let sentence =
                format!("the answer is partial: file {file} is damaged at byte {offset}: {what}");
            damaged.add(file.to_string(), sentence);
        }
        damaged
    }

    fn error(&self, table: &str, file: &str, offset: u64) -> Error {
        failure::damaged(file, offset, &self.what(table))
    }

    fn what(&self, table: &str) -> String {
        let ids = ranges_up_to(self.ids(), RANGES_MAX);
        format!(
            "standing queries {ids} of table '{table}' cannot be read; store or delete them by id, or run seine repair"
        )
    }
}
