//! Attribute filters of standing queries.
//!
//! A filter is numbered in its set; queries with the same text share one. It is asked last, for documents that satisfy
//! all else, and its answer for a document is kept until the next slice: fifty thousand queries with one filter cost
//! one evaluation a document.

use std::{collections::HashMap, sync::Arc};

use query::expression::Prepared;
use rustc_hash::FxBuildHasher;

use crate::documents::Documents;

/// A filter with its number.
#[derive(Clone, Debug)]
pub(crate) struct Filter {
    pub(crate) number: u32,
    pub(crate) prepared: Arc<Prepared>,
}

/// The filters of a set's queries. The writer's own.
#[derive(Debug, Default)]
pub(crate) struct Filters {
    by_text: HashMap<Box<str>, Filter, FxBuildHasher>,
    numbers: u32,
}

impl Filters {
    /// The filter of that text if there is one, else this one, numbered. Without a text it is a filter of its own.
    pub(crate) fn intern(&mut self, text: &str, prepared: Arc<Prepared>) -> Filter {
        if let Some(known) = self.by_text.get(text) {
            return known.clone();
        }
        let filter = Filter {
            number: self.numbers,
            prepared,
        };
        self.numbers += 1;
        if !text.is_empty() {
            self.by_text.insert(text.into(), filter.clone());
        }
        filter
    }
}

/// What the filters said of the slice at hand. A matcher's own.
#[derive(Debug, Default)]
pub(crate) struct Verdicts {
    /// By number.
    known: Vec<Verdict>,
    /// Numbers with a document decided.
    touched: Vec<u32>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Verdict {
    decided: u64,
    accepted: u64,
}

impl Verdicts {
    /// Forgets the slice.
    pub(crate) fn clear(&mut self) {
        for number in self.touched.drain(..) {
            self.known[number as usize] = Verdict::default();
        }
    }

    /// Those of the documents `among` that the filter accepts. The slice begins at document `first` of the call.
    pub(crate) fn accepted(
        &mut self,
        filter: &Filter,
        among: u64,
        documents: &Documents<'_>,
        first: usize,
    ) -> u64 {
        let place = filter.number as usize;
        if self.known.len() <= place {
            self.known.resize(place + 1, Verdict::default());
        }
        let verdict = &mut self.known[place];
        let mut open = among & !verdict.decided;
        if open != 0 && verdict.decided == 0 {
            self.touched.push(filter.number);
        }
        verdict.decided |= open;
        while open != 0 {
            let index = open.trailing_zeros() as usize;
            let row = |column| (documents.attributes)(first + index, column);
            verdict.accepted |= u64::from(filter.prepared.accepts(&row)) << index;
            open &= open - 1;
        }
        among & verdict.accepted
    }
}
