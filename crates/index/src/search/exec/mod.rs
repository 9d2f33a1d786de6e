//! The executor: one SELECT over the parts of a snapshot, cut into ranges of rows.
//!
//! A [`Job`] is what all ranges share and nobody changes. Each range is run on its own, by any thread, into a [`Top`]; tops are
//! merged in any order and the answer is the same, since weights are integers and the id is the last key of every order.

mod top;

use std::ops;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use query::analysis::Words;
use query::expression::Prepared;
use query::value::Value;

use super::WEIGHT_WITHOUT_MATCH;
use super::best::{Found, Order};
use super::cursor::{self, Cursor};
use super::plan::Plan;
use super::rank::{Needs, Occurrences};
use super::values::RowValues;
use crate::control::{Control, Memory};
use crate::error::Result;
use crate::part::Part;
use crate::postings::{code, length_class};
use crate::snapshot::Snapshot;

pub(super) use top::Top;

/// Rows after which an executor looks whether it is to stop: 2 to this power.
const WINDOW_BITS: u32 = 12;

/// Rows of a range, but for the last of a part.
const RANGE_ROWS: u32 = 1 << 16;

/// One SELECT.
pub(super) struct Job<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) plan: Option<Plan>,
    /// Whether anybody looks at weights.
    pub(super) ranked: bool,
    pub(super) filter: Option<Prepared>,
    /// Where the filter can be true for these ids only: sorted, each once.
    pub(super) ids: Option<Vec<u64>>,
    pub(super) order: Arc<Order>,
    /// Rows wanted, `None` for all.
    pub(super) keep: Option<u64>,
}

/// Some neighbouring rows of one part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Range {
    /// Place in the snapshot's parts.
    pub(super) part: usize,
    pub(super) docs: ops::Range<u32>,
}

/// What the ranges of one job tell each other while they run.
pub(super) struct Shared<'a> {
    /// Who may stop it.
    pub(super) control: &'a Control,
    /// Rows of less weight than this are not wanted: as many as are kept weigh at least that.
    threshold: AtomicI64,
}

impl Shared<'_> {
    pub(super) fn new(control: &Control) -> Shared<'_> {
        Shared {
            control,
            threshold: AtomicI64::new(i64::MIN),
        }
    }

    pub(super) fn threshold(&self) -> i64 {
        self.threshold.load(Ordering::Relaxed)
    }

    /// As many rows as are kept weigh at least this.
    pub(super) fn raise(&self, threshold: i64) {
        self.threshold.fetch_max(threshold, Ordering::Relaxed);
    }
}

