//! The executor: one SELECT over the parts of a snapshot, cut into ranges of rows.
//!
//! A [`Job`] is shared by all ranges and not changed. Each range is run on its own, by any thread, and its rows go to a
//! [`Collector`]; collectors are merged in any order and the answer is the same, since weights are integers and the id is the last key
//! of every order.

mod buffers;
mod by_weight;
mod either;
mod enter;
mod eval;
mod filter;
mod first_threshold;
mod job;
mod join;
mod joined;
mod lists;
mod page;
mod phrase;
mod range;
mod rows;
mod score;
mod scratch;
#[cfg(test)]
mod tests;
mod text;
mod word_counts;

use super::collect::Collector;
use super::parallel;
use crate::control::Control;
use crate::error::Result;

use job::{Gathered, Shared};

pub(super) use filter::Filter;
pub(super) use job::{Job, Opened};

/// Runs every range of a job, on as many threads as are idle and worth it, each with a collector of its own. Rows that were found
/// before an error are collected too. Errors: as [`Job::run`].
pub(super) fn run<C: Collector>(
    job: &Job<'_>,
    control: &Control,
    collector: &(dyn Fn() -> C + Sync),
) -> (C, Result<()>) {
    let cost = job.cost();
    let (shared, ranges) = (Shared::new(control), job.ranges(cost < control.helped_from));
    if let Err(error) = job.raise_first(&shared) {
        return (collector(), Err(error));
    }
    let start = || Gathered::new(collector());
    let work = |range: usize, gathered: &mut Gathered<C>| {
        job.run(&ranges[range], &shared, &mut gathered.out())
    };
    let (gathered, mut result) = parallel::run(control, ranges.len(), cost, &start, &work);
    let mut all = None;
    for mut gathered in gathered {
        result = result.and(job.settle(&control.memory, &mut gathered.out()));
        match &mut all {
            None => all = Some(gathered.collector),
            Some(all) => all.merge(gathered.collector),
        }
    }
    (all.unwrap_or_else(collector), result)
}
