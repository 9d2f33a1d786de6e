//! The condition on attributes of a search: asked of few rows one by one, of many by page, and kept where it may be asked again.
//!
//! Three ways, each giving the same rows. A page that is kept ([`crate::filters`]) is intersected. Where the condition is nothing but
//! ranges of integers that the segment keeps in columns, and many rows are left, the whole page is compared, 32 bytes
//! at a time. Else rows are asked one by one.

use std::sync::{Arc, OnceLock};

use query::bind::Condition;
use query::expression::{Prepared, Simple};

use super::super::values::{ID, RowValues};
use super::buffers::Buffers;
use super::rows::{Rows, has};
use crate::error::Result;
use crate::filters::{Accepted, Filters, Verdicts, text_of};
use crate::part::Part;
use crate::postings::{Bitmap, PAGE_BITS};
use crate::snapshot::{PartIndex, Snapshot};
use crate::wide::wide;

/// Comparing a number of a whole page costs about one part in so many of asking a row.
const COMPARED_AT_ONCE: u32 = 16;

/// A condition, for the parts of one snapshot.
pub(in super::super) struct Filter<'a> {
    prepared: &'a Prepared,
    /// The ranges that it is the conjunction of, if it is nothing else: of each the slot, and the numbers.
    ranges: Vec<(usize, Numbers)>,
    kept: Option<(&'a Filters, Arc<str>)>,
    /// By part: what is known of it, once somebody has filtered.
    parts: Vec<OnceLock<Option<Arc<Verdicts>>>>,
}

/// Integers from `low` to `low + span`, or, if `negated`, the others.
#[derive(Clone, Copy)]
pub(super) struct Numbers {
    low: i64,
    span: u64,
    negated: bool,
}

/// The rows of a page that are asked about.
pub(super) struct FilteredPage<'p> {
    pub(super) at: PartIndex,
    pub(super) part: &'p Part,
    /// The page's number.
    pub(super) page: usize,
    /// Rows of the part on this page.
    pub(super) rows: u32,
}

/// A column of a page, and what it is compared with.
type Compared<'p> = (&'p [[u8; 8]], Numbers);

impl FilteredPage<'_> {
    fn doc(&self, low: u16) -> u32 {
        (self.page as u32) << PAGE_BITS | u32::from(low)
    }
}

impl Numbers {
    /// `None` of a range without numbers.
    fn new(low: i64, high: i64, negated: bool) -> Option<Numbers> {
        (low <= high).then(|| Numbers {
            low,
            span: high.abs_diff(low),
            negated,
        })
    }

    #[inline(always)]
    fn holds(self, number: [u8; 8]) -> bool {
        let above = i64::from_le_bytes(number).wrapping_sub(self.low);
        (above.cast_unsigned() <= self.span) != self.negated
    }
}

impl<'a> Filter<'a> {
    /// A condition, with what may be kept of it.
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

    /// Whether it accepts a row. Errors: as reading the row.
    pub(super) fn accepts(&self, row: &RowValues<'_>) -> Result<bool> {
        let accepted = self.prepared.accepts(&|slot| row.value(slot));
        row.check()?;
        Ok(accepted)
    }

    /// Drops the rows that it does not accept. Errors: as reading one of these rows; never of another one.
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
            Some(compared) => {
                compare_all(compared, &mut bitmap);
                true
            }
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
            // Of the page there is a row that cannot be read. If it is one of those asked about, that says so now.
            false => self.ask(filtered, rows),
        }
    }

    /// What is kept, or may be, of a segment.
    fn verdicts(&self, filtered: &FilteredPage<'_>) -> Option<(&'a Filters, Arc<Verdicts>)> {
        let (filters, text) = self.kept.as_ref()?;
        let known = self.parts[filtered.at.at()].get_or_init(|| {
            let segment = filtered.part.segment_number()?;
            filters.verdicts(segment, filtered.part.rows(), text)
        });
        Some((*filters, Arc::clone(known.as_ref()?)))
    }

    /// The columns to be compared, where that decides; `None` also where one of them cannot be read as a whole.
    fn compared<'p>(&self, filtered: &FilteredPage<'p>) -> Option<Vec<Compared<'p>>> {
        if self.ranges.is_empty() {
            return None;
        }
        let first = filtered.doc(0);
        let docs = first..first + filtered.rows;
        let column = |(slot, numbers): &(usize, Numbers)| {
            let column = match *slot {
                ID => filtered.part.id_column(docs.clone()),
                slot => filtered.part.integers(slot - 1, docs.clone()),
            };
            Some((column.ok()??, *numbers))
        };
        self.ranges.iter().map(column).collect()
    }

    /// Row by row.
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

    /// Every row of the page. Errors: as reading any of them.
    fn ask_all(&self, filtered: &FilteredPage<'_>, bitmap: &mut Bitmap) -> Result<()> {
        for low in 0..filtered.rows {
            let row = RowValues::new(filtered.part, filtered.doc(low as u16));
            bitmap[low as usize / 64] |= u64::from(self.accepts(&row)?) << (low % 64);
        }
        Ok(())
    }
}

/// The ranges, if there is nothing else.
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

/// The rows of a page whose numbers all are as wanted.
fn compare_all(compared: &[Compared<'_>], bitmap: &mut Bitmap) {
    bitmap.fill(u64::MAX);
    for (column, numbers) in compared {
        compare_wide(column, *numbers, bitmap);
    }
}

/// Takes the rows out of a bitmap whose number is not as wanted, and those behind the column's end.
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

/// Keeps the rows that are accepted; costs no more than stepping through the shorter of both.
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
