//! The first rows of an order, kept while rows are offered.

use std::cmp::{Ordering, Reverse};
use std::sync::Arc;

use language::meter::{Meter, Work};

use super::order::{Order, Sorted};
use super::sort::{COMPARED_UNITS, Sort};
use crate::value::Value;

/// The first `keep` rows of all rows offered.
///
/// Example: `keep` is 2, the highest weight comes first, and rows of weight 5, 9 and 7 are offered. All three are
/// held. The tenth row offered triggers a cut to the best two. From then on, a row behind the second is turned away.
///
/// Invariants:
/// - With `is_cut`, `found[..keep]` are the first rows of all that were offered before the last cut, the last of them
///   the worst.
/// - At most `keep + keep / 4 + 8` rows are held, until the meter stops.
pub struct Best<R> {
    order: Arc<Order>,
    /// Rows wanted; `None`: all.
    keep: Option<usize>,
    found: Vec<R>,
    is_cut: bool,
    /// Memory of the rows held, in bytes, and its maximum so far.
    bytes: u64,
    peak: u64,
}

/// Compares by weight alone, equal to [`Order::compare`] of such an order, but in three numbers.
fn compare_weights<R: Sorted>(a: &R, b: &R) -> Ordering {
    let key = |row: &R| (Reverse(row.weight()), row.id(), row.table());
    key(a).cmp(&key(b))
}

/// Most units of a comparison with a row: its texts are read to their ends.
fn units_of<R: Sorted>(row: &R) -> u64 {
    let texts = row.keys().iter().filter_map(Value::text_bytes);
    COMPARED_UNITS + TEXT_UNITS * texts.map(|text| text.len() as u64).sum::<u64>()
}

/// Units of a byte of a text that is compared.
const TEXT_UNITS: u64 = 3;

impl<R: Sorted> Best<R> {
    /// Keeps the first `keep` rows; `None` keeps all.
    #[must_use]
    pub fn new(order: Arc<Order>, keep: Option<u64>) -> Best<R> {
        let keep = keep.map(|keep| usize::try_from(keep).unwrap_or(usize::MAX));
        Best {
            order,
            keep,
            found: Vec::new(),
            is_cut: false,
            bytes: 0,
            peak: 0,
        }
    }

    /// The worst row kept, once `keep` rows are: no row behind it is wanted. `None` before the first cut.
    #[must_use]
    pub fn last(&self) -> Option<&R> {
        let last = self.found.get(self.keep?.checked_sub(1)?)?;
        self.is_cut.then_some(last)
    }

    /// Takes a row, or drops it if it is not wanted. Returns by how many bytes the memory of the rows exceeds its
    /// earlier maximum. Comparisons are counted on the meter; once it has stopped, more rows may be held, and none is lost.
    pub fn offer(&mut self, row: R, meter: &dyn Meter) -> u64 {
        let keep = self.keep.unwrap_or(usize::MAX);
        if keep == 0
            || self
                .last()
                .is_some_and(|last| self.order.compare(&row, last).is_gt())
        {
            return 0;
        }
        self.bytes += row.bytes();
        self.found.push(row);
        let more = self.bytes.saturating_sub(self.peak);
        self.peak += more;
        if self.found.len() >= keep.saturating_add(keep / 4 + 8) {
            self.cut(keep, meter);
        }
        more
    }

    /// Drops all but the first `keep` rows, and puts the worst of these at the end.
    fn cut(&mut self, keep: usize, meter: &dyn Meter) {
        if meter.is_stopped() {
            return;
        }
        let (work, order) = (Work::new(meter), &self.order);
        let is_done =
            match order.is_by_weight() {
                true => Sort::new(compare_weights, |_| COMPARED_UNITS, &work)
                    .first(&mut self.found, keep),
                false => Sort::new(|a, b| order.compare(a, b), units_of, &work)
                    .first(&mut self.found, keep),
            };
        if is_done.is_none() {
            self.is_cut = false;
            return;
        }
        self.found.truncate(keep);
        self.bytes = self.found.iter().map(R::bytes).sum();
        self.is_cut = true;
    }

    /// The rows held, in no order: the wanted ones and a few more.
    #[must_use]
    pub fn into_found(self) -> Vec<R> {
        self.found
    }

    /// The wanted rows in order, without the first `offset`. `None`: the meter has stopped.
    #[must_use]
    pub fn into_sorted(self, offset: u64, meter: &dyn Meter) -> Option<Vec<R>> {
        let Best {
            order,
            keep,
            mut found,
            ..
        } = self;
        let work = Work::new(meter);
        match order.is_by_weight() {
            true => Sort::new(compare_weights, |_| COMPARED_UNITS, &work).sort(&mut found)?,
            false => Sort::new(|a, b| order.compare(a, b), units_of, &work).sort(&mut found)?,
        }
        found.truncate(keep.unwrap_or(usize::MAX));
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        found.drain(..offset.min(found.len()));
        Some(found)
    }
}
