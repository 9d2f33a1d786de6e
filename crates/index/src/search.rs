//! Search: the rows that a SELECT finds, their weights and their order.
//!
//! A search takes five steps. Each is a value that could be sent to another machine:
//! 1. [`Terms`]: the words and patterns that a query asks the dictionaries for.
//! 2. [`Statistics`]: how many live rows hold each of them, summed over all parts.
//! 3. [`Plan`]: the tree with words by number, and an integer for each word and code.
//! 4. [`collect`]: the rows that the executor ([`exec`]) found, the best of them or their number.
//! 5. [`fetch`]: the values of the rows in the answer.
//!
//! An answer does not depend on how rows are spread over parts. Statistics are sums over all parts,
//! weights are sums of integers, and the document id is the last key of every order.

mod blocks;
mod candidates;
mod collect;
mod cutoff;
mod exec;
pub(crate) mod fetch;
pub(crate) mod group;
mod parallel;
mod plan;
mod rank;
mod scroll;
mod statistics;
mod terms;
mod values;
mod walk;

use std::sync::Arc;

use candidates::Candidates;
use collect::{Count, FoundRow, Marks, Top};
use exec::{Filter, Job, Opened};
use fetch::FoundRows;
use language::tree::Query;
use plan::Plan;
use relation::bind::BoundSelect;
use statistics::{FoundWords, Statistics};
use terms::Terms;
use walk::Walk;

use crate::answer::{Answer, Rows};
use crate::control::{Control, OnDamage};
use crate::error::{Error, Reason, Result};
use crate::interrupt::Late;
use crate::snapshot::Snapshot;
use crate::warning::Warning;

/// Words looked up in as many parts that take less than a millisecond.
const LOOK_UPS_SHORT_MAX: usize = 1_000;

/// Whether an answer may leave out the rows of a damaged segment. A count may not, nor a look-up
/// by ids or keys: its caller would take a missing row for a deleted one.
fn may_lack_rows(select: &BoundSelect<'_>) -> bool {
    !select.is_lookup() && !select.is_count
}

impl Snapshot {
    /// Answers a SELECT. `query`: the parsed text of its MATCH; `None` without MATCH.
    /// `select.limit` of `None` means every row.
    ///
    /// Errors: `SearchMemory` and `NoMemory`; `TooManyWords`; `Interrupted`, unless the reason is
    /// [`Reason::Time`] and the SELECT neither counts nor scrolls (a next page would begin behind
    /// rows that were never sent); `Io` and `Corrupt` of a segment, unless `control.on_damage` is [`OnDamage::Skip`].
    pub fn search(
        self: &Arc<Self>,
        select: &BoundSelect<'_>,
        query: Option<&Query>,
        control: &Control,
    ) -> Result<Answer> {
        self.answer(select, query, control, Reader::ByPlace)
    }

    /// As [`Snapshot::search`], for rows that are read once, one behind the other: the rows of a table by their ids take a bit each
    /// until then. Errors: the same; `Io` and `Corrupt` of an id also while the rows are read. They are not [`Rows::located`].
    pub fn stream(
        self: &Arc<Self>,
        select: &BoundSelect<'_>,
        query: Option<&Query>,
        control: &Control,
    ) -> Result<Answer> {
        self.answer(select, query, control, Reader::OneByOne)
    }

    fn answer(
        self: &Arc<Self>,
        select: &BoundSelect<'_>,
        query: Option<&Query>,
        control: &Control,
        reader: Reader,
    ) -> Result<Answer> {
        let skips = control.on_damage == OnDamage::Skip && may_lack_rows(select);
        if !skips {
            self.check_whole()?;
        }
        let mut searched = Arc::clone(self);
        let mut answer = loop {
            match search(&searched, select, query, control, reader) {
                Err(error) if skips => {
                    searched = searched.without(&error).ok_or(error)?;
                }
                answer => break answer?,
            }
        };
        if !searched.damaged().is_empty() {
            answer.warnings.extend_from_slice(searched.damaged());
            answer.partial = answer.partial.or(Some(Reason::Damage));
        }
        Ok(answer)
    }
}

/// How the rows of an answer are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reader {
    /// Any of them at any time.
    ByPlace,
    /// Each once, in order.
    OneByOne,
}

/// Rows above which an answer in the order of ids is a [`Walk`], where its reader allows it.
const WALKED_MIN: u64 = 4_096;

