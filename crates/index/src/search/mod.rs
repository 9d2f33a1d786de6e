//! The executor: which rows a SELECT finds, their weights, their order.
//!
//! Nothing of an answer depends on how rows are spread over parts: statistics are sums over all parts, weights are integer sums of one integer for
//! each word and number of occurrences, and the document id is the last key of every order.

mod best;
#[cfg(test)]
mod cursor;
mod cutoff;
mod exec;
mod ids;
mod output;
mod parallel;
mod plan;
mod rank;
mod values;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use query::options::Options;
use query::request::{Item, Output, Select};
use query::tree::Query;

use crate::answer::{Answer, Rows};
use crate::control::{Control, Reason};
use crate::error::{Error, Result};
use crate::snapshot::Snapshot;
use best::Order;
use exec::{Filter, Job, Opened, Shared, Top};
use output::Shown;
use plan::Plan;

pub(crate) use output::FoundRows;
pub(crate) use rank::Shares;

/// Where a cursor stands that has no more rows.
#[cfg(test)]
pub(crate) const END: u32 = u32::MAX;

/// Weight of every row of a SELECT without MATCH, as in Sphinx.
const WEIGHT_WITHOUT_MATCH: i64 = 1;

/// Whether an answer without some rows is better than none: not where rows are counted, nor where their ids are named, since
/// whoever misses one there takes it for gone.
pub(crate) fn may_lack_rows(select: &Select, query: Option<&Query>) -> bool {
    let is_count = |item: &Item| {
        matches!(
            item,
            Item::Value {
                what: Output::Count,
                ..
            }
        )
    };
    let names_ids = query.is_none() && select.filter.as_ref().and_then(ids::of).is_some();
    !names_ids && !select.items.iter().any(is_count)
}

/// Answers a SELECT; see [`Snapshot::search`].
pub(crate) fn search(
    snapshot: &Arc<Snapshot>,
    select: &Select,
    query: Option<&Query>,
    control: &Control,
) -> Result<Answer> {
    let options = Options::parse(&select.options).map_err(Error::Option)?;
    let shape = &snapshot.shape;
    let mut shown = Shown::new(select, shape)?;
    let order = Order::new(select, query.is_some(), shape)?;
    let filter = select
        .filter
        .as_ref()
        .map(|filter| Filter::new(filter, snapshot, control.filters.as_deref()))
        .transpose()?;
    let plan = query
        .map(|query| Plan::new(&query.root, snapshot, &options))
        .transpose()?;
    let (keep, cutoff) = bounds(select, &options, shown.is_count);
    let mut job = Job {
        snapshot,
        ranked: plan.is_some() && (shown.needs_weight() || order.needs_weight()),
        plan,
        ids: select.filter.as_ref().and_then(ids::of),
        filter,
        order: Arc::new(order),
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
        }) if !shown.is_count => Some(Reason::Time),
        Err(error) => return Err(error),
    };
    let keywords = job.plan.as_ref().map_or_else(Vec::new, Plan::keywords);
    let total = top.total;
    let columns = std::mem::take(&mut shown.columns);
    let (rows, total_found) = if shown.is_count {
        (Rows::of_count(shown.count_row(total, select)), 1)
    } else {
        let found = top.into_sorted(select.offset);
        (
            Rows::new(FoundRows::new(Arc::clone(snapshot), shown, found, control)),
            total,
        )
    };
    Ok(Answer {
        columns,
        rows,
        total_found,
        keywords,
        partial,
        warnings: Vec::new(),
    })
}

/// How many rows are wanted, `None` for all, and how many matches count. A count counts everything.
fn bounds(select: &Select, options: &Options, is_count: bool) -> (Option<u64>, u64) {
    let keep = match select.limit {
        _ if is_count => Some(0),
        Some(0) => Some(0),
        Some(limit) => select.offset.checked_add(limit),
        None => None,
    };
    match options.cutoff {
        cutoff if cutoff > 0 && !is_count => (Some(keep.unwrap_or(cutoff).min(cutoff)), cutoff),
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

/// As the engine and its readers see an unknown column.
fn unknown_column(name: &str) -> Error {
    Error::UnknownColumn {
        name: name.to_owned(),
    }
}
