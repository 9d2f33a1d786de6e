//! The operators on positions, over sorted lists.

use super::buffers::{Buffers, Spans};
use super::document::Document;
use super::prepared::{Proximity, Standing};
use crate::reference::Span;
use crate::tree::Unit;

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

impl Standing {
    /// The places where the term stands.
    pub(super) fn spans<'d, D: Document>(
        &self,
        document: &'d D,
        buffers: &mut Buffers,
    ) -> Spans<'d> {
        let all = document.standing(self.term);
        if self.is_free() || all.is_empty() {
            return Spans::Lent(all);
        }
        let mut found = buffers.take();
        let here = all.iter().filter(|span| self.holds(span, document));
        found.extend(here.copied());
        Spans::Own(found)
    }
}

/// The stretches of the words at their distances.
pub(super) fn phrase<D: Document>(
    words: &[(Standing, u32)],
    document: &D,
    buffers: &mut Buffers,
) -> Vec<Span> {
    let Some(((first, _), rest)) = words.split_first() else {
        return Vec::new();
    };
    let first = first.spans(document, buffers);
    let mut found = buffers.own(first);
    for (word, distance) in rest {
        if found.is_empty() {
            break;
        }
        let standing = word.spans(document, buffers);
        found.retain_mut(|span| {
            span.end = span.start.saturating_add(*distance);
            let wanted = Span {
                start: span.end,
                ..*span
            };
            standing.binary_search(&wanted).is_ok()
        });
        buffers.give(standing);
    }
    found
}

/// The shortest window from each place of a term. A term that is listed twice needs two places.
pub(super) fn proximity<D: Document>(
    asked: &Proximity,
    document: &D,
    buffers: &mut Buffers,
) -> Vec<Span> {
    let most = asked.slack.saturating_add(asked.listed.len() as u32);
    let mut standing = std::mem::take(&mut buffers.numbered);
    let mut wanted = std::mem::take(&mut buffers.counts);
    let mut found = buffers.take();
    standing.clear();
    let mut stands_all = true;
    for (number, (at, _)) in asked.distinct.iter().enumerate() {
        let of_term = match asked.listed.get(*at) {
            Some((term, _)) => term.spans(document, buffers),
            None => Spans::Lent(&[]),
        };
        stands_all &= !of_term.is_empty();
        standing.extend(of_term.iter().map(|span| (*span, number)));
        buffers.give(of_term);
        if !stands_all {
            break;
        }
    }
    if stands_all {
        standing.sort_unstable();
        for field in standing.chunk_by(|a, b| a.0.field == b.0.field) {
            wanted.clear();
            wanted.extend(asked.distinct.iter().map(|(_, times)| *times));
            windows(field, &mut wanted, most, &mut found);
        }
    }
    buffers.numbered = standing;
    buffers.counts = wanted;
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

/// One step of ORDER: from each span so far on to the span of the next part that ends soonest. `ends`: a buffer.
pub(super) fn order(found: &mut Vec<Span>, part: &[Span], ends: &mut Vec<u64>) {
    // By span: the soonest end from it on. A later field ends later.
    ends.clear();
    ends.resize(part.len() + 1, u64::MAX);
    for (index, span) in part.iter().enumerate().rev() {
        ends[index] = end(span).min(ends[index + 1]);
    }
    found.retain_mut(|so_far| {
        let next = part.partition_point(|span| start(span) <= end(so_far));
        let one = ends[next];
        so_far.end = one as u32; // the position; the next line compares the field
        one >> 32 == u64::from(so_far.field)
    });
}

/// The spans of a list that have a span of the other list near; see the reference.
pub(super) fn near<'s>(
    list: &'s [Span],
    others: &'s [Span],
    most: u32,
) -> impl Iterator<Item = &'s Span> {
    // Both lists rise: `begun` others begin before the span, and `furthest` is the furthest end of these. An earlier field ends
    // earlier.
    let (mut begun, mut furthest, mut next) = (0, 0, 0);
    list.iter().filter(move |span| {
        while let Some(other) = others.get(begun)
            && start(other) < start(span)
        {
            furthest = end(other).max(furthest);
            begun += 1;
        }
        next = begun.max(next);
        while others
            .get(next)
            .is_some_and(|other| start(other) == start(span))
        {
            next += 1;
        }
        let is_before = begun > 0 && furthest >= behind(span, most);
        let behind = others.get(next);
        is_before || behind.is_some_and(|next| start(next) <= reach(span, most))
    })
}

