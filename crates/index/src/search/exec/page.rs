//! One page of one part: finds its matching rows, counts them, and offers those that can enter.
//!
//! Three ways lead through a page; each counts exactly the same rows:
//! - An OR of words, best rows by weight: `either`, or `either_by_count` where codes alone do not
//!   tell weights. Most rows are counted in bitmaps, behind the filter, and never weighed.
//! - Any other tree: `eval::matches` gives the rows, then the filter and the text drop some.
//! - An AND of words or a phrase, weighed by codes: [`PageRun::join`], which does not come through
//!   [`PageRun::run`].

use super::super::blocks::BLOCK_ROWS;
use super::super::collect::{FoundPage, FoundRow, WEIGHT_WITHOUT_MATCH};
use super::super::plan::{Plan, Step};
use super::super::values::RowValues;
use super::bounds::{Bounded, Bounds};
use super::either::{self, Essential, Split};
use super::eval;
use super::filter::{Filter, FilteredPage};
use super::job::{Job, Out, Shared};
use super::lists::{ByWord, View};
use super::rows::{FEW, Rows, RowsRef};
use super::score::{ManyRows, Scorer, WordsOfRows};
use super::scratch::Scratch;
use super::word_counts::Counted;
use crate::error::Result;
use crate::part::Part;
use crate::postings::{Bitmap, PAGE_BITS, Page};
use crate::snapshot::PartIndex;
use crate::wide::wide;

/// Most words of an OR that `either` takes: sets of words are bits of a `u64`.
pub(super) const EITHER_WORDS: usize = 64;

/// Rows of a page whose ids are fetched from memory together.
const IDS_AHEAD: usize = 256;

/// Rows from which on the pairs of the page are read, to read the places of fewer rows.
const PAIRS_FROM: usize = 128;

/// Rows that are gathered before they are weighed; after each batch the threshold may rise.
const WEIGHED_ROWS: usize = 256;

/// Units of a row that is weighed by the codes of its words, and of one that is weighed by their places.
const WEIGHED_UNITS: u64 = 10;
const PLACED_UNITS: u64 = 300;

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
}

