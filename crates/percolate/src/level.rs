//! One level: an immutable run of standing queries, filed under the terms that they require.
//!
//! Example: three queries, ids 4, 9 and 12.
//!
//! ```text
//! ordinal  id  query                       entries (one for each conjunction)
//! 0        4   storm gulf -flood           under gulf: with storm, without flood
//! 1        9   "storm warning" | coast     under the pair; under coast     has_alternatives
//! 2        12  (empty text), lang = 'en'   always                          filter_of[2] = 0
//! ```
//!
//! A document with `storm` alone tries query 12 only. A document with `gulf` tries the entry of query 4: `storm` must
//! be in the document and `flood` must not. Query 12 is a candidate of every document; its filter decides.
//!
//! Invariants:
//! - `ids` rises, and `ids[n]` is the id of `queries[n]`. So a level is searched by id without a table, its hits come
//!   out in the order of ids, and merging levels is merging runs.
//! - Each conjunction is an entry under each of its anchors, or in `always`. A document that satisfies it holds an
//!   anchor, so no hit is missed.
//! - Up to `SCANNED_MAX` filed entries lie in `scanned`; rows, `entries` and `grouped` are then empty. More lie in
//!   `entries`, at the rank of their bit (see `rows.rs`), and `scanned` is empty.
//! - With `has_alternatives` one query and document may be found twice and out of order: sorting removes the second.

pub(crate) mod builder;

use std::sync::Arc;

use crate::{
    anchors::Anchors,
    check::{Checks, Slice, Workspace},
    entry::{Draft, Entry, Group, Tail},
    fetch::Fetch,
    filter::Filter,
    rows::Rows,
    standing::{Ordinal, StandingQuery},
    term::TermId,
};

/// In `filter_of`: the query has no filter.
pub(crate) const NO_FILTER: u32 = u32::MAX;

/// An immutable level; see the head of this file.
#[derive(Debug, Default)]
pub(crate) struct Level {
    /// The queries, by id ascending.
    pub(crate) queries: Box<[Arc<StandingQuery>]>,
    /// The ids of the queries, in the same order.
    pub(crate) ids: Box<[u64]>,
    pub(crate) anchors: Anchors,
    pub(crate) rows: Rows,
    /// The filed entries of a level that has few; empty in others.
    pub(crate) scanned: Scanned,
    /// An item for each bit set in the rows, in their order: an entry, or the range in `grouped` of entries that
    /// share the bit.
    pub(crate) entries: Box<[Entry]>,
    pub(crate) grouped: Box<[Entry]>,
    /// Entries without an anchor: every document is tried against them.
    pub(crate) always: Box<[Entry]>,
    /// Whether a query has more than one entry. Its documents may then be found out of order.
    pub(crate) has_alternatives: bool,
    tails: Box<[Tail]>,
    checks: Checks,
    /// By query, the index of its filter in `filters`, or [`NO_FILTER`]. Ends with the last query that has a filter.
    filter_of: Box<[u32]>,
    filters: Box<[Filter]>,
}

/// Entries that are decided one after the other for a whole slice.
#[derive(Debug, Default)]
pub(crate) struct Scanned {
    /// The anchor of each entry, in the order of `entries`.
    pub(crate) anchors: Box<[TermId]>,
    pub(crate) entries: Box<[Entry]>,
}

impl Level {
    /// The ordinal of a query, removed or not. Cost: a binary search.
    pub(crate) fn find(&self, id: u64) -> Option<Ordinal> {
        self.ids
            .binary_search(&id)
            .ok()
            .map(|index| index as Ordinal)
    }

    /// The number of queries, removed ones included.
    pub(crate) fn len(&self) -> usize {
        self.queries.len()
    }

    /// Memory that matching reads, in bytes: all but the queries and their filters.
    pub(crate) fn hot_bytes(&self) -> usize {
        self.anchors.bytes()
            + self.rows.bytes()
            + size_of_val(&*self.ids)
            + size_of_val(&*self.scanned.anchors)
            + size_of_val(&*self.scanned.entries)
            + size_of_val(&*self.entries)
            + size_of_val(&*self.grouped)
            + size_of_val(&*self.always)
            + size_of_val(&*self.tails)
            + self.checks.bytes()
            + size_of_val(&*self.filter_of)
    }