/// Whether each part has a span behind that of the part before, in one field.
pub(super) fn is_ordered(parts: &[Spans<'_>]) -> bool {
    let Some((first, rest)) = parts.split_first() else {
        return false;
    };
    // What ends soonest leaves most room behind it.
    let soonest = |spans: &[Span], field: u8| {
        let mut soonest: Option<u64> = None;
        for span in spans {
            if span.field != field || soonest.is_some_and(|end| start(span) > end) {
                break;
            }
            soonest = Some(soonest.map_or(end(span), |least| least.min(end(span))));
        }
        soonest
    };
    let mut fields = first.chunk_by(|one, other| one.field == other.field);
    fields.any(|in_field| {
        let field = in_field.first().map_or(0, |span| span.field);
        let mut so_far = soonest(in_field, field);
        for part in rest {
            let Some(end) = so_far else { break };
            let next = part.partition_point(|span| start(span) <= end);
            so_far = soonest(&part[next..], field);
        }
        so_far.is_some()
    })
}

/// Keeps the spans of the left side that no span of the right one overlaps or is near. `ends`: a buffer.
pub(super) fn not_near(left: &mut Vec<Span>, right: &[Span], most: u32, ends: &mut Vec<u64>) {
    // By span, the furthest end up to it. An earlier field ends earlier.
    ends.clear();
    ends.extend(right.iter().scan(0, |furthest, span| {
        *furthest = end(span).max(*furthest);
        Some(*furthest)
    }));
    left.retain(|span| {
        let begun = right.partition_point(|other| start(other) <= reach(span, most));
        let furthest = begun.checked_sub(1).and_then(|last| ends.get(last));
        furthest.is_none_or(|end| *end < behind(span, most))
    });
}

/// The spans that lie in a sentence or paragraph in which every operand has a span.
pub(super) fn together<D: Document>(
    unit: Unit,
    parts: &[Spans<'_>],
    document: &D,
    found: &mut Vec<Span>,
) {
    let common: Units = common_units(unit, parts, document).collect();
    let spans = parts.iter().flat_map(|part| part.iter());
    found.extend(spans.filter(|span| common.hold(span)).copied());
}

/// Sentences or paragraphs of a document, rising.
pub(super) struct Units(Vec<Stretch>);

/// A sentence or a paragraph: its first and its last place.
#[derive(Clone, Copy)]
pub(super) struct Stretch {
    first: u64,
    last: u64,
}

impl FromIterator<Stretch> for Units {
    fn from_iter<I: IntoIterator<Item = Stretch>>(units: I) -> Units {
        Units(units.into_iter().collect())
    }
}

impl Units {
    /// Whether a span lies in one of the units.
    pub(super) fn hold(&self, span: &Span) -> bool {
        let begun = self.0.partition_point(|unit| unit.first <= start(span));
        let last = begun.checked_sub(1).and_then(|at| self.0.get(at));
        last.is_some_and(|unit| end(span) <= unit.last)
    }
}

impl Stretch {
    /// Whether one of the spans, which rise, lies in the unit.
    fn holds_any(&self, spans: &[Span]) -> bool {
        let first = spans.partition_point(|span| start(span) < self.first);
        let begun = spans[first..].iter();
        let mut begun = begun.take_while(|span| start(span) <= self.last);
        begun.any(|span| end(span) <= self.last)
    }
}

/// The units in which every part has a span, rising. Only the units of the part of the fewest spans are looked at.
pub(super) fn common_units<'d, D: Document>(
    unit: Unit,
    parts: &'d [Spans<'d>],
    document: &'d D,
) -> impl Iterator<Item = Stretch> {
    let rarest = (0..parts.len()).min_by_key(|part| parts[*part].len());
    let spans = rarest.map_or(&[][..], |part| &parts[part]);
    let mut last: Option<Stretch> = None;
    let units = spans.iter().filter_map(move |span| {
        if last.is_some_and(|unit| start(span) <= unit.last) {
            return None;
        }
        let (first, end_of_unit) = document.unit_bounds(unit, span.field, span.start);
        let stretch = Stretch {
            first: at(span.field, first),
            last: at(span.field, end_of_unit),
        };
        // A span that crosses the unit's end leaves it to the next span of the unit.
        (end(span) <= stretch.last).then(|| *last.insert(stretch))
    });
    units.filter(move |unit| {
        let mut others = parts.iter().enumerate();
        others.all(|(part, spans)| Some(part) == rarest || unit.holds_any(spans))
    })
}
