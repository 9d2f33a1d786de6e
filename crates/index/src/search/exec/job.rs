//! One search as all its ranges see it. Nothing here changes while they run, but for the threshold.

use std::ops;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use relation::rows::Order;

use super::super::candidates::Candidates;
use super::super::collect::{Collector, FoundRow};
use super::super::plan::Plan;
use super::super::rank::Needs;
use super::super::statistics::FoundWords;
use super::super::values::{ROW_UNITS, RowValues};
use super::filter::Filter;
use super::lists::Lists;
use super::scratch::{Scratch, ThreadScratch};
use super::texts::Texts;
use crate::control::Control;
use crate::error::Result;
use crate::part::Part;
use crate::postings::PAGE_ROWS;
use crate::snapshot::{PartIndex, Snapshot};

/// Least steps of a search that takes longer than a millisecond.
const LONG_COST_MIN: u64 = 1_000_000;

/// Most rows that a search keeps which takes no longer than a millisecond.
const KEPT_SHORT_MAX: u64 = 1_000;

/// Rows of a range where several threads may help; the last range of a part may have fewer.
const RANGE_ROWS: u32 = 4 * PAGE_ROWS;

/// Rows of a table below which a range is one page: else the last thread would work alone for long.
const RANGES_SHORT: u64 = 8 * RANGE_ROWS as u64;

/// A SELECT over one snapshot, with all that its steps share.
pub(in super::super) struct Job<'a> {
    pub(in super::super) snapshot: &'a Snapshot,
    pub(in super::super) plan: Option<Plan>,
    /// For each part, where its dictionary has the plan's words.
    pub(in super::super) words: FoundWords,
    /// Whether the order, a column or an expression uses weights.
    pub(in super::super) ranked: bool,
    pub(in super::super) filter: Option<Filter<'a>>,
    /// The only rows for which the filter can be true, where WHERE names their ids or the values of a
    /// keyed column.
    pub(in super::super) candidates: Option<Candidates>,
    pub(in super::super) order: Arc<Order>,
    /// Rows to keep: OFFSET and LIMIT together. `None`: all; 0: only the count.
    pub(in super::super) keep: Option<u64>,
    pub(in super::super) lists: Opened<'a>,
    /// For each part, the rows that match (rising), where `search/cutoff.rs` has found them already. Then
    /// there is no filter and there are no `candidates`.
    pub(in super::super) only: Option<Vec<Vec<u32>>>,
    /// The rows of a page go to the collector at once: [`Collector::take_page`].
    pub(in super::super) in_blocks: bool,
    /// Only the first rows by id are wanted and no total: pages behind them are skipped.
    pub(in super::super) stops: bool,
}

/// For each part, the words' lists, opened by the first thread that needs them.
pub(in super::super) struct Opened<'a> {
    parts: Vec<OnceLock<Lists<'a>>>,
}

impl Opened<'_> {
    /// No list is open yet.
    pub(in super::super) fn new(snapshot: &Snapshot) -> Opened<'_> {
        Opened {
            parts: snapshot.parts.iter().map(|_| OnceLock::new()).collect(),
        }
    }
}

/// The collector of one thread, and the memory that it works in.
pub(in super::super) struct Gathered<C> {
    pub(in super::super) collector: C,
    scratch: ThreadScratch,
}

/// A [`Gathered`] as a range sees it, whatever the collector's type.
pub(in super::super) struct Out<'o> {
    pub(super) collector: &'o mut dyn Collector,
    pub(super) scratch: &'o mut Scratch,
}

impl<C: Collector> Gathered<C> {
    pub(in super::super) fn new(collector: C) -> Gathered<C> {
        Gathered {
            collector,
            scratch: ThreadScratch::take(),
        }
    }

    pub(in super::super) fn out(&mut self) -> Out<'_> {
        Out {
            collector: &mut self.collector,
            scratch: &mut self.scratch,
        }
    }
}

/// Neighbouring rows of one part: the unit of work of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) part: PartIndex,
    pub(super) docs: ops::Range<u32>,
}

/// State that the ranges of one job share while they run.
pub(super) struct Shared<'a> {
    /// Says whether to stop, and lends memory.
    pub(super) control: &'a Control,
    /// The shared threshold: at least [`Job::keep`] rows weigh this or more. Never falls.
    threshold: AtomicI64,
    /// Rows of higher ids are not wanted. Used only by a job that [`Job::stops`].
    pub(super) id_last: AtomicU64,
}

impl Shared<'_> {
    pub(super) fn new(control: &Control) -> Shared<'_> {
        Shared {
            control,
            threshold: AtomicI64::new(i64::MIN),
            id_last: AtomicU64::new(u64::MAX),
        }
    }

    pub(super) fn threshold(&self) -> i64 {
        self.threshold.load(Ordering::Relaxed)
    }

    /// Raises the shared threshold. The caller knows [`Job::keep`] rows of at least this weight.
    pub(super) fn raise(&self, threshold: i64) {
        self.threshold.fetch_max(threshold, Ordering::Relaxed);
    }
}

impl<'a> Job<'a> {
    /// Cuts the snapshot into ranges, each row in one of them. `is_small`: no helper will come, so
    /// each part is one range.
    pub(super) fn ranges(&self, is_small: bool) -> Vec<Range> {
        let rows_most = match self.snapshot.count() {
            _ if is_small => u32::MAX,
            0..RANGES_SHORT => PAGE_ROWS,
            _ => RANGE_ROWS,
        };
        let mut ranges = Vec::new();
        for (index, part) in self.snapshot.numbered() {
            let rows = part.rows();
            let starts = (0..rows).step_by(rows_most as usize);
            ranges.extend(starts.map(|start| Range {
                part: index,
                docs: start..rows.min(start.saturating_add(rows_most)),
            }));
        }
        ranges
    }

