//! A collector for COUNT(*).

use language::meter::Meter;

use super::collector::{Collector, FoundRow};
use crate::control::Control;
use crate::error::Result;

/// Counts rows and keeps none.
#[derive(Default)]
pub(in super::super) struct Count {
    pub(in super::super) total: u64,
}

impl Collector for Count {
    fn count(&mut self, rows: u64) {
        self.total += rows;
    }

    fn offer(&mut self, _: FoundRow, _: &Control) -> Result<()> {
        Ok(())
    }

    fn last(&self) -> Option<&FoundRow> {
        None
    }

    fn merge(&mut self, other: Count, _: &dyn Meter) {
        self.total += other.total;
    }
}
