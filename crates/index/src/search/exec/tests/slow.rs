//! The slow and obvious executor: cursors, one document at a time, no bounds. The fast one is
//! tested against it.

use std::sync::Arc;

use language::analysis::Words;
use language::reference;
use language::tree::Node;
use language::verify::Verifier;

use super::cursor::{self, Cursor, Reader};
use crate::control::Control;
use crate::error::Result;
use crate::part::Part;
use crate::postings::{code, length_class};
use crate::search::collect::{Collector, Top, WEIGHT_WITHOUT_MATCH};
use crate::search::exec::job::{Gathered, Job};
use crate::search::plan::Plan;
use crate::search::rank::{Hit, Needs, Occurrences};
use crate::search::values::RowValues;
use crate::snapshot::PartIndex;

impl Job<'_> {
    /// Every row of the snapshot.
    pub(super) fn run_slowly(&self, root: &Node, control: &Control) -> Result<Top> {
        let mut out = Gathered::new(Top::new(Arc::clone(&self.order), self.keep));
        for (at, part) in self.snapshot.numbered() {
            let mut cursor = self.cursor(at, part)?;
            let words = self.plan.as_ref().map_or(0, |plan| plan.words());
            let mut occurrences = Occurrences::new(words, Arc::default());
            let mut doc = cursor.seek(0);
            while doc < part.rows() {
                let row = RowValues::new(part, doc, &control.interrupt);
                if part.is_live(doc) && self.accepts(&row)? && self.matches(root, &row, part)? {
                    out.collector.count(1);
                    if self.keep != Some(0) {
                        let weight =
                            self.weight(&mut *cursor, &row, part, root, &mut occurrences)?;
                        self.offer(at, &row, weight, control, &mut out.out())?;
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

    /// Whether the text of a row matches.
    fn matches(&self, root: &Node, row: &RowValues<'_>, part: &Part) -> Result<bool> {
        match self.plan.as_ref().and_then(Plan::placed) {
            Some(_) => {
                let words = self.texts(part).words(row.doc())?;
                Ok(reference::matches(root, &words))
            }
            None => Ok(true),
        }
    }

    /// The cursor over the part's rows: by the query, by the ids, by both, or over every row.
    fn cursor<'p>(&self, at: PartIndex, part: &'p Part) -> Result<Box<dyn Cursor + 'p>> {
        let candidates = self.candidates.as_ref();
        let listed = candidates.and_then(|of| of.of_part(at));
        let listed = listed.map(|docs| cursor::listed(docs.to_vec()));
        let matched = match &self.plan {
            // The text of each row decides.
            Some(plan) if plan.placed().is_some() => Some(cursor::every(part.rows())),
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
        part: &Part,
        root: &Node,
        occurrences: &mut Occurrences,
    ) -> Result<i64> {
        let plan = match &self.plan {
            Some(plan) if self.ranked && !plan.is_all() => plan,
            _ => return Ok(WEIGHT_WITHOUT_MATCH),
        };
        let weigher = plan.weigher();
        if plan.placed().is_some() {
            let words = self.texts(part).words(row.doc())?;
            return Ok(weight_of_text(plan, root, &words, occurrences));
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
        let mut last = |field| match self.texts(part).words(row.doc()) {
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

/// The weight of a matching row, from its text alone.
fn weight_of_text(plan: &Plan, root: &Node, words: &Words, occurrences: &mut Occurrences) -> i64 {
    let (weigher, verifier) = (plan.weigher(), Verifier::new(root));
    let number = |text: &str| plan.texts().iter().position(|known| known == text);
    let tally = verifier.tally(words);
    let at = |field: u8, position: u32| u32::from(field) << 24 | position;
    occurrences.clear();
    for (text, field, position) in &tally.words {
        if let Some(number) = number(text) {
            occurrences.add_places(number, std::iter::once(at(*field, *position)));
        }
    }
    for joined in &tally.joined {
        occurrences.add_unit(Hit {
            at: at(joined.field, joined.position),
            word: plan.words() as u32 + joined.place,
            place: joined.place,
            span: joined.span,
            weight: joined.weight,
        });
    }
    let fields = match weigher.takes_found_fields() {
        true => tally.fields,
        false => occurrences.placed(),
    };
    let mut hits = vec![0; plan.words()];
    for number in words.iter().filter_map(|(text, ..)| number(text)) {
        hits[number] += 1;
    }
    for number in tally.rare.iter().filter_map(|text| number(text)) {
        occurrences.add(number, hits[number], fields);
    }
    let length_class = length_class(words.len() as u32);
    let value = |(word, hits)| weigher.value(word, code(hits, length_class), hits);
    let sum = occurrences.hits().map(value).sum();
    weigher.weigh(occurrences, sum, &mut |field| last_position(words, field))
}

/// Last position of a field; 0 of an empty one.
fn last_position(words: &Words, field: u8) -> u32 {
    let of_field = words.iter().filter(|(_, other, _)| *other == field);
    of_field.map(|(_, _, position)| position).max().unwrap_or(0)
}
