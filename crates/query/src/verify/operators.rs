//! The operators on positions, over sorted lists.

use rustc_hash::FxHashMap;

use super::terms::Places;
use crate::analysis::Words;
use crate::reference::Span;
use crate::tree::{FieldSet, Term, Unit};

/// A place: the field above the position.
fn at(field: u8, position: u32) -> u64 {
    u64::from(field) << 32 | u64::from(position)
}

fn start(span: &Span) -> u64 {
    at(span.field, span.start)
}

fn end(span: &Span) -> u64 {
    at(span.field, span.end)
}

/// The last place that is at most `most` behind a span.
fn reach(span: &Span, most: u32) -> u64 {
    at(span.field, span.end.saturating_add(most))
}

/// The first place that is at most `most` before a span.
fn behind(span: &Span, most: u32) -> u64 {
    at(span.field, span.start.saturating_sub(most))
}

/// Spans, prepared for the question whether a word lies in one of them.
pub(super) struct Bound {
    /// Their starts, rising.
    starts: Vec<u64>,
    /// By span, the furthest end up to it. An earlier field ends earlier.
    ends: Vec<u64>,
}

impl Bound {
    /// From spans sorted by start.
    pub(super) fn of(spans: impl Iterator<Item = Span>) -> Bound {
        let (starts, mut ends): (Vec<u64>, Vec<u64>) =
            spans.map(|span| (start(&span), end(&span))).unzip();
        let mut furthest = 0;
        for end in &mut ends {
            furthest = furthest.max(*end);
            *end = furthest;
        }
        Bound { starts, ends }
    }

    /// Whether one of the spans covers `span`.
    pub(super) fn holds(&self, span: &Span) -> bool {
        let begun = self.starts.partition_point(|begin| *begin <= start(span));
        let furthest = begun.checked_sub(1).and_then(|last| self.ends.get(last));
        furthest.is_some_and(|furthest| end(span) <= *furthest)
    }
}

pub(super) fn phrase(terms: &[(Term, u32)], fields: FieldSet, places: &Places<'_>) -> Vec<Span> {
    let mut found: Option<Vec<Span>> = None;
    for (term, distance) in terms {
        let standing = places.standing(term, fields);
        match &mut found {
            None => found = Some(standing),
            Some(found) => found.retain_mut(|span| {
                span.end = span.start.saturating_add(*distance);
                let wanted = Span {
                    start: span.end,
                    ..*span
                };
                standing.binary_search(&wanted).is_ok()
            }),
        }
        if found.as_ref().is_some_and(Vec::is_empty) {
            break;
        }
    }
    found.unwrap_or_default()
}

/// The shortest window from each place of a term. A term that is listed twice needs two places.
pub(super) fn proximity(
    terms: &[Term],
    fields: FieldSet,
    slack: u32,
    places: &Places<'_>,
) -> Vec<Span> {
    let most = slack.saturating_add(terms.len() as u32);
    let mut numbers: FxHashMap<&Term, usize> = FxHashMap::default();
    let (mut wanted, mut standing) = (Vec::new(), Vec::new());
    for term in terms {
        let number = *numbers.entry(term).or_insert(wanted.len());
        if number == wanted.len() {
            wanted.push(0i64);
            let of_term = places.standing(term, fields).into_iter();
            standing.extend(of_term.map(|span| (span, number)));
        }
        wanted[number] += 1;
    }
    standing.sort_unstable();
    let mut found = Vec::new();
    for field in standing.chunk_by(|a, b| a.0.field == b.0.field) {
        windows(field, &mut wanted.clone(), most, &mut found);
    }
    found
}

/// The windows of one field. Both ends of the window only move on. `wanting`: by term, the places that the window
/// lacks.
fn windows(places: &[(Span, usize)], wanting: &mut [i64], most: u32, found: &mut Vec<Span>) {
    let mut missing = wanting.len();
    let mut next = 0;
    for (begin, (first, term)) in places.iter().enumerate() {
        let is_first = begin == 0 || places[begin - 1].0 != *first;
        while is_first && missing > 0 {
            let Some((_, term)) = places.get(next) else {
                return;
            };
            wanting[*term] -= 1;
            missing -= usize::from(wanting[*term] == 0);
            next += 1;
        }
        if is_first && let Some((last, _)) = places.get(next - 1) {
            let window = Span {
                end: last.end,
                ..*first
            };
            if window.end - window.start < most - 1 {
                found.push(window);
            }
        }
        wanting[*term] += 1;
        missing += usize::from(wanting[*term] == 1);
    }
}

