//! A collector for the first rows of an order.

use std::sync::Arc;

use language::meter::Meter;
use relation::rows::{Best, Order};
use relation::scroll::Token;

use super::collector::{Collector, FoundRow};
use crate::control::Control;
use crate::error::Result;

/// Bytes of rows for which memory is taken in one step: all threads of a search share one counter.
pub(super) const PAID_AT_ONCE: u64 = 64 << 10;

/// The first rows of an order, and the number of matching rows.
pub(in super::super) struct Top {
    best: Best<FoundRow>,
    pub(in super::super) total: u64,
    /// Bytes of rows that are kept and whose memory is not taken yet.
    unpaid: u64,
    /// Rows in front of this place are counted and not kept.
    behind: Option<(Arc<Order>, Arc<Token>)>,
}

impl Top {
    /// `keep`: number of rows to keep; `None` for all.
    pub(in super::super) fn new(order: Arc<Order>, keep: Option<u64>) -> Top {
        Top {
            best: Best::new(order, keep),
            total: 0,
            unpaid: 0,
            behind: None,
        }
    }

    /// As [`Top::new`], but takes only the rows at and behind a token's position. The job must have no [`Job::keep`]: that bound
    /// would drop rows by comparing them with the first rows of the whole answer.
    ///
    /// [`Job::keep`]: super::super::exec::Job::keep
    pub(in super::super) fn behind(order: Arc<Order>, keep: Option<u64>, token: Arc<Token>) -> Top {
        Top {
            behind: Some((Arc::clone(&order), token)),
            ..Top::new(order, keep)
        }
    }

    /// The rows in order, without the first `offset`. `None`: the meter has stopped.
    pub(in super::super) fn into_sorted(
        self,
        offset: u64,
        meter: &dyn Meter,
    ) -> Option<Vec<FoundRow>> {
        self.best.into_sorted(offset, meter)
    }
}

impl Collector for Top {
    fn count(&mut self, rows: u64) {
        self.total += rows;
    }

    fn offer(&mut self, row: FoundRow, control: &Control) -> Result<()> {
        if let Some((order, token)) = &self.behind
            && order.compare_places(&row, &token.last).is_lt()
        {
            return Ok(());
        }
        self.unpaid += self.best.offer(row, &*control.interrupt);
        if self.unpaid >= PAID_AT_ONCE {
            control.memory.take(std::mem::take(&mut self.unpaid))?;
        }
        Ok(())
    }

    fn last(&self) -> Option<&FoundRow> {
        self.best.last()
    }

    fn merge(&mut self, other: Top, meter: &dyn Meter) {
        self.total += other.total;
        for row in other.best.into_found() {
            self.best.offer(row, meter);
        }
    }
}
