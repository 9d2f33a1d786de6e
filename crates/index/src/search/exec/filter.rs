//! The condition of WHERE on attributes: drops the rows of a page that it does not accept.
//!
//! Three ways give the same rows:
//! - A page kept from an earlier search ([`crate::filters`]) is intersected.
//! - The numbers of the rows are compared, or, where many rows are left, those of the whole page, 32
//!   bytes at a time. The condition must be a conjunction of integer ranges on columns, or on paths of
//!   documents, that the segment keeps as arrays.
//! - Otherwise the condition is evaluated: in blocks of rows, if it is one of whole numbers; for each text once, if it is one on a
//!   column whose texts the segment has in a list; else row by row.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};

use language::meter::Meter;
use relation::bind::Condition;
use relation::expression::{ColumnValues, Prepared, Simple};
use relation::json::JsonStep;
use relation::rows::Texts;
use relation::value::Value;

use super::super::blocks::{BLOCK_ROWS, listed, of_slot};
use super::super::values::{ID, ROW_UNITS, RowValues};
use super::buffers::Buffers;
use super::rows::{FEW, Rows, RowsRef, has};
use crate::changes::ChangedColumn;
use crate::control::Control;
use crate::error::Result;
use crate::filters::{Accepted, Filters, Verdicts, text_of};
use crate::integers::{IntegerRange, Integers};
use crate::interrupt::Interrupt;
use crate::part::Part;
use crate::postings::{Bitmap, PAGE_BITS};
use crate::snapshot::{PartIndex, Snapshot};

/// Rows of a whole page that are compared in about the time in which one row alone is compared.
const COMPARED_AT_ONCE: u32 = 16;

/// Rows whose values are fetched from memory together.
const ASKED_AT_ONCE: usize = 16;

/// A condition on the rows of one snapshot.
pub(in super::super) struct Filter<'a> {
    prepared: &'a Prepared,
    /// [`Prepared::is_of_whole_numbers`]
    is_of_whole_numbers: bool,
    /// The integer ranges, if the condition is nothing but their conjunction; else empty.
    ranges: Vec<InRange>,
    /// Where pages are kept, and the text that the condition is known by.
    kept: Option<(&'a Filters, Arc<str>)>,
    /// By part: what is kept of its rows, once a page of it was filtered. `None` of a tail, and
    /// where there is no room.
    parts: Vec<OnceLock<Option<Arc<Verdicts>>>>,
    /// By part: what is known of each text of the list of the condition's only column, and of NULL.
    of_texts: Vec<OnceLock<Box<[AtomicU8]>>>,
}

/// Units of a row of a block, for which whole numbers or texts by their places are read.
const BLOCK_ROW_UNITS: u64 = 10;

/// A text that no row has asked for.
const UNKNOWN: u8 = 2;

/// The only column of a condition with one of its texts.
struct OneText<'t> {
    texts: &'t Texts,
    at: usize,
    interrupt: &'t Interrupt,
}

impl ColumnValues for OneText<'_> {
    fn value(&self, _: usize) -> Value {
        self.texts.value(self.at)
    }

    fn value_at(&self, _: usize, _: &[JsonStep]) -> Value {
        Value::Null
    }

    fn meter(&self) -> &dyn Meter {
        self.interrupt
    }
}

/// The condition that the number in a column, or at a path of its document, is in a range.
struct InRange {
    slot: usize,
    /// Empty: the column itself.
    path: Box<[JsonStep]>,
    numbers: IntegerRange,
}

/// The page of the rows that are filtered.
pub(super) struct FilteredPage<'p> {
    pub(super) at: PartIndex,
    pub(super) part: &'p Part,
    /// The page's number.
    pub(super) page: usize,
    /// Rows of the part on this page.
    pub(super) rows: u32,
    /// Says whether to stop.
    pub(super) control: &'p Control,
}

/// What is known of all rows of a page before one is read.
pub(super) enum OfPage {
    /// The condition accepts none.
    NoRow,
    /// It accepts each.
    EveryRow,
    /// Rows must be asked.
    Unknown,
}

