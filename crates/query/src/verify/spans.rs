//! The spans at which a node matches.

use super::operators::{near, not_near, order, phrase, proximity, together};
use super::terms::Places;
use crate::reference::Span;
use crate::tree::Node;

/// The spans at which a node matches: sorted, each once. `None` if it does not match.
pub(crate) fn spans(node: &Node, places: &Places<'_>) -> Option<Vec<Span>> {
    let mut found = unsorted(node, places)?;
    found.sort_unstable();
    found.dedup();
    Some(found)
}

fn unsorted(node: &Node, places: &Places<'_>) -> Option<Vec<Span>> {
    let of = |part: &Node| spans(part, places);
    match node {
        Node::All => Some(Vec::new()),
        Node::Word(word) => some(places.standing(&word.term, word.fields)),
        Node::Repeated { word, times } => {
            let found = places.standing(&word.term, word.fields);
            (found.len() >= *times as usize).then_some(found)
        }
        Node::Phrase { words, fields } => some(phrase(words, *fields, places)),
        Node::Proximity {
            terms,
            fields,
            slack,
        } => some(proximity(terms, *fields, *slack, places)),
        Node::Quorum { parts, least } => at_least(parts, *least as usize, places),
        Node::Order(parts) => some(order(each(parts, places)?)),
        Node::Near {
            left,
            right,
            distance,
        } => some(near(&of(left)?, &of(right)?, *distance)),
        Node::NotNear {
            left,
            right,
            distance,
        } => some(not_near(
            of(left)?,
            &of(right).unwrap_or_default(),
            *distance,
        )),
        Node::Together { unit, parts } => {
            some(together(*unit, &each(parts, places)?, places.words))
        }
        Node::Maybe(left, right) => {
            let mut found = of(left)?;
            found.extend(of(right).unwrap_or_default());
            Some(found)
        }
        Node::And(parts) => Some(each(parts, places)?.concat()),
        Node::Or(parts) => at_least(parts, 1, places),
        Node::Not(part) => of(part).is_none().then(Vec::new),
    }
}

fn some(spans: Vec<Span>) -> Option<Vec<Span>> {
    (!spans.is_empty()).then_some(spans)
}

fn each(parts: &[Node], places: &Places<'_>) -> Option<Vec<Vec<Span>>> {
    parts.iter().map(|part| spans(part, places)).collect()
}

fn at_least(parts: &[Node], least: usize, places: &Places<'_>) -> Option<Vec<Span>> {
    let matched = parts.iter().filter_map(|part| spans(part, places));
    let matched: Vec<_> = matched.collect();
    (matched.len() >= least).then(|| matched.concat())
}