    /// Estimate of the postings and rows that the job looks at; decides whether helpers are called.
    pub(in super::super) fn cost(&self) -> u64 {
        let rows = self.snapshot.count();
        if let Some(only) = &self.only {
            return only.iter().map(|docs| docs.len() as u64).sum();
        }
        match (&self.candidates, &self.plan) {
            (Some(candidates), _) => candidates.count(self.snapshot),
            (None, Some(plan)) if !plan.is_all() => plan.postings(),
            _ => match &self.filter {
                Some(filter) => filter.rows_looked_at(self.snapshot),
                None if self.keep.is_some() && self.order.is_by_id() => 0,
                None => rows,
            },
        }
    }

    /// How the rows are found, for a profile.
    pub(in super::super) fn how(&self) -> String {
        let (parts, cost) = (self.snapshot.parts.len(), self.cost());
        let mut how = format!("{parts} parts, about {cost} postings and rows");
        if let Some(filter) = &self.filter {
            how.push_str(", ");
            how.push_str(filter.how());
        }
        how
    }

    /// Whether the search may take longer than a millisecond: finding its rows, or gathering and sorting those that it keeps.
    pub(in super::super) fn is_long(&self) -> bool {
        let cost = self.cost();
        let kept = match cost {
            0 => self.keep,
            _ => Some(self.keep.map_or(cost, |keep| keep.min(cost))),
        };
        // One row may have millions of places.
        let reads_places = |plan: &&Plan| {
            plan.has_places() || plan.placed().is_some() || self.needs() == Needs::Positions
        };
        let plan = self.plan.as_ref().filter(reads_places);
        let places = plan.map_or(0, Plan::occurrences);
        cost.max(places) >= LONG_COST_MIN || kept.is_some_and(|kept| kept > KEPT_SHORT_MAX)
    }

    /// Units that the search spends at least, where that is known: it sorts all rows. Within a smaller budget it need not begin.
    pub(in super::super) fn least_units(&self) -> u64 {
        let is_scan = self.only.is_none()
            && self.candidates.is_none()
            && self.filter.is_none()
            && self.plan.as_ref().is_none_or(Plan::is_all);
        match is_scan && self.keep.is_some_and(|keep| keep > 0) && !self.order.is_by_id() {
            true => self.cost() * self.listed_units(),
            false => 0,
        }
    }

    /// Whether only the best rows by weight are wanted, so that a threshold can leave rows out.
    pub(super) fn is_cut(&self) -> bool {
        self.order.is_by_weight() && self.keep.is_some_and(|keep| keep > 0)
    }

    /// The plan, if the pages of a part may take the way of `join.rs`: the query is an AND of words or a phrase,
    /// and weights are told by codes. Then every matching row holds the same words. `None` also
    /// with a filter or a cutoff, and for a phrase in a part with pairs, which find its rows without postings.
    pub(super) fn joins(&self, at: PartIndex) -> Option<&Plan> {
        let plan = self.plan.as_ref()?;
        if plan.has_places() && self.snapshot.part(at).has_pairs() {
            return None;
        }
        let is_simple = self.is_cut() && self.needs() == Needs::Codes && plan.counts_present();
        let is_whole = self.filter.is_none() && self.only.is_none();
        (is_simple && is_whole && plan.is_joined()).then_some(plan)
    }

    /// The words' lists in a part; the first caller opens them. Errors: `Io`, `Corrupt`.
    pub(super) fn lists(&self, at: PartIndex) -> Result<&Lists<'a>> {
        let cell = &self.lists.parts[at.at()];
        if let Some(lists) = cell.get() {
            return Ok(lists);
        }
        let lists = match &self.plan {
            Some(plan) => {
                let is_bounded = self.joins(at).is_none();
                let part = self.snapshot.part(at);
                Lists::open(plan, self.words.of_part(at), part, self.needs(), is_bounded)?
            }
            None => Lists::default(),
        };
        Ok(cell.get_or_init(|| lists))
    }

    /// The texts of a part of the snapshot.
    pub(super) fn texts<'p>(&'p self, part: &'p Part) -> Texts<'p> {
        let shape = &self.snapshot.shape;
        Texts { part, shape }
    }

    /// What the ranker must know of a row; `Constant` where nobody uses weights.
    pub(super) fn needs(&self) -> Needs {
        match &self.plan {
            Some(plan) if self.ranked => plan.weigher().needs(),
            _ => Needs::Constant,
        }
    }

    /// Offers a row to the collector with the values of its sort keys. Errors: `SearchMemory`,
    /// `NoMemory`, `Interrupted`; `Io` and `Corrupt` of the row.
    pub(super) fn offer(
        &self,
        part: PartIndex,
        row: &RowValues<'_>,
        weight: i64,
        control: &Control,
        out: &mut Out<'_>,
    ) -> Result<()> {
        control.spend(ROW_UNITS)?;
        row.weighs(weight);
        // Most rows of a long table are behind by the first key: they cost no other, and no allocation.
        let Some(keys) = self.order.values_before(row, out.collector.last()) else {
            return row.check();
        };
        let id = row.id();
        row.check()?;
        let row = FoundRow {
            part,
            doc: row.doc(),
            id,
            weight,
            keys,
        };
        out.collector.offer(row, control)
    }
}
