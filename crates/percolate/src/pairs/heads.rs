//! A hash table from two words to their newest pair.

use crate::{
    fetch::Fetch,
    term::{TermId, UNKNOWN},
};

/// A table with open addressing. The slot of two words follows from their hash alone, so it can be prefetched, and
/// mostly the first slot read is the right one.
#[derive(Clone, Debug, Default)]
pub(super) struct Heads {
    /// A power of two of slots, at most half of them in use.
    slots: Vec<Slot>,
    len: usize,
}

/// Two words and their newest pair. Free where the term is [`UNKNOWN`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Slot {
    left: TermId,
    right: TermId,
    pub(super) term: TermId,
    place: u32,
}

/// Flag beside the place: the pair is the only one of its words, and may stand in any field.
const ALONE: u32 = 1 << 31;

impl Slot {
    pub(super) fn new(
        (left, right): (TermId, TermId),
        term: TermId,
        place: u32,
        alone: bool,
    ) -> Slot {
        let place = if alone { place | ALONE } else { place };
        Slot {
            left,
            right,
            term,
            place,
        }
    }

    /// Whether the pair is alone and may stand in any field: the term then says all.
    pub(super) fn is_alone(&self) -> bool {
        self.place & ALONE != 0
    }

    /// Index of the pair in its layer.
    pub(super) fn place(&self) -> u32 {
        self.place & !ALONE
    }
}

impl Heads {
    /// Prefetches the first slot of two words.
    #[inline(always)]
    pub(super) fn fetch(&self, steps: impl Fetch, hash: usize) {
        steps.fetch(&self.slots, hash & self.slots.len().wrapping_sub(1));
    }

    /// The slot of two words; `hash` is their hash.
    #[inline(always)]
    pub(super) fn find(&self, (left, right): (TermId, TermId), hash: usize) -> Option<&Slot> {
        let last = self.slots.len().checked_sub(1)?;
        let mut place = hash & last;
        loop {
            let slot = self.slots.get(place)?;
            if (slot.left, slot.right) == (left, right) && slot.term != UNKNOWN {
                return Some(slot);
            }
            if slot.term == UNKNOWN {
                return None;
            }
            place = (place + 1) & last;
        }
    }

    /// Adds a slot, or replaces the slot of the same words.
    pub(super) fn put(&mut self, slot: Slot, hash_of: impl Fn(TermId, TermId) -> usize) {
        if (self.len + 1) * 2 > self.slots.len() {
            let larger = vec![Slot::default(); (self.slots.len() * 2).max(4)];
            let before = std::mem::replace(&mut self.slots, larger);
            self.len = 0;
            let used = before.into_iter().filter(|slot| slot.term != UNKNOWN);
            used.for_each(|slot| self.place(slot, &hash_of));
        }
        self.place(slot, &hash_of);
    }

    fn place(&mut self, slot: Slot, hash_of: &impl Fn(TermId, TermId) -> usize) {
        let last = self.slots.len() - 1;
        let mut place = hash_of(slot.left, slot.right) & last;
        loop {
            let held = &mut self.slots[place];
            let is_same = (held.left, held.right) == (slot.left, slot.right);
            if held.term == UNKNOWN || is_same {
                self.len += usize::from(held.term == UNKNOWN);
                *held = slot;
                return;
            }
            place = (place + 1) & last;
        }
    }
}