    /// The entries of a group.
    #[inline(always)]
    pub(crate) fn in_group(&self, group: Group) -> &[Entry] {
        let range = group.start as usize..(group.start + group.len) as usize;
        self.grouped.get(range).unwrap_or_default()
    }

    /// Whether any of its queries has a filter.
    pub(crate) fn has_filters(&self) -> bool {
        !self.filters.is_empty()
    }

    /// The filter of a query, if it has one.
    #[inline]
    pub(crate) fn filter(&self, query: Ordinal) -> Option<&Filter> {
        let place = *self.filter_of.get(query as usize)?;
        self.filters.get(place as usize)
    }

    /// Prefetches the place of a query's filter.
    #[inline(always)]
    pub(crate) fn fetch_filter_place(&self, steps: impl Fetch, query: Ordinal) {
        steps.fetch(&self.filter_of, query as usize);
    }

    /// Prefetches a query's filter; reads its place.
    #[inline(always)]
    pub(crate) fn fetch_filter(&self, steps: impl Fetch, query: Ordinal) {
        let place = self.filter_of.get(query as usize).copied();
        steps.fetch(&self.filters, place.unwrap_or(0) as usize);
    }

    /// Prefetches the tail of an entry.
    #[inline(always)]
    pub(crate) fn fetch_tail(&self, steps: impl Fetch, entry: &Entry) {
        if let Some(tail) = entry.tail() {
            steps.fetch(&self.tails, tail);
        }
    }

    /// Prefetches the check of an entry; reads its tail.
    #[inline(always)]
    pub(crate) fn fetch_check(&self, steps: impl Fetch, entry: &Entry) {
        let tail = entry.tail().and_then(|tail| self.tails.get(tail));
        if let Some(check) = tail.and_then(|tail| tail.check) {
            self.checks.fetch(steps, check);
        }
    }

    /// The documents in `among` that satisfy the entry. All of them must hold the entry's anchor, or the entry has
    /// none. Of a removed query the check is not run.
    #[inline(always)]
    pub(crate) fn verify(
        &self,
        entry: &Entry,
        among: u64,
        slice: Slice<'_>,
        checking: &mut Workspace,
    ) -> u64 {
        if entry.is_simple() {
            return among & entry.mask(slice.masks);
        }
        match among & entry.near_mask(slice.masks) {
            0 => 0,
            left => self.verify_tail(entry, left, slice, checking),
        }
    }

    fn verify_tail(
        &self,
        entry: &Entry,
        among: u64,
        slice: Slice<'_>,
        checking: &mut Workspace,
    ) -> u64 {
        let Some(tail) = entry.tail().and_then(|tail| self.tails.get(tail)) else {
            return 0;
        };
        let conditions = tail.conditions.iter();
        let left = conditions.fold(among, |left, condition| left & condition.mask(slice.masks));
        match tail.check {
            Some(_) if left == 0 || slice.removed.holds(entry.query()) => 0,
            Some(check) => {
                checking.meter.ask(entry.query());
                self.checks.run(check, left, slice, checking)
            }
            None => left,
        }
    }

    /// Every entry as a draft: first the filed ones by anchor ascending, then those without an anchor.
    fn drafts(&self) -> (Vec<Draft>, Vec<Draft>) {
        let mut anchors = Vec::new();
        self.anchors.each(|anchor, row| anchors.push((anchor, row)));
        anchors.sort_unstable_by_key(|(anchor, _)| *anchor);
        let mut filed = Vec::with_capacity(self.entries.len() + self.grouped.len());
        for (anchor, row) in anchors {
            for rank in self.rows.ranks(row) {
                let entry = &self.entries[rank as usize];
                let entries = match entry.group() {
                    Some(group) => self.in_group(group),
                    None => std::slice::from_ref(entry),
                };
                let drafts = entries.iter();
                filed.extend(drafts.map(|entry| Draft::again(entry, Some(anchor), &self.tails)));
            }
        }
        let scanned = self.scanned.entries.iter().zip(&self.scanned.anchors);
        filed
            .extend(scanned.map(|(entry, anchor)| Draft::again(entry, Some(*anchor), &self.tails)));
        let always = self.always.iter();
        let always = always.map(|entry| Draft::again(entry, None, &self.tails));
        (filed, always.collect())
    }
}
