//! Pairs of neighbouring words, as terms of their own.
//!
//! A phrase of two words is one such term: no document needs to be looked at again. One of three is a pair whose left part
//! is a pair, and so on. Pairs lie in a few layers, each at
//! least [`LAYER_RATIO`] times the next, so that a change copies the smallest alone.

mod heads;

use std::sync::Arc;

use query::tree::FieldSet;

use crate::{fetch::Fetch, term::TermId};
use heads::{Heads, Slot};

/// No pair.
const NONE: u32 = u32::MAX;

/// See above.
const LAYER_RATIO: usize = 4;

/// A pair that some phrase asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    /// The plain terms of its words; the left one may be a pair's.
    pub(crate) left: TermId,
    pub(crate) right: TermId,
    pub(crate) fields: FieldSet,
    pub(crate) term: TermId,
    /// The next one of the same words, or [`NONE`].
    next: u32,
}

#[derive(Clone, Debug, Default)]
struct Layer {
    /// The first pair of two words: the one that was added last.
    heads: Heads,
    pairs: Vec<Pair>,
    /// Bit by term: begins a pair.
    begins: Vec<u64>,
    /// Bits by pair, a few for each: most neighbours are told from pairs here, in nearer memory than the table.
    likely: Vec<u64>,
}

/// Pairs for each word of 64 bits in `likely`, at most; at least half as many. A table that stays in near memory is worth
/// more than one that is never wrong.
const PAIRS_PER_WORD: usize = 8;

/// Two words as a number.
fn hash(left: TermId, right: TermId) -> usize {
    let both = u64::from(left) << 32 | u64::from(right);
    (both.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize
}

fn set(bits: &mut [u64], hash: usize) {
    let word = (hash / 64) & (bits.len() - 1);
    bits[word] |= 1 << (hash % 64);
}

impl Layer {
    fn add(&mut self, pair: Pair) {
        let (words, place) = ((pair.left, pair.right), self.pairs.len() as u32);
        let before = self.heads.find(words, hash(pair.left, pair.right));
        let next = before.map_or(NONE, Slot::place);
        let pair = Pair { next, ..pair };
        let is_alone = next == NONE && pair.fields == FieldSet::ALL;
        self.heads
            .put(Slot::new(words, pair.term, place, is_alone), hash);
        self.pairs.push(pair);
        let word = pair.left as usize / 64;
        if self.begins.len() <= word {
            self.begins.resize(word + 1, 0);
        }
        self.begins[word] |= 1 << (pair.left % 64);
        if self.pairs.len() > self.likely.len() * PAIRS_PER_WORD {
            self.likely = vec![0; (self.pairs.len() * 2 / PAIRS_PER_WORD).next_power_of_two()];
            for pair in &self.pairs {
                set(&mut self.likely, hash(pair.left, pair.right));
            }
        }
        set(&mut self.likely, hash(pair.left, pair.right));
    }

    #[inline]
    fn may_hold(&self, left: TermId, right: TermId) -> bool {
        let hash = hash(left, right);
        let last = self.likely.len().saturating_sub(1);
        let word = self.likely.get((hash / 64) & last);
        word.is_some_and(|word| (word >> (hash % 64)) & 1 == 1)
    }

    fn begins(&self, term: TermId) -> bool {
        let word = self.begins.get(term as usize / 64).copied().unwrap_or(0);
        word >> (term % 64) & 1 == 1
    }

    /// Every pair of two words.
    fn of(&self, left: TermId, right: TermId) -> impl Iterator<Item = &Pair> {
        let head = self.heads.find((left, right), hash(left, right));
        let first = head.and_then(|head| self.pairs.get(head.place() as usize));
        std::iter::successors(first, |pair| self.pairs.get(pair.next as usize))
    }

    #[inline(always)]
    fn each(&self, left: TermId, right: TermId, field: u8, visit: &mut impl FnMut(TermId)) {
        let Some(head) = self.heads.find((left, right), hash(left, right)) else {
            return;
        };
        if head.is_alone() {
            return visit(head.term);
        }
        let pairs = self.of(left, right);
        pairs
            .filter(|pair| pair.fields.holds(field))
            .for_each(|pair| visit(pair.term));
    }
}

/// All pairs. A clone shares the layers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pairs {
    layers: Vec<Arc<Layer>>,
}

impl Pairs {
    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.layers.is_empty()
    }

    /// False for most neighbours that are no pair.
    #[inline(always)]
    pub(crate) fn may_hold(&self, left: TermId, right: TermId) -> bool {
        let layers = self.layers.iter();
        layers.fold(false, |may, layer| may | layer.may_hold(left, right))
    }

    /// Whether a pair begins with the term.
    #[inline]
    pub(crate) fn begins(&self, left: TermId) -> bool {
        self.layers.iter().any(|layer| layer.begins(left))
    }

    /// Calls `visit` with the term of every pair of these words that standing in `field` satisfies.
    #[inline]
    pub(crate) fn each(
        &self,
        left: TermId,
        right: TermId,
        field: u8,
        mut visit: impl FnMut(TermId),
    ) {
        let layers = self.layers.iter();
        layers
            .filter(|layer| layer.may_hold(left, right))
            .for_each(|layer| layer.each(left, right, field, &mut visit));
    }

    /// Asks for the memory of what there is of two words.
    #[inline(always)]
    pub(crate) fn fetch(&self, steps: impl Fetch, left: TermId, right: TermId) {
        let hash = hash(left, right);
        self.layers
            .iter()
            .for_each(|layer| layer.heads.fetch(steps, hash));
    }

    /// The term of a pair, if there is one.
    pub(crate) fn find(&self, left: TermId, right: TermId, fields: FieldSet) -> Option<TermId> {
        let mut pairs = self.layers.iter().flat_map(|layer| layer.of(left, right));
        pairs
            .find(|pair| pair.fields == fields)
            .map(|pair| pair.term)
    }

    /// Adds a pair that is not there yet.
    pub(crate) fn add(&mut self, left: TermId, right: TermId, fields: FieldSet, term: TermId) {
        let pair = Pair {
            left,
            right,
            fields,
            term,
            next: NONE,
        };
        // A layer that a snapshot shares is left alone.
        let own = self.layers.pop_if(|layer| Arc::get_mut(layer).is_some());
        let mut layer = own.unwrap_or_default();
        Arc::make_mut(&mut layer).add(pair);
        while let Some(before) = self
            .layers
            .pop_if(|before| before.pairs.len() < layer.pairs.len() * LAYER_RATIO)
        {
            let (mut large, small) = (before, layer);
            let merged = Arc::make_mut(&mut large);
            small.pairs.iter().for_each(|pair| merged.add(*pair));
            layer = large;
        }
        self.layers.push(layer);
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Pair> {
        self.layers.iter().flat_map(|layer| &layer.pairs)
    }
}
