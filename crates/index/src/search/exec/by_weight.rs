//! The best rows by weight so far, before anybody has read their ids.
//!
//! An id decides only between rows of one weight. Of some five hundred rows that are among the best hundred at some time the
//! answer shows a hundred, and each id is a read that waits for memory.

use std::cmp::Reverse;

use crate::control::Memory;
use crate::error::Result;
use crate::snapshot::{PartIndex, Snapshot};

/// A row that matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WeighedRow {
    pub(super) weight: i64,
    pub(super) part: PartIndex,
    pub(super) doc: u32,
}

/// Such rows.
#[derive(Default)]
pub(super) struct ByWeight {
    /// At most a quarter and some more than are kept, and what one page adds.
    rows: Vec<WeighedRow>,
    /// Of the rows kept when others were left out last, that which comes last, and its id where somebody has asked for it.
    last: Option<WeighedRow>,
    last_id: Option<u64>,
    /// Rows whose memory was asked for.
    paid: usize,
}

/// Rows whose memory is asked for at once.
const PAID_AT_ONCE: usize = 4096;

impl ByWeight {
    /// Forgets all rows, and gives back what only many of them need.
    pub(super) fn clear(&mut self) {
        self.rows.clear();
        self.rows.shrink_to(PAID_AT_ONCE);
        (self.last, self.last_id, self.paid) = (None, None, 0);
    }

    /// The last row that is kept, where as many are as are wanted.
    pub(super) fn last(&self) -> Option<WeighedRow> {
        self.last
    }

    /// Its id. Errors: `Corrupt`.
    pub(super) fn last_id(&mut self, snapshot: &Snapshot) -> Result<Option<u64>> {
        if let (None, Some(WeighedRow { part, doc, .. })) = (self.last_id, self.last) {
            self.last_id = Some(snapshot.part(part).id(doc)?);
        }
        Ok(self.last_id)
    }

    pub(super) fn push(&mut self, row: WeighedRow) {
        self.rows.push(row);
    }

    /// Whether it is time to leave some out.
    pub(super) fn is_full(&self, keep: usize) -> bool {
        self.rows.len() >= keep.saturating_add(keep / 4 + 8)
    }

    /// Asks for the memory of new rows. Errors: `SearchMemory`.
    pub(super) fn pay(&mut self, memory: &Memory) -> Result<()> {
        while self.rows.len() > self.paid + PAID_AT_ONCE {
            self.paid += PAID_AT_ONCE;
            memory.take((PAID_AT_ONCE * size_of::<WeighedRow>()) as u64)?;
        }
        Ok(())
    }

    /// Leaves the first `keep` rows, of which there are as many: by weight, then by id. Errors: `Corrupt`.
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

    /// Asks for the ids of all rows.
    pub(super) fn fetch_ids(&self, snapshot: &Snapshot) {
        fetch_ids(&self.rows, snapshot);
    }

    /// All rows.
    pub(super) fn rows(&self) -> &[WeighedRow] {
        &self.rows
    }
}

fn fetch_ids(rows: &[WeighedRow], snapshot: &Snapshot) {
    for WeighedRow { part, doc, .. } in rows {
        snapshot.part(*part).fetch_id(*doc);
    }
}

/// Brings so many rows of one weight to the front that come first, the last of them behind the others.
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
