//! What ranges of a job found.

use std::sync::Arc;

use query::rows::{Best, Order};

use super::super::fetch::Found;
use super::spare::ThreadSpare;
use crate::control::Memory;
use crate::error::Result;

/// Bytes after which the memory of rows is asked for: all threads of a search count it together.
const PAID_AT_ONCE: u64 = 64 << 10;

/// The best rows of some ranges, and how many rows match in them.
pub(in super::super) struct Top {
    pub(super) best: Best<Found>,
    pub(in super::super) total: u64,
    /// Bytes of rows that are held and were not asked for yet.
    unpaid: u64,
    /// For whoever fills it.
    pub(super) spare: ThreadSpare,
}

impl Top {
    pub(super) fn new(order: Arc<Order>, keep: Option<u64>) -> Top {
        Top {
            best: Best::new(order, keep),
            total: 0,
            unpaid: 0,
            spare: ThreadSpare::take(),
        }
    }

    /// Takes a row. Errors: `SearchMemory`.
    pub(super) fn offer(&mut self, found: Found, memory: &Memory) -> Result<()> {
        self.unpaid += self.best.offer(found);
        if self.unpaid >= PAID_AT_ONCE {
            memory.take(std::mem::take(&mut self.unpaid))?;
        }
        Ok(())
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
