//! The slow and obvious executor: cursors, one document at a time, no bounds. The fast one is
//! tested against it.

use std::sync::Arc;

use super::cursor::{self, Cursor, Reader};
use crate::control::Control;
use crate::error::Result;
use crate::part::Part;
use crate::postings::{code, length_class};
use crate::search::collect::{Collector, Top, WEIGHT_WITHOUT_MATCH};
use crate::search::exec::job::{Gathered, Job};
use crate::search::exec::text::last_position;
use crate::search::rank::{Needs, Occurrences};
use crate::search::values::RowValues;
use crate::snapshot::PartIndex;

impl Job<'_> {
    /// Every row of the snapshot.
    pub(super) fn run_slowly(&self, control: &Control) -> Result<Top> {
        let mut out = Gathered::new(Top::new(Arc::clone(&self.order), self.keep));
        for (at, part) in self.snapshot.numbered() {
            let mut cursor = self.cursor(at, part)?;
            let words = self.plan.as_ref().map_or(0, |plan| plan.words());
            let mut occurrences = Occurrences::new(words);
            let mut doc = cursor.seek(0);
            while doc < part.rows() {
                let row = RowValues::new(part, doc);
                if part.is_live(doc) && self.accepts(&row)? && self.verifies(&row)? {
                    out.collector.count(1);
                    if self.keep != Some(0) {
                        let weight = self.weight(&mut *cursor, &row, &mut occurrences)?;
                        self.offer(at, &row, weight, &control.memory, &mut out.out())?;
                    }
                }
                doc = cursor.seek(doc + 1);
            }
        }
        Ok(out.collector)
    }

    fn accepts(&self, row: &RowValues<'_>) -> Result<bool> {
        self.filter
            .as_ref()
            .map_or(Ok(true), |filter| filter.accepts(row))
    }

    /// The cursor over the part's rows: by the query, by the ids, by both, or over every row.
    fn cursor<'p>(&self, at: PartIndex, part: &'p Part) -> Result<Box<dyn Cursor + 'p>> {
        let candidates = self.candidates.as_ref();
        let listed = candidates.and_then(|of| of.of_part(at));
        let listed = listed.map(|docs| cursor::listed(docs.to_vec()));
        let matched = match &self.plan {
            Some(plan) => {
                let needs = match self.ranked {
                    true => plan.weigher().needs(),
                    false => Needs::Constant,
                };
                let reader = Reader {
                    part,
                    words: self.words.of_part(at),
                    needs,
                    takes_first_field: plan.weigher().takes_first_field(),
                };
                Some(cursor::build(plan.root(), &reader)?)
            }
            None => None,
        };
        Ok(match (listed, matched) {
            (Some(listed), Some(matched)) => cursor::both(listed, matched),
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => cursor::every(part.rows()),
        })
    }

    fn weight(
        &self,
        cursor: &mut dyn Cursor,
        row: &RowValues<'_>,
        occurrences: &mut Occurrences,
    ) -> Result<i64> {
        let plan = match &self.plan {
            Some(plan) if self.ranked && !plan.is_all() => plan,
            _ => return Ok(WEIGHT_WITHOUT_MATCH),
        };
        let weigher = plan.weigher();
        if let Some(verifier) = plan.verified() {
            return self.weigh_text(plan, verifier, row, occurrences);
        }
        occurrences.clear();
        cursor.record(occurrences);
        let length_class = match weigher.has_lengths() {
            true => length_class(row.length()?),
            false => 0,
        };
        let value = |(word, hits)| weigher.value(word, code(hits, length_class), hits);
        let sum = occurrences.hits().map(value).sum();
        let mut read = Ok(());
        let mut last = |field| match self.words(row) {
            Ok(words) => last_position(&words, field),
            Err(error) => {
                read = Err(error);
                0
            }
        };
        let weight = weigher.weigh(occurrences, sum, &mut last);
        read.map(|()| weight)
    }
}