/// Answers a SELECT over the parts that `snapshot` has; errors as [`Snapshot::search`] without
/// skipping.
fn search(
    snapshot: &Arc<Snapshot>,
    select: &BoundSelect<'_>,
    query: Option<&Query>,
    control: &Control,
    reader: Reader,
) -> Result<Answer> {
    let mut damaged_keys = Vec::new();
    let mut job = match job(snapshot, select, query, control, &mut damaged_keys) {
        Err(Error::Interrupted {
            reason: Reason::Time,
        }) if may_be_cut(select) => return Ok(nothing_found(snapshot, select, control)),
        job => job?,
    };
    let (keep, cutoff) = bounds(select);
    job.keep = keep;
    let left = control.interrupt.units_left();
    let is_long = job.is_long() || left.is_some_and(|left| left < job.least_units());
    let how = control.profile.as_ref().map(|_| job.how());
    // Rows that are read within a budget are few.
    let is_walked = reader == Reader::OneByOne && left.is_none() && is_walk(&job, select);
    let run = || {
        control.run(is_long, || match is_walked {
            true => walked(&mut job, snapshot, control, select),
            false => found(&mut job, control, cutoff, select),
        })?
    };
    let Found { total, rows, run } = control.step("search", run, |ran| {
        let total = ran.as_ref().map_or(0, |found| found.total);
        (Some(total), how.unwrap_or_default())
    })?;
    let partial = match run {
        Ok(true) => Some(Reason::Cutoff),
        Ok(false) => None,
        Err(Error::Interrupted {
            reason: Reason::Time,
        }) if may_be_cut(select) => Some(Reason::Time),
        Err(error) => return Err(error),
    };
    let keywords = job.plan.as_ref().map_or_else(Vec::new, Plan::keywords);
    let last = select.scroll.as_ref().and_then(|page| match &rows {
        FoundOnes::Gathered(rows) => scroll::last(page, &select.order, rows),
        FoundOnes::Walked(_) => None,
    });
    let read = |rows| {
        let shown = Arc::clone(&select.shown);
        FoundRows::new(Arc::clone(snapshot), shown, rows, control)
    };
    let (rows, total_found) = match rows {
        _ if select.is_count => (Rows::of_count(select.count_row(total)), 1),
        FoundOnes::Walked(walk) => (Rows::new(read(Vec::new()).walking(walk)), total),
        FoundOnes::Gathered(rows) => {
            let rows = read(rows);
            rows.count_long()?;
            (Rows::new(rows), total)
        }
    };
    Ok(Answer {
        columns: select.headers.clone(),
        rows,
        total_found,
        keywords,
        partial,
        last,
        warnings: Vec::new(),
        damaged_keys,
    })
}

/// Whether the end of its time leaves a SELECT the rows found so far. A count would be wrong, and a next page would begin behind rows
/// that were never sent.
fn may_be_cut(select: &BoundSelect<'_>) -> bool {
    !select.is_count && select.scroll.is_none()
}

/// The answer of a SELECT whose time was over before a row was looked at.
fn nothing_found(snapshot: &Arc<Snapshot>, select: &BoundSelect<'_>, control: &Control) -> Answer {
    let shown = Arc::clone(&select.shown);
    let rows = FoundRows::new(Arc::clone(snapshot), shown, Vec::new(), control);
    Answer {
        columns: select.headers.clone(),
        rows: Rows::new(rows),
        total_found: 0,
        keywords: Vec::new(),
        partial: Some(Reason::Time),
        last: None,
        warnings: Vec::new(),
        damaged_keys: Vec::new(),
    }
}

/// What a run found.
struct Found {
    /// Number of matching rows.
    total: u64,
    rows: FoundOnes,
    /// How it ended. `Ok(true)`: the cutoff ended it.
    run: Result<bool>,
}

/// The rows of an answer.
enum FoundOnes {
    /// In their order.
    Gathered(Vec<FoundRow>),
    Walked(Box<Walk>),
}

impl Found {
    fn gathered(total: u64, rows: Vec<FoundRow>, run: Result<bool>) -> Found {
        Found {
            total,
            rows: FoundOnes::Gathered(rows),
            run,
        }
    }
}

/// Whether the rows may be a [`Walk`]: many of them, without weights, in the order of their ids.
fn is_walk(job: &Job<'_>, select: &BoundSelect<'_>) -> bool {
    job.keep.is_none_or(|keep| keep > WALKED_MIN)
        && !job.ranked
        && job.candidates.is_none()
        && job.order.is_by_id()
        && select.scroll.is_none()
        && select.options.cutoff == 0
}

/// Runs a job whose rows are walked. Errors: as those of [`found`]; `Io` and `Corrupt` of an id of a tail.
fn walked(
    job: &mut Job<'_>,
    snapshot: &Arc<Snapshot>,
    control: &Control,
    select: &BoundSelect<'_>,
) -> Result<Found> {
    (job.in_blocks, job.keep) = (true, None);
    let parts = job.snapshot.parts.len();
    let (marks, run) = exec::run(job, control, &|| Marks::new(parts));
    let total = marks.total;
    let page = (select.offset, select.limit.unwrap_or(u64::MAX));
    let walk = Walk::new(snapshot, marks, page, control)?;
    Ok(Found {
        total,
        rows: FoundOnes::Walked(Box::new(walk)),
        run: run.map(|()| false),
    })
}

