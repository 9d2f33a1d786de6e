//! A collector for all rows of a SELECT in the order of their ids: a bit for each row, whatever their number.

use language::meter::Meter;
use roaring::RoaringBitmap;

use super::collector::{Collector, FoundPage, FoundRow};
use crate::control::Control;
use crate::error::Result;
use crate::postings::PAGE_ROWS;

/// Bytes of a row in a set of few, and of the bits of a whole page.
const ROW_BYTES: u64 = 2;
const PAGE_BYTES: u64 = PAGE_ROWS as u64 / 8;

/// The rows of each part.
pub(in super::super) struct Marks {
    pub(in super::super) parts: Vec<RoaringBitmap>,
    pub(in super::super) total: u64,
}

impl Marks {
    /// No row. `parts`: number of them.
    pub(in super::super) fn new(parts: usize) -> Marks {
        Marks {
            parts: vec![RoaringBitmap::new(); parts],
            total: 0,
        }
    }
}

impl Collector for Marks {
    /// [`Marks::take_page`] counts.
    fn count(&mut self, _: u64) {}

    fn offer(&mut self, _: FoundRow, _: &Control) -> Result<()> {
        Ok(())
    }

    fn take_page(&mut self, page: &FoundPage<'_>, control: &Control) -> Result<()> {
        let (Some(first), Some(last)) = (page.lows.first(), page.lows.last()) else {
            return Ok(());
        };
        let rows = page.lows.len() as u64;
        control.memory.take(PAGE_BYTES.min(ROW_BYTES * rows))?;
        self.total += rows;
        let doc = |low: u16| page.first + u32::from(low);
        let all = &mut self.parts[page.at.at()];
        if rows == u64::from(last - first) + 1 {
            all.insert_range(doc(*first)..=doc(*last));
        } else {
            all.extend(page.lows.iter().map(|low| doc(*low)));
        }
        Ok(())
    }

    fn last(&self) -> Option<&FoundRow> {
        None
    }

    fn merge(&mut self, other: Marks, _: &dyn Meter) {
        self.total += other.total;
        for (all, of) in self.parts.iter_mut().zip(other.parts) {
            *all |= of;
        }
    }
}
