//! One level: an immutable run of standing queries, filed under the words they need.
//!
//! Queries lie in rising id, so a level is searched by id without a table, hits come out in the order of ids, and
//! merging levels is merging runs. Entries lie in the order of their anchors: those filed under one word are read
//! one after the other.

use std::sync::Arc;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::{
    anchors::{Anchors, Run},
    check::{Check, Slice},
    conjunction::Conjunction,
    dictionary::TermId,
    filter::{Filter, Filters},
    frequency::Costs,
    limits::INLINE_TERMS,
    set::{Fresh, Held},
    standing::StandingQuery,
};

/// A query's place in its level.
pub(crate) type Ordinal = u32;

/// One conjunction of one query: what is compared with each slice of documents.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// Whose it is.
    pub(crate) query: Ordinal,
    /// The first so many terms must be there; the first one is the anchor unless the entry is `covered`.
    positive: u8,
    /// So many following ones must not be there.
    negative: u8,
    /// The last place of `terms` is the number of a check.
    checked: bool,
    /// Filed under words of an inner `Or`; its anchor is not chosen anew.
    covered: bool,
    terms: [TermId; INLINE_TERMS],
}

const _: () = assert!(size_of::<Entry>() == 32, "two entries to a cache line");

/// A level.
#[derive(Debug, Default)]
pub(crate) struct Level {
    /// By id ascending.
    pub(crate) queries: Box<[Arc<StandingQuery>]>,
    /// Their ids.
    pub(crate) ids: Box<[u64]>,
    /// By anchor.
    entries: Box<[Entry]>,
    /// Of each entry, one further term that must be there, or its anchor again. Read before the entry is: most
    /// candidates fall here, at four bytes each.
    seconds: Box<[TermId]>,
    /// Of each entry, the term it is filed under.
    filed: Box<[TermId]>,
    anchors: Anchors,
    /// Entries without an anchor.
    pub(crate) always: Box<[Entry]>,
    checks: Box<[Arc<Check>]>,
    /// By query, the place of its filter in `filters`, or [`NO_FILTER`]; shorter by those at the end without one.
    filter_of: Box<[u32]>,
    filters: Box<[Filter]>,
}

/// A query without a filter.
const NO_FILTER: u32 = u32::MAX;

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

    /// The entries filed under a term.
    #[inline]
    pub(crate) fn run(&self, anchor: TermId) -> Run {
        self.anchors.run(anchor)
    }

    /// The second terms of a run's entries.
    #[inline]
    pub(crate) fn seconds(&self, run: Run) -> &[TermId] {
        let range = run.start as usize..(run.start + run.len) as usize;
        self.seconds.get(range).unwrap_or_default()
    }

    /// The second term of an entry.
    #[inline]
    pub(crate) fn second(&self, index: u32) -> TermId {
        self.seconds[index as usize]
    }

    /// An entry by its index.
    #[inline]
    pub(crate) fn entry(&self, index: u32) -> &Entry {
        &self.entries[index as usize]
    }

    /// The filter of a query.
    #[inline]
    pub(crate) fn filter(&self, query: Ordinal) -> Option<&Filter> {
        let place = *self.filter_of.get(query as usize)?;
        self.filters.get(place as usize)
    }

    /// The same level with other numbers for its terms and filters.
    pub(crate) fn renumbered(
        &self,
        number: &mut dyn FnMut(TermId) -> TermId,
        filters: &mut Filters,
    ) -> Level {
        let mut builder = Builder::default();
        for (query, ordinal) in self.queries.iter().zip(0..) {
            let filter = self.filter(ordinal);
            let filter =
                filter.map(|old| filters.intern(&query.filters, Arc::clone(&old.prepared)));
            builder.begin(query, filter.as_ref());
        }
        builder.checks = self.checks.to_vec();
        for check in &mut builder.checks {
            Arc::make_mut(check).renumber(number);
        }
        let mut renumbered = |entry: &Entry| {
            let mut entry = *entry;
            let terms = usize::from(entry.positive) + usize::from(entry.negative);
            for term in &mut entry.terms[..terms] {
                *term = number(*term);
            }
            entry
        };
        builder.always = self.always.iter().map(&mut renumbered).collect();
        let entries: Vec<Entry> = self.entries.iter().map(renumbered).collect();
        let filed = self.filed.iter().map(|anchor| number(*anchor));
        builder.entries = filed.zip(entries).collect();
        builder.finish()
    }

    /// Those of the documents `among` that satisfy the entry.
    #[inline]
    pub(crate) fn verify(&self, entry: &Entry, among: u64, slice: Slice<'_>) -> u64 {
        let (positive, rest) = entry.terms.split_at(usize::from(entry.positive));
        let mut left = among;
        for term in positive {
            left &= slice.mask(*term);
        }
        for term in &rest[..usize::from(entry.negative)] {
            left &= !slice.mask(*term);
        }
        if entry.checked && left != 0 {
            return self.checks[entry.terms[INLINE_TERMS - 1] as usize].run(left, slice);
        }
        left
    }
}

/// Builds a level from queries in rising order of id.
#[derive(Default)]
pub(crate) struct Builder {
    queries: Vec<Arc<StandingQuery>>,
    /// With the anchor each is filed under.
    entries: Vec<(TermId, Entry)>,
    always: Vec<Entry>,
    checks: Vec<Arc<Check>>,
    filter_of: Vec<u32>,
    filters: Vec<Filter>,
    /// By a filter's number, its place in `filters`.
    filter_places: HashMap<u32, u32, FxBuildHasher>,
}

