//! One page of one part: finds the rows that match and counts them. `way.rs` has the ways through it.

use super::super::plan::{Plan, Step};
use super::eval;
use super::filter::{Filter, FilteredPage};
use super::job::{Job, Out, Shared};
use super::lists::View;
use super::rows::Rows;
use super::scratch::Scratch;
use crate::error::Result;
use crate::part::Part;
use crate::postings::{Bitmap, PAGE_BITS};
use crate::snapshot::PartIndex;

/// One page, and what a job needs to run it.
pub(super) struct PageRun<'r, 'a> {
    pub(super) job: &'r Job<'a>,
    pub(super) shared: &'r Shared<'r>,
    pub(super) at: PartIndex,
    pub(super) part: &'r Part,
    pub(super) view: View<'r>,
    /// A lower bound of the ids of the page's rows; `None` where ids do not rise in the part, or no
    /// comparison needs one.
    pub(super) id_first: Option<u64>,
    /// The job's condition; `None` also where it accepts each row of the page.
    pub(super) filter: Option<&'r Filter<'r>>,
    /// The value of [`Job::joins`].
    pub(super) joins: Option<&'r Plan>,
}

impl PageRun<'_, '_> {
    /// Adds the number of rows in `matched` that are live and accepted by the filter to the total,
    /// and returns these rows.
    pub(super) fn total(&self, matched: Box<Bitmap>, out: &mut Out<'_>) -> Result<Rows> {
        let mut matched = Rows::Many(matched);
        self.drop_deleted(&mut matched);
        self.drop_refused(&mut matched, out.scratch)?;
        out.collector.count(matched.len() as u64);
        Ok(matched)
    }

    /// Finds the rows that match, adds their number to the total, and returns them.
    pub(super) fn counted(&self, out: &mut Out<'_>) -> Result<Rows> {
        let job = self.job;
        if let Some(only) = &job.only {
            let rows = eval::listed(&only[self.at.at()], self.view.page, out.scratch);
            out.collector.count(rows.len() as u64);
            return Ok(rows);
        }
        let step = job.plan.as_ref().map_or(&Step::All, Plan::root);
        let candidates = job.candidates.as_ref();
        if let (Step::All, None, Some(filter)) = (step, candidates, self.filter)
            && let Some(mut rows) = filter.kept_page(&self.filtered(), out.scratch)
        {
            self.drop_deleted(&mut rows);
            out.collector.count(rows.len() as u64);
            return Ok(rows);
        }
        let mut rows = match candidates.and_then(|of| of.of_part(self.at)) {
            Some(docs) => {
                let mut rows = eval::listed(docs, self.view.page, out.scratch);
                if !rows.is_empty() && !matches!(step, Step::All) {
                    let matched = eval::matches(step, &self.view, out.scratch);
                    rows.intersect(&matched, true);
                    out.scratch.give(matched);
                }
                rows
            }
            None => eval::matches(step, &self.view, out.scratch),
        };
        if let Some(failure) = out.scratch.places.failure.take() {
            return Err(failure);
        }
        // A step that was stopped gave some of its rows.
        self.shared.control.check()?;
        self.drop_deleted(&mut rows);
        self.drop_refused(&mut rows, out.scratch)?;
        out.collector.count(rows.len() as u64);
        Ok(rows)
    }

    fn drop_deleted(&self, rows: &mut Rows) {
        if self.part.deleted.is_empty() {
            return;
        }
        let first = self.view.doc(0);
        match rows {
            Rows::Few(lows) => {
                let first = self.view.page;
                lows.retain(|low| {
                    self.part
                        .is_live((first as u32) << PAGE_BITS | u32::from(*low))
                });
            }
            Rows::Many(bitmap) => {
                let last = first | u32::from(u16::MAX);
                for doc in self.part.deleted.range(first..=last) {
                    bitmap[usize::from(doc as u16 >> 6)] &= !(1 << (doc & 63));
                }
            }
        }
    }

    /// Drops the rows that the filter refuses.
    fn drop_refused(&self, rows: &mut Rows, scratch: &mut Scratch) -> Result<()> {
        let Some(filter) = self.filter else {
            return Ok(());
        };
        filter.narrow(&self.filtered(), rows, scratch)
    }

    pub(super) fn filtered(&self) -> FilteredPage<'_> {
        FilteredPage {
            at: self.at,
            part: self.part,
            page: self.view.page,
            rows: self.view.rows,
            control: self.shared.control,
        }
    }
}
