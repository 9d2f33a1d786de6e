//! The condition of WHERE on attributes: drops the rows of a page that it does not accept.
//!
//! Three ways give the same rows:
//! - A page kept from an earlier search ([`crate::filters`]) is intersected.
//! - The whole page is compared, 32 bytes at a time. The condition must be a conjunction of integer
//!   ranges on columns that the segment keeps as arrays, and many rows must be left.
//! - Otherwise the condition is evaluated row by row.

use std::sync::{Arc, OnceLock};

use query::bind::Condition;
use query::expression::{Prepared, Simple};

use super::super::values::{ID, RowValues};
use super::buffers::Buffers;
use super::rows::{Rows, has};
use crate::changes::ChangedColumn;
use crate::error::Result;
use crate::filters::{Accepted, Filters, Verdicts, text_of};
use crate::part::Part;
use crate::postings::{Bitmap, PAGE_BITS};
use crate::snapshot::{PartIndex, Snapshot};
use crate::wide::wide;

/// Rows of a page that are compared in about the time in which one row is evaluated.
const COMPARED_AT_ONCE: u32 = 16;

/// A condition on the rows of one snapshot.
pub(in super::super) struct Filter<'a> {
    prepared: &'a Prepared,
    /// Slot and range of each integer range, if the condition is nothing but their conjunction;
    /// else empty.
    ranges: Vec<(usize, Numbers)>,
    /// Where pages are kept, and the text that the condition is known by.
    kept: Option<(&'a Filters, Arc<str>)>,
    /// By part: what is kept of its rows, once a page of it was filtered. `None` of a tail, and
    /// where there is no room.
    parts: Vec<OnceLock<Option<Arc<Verdicts>>>>,
}

/// The integers from `low` to `low + span`; if `negated`, all others.
#[derive(Clone, Copy)]
pub(super) struct Numbers {
    low: i64,
    span: u64,
    negated: bool,
}

/// The page of the rows that are filtered.
pub(super) struct FilteredPage<'p> {
    pub(super) at: PartIndex,
    pub(super) part: &'p Part,
    /// The page's number.
    pub(super) page: usize,
    /// Rows of the part on this page.
    pub(super) rows: u32,
}

/// A column of a page as it was written, the values set since, and the range that both must be in.
#[derive(Clone, Copy)]
struct Compared<'p> {
    written: &'p [[u8; 8]],
    changed: Option<&'p ChangedColumn>,
    numbers: Numbers,
}

impl FilteredPage<'_> {
    fn doc(&self, low: u16) -> u32 {
        (self.page as u32) << PAGE_BITS | u32::from(low)
    }
}

impl Numbers {
    /// `None` for an empty range.
    fn new(low: i64, high: i64, negated: bool) -> Option<Numbers> {
        (low <= high).then(|| Numbers {
            low,
            span: high.abs_diff(low),
            negated,
        })
    }

    /// Whether a number is in the range, or, if negated, outside.
    #[inline(always)]
    fn holds(self, number: [u8; 8]) -> bool {
        let above = i64::from_le_bytes(number).wrapping_sub(self.low);
        (above.cast_unsigned() <= self.span) != self.negated
    }
}

