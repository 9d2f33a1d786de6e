//! One level: an immutable run of standing queries, filed under the words they need.
//!
//! Queries lie in rising id, so a level is searched by id without a table, hits come out in the order of ids, and
//! merging levels is merging runs. An entry is found by its anchor's row and the bit of its second term.

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

/// A query without a filter.
pub(crate) const NO_FILTER: u32 = u32::MAX;

/// A level.
#[derive(Debug, Default)]
pub(crate) struct Level {
    /// By id ascending.
    pub(crate) queries: Box<[Arc<StandingQuery>]>,
    /// Their ids.
    pub(crate) ids: Box<[u64]>,
    pub(crate) anchors: Anchors,
    pub(crate) rows: Rows,
    /// In a level of few entries all of them, each under its anchor; nothing is filed then.
    pub(crate) scanned: Scanned,
    /// One for each bit of the rows, in their order: an entry, or the range in `grouped` of those that share the bit.
    pub(crate) entries: Box<[Entry]>,
    pub(crate) grouped: Box<[Entry]>,
    /// Entries without an anchor.
    pub(crate) always: Box<[Entry]>,
    /// A query has more than one entry: its documents may be found out of order.
    pub(crate) has_alternatives: bool,
    tails: Box<[Tail]>,
    checks: Checks,
    /// By query, the place of its filter in `filters`, or [`NO_FILTER`]; shorter by those at the end without one.
    filter_of: Box<[u32]>,
    filters: Box<[Filter]>,
}

/// Entries that are decided one after the other.
#[derive(Debug, Default)]
pub(crate) struct Scanned {
    /// Beside `entries`.
    pub(crate) anchors: Box<[TermId]>,
    pub(crate) entries: Box<[Entry]>,
}

impl Level {
    /// Where the query of that id lies.
    pub(crate) fn find(&self, id: u64) -> Option<Ordinal> {
        self.ids
            .binary_search(&id)
            .ok()
            .map(|index| index as Ordinal)
    }

    /// How many queries it holds, removed ones included.
    pub(crate) fn len(&self) -> usize {
        self.queries.len()
    }

    /// Bytes that matching reads: all but the queries themselves.
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

    /// Whether a query of it has a filter.
    pub(crate) fn has_filters(&self) -> bool {
        !self.filters.is_empty()
    }

    /// The filter of a query.
    #[inline]
    pub(crate) fn filter(&self, query: Ordinal) -> Option<&Filter> {
        let place = *self.filter_of.get(query as usize)?;
        self.filters.get(place as usize)
    }

    /// Asks for the memory of a query's filter.
    #[inline(always)]
    pub(crate) fn fetch_filter(&self, steps: impl Fetch, query: Ordinal) {
        let place = self.filter_of.get(query as usize).copied();
        steps.fetch(&self.filters, place.unwrap_or(0) as usize);
    }

    /// Those of the documents `among`, which hold its anchor, that satisfy the entry. A query that was removed is not asked
    /// where its words stand.
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

    /// Every entry as it was before it was filed: first those under anchors, by anchor ascending, then the others.
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
