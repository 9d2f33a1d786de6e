//! One conjunction of one query, as it is compared with documents: 16 bytes, so four entries fill a cache line.
//!
//! Example: the query `storm gulf -flood`, where the terms are 9, 70 and 12 and the anchor is 9.
//!
//! ```text
//! Entry { query: 0, near: [140, 25, 3] }
//!     140 = 2·70      term 70 must be there
//!     25 = 2·12 + 1   term 12 must not be there; 3 = NONE, no condition
//!
//! masks of a slice of three documents   [9] = 111   [70] = 110   [12] = 100   (document 0 is the right bit)
//! mask(masks) = 110 & !100 = 010; with the mask of the anchor, 111 & 010: document 1 hits
//! ```
//!
//! A conjunction of more than three conditions beside the anchor, or with a check, has a [`Tail`]. Bit 30 of `query`
//! is then set, and the last place of `near` is the tail's index. Where entries share a bit of a row, bit 31 marks
//! a group: `near` is then a range of the level's grouped entries and their anchor.
//!
//! Invariants:
//! - An entry that is reached by its anchor does not repeat it. The caller passes only documents that hold the
//!   anchor.
//! - A free place of `near` is [`Condition::NONE`], so all places can be evaluated without a branch.

use crate::{
    frequency::Costs,
    limits::INLINE_TERMS,
    standing::Ordinal,
    term::{NEVER, TermId},
};

/// A term that must be there, or must not: twice the term's number, plus 1 if it must not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Condition(u32);

impl Condition {
    /// Every document satisfies it: it excludes the term that no document holds.
    pub(crate) const NONE: Condition = Condition::without(NEVER);

    pub(crate) const fn with(term: TermId) -> Condition {
        Condition(term << 1)
    }

    pub(crate) const fn without(term: TermId) -> Condition {
        Condition(term << 1 | 1)
    }

    /// The documents of a slice that satisfy it. There is no branch on the kind of condition.
    #[inline(always)]
    pub(crate) fn mask(self, masks: &[u64]) -> u64 {
        let holding = masks.get((self.0 >> 1) as usize).copied().unwrap_or(0);
        holding ^ u64::from(self.0 & 1).wrapping_neg()
    }

    /// The term, and whether it must be there; `None` for [`Condition::NONE`].
    fn term(self) -> Option<(TermId, bool)> {
        (self != Condition::NONE).then_some((self.0 >> 1, self.0 & 1 == 0))
    }
}

/// Conditions inside an entry, besides the anchor.
const NEAR: usize = 3;

/// A level has fewer queries: the two upper bits of an entry's query are flags.
pub(crate) const ORDINALS_MAX: u32 = 1 << 30;

/// Flag: the last place of `near` is the index of a [`Tail`].
const TAILED: u32 = 1 << 30;

/// Flag: the entry is a group.
const GROUP: u32 = 1 << 31;

/// One conjunction without its anchor, or a group; see the head of this file.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Entry {
    query: u32,
    near: [u32; NEAR],
}

const _: () = assert!(size_of::<Entry>() == 16, "four to a cache line");

/// Entries that have one anchor and whose second terms share a bit: a range of the level's grouped entries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group {
    pub(crate) start: u32,
    pub(crate) len: u32,
    pub(crate) anchor: TermId,
}

/// The part of a conjunction for which its entry has no room.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tail {
    /// The conditions from the third on; free places are [`Condition::NONE`].
    pub(crate) conditions: [Condition; INLINE_TERMS],
    /// Number of the check among the level's checks, if it has one.
    pub(crate) check: Option<u32>,
    /// The anchors are terms of an inner `Or`. They are no conditions, and refiling does not choose them anew.
    covered: bool,
}

impl Entry {
    pub(crate) fn of_group(group: Group) -> Entry {
        Entry {
            query: GROUP,
            near: [group.start, group.len, group.anchor],
        }
    }

    /// The query that it belongs to. Without meaning for a group.
    #[inline(always)]
    pub(crate) fn query(&self) -> Ordinal {
        self.query & (ORDINALS_MAX - 1)
    }

    /// Whether it is neither a group nor has a tail: its mask is then the whole answer.
    #[inline(always)]
    pub(crate) fn is_simple(&self) -> bool {
        self.query < ORDINALS_MAX
    }

    pub(crate) fn group(&self) -> Option<Group> {
        let [start, len, anchor] = self.near;
        (self.query & GROUP != 0).then_some(Group { start, len, anchor })
    }

    /// Index of its tail, if it has one.
    #[inline(always)]
    pub(crate) fn tail(&self) -> Option<usize> {
        (self.query & TAILED != 0).then_some(self.near[NEAR - 1] as usize)
    }

