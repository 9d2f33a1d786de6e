//! The spans at which a node matches a document.

use crate::analysis::Words;
use crate::pattern::Matcher;
use crate::tree::{FieldSet, Node, Term, Unit};

/// A stretch of one field that a node matched, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The field's number.
    pub field: u8,
    /// The first position, from 1.
    pub start: u32,
    /// The last position.
    pub end: u32,
}

impl Span {
    fn with(self, other: Span) -> Span {
        Span {
            field: self.field,
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }

    fn overlaps(self, other: Span) -> bool {
        self.field == other.field && self.start <= other.end && other.start <= self.end
    }

    /// Positions from the end of the earlier span to the start of the later. `None` if they overlap or lie in
    /// different fields.
    fn distance(self, other: Span) -> Option<u32> {
        if self.field != other.field || self.overlaps(other) {
            return None;
        }
        Some(if self.end < other.start {
            other.start - self.end
        } else {
            self.start - other.end
        })
    }
}

/// The spans at which a document matches, sorted, each once; `None` if it does not match. A node that matches by
/// absence has no spans. Cost: up to the cube of the document's length.
#[must_use]
pub fn spans(node: &Node, words: &Words) -> Option<Vec<Span>> {
    let mut found = unsorted(node, words)?;
    found.sort_unstable();
    found.dedup();
    Some(found)
}

fn unsorted(node: &Node, words: &Words) -> Option<Vec<Span>> {
    match node {
        Node::All => Some(Vec::new()),
        Node::Word(word) => some(standing(&word.term, word.fields, words)),
        Node::Repeated { word, times } => {
            let found = standing(&word.term, word.fields, words);
            some(found).filter(|found| found.len() >= *times as usize)
        }
        Node::Phrase {
            words: terms,
            fields,
        } => some(phrase(terms, *fields, words)),
        Node::Proximity {
            terms,
            fields,
            slack,
        } => some(proximity(terms, *fields, *slack, words)),
        Node::Quorum { parts, least } => {
            let matched: Vec<_> = parts.iter().filter_map(|part| spans(part, words)).collect();
            (matched.len() >= *least as usize).then(|| matched.concat())
        }
        Node::Order(parts) => some(order(&each(parts, words)?)),
        Node::Near {
            left,
            right,
            distance,
        } => some(near(&spans(left, words)?, &spans(right, words)?, *distance)),
        Node::NotNear {
            left,
            right,
            distance,
        } => {
            let right = spans(right, words).unwrap_or_default();
            some(not_near(&spans(left, words)?, &right, *distance))
        }
        Node::Together { unit, parts } => some(together(*unit, &each(parts, words)?, words)),
        Node::Maybe(left, right) => {
            let mut found = spans(left, words)?;
            found.extend(spans(right, words).unwrap_or_default());
            Some(found)
        }
        Node::And(parts) => Some(each(parts, words)?.concat()),
        Node::Or(parts) => {
            let matched: Vec<_> = parts.iter().filter_map(|part| spans(part, words)).collect();
            (!matched.is_empty()).then(|| matched.concat())
        }
        Node::Not(part) => spans(part, words).is_none().then(Vec::new),
    }
}

fn some(spans: Vec<Span>) -> Option<Vec<Span>> {
    (!spans.is_empty()).then_some(spans)
}

fn each(parts: &[Node], words: &Words) -> Option<Vec<Vec<Span>>> {
    parts.iter().map(|part| spans(part, words)).collect()
}

/// The places of a term.
fn standing(term: &Term, fields: FieldSet, words: &Words) -> Vec<Span> {
    let Ok(matcher) = Matcher::new(term) else {
        return Vec::new(); // the parser refused it
    };
    let last = |field: u8| {
        let of_field = words.iter().filter(|(_, other, _)| *other == field);
        of_field.map(|(_, _, position)| position).max()
    };
    let stands = |(text, field, position): &(&str, u8, u32)| {
        let place = term.place;
        fields.holds(*field)
            && matcher.is_match(text)
            && (!place.first || *position == 1)
            && (!place.last || Some(*position) == last(*field))
            && (place.within == 0 || *position <= place.within)
    };
    let span = |(_, field, position): (&str, u8, u32)| Span {
        field,
        start: position,
        end: position,
    };
    words.iter().filter(stands).map(span).collect()
}

fn phrase(terms: &[(Term, u32)], fields: FieldSet, words: &Words) -> Vec<Span> {
    let places: Vec<_> = terms
        .iter()
        .map(|(term, _)| standing(term, fields, words))
        .collect();
    let whole = |start: &Span| {
        let at = |distance: &u32| Span {
            start: start.start + distance,
            end: start.start + distance,
            ..*start
        };
        let rest = terms.iter().zip(&places);
        rest.clone()
            .all(|((_, distance), places)| places.binary_search(&at(distance)).is_ok())
            .then(|| terms.last().map(|(_, distance)| start.with(at(distance))))
            .flatten()
    };
    let starts = places.first();
    starts.into_iter().flatten().filter_map(whole).collect()
}

/// The shortest window from each place of a term. A term that is listed twice needs two places.
fn proximity(terms: &[Term], fields: FieldSet, slack: u32, words: &Words) -> Vec<Span> {
    let places: Vec<_> = terms
        .iter()
        .map(|term| standing(term, fields, words))
        .collect();
    let holds_all = |window: Span| {
        terms.iter().zip(&places).all(|(term, places)| {
            let wanted = terms.iter().filter(|other| *other == term).count();
            let inside = places.iter().filter(|place| window.with(**place) == window);
            inside.filter(|place| place.field == window.field).count() >= wanted
        })
    };
    let most = slack.saturating_add(terms.len() as u32);
    let mut found = Vec::new();
    for start in places.iter().flatten() {
        let ends = (start.start..start.start.saturating_add(most - 1)).take_while(|_| most > 1);
        let windows = ends.map(|end| Span { end, ..*start });
        found.extend(windows.into_iter().find(|window| holds_all(*window)));
    }
    found
}

fn order(parts: &[Vec<Span>]) -> Vec<Span> {
    let Some((firsts, rest)) = parts.split_first() else {
        return Vec::new();
    };
    let chain = |first: &Span| {
        rest.iter().try_fold(*first, |so_far, part| {
            let behind = part
                .iter()
                .filter(|next| next.field == so_far.field && next.start > so_far.end);
            behind
                .min_by_key(|next| next.end)
                .map(|next| so_far.with(*next))
        })
    };
    firsts.iter().filter_map(chain).collect()
}

/// The spans of either side that have a span of the other side near. Of two near spans, the later starts inside of
/// the other or at most `most` behind its end; two spans with one start are not near. The stretches between are no
/// spans: so the result has no more spans than the operands, and whatever is near a pair is near one of the two.
fn near(left: &[Span], right: &[Span], most: u32) -> Vec<Span> {
    let follows = |first: &Span, second: &Span| {
        let reach = first.end.saturating_add(most);
        first.field == second.field && first.start < second.start && second.start <= reach
    };
    let is_near = |one: &Span, other: &Span| follows(one, other) || follows(other, one);
    let of_left = left.iter().filter(|l| right.iter().any(|r| is_near(l, r)));
    let of_right = right.iter().filter(|r| left.iter().any(|l| is_near(l, r)));
    of_left.chain(of_right).copied().collect()
}

fn not_near(left: &[Span], right: &[Span], most: u32) -> Vec<Span> {
    let is_near = |l: &Span, r: &Span| {
        l.overlaps(*r) || l.distance(*r).is_some_and(|distance| distance <= most)
    };
    let lonely = left.iter().filter(|l| !right.iter().any(|r| is_near(l, r)));
    lonely.copied().collect()
}

/// The spans that lie in a sentence or paragraph in which every operand has a span.
fn together(unit: Unit, parts: &[Vec<Span>], words: &Words) -> Vec<Span> {
    let unit_of = |span: &Span| {
        let first = words.unit_at(unit, span.field, span.start);
        (first == words.unit_at(unit, span.field, span.end)).then_some((span.field, first))
    };
    let in_all = |span: &&Span| {
        unit_of(span).is_some_and(|wanted| {
            parts
                .iter()
                .all(|part| part.iter().any(|other| unit_of(other) == Some(wanted)))
        })
    };
    parts.iter().flatten().filter(in_all).copied().collect()
}
