//! The executor: one SELECT over the parts of a snapshot, cut into ranges of rows.
//!
//! A [`Job`] is what all ranges share and nobody changes. Each range is run on its own, by any thread, into a [`Top`]; tops are
//! merged in any order and the answer is the same, since weights are integers and the id is the last key of every order.

mod any;
mod count;
mod eval;
mod filter;
mod join;
mod joined;
mod lists;
mod phrase;
mod rows;
mod run;
mod score;
mod seed;
#[cfg(test)]
mod slow;
mod spare;
#[cfg(test)]
mod tests;
mod top;
mod waiting;
mod wide;

use std::ops;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use query::analysis::Words;
use query::rows::Order;
use query::value::Value;
use query::verify::Verifier;
use smallvec::SmallVec;

use super::WEIGHT_WITHOUT_MATCH;
use super::fetch::Found;
use super::plan::Plan;
use super::rank::{Hit, Needs, Occurrences};
use super::values::RowValues;
use crate::control::{Control, Memory};
use crate::error::Result;
use crate::part::Part;
use crate::postings::{PAGE_BITS, PAGE_ROWS, code, length_class};
use crate::snapshot::Snapshot;

use lists::{Lists, View};
use run::PageRun;
use score::Scorer;
use waiting::Row;

pub(super) use filter::Filter;
pub(super) use top::Top;

/// Rows of a range where threads may help, but for the last of a part.
const RANGE_ROWS: u32 = 4 * PAGE_ROWS;

/// One for each word of a query. Few queries have more words: then no memory is asked for, which would be as dear as the work in a
/// small segment.
type ByWord<T> = SmallVec<[T; 8]>;

/// One SELECT.
pub(super) struct Job<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) plan: Option<Plan>,
    /// Whether anybody looks at weights.
    pub(super) ranked: bool,
    pub(super) filter: Option<Filter<'a>>,
    /// Where the filter can be true for these ids only: sorted, each once.
    pub(super) ids: Option<&'a [u64]>,
    pub(super) order: Arc<Order>,
    /// Rows wanted, `None` for all.
    pub(super) keep: Option<u64>,
    pub(super) lists: Opened<'a>,
    /// By part: the rows that match, rising, where that is known already. Then there is no condition and there are no `ids`.
    pub(super) only: Option<Vec<Vec<u32>>>,
    /// Only the first rows by id are wanted, and nobody asks how many there are: pages behind them may be left out.
    pub(super) stops: bool,
}

/// The words' lists by part, as far as somebody has opened them.
pub(super) struct Opened<'a> {
    parts: Vec<OnceLock<Lists<'a>>>,
}