impl<'a> Filter<'a> {
    /// `kept`: where pages of other searches are; `None`: nothing is kept.
    pub(in super::super) fn new(
        condition: &'a Condition<'_>,
        snapshot: &Snapshot,
        kept: Option<&'a Filters>,
    ) -> Filter<'a> {
        let prepared = &condition.prepared;
        let ranges = prepared.simple().and_then(ranges).unwrap_or_default();
        Filter {
            prepared,
            ranges,
            kept: kept.and_then(|kept| Some((kept, text_of(condition.written)?))),
            parts: snapshot.parts.iter().map(|_| OnceLock::new()).collect(),
        }
    }

    /// Whether the condition accepts a row. Errors: `Io`, `Corrupt` of the row.
    pub(super) fn accepts(&self, row: &RowValues<'_>) -> Result<bool> {
        let accepted = self.prepared.accepts(&|slot| row.value(slot));
        row.check()?;
        Ok(accepted)
    }

    /// Drops the rows that the condition does not accept. Errors: `Io`, `Corrupt` of one of these
    /// rows; never of another row of the page.
    pub(super) fn narrow(
        &self,
        filtered: &FilteredPage<'_>,
        rows: &mut Rows,
        buffers: &mut Buffers,
    ) -> Result<()> {
        let count = rows.len() as u32;
        if count == 0 {
            return Ok(());
        }
        let kept = self.verdicts(filtered);
        if let Some((filters, verdicts)) = &kept
            && let Some(accepted) = filters.page(verdicts, filtered.page)
        {
            intersect(rows, accepted, buffers);
            return Ok(());
        }
        let whole = match self.ranges.is_empty() {
            true => filtered.rows,
            false => filtered.rows / COMPARED_AT_ONCE,
        };
        let due = kept.filter(|(_, verdicts)| verdicts.is_due(filtered.page, count, whole));
        let reserved = due.filter(|(filters, verdicts)| filters.reserve(verdicts));
        let compared = match reserved.is_some() || count >= whole {
            true => self.compared(filtered),
            false => None,
        };
        if reserved.is_none() && compared.is_none() {
            return self.ask(filtered, rows);
        }
        let mut bitmap = buffers.bitmap();
        let made = match &compared {
            Some(compared) => compare_all(compared, filtered, &mut bitmap),
            None => self.ask_all(filtered, &mut bitmap).is_ok(),
        };
        match &reserved {
            Some((filters, verdicts)) if made => {
                filters.keep(verdicts, filtered.page, Accepted::new(&bitmap));
            }
            Some((filters, verdicts)) => filters.give_back(verdicts, filtered.page),
            None => {}
        }
        if made {
            keep(rows, &bitmap);
        }
        buffers.give(Rows::Many(bitmap));
        match made {
            true => Ok(()),
            // A row of the page cannot be read. If it is among `rows`, evaluating them reports it.
            false => self.ask(filtered, rows),
        }
    }

    /// What is kept of the part, and where; `None` of a tail, and where there is no room.
    fn verdicts(&self, filtered: &FilteredPage<'_>) -> Option<(&'a Filters, Arc<Verdicts>)> {
        let (filters, text) = self.kept.as_ref()?;
        let known = self.parts[filtered.at.at()].get_or_init(|| {
            let segment = filtered.part.segment_number()?;
            let version = {
                let slots = self.prepared.slots().iter();
                filtered
                    .part
                    .changes
                    .version(slots.filter_map(|slot| slot.checked_sub(1)))
            };
            filters.verdicts((segment, version), filtered.part.rows(), text)
        });
        Some((*filters, Arc::clone(known.as_ref()?)))
    }

    /// The columns to compare; `None` where ranges do not decide, or a column cannot be read whole.
    fn compared<'p>(&self, filtered: &FilteredPage<'p>) -> Option<Vec<Compared<'p>>> {
        if self.ranges.is_empty() {
            return None;
        }
        let first = filtered.doc(0);
        let docs = first..first + filtered.rows;
        let column = |(slot, numbers): &(usize, Numbers)| {
            let (written, changed) = match *slot {
                ID => (filtered.part.id_column(docs.clone()), None),
                slot => (
                    filtered.part.integers(slot - 1, docs.clone()),
                    filtered.part.changed(slot - 1),
                ),
            };
            Some(Compared {
                written: written.ok()??,
                changed,
                numbers: *numbers,
            })
        };
        self.ranges.iter().map(column).collect()
    }

    /// Evaluates the condition for each of `rows`.
    fn ask(&self, filtered: &FilteredPage<'_>, rows: &mut Rows) -> Result<()> {
        let mut result = Ok(());
        rows.retain(|low| {
            result.is_ok()
                && self
                    .accepts(&RowValues::new(filtered.part, filtered.doc(low)))
                    .unwrap_or_else(|error| {
                        result = Err(error);
                        false
                    })
        });
        result
    }

    /// Evaluates the condition for every row of the page. Errors: `Io`, `Corrupt` of any of them.
    fn ask_all(&self, filtered: &FilteredPage<'_>, bitmap: &mut Bitmap) -> Result<()> {
        for low in 0..filtered.rows {
            let row = RowValues::new(filtered.part, filtered.doc(low as u16));
            bitmap[low as usize / 64] |= u64::from(self.accepts(&row)?) << (low % 64);
        }
        Ok(())
    }
}