impl Builder {
    /// Adds a query, compiled. Its id is above every earlier one's.
    pub(crate) fn add(&mut self, fresh: Fresh) {
        let ordinal = self.begin(&fresh.query, fresh.filter.as_ref());
        for conjunction in fresh.conjunctions {
            let entry = self.entry(ordinal, &conjunction);
            match conjunction.anchors.as_slice() {
                [] => self.always.push(entry),
                anchors => self
                    .entries
                    .extend(anchors.iter().map(|anchor| (*anchor, entry))),
            }
        }
    }

    fn begin(&mut self, query: &Arc<StandingQuery>, filter: Option<&Filter>) -> Ordinal {
        let ordinal = Ordinal::try_from(self.queries.len()).unwrap_or(Ordinal::MAX);
        assert!(
            ordinal < Ordinal::MAX,
            "fewer than 2^32 - 1 queries fit into memory"
        );
        self.queries.push(Arc::clone(query));
        if let Some(filter) = filter {
            let place = self.filter_places.entry(filter.number).or_insert_with(|| {
                self.filters.push(filter.clone());
                self.filters.len() as u32 - 1
            });
            self.filter_of.resize(ordinal as usize, NO_FILTER);
            self.filter_of.push(*place);
        }
        ordinal
    }

    fn entry(&mut self, query: Ordinal, conjunction: &Conjunction) -> Entry {
        let mut terms = [0; INLINE_TERMS];
        let named = conjunction.positive.iter().chain(&conjunction.negative);
        for (place, term) in terms.iter_mut().zip(named) {
            *place = *term;
        }
        if let Some(check) = &conjunction.check {
            terms[INLINE_TERMS - 1] = self.checks.len() as u32;
            self.checks.push(Arc::new(check.clone()));
        }
        Entry {
            query,
            positive: conjunction.positive.len() as u8,
            negative: conjunction.negative.len() as u8,
            checked: conjunction.check.is_some(),
            covered: conjunction.covered,
            terms,
        }
    }

    /// The live queries of several levels as one, merged by id, each filed anew by today's costs.
    /// No two levels have a live query of the same id.
    pub(crate) fn merge(levels: &[Held], costs: &Costs<'_>) -> Level {
        let mut builder = Builder::default();
        let places = builder.merge_queries(levels);
        for (held, places) in levels.iter().zip(&places) {
            builder.merge_entries(&held.level, places, costs);
        }
        builder.finish()
    }

    /// Takes over the live queries; says for each level where each of its queries lies now.
    fn merge_queries(&mut self, levels: &[Held]) -> Vec<Vec<Option<Ordinal>>> {
        let mut places: Vec<_> = levels
            .iter()
            .map(|held| vec![None; held.level.len()])
            .collect();
        let mut live: Vec<(u64, u32, Ordinal)> = Vec::new();
        for (number, Held { level, removed }) in levels.iter().enumerate() {
            let ids = level
                .ids
                .iter()
                .zip(0..)
                .filter(|(_, ordinal)| !removed.holds(*ordinal));
            live.extend(ids.map(|(id, ordinal)| (*id, number as u32, ordinal)));
        }
        live.sort(); // runs already in order: close to one merging pass
        for (_, number, ordinal) in live {
            let (number, ordinal) = (number as usize, ordinal as usize);
            let level = &levels[number].level;
            let filter = level.filter(ordinal as Ordinal);
            places[number][ordinal] = Some(self.begin(&level.queries[ordinal], filter));
        }
        places
    }

    fn merge_entries(&mut self, level: &Level, places: &[Option<Ordinal>], costs: &Costs<'_>) {
        let mut checks: Vec<Option<u32>> = vec![None; level.checks.len()];
        let mut moved = |entry: &Entry| {
            let mut entry = Entry {
                query: places[entry.query as usize]?,
                ..*entry
            };
            if entry.checked {
                let check = &mut entry.terms[INLINE_TERMS - 1];
                let old = *check as usize;
                *check = *checks[old].get_or_insert_with(|| {
                    self.checks.push(Arc::clone(&level.checks[old]));
                    self.checks.len() as u32 - 1
                });
            }
            Some(entry)
        };
        for (anchor, entry) in level.filed.iter().zip(&level.entries) {
            let Some(mut entry) = moved(entry) else {
                continue;
            };
            let positive = &mut entry.terms[..usize::from(entry.positive)];
            positive.sort_unstable_by_key(|term| (costs.of(*term), *term));
            let anchor = if entry.covered { *anchor } else { positive[0] };
            self.entries.push((anchor, entry));
        }
        self.always.extend(level.always.iter().filter_map(moved));
    }

    /// The level.
    pub(crate) fn finish(mut self) -> Level {
        self.entries
            .sort_unstable_by_key(|(anchor, entry)| (*anchor, second(*anchor, entry), entry.query));
        let filed = self.entries.iter().map(|(anchor, _)| *anchor);
        Level {
            ids: self.queries.iter().map(|query| query.id).collect(),
            queries: self.queries.into(),
            seconds: self
                .entries
                .iter()
                .map(|(anchor, entry)| second(*anchor, entry))
                .collect(),
            anchors: Anchors::of(filed.clone()),
            filed: filed.collect(),
            entries: self.entries.iter().map(|(_, entry)| *entry).collect(),
            always: self.always.into(),
            checks: self.checks.into(),
            filter_of: self.filter_of.into(),
            filters: self.filters.into(),
        }
    }
}

/// A term besides the anchor that must be there, if the entry has one: the cheapest.
fn second(anchor: TermId, entry: &Entry) -> TermId {
    let positive = &entry.terms[..usize::from(entry.positive)];
    positive
        .iter()
        .copied()
        .find(|term| *term != anchor)
        .unwrap_or(anchor)
}
