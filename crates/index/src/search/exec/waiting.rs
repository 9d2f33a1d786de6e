//! The best rows by weight so far, before anybody has read their ids.
//!
//! An id decides only between rows of one weight. Of some five hundred rows that are among the best hundred at some time the
//! answer shows a hundred, and each id is a read that waits for memory.

use std::cmp::Reverse;
use std::sync::Arc;

use super::Top;
use super::run::PageRun;
use crate::control::Memory;
use crate::error::Result;
use crate::part::Part;
use crate::snapshot::Snapshot;

/// A row that matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) weight: i64,
    /// Place of the part in the snapshot.
    pub(super) part: u32,
    pub(super) doc: u32,
}

/// Such rows.
#[derive(Default)]
pub(super) struct Waiting {
    /// At most a quarter and some more than are kept, and what one page adds.
    rows: Vec<Row>,
    /// Of the rows kept when others were left out last, that which comes last, and its id where somebody has asked for it.
    last: Option<Row>,
    last_id: Option<u64>,
    /// Rows whose memory was asked for.
    paid: usize,
}

/// Rows whose memory is asked for at once.
const PAID_AT_ONCE: usize = 4096;

impl Waiting {
    /// Forgets all rows, and gives back what only many of them need.
    pub(super) fn clear(&mut self) {
        self.rows.clear();
        self.rows.shrink_to(PAID_AT_ONCE);
        (self.last, self.last_id, self.paid) = (None, None, 0);
    }

    /// The last row that is kept, where as many are as are wanted.
    pub(super) fn last(&self) -> Option<Row> {
        self.last
    }

    /// Its id. Errors: `Corrupt`.
    fn last_id(&mut self, parts: &[Arc<Part>]) -> Result<Option<u64>> {
        if let (None, Some(Row { part, doc, .. })) = (self.last_id, self.last) {
            self.last_id = Some(parts[part as usize].id(doc)?);
        }
        Ok(self.last_id)
    }

    pub(super) fn push(&mut self, row: Row) {
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
            memory.take((PAID_AT_ONCE * size_of::<Row>()) as u64)?;
        }
        Ok(())
    }

    /// Leaves the first `keep` rows, of which there are as many: by weight, then by id. Errors: `Corrupt`.
    pub(super) fn cut(&mut self, keep: usize, snapshot: &Snapshot) -> Result<()> {
        let by_weight = |row: &Row| Reverse(row.weight);
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
    pub(super) fn fetch_ids(&self, parts: &[Arc<Part>]) {
        fetch_ids(&self.rows, parts);
    }

    /// All rows.
    pub(super) fn rows(&self) -> &[Row] {
        &self.rows
    }
}

fn fetch_ids(rows: &[Row], parts: &[Arc<Part>]) {
    for Row { part, doc, .. } in rows {
        parts[*part as usize].fetch_id(*doc);
    }
}

/// Brings so many rows of one weight to the front that come first, the last of them behind the others.
fn bring_first(rows: &mut [Row], first: usize, snapshot: &Snapshot) -> Result<()> {
    let (part, parts) = (rows[0].part, &snapshot.parts);
    let is_one = || parts[part as usize].is_sorted() && rows.iter().all(|row| row.part == part);
    if snapshot.ids_rise || is_one() {
        rows.select_nth_unstable_by_key(first - 1, |row| (row.part, row.doc));
        return Ok(());
    }
    fetch_ids(rows, parts);
    let with_id = |row: &Row| Ok((parts[row.part as usize].id(row.doc)?, *row));
    let mut by_id = rows.iter().map(with_id).collect::<Result<Vec<_>>>()?;
    by_id.select_nth_unstable_by_key(first - 1, |(id, row)| (*id, row.part));
    for (row, (_, moved)) in rows.iter_mut().zip(by_id) {
        *row = moved;
    }
    Ok(())
}

impl PageRun<'_, '_> {
    /// Takes rows with their weights, by rising number, and raises the threshold to what those behind them need.
    pub(super) fn enter(
        &self,
        picked: &mut Vec<(u16, i64)>,
        threshold: &mut i64,
        out: &mut Top,
    ) -> Result<()> {
        let Some((last, _)) = picked.last().copied() else {
            return Ok(());
        };
        for (low, weight) in picked.drain(..) {
            if weight < *threshold {
                continue;
            }
            let (part, doc) = (self.at as u32, self.view.doc(low));
            let row = Row { weight, part, doc };
            match self.is_behind(row, out)? {
                true if self.part.is_sorted() => *threshold = weight + 1,
                true => {}
                false => out.spare.waiting.push(row),
            }
        }
        out.spare.waiting.pay(&self.shared.control.memory)?;
        let keep = self.job.keep.map_or(usize::MAX, |keep| keep as usize);
        if out.spare.waiting.is_full(keep) {
            out.spare.waiting.cut(keep, self.job.snapshot)?;
            *threshold = self.threshold_from(self.view.doc(last).saturating_add(1), out)?;
        }
        Ok(())
    }

    /// Whether a row comes behind the last one kept, which weighs the same.
    fn is_behind(&self, row: Row, out: &mut Top) -> Result<bool> {
        match out.spare.waiting.last() {
            Some(last) if last.weight == row.weight => {}
            _ => return Ok(false),
        }
        self.are_behind(row.doc, || self.part.id(row.doc).map(Some), out)
    }

    /// Whether a row, and with rising ids each from it on, comes behind the last one kept if it weighs as much. `id` is that of
    /// the row or a lower one.
    fn are_behind(
        &self,
        doc: u32,
        id: impl FnOnce() -> Result<Option<u64>>,
        out: &mut Top,
    ) -> Result<bool> {
        let waiting = &mut out.spare.waiting;
        let Some(last) = waiting.last() else {
            return Ok(false);
        };
        let at = self.at as u32;
        if self.job.snapshot.ids_rise || last.part == at && self.part.is_sorted() {
            return Ok((at, doc) > (last.part, last.doc));
        }
        let last_id = waiting.last_id(&self.job.snapshot.parts)?;
        Ok(id()?.map(|id| (id, at)) > last_id.map(|id| (id, last.part)))
    }

    /// The weight that a row of the page must have to enter.
    pub(super) fn threshold(&self, out: &mut Top) -> Result<i64> {
        self.threshold_from(self.view.doc(0), out)
    }

    /// The weight that the page's rows need from this one on.
    fn threshold_from(&self, doc: u32, out: &mut Top) -> Result<i64> {
        let Some(last) = out.spare.waiting.last() else {
            return Ok(self.shared.threshold());
        };
        self.shared.raise(last.weight);
        let is_behind = self.part.is_sorted() && self.are_behind(doc, || Ok(self.id_first), out)?;
        let own = last.weight.saturating_add(i64::from(is_behind));
        Ok(own.max(self.shared.threshold()))
    }
}
