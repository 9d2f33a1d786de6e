//! Attribute filters of standing queries.
//!
//! A filter has a number in its set; queries with equal filter texts share it. The matcher asks filters last, about
//! documents that satisfy all else. Most filters are a range or a list of texts: [`Quick`] decides these at the cost
//! of remembering an answer. The verdict of any other filter on a document is remembered until the next slice, so
//! fifty thousand queries with one filter cost one evaluation a document.

mod quick;

use std::{cell::Cell, collections::HashMap, sync::Arc};

use language::meter::Meter as _;
use quick::{Quick, Values};
use relation::expression::{Metered, Prepared};
use rustc_hash::FxBuildHasher;

use crate::{
    documents::Documents,
    limits::{FILTER_STEPS, LOOK_UNITS, QUERY_STEPS_MAX, UNITS_PER_STEP},
    meter::Meter,
};

/// A filter with its number. It lies in one cache line, so that one prefetch brings all of it.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct Filter {
    pub(crate) number: u32,
    quick: Option<Quick>,
    pub(crate) prepared: Arc<Prepared>,
}

const _: () = assert!(size_of::<Filter>() == 64, "one cache line");

/// The filters of a set, by text. The writer's own.
#[derive(Debug, Default)]
pub(crate) struct Filters {
    by_text: HashMap<Box<str>, Filter, FxBuildHasher>,
    numbers: u32,
    /// Bytes of all texts in `by_text`.
    text_bytes: usize,
    /// Memory of their regular expressions, in bytes.
    regex_bytes: usize,
}

/// The work of one expression over one document.
struct Evaluation<'g> {
    goes_on: &'g dyn Fn() -> bool,
    units: Cell<u64>,
    is_stopped: Cell<bool>,
}

impl<'g> Evaluation<'g> {
    fn new(goes_on: &'g dyn Fn() -> bool) -> Evaluation<'g> {
        Evaluation {
            goes_on,
            units: Cell::new(0),
            is_stopped: Cell::new(false),
        }
    }
}

impl language::meter::Meter for Evaluation<'_> {
    fn spend(&self, units: u64) {
        let before = self.units.get();
        self.units.set(before.saturating_add(units));
        let is_costly = self.units.get() >= QUERY_STEPS_MAX * UNITS_PER_STEP;
        let looks = before / LOOK_UNITS != self.units.get() / LOOK_UNITS;
        if is_costly || looks && !(self.goes_on)() {
            self.is_stopped.set(true);
        }
    }

    fn is_stopped(&self) -> bool {
        self.is_stopped.get()
    }
}

/// Memory of a filter in bytes, without its text and its constants.
const FILTER_BYTES: usize = 1024;

/// Memory of a filter's constants for each byte of its text: `1,` becomes a value and an entry of a set.
const TEXT_FACTOR: usize = 16;

impl Filters {
    /// Memory of all filters in bytes, at most.
    pub(crate) fn bytes(&self) -> usize {
        self.by_text.len() * FILTER_BYTES + self.text_bytes * TEXT_FACTOR + self.regex_bytes
    }

    /// The known filter of that text, else this one under a new number. A filter without a text is never shared.
    pub(crate) fn intern(&mut self, text: &str, prepared: Arc<Prepared>) -> Filter {
        if let Some(known) = self.by_text.get(text) {
            return known.clone();
        }
        let filter = Filter {
            number: self.numbers,
            quick: Quick::of(&prepared),
            prepared,
        };
        self.numbers += 1;
        if !text.is_empty() {
            self.text_bytes += text.len();
            self.regex_bytes += filter.prepared.regex_bytes();
            self.by_text.insert(text.into(), filter.clone());
        }
        filter
    }
}

/// The verdicts of filters on the documents of a slice. A matcher's own.
#[derive(Debug, Default)]
pub(crate) struct Verdicts {
    /// By the filter's number. `decided` has a bit for each document with a verdict, `accepted` for each accepted one.
    known: Vec<Verdict>,
    /// Numbers of filters with a verdict in this slice.
    touched: Vec<u32>,
    values: Values,
}

#[derive(Clone, Copy, Debug, Default)]
struct Verdict {
    decided: u64,
    accepted: u64,
}

impl Verdicts {
    /// Forgets all verdicts and values.
    pub(crate) fn clear(&mut self) {
        for number in self.touched.drain(..) {
            self.known[number as usize] = Verdict::default();
        }
        self.values.clear();
    }

    /// Whether the filter accepts document `index` of the slice that begins at document `first` of the call.
    #[inline(always)]
    pub(crate) fn accepts(
        &mut self,
        filter: &Filter,
        index: usize,
        (documents, first): (&Documents<'_>, usize),
        meter: &mut Meter,
    ) -> bool {
        let values = &mut self.values;
        let mut value = |column| {
            values.known(index, column, || {
                (documents.attributes)(first + index, column)
            })
        };
        let quick = filter.quick.as_ref();
        let decided = quick.and_then(|quick| quick.accepts(&mut value));
        decided.unwrap_or_else(|| self.evaluate(filter, index, (documents, first), meter))
    }

    /// As [`Verdicts::accepts`], by evaluating the expression once for each document. False once the call has ended.
    fn evaluate(
        &mut self,
        filter: &Filter,
        index: usize,
        (documents, first): (&Documents<'_>, usize),
        meter: &mut Meter,
    ) -> bool {
        let place = filter.number as usize;
        if self.known.len() <= place {
            self.known.resize(place + 1, Verdict::default());
        }
        let verdict = &mut self.known[place];
        let bit = 1 << index;
        if verdict.decided & bit == 0 {
            if !meter.spend(FILTER_STEPS, documents.goes_on) {
                return false;
            }
            if verdict.decided == 0 {
                self.touched.push(filter.number);
            }
            verdict.decided |= bit;
            let row = |column| (documents.attributes)(first + index, column);
            let evaluation = Evaluation::new(documents.goes_on);
            let is_accepted = filter.prepared.accepts(&Metered::new(&evaluation, row));
            let steps = evaluation.units.get() / UNITS_PER_STEP;
            // Several queries may have this filter, so its steps are no single query's.
            let goes_on = meter.spend(steps, documents.goes_on);
            // What a stopped evaluation gave is of no use.
            if !goes_on || evaluation.is_stopped() {
                meter.end(steps >= QUERY_STEPS_MAX);
                return false;
            }
            verdict.accepted |= u64::from(is_accepted) << index;
        }
        verdict.accepted & bit != 0
    }
}
