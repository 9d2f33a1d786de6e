//! The state of a table's merges.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether a merge runs, and which segments the next ones must merge.
#[derive(Default)]
pub(super) struct Merging {
    /// Whether a merge runs; a table has at most one.
    pub(super) runs: bool,
    /// Directories of the segments that must become one in each shard. Segments sealed later are
    /// not in it.
    pub(super) wholly: HashSet<String>,
    /// Stops the running merge soon.
    pub(super) stop: Arc<AtomicBool>,
}

impl Drop for Merging {
    /// Stops the merge of a table that is dropped.
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}
