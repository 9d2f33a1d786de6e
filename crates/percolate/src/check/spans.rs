//! Operations of a check on lists of spans: where one document matches.
//!
//! They give the spans of `language::reference::spans`, in time near to linear in the places of the terms. Lists are
//! sorted, and each operation walks or halves them. A list is never longer than the lists of its operands together.
//!
//! Invariants:
//! - The spans of a list are sorted, each once.
//! - A list that did not match has no spans. A list may match without spans, as a negation does.

mod narrow;
mod near;
mod order;
mod proximity;
mod terms;

use super::{
    Slice,
    code::{self, Operation, Spans},
    places::{At, Places},
};
use crate::meter::Meter;

/// A stretch of one field, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Span {
    start: At,
    end: At,
}

/// Lists, and spans of each, that are kept from slice to slice: 4 MiB at most.
const LISTS_KEPT: usize = 64;
const SPANS_KEPT: usize = 1 << 12;

/// The outcome of a node.
#[derive(Clone, Debug, Default)]
struct List {
    /// Whether the node matches; it may do so without spans.
    matched: bool,
    /// Its spans: sorted, each once.
    spans: Vec<Span>,
}

/// The stack of lists. Its memory is kept from check to check.
#[derive(Debug, Default)]
pub(super) struct Lists {
    /// The first `depth` lists are on the stack; the others are spare.
    lists: Vec<List>,
    depth: usize,
    spans: Vec<Span>,
    ends: Vec<At>,
    units: [Vec<u64>; 2],
    window: proximity::Window,
    narrow: narrow::Narrow,
}

/// The document that is being matched.
#[derive(Clone, Copy)]
struct Document<'a> {
    index: usize,
    slice: Slice<'a>,
    places: &'a Places,
}

impl Lists {
    /// Frees the memory of long lists, which few documents need.
    pub(super) fn forget(&mut self) {
        let is_short = |list: &List| list.spans.capacity() <= SPANS_KEPT;
        self.lists.retain(is_short);
        self.lists.truncate(LISTS_KEPT);
    }

    /// Whether document `index` of the slice matches the operations; false once the call has ended.
    pub(super) fn matches(
        &mut self,
        code: &[u32],
        index: usize,
        slice: Slice<'_>,
        places: &Places,
        meter: &mut Meter,
    ) -> bool {
        let document = Document {
            index,
            slice,
            places,
        };
        self.depth = 0;
        self.narrow(code, document);
        let mut at = 0;
        while let Some((Operation::Spans(operation), count)) = code::at(code, at) {
            let operands = code.get(at + 1..at + 1 + count).unwrap_or_default();
            if !self.step(operation, operands, document, meter) {
                return false;
            }
            at += 1 + count;
        }
        self.lists.first().is_some_and(|list| list.matched)
    }

    /// Does one operation; false once the call has ended. An operation on lists costs a step for each span that goes
    /// in. Operations that walk a list more than once count the rest themselves.
    fn step(
        &mut self,
        operation: Spans,
        operands: &[u32],
        document: Document<'_>,
        meter: &mut Meter,
    ) -> bool {
        let goes_on = document.slice.goes_on;
        let first = operands.first().copied().unwrap_or(0);
        let second = operands.get(1).copied().unwrap_or(0);
        if let Some(spans) = self.spans_in(operation, first as usize)
            && !meter.spend(1 + spans as u64, goes_on)
        {
            return false;
        }
        match operation {
            Spans::Word => self.word(operands, document, meter),
            Spans::Phrase => self.phrase(operands, document, meter),
            Spans::Proximity => self.proximity(operands, document, meter),
            Spans::Every => self.push().matched = true,
            Spans::Order => self.order(first as usize, document, meter),
            Spans::Near => self.near(first),
            Spans::NotNear => self.not_near(first),
            Spans::Together => self.together(first as usize, second, document),
            Spans::AtLeast => self.at_least(first as usize, second as usize),
            Spans::Maybe => {
                let matched = self.top(2).first().is_some_and(|left| left.matched);
                self.at_least(2, 1);
                self.settle(matched);
            }
            Spans::Times => {
                let is_enough = |part: &List| part.spans.len() >= first as usize;
                let matched = self.top(1).first().is_some_and(is_enough);
                self.settle(matched);
            }
            Spans::Absent => {
                if let [part] = self.top(1) {
                    part.matched = !part.matched;
                    part.spans.clear();
                }
            }
        }
        !meter.is_over()
    }

    /// The number of spans that go into an operation with that first operand; `None`: it counts its own steps.
    fn spans_in(&mut self, operation: Spans, first: usize) -> Option<usize> {
        let lists = match operation {
            Spans::Word | Spans::Phrase | Spans::Proximity => return None,
            Spans::Order | Spans::Together | Spans::AtLeast => first,
            Spans::Near | Spans::NotNear | Spans::Maybe => 2,
            Spans::Every | Spans::Absent | Spans::Times => 0,
        };
        let spans = self.top(lists).iter().map(|list| list.spans.len());
        Some(spans.sum())
    }

    /// Pushes an empty list that has not matched.
    fn push(&mut self) -> &mut List {
        if self.lists.len() == self.depth {
            self.lists.push(List::default());
        }
        self.depth += 1;
        let list = &mut self.lists[self.depth - 1];
        list.matched = false;
        list.spans.clear();
        list
    }

    /// The last `count` lists of the stack.
    fn top(&mut self, count: usize) -> &mut [List] {
        &mut self.lists[self.depth - count..self.depth]
    }

    /// Pops all but the first of the last `count` lists.
    fn pop_to_first(&mut self, count: usize) {
        self.depth -= count - 1;
    }

    /// Sets whether the list on top matched; one that did not loses its spans.
    fn settle(&mut self, matched: bool) {
        if let [list] = self.top(1) {
            list.matched = matched;
            if !matched {
                list.spans.clear();
            }
        }
    }

    /// Joins the last `count` lists: the spans of those that matched, if at least `least` did.
    fn at_least(&mut self, count: usize, least: usize) {
        let mut matched = 0;
        if let [first, rest @ ..] = self.top(count) {
            matched += usize::from(first.matched);
            for list in rest.iter().filter(|list| list.matched) {
                matched += 1;
                first.spans.extend_from_slice(&list.spans);
            }
            sort(&mut first.spans);
        }
        self.pop_to_first(count);
        self.settle(matched >= least);
    }
}

fn sort(spans: &mut Vec<Span>) {
    spans.sort_unstable();
    spans.dedup();
}

/// The place `positions` behind in its field, or the last possible place of the field.
fn further(at: At, positions: u32) -> At {
    at & !u64::from(u32::MAX) | u64::from((at as u32).saturating_add(positions))
}

/// The place `positions` before in its field, or the first possible place of the field.
fn before(at: At, positions: u32) -> At {
    at & !u64::from(u32::MAX) | u64::from((at as u32).saturating_sub(positions))
}