/// ORDER: from each span of the first part on to the span of the next part that ends soonest.
pub(super) fn order(parts: Vec<Vec<Span>>) -> Vec<Span> {
    let mut parts = parts.into_iter();
    let mut found = parts.next().unwrap_or_default();
    for part in parts {
        // By span: the soonest end from it on. A later field ends later.
        let mut soonest = vec![u64::MAX; part.len() + 1];
        for (index, span) in part.iter().enumerate().rev() {
            soonest[index] = end(span).min(soonest[index + 1]);
        }
        found.retain_mut(|so_far| {
            let next = part.partition_point(|span| start(span) <= end(so_far));
            let one = soonest[next];
            so_far.end = one as u32; // the position; the next line compares the field
            one >> 32 == u64::from(so_far.field)
        });
    }
    found
}

/// The spans of either side that have a span of the other near; see the reference.
pub(super) fn near(left: &[Span], right: &[Span], most: u32) -> Vec<Span> {
    let mut found = Vec::new();
    for (list, others) in [(left, right), (right, left)] {
        let furthest = furthest_ends(others);
        let is_near = |span: &&Span| {
            let next = others.partition_point(|other| start(other) <= start(span));
            let next = others.get(next);
            let begun = others.partition_point(|other| start(other) < start(span));
            let before = begun.checked_sub(1).and_then(|last| furthest.get(last));
            next.is_some_and(|next| start(next) <= reach(span, most))
                || before.is_some_and(|end| *end >= behind(span, most))
        };
        found.extend(list.iter().filter(is_near).copied());
    }
    found
}

/// By span of a list, the furthest end up to it. An earlier field ends earlier.
fn furthest_ends(spans: &[Span]) -> Vec<u64> {
    let ends = spans.iter().scan(0, |furthest, span| {
        *furthest = end(span).max(*furthest);
        Some(*furthest)
    });
    ends.collect()
}

/// The spans of the left side that no span of the right one overlaps or is near.
pub(super) fn not_near(mut left: Vec<Span>, right: &[Span], most: u32) -> Vec<Span> {
    let furthest = furthest_ends(right);
    left.retain(|span| {
        let begun = right.partition_point(|other| start(other) <= reach(span, most));
        let furthest = begun.checked_sub(1).and_then(|last| furthest.get(last));
        furthest.is_none_or(|end| *end < behind(span, most))
    });
    left
}

/// The spans that lie in a sentence or paragraph in which every operand has a span.
pub(super) fn together(unit: Unit, parts: &[Vec<Span>], words: &Words) -> Vec<Span> {
    let common = units_of_all(unit, parts, words);
    let in_all = |span: &&Span| common.holds(span, words);
    parts.iter().flatten().filter(in_all).copied().collect()
}

/// Sentences or paragraphs of a document.
pub(super) struct Units {
    unit: Unit,
    /// Field and number of each, rising.
    firsts: Vec<u64>,
}

/// The units in which every part has a span.
pub(super) fn units_of_all(unit: Unit, parts: &[Vec<Span>], words: &Words) -> Units {
    let mut common: Option<Vec<u64>> = None;
    for part in parts {
        let mut firsts: Vec<u64> = part
            .iter()
            .filter_map(|span| unit_of(unit, span, words))
            .collect();
        firsts.sort_unstable();
        match &mut common {
            None => common = Some(firsts),
            Some(common) => common.retain(|one| firsts.binary_search(one).is_ok()),
        }
    }
    let firsts = common.unwrap_or_default();
    Units { unit, firsts }
}

impl Units {
    /// Whether a span lies in one of the units.
    pub(super) fn holds(&self, span: &Span, words: &Words) -> bool {
        let unit = unit_of(self.unit, span, words);
        unit.is_some_and(|first| self.firsts.binary_search(&first).is_ok())
    }
}

/// Field and number of the unit that holds a span; `None` if it crosses a bound.
fn unit_of(unit: Unit, span: &Span, words: &Words) -> Option<u64> {
    let first = words.unit_at(unit, span.field, span.start);
    (first == words.unit_at(unit, span.field, span.end)).then(|| at(span.field, first))
}
