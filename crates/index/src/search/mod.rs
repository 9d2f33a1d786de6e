//! The executor: which rows a SELECT finds, their weights, their order.
//!
//! Nothing of an answer depends on how rows are spread over parts: statistics are sums over all parts, weights are integer sums of one integer for
//! each word and number of occurrences, and the document id is the last key of every order.

#[cfg(test)]
mod cursor;
mod cutoff;
mod exec;
mod fetch;
mod parallel;
mod plan;
mod rank;
mod values;

use std::sync::Arc;

use query::bind::BoundSelect;
use query::tree::Query;

use crate::answer::{Answer, Rows};
use crate::control::{Control, Reason};
use crate::error::{Error, Result};
use crate::snapshot::Snapshot;
use exec::{Filter, Job, Opened, Shared, Top};
use plan::Plan;

pub(crate) use fetch::FoundRows;
pub(crate) use rank::Shares;

/// Where a cursor stands that has no more rows.
#[cfg(test)]
pub(crate) const END: u32 = u32::MAX;

/// Weight of every row of a SELECT without MATCH, as in Sphinx.
const WEIGHT_WITHOUT_MATCH: i64 = 1;

/// Whether an answer without some rows is better than none: not where rows are counted, nor where their ids are named, since
/// whoever misses one there takes it for gone.
pub(crate) fn may_lack_rows(select: &BoundSelect<'_>) -> bool {
    !select.is_lookup() && !select.is_count
}

/// Answers a SELECT; see [`Snapshot::search`].
pub(crate) fn search(
    snapshot: &Arc<Snapshot>,
    select: &BoundSelect<'_>,
    query: Option<&Query>,
    control: &Control,
) -> Result<Answer> {
    let condition = select.condition.as_ref();
    let plan = query
        .map(|query| Plan::new(&query.root, snapshot, select))
        .transpose()?;
    let (keep, cutoff) = bounds(select);
    let mut job = Job {
        snapshot,
        ranked: plan.is_some() && select.needs_weight(),
        plan,
        ids: condition.and_then(|condition| Some(&condition.ids.as_ref()?.ids[..])),
        filter: condition
            .map(|condition| Filter::new(condition, snapshot, control.filters.as_deref())),
        order: Arc::clone(&select.order),
        keep,
        lists: Opened::new(snapshot),
        only: None,
        stops: false,
    };
    let is_cut = cutoff::narrow(&mut job, control, cutoff);
    let (top, run) = match &is_cut {
        Ok(_) => run(&job, control),
        Err(_) => (job.top(), Ok(())),
    };
    let partial = match run.and(is_cut) {
        Ok(true) => Some(Reason::Cutoff),
        Ok(false) => None,
        Err(Error::Interrupted {
            reason: Reason::Time,
        }) if !select.is_count => Some(Reason::Time),
        Err(error) => return Err(error),
    };
    let keywords = job.plan.as_ref().map_or_else(Vec::new, Plan::keywords);
    let total = top.total;
    let (rows, total_found) = if select.is_count {
        (Rows::of_count(select.count_row(total)), 1)
    } else {
        let found = top.into_sorted(select.offset);
        let shown = Arc::clone(&select.shown);
        let rows = FoundRows::new(Arc::clone(snapshot), shown, found, control);
        (Rows::new(rows), total)
    };
    Ok(Answer {
        columns: select.headers.clone(),
        rows,
        total_found,
        keywords,
        partial,
        warnings: Vec::new(),
    })
}

/// How many rows are wanted, `None` for all, and how many matches count. A count counts everything.
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

/// Runs every range of a job, on as many threads as are idle and worth it. What was found before an error is there too. Errors: as
/// [`Job::run`].
fn run(job: &Job<'_>, control: &Control) -> (Top, Result<()>) {
    let cost = job.cost();
    let (shared, ranges) = (Shared::new(control), job.ranges(cost < control.helped_from));
    if let Err(error) = job.seed(&shared) {
        return (job.top(), Err(error));
    }
    let work = |range: usize, top: &mut Top| job.run(&ranges[range], &shared, top);
    let (mut tops, mut result) = parallel::run(control, ranges.len(), cost, &|| job.top(), &work);
    for top in &mut tops {
        result = result.and(job.settle(&control.memory, top));
    }
    let mut tops = tops.into_iter();
    let mut top = tops.next().unwrap_or_else(|| job.top());
    tops.for_each(|other| top.merge(other));
    (top, result)
}
