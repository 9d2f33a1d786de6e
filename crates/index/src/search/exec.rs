//! The executor: runs one SELECT over the parts of a snapshot (a part is a tail or a segment).
//!
//! A part is cut into *ranges*, a range into *pages* of 65,536 rows. The page is the window in
//! which rows are found, counted and weighed. Example: a segment of 300,000 rows and a tail of 900,
//! in a search that is worth several threads:
//!
//! ```text
//! range 0   segment   rows       0 .. 262,143   pages 0, 1, 2, 3
//! range 1   segment   rows 262,144 .. 299,999   page 4
//! range 2   tail      rows       0 ..     899   page 0
//! ```
//!
//! Each thread takes the next free range. By weight and with LIMIT 2, a row enters only if it
//! weighs at least the *threshold*. Every thread has its own; all share one:
//!
//! ```text
//!                                     best two rows            own threshold   shared
//! before the first page               unknown; 2 rows weigh                3        3
//!   (`Job::raise_first`)              3 or more for one word
//! thread A, range 0, after a `cut`    weight 9 id 4, 7 id 8                8        7
//! thread B, range 1, next page        not yet cut                          7        7
//! ```
//!
//! Thread A needs 8, not 7: ids rise in a segment, so a later row of weight 7 loses to id 8. Thread
//! B cannot tell by weight alone and takes rows of weight 7; ids decide when the threads' rows are
//! merged. A row below the threshold is counted, but not kept.
//!
//! Invariants:
//! - Each live row lies in one range. A row in two would be counted and returned twice.
//! - The shared threshold is at most the weight of the last row of the answer. A thread raises it
//!   only to a weight that enough rows for the answer have; any higher, and rows of the answer are
//!   lost.
//! - Every upper bound ([`super::rank`]) is at least the weight of each row that it stands for.
//! - A row that matches is counted once, before any bound drops it: totals are exact.
//! - On a page, rows are weighed by rising number, or hints are reset ([`crate::postings::Page`]).
//! - Results are merged in any order: weights are integers, and the id is the last key.
//!
//! [`Job::run`] runs one range; [`Job::settle`] ends a thread's work. `way.rs` chooses the way
//! through a page, and its head has a table of all.

mod bounds;
mod buffers;
mod by_bound;
mod by_count;
mod by_weight;
mod columns;
mod either;
mod enter;
mod entering;
mod essential;
mod eval;
mod filter;
mod first_threshold;
mod job;
mod join;
mod joined;
mod listed;
mod lists;
mod marked;
mod marks;
mod near;
mod page;
mod pairs;
mod phrase;
mod placed;
mod placed_two;
mod placed_word;
mod places;
mod range;
mod rank;
mod row_index;
mod rows;
mod score;
mod scratch;
#[cfg(test)]
mod tests;
mod texts;
mod way;
mod word_counts;

use super::collect::Collector;
use super::parallel;
use crate::control::Control;
use crate::error::Result;
use crate::interrupt::Late;

use job::{Gathered, Shared};

pub(super) use filter::Filter;
pub(super) use job::{Job, Opened};

/// Runs every range of a job, on idle threads too where the job is worth them, each thread with a
/// collector of its own. Rows that were found before an error are in the returned collector.
/// Errors: as [`Job::run`].
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
    let (mut all, merging) = (None, Late::new(&control.interrupt));
    for mut gathered in gathered {
        result = result.and(job.settle(control, &mut gathered.out()));
        match &mut all {
            None => all = Some(gathered.collector),
            Some(all) => all.merge(gathered.collector, &merging),
        }
    }
    (all.unwrap_or_else(collector), result)
}