impl<'r> PageRun<'r, '_> {
    /// Adds the page's rows to an answer. `scorer`: where weights are asked for.
    pub(super) fn run(&self, scorer: Option<&mut Scorer<'r>>, out: &mut Out<'_>) -> Result<()> {
        let job = self.job;
        // Bitmaps do not pay for rows that are a short list.
        let is_short = |plan: &Plan| {
            let lengths = (0..plan.words()).map(|word| self.view.word(word).len());
            lengths.sum::<usize>() < FEW
        };
        let is_few = |plan: &Plan| plan.words() <= EITHER_WORDS && !is_short(plan);
        let is_listed = job.candidates.is_some() || job.only.is_some();
        let plan = job.plan.as_ref().filter(|_| !is_listed);
        let or_of_words = plan.filter(|plan| plan.is_or_of_words());
        let is_or_of_words = or_of_words.is_some_and(is_few);
        match scorer {
            Some(scorer) if job.is_cut() => {
                scorer.turn_page(&self.view);
                scorer.raise(self.threshold(out)?);
                if is_or_of_words && scorer.counts() {
                    return self.either_by_count(scorer, out);
                }
                if let Some(plan) = or_of_words
                    && self.rank_marked(plan, scorer, out)?
                {
                    return Ok(());
                }
                let mut rows = match is_or_of_words {
                    true => self.either(scorer, out)?,
                    false => self.counted(out)?,
                };
                if scorer.tells_weights() && scorer.is_wide(|| rows.len()) {
                    self.drop_low(&mut rows, scorer, |sum| scorer.most(sum), out);
                }
                match job
                    .plan
                    .as_ref()
                    .and_then(|plan| Some((plan, plan.placed()?)))
                {
                    Some((plan, placed)) => {
                        self.rank_placed(&mut rows, plan, placed, scorer, out)?
                    }
                    None => self.rank(&rows, scorer, out)?,
                }
                out.scratch.give(rows);
            }
            scorer => {
                let rows = self.counted(out)?;
                if job.keep != Some(0) {
                    out.scratch.weighed.clear();
                    out.scratch.page_rows.clear();
                    self.list(&rows, scorer, out)?;
                }
                if job.in_blocks {
                    self.hand_over(out)?;
                }
                out.scratch.give(rows);
            }
        }
        Ok(())
    }

    /// Counts the rows of an OR of words, and returns those that may reach the threshold.
    /// `either.rs` has a worked example.
    fn either(&self, scorer: &Scorer<'_>, out: &mut Out<'_>) -> Result<Rows> {
        let wanted = self.view.lists().wanted();
        let count = scorer.essential();
        let essential: ByWord<Essential<'_>> =
            (0..count).map(|at| scorer.essential_at(at)).collect();
        let mut several = out.scratch.bitmap();
        for word in &essential {
            if self.view.lists().bound(word.word) >= word.least_alone {
                let page = self.view.word(word.word as usize);
                add_singles(page, word, &mut several);
            }
        }
        let drops_rows = !self.part.deleted.is_empty() || self.filter.is_some();
        let pages = wanted.iter().map(|word| self.view.word(*word as usize));
        let mut pages = pages.filter(|page| !page.is_empty());
        if let (Some(page), None, false) = (pages.next(), pages.next(), drops_rows) {
            // One word has rows here, and all of them count.
            out.collector.count(page.len() as u64);
            return Ok(Rows::Many(several));
        }
        let mut matched = out.scratch.bitmap();
        let split = Split {
            rest: &wanted[count..],
            essential: &essential,
        };
        if scorer.asks_three() {
            let mut two = out.scratch.bitmap();
            unite_three(&split, &self.view, &mut matched, &mut two, &mut several);
            out.scratch.give(Rows::Many(two));
        } else {
            unite(&split, &self.view, &mut matched, &mut several);
        }
        let matched = self.total(matched, out)?;
        let mut several = Rows::Many(several);
        if drops_rows {
            several.intersect(&matched, true);
        }
        out.scratch.give(matched);
        Ok(several)
    }

    /// Counts the rows of an OR of words, and weighs them by falling number of query words that
    /// they hold. The first rows raise the threshold; rows of too few words are never weighed.
    fn either_by_count(&self, scorer: &mut Scorer<'r>, out: &mut Out<'_>) -> Result<()> {
        let (words, least) = (scorer.words_here(), scorer.least_count());
        if least >= words.len() {
            let split = Split {
                rest: &words,
                essential: &[],
            };
            let (mut matched, mut none) = (out.scratch.bitmap(), out.scratch.bitmap());
            unite(&split, &self.view, &mut matched, &mut none);
            out.scratch.give(Rows::Many(none));
            let matched = self.total(matched, out)?;
            if least == words.len() {
                let rows = eval::with_all(&words, &self.view, out.scratch);
                self.rank_accepted(rows, &matched, scorer, out)?;
            }
            out.scratch.give(matched);
            return Ok(());
        }
        let mut counted = Counted::new(words.len(), out.scratch);
        for word in &words {
            add(&mut counted, self.view.word(*word as usize));
        }
        let mut matched = out.scratch.bitmap();
        matched_by(&counted, &mut matched);
        let matched = self.total(matched, out)?;
        for count in (1..=words.len()).rev() {
            scorer.rewind(count);
            scorer.raise(self.threshold(out)?);
            if scorer.may_enter() {
                let mut rows = out.scratch.bitmap();
                rows_of(&counted, count, &mut rows);
                self.rank_accepted(Rows::Many(rows), &matched, scorer, out)?;
            }
        }
        out.scratch.give(matched);
        counted.end(out.scratch);
        Ok(())
    }

    /// Adds the number of rows in `matched` that are live and accepted by the filter to the total,
    /// and returns these rows.
    pub(super) fn total(&self, matched: Box<Bitmap>, out: &mut Out<'_>) -> Result<Rows> {
        let mut matched = Rows::Many(matched);
        self.drop_deleted(&mut matched);
        self.drop_refused(&mut matched, out.scratch)?;
        out.collector.count(matched.len() as u64);
        Ok(matched)
    }

    /// Weighs those of `rows` that [`PageRun::total`] returned.
    fn rank_accepted(
        &self,
        mut rows: Rows,
        accepted: &Rows,
        scorer: &mut Scorer<'r>,
        out: &mut Out<'_>,
    ) -> Result<()> {
        rows.intersect(accepted, true);
        self.rank(&rows, scorer, out)?;
        out.scratch.give(rows);
        Ok(())
    }

    /// Finds the rows that match, adds their number to the total, and returns them.
    fn counted(&self, out: &mut Out<'_>) -> Result<Rows> {
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

    /// Weighs rows and takes those that reach the threshold.
    pub(super) fn rank(
        &self,
        rows: &Rows,
        scorer: &mut Scorer<'r>,
        out: &mut Out<'_>,
    ) -> Result<()> {
        if scorer.tells_weights() {
            return self.rank_simply(rows, scorer, out);
        }
        if scorer.tells_bounds() {
            return self.rank_bounded(rows, scorer, out);
        }
        let mut result = Ok(());
        for stretch in rows.stretches() {
            if !scorer.may_enter() {
                break;
            }
            stretch.each(|low| {
                if result.is_ok() {
                    result = self.rank_row(low, scorer, out);
                }
            });
        }
        result
    }

    /// Transposes the page where it pays for these rows.
    fn transpose(&self, rows: &Rows, scorer: &mut Scorer<'r>, out: &mut Out<'_>) {
        if scorer.is_wide(|| rows.len()) {
            let mut lows = out.scratch.lows();
            rows.stretches().for_each(|rows| gather(rows, &mut lows));
            transpose(scorer, &lows, &mut out.scratch.many_rows);
            out.scratch.give(Rows::Few(lows));
        }
    }

    /// Weighs rows whose fields or places decide, from the highest bound down.
    fn rank_bounded(&self, rows: &Rows, scorer: &mut Scorer<'r>, out: &mut Out<'_>) -> Result<()> {
        let mut bounds = std::mem::take(&mut out.scratch.bounds);
        self.bound_rows(rows, scorer, &mut bounds, out)?;
        self.rank_by_bounds(&mut bounds, scorer, out, |batch, scorer, out, weighed| {
            if scorer.is_transposed() {
                return self.weigh_wide(batch, scorer, out, weighed);
            }
            scorer.restart();
            for row in batch {
                if let Some(weight) = self.weigh(row.low, scorer)? {
                    weighed.push((row.low, weight));
                }
            }
            Ok(())
        })?;
        out.scratch.bounds = bounds;
        Ok(())
    }

    /// Sets `bounds` to the rows whose upper bounds reach the threshold.
    pub(super) fn bound_rows(
        &self,
        rows: &Rows,
        scorer: &mut Scorer<'r>,
        bounds: &mut Bounds,
        out: &mut Out<'_>,
    ) -> Result<()> {
        self.transpose(rows, scorer, out);
        if rows.len() > PAIRS_FROM {
            scorer.read_pairs(&self.view);
        }
        let mut lows = out.scratch.lows();
        let mut bounded = std::mem::take(&mut out.scratch.weighed);
        for stretch in rows.stretches() {
            gather(stretch, &mut lows);
            self.shared
                .control
                .spend(WEIGHED_UNITS * lows.len() as u64)?;
            weigh_many(scorer, &lows, &mut out.scratch.many_rows, &mut bounded);
            lows.clear();
        }
        out.scratch.give(Rows::Few(lows));
        bounds.set(&mut bounded);
        out.scratch.weighed = bounded;
        Ok(())
    }

    /// Weighs rows by codes and fields, at least [`WEIGHED_ROWS`] at a time.
    pub(super) fn rank_simply(
        &self,
        rows: &Rows,
        scorer: &mut Scorer<'r>,
        out: &mut Out<'_>,
    ) -> Result<()> {
        self.transpose(rows, scorer, out);
        let mut lows = out.scratch.lows();
        for stretch in rows.stretches() {
            gather(stretch, &mut lows);
            if lows.len() >= WEIGHED_ROWS {
                self.weigh_lows(&mut lows, scorer, out)?;
            }
        }
        self.weigh_lows(&mut lows, scorer, out)?;
        out.scratch.give(Rows::Few(lows));
        Ok(())
    }

    fn weigh_lows(
        &self,
        lows: &mut Vec<u16>,
        scorer: &mut Scorer<'_>,
        out: &mut Out<'_>,
    ) -> Result<()> {
        self.shared
            .control
            .spend(WEIGHED_UNITS * lows.len() as u64)?;
        let mut weighed = std::mem::take(&mut out.scratch.weighed);
        weigh_many(scorer, lows, &mut out.scratch.many_rows, &mut weighed);
        lows.clear();
        let mut threshold = scorer.threshold();
        self.enter(&mut weighed, &mut threshold, out)?;
        scorer.raise(threshold);
        out.scratch.weighed = weighed;
        Ok(())
    }

    fn rank_row(&self, low: u16, scorer: &mut Scorer<'_>, out: &mut Out<'_>) -> Result<()> {
        let Some(weight) = self.weigh(low, scorer)? else {
            return Ok(());
        };
        let mut weighed = std::mem::take(&mut out.scratch.weighed);
        weighed.push((low, weight));
        let mut threshold = scorer.threshold();
        self.enter(&mut weighed, &mut threshold, out)?;
        scorer.raise(threshold);
        out.scratch.weighed = weighed;
        Ok(())
    }

    fn weigh(&self, low: u16, scorer: &mut Scorer<'_>) -> Result<Option<i64>> {
        self.with_lasts(low, scorer, |scorer, last| {
            weigh(scorer, low, &self.view, last)
        })
    }

    /// Weighs rows of a transposed page, each by the words that it holds.
    fn weigh_wide(
        &self,
        rows: &[Bounded],
        scorer: &mut Scorer<'_>,
        out: &mut Out<'_>,
        weighed: &mut Vec<(u16, i64)>,
    ) -> Result<()> {
        let (mut lows, mut words) = (out.scratch.lows(), WordsOfRows::default());
        for rows in rows.chunks(scorer.rows_at_once()) {
            self.shared
                .control
                .spend(PLACED_UNITS * rows.len() as u64)?;
            lows.clear();
            lows.extend(rows.iter().map(|row| row.low));
            scorer.words_of(&lows, &mut out.scratch.places.index, &mut words);
            for (row, low) in lows.iter().enumerate() {
                let weight = self.with_lasts(*low, scorer, |scorer, last| {
                    scorer.weigh_row_of(words.of(row), *low, &self.view, last)
                })?;
                weighed.extend(weight.map(|weight| (*low, weight)));
            }
        }
        out.scratch.give(Rows::Few(lows));
        Ok(())
    }

    /// Calls `weigh` with a reader of the last position of a row's field. Errors: those of reading one, and of the scorer.
    fn with_lasts<'s>(
        &self,
        low: u16,
        scorer: &mut Scorer<'s>,
        weigh: impl FnOnce(&mut Scorer<'s>, &mut dyn FnMut(u8) -> u32) -> Option<i64>,
    ) -> Result<Option<i64>> {
        let mut read = Ok(());
        let mut last = |field| match self.view.texts.last(self.view.doc(low), field) {
            Ok(last) => last.unwrap_or(0),
            Err(error) => {
                read = Err(error);
                0
            }
        };
        let weight = weigh(scorer, &mut last);
        scorer.check()?;
        read.map(|()| weight)
    }

    /// Offers rows to the collector, for an order that is not by weight alone.
    fn list(
        &self,
        rows: &Rows,
        mut scorer: Option<&mut Scorer<'r>>,
        out: &mut Out<'_>,
    ) -> Result<()> {
        if let Some(scorer) = &mut scorer {
            scorer.turn_page(&self.view);
            self.transpose(rows, scorer, out);
        }
        let job = self.job;
        if job.in_blocks && scorer.as_ref().is_none_or(|scorer| scorer.tells_weights()) {
            return self.list_simply(rows, scorer, out);
        }
        // Rows come by rising id, so a row behind the last one kept cannot enter.
        let is_sorted = scorer.is_none() && self.part.is_sorted() && job.order.is_by_id();
        let is_behind = |last: &FoundRow| self.id_first.is_some_and(|id| id > last.id);
        if is_sorted && out.collector.last().is_some_and(is_behind) {
            return Ok(());
        }
        let left = match job.keep {
            Some(keep) if is_sorted => keep,
            _ => u64::MAX,
        };
        let mut lows = out.scratch.lows();
        rows.stretches().for_each(|rows| gather(rows, &mut lows));
        lows.truncate(usize::try_from(left).unwrap_or(usize::MAX));
        let mut entering = out.scratch.lows();
        let mut result = Ok(());
        for block in lows.chunks(BLOCK_ROWS) {
            entering.clear();
            let last = out.collector.last();
            let (first, meter) = (self.view.doc(0), &*self.shared.control.interrupt);
            job.entering(self.part, first, block, last, meter, &mut entering);
            result = self.list_block(&entering, scorer.as_deref_mut(), out);
            if result.is_err() {
                break;
            }
        }
        out.scratch.give(Rows::Few(lows));
        out.scratch.give(Rows::Few(entering));
        result
    }

    fn list_block(
        &self,
        lows: &[u16],
        mut scorer: Option<&mut Scorer<'r>>,
        out: &mut Out<'_>,
    ) -> Result<()> {
        if let Some(scorer) = &mut scorer
            && scorer.tells_weights()
        {
            return self.list_weighed(lows, scorer, out);
        }
        if let Some(scorer) = &mut scorer
            && let Some(plan) = &self.job.plan
            && let Some(placed) = plan.placed()
        {
            return self.list_placed(lows, plan, placed, scorer, out);
        }
        for lows in lows.chunks(IDS_AHEAD) {
            let ahead = lows.iter();
            ahead.for_each(|low| self.part.fetch_id(self.view.doc(*low)));
            for low in lows {
                self.list_row(*low, scorer.as_deref_mut(), out)?;
            }
        }
        Ok(())
    }

    /// Offers rows that [`Scorer::weigh_many`] weighs.
    fn list_weighed(&self, lows: &[u16], scorer: &mut Scorer<'r>, out: &mut Out<'_>) -> Result<()> {
        let mut weighed = std::mem::take(&mut out.scratch.weighed);
        weigh_many(scorer, lows, &mut out.scratch.many_rows, &mut weighed);
        let mut offered = weighed.iter();
        let result = offered.try_for_each(|(low, weight)| self.offer(*low, *weight, out));
        weighed.clear();
        out.scratch.weighed = weighed;
        result
    }

    /// Weighs rows by codes and fields, or not at all, on their way to [`PageRun::hand_over`].
    fn list_simply(
        &self,
        rows: &Rows,
        scorer: Option<&mut Scorer<'r>>,
        out: &mut Out<'_>,
    ) -> Result<()> {
        let scratch = &mut *out.scratch;
        let lows = &mut scratch.page_rows;
        rows.stretches().for_each(|rows| gather(rows, lows));
        if let Some(scorer) = scorer {
            let found = &mut scratch.weighed;
            weigh_many(scorer, lows, &mut scratch.many_rows, found);
            lows.clear();
        }
        Ok(())
    }

    /// Gives the rows of the page to the collector, in a job that is `in_blocks`.
    fn hand_over(&self, out: &mut Out<'_>) -> Result<()> {
        let scratch = &mut *out.scratch;
        scratch.page_weights.clear();
        for (low, weight) in &scratch.weighed {
            scratch.page_rows.push(*low);
            scratch.page_weights.push(*weight);
        }
        let found = FoundPage {
            at: self.at,
            part: self.part,
            first: self.view.doc(0),
            lows: &scratch.page_rows,
            weights: &scratch.page_weights,
        };
        out.collector.take_page(&found, self.shared.control)
    }

    fn list_row(&self, low: u16, scorer: Option<&mut Scorer<'_>>, out: &mut Out<'_>) -> Result<()> {
        let weight = match scorer {
            Some(scorer) => self.weigh(low, scorer)?,
            None => Some(WEIGHT_WITHOUT_MATCH),
        };
        self.offer(low, weight.unwrap_or(0), out)
    }

    /// Offers a row to the collector, or, in a job that is `in_blocks`, gathers it for [`PageRun::hand_over`].
    pub(super) fn offer(&self, low: u16, weight: i64, out: &mut Out<'_>) -> Result<()> {
        if self.job.in_blocks {
            out.scratch.weighed.push((low, weight));
            return Ok(());
        }
        let row = RowValues::new(
            self.part,
            self.view.doc(low),
            &self.shared.control.interrupt,
        );
        self.job
            .offer(self.at, &row, weight, self.shared.control, out)
    }
}