    /// The documents that satisfy the three conditions of a simple entry.
    #[inline(always)]
    pub(crate) fn mask(&self, masks: &[u64]) -> u64 {
        let [a, b, c] = self.near.map(Condition);
        a.mask(masks) & b.mask(masks) & c.mask(masks)
    }

    /// The documents that satisfy the two conditions beside a tail's index.
    pub(crate) fn near_mask(&self, masks: &[u64]) -> u64 {
        let [a, b, _] = self.near.map(Condition);
        a.mask(masks) & b.mask(masks)
    }
}

/// An entry before it is filed, or taken out of a level to be filed again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Draft {
    pub(crate) query: Ordinal,
    /// The term that it is filed under; unused for an entry that every document is tried against.
    pub(crate) anchor: TermId,
    /// Number of leading `terms` that must be there. The anchor is one of them unless the draft is `covered`.
    pub(crate) positive: u8,
    /// Number of further `terms` that must not be there.
    pub(crate) negative: u8,
    pub(crate) covered: bool,
    pub(crate) terms: [TermId; INLINE_TERMS],
    pub(crate) check: Option<u32>,
}

impl Draft {
    /// The draft filed under `anchor`.
    pub(crate) fn under(mut self, anchor: TermId) -> Draft {
        self.anchor = anchor;
        self
    }

    /// Sorts the required terms by cost and files the draft under the cheapest, unless it is `covered`.
    pub(crate) fn refile(&mut self, costs: &Costs<'_>) {
        let positive = &mut self.terms[..usize::from(self.positive)];
        positive.sort_unstable_by_key(|term| (costs.of(*term), *term));
        if let Some(cheapest) = positive.first()
            && !self.covered
        {
            self.anchor = *cheapest;
        }
    }

    pub(crate) fn positive(&self) -> &[TermId] {
        &self.terms[..usize::from(self.positive)]
    }

    fn negative(&self) -> &[TermId] {
        &self.terms[usize::from(self.positive)..][..usize::from(self.negative)]
    }

    /// The cheapest required term besides the anchor; the anchor if there is no other.
    pub(crate) fn second(&self) -> TermId {
        let mut others = self.positive().iter().filter(|term| **term != self.anchor);
        others.next().copied().unwrap_or(self.anchor)
    }

    /// The entry; its tail, if it needs one, is pushed to `tails`. `anchored`: a matcher reaches the entry only by
    /// its anchor, which is then left out of the conditions.
    pub(crate) fn entry(&self, anchored: bool, tails: &mut Vec<Tail>) -> Entry {
        let known = |term: TermId| anchored && !self.covered && term == self.anchor;
        let positive = self.positive().iter().filter(|term| !known(**term));
        let mut conditions = positive
            .map(|term| Condition::with(*term))
            .chain(self.negative().iter().map(|term| Condition::without(*term)));
        let mut next = || conditions.next().unwrap_or(Condition::NONE);
        let near = [next(), next()];
        let rest: [Condition; INLINE_TERMS] = std::array::from_fn(|_| next());
        let simple = !self.covered && self.check.is_none() && rest[1] == Condition::NONE;
        if simple {
            return Entry {
                query: self.query,
                near: [near[0].0, near[1].0, rest[0].0],
            };
        }
        tails.push(Tail {
            conditions: rest,
            check: self.check,
            covered: self.covered,
        });
        Entry {
            query: self.query | TAILED,
            near: [near[0].0, near[1].0, tails.len() as u32 - 1],
        }
    }

    /// The draft that an entry was made from; its terms may be in another order.
    pub(crate) fn again(entry: &Entry, anchor: Option<TermId>, tails: &[Tail]) -> Draft {
        let tail = entry.tail().and_then(|tail| tails.get(tail));
        let [a, b, c] = entry.near.map(Condition);
        let covered = tail.is_some_and(|tail| tail.covered);
        let last = [c];
        let rest: &[Condition] = tail.map_or(&last, |tail| &tail.conditions);
        let conditions = || [a, b].into_iter().chain(rest.iter().copied());
        let known = anchor.filter(|_| !covered);
        let of_kind = |kind: bool| {
            let terms = conditions().filter_map(Condition::term);
            terms
                .filter(move |(_, with)| *with == kind)
                .map(|(term, _)| term)
        };
        let positive = known.into_iter().chain(of_kind(true));
        let mut terms = [NEVER; INLINE_TERMS];
        for (place, term) in terms.iter_mut().zip(positive.clone().chain(of_kind(false))) {
            *place = term;
        }
        Draft {
            query: entry.query(),
            anchor: anchor.unwrap_or(NEVER),
            positive: positive.count() as u8,
            negative: of_kind(false).count() as u8,
            covered,
            terms,
            check: tail.and_then(|tail| tail.check),
        }
    }
}