impl Opened<'_> {
    /// None yet.
    pub(super) fn new(snapshot: &Snapshot) -> Opened<'_> {
        Opened {
            parts: snapshot.parts.iter().map(|_| OnceLock::new()).collect(),
        }
    }
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
    /// Rows of higher ids are not wanted, where a job stops at all.
    id_last: AtomicU64,
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
        for (part, rows) in self
            .snapshot
            .parts
            .iter()
            .map(|part| part.rows())
            .enumerate()
        {
            let starts = (0..rows).step_by(rows_most as usize);
            ranges.extend(starts.map(|start| Range {
                part,
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

    /// An empty answer, for [`Job::run`] to add to.
    pub(super) fn top(&self) -> Top {
        Top::new(Arc::clone(&self.order), self.keep)
    }

    /// Adds the rows of a range; after the last one [`Job::settle`] is due. Errors: `Interrupted`, `out` then holds what was
    /// found before; `Io`, `Corrupt` of a segment.
    pub(super) fn run(&self, range: &Range, shared: &Shared<'_>, out: &mut Top) -> Result<()> {
        shared.control.check()?;
        let part = &self.snapshot.parts[range.part];
        let everything = self.plan.as_ref().is_none_or(Plan::is_all) && self.filter.is_none();
        if everything && self.only.is_none() {
            let id_first = match part.is_sorted() {
                true => Some(part.id(range.docs.start)?),
                false => None,
            };
            return match self.is_past(id_first, shared, out) {
                true => Ok(()),
                false => self.list_range(range, part, &shared.control.memory, out),
            };
        }
        let lists = self.lists(range.part)?;
        let plan = self
            .plan
            .as_ref()
            .filter(|plan| self.ranked && !plan.is_all());
        let joins = self.joins();
        let plan = plan.filter(|_| joins.is_none());
        let mut scorer = plan.map(|plan| Scorer::new(plan, lists));
        let pages = range.docs.start >> PAGE_BITS..range.docs.end.div_ceil(PAGE_ROWS);
        let mut run = PageRun {
            job: self,
            id_first: None,
            shared,
            at: range.part,
            part,
            view: View::new(lists, part.rows()),
        };
        let is_waiting = self.is_cut() && (scorer.is_some() || joins.is_some());
        if is_waiting && part.is_sorted() && !self.snapshot.ids_rise {
            run.id_first = Some(part.id(range.docs.start)?);
        }
        for page in pages {
            shared.control.check()?;
            run.view.turn(page as usize);
            let is_asked = self.stops || !is_waiting && out.best.last().is_some();
            if is_asked && part.is_sorted() {
                run.id_first = Some(part.id(page << PAGE_BITS)?);
            }
            if self.is_past(run.id_first, shared, out) || !self.may_match(range.part, page) {
                continue;
            }
            match joins {
                Some(plan) => run.join(plan, out)?,
                None => run.run(scorer.as_mut(), out)?,
            }
        }
        Ok(())
    }

    /// Reads the ids of the best rows that ranges have found, which from then on stand in `out` as all others. Errors: as
    /// [`Job::run`]; rows that were read before are there.
    pub(super) fn settle(&self, memory: &Memory, out: &mut Top) -> Result<()> {
        out.spare.waiting.fetch_ids(&self.snapshot.parts);
        for at in 0..out.spare.waiting.rows().len() {
            let Row { weight, part, doc } = out.spare.waiting.rows()[at];
            let found = Found {
                part,
                doc,
                id: self.snapshot.parts[part as usize].id(doc)?,
                weight,
                keys: Vec::new(),
            };
            out.offer(found, memory)?;
        }
        Ok(())
    }

    /// Whether no row of a page, whose first has this id, is among those wanted; tells others what this thread knows of that.
    fn is_past(&self, id_first: Option<u64>, shared: &Shared<'_>, out: &Top) -> bool {
        if !self.stops {
            return false;
        }
        if let Some(Found { id, .. }) = out.best.last() {
            shared.id_last.fetch_min(*id, Ordering::Relaxed);
        }
        id_first.is_some_and(|id| id > shared.id_last.load(Ordering::Relaxed))
    }

    /// Whether a page has rows that match, as far as is known.
    fn may_match(&self, part: usize, page: u32) -> bool {
        self.only.as_ref().is_none_or(|only| {
            let docs = &only[part];
            let first = docs.partition_point(|doc| doc >> PAGE_BITS < page);
            docs.get(first).is_some_and(|doc| doc >> PAGE_BITS == page)
        })
    }

    /// The words' lists in a part, opened by who comes first. Errors: `Io`, `Corrupt`.
    fn lists(&self, at: usize) -> Result<&Lists<'a>> {
        let cell = &self.lists.parts[at];
        if let Some(lists) = cell.get() {
            return Ok(lists);
        }
        let lists = match &self.plan {
            Some(plan) => {
                let is_bounded = self.joins().is_none();
                let part = &self.snapshot.parts[at];
                Lists::open(plan, at, part, self.needs(), is_bounded)?
            }
            None => Lists::default(),
        };
        Ok(cell.get_or_init(|| lists))
    }

    /// What is to be known of a row for its weight.
    fn needs(&self) -> Needs {
        match &self.plan {
            Some(plan) if self.ranked => plan.weigher().needs(),
            _ => Needs::Constant,
        }
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

    /// Whether the row's text satisfies what no cursor decides: it is analysed again.
    fn verifies(&self, row: &RowValues<'_>) -> Result<bool> {
        let Some(verifier) = self.plan.as_ref().and_then(Plan::verified) else {
            return Ok(true);
        };
        Ok(verifier.matches(&self.words(row)?))
    }

    /// The weight of a row that matches a tree which is decided on its text. `told` is made anew. Errors: as [`Job::words`].
    fn weigh_text(
        &self,
        plan: &Plan,
        verifier: &Verifier,
        row: &RowValues<'_>,
        told: &mut Occurrences,
    ) -> Result<i64> {
        let (weigher, words) = (plan.weigher(), self.words(row)?);
        let tally = verifier.tally(&words);
        told.clear();
        for (text, field, position) in &tally.words {
            if let Some(number) = plan.number(text) {
                told.add_places(number, std::iter::once(at(*field, *position)));
            }
        }
        for joined in &tally.joined {
            told.add_joined(Hit {
                at: at(joined.field, joined.position),
                word: plan.words() as u32 + joined.place,
                place: joined.place,
                span: joined.span,
                weight: joined.weight,
            });
        }
        let fields = match weigher.takes_found_fields() {
            true => tally.fields,
            false => told.placed(),
        };
        let mut hits = vec![0; plan.words()];
        for number in words.iter().filter_map(|(text, ..)| plan.number(text)) {
            hits[number] += 1;
        }
        for number in tally.rare.iter().filter_map(|text| plan.number(text)) {
            told.add(number, hits[number], fields);
        }
        let length_class = length_class(words.len() as u32); // fewer than bytes of a text
        let value = |(word, hits)| weigher.value(word, code(hits, length_class), hits);
        let sum = told.hits().map(value).sum();
        Ok(weigher.weigh(told, sum, &mut |field| last_position(&words, field)))
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

    fn offer(
        &self,
        part: usize,
        row: &RowValues<'_>,
        weight: i64,
        memory: &Memory,
        out: &mut Top,
    ) -> Result<()> {
        let keys = self.order.values(&|slot| row.value(slot));
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

/// A place as postings have it.
fn at(field: u8, position: u32) -> u32 {
    u32::from(field) << 24 | position
}

/// The last position of a field; 0 of an empty one.
fn last_position(words: &Words, field: u8) -> u32 {
    let of_field = words.iter().filter(|(_, other, _)| *other == field);
    of_field.map(|(_, _, position)| position).max().unwrap_or(0)
}
