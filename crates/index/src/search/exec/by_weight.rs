//! The best rows by weight that one thread has found, without their ids.
//!
//! An id decides only between rows of one weight, and each read of an id waits for memory. Of some
//! 500 rows that are among the best 100 at some time, the answer shows 100. So ids are read only
//! for ties and at the end.
//!
//! Example with `keep` 2: rows gather until there are 2 + 2/4 + 8 = 10. Then [`ByWeight::cut`]
//! leaves the best two, weights 9 and 7. `last` is the row of weight 7: the thread's threshold.
//!
//! Invariants:
//! - After a cut, `rows` are the best `keep` of all rows pushed so far, by weight, then id.
//! - `last` is the last row of the last cut. Rows pushed since can only make the true threshold
//!   higher, so `last` is a safe one.
//! - `last_id` is the id of `last` or `None`; each cut clears it.

use std::cmp::Reverse;

use crate::control::Memory;
use crate::error::Result;
use crate::snapshot::{PartIndex, Snapshot};

/// A row that matches, without its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WeighedRow {
    pub(super) weight: i64,
    pub(super) part: PartIndex,
    pub(super) doc: u32,
}

/// Rows of one thread. Kept in the scratch memory; empty at the start of a search.
#[derive(Default)]
pub(super) struct ByWeight {
    /// The rows: at most `keep`, a quarter of that and 8, and the rows of one batch.
    rows: Vec<WeighedRow>,
    /// The last of the rows that the last cut kept; `None` before the first cut. Its id, once read.
    last: Option<WeighedRow>,
    last_id: Option<u64>,
    /// Rows whose memory the search has taken.
    paid: usize,
}

/// Rows whose memory is taken in one step.
const PAID_AT_ONCE: usize = 4096;

impl ByWeight {
    /// Drops all rows, and frees memory beyond a few thousand rows.
    pub(super) fn clear(&mut self) {
        self.rows.clear();
        self.rows.shrink_to(PAID_AT_ONCE);
        (self.last, self.last_id, self.paid) = (None, None, 0);
    }

    /// The last of the rows that the last cut kept; `None` before the first cut.
    pub(super) fn last(&self) -> Option<WeighedRow> {
        self.last
    }

    /// Id of [`ByWeight::last`]. Errors: `Corrupt`.
    pub(super) fn last_id(&mut self, snapshot: &Snapshot) -> Result<Option<u64>> {
        if let (None, Some(WeighedRow { part, doc, .. })) = (self.last_id, self.last) {
            self.last_id = Some(snapshot.part(part).id(doc)?);
        }
        Ok(self.last_id)
    }

    /// Adds a row. The caller compared it with the threshold.
    pub(super) fn push(&mut self, row: WeighedRow) {
        self.rows.push(row);
    }

    /// Whether there are enough rows for a [`ByWeight::cut`]: each cut drops at least a quarter of
    /// `keep`, so cutting costs a constant number of steps a row.
    pub(super) fn is_full(&self, keep: usize) -> bool {
        self.rows.len() >= ByWeight::rows_of_cut(keep)
    }

    /// The number of rows that are enough for a cut to `keep` of them.
    pub(super) fn rows_of_cut(keep: usize) -> usize {
        keep.saturating_add(keep / 4 + 8)
    }

    /// Takes memory for the new rows. Errors: `SearchMemory`, `NoMemory`.
    pub(super) fn pay(&mut self, memory: &Memory) -> Result<()> {
        while self.rows.len() > self.paid + PAID_AT_ONCE {
            self.paid += PAID_AT_ONCE;
            memory.take((PAID_AT_ONCE * size_of::<WeighedRow>()) as u64)?;
        }
        Ok(())
    }

    /// Keeps the first `keep` rows, by falling weight, then rising id. `keep` is at least 1 and at
    /// most the number of rows. Errors: `Corrupt`.
    pub(super) fn cut(&mut self, keep: usize, snapshot: &Snapshot) -> Result<()> {
        let by_weight = |row: &WeighedRow| Reverse(row.weight);
        let (_, last, _) = self.rows.select_nth_unstable_by_key(keep - 1, by_weight);
        let weight = last.weight;
        self.rows.retain(|row| row.weight >= weight);
        let mut above = 0;
        for at in 0..self.rows.len() {
            if self.rows[at].weight > weight {
                self.rows.swap(at, above);
                above += 1;
            }
        }
        bring_first(&mut self.rows[above..], keep - above, snapshot)?;
        self.rows.truncate(keep);
        self.last = self.rows.last().copied();
        self.last_id = None;
        Ok(())
    }

    /// Tells the processor to fetch the ids of all rows from memory.
    pub(super) fn fetch_ids(&self, snapshot: &Snapshot) {
        fetch_ids(&self.rows, snapshot);
    }

    /// All rows, in no order.
    pub(super) fn rows(&self) -> &[WeighedRow] {
        &self.rows
    }
}

fn fetch_ids(rows: &[WeighedRow], snapshot: &Snapshot) {
    for WeighedRow { part, doc, .. } in rows {
        snapshot.part(*part).fetch_id(*doc);
    }
}

/// Moves the `first` rows by id to the front; the last of them stands at index `first - 1`. All
/// rows have one weight. Where ids rise with the rows, none is read.
fn bring_first(rows: &mut [WeighedRow], first: usize, snapshot: &Snapshot) -> Result<()> {
    let part = rows[0].part;
    let is_one = || snapshot.part(part).is_sorted() && rows.iter().all(|row| row.part == part);
    if snapshot.ids_rise || is_one() {
        rows.select_nth_unstable_by_key(first - 1, |row| (row.part, row.doc));
        return Ok(());
    }
    fetch_ids(rows, snapshot);
    let with_id = |row: &WeighedRow| Ok((snapshot.part(row.part).id(row.doc)?, *row));
    let mut by_id = rows.iter().map(with_id).collect::<Result<Vec<_>>>()?;
    by_id.select_nth_unstable_by_key(first - 1, |(id, row)| (*id, row.part));
    for (row, (_, moved)) in rows.iter_mut().zip(by_id) {
        *row = moved;
    }
    Ok(())
}
