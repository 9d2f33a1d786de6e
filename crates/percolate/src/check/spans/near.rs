//! Parts near each other, and away from each other.
//!
//! Example: `a NEAR/2 b` in the text `a x a x x b`. The spans of `a` are 1 and 3, that of `b` is 6. 1 has no `b` up to 3 and 3
//! has none up to 5: nothing matches. `NEAR/3` keeps 3 and 6, but not 1.
//!
//! Both lists are sorted by start, so the nearest span behind the next one lies close to that behind the one at hand. Each list
//! is walked beside the other: for spans of single words the cost is linear, and never more than the logarithm of the other list
//! for each span.

use super::{List, Lists, Span, before, further, narrow::seek};
use crate::check::places::At;

impl Lists {
    /// The spans of either list that have one of the other near: behind it, or inside of it, but not with one start.
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

    /// The spans of the left list that no span of the right one overlaps or is near.
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

/// The furthest end up to each span of a list; an earlier field ends earlier.
fn furthest_ends(list: &List, ends: &mut Vec<At>) {
    ends.clear();
    ends.extend(list.spans.iter().scan(0, |furthest, span| {
        *furthest = span.end.max(*furthest);
        Some(*furthest)
    }));
}

/// Adds the spans of a list that have one of the other list near.
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

/// Two sorted lists, each without duplicates, as one.
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