/// A column of a page as it was written, the values set since, and the range that both must be in.
#[derive(Clone, Copy)]
struct Compared<'p> {
    written: Integers<'p>,
    /// A bit for each row that has a number; `None`: each has.
    present: Option<&'p [[u8; 8]]>,
    changed: Option<&'p ChangedColumn>,
    /// Whether `changed` has documents, in which the number stands.
    is_in_document: bool,
    numbers: IntegerRange,
}

impl FilteredPage<'_> {
    fn doc(&self, low: u16) -> u32 {
        (self.page as u32) << PAGE_BITS | u32::from(low)
    }

    fn row(&self, doc: u32) -> RowValues<'_> {
        RowValues::new(self.part, doc, &self.control.interrupt)
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
        let ranges = prepared
            .simple_of_numbers()
            .and_then(ranges)
            .unwrap_or_default();
        Filter {
            prepared,
            is_of_whole_numbers: prepared.is_of_whole_numbers(),
            ranges,
            kept: kept.and_then(|kept| Some((kept, text_of(&condition.written)?))),
            parts: snapshot.parts.iter().map(|_| OnceLock::new()).collect(),
            of_texts: snapshot.parts.iter().map(|_| OnceLock::new()).collect(),
        }
    }

    /// How rows are compared, for a profile.
    pub(super) fn how(&self) -> &'static str {
        match (self.ranges.is_empty(), self.is_of_whole_numbers) {
            (false, _) => "condition on whole columns",
            (true, true) => "condition in blocks of rows",
            (true, false) => "condition row by row",
        }
    }

    /// Whether the condition accepts a row. Errors: `Io`, `Corrupt` of the row.
    pub(super) fn accepts(&self, row: &RowValues<'_>) -> Result<bool> {
        let accepted = self.prepared.accepts(row);
        row.check()?;
        Ok(accepted)
    }

    /// Drops the rows that the condition does not accept. Errors: `Interrupted`; `Io`, `Corrupt` of one
    /// of these rows, never of another row of the page.
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
        let kept = self.verdicts(filtered.at, filtered.part);
        if let Some((filters, verdicts)) = &kept
            && let Some(accepted) = filters.page(verdicts, filtered.page)
        {
            intersect(rows, accepted, buffers);
            return Ok(());
        }
        let compared = self.compared(filtered);
        // Rows from which on it pays to decide the whole page.
        let whole = match compared.is_none() {
            true => filtered.rows,
            false => filtered.rows / COMPARED_AT_ONCE,
        };
        // To compare a page costs no more than to keep it: searches with bounds of their own would pay for nothing.
        let due = kept.filter(|(_, verdicts)| verdicts.is_due(filtered.page, count, filtered.rows));
        let reserved = due.filter(|(filters, verdicts)| filters.reserve(verdicts));
        if reserved.is_none() {
            if count < FEW as u32 {
                rows.become_few(buffers);
            }
            let is_compared = compared.as_ref().is_some_and(|compared| match &mut *rows {
                Rows::Many(bitmap) => self.compare_bits(compared, filtered, bitmap),
                Rows::Few(lows) => count < whole && compare_few(compared, filtered, lows),
            });
            if is_compared {
                return Ok(());
            }
            if count < whole {
                return self.ask(filtered, rows, buffers);
            }
        }
        let mut bitmap = buffers.bitmap();
        let made = match &compared {
            Some(compared) => {
                bitmap.fill(u64::MAX);
                self.compare_bits(compared, filtered, &mut bitmap)
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
            // A row of the page cannot be read, or the search was stopped. Evaluating `rows` reports what concerns them.
            false => self.ask(filtered, rows, buffers),
        }
    }

    /// What the ends of the columns tell of the page: where a column rises with the rows, as a time does, they decide most pages.
    pub(super) fn of_page(&self, filtered: &FilteredPage<'_>) -> OfPage {
        let Some(compared) = self.compared(filtered) else {
            return OfPage::Unknown;
        };
        if changed_rows(&compared, filtered).is_none_or(|changed| !changed.is_empty()) {
            return OfPage::Unknown;
        }
        let mut every = true;
        for column in &compared {
            match column.written.all_in(column.numbers) {
                Some(false) => return OfPage::NoRow,
                Some(true) => every &= column.present.is_none(),
                None => every = false,
            }
        }
        match every {
            true => OfPage::EveryRow,
            false => OfPage::Unknown,
        }
    }

    /// The rows of a page that the condition accepts, if the page is kept.
    pub(super) fn kept_page(
        &self,
        filtered: &FilteredPage<'_>,
        buffers: &mut Buffers,
    ) -> Option<Rows> {
        let (filters, verdicts) = self.verdicts(filtered.at, filtered.part)?;
        Some(match filters.page(&verdicts, filtered.page)? {
            Accepted::Few(accepted) => {
                let mut lows = buffers.lows();
                lows.extend_from_slice(accepted);
                Rows::Few(lows)
            }
            Accepted::Many(accepted) => {
                let mut bitmap = buffers.bitmap();
                bitmap.copy_from_slice(&accepted[..]);
                Rows::Many(bitmap)
            }
        })
    }

    /// Estimate of the rows that a scan with the condition looks at: those of pages that are not kept, and accepted ones.
    pub(super) fn rows_looked_at(&self, snapshot: &Snapshot) -> u64 {
        let of_part = |(at, part): (PartIndex, &Arc<Part>)| match self.verdicts(at, part) {
            Some((_, verdicts)) => verdicts.rows_looked_at(),
            None => u64::from(part.rows()),
        };
        snapshot.numbered().map(of_part).sum()
    }

    /// What is kept of the part, and where; `None` of a tail, and where there is no room.
    fn verdicts(&self, at: PartIndex, part: &Part) -> Option<(&'a Filters, Arc<Verdicts>)> {
        let (filters, text) = self.kept.as_ref()?;
        let known = self.parts[at.at()].get_or_init(|| {
            let segment = part.segment_number()?;
            let slots = self.prepared.slots().iter();
            let columns = slots.filter_map(|slot| slot.checked_sub(1));
            let version = part.changes.version(columns);
            filters.verdicts((segment, version), part.rows(), text)
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
        let part = filtered.part;
        let column = |range: &InRange| {
            let (mut present, mut changed) = (None, None);
            let written = match range.slot {
                ID => part.id_column(docs.clone()).ok()??,
                slot if range.path.is_empty() => {
                    changed = part.changed(slot - 1);
                    part.integers(slot - 1, docs.clone()).ok()??
                }
                slot => {
                    changed = part.changed(slot - 1);
                    let kept = part.path_numbers(slot - 1, &range.path, docs.clone());
                    let kept = kept.ok()??;
                    present = kept.present;
                    kept.numbers
                }
            };
            Some(Compared {
                written,
                present,
                changed,
                is_in_document: !range.path.is_empty(),
                numbers: range.numbers,
            })
        };
        self.ranges.iter().map(column).collect()
    }

    /// Drops the rows whose numbers are not in all ranges. `false`, and nothing is dropped: a changed value is no integer of 64
    /// bits, or a changed row cannot be read, so the rows must be evaluated.
    fn compare_bits(
        &self,
        compared: &[Compared<'_>],
        filtered: &FilteredPage<'_>,
        bitmap: &mut Bitmap,
    ) -> bool {
        // Rows with a changed value are decided by all of their columns: a written value may leave them out.
        let Some(changed) = changed_rows(compared, filtered) else {
            return false;
        };
        let by_row = compared
            .iter()
            .any(|column| column.is_in_document && column.changed.is_some());
        let mut decided = Vec::new();
        for doc in changed {
            let low = (doc - filtered.doc(0)) as usize;
            if !has(bitmap, low as u16) {
                continue;
            }
            let accepted = match by_row {
                true => self.accepts(&filtered.row(doc)),
                false => Ok(compared.iter().all(|column| column.holds(doc, low))),
            };
            let Ok(accepted) = accepted else {
                return false;
            };
            decided.push((low, accepted));
        }
        for column in compared {
            column.written.compare(column.numbers, bitmap);
            for (word, present) in bitmap.iter_mut().zip(column.present.unwrap_or_default()) {
                *word &= u64::from_le_bytes(*present);
            }
        }
        for (low, accepted) in decided {
            let bit = 1 << (low % 64);
            match accepted {
                true => bitmap[low / 64] |= bit,
                false => bitmap[low / 64] &= !bit,
            }
        }
        true
    }

    /// Evaluates the condition for each of `rows`. Few rows of a bitmap become a list, so that they are
    /// asked together.
    fn ask(
        &self,
        filtered: &FilteredPage<'_>,
        rows: &mut Rows,
        buffers: &mut Buffers,
    ) -> Result<()> {
        if rows.len() < FEW {
            rows.become_few(buffers);
        }
        match rows {
            Rows::Few(lows) => self.ask_few(filtered, lows),
            Rows::Many(bitmap) => self.ask_many(filtered, bitmap),
        }
    }

    fn ask_many(&self, filtered: &FilteredPage<'_>, bitmap: &mut Bitmap) -> Result<()> {
        let mut lows = Vec::new();
        for (at, words) in bitmap.chunks_mut(BLOCK_ROWS / 64).enumerate() {
            lows.clear();
            RowsRef::Many(at * BLOCK_ROWS / 64, words).gather(&mut lows);
            self.ask_few(filtered, &mut lows)?;
            words.fill(0);
            for low in &lows {
                let low = usize::from(*low) - at * BLOCK_ROWS;
                words[low / 64] |= 1 << (low % 64);
            }
        }
        Ok(())
    }

    /// Keeps the rows that the condition accepts, block by block if it is one of whole numbers. Any other may take a second a
    /// row, so the search can be stopped between two of them.
    fn ask_few(&self, filtered: &FilteredPage<'_>, lows: &mut Vec<u16>) -> Result<()> {
        let mut kept = 0;
        for start in (0..lows.len()).step_by(BLOCK_ROWS) {
            let asked = start..lows.len().min(start + BLOCK_ROWS);
            filtered
                .control
                .spend(BLOCK_ROW_UNITS * asked.len() as u64)?;
            let block = &lows[asked.clone()];
            let mut truths = self.truths(filtered, block);
            if truths.is_none() {
                truths = self.truths_of_texts(filtered, block)?;
            }
            if let Some(truths) = truths {
                for (at, truth) in asked.zip(truths) {
                    lows[kept] = lows[at];
                    kept += usize::from(truth != 0);
                }
                continue;
            }
            for start in asked.clone().step_by(ASKED_AT_ONCE) {
                let asked = start..asked.end.min(start + ASKED_AT_ONCE);
                self.fetch(filtered, &lows[asked.clone()]);
                for at in asked {
                    filtered.control.spend(ROW_UNITS)?;
                    let low = lows[at];
                    if self.accepts(&filtered.row(filtered.doc(low)))? {
                        lows[kept] = low;
                        kept += 1;
                    }
                }
            }
        }
        lows.truncate(kept);
        Ok(())
    }

    /// The values of the condition for rows; `None` where it is not one of whole numbers, or these cannot be read together.
    fn truths(&self, filtered: &FilteredPage<'_>, lows: &[u16]) -> Option<Vec<i64>> {
        if !self.is_of_whole_numbers {
            return None;
        }
        let (part, first) = (filtered.part, filtered.doc(0));
        let mut column = |slot| of_slot(part, slot, first, lows);
        let meter = &*filtered.control.interrupt;
        self.prepared.evaluate_whole(lows.len(), &mut column, meter)
    }

    /// As [`Filter::truths`], of a condition on one column whose texts the segment has in a list. Each text is decided once.
    fn truths_of_texts(
        &self,
        filtered: &FilteredPage<'_>,
        lows: &[u16],
    ) -> Result<Option<Vec<i64>>> {
        let column = match self.prepared.slots() {
            [slot] => slot.checked_sub(1),
            _ => None,
        };
        let listed = column.and_then(|at| listed(filtered.part, at, filtered.doc(0), lows));
        let Some((places, texts)) = listed else {
            return Ok(None);
        };
        let known = self.of_texts[filtered.at.at()].get_or_init(|| {
            let all = 0..=texts.count();
            all.map(|_| AtomicU8::new(UNKNOWN)).collect()
        });
        let truth = |place: u32| {
            let at = (place as usize).min(texts.count());
            let mut truth = known[at].load(Ordering::Relaxed);
            if truth == UNKNOWN {
                let interrupt = &filtered.control.interrupt;
                let texts = &texts;
                truth = self
                    .prepared
                    .accepts(&OneText {
                        texts,
                        at,
                        interrupt,
                    })
                    .into();
                filtered.control.spend(ROW_UNITS)?;
                known[at].store(truth, Ordering::Relaxed);
            }
            Ok(truth.into())
        };
        let truths: Result<_> = places.into_iter().map(truth).collect();
        truths.map(Some)
    }

    /// Tells the processor to fetch the values of rows that may lie far apart.
    fn fetch(&self, filtered: &FilteredPage<'_>, lows: &[u16]) {
        let columns = || {
            let slots = self.prepared.slots().iter();
            slots.filter_map(|slot| slot.checked_sub(1))
        };
        for low in lows {
            filtered.part.fetch_place(filtered.doc(*low), columns());
        }
        for low in lows {
            filtered.part.fetch_bytes(filtered.doc(*low), columns());
        }
    }

    /// Evaluates the condition for every row of the page. Errors: `Interrupted`; `Io`, `Corrupt` of any of them.
    fn ask_all(&self, filtered: &FilteredPage<'_>, bitmap: &mut Bitmap) -> Result<()> {
        for (at, word) in bitmap.iter_mut().enumerate() {
            let rows = (filtered.rows as usize).saturating_sub(64 * at).min(64);
            *word = u64::MAX.checked_shr(64 - rows as u32).unwrap_or(0);
        }
        self.ask_many(filtered, bitmap)
    }
}

/// The ranges of a conjunction of integer ranges; `None` if it has any other condition.
fn ranges(conditions: Vec<Simple>) -> Option<Vec<InRange>> {
    let range = |condition| match condition {
        Simple::Whole {
            slot,
            path,
            low,
            high,
            negated,
        } => Some(InRange {
            slot,
            path,
            numbers: IntegerRange::new(low, high, negated)?,
        }),
        Simple::Texts { .. } => None,
    };
    conditions.into_iter().map(range).collect()
}

impl Compared<'_> {
    /// Whether a row has a number.
    #[inline(always)]
    fn is_present(&self, low: usize) -> bool {
        let word = |present: &[[u8; 8]]| u64::from_le_bytes(present[low / 64]);
        self.present
            .is_none_or(|present| word(present) >> (low % 64) & 1 == 1)
    }

    /// Whether a row has a number in the range, as it is now. Not where the row's document was changed.
    #[inline(always)]
    fn holds(&self, doc: u32, low: usize) -> bool {
        if !self.is_present(low) {
            return false;
        }
        let changed = self.changed.and_then(|changed| changed.number(doc));
        self.numbers
            .holds(changed.unwrap_or_else(|| self.written.get(low)))
    }
}

/// The rows of the page in which a compared column was changed, rising; `None` where one got a value that is no integer of 64
/// bits.
fn changed_rows(compared: &[Compared<'_>], filtered: &FilteredPage<'_>) -> Option<Vec<u32>> {
    let docs = filtered.doc(0)..filtered.doc(0) + filtered.rows;
    let mut rows: Vec<u32> = Vec::new();
    for column in compared {
        match column.changed {
            None => {}
            Some(changed) if column.is_in_document => rows.extend(changed.rows(docs.clone())),
            Some(changed) if changed.numbers(docs.clone(), |doc, _| rows.push(doc)) => {}
            Some(_) => return None,
        }
    }
    rows.sort_unstable();
    rows.dedup();
    Some(rows)
}

/// As [`Filter::compare_bits`], for rows in a list. `false` also where a document was changed.
fn compare_few(
    compared: &[Compared<'_>],
    filtered: &FilteredPage<'_>,
    lows: &mut Vec<u16>,
) -> bool {
    let by_row = |column: &Compared<'_>| column.is_in_document && column.changed.is_some();
    if compared.iter().any(by_row) {
        return false;
    }
    let Some(changed) = changed_rows(compared, filtered) else {
        return false;
    };
    for column in compared {
        if changed.is_empty() {
            if column.present.is_some() {
                lows.retain(|low| column.is_present(usize::from(*low)));
            }
            column.written.keep(column.numbers, lows);
        } else {
            lows.retain(|low| column.holds(filtered.doc(*low), usize::from(*low)));
        }
    }
    true
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
