//! Pairs of neighbouring words, as terms of their own.
//!
//! A phrase of two words is one term, so no document needs to be looked at again. A phrase of three words is a pair
//! whose left part is a pair, and so on.
//!
//! Example: queries name `"storm warning"` and `"storm warning system"`; the words have the terms 5, 6 and 7.
//!
//! ```text
//! pair    left  right  begins another
//! 8       5     6      yes
//! 9       8     7      no
//! ```
//!
//! In `storm warning system down` the neighbours 5 and 6 give the term 8. Since 8 begins a pair, the matcher looks up
//! 8 and 7, which gives 9.
//!
//! Pairs lie in layers, each at least [`LAYER_RATIO`] times as long as the next, so a change copies the smallest
//! alone.
//!
//! Invariants of a layer:
//! - `likely` and `begins` have the bit of every pair. A missing bit loses hits; a spare bit costs one look-up.
//! - Pairs of the same two words in other fields form a chain by `next`, and `heads` points to the newest.

mod heads;

use std::sync::Arc;

use heads::{Heads, Slot};
use language::tree::FieldSet;

use crate::{fetch::Fetch, term::TermId};

/// In `Pair::next`: the chain ends.
const NONE: u32 = u32::MAX;

/// See the layers above.
const LAYER_RATIO: usize = 4;

/// A pair that a phrase names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    /// The plain terms of its words. The left one may be a pair's.
    pub(crate) left: TermId,
    pub(crate) right: TermId,
    pub(crate) fields: FieldSet,
    pub(crate) term: TermId,
    /// Index of the next pair of the same words in the layer, or [`NONE`].
    next: u32,
}

#[derive(Clone, Debug, Default)]
struct Layer {
    /// By two words: their newest pair.
    heads: Heads,
    pairs: Vec<Pair>,
    /// Bitmap by term: the term begins a pair.
    begins: Vec<u64>,
    /// A bitmap by the hash of two words. It turns away most neighbours that are no pair, in nearer memory than the
    /// table.
    likely: Vec<u64>,
}

/// Pairs for each 64-bit block of `likely`: at most this many, and at least half. A small bitmap that stays in near
/// memory gains more than one that is never wrong.
const PAIRS_PER_WORD: usize = 8;

/// Hash of two words.
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

/// All pairs that queries name. A clone shares the layers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pairs {
    layers: Vec<Arc<Layer>>,
}

impl Pairs {
    /// Whether there is no pair.
    pub(crate) fn is_empty(&self) -> bool {
        self.layers.is_empty()
    }

    /// False only for neighbours that are no pair, and for most of those.
    #[inline(always)]
    pub(crate) fn may_hold(&self, left: TermId, right: TermId) -> bool {
        let layers = self.layers.iter();
        layers.fold(false, |may, layer| may | layer.may_hold(left, right))
    }

    /// Whether some pair begins with the term.
    #[inline]
    pub(crate) fn begins(&self, left: TermId) -> bool {
        self.layers.iter().any(|layer| layer.begins(left))
    }

    /// Calls `visit` with the term of every pair of these words whose fields include `field`.
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

    /// Prefetches the table's slot of two words.
    #[inline(always)]
    pub(crate) fn fetch(&self, steps: impl Fetch, left: TermId, right: TermId) {
        let hash = hash(left, right);
        self.layers
            .iter()
            .for_each(|layer| layer.heads.fetch(steps, hash));
    }

    /// The term of a pair of these words in exactly these fields.
    pub(crate) fn find(&self, left: TermId, right: TermId, fields: FieldSet) -> Option<TermId> {
        let mut pairs = self.layers.iter().flat_map(|layer| layer.of(left, right));
        pairs
            .find(|pair| pair.fields == fields)
            .map(|pair| pair.term)
    }

    /// Adds a pair, which must be new.
    pub(crate) fn add(&mut self, left: TermId, right: TermId, fields: FieldSet, term: TermId) {
        let pair = Pair {
            left,
            right,
            fields,
            term,
            next: NONE,
        };
        // A layer that a snapshot shares must not change.
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

    /// All pairs, in no order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Pair> {
        self.layers.iter().flat_map(|layer| &layer.pairs)
    }
}