wide! {
    fn unite(split: &Split<'_>, view: &View<'_>, matched: &mut Bitmap, several: &mut Bitmap) = either::unite
}

wide! {
    fn unite_three(split: &Split<'_>, view: &View<'_>, matched: &mut Bitmap, two: &mut Bitmap, three: &mut Bitmap) = either::unite_three
}

wide! {
    fn add_singles(page: &Page<'_>, essential: &Essential<'_>, into: &mut Bitmap) = either::add_singles
}

wide! {
    fn add(counted: &mut Counted, page: &Page<'_>) = Counted::add
}

wide! {
    fn matched_by(counted: &Counted, out: &mut Bitmap) = Counted::matched
}

wide! {
    fn rows_of(counted: &Counted, words: usize, out: &mut Bitmap) = Counted::rows
}

wide! {
    fn gather(rows: RowsRef<'_>, lows: &mut Vec<u16>) = RowsRef::gather
}

wide! {
    fn weigh_many(scorer: &mut Scorer<'_>, rows: &[u16], many_rows: &mut ManyRows, out: &mut Vec<(u16, i64)>) = Scorer::weigh_many
}

wide! {
    fn transpose(scorer: &mut Scorer<'_>, lows: &[u16], many_rows: &mut ManyRows) = Scorer::transpose
}

wide! {
    fn weigh(scorer: &mut Scorer<'_>, low: u16, view: &View<'_>, last: &mut dyn FnMut(u8) -> u32) -> Option<i64> = Scorer::weigh
}
