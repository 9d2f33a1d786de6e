//! The merge of a table that runs.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The merge of a table that runs, and what is asked of the next.
#[derive(Default)]
pub(super) struct Merging {
    pub(super) runs: bool,
    /// Segments that are to become one in each shard, by directory; what was sealed since may stay outside.
    pub(super) wholly: HashSet<String>,
    pub(super) stop: Arc<AtomicBool>,
}

impl Drop for Merging {
    /// A job of a table that is gone ends soon.
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}
