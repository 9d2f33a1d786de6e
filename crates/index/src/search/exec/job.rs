//! A search as its ranges share it: nobody changes it while they run.

use std::ops;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use query::rows::Order;

use super::super::collect::{Collector, FoundRow};
use super::super::plan::Plan;
use super::super::rank::Needs;
use super::super::statistics::FoundWords;
use super::super::values::RowValues;
use super::filter::Filter;
use super::lists::Lists;
use super::scratch::{Scratch, ThreadScratch};
use crate::control::{Control, Memory};
use crate::error::Result;
use crate::postings::PAGE_ROWS;
use crate::snapshot::{PartIndex, Snapshot};

/// Rows of a range where threads may help, but for the last of a part.
const RANGE_ROWS: u32 = 4 * PAGE_ROWS;

/// One SELECT.
pub(in super::super) struct Job<'a> {
    pub(in super::super) snapshot: &'a Snapshot,
    pub(in super::super) plan: Option<Plan>,
    /// The plan's words in the parts.
    pub(in super::super) words: FoundWords,
    /// Whether anybody looks at weights.
    pub(in super::super) ranked: bool,
    pub(in super::super) filter: Option<Filter<'a>>,
    /// Where the filter can be true for these ids only: sorted, each once.
    pub(in super::super) ids: Option<&'a [u64]>,
    pub(in super::super) order: Arc<Order>,
    /// Rows wanted, `None` for all.
    pub(in super::super) keep: Option<u64>,
    pub(in super::super) lists: Opened<'a>,
    /// By part: the rows that match, rising, where that is known already. Then there is no condition and there are no `ids`.
    pub(in super::super) only: Option<Vec<Vec<u32>>>,
    /// Only the first rows by id are wanted, and nobody asks how many there are: pages behind them may be left out.
    pub(in super::super) stops: bool,
}

/// The words' lists by part, as far as somebody has opened them.
pub(in super::super) struct Opened<'a> {
    parts: Vec<OnceLock<Lists<'a>>>,
}

impl Opened<'_> {
    /// None yet.
    pub(in super::super) fn new(snapshot: &Snapshot) -> Opened<'_> {
        Opened {
            parts: snapshot.parts.iter().map(|_| OnceLock::new()).collect(),
        }
    }
}

/// Where the rows of a thread go, and the memory that it works in.
pub(in super::super) struct Gathered<C> {
    pub(in super::super) collector: C,
    scratch: ThreadScratch,
}

/// The same, as ranges see it.
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

/// Some neighbouring rows of one part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) part: PartIndex,
    pub(super) docs: ops::Range<u32>,
}

/// What the ranges of one job tell each other while they run.
pub(super) struct Shared<'a> {
    /// Who may stop it.
    pub(super) control: &'a Control,
    /// Rows of less weight than this are not wanted: as many as are kept weigh at least that.
    threshold: AtomicI64,
    /// Rows of higher ids are not wanted, where a job stops at all.
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

    /// As many rows as are kept weigh at least this.
    pub(super) fn raise(&self, threshold: i64) {
        self.threshold.fetch_max(threshold, Ordering::Relaxed);
    }
}

impl<'a> Job<'a> {
    /// The ranges that make up the snapshot, each row in one of them: the parts, cut where several threads may take them. Run
    /// in this order they end soonest.
    pub(super) fn ranges(&self, is_small: bool) -> Vec<Range> {
        let rows_most = if is_small { u32::MAX } else { RANGE_ROWS };
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

    /// Postings and rows that are looked at, roughly: whether threads are worth waking.
    pub(super) fn cost(&self) -> u64 {
        let rows = self.snapshot.count();
        if let Some(only) = &self.only {
            return only.iter().map(|docs| docs.len() as u64).sum();
        }
        match (&self.ids, &self.plan) {
            (Some(ids), _) => ids.len() as u64,
            (None, Some(plan)) if !plan.is_all() => plan.postings(),
            _ if self.filter.is_none() && self.keep.is_some() && self.order.is_by_id() => 0,
            _ => rows,
        }
    }

    /// Whether rows are wanted by weight, and not all of them.
    pub(super) fn is_cut(&self) -> bool {
        self.order.is_by_weight() && self.keep.is_some_and(|keep| keep > 0)
    }

    /// The plan, where every row that matches has the same words and its weight is that of their codes.
    pub(super) fn joins(&self) -> Option<&Plan> {
        let plan = self.plan.as_ref()?;
        let is_simple = self.is_cut() && self.needs() == Needs::Codes && plan.counts_present();
        let is_whole = self.filter.is_none() && self.only.is_none() && plan.verified().is_none();
        (is_simple && is_whole && plan.is_joined()).then_some(plan)
    }

    /// The words' lists in a part, opened by who comes first. Errors: `Io`, `Corrupt`.
    pub(super) fn lists(&self, at: PartIndex) -> Result<&Lists<'a>> {
        let cell = &self.lists.parts[at.at()];
        if let Some(lists) = cell.get() {
            return Ok(lists);
        }
        let lists = match &self.plan {
            Some(plan) => {
                let is_bounded = self.joins().is_none();
                let part = self.snapshot.part(at);
                Lists::open(plan, self.words.of_part(at), part, self.needs(), is_bounded)?
            }
            None => Lists::default(),
        };
        Ok(cell.get_or_init(|| lists))
    }

    /// What is to be known of a row for its weight.
    pub(super) fn needs(&self) -> Needs {
        match &self.plan {
            Some(plan) if self.ranked => plan.weigher().needs(),
            _ => Needs::Constant,
        }
    }

    pub(super) fn offer(
        &self,
        part: PartIndex,
        row: &RowValues<'_>,
        weight: i64,
        memory: &Memory,
        out: &mut Out<'_>,
    ) -> Result<()> {
        let keys = self.order.values(&|slot| row.value(slot));
        let id = row.id();
        row.check()?;
        let row = FoundRow {
            part,
            doc: row.doc(),
            id,
            weight,
            keys,
        };
        out.collector.offer(row, memory)
    }
}
