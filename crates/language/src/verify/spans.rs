//! The spans at which a node matches.

use super::buffers::{Buffers, Spans};
use super::document::Document;
use super::operators::{near, not_near, order, phrase, proximity, together};
use super::prepared::{Kind, Prepared};
use crate::reference::Span;

/// The spans at which a node matches: sorted, each once. `None` if it does not match, and where the work was stopped.
pub(super) fn spans<'d, D: Document>(
    node: &Prepared,
    document: &'d D,
    buffers: &mut Buffers,
) -> Option<Spans<'d>> {
    match buffers.is_stopped() {
        true => None,
        false => of_node(node, document, buffers),
    }
}

fn of_node<'d, D: Document>(
    node: &Prepared,
    document: &'d D,
    buffers: &mut Buffers,
) -> Option<Spans<'d>> {
    match &node.kind {
        Kind::All => Some(Spans::Lent(&[])),
        Kind::Word(word) => some(word.spans(document, buffers), buffers),
        Kind::Repeated(word, times) => {
            let found = word.spans(document, buffers);
            let is_enough = found.len() >= *times as usize;
            kept(found, is_enough, buffers)
        }
        Kind::Phrase(words) => {
            let found = phrase(words, document, buffers);
            some(sorted(found), buffers)
        }
        Kind::Proximity(asked) => {
            let found = proximity(asked, document, buffers);
            some(sorted(found), buffers)
        }
        Kind::AtLeast(parts, least) => at_least(parts, *least as usize, document, buffers),
        Kind::And(parts) => at_least(parts, parts.len(), document, buffers),
        Kind::Order(parts) => in_order(parts, document, buffers),
        Kind::Near(asked) => {
            let left = spans(&asked.left, document, buffers)?;
            let Some(right) = spans(&asked.right, document, buffers) else {
                return none(left, buffers);
            };
            let mut found = buffers.take();
            found.extend(near(&left, &right, asked.distance));
            found.extend(near(&right, &left, asked.distance));
            buffers.give(left);
            buffers.give(right);
            some(sorted(found), buffers)
        }
        Kind::NotNear(left, right, distance) => {
            let left = spans(left, document, buffers)?;
            let Some(right) = spans(right, document, buffers) else {
                return some(left, buffers);
            };
            let mut found = buffers.own(left);
            not_near(&mut found, &right, *distance, &mut buffers.ends);
            buffers.give(right);
            some(Spans::Own(found), buffers)
        }
        Kind::Together(unit, parts) => {
            let each = each(parts, document, buffers)?;
            let mut found = buffers.take();
            together(*unit, &each, document, &mut found);
            each.into_iter().for_each(|part| buffers.give(part));
            some(sorted(found), buffers)
        }
        Kind::Maybe(left, right) => {
            let left = spans(left, document, buffers)?;
            let Some(right) = spans(right, document, buffers) else {
                return Some(left);
            };
            let mut found = buffers.own(left);
            found.extend_from_slice(&right);
            buffers.give(right);
            Some(sorted(found))
        }
        Kind::Not(part) => match spans(part, document, buffers) {
            Some(found) => none(found, buffers),
            None => Some(Spans::Lent(&[])),
        },
    }
}

/// The spans of ORDER.
fn in_order<'d, D: Document>(
    parts: &[Prepared],
    document: &'d D,
    buffers: &mut Buffers,
) -> Option<Spans<'d>> {
    let (first, rest) = parts.split_first()?;
    let first = spans(first, document, buffers)?;
    let mut found = buffers.own(first);
    for part in rest {
        let Some(part) = spans(part, document, buffers) else {
            return none(Spans::Own(found), buffers);
        };
        order(&mut found, &part, &mut buffers.ends);
        buffers.give(part);
    }
    some(sorted(found), buffers)
}

/// The spans of all parts; `None` if one does not match.
pub(super) fn each<'d, D: Document>(
    parts: &[Prepared],
    document: &'d D,
    buffers: &mut Buffers,
) -> Option<Vec<Spans<'d>>> {
    let mut all = Vec::with_capacity(parts.len());
    for part in parts {
        match spans(part, document, buffers) {
            Some(found) => all.push(found),
            None => {
                all.into_iter().for_each(|part| buffers.give(part));
                return None;
            }
        }
    }
    Some(all)
}

fn some<'d>(spans: Spans<'d>, buffers: &mut Buffers) -> Option<Spans<'d>> {
    let is_any = !spans.is_empty();
    kept(spans, is_any, buffers)
}

fn kept<'d>(spans: Spans<'d>, is_kept: bool, buffers: &mut Buffers) -> Option<Spans<'d>> {
    match is_kept {
        true => Some(spans),
        false => none(spans, buffers),
    }
}

fn none<'d>(spans: Spans<'_>, buffers: &mut Buffers) -> Option<Spans<'d>> {
    buffers.give(spans);
    None
}

fn sorted<'d>(mut spans: Vec<Span>) -> Spans<'d> {
    if !spans.is_sorted() {
        spans.sort_unstable();
    }
    spans.dedup();
    Spans::Own(spans)
}

/// Spans up to which nobody looks whether some are the same.
const FEW_SPANS: usize = if cfg!(test) { 4 } else { 1 << 12 };

fn at_least<'d, D: Document>(
    parts: &[Prepared],
    least: usize,
    document: &'d D,
    buffers: &mut Buffers,
) -> Option<Spans<'d>> {
    let (mut matched, mut few) = (0, FEW_SPANS);
    let mut found: Option<Spans<'d>> = None;
    for (at, part) in parts.iter().enumerate() {
        if matched + (parts.len() - at) < least {
            break;
        }
        let Some(more) = spans(part, document, buffers) else {
            continue;
        };
        matched += 1;
        found = Some(match found {
            None => more,
            Some(before) => {
                let mut all = buffers.own(before);
                all.extend_from_slice(&more);
                buffers.give(more);
                if all.len() > few {
                    // A term that the query has often gives the same spans as often.
                    all.sort();
                    all.dedup();
                    few = all.len().saturating_mul(2).max(FEW_SPANS);
                }
                Spans::Own(all)
            }
        });
    }
    match (matched >= least, found) {
        (true, Some(Spans::Own(all))) => Some(sorted(all)),
        (true, Some(lent)) => Some(lent),
        (true, None) => Some(Spans::Lent(&[])),
        (false, Some(found)) => none(found, buffers),
        (false, None) => None,
    }
}
