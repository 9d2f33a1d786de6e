//! Searches that ask for rows of all their words, or of a phrase, and rank by codes: every row that matches has the same words, and
//! its postings are known when it is found.

use super::super::plan::{Plan, Step};
use super::super::rank::{Needs, Weigher};
use super::joined::Joined;
use super::lists::View;
use super::run::PageRun;
use super::score::bit;
use super::spare::Spare;
use super::{Job, Top, wide};
use crate::error::Result;

impl Job<'_> {
    /// The plan, where the search is such a one.
    pub(super) fn joins(&self) -> Option<&Plan> {
        let plan = self.plan.as_ref()?;
        let is_simple = self.is_cut() && self.needs() == Needs::Codes && plan.counts_present();
        let is_whole = self.filter.is_none() && self.only.is_none() && plan.verified().is_none();
        (is_simple && is_whole && is_joined(plan.root())).then_some(plan)
    }
}

/// Whether the step is a phrase, or words in any field of which each is asked for.
fn is_joined(step: &Step) -> bool {
    match step {
        Step::Phrase { .. } => true,
        Step::And { required, excluded } => {
            let mut words = required.iter().map(word);
            excluded.is_empty() && !required.is_empty() && words.all(|word| word.is_some())
        }
        _ => false,
    }
}

fn word(step: &Step) -> Option<usize> {
    match step {
        Step::Word { word, fields } if fields.every => Some(*word),
        _ => None,
    }
}

/// Finds the rows of the page that match such a step.
fn find(step: &Step, view: &View<'_>, rows: &mut Joined, spare: &mut Spare) {
    match step {
        Step::Phrase { words, fields, .. } => rows.find_phrase(words, *fields, view, spare),
        Step::And { required, .. } => {
            wide::join(rows, &mut required.iter().filter_map(word), view, spare);
        }
        _ => rows.clear(),
    }
}

impl PageRun<'_, '_> {
    /// Adds the page's rows to an answer; `plan` is [`Job::joins`].
    pub(super) fn join(&self, plan: &Plan, out: &mut Top) -> Result<()> {
        let mut joined = std::mem::take(&mut out.spare.joined);
        find(plan.root(), &self.view, &mut joined, &mut out.spare);
        if !self.part.deleted.is_empty() {
            joined.retain(|rows, row| self.part.is_live(self.view.doc(rows.lows()[row])));
        }
        out.total += joined.lows().len() as u64;
        let mut picked = std::mem::take(&mut out.spare.picked);
        let mut threshold = self.threshold(out)?;
        let weights = Weights {
            weigher: plan.weigher(),
            threshold,
        };
        wide::pick_joined(&weights, &mut joined, &self.view, &mut picked);
        self.enter(&mut picked, &mut threshold, out)?;
        out.spare.picked = picked;
        out.spare.joined = joined;
        Ok(())
    }
}

/// What rows are weighed by.
pub(super) struct Weights<'p> {
    weigher: &'p Weigher,
    /// Rows of less weight are not wanted.
    threshold: i64,
}

impl Weights<'_> {
    /// Adds the rows that are not below the threshold, with their weights: each word's codes are added up in one go.
    #[inline(always)]
    pub(super) fn pick(&self, rows: &mut Joined, view: &View<'_>, out: &mut Vec<(u16, i64)>) {
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
