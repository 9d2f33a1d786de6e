//! One range of a part, page by page.

use std::sync::atomic::Ordering;

use super::super::blocks::BLOCK_ROWS;
use super::super::collect::{FoundPage, FoundRow, WEIGHT_WITHOUT_MATCH};
use super::super::plan::Plan;
use super::super::values::RowValues;
use super::by_weight::WeighedRow;
use super::filter::OfPage;
use super::job::{Job, Out, Range, Shared};
use super::lists::View;
use super::page::PageRun;
use super::rows::Rows;
use super::score::Scorer;
use super::way;
use crate::control::Control;
use crate::error::Result;
use crate::part::Part;
use crate::postings::{PAGE_BITS, PAGE_ROWS};
use crate::snapshot::PartIndex;

/// Units of a page that is looked at, of a posting or row of it, and of a row that needs no look.
const PAGE_UNITS: u64 = 1_000;
const STEP_UNITS: u64 = 2;
const LISTED_UNITS: u64 = 2;
const KEY_UNITS: u64 = 6;

impl<'a> Job<'a> {
    /// Estimated steps of a page: the job's, spread evenly over all pages.
    fn steps_a_page(&self) -> u64 {
        self.cost() / self.snapshot.count().div_ceil(u64::from(PAGE_ROWS)).max(1)
    }

    /// Adds the rows of a range to `out`. The thread must call [`Job::settle`] after its last
    /// range. Errors: `Interrupted`; `out` then holds the rows found before; `Io`, `Corrupt` of a
    /// segment.
    pub(super) fn run(&self, range: &Range, shared: &Shared<'_>, out: &mut Out<'_>) -> Result<()> {
        shared.control.check()?;
        let part = self.snapshot.part(range.part);
        let everything = self.plan.as_ref().is_none_or(Plan::is_all) && self.filter.is_none();
        if everything && self.only.is_none() {
            let id_first = match part.is_sorted() {
                true => Some(part.id(range.docs.start)?),
                false => None,
            };
            return match self.is_past(id_first, shared, out) {
                true => Ok(()),
                false if self.in_blocks => self.file_range(range, part, shared.control, out),
                false => self.list_range(range, part, shared.control, out),
            };
        }
        let lists = self.lists(range.part)?;
        let plan = self
            .plan
            .as_ref()
            .filter(|plan| self.ranked && !plan.is_all());
        let joins = self.joins(range.part);
        let plan = plan.filter(|_| joins.is_none());
        let mut scorer = plan.map(|plan| Scorer::new(plan, lists, shared.control));
        let pages = range.docs.start >> PAGE_BITS..range.docs.end.div_ceil(PAGE_ROWS);
        let mut run = PageRun {
            job: self,
            id_first: None,
            shared,
            at: range.part,
            part,
            view: View::new(lists, self.texts(part), shared.control),
            filter: None,
            joins,
        };
        let is_waiting = self.is_cut() && (scorer.is_some() || joins.is_some());
        if is_waiting && part.is_sorted() && !self.snapshot.ids_rise {
            run.id_first = Some(part.id(range.docs.start)?);
        }
        let units = PAGE_UNITS + STEP_UNITS * self.steps_a_page();
        for page in pages {
            shared.control.check()?;
            run.view.turn(page as usize);
            let is_asked = self.stops || !is_waiting && out.collector.last().is_some();
            if is_asked && part.is_sorted() {
                run.id_first = Some(part.id(page << PAGE_BITS)?);
            }
            if self.is_past(run.id_first, shared, out) || !self.may_match(range.part, page) {
                continue;
            }
            shared.control.spend(units)?;
            run.filter = self.filter.as_ref();
            match run.filter.map(|filter| filter.of_page(&run.filtered())) {
                Some(OfPage::NoRow) => continue,
                Some(OfPage::EveryRow) => run.filter = None,
                Some(OfPage::Unknown) | None => {}
            }
            way::run(&run, scorer.as_mut(), out)?;
        }
        Ok(())
    }

    /// Reads the ids of the best rows by weight and offers these rows to the collector. Until then
    /// they are only in [`super::by_weight::ByWeight`]. Errors: as [`Job::run`]; rows read before
    /// are offered.
    pub(super) fn settle(&self, control: &Control, out: &mut Out<'_>) -> Result<()> {
        out.scratch.by_weight.fetch_ids(self.snapshot);
        for at in 0..out.scratch.by_weight.rows().len() {
            let WeighedRow { weight, part, doc } = out.scratch.by_weight.rows()[at];
            let row = FoundRow {
                part,
                doc,
                id: self.snapshot.part(part).id(doc)?,
                weight,
                keys: Vec::new(),
            };
            out.collector.offer(row, control)?;
        }
        Ok(())
    }