impl Job<'_> {
    /// The ranges that make up the snapshot, each row in one of them. Run in this order they end soonest.
    pub(super) fn ranges(&self) -> Vec<Range> {
        let mut ranges = Vec::new();
        for (part, rows) in self
            .snapshot
            .parts
            .iter()
            .map(|part| part.rows())
            .enumerate()
        {
            let starts = (0..rows).step_by(RANGE_ROWS as usize);
            ranges.extend(starts.map(|start| Range {
                part,
                docs: start..rows.min(start.saturating_add(RANGE_ROWS)),
            }));
        }
        ranges
    }

    /// Postings and rows that are looked at, roughly: whether threads are worth waking.
    pub(super) fn cost(&self) -> u64 {
        let rows = self.snapshot.count();
        match (&self.ids, &self.plan) {
            (Some(ids), _) => ids.len() as u64,
            (None, Some(plan)) if !plan.is_all() => plan.postings(),
            _ if self.filter.is_none() && self.keep.is_some() && self.order.is_by_id() => 0,
            _ => rows,
        }
    }

    /// An empty answer, for [`Job::run`] to add to.
    pub(super) fn top(&self) -> Top {
        Top::new(Arc::clone(&self.order), self.keep)
    }

    /// Adds the rows of a range. Errors: `Interrupted`, `out` then holds what was found before;
    /// `Io`, `Corrupt` of a segment.
    pub(super) fn run(&self, range: &Range, shared: &Shared<'_>, out: &mut Top) -> Result<()> {
        shared.control.check()?;
        let part = &self.snapshot.parts[range.part];
        let everything = self.plan.as_ref().is_none_or(Plan::is_all) && self.filter.is_none();
        if everything {
            return self.list_range(range, part, &shared.control.memory, out);
        }
        let mut cursor = self.cursor(range.part, part)?;
        let mut occurrences = Occurrences::new(self.plan.as_ref().map_or(0, Plan::words));
        let mut doc = cursor.seek(range.docs.start);
        let mut window = 0;
        while doc < range.docs.end {
            if doc >> WINDOW_BITS != window {
                window = doc >> WINDOW_BITS;
                shared.control.check()?;
            }
            let row = RowValues::new(part, doc);
            if part.is_live(doc) && self.accepts(&row)? && self.verifies(&row)? {
                out.total += 1;
                if self.keep != Some(0) {
                    let weight = self.weight(&mut *cursor, &row, &mut occurrences)?;
                    self.offer(range.part, &row, weight, &shared.control.memory, out)?;
                }
            }
            doc = cursor.seek(doc + 1);
        }
        Ok(())
    }

    /// Every live row matches. Where rows lie in the order asked for, the first ones are enough.
    fn list_range(&self, range: &Range, part: &Part, memory: &Memory, out: &mut Top) -> Result<()> {
        out.total += part.rows_live_in(range.docs.clone());
        let is_sorted = part.is_sorted() && self.order.is_by_id();
        let wanted = self.keep.filter(|wanted| is_sorted || *wanted == 0);
        let wanted = wanted.map_or(usize::MAX, |wanted| {
            usize::try_from(wanted).unwrap_or(usize::MAX)
        });
        let live = range.docs.clone().filter(|doc| part.is_live(*doc));
        for doc in live.take(wanted) {
            let row = RowValues::new(part, doc);
            self.offer(range.part, &row, WEIGHT_WITHOUT_MATCH, memory, out)?;
        }
        Ok(())
    }

    /// What the part's rows are stepped through by: the query, the ids, both, or every row.
    fn cursor<'p>(&self, at: usize, part: &'p Part) -> Result<Box<dyn Cursor + 'p>> {
        let listed = match &self.ids {
            Some(ids) => Some(cursor::listed(part.find_all(ids)?)),
            None => None,
        };
        let matched = match &self.plan {
            Some(plan) => {
                let needs = match self.ranked {
                    true => plan.weigher().needs(),
                    false => Needs::Constant,
                };
                Some(plan.cursor(at, part, needs)?)
            }
            None => None,
        };
        Ok(match (listed, matched) {
            (Some(listed), Some(matched)) => cursor::both(listed, matched),
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => cursor::every(part.rows()),
        })
    }

    fn accepts(&self, row: &RowValues<'_>) -> Result<bool> {
        let Some(filter) = &self.filter else {
            return Ok(true);
        };
        let accepted = filter.accepts(&|slot| row.value(slot));
        row.check()?;
        Ok(accepted)
    }

    /// Whether the row's text satisfies what no cursor decides: it is analysed again.
    fn verifies(&self, row: &RowValues<'_>) -> Result<bool> {
        let Some(verifier) = self.plan.as_ref().and_then(Plan::verified) else {
            return Ok(true);
        };
        Ok(verifier.matches(&self.words(row)?))
    }

    /// The words of a row's text.
    fn words(&self, row: &RowValues<'_>) -> Result<Words> {
        let shape = &self.snapshot.shape;
        let mut words = Words::new();
        for (field, column) in shape.texts().enumerate() {
            if let Value::Str(text) = row.value(column + 1) {
                words.push_field(&shape.analyzer, field as u8, &text);
            }
        }
        row.check()?;
        Ok(words)
    }

    fn weight(
        &self,
        cursor: &mut dyn Cursor,
        row: &RowValues<'_>,
        occurrences: &mut Occurrences,
    ) -> Result<i64> {
        let plan = match &self.plan {
            Some(plan) if self.ranked && !plan.is_all() => plan,
            _ => return Ok(WEIGHT_WITHOUT_MATCH),
        };
        let weigher = plan.weigher();
        occurrences.clear();
        cursor.record(occurrences);
        let length_class = match weigher.has_lengths() {
            true => length_class(row.length()?),
            false => 0,
        };
        let value = |(word, hits)| weigher.value(word, code(hits, length_class), hits);
        let sum = occurrences.hits().map(value).sum();
        let mut read = Ok(());
        let mut last = |field| match self.words(row) {
            Ok(words) => last_position(&words, field),
            Err(error) => {
                read = Err(error);
                0
            }
        };
        let weight = weigher.weigh(occurrences, sum, &mut last);
        read.map(|()| weight)
    }

    fn offer(
        &self,
        part: usize,
        row: &RowValues<'_>,
        weight: i64,
        memory: &Memory,
        out: &mut Top,
    ) -> Result<()> {
        let keys: Vec<Value> = self.order.values(row);
        let id = row.id();
        row.check()?;
        let found = Found {
            part: part as u32,
            doc: row.doc(),
            id,
            weight,
            keys,
        };
        out.offer(found, memory)
    }
}

/// The last position of a field; 0 of an empty one.
fn last_position(words: &Words, field: u8) -> u32 {
    let of_field = words.iter().filter(|(_, other, _)| *other == field);
    of_field.map(|(_, _, position)| position).max().unwrap_or(0)
}
