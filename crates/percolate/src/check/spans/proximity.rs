//! `"a b"~n`: terms in any order within a window.
//!
//! Example: `"a b"~1` in `a x x b a`. The window may span fewer than 1 + 2 positions. From the `a` at 1 the shortest
//! window ends at 4 and is too long; from the `b` at 4 it ends at 5 and matches. From the `a` at 5 there is none.

use super::{Document, Lists, Span};
use crate::{
    check::{code::GROUP, places::At},
    meter::Meter,
};

/// Buffers of the search for windows.
#[derive(Debug, Default)]
pub(super) struct Window {
    /// Places of all terms, each with the term's number, sorted.
    places: Vec<(At, u32)>,
    /// By term: how many more places the window needs.
    wanting: Vec<i64>,
    wanted: Vec<i64>,
}

impl Lists {
    /// The shortest window from each place of a term. A term that is listed twice needs two places.
    pub(super) fn proximity(
        &mut self,
        operands: &[u32],
        document: Document<'_>,
        meter: &mut Meter,
    ) {
        let (groups, _) = operands.as_chunks::<GROUP>();
        self.push();
        let window = &mut self.window;
        window.places.clear();
        window.wanted.clear();
        for (equal, number) in groups.chunk_by(|a, b| a == b).zip(0..) {
            window.wanted.push(equal.len() as i64);
            if let Some(group) = equal.first() {
                // Each place is sorted, and both ends of the window pass it.
                let places = 4 * document.places_of(group).len();
                if !meter.spend((equal.len() + places) as u64, document.slice.goes_on) {
                    return;
                }
                let places = document.standing(group);
                window.places.extend(places.map(|at| (at, number)));
            }
        }
        window.places.sort_unstable();
        let slack = groups.first().map_or(0, |group| group[3]);
        let most = slack.saturating_add(groups.len() as u32);
        let spans = &mut self.lists[self.depth - 1].spans;
        for field in window.places.chunk_by(|a, b| a.0 >> 32 == b.0 >> 32) {
            window.wanting.clone_from(&window.wanted);
            slide(field, &mut window.wanting, most, spans);
        }
        let matched = !spans.is_empty();
        self.settle(matched);
    }
}

/// The windows of one field. Both ends of the window only move on.
fn slide(places: &[(At, u32)], wanting: &mut [i64], most: u32, spans: &mut Vec<Span>) {
    let mut missing = wanting.len();
    let mut end = 0;
    for (begin, (start, term)) in places.iter().enumerate() {
        let is_first = begin == 0 || places[begin - 1].0 != *start;
        while is_first && missing > 0 {
            let Some((_, term)) = places.get(end) else {
                return;
            };
            let wanting = &mut wanting[*term as usize];
            *wanting -= 1;
            missing -= usize::from(*wanting == 0);
            end += 1;
        }
        if is_first && let Some((last, _)) = places.get(end - 1) {
            let beyond = (*start as u32).saturating_add(most - 1);
            if (*last as u32) < beyond {
                spans.push(Span {
                    start: *start,
                    end: *last,
                });
            }
        }
        let wanting = &mut wanting[*term as usize];
        *wanting += 1;
        missing += usize::from(*wanting == 1);
    }
}