    /// Whether all rows from `id_first` on lie behind the rows wanted, in a job that stops. Also
    /// lowers the shared bound to the last id that this thread keeps.
    fn is_past(&self, id_first: Option<u64>, shared: &Shared<'_>, out: &Out<'_>) -> bool {
        if !self.stops {
            return false;
        }
        if let Some(FoundRow { id, .. }) = out.collector.last() {
            shared.id_last.fetch_min(*id, Ordering::Relaxed);
        }
        id_first.is_some_and(|id| id > shared.id_last.load(Ordering::Relaxed))
    }

    /// Whether the page can have a matching row: always, unless `Job::only` or `Job::candidates`
    /// list the rows.
    fn may_match(&self, part: PartIndex, page: u32) -> bool {
        let listed = match (&self.only, &self.candidates) {
            (Some(only), _) => Some(&only[part.at()][..]),
            (None, Some(candidates)) => candidates.of_part(part),
            (None, None) => None,
        };
        listed.is_none_or(|docs| {
            let first = docs.partition_point(|doc| doc >> PAGE_BITS < page);
            docs.get(first).is_some_and(|doc| doc >> PAGE_BITS == page)
        })
    }

    /// Gives the live rows of a range, all of which match, to the collector, page by page.
    fn file_range(
        &self,
        range: &Range,
        part: &Part,
        control: &Control,
        out: &mut Out<'_>,
    ) -> Result<()> {
        for first in range.docs.clone().step_by(PAGE_ROWS as usize) {
            control.spend(LISTED_UNITS * u64::from(PAGE_ROWS))?;
            let docs = first..range.docs.end.min(first + PAGE_ROWS);
            let lows = &mut out.scratch.page_rows;
            lows.clear();
            let live = docs.filter(|doc| part.is_live(*doc));
            lows.extend(live.map(|doc| (doc - first) as u16));
            let found = FoundPage {
                at: range.part,
                part,
                first,
                lows,
                weights: &[],
            };
            out.collector.take_page(&found, control)?;
        }
        Ok(())
    }

    /// Units of a row that is listed: where rows are sorted, its first key is worked out.
    pub(super) fn listed_units(&self) -> u64 {
        match self.order.is_by_id() || self.order.is_by_weight() {
            true => LISTED_UNITS,
            false => LISTED_UNITS + KEY_UNITS,
        }
    }

    /// Adds the live rows of a range, all of which match. Where rows lie in the order asked for, it
    /// stops after the first [`Job::keep`] rows.
    fn list_range(
        &self,
        range: &Range,
        part: &Part,
        control: &Control,
        out: &mut Out<'_>,
    ) -> Result<()> {
        out.collector.count(part.rows_live_in(range.docs.clone()));
        let is_sorted = part.is_sorted() && self.order.is_by_id();
        let wanted = self.keep.filter(|wanted| is_sorted || *wanted == 0);
        let wanted = wanted.map_or(usize::MAX, |wanted| {
            usize::try_from(wanted).unwrap_or(usize::MAX)
        });
        let (mut lows, mut entering) = (out.scratch.lows(), out.scratch.lows());
        let mut left = wanted;
        for first in range.docs.clone().step_by(BLOCK_ROWS) {
            let docs = first..range.docs.end.min(first + BLOCK_ROWS as u32);
            let live = docs.filter(|doc| part.is_live(*doc)).take(left);
            lows.clear();
            lows.extend(live.map(|doc| (doc - first) as u16));
            left -= lows.len();
            entering.clear();
            let last = out.collector.last();
            let meter = &*control.interrupt;
            self.entering(part, first, &lows, last, meter, &mut entering);
            control.spend(self.listed_units() * lows.len() as u64)?;
            for low in &entering {
                let doc = first + u32::from(*low);
                let row = RowValues::new(part, doc, &control.interrupt);
                self.offer(range.part, &row, WEIGHT_WITHOUT_MATCH, control, out)?;
            }
            if left == 0 {
                break;
            }
        }
        out.scratch.give(Rows::Few(lows));
        out.scratch.give(Rows::Few(entering));
        Ok(())
    }
}
