//! Chains of NEAR in long documents: only the neighbourhood of the rarest word is read.
//!
//! Example: `a NEAR/2 a NEAR/3 b` with one `b`, at 900. A match has all its words within 2 + 3 positions of a `b`. So
//! only the places of `a` from 895 to 905 are taken: ten at most, even if the document holds `a` a million times.
//!
//! This holds for trees of words and NEAR alone. Each NEAR joins words that are at most its distance apart, so a
//! place further off takes part in no match. Leaving it out adds no match, since such a tree negates nothing.

use super::{Document, Lists, before, further};
use crate::check::{
    code::{self, GROUP, Operation, Spans},
    places::At,
};

/// Least words of a document. In a shorter one, finding the rarest word costs more than it saves. Few in tests, whose
/// reference is slow.
const WORDS_MIN: usize = if cfg!(test) { 32 } else { 256 };

/// Least ratio of the commonest word's places to the rarest word's.
const RARER_MIN: usize = if cfg!(test) { 2 } else { 8 };

/// Stretches of a document: rising, apart from each other, both ends included.
#[derive(Debug, Default)]
pub(super) struct Narrow {
    /// Whether words are read in the stretches alone.
    is_on: bool,
    stretches: Vec<(At, At)>,
}

impl Lists {
    /// Finds the stretches to which the operations can be limited, if that is worth it.
    pub(super) fn narrow(&mut self, operations: &[u32], document: Document<'_>) {
        self.narrow.is_on = false;
        if document.slice.documents[document.index].len() < WORDS_MIN {
            return;
        }
        let Some((reach, rarest, most)) = chain(operations, document) else {
            return;
        };
        if rarest.len() * RARER_MIN > most {
            return;
        }
        let Narrow { is_on, stretches } = &mut self.narrow;
        *is_on = true;
        stretches.clear();
        for at in rarest {
            let (low, high) = (before(*at, reach), further(*at, reach));
            match stretches.last_mut() {
                Some((_, last)) if low <= *last => *last = high,
                _ => stretches.push((low, high)),
            }
        }
    }
}

impl Narrow {
    /// Calls `visit` with the places of a word that lie in the stretches, run by run.
    pub(super) fn each_run<'p>(&self, places: &'p [At], mut visit: impl FnMut(&'p [At])) {
        if !self.is_on {
            return visit(places);
        }
        let mut from = 0;
        for (low, high) in &self.stretches {
            from = seek(places, from, |at| at < low);
            let end = seek(places, from, |at| at <= high);
            visit(&places[from..end]);
            from = end;
        }
    }
}

/// For operations that are words and NEAR alone: the sum of the distances, the places of the rarest word, and the
/// number of places of the commonest. Else `None`.
fn chain<'d>(operations: &[u32], document: Document<'d>) -> Option<(u32, &'d [At], usize)> {
    let (mut at, mut reach, mut most) = (0, 0_u32, 0);
    let mut rarest: Option<&[At]> = None;
    while let Some((Operation::Spans(operation), count)) = code::at(operations, at) {
        let operands = operations.get(at + 1..at + 1 + count)?;
        match operation {
            Spans::Near => reach = reach.saturating_add(*operands.first()?),
            Spans::Word => {
                let places = document.places_of(operands.first_chunk::<GROUP>()?);
                most = places.len().max(most);
                let is_rarer = rarest.is_none_or(|rarest| places.len() < rarest.len());
                rarest = if is_rarer { Some(places) } else { rarest };
            }
            Spans::Phrase
            | Spans::Proximity
            | Spans::Every
            | Spans::Order
            | Spans::NotNear
            | Spans::Together
            | Spans::AtLeast
            | Spans::Maybe
            | Spans::Absent
            | Spans::Times => return None,
        }
        at += 1 + count;
    }
    Some((reach, rarest?, most))
}

/// A list of at most this many items is searched whole: galloping would mispredict its branches.
const SHORT: usize = if cfg!(test) { 3 } else { 16 };

/// The result of `partition_point`, searched outwards from `from`. Cost: the logarithm of the distance.
#[inline]
pub(super) fn seek<T>(list: &[T], from: usize, is_before: impl Fn(&T) -> bool) -> usize {
    if list.len() <= SHORT {
        return list.partition_point(is_before);
    }
    let mut step = 1;
    let (mut low, mut high) = (from, from);
    if from > 0 && !is_before(&list[from - 1]) {
        while low > 0 && !is_before(&list[low - 1]) {
            high = low - 1;
            low = low.saturating_sub(step);
            step *= 2;
        }
    } else {
        while high < list.len() && is_before(&list[high]) {
            low = high + 1;
            high = (high + step).min(list.len());
            step *= 2;
        }
    }
    low + list[low..high].partition_point(is_before)
}
