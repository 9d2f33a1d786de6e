//! The way through a page for an AND of words or a phrase that is weighed by codes
//! ([`Job::joins`]).
//!
//! "Join" here means the intersection of posting lists. All rows found hold the same words, and the
//! intersection has found each word's posting in each row ([`Joined`]). So a row's weight is the
//! sum of the values of these postings' codes: no list is searched a second time.
//!
//! [`Job::joins`]: super::job::Job::joins

use super::super::plan::{Plan, Step};
use super::super::rank::Weigher;
use super::enter;
use super::job::Out;
use super::joined::{self, Joined};
use super::lists::View;
use super::page::PageRun;
use super::score::bit;
use super::scratch::Scratch;
use crate::error::Result;
use crate::wide::wide;

/// Finds the rows of the page that match a phrase or an AND of words; no row for any other step.
fn find(step: &Step, view: &View<'_>, rows: &mut Joined, scratch: &mut Scratch) {
    match step {
        Step::Phrase { words, fields, .. } => rows.find_phrase(words, *fields, view, scratch),
        Step::And { required, .. } => {
            joined::join(
                rows,
                &mut required.iter().filter_map(Step::word),
                view,
                scratch,
            );
        }
        _ => rows.clear(),
    }
}

/// Counts the page's matching rows and takes those that reach the threshold. `plan` is the
/// value of [`Job::joins`](super::job::Job::joins).
pub(super) fn join(on: &PageRun<'_, '_>, plan: &Plan, out: &mut Out<'_>) -> Result<()> {
    let mut joined = std::mem::take(&mut out.scratch.joined);
    find(plan.root(), &on.view, &mut joined, out.scratch);
    if !on.part.deleted.is_empty() {
        joined.retain(|rows, row| on.part.is_live(on.view.doc(rows.lows()[row])));
    }
    out.collector.count(joined.lows().len() as u64);
    let mut weighed = std::mem::take(&mut out.scratch.weighed);
    let mut threshold = enter::threshold(on, out)?;
    let weights = Weights {
        weigher: plan.weigher(),
        threshold,
    };
    weigh(&weights, &mut joined, &on.view, &mut weighed);
    enter::enter(on, &mut weighed, &mut threshold, out)?;
    out.scratch.weighed = weighed;
    out.scratch.joined = joined;
    Ok(())
}

/// A ranker and the threshold.
pub(super) struct Weights<'p> {
    weigher: &'p Weigher,
    /// Rows of less weight are dropped.
    threshold: i64,
}

impl Weights<'_> {
    /// Adds the rows that reach the threshold, with their weights, to `out`. Each word's values are
    /// added to all rows before the next word's.
    #[inline(always)]
    pub(super) fn weigh(&self, rows: &mut Joined, view: &View<'_>, out: &mut Vec<(u16, i64)>) {
        let mut sums = std::mem::take(&mut rows.sums);
        sums.clear();
        sums.resize(rows.lows().len(), 0);
        for (at, word) in rows.words().iter().enumerate() {
            let codes = view.word(*word).codes;
            let table = self.weigher.table(*word);
            for (sum, posting) in sums.iter_mut().zip(rows.postings(at)) {
                let posting = usize::from(*posting);
                let Some(code) = codes.get(posting).copied() else {
                    continue;
                };
                *sum += match code >> 5 {
                    0 => self.weigher.value(*word, code, view.hits(*word, posting)),
                    _ => i64::from(table[usize::from(code)]),
                };
            }
        }
        let words = rows.words().iter();
        let words = words.fold(0, |words, word| words | bit(*word as u32));
        let least = match self.threshold {
            i64::MIN => i64::MIN,
            threshold => self.weigher.least_sum(words, threshold),
        };
        for (low, sum) in rows.lows().iter().zip(&sums) {
            if *sum >= least {
                let weight = self.weigher.bound(words, *sum);
                if weight >= self.threshold {
                    out.push((*low, weight));
                }
            }
        }
        rows.sums = sums;
    }
}

wide! {
    fn weigh(weights: &Weights<'_>, rows: &mut Joined, view: &View<'_>, out: &mut Vec<(u16, i64)>) = Weights::weigh
}
