//! The first rows of an order, kept while rows are offered.

use std::cmp::Reverse;
use std::sync::Arc;

use super::order::{Order, Sorted};

/// The first `keep` rows of all rows offered.
///
/// Example: `keep` is 2, the highest weight comes first, and rows of weight 5, 9 and 7 are offered. All three are
/// held. The tenth row offered triggers a cut to the best two. From then on, a row behind the second is turned away.
///
/// Invariants:
/// - With `is_cut`, `found[..keep]` are the first rows of all that were offered before the last cut, the last of them
///   the worst.
/// - At most `keep + keep / 4 + 8` rows are held.
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

/// The sort key of an order by weight alone, equal to [`Order::compare`] but in three numbers.
fn by_weight<R: Sorted>(row: &R) -> (Reverse<i64>, u64, u32) {
    (Reverse(row.weight()), row.id(), row.table())
}

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
    /// earlier maximum.
    pub fn offer(&mut self, row: R) -> u64 {
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
            self.cut(keep);
        }
        more
    }

    /// Drops all but the first `keep` rows, and puts the worst of these at the end.
    fn cut(&mut self, keep: usize) {
        match self.order.is_by_weight() {
            true => self
                .found
                .select_nth_unstable_by_key(keep - 1, by_weight::<R>),
            false => self
                .found
                .select_nth_unstable_by(keep - 1, |a, b| self.order.compare(a, b)),
        };
        self.found.truncate(keep);
        self.bytes = self.found.iter().map(R::bytes).sum();
        self.is_cut = true;
    }

    /// The rows held, in no order: the wanted ones and a few more.
    #[must_use]
    pub fn into_found(self) -> Vec<R> {
        self.found
    }

    /// The wanted rows in order, without the first `offset`.
    #[must_use]
    pub fn into_sorted(self, offset: u64) -> Vec<R> {
        let Best {
            order,
            keep,
            mut found,
            ..
        } = self;
        match order.is_by_weight() {
            true => found.sort_unstable_by_key(by_weight::<R>),
            false => found.sort_unstable_by(|a, b| order.compare(a, b)),
        }
        found.truncate(keep.unwrap_or(usize::MAX));
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        found.drain(..offset.min(found.len()));
        found
    }
}
