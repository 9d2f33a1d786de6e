//! Occurrences, and the window in which those of a `~N` are looked for.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::reference::Span;

/// An occurrence: a word, or several joined words, at a place of the document.
#[derive(Clone, Copy, Debug)]
pub struct Hit {
    /// Number of the field.
    pub field: u8,
    /// Position of the first word, from 1.
    pub start: u32,
    /// Number of positions that it covers.
    pub(super) length: u32,
    /// Place in the query, from 0.
    pub place: u32,
    /// As [`Joined::span`].
    pub span: u32,
    /// As [`Joined::weight`].
    pub weight: u32,
    /// The term's number, if it is a single word.
    pub term: Option<u32>,
    /// The operand that it belongs to, while operands are joined.
    pub(super) operand: u32,
}

impl Hit {
    pub(super) fn at(&self) -> u64 {
        u64::from(self.field) << 32 | u64::from(self.start)
    }
}

/// The latest places of the words of a `~N`, as far as they lie in the window.
#[derive(Debug, Default)]
pub(super) struct Window {
    latest: Vec<Option<Span>>,
    /// Number of words with a known place.
    known: usize,
    /// The places that were added and may still be the latest, rising.
    order: VecDeque<(Span, usize)>,
    /// Number of known places by their shift: position less place in the query.
    shifts: FxHashMap<i64, u32>,
    /// Number of known places that share their shift with another: words in a run.
    pub(super) in_runs: u32,
}

impl Window {
    /// Forgets all places, for this many words.
    pub(super) fn clear(&mut self, words: usize) {
        self.latest.clear();
        self.latest.resize(words, None);
        self.order.clear();
        self.shifts.clear();
        (self.known, self.in_runs) = (0, 0);
    }

    /// Adds a place behind all others, and forgets places `most` or more before it.
    pub(super) fn add(&mut self, span: Span, number: usize, most: u32) {
        self.set(number, Some(span));
        self.order.push_back((span, number));
        while let Some((first, known)) = self.order.front().copied() {
            let is_latest = self.latest[known] == Some(first);
            if is_latest && first.field == span.field && span.start - first.start < most {
                break;
            }
            self.order.pop_front();
            if is_latest {
                self.set(known, None);
            }
        }
    }

    /// The first known place, if all words are known.
    pub(super) fn whole(&self) -> Option<Span> {
        let first = self.order.front().map(|(first, _)| *first);
        first.filter(|_| self.known == self.latest.len())
    }

    pub(super) fn drop_first(&mut self) {
        if let Some((_, number)) = self.order.pop_front() {
            self.set(number, None);
        }
    }

    fn set(&mut self, number: usize, span: Option<Span>) {
        let shift = |span: Span| i64::from(span.start) - number as i64;
        if let Some(before) = std::mem::replace(&mut self.latest[number], span) {
            self.known -= 1;
            let count = self.shifts.entry(shift(before)).or_default();
            self.in_runs -= shared(*count);
            *count -= 1;
            self.in_runs += shared(*count);
        }
        if let Some(now) = span {
            self.known += 1;
            let count = self.shifts.entry(shift(now)).or_default();
            self.in_runs -= shared(*count);
            *count += 1;
            self.in_runs += shared(*count);
        }
    }
}

fn shared(count: u32) -> u32 {
    if count > 1 { count } else { 0 }
}
