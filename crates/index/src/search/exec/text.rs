//! Rows whose text decides whether they match and what they weigh: for operators without a
//! [`Step`](super::super::plan::Step), such as NEAR.

use query::analysis::Words;
use query::expression::ColumnValues;
use query::value::Value;
use query::verify::Verifier;

use super::super::plan::Plan;
use super::super::rank::{Hit, Occurrences};
use super::super::values::RowValues;
use super::job::Job;
use crate::error::Result;
use crate::postings::{code, length_class};

impl Job<'_> {
    /// Whether the row's text satisfies the whole tree. Cost: analyses the text again. `true` where
    /// the tree needs no text.
    pub(super) fn verifies(&self, row: &RowValues<'_>) -> Result<bool> {
        let Some(verifier) = self.plan.as_ref().and_then(Plan::verified) else {
            return Ok(true);
        };
        Ok(verifier.matches(&self.words(row)?))
    }

    /// The weight of a matching row of a tree that its text decides. Clears `occurrences` and uses
    /// it. Errors: as [`Job::words`].
    pub(super) fn weigh_text(
        &self,
        plan: &Plan,
        verifier: &Verifier,
        row: &RowValues<'_>,
        occurrences: &mut Occurrences,
    ) -> Result<i64> {
        let (weigher, words) = (plan.weigher(), self.words(row)?);
        let tally = verifier.tally(&words);
        occurrences.clear();
        for (text, field, position) in &tally.words {
            if let Some(number) = plan.number(text) {
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
        for number in words.iter().filter_map(|(text, ..)| plan.number(text)) {
            hits[number] += 1;
        }
        for number in tally.rare.iter().filter_map(|text| plan.number(text)) {
            occurrences.add(number, hits[number], fields);
        }
        let length_class = length_class(words.len() as u32); // fewer than a text has bytes
        let value = |(word, hits)| weigher.value(word, code(hits, length_class), hits);
        let sum = occurrences.hits().map(value).sum();
        Ok(weigher.weigh(occurrences, sum, &mut |field| last_position(&words, field)))
    }

    /// Analyses the row's text columns. Errors: `Io`, `Corrupt`.
    pub(super) fn words(&self, row: &RowValues<'_>) -> Result<Words> {
        let shape = &self.snapshot.shape;
        let mut words = Words::new();
        for (field, column) in shape.texts().enumerate() {
            if let Value::Str(text) = row.value(column + 1) {
                words.push_field(&shape.analyzer, field as u8, &text);
            }
        }
        row.check()?;
        Ok(words)
    }
}

/// A place in the form of posting lists.
fn at(field: u8, position: u32) -> u32 {
    u32::from(field) << 24 | position
}

/// Last position of a field; 0 of an empty one.
pub(super) fn last_position(words: &Words, field: u8) -> u32 {
    let of_field = words.iter().filter(|(_, other, _)| *other == field);
    of_field.map(|(_, _, position)| position).max().unwrap_or(0)
}