/// The ranges of a conjunction of integer ranges; `None` if it has any other condition.
fn ranges(conditions: Vec<Simple>) -> Option<Vec<(usize, Numbers)>> {
    let range = |condition| match condition {
        Simple::Whole {
            slot,
            low,
            high,
            negated,
        } => Some((slot, Numbers::new(low, high, negated)?)),
        Simple::Texts { .. } => None,
    };
    conditions.into_iter().map(range).collect()
}

/// Sets the bitmap to the rows whose numbers are in all ranges. `false`: a changed value is no integer of 64 bits, so the rows
/// must be evaluated.
fn compare_all(
    compared: &[Compared<'_>],
    filtered: &FilteredPage<'_>,
    bitmap: &mut Bitmap,
) -> bool {
    bitmap.fill(u64::MAX);
    for column in compared {
        compare_wide(column.written, column.numbers, bitmap);
    }
    // Rows with a changed value are decided by all of their columns again: a written value may have left them out.
    let first = filtered.doc(0);
    let docs = first..first + filtered.rows;
    let mut again: Vec<u32> = Vec::new();
    for column in compared {
        if let Some(changed) = column.changed
            && !changed.numbers(docs.clone(), |doc, _| again.push(doc))
        {
            return false;
        }
    }
    again.sort_unstable();
    again.dedup();
    for doc in again {
        let low = (doc - first) as usize;
        let holds = |column: &Compared<'_>| {
            let changed = column.changed.and_then(|changed| changed.number(doc));
            let number = changed.map_or(column.written[low], i64::to_le_bytes);
            column.numbers.holds(number)
        };
        let bit = 1 << (low % 64);
        match compared.iter().all(holds) {
            true => bitmap[low / 64] |= bit,
            false => bitmap[low / 64] &= !bit,
        }
    }
    true
}

/// Clears the rows whose number is not in the range, and all rows behind the end of the column.
#[inline(always)]
pub(super) fn compare(column: &[[u8; 8]], numbers: Numbers, bitmap: &mut Bitmap) {
    let (stretches, rest) = column.as_chunks::<64>();
    let (whole, behind) = bitmap.split_at_mut(stretches.len());
    for (word, stretch) in whole.iter_mut().zip(stretches) {
        let mut held = 0;
        for (at, number) in stretch.iter().enumerate() {
            held |= u64::from(numbers.holds(*number)) << at;
        }
        *word &= held;
    }
    let mut held = 0;
    for (at, number) in rest.iter().enumerate() {
        held |= u64::from(numbers.holds(*number)) << at;
    }
    for word in behind {
        *word &= std::mem::take(&mut held);
    }
}

/// Keeps the rows that are in a bitmap.
fn keep(rows: &mut Rows, accepted: &Bitmap) {
    match rows {
        Rows::Few(lows) => lows.retain(|low| has(accepted, *low)),
        Rows::Many(bitmap) => {
            for (word, accepted) in bitmap.iter_mut().zip(accepted) {
                *word &= accepted;
            }
        }
    }
}

/// Keeps the accepted rows. Cost: a pass through the shorter of both sets.
fn intersect(rows: &mut Rows, accepted: &Accepted, buffers: &mut Buffers) {
    match (&mut *rows, accepted) {
        (rows, Accepted::Many(accepted)) => keep(rows, accepted),
        (Rows::Few(lows), Accepted::Few(accepted)) => {
            let mut accepted = &**accepted;
            lows.retain(|low| {
                let before = accepted.partition_point(|other| other < low);
                accepted = &accepted[before..];
                accepted.first() == Some(low)
            });
        }
        (Rows::Many(bitmap), Accepted::Few(accepted)) => {
            let mut lows = buffers.lows();
            lows.extend(accepted.iter().filter(|low| has(bitmap, **low)));
            buffers.give(std::mem::replace(rows, Rows::Few(lows)));
        }
    }
}

wide! {
    fn compare_wide(column: &[[u8; 8]], numbers: Numbers, bitmap: &mut Bitmap) = compare
}
