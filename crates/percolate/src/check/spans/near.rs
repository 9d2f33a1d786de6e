//! Parts near each other, and away from each other.

use super::{List, Lists, Span, before, further, sort};
use crate::check::places::At;

impl Lists {
    /// The spans of either list that have one of the other near, not overlapping.
    pub(super) fn near(&mut self, most: u32) {
        let Lists { spans, ends, .. } = self;
        let [.., left, right] = &mut self.lists[..self.depth] else {
            return;
        };
        spans.clear();
        keep_near(left, right, most, ends, spans);
        keep_near(right, left, most, ends, spans);
        sort(spans);
        std::mem::swap(&mut left.spans, spans);
        let matched = !left.spans.is_empty();
        self.pop_to_first(2);
        self.settle(matched);
    }

    /// The spans of the left list that no span of the right one overlaps or is near.
    pub(super) fn not_near(&mut self, most: u32) {
        let ends = &mut self.ends;
        let [.., left, right] = &mut self.lists[..self.depth] else {
            return;
        };
        // The furthest end up to each place of the list; an earlier field ends earlier.
        ends.clear();
        ends.extend(right.spans.iter().scan(0, |furthest, span| {
            *furthest = span.end.max(*furthest);
            Some(*furthest)
        }));
        left.spans.retain(|span| {
            let reach = further(span.end, most);
            let begun = right.spans.partition_point(|other| other.start <= reach);
            let furthest = begun.checked_sub(1).and_then(|last| ends.get(last));
            furthest.is_none_or(|end| *end < before(span.start, most))
        });
        let matched = !left.spans.is_empty();
        self.pop_to_first(2);
        self.settle(matched);
    }
}

/// Adds the spans of a list that have one of the other list near.
fn keep_near(list: &List, others: &List, most: u32, ends: &mut Vec<At>, kept: &mut Vec<Span>) {
    ends.clear();
    ends.extend(others.spans.iter().map(|span| span.end));
    ends.sort_unstable();
    kept.extend(list.spans.iter().copied().filter(|span| {
        let next = others
            .spans
            .partition_point(|other| other.start <= span.end);
        let next = others.spans.get(next);
        let last = ends.partition_point(|end| *end < span.start);
        let last = last.checked_sub(1).and_then(|last| ends.get(last));
        next.is_some_and(|next| next.start <= further(span.end, most))
            || last.is_some_and(|last| *last >= before(span.start, most))
    }));
}
