//! One conjunction of one query, as it is compared with documents: 16 bytes, so four to a cache line.

use crate::{
    frequency::Costs,
    limits::INLINE_TERMS,
    standing::Ordinal,
    term::{NEVER, TermId},
};

/// A term that must be there, or must not: its number doubled, and 1 if it must not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Condition(u32);

impl Condition {
    /// Satisfied by every document.
    pub(crate) const NONE: Condition = Condition::without(NEVER);

    pub(crate) const fn with(term: TermId) -> Condition {
        Condition(term << 1)
    }

    pub(crate) const fn without(term: TermId) -> Condition {
        Condition(term << 1 | 1)
    }

    /// The documents of a slice that satisfy it. No branch on which kind it is.
    #[inline(always)]
    pub(crate) fn mask(self, masks: &[u64]) -> u64 {
        let holding = masks.get((self.0 >> 1) as usize).copied().unwrap_or(0);
        holding ^ u64::from(self.0 & 1).wrapping_neg()
    }

    /// The term, and whether it must be there; none for [`Condition::NONE`].
    fn term(self) -> Option<(TermId, bool)> {
        (self != Condition::NONE).then_some((self.0 >> 1, self.0 & 1 == 0))
    }
}

/// Conditions inside an entry; the anchor is one more.
const NEAR: usize = 3;

/// Queries of a level are fewer: two bits of their numbers are taken.
pub(crate) const ORDINALS_MAX: u32 = 1 << 30;

/// The last place of `near` is the number of a [`Tail`].
const TAILED: u32 = 1 << 30;

/// Not a conjunction: `near` is a range of the level's grouped entries, and the anchor they are filed under.
const GROUP: u32 = 1 << 31;

/// One conjunction, without its anchor. Or a range of them that are filed alike.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Entry {
    query: u32,
    near: [u32; NEAR],
}

const _: () = assert!(size_of::<Entry>() == 16, "four to a cache line");

/// Entries that are filed under one anchor and, as far as their row tells, under one second term.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group {
    pub(crate) start: u32,
    pub(crate) len: u32,
    pub(crate) anchor: TermId,
}

/// What an entry has no room for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tail {
    /// Those from the third on.
    pub(crate) conditions: [Condition; INLINE_TERMS],
    /// Number of a check, if there is one.
    pub(crate) check: Option<u32>,
    /// Filed under words of an inner `Or`; its anchor is not chosen anew and is no condition.
    covered: bool,
}

impl Entry {
    pub(crate) fn of_group(group: Group) -> Entry {
        Entry {
            query: GROUP,
            near: [group.start, group.len, group.anchor],
        }
    }

    /// Whose it is.
    #[inline(always)]
    pub(crate) fn query(&self) -> Ordinal {
        self.query & (ORDINALS_MAX - 1)
    }

    /// Neither a group nor with a tail: its mask is the whole answer.
    #[inline(always)]
    pub(crate) fn is_simple(&self) -> bool {
        self.query < ORDINALS_MAX
    }

    pub(crate) fn group(&self) -> Option<Group> {
        let [start, len, anchor] = self.near;
        (self.query & GROUP != 0).then_some(Group { start, len, anchor })
    }

    /// Index of its tail.
    #[inline(always)]
    pub(crate) fn tail(&self) -> Option<usize> {
        (self.query & TAILED != 0).then_some(self.near[NEAR - 1] as usize)
    }

    /// The documents that satisfy the conditions of a simple entry.
    #[inline(always)]
    pub(crate) fn mask(&self, masks: &[u64]) -> u64 {
        let [a, b, c] = self.near.map(Condition);
        a.mask(masks) & b.mask(masks) & c.mask(masks)
    }

    /// The documents that satisfy the conditions of an entry that lie beside its tail.
    pub(crate) fn near_mask(&self, masks: &[u64]) -> u64 {
        let [a, b, _] = self.near.map(Condition);
        a.mask(masks) & b.mask(masks)
    }
}

/// An entry before it is filed, or taken out of a level to be filed again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Draft {
    pub(crate) query: Ordinal,
    /// What it is filed under; unused if it lies with those that every document is tried against.
    pub(crate) anchor: TermId,
    /// The first so many terms must be there; the anchor is one of them unless the draft is `covered`.
    pub(crate) positive: u8,
    /// So many following ones must not be there.
    pub(crate) negative: u8,
    pub(crate) covered: bool,
    pub(crate) terms: [TermId; INLINE_TERMS],
    pub(crate) check: Option<u32>,
}

impl Draft {
    /// The same, filed under that anchor.
    pub(crate) fn under(mut self, anchor: TermId) -> Draft {
        self.anchor = anchor;
        self
    }

    /// The same, filed by these costs: under the cheapest of what must be there.
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

    /// A term besides the anchor that must be there: the cheapest. The anchor if there is no other.
    pub(crate) fn second(&self) -> TermId {
        let mut others = self.positive().iter().filter(|term| **term != self.anchor);
        others.next().copied().unwrap_or(self.anchor)
    }

    /// The entry; a tail that it needs is put behind the others. `anchored` if it is reached by its anchor alone, so
    /// that the anchor need not be compared again.
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

    /// The draft that an entry was made from; its terms may have changed their order.
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
