//! `<<`, SENTENCE and PARAGRAPH: parts one behind the other, and parts in one unit.

use language::tree::Unit;

use super::{Document, Lists, Span, sort};
use crate::meter::Meter;

impl Lists {
    /// ORDER: from each span of the first part on to the span of the next part that ends soonest.
    pub(super) fn order(&mut self, count: usize, document: Document<'_>, meter: &mut Meter) {
        let ends = &mut self.ends;
        let [first, rest @ ..] = &mut self.lists[self.depth - count..self.depth] else {
            return;
        };
        for part in rest {
            if !meter.spend(first.spans.len() as u64, document.slice.goes_on) {
                return;
            }
            // By span: the soonest end from it on. A later field ends later.
            ends.clear();
            ends.extend(part.spans.iter().rev().scan(u64::MAX, |soonest, span| {
                *soonest = span.end.min(*soonest);
                Some(*soonest)
            }));
            ends.reverse();
            first.spans.retain_mut(|so_far| {
                let next = part.spans.partition_point(|span| span.start <= so_far.end);
                let end = ends.get(next).filter(|end| **end >> 32 == so_far.end >> 32);
                end.map(|end| so_far.end = *end).is_some()
            });
        }
        sort(&mut first.spans);
        let matched = !first.spans.is_empty();
        self.pop_to_first(count);
        self.settle(matched);
    }

    /// TOGETHER: the spans of sentences or paragraphs in which every part has a span.
    pub(super) fn together(&mut self, count: usize, unit: u32, document: Document<'_>) {
        let unit = match unit {
            0 => Unit::Sentence,
            _ => Unit::Paragraph,
        };
        let words = &document.slice.documents[document.index];
        let unit_of = |span: &Span| {
            let field = (span.start >> 32) as u8;
            let first = words.unit_at(unit, field, span.start as u32);
            let one = first == words.unit_at(unit, field, span.end as u32);
            one.then_some(u64::from(field) << 32 | u64::from(first))
        };
        let [common, units] = &mut self.units;
        let parts = &mut self.lists[self.depth - count..self.depth];
        for (number, part) in parts.iter().enumerate() {
            units.clear();
            units.extend(part.spans.iter().filter_map(unit_of));
            units.sort_unstable();
            match number {
                0 => std::mem::swap(common, units),
                _ => common.retain(|one| units.binary_search(one).is_ok()),
            }
        }
        if let [first, rest @ ..] = parts {
            for part in rest {
                first.spans.append(&mut part.spans);
            }
            first
                .spans
                .retain(|span| unit_of(span).is_some_and(|one| common.binary_search(&one).is_ok()));
            sort(&mut first.spans);
        }
        self.pop_to_first(count);
        let matched = self
            .top(1)
            .first()
            .is_some_and(|list| !list.spans.is_empty());
        self.settle(matched);
    }
}