/// Runs a job. The rows that were found until the time was over are sorted all the same. Errors: `Interrupted`, where the sort of the
/// rows was stopped.
fn found(
    job: &mut Job<'_>,
    control: &Control,
    cutoff: u64,
    select: &BoundSelect<'_>,
) -> Result<Found> {
    let is_cut = match cutoff::narrow(job, control, cutoff) {
        Ok(is_cut) => is_cut,
        Err(error) => return Ok(Found::gathered(0, Vec::new(), Err(error))),
    };
    if job.keep == Some(0) {
        let (count, run) = exec::run(job, control, &Count::default);
        let run = run.map(|()| is_cut);
        return Ok(Found::gathered(count.total, Vec::new(), run));
    }
    let behind = select.scroll.as_ref().and_then(|page| page.behind.as_ref());
    let (top, run) = match behind {
        None => {
            let top = || Top::new(Arc::clone(&job.order), job.keep);
            exec::run(job, control, &top)
        }
        Some(token) => scroll::run(job, control, token),
    };
    let (total, late) = (top.total, Late::new(&control.interrupt));
    let rows = match behind {
        None => top.into_sorted(select.offset, &late),
        Some(token) => scroll::behind(top, token, select, &late),
    };
    let Some(rows) = rows else {
        control.check()?;
        return Err(Error::Interrupted {
            reason: Reason::Time,
        });
    };
    Ok(Found::gathered(total, rows, run.map(|()| is_cut)))
}

/// The job of a SELECT that keeps all rows. Errors: those of [`plan`] and of [`Candidates::of`].
fn job<'s>(
    snapshot: &'s Snapshot,
    select: &'s BoundSelect<'_>,
    query: Option<&Query>,
    control: &'s Control,
    damaged_keys: &mut Vec<Warning>,
) -> Result<Job<'s>> {
    let condition = select.condition.as_ref();
    let (plan, words) = match query {
        Some(query) => {
            let found = || plan(snapshot, select, query, control);
            let (plan, words) = control.step("words", found, |found| match found {
                Ok((plan, _)) => (
                    Some(plan.words() as u64),
                    format!("{} postings", plan.postings()),
                ),
                Err(_) => (None, String::new()),
            })?;
            (Some(plan), words)
        }
        None => (None, FoundWords::default()),
    };
    let candidates = match condition {
        None => None,
        Some(condition) => {
            let find = || Candidates::of(condition, snapshot, control, damaged_keys);
            control.step("look-up", find, Candidates::told)?
        }
    };
    // Where a condition names its rows by ids or keys, looking its text up would cost more than the rows do.
    let kept = control.filters.as_deref().filter(|_| candidates.is_none());
    let filter = condition.map(|condition| Filter::new(condition, snapshot, kept));
    Ok(Job {
        snapshot,
        ranked: plan.is_some() && select.needs_weight(),
        plan,
        words,
        candidates,
        filter,
        order: Arc::clone(&select.order),
        keep: None,
        lists: Opened::new(snapshot),
        only: None,
        stops: false,
        in_blocks: false,
    })
}

/// The steps before a query runs: terms, statistics, plan. Errors: `Io`, `Corrupt`, `TooManyWords`; `SearchMemory`, `NoMemory`;
/// `Interrupted`.
fn plan(
    snapshot: &Snapshot,
    select: &BoundSelect<'_>,
    query: &Query,
    control: &Control,
) -> Result<(Plan, FoundWords)> {
    let terms = Terms::new(&query.root);
    let look_ups = snapshot.parts.len() * terms.words.texts().len();
    let is_long = !terms.patterns.is_empty() || look_ups > LOOK_UPS_SHORT_MAX;
    control.run(is_long, || {
        let (statistics, words) = Statistics::of_shard(&terms, snapshot, control)?;
        let plan = Plan::new(terms, statistics, select, &snapshot.shares, &control.memory)?;
        let words = words.of_plan(plan.texts());
        Ok((plan, words))
    })?
}

/// The number of rows to keep (`None`: all, 0: only count), and how many matching rows count
/// (`OPTION cutoff`). COUNT(*) counts every row.
fn bounds(select: &BoundSelect<'_>) -> (Option<u64>, u64) {
    let keep = match select.limit {
        _ if select.is_count => Some(0),
        Some(0) => Some(0),
        Some(limit) => select.offset.checked_add(limit),
        None => None,
    };
    match select.options.cutoff {
        cutoff if cutoff > 0 && !select.is_count => {
            (Some(keep.unwrap_or(cutoff).min(cutoff)), cutoff)
        }
        _ => (keep, u64::MAX),
    }
}
