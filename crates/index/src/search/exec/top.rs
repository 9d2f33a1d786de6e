//! What ranges of a job found.

use std::sync::Arc;

use super::super::best::{Best, Found, Order};

/// The best rows of some ranges, and how many rows match in them.
pub(in super::super) struct Top {
    pub(super) best: Best,
    pub(in super::super) total: u64,
}

impl Top {
    pub(super) fn new(order: Arc<Order>, keep: Option<u64>) -> Top {
        Top {
            best: Best::new(order, keep),
            total: 0,
        }
    }

    /// Adds what other ranges found.
    pub(in super::super) fn merge(&mut self, other: Top) {
        self.total += other.total;
        for found in other.best.into_found() {
            self.best.offer(found);
        }
    }

    /// The rows in order, without the first `offset`.
    pub(in super::super) fn into_sorted(self, offset: u64) -> Vec<Found> {
        self.best.into_sorted(offset)
    }
}
