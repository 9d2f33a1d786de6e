//! The first rows of an order.

use std::cmp::Reverse;
use std::sync::Arc;

use super::order::{Order, Sorted};

/// The first rows of those offered, as many as asked for.
///
/// With `keep` 2, the highest weight first, and 5, 9, 7 offered, all three are held. The tenth row makes all but the best two go; from
/// then on nothing behind the second is taken.
///
/// - Where `is_cut`, `found[..keep]` are the first rows of all that were offered before the cut, the last of them the worst.
/// - At most a quarter and eight more than `keep` are held.
pub struct Best<R> {
    order: Arc<Order>,
    /// `None`: all.
    keep: Option<usize>,
    found: Vec<R>,
    is_cut: bool,
    /// Bytes of the rows held, and the most there were.
    bytes: u64,
    peak: u64,
}

/// What a row goes by where only weights are asked for: as [`Order::compare`] has it, in three numbers.
fn by_weight<R: Sorted>(row: &R) -> (Reverse<i64>, u64, u32) {
    (Reverse(row.weight()), row.id(), row.table())
}

impl<R: Sorted> Best<R> {
    /// `keep`: rows wanted, `None` for all.
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

    /// The last row kept, where as many are kept as are wanted: no row behind it is.
    #[must_use]
    pub fn last(&self) -> Option<&R> {
        let last = self.found.get(self.keep?.checked_sub(1)?)?;
        self.is_cut.then_some(last)
    }

    /// Takes a row, or leaves it where it is not wanted. Gives the memory that rows take beyond the most that they took before.
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

    /// Leaves the first `keep` rows, the last of them at its place.
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

    /// The rows kept, in no order, and a few that are not wanted.
    #[must_use]
    pub fn into_found(self) -> Vec<R> {
        self.found
    }

    /// The rows in order, without the first `offset`.
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
