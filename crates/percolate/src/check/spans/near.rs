//! NEAR and NOTNEAR: parts near each other, and away from each other.
//!
//! Example: `a NEAR/2 b` in the text `a x a x x b`. The spans of `a` are 1 and 3, the span of `b` is 6. No `b` stands
//! up to 3, and none up to 5: nothing matches. `NEAR/3` keeps 3 and 6, but not 1.
//!
//! Both lists are sorted by start, so the span next to one lies close to the span next to its successor. Each list is
//! walked beside the other. For spans of single words the cost is linear; it never exceeds the logarithm of the other
//! list for each span.

use super::{List, Lists, Span, before, further, narrow::seek};
use crate::check::places::At;

impl Lists {
    /// NEAR: the spans of either list that have a span of the other near. Of two near spans, the later starts inside
    /// of the other or at most the distance behind its end. Two spans with the same start are not near.
    pub(super) fn near(&mut self, most: u32) {
        let Lists { spans, ends, .. } = self;
        let [.., left, right] = &mut self.lists[..self.depth] else {
            return;
        };
        spans.clear();
        keep_near(left, right, most, ends, spans);
        let kept = spans.len();
        if kept > 0 {
            keep_near(right, left, most, ends, spans);
        }
        let (of_left, of_right) = spans.split_at(kept);
        left.spans.clear();
        merge(of_left, of_right, &mut left.spans);
        let matched = !left.spans.is_empty();
        self.pop_to_first(2);
        self.settle(matched);
    }

    /// NOTNEAR: the spans of the left list that no span of the right one overlaps or is near.
    pub(super) fn not_near(&mut self, most: u32) {
        let ends = &mut self.ends;
        let [.., left, right] = &mut self.lists[..self.depth] else {
            return;
        };
        furthest_ends(right, ends);
        let mut begun = 0;
        left.spans.retain(|span| {
            let reach = further(span.end, most);
            begun = seek(&right.spans, begun, |other| other.start <= reach);
            let furthest = begun.checked_sub(1).and_then(|last| ends.get(last));
            furthest.is_none_or(|end| *end < before(span.start, most))
        });
        let matched = !left.spans.is_empty();
        self.pop_to_first(2);
        self.settle(matched);
    }
}

/// By span of a list: the furthest end up to it. An earlier field ends earlier.
fn furthest_ends(list: &List, ends: &mut Vec<At>) {
    ends.clear();
    ends.extend(list.spans.iter().scan(0, |furthest, span| {
        *furthest = span.end.max(*furthest);
        Some(*furthest)
    }));
}

/// Adds the spans of a list that have a span of `others` near.
fn keep_near(list: &List, others: &List, most: u32, ends: &mut Vec<At>, kept: &mut Vec<Span>) {
    furthest_ends(others, ends);
    let (mut next, mut begun) = (0, 0);
    kept.extend(list.spans.iter().copied().filter(|span| {
        next = seek(&others.spans, next, |other| other.start <= span.start);
        begun = seek(&others.spans, begun, |other| other.start < span.start);
        let following = others.spans.get(next);
        let furthest = begun.checked_sub(1).and_then(|last| ends.get(last));
        following.is_some_and(|following| following.start <= further(span.end, most))
            || furthest.is_some_and(|end| *end >= before(span.start, most))
    }));
}

/// Merges two sorted lists, each without duplicates.
fn merge(mut left: &[Span], mut right: &[Span], merged: &mut Vec<Span>) {
    merged.reserve(left.len() + right.len());
    while let ([first, left_rest @ ..], [second, right_rest @ ..]) = (left, right) {
        merged.push(*first.min(second));
        left = if first <= second { left_rest } else { left };
        right = if second <= first { right_rest } else { right };
    }
    merged.extend_from_slice(left);
    merged.extend_from_slice(right);
}
