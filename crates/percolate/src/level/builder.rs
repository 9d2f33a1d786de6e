//! Building a level: from new queries, or from the live queries of other levels.

use std::sync::Arc;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::{Level, NO_FILTER, Scanned};
use crate::{
    anchors::Anchors,
    check::Checks,
    conjunction::Conjunction,
    entry::{Draft, Entry, Group, ORDINALS_MAX, Tail},
    filter::{Filter, Filters},
    frequency::Costs,
    limits::{INLINE_TERMS, SCANNED_MAX},
    live_level::LiveLevel,
    rows::{Row, Rows},
    standing::{Ordinal, StandingQuery},
    term::{NEVER, TermId},
};

/// A compiled query that is in no level yet.
#[derive(Clone, Debug)]
pub(crate) struct Fresh {
    pub(crate) query: Arc<StandingQuery>,
    pub(crate) conjunctions: Vec<Conjunction>,
    pub(crate) filter: Option<Filter>,
}

/// Builds a level from queries in rising order of id.
#[derive(Debug, Default)]
pub(crate) struct Builder {
    queries: Vec<Arc<StandingQuery>>,
    /// Drafts that have an anchor, in no order.
    filed: Vec<Draft>,
    /// Drafts without an anchor, by query.
    always: Vec<Draft>,
    checks: Checks,
    filter_of: Vec<u32>,
    filters: Vec<Filter>,
    /// By a filter's number in the set, its index in `filters`.
    filter_places: HashMap<u32, u32, FxBuildHasher>,
}

impl Level {
    /// A copy of the level with other numbers for its terms and filters.
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
        let (filed, always) = self.drafts();
        builder.renumber(filed, always, self.checks.clone(), number);
        builder.finish()
    }
}

impl Builder {
    /// Adds a compiled query. Its id is above every earlier one; with [`Builder::finish_anew`] any new id will do.
    pub(crate) fn add(&mut self, fresh: Fresh) {
        let ordinal = self.begin(&fresh.query, fresh.filter.as_ref());
        for conjunction in fresh.conjunctions {
            let draft = self.draft(ordinal, &conjunction);
            match conjunction.anchors.as_slice() {
                [] => self.always.push(draft),
                anchors => {
                    self.filed
                        .extend(anchors.iter().map(|anchor| draft.under(*anchor)));
                }
            }
        }
    }

    pub(super) fn begin(&mut self, query: &Arc<StandingQuery>, filter: Option<&Filter>) -> Ordinal {
        let ordinal = Ordinal::try_from(self.queries.len()).unwrap_or(Ordinal::MAX);
        assert!(
            ordinal < ORDINALS_MAX,
            "fewer than 2^30 queries fit into memory"
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

    fn draft(&mut self, query: Ordinal, conjunction: &Conjunction) -> Draft {
        let mut terms = [NEVER; INLINE_TERMS];
        let named = conjunction.positive.iter().chain(&conjunction.negative);
        for (place, term) in terms.iter_mut().zip(named) {
            *place = *term;
        }
        let check = conjunction.check.as_ref();
        let check = check.map(|check| self.checks.push(check));
        Draft {
            query,
            anchor: NEVER,
            positive: conjunction.positive.len() as u8,
            negative: conjunction.negative.len() as u8,
            covered: conjunction.covered,
            terms,
            check,
        }
    }

    /// A level of the live queries of several levels, each entry filed anew by `costs`. No two levels may have a live
    /// query of the same id.
    pub(crate) fn merge(levels: &[LiveLevel], costs: &Costs<'_>) -> Level {
        let mut builder = Builder::default();
        let places = builder.merge_queries(levels);
        for (held, places) in levels.iter().zip(&places) {
            builder.merge_entries(&held.level, places, costs);
        }
        builder.always.sort_by_key(|draft| draft.query);
        builder.finish()
    }

    /// Takes over the live queries in the order of ids. Returns, by level and old ordinal, each query's new ordinal.
    fn merge_queries(&mut self, levels: &[LiveLevel]) -> Vec<Vec<Option<Ordinal>>> {
        let mut places: Vec<_> = levels
            .iter()
            .map(|held| vec![None; held.level.len()])
            .collect();
        let mut live: Vec<(u64, u32, Ordinal)> = Vec::new();
        for (number, LiveLevel { level, removed }) in levels.iter().enumerate() {
            let ids = level
                .ids
                .iter()
                .zip(0..)
                .filter(|(_, ordinal)| !removed.holds(*ordinal));
            live.extend(ids.map(|(id, ordinal)| (*id, number as u32, ordinal)));
        }
        live.sort(); // runs that are sorted already: close to one merging pass
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
        let (filed, always) = level.drafts();
        let mut moved = |mut draft: Draft| {
            draft.query = places[draft.query as usize]?;
            draft.check = draft.check.map(|old| {
                *checks[old as usize].get_or_insert_with(|| self.checks.push_of(&level.checks, old))
            });
            draft.refile(costs);
            Some(draft)
        };
        self.filed.extend(filed.into_iter().filter_map(&mut moved));
        self.always.extend(always.into_iter().filter_map(moved));
    }

    /// Takes over the drafts and checks of a level and renumbers their terms.
    pub(super) fn renumber(
        &mut self,
        filed: Vec<Draft>,
        always: Vec<Draft>,
        checks: Checks,
        number: &mut dyn FnMut(TermId) -> TermId,
    ) {
        self.checks = checks;
        self.checks.renumber(number);
        let mut renumbered = |mut draft: Draft| {
            let terms = usize::from(draft.positive) + usize::from(draft.negative);
            for term in &mut draft.terms[..terms] {
                *term = number(*term);
            }
            draft
        };
        self.always = always.into_iter().map(&mut renumbered).collect();
        self.filed = filed.into_iter().map(renumbered).collect();
        for draft in &mut self.filed {
            draft.anchor = number(draft.anchor);
        }
    }

    /// Renumbers its terms by `number` and its filters by their numbers in `filters`.
    pub(crate) fn renumber_all(
        &mut self,
        number: &mut dyn FnMut(TermId) -> TermId,
        filters: &mut Filters,
    ) {
        let filed = std::mem::take(&mut self.filed);
        let always = std::mem::take(&mut self.always);
        let checks = std::mem::take(&mut self.checks);
        self.renumber(filed, always, checks, number);
        let mut done = vec![false; self.filters.len()];
        for (place, query) in self.filter_of.iter().zip(&self.queries) {
            let place = *place as usize;
            if let Some(filter) = self.filters.get_mut(place)
                && !std::mem::replace(&mut done[place], true)
            {
                *filter = filters.intern(&query.filters, Arc::clone(&filter.prepared));
            }
        }
    }

    /// The number of queries added.
    pub(crate) fn len(&self) -> usize {
        self.queries.len()
    }

    /// Builds the level from queries that came in any order of ids, each entry filed by `costs`.
    pub(crate) fn finish_anew(mut self, costs: &Costs<'_>) -> Level {
        self.sort();
        let drafts = self.filed.iter_mut().chain(&mut self.always);
        drafts.for_each(|draft| draft.refile(costs));
        self.finish()
    }

    /// Sorts the queries by id.
    fn sort(&mut self) {
        if self.queries.is_sorted_by_key(|query| query.id) {
            return;
        }
        let queries = std::mem::take(&mut self.queries);
        let mut order: Vec<Ordinal> = (0..queries.len() as Ordinal).collect();
        order.sort_by_key(|old| queries[*old as usize].id);
        let mut places = vec![0; queries.len()];
        for (old, new) in order.iter().zip(0..) {
            places[*old as usize] = new;
        }
        let ordered = order.iter().map(|old| Arc::clone(&queries[*old as usize]));
        self.queries = ordered.collect();
        if !self.filter_of.is_empty() {
            let filter = |old: &Ordinal| self.filter_of.get(*old as usize).copied();
            let filters = order.iter().map(|old| filter(old).unwrap_or(NO_FILTER));
            self.filter_of = filters.collect();
        }
        for draft in self.filed.iter_mut().chain(&mut self.always) {
            draft.query = places[draft.query as usize];
        }
        self.always.sort_by_key(|draft| draft.query);
    }

    fn has_alternatives(&self) -> bool {
        let mut seen = vec![false; self.queries.len()];
        let mut drafts = self.filed.iter().chain(&self.always);
        drafts.any(|draft| std::mem::replace(&mut seen[draft.query as usize], true))
    }

    /// Builds the level.
    pub(crate) fn finish(self) -> Level {
        let has_alternatives = self.has_alternatives();
        let mut tails = Vec::new();
        let always = self.always.iter();
        let always = always.map(|draft| draft.entry(false, &mut tails)).collect();
        let mut filing = Filing {
            drafts: &self.filed,
            tails,
            ..Filing::default()
        };
        let scanned = match self.filed.len() {
            0..=SCANNED_MAX => filing.scan(),
            _ => {
                filing.file();
                Scanned::default()
            }
        };
        Level {
            ids: self.queries.iter().map(|query| query.id).collect(),
            queries: self.queries.into(),
            scanned,
            anchors: Anchors::of(&filing.anchors),
            rows: Rows::of(filing.words, filing.before),
            entries: filing.entries.into(),
            grouped: filing.grouped.into(),
            always,
            has_alternatives,
            tails: filing.tails.into(),
            checks: self.checks,
            filter_of: self.filter_of.into(),
            filters: self.filters.into(),
        }
    }
}

/// The entries of a level while they are filed. The lists grow together, anchor by anchor.
#[derive(Default)]
struct Filing<'a> {
    drafts: &'a [Draft],
    anchors: Vec<(TermId, Row)>,
    /// The words of rows of two or more words, and the ranks of their first bits.
    words: Vec<u32>,
    before: Vec<u32>,
    entries: Vec<Entry>,
    grouped: Vec<Entry>,
    tails: Vec<Tail>,
}

/// A draft's second term, later that term's bit, and the draft's index: the sort key of one anchor's drafts.
type Keyed = (u32, u32);

impl Filing<'_> {
    /// Lists every entry under its anchor, in the order of queries.
    fn scan(&mut self) -> Scanned {
        let mut order: Vec<&Draft> = self.drafts.iter().collect();
        order.sort_by_key(|draft| draft.query);
        let tails = &mut self.tails;
        Scanned {
            anchors: order.iter().map(|draft| draft.anchor).collect(),
            entries: order.iter().map(|draft| draft.entry(true, tails)).collect(),
        }
    }

    fn file(&mut self) {
        let drafts = self.drafts.iter().zip(0_u32..);
        let mut order: Vec<(u64, u32)> = drafts
            .map(|(draft, index)| {
                let key = u64::from(draft.anchor) << 32 | u64::from(draft.second());
                (key, index)
            })
            .collect();
        order.sort_unstable();
        let mut keyed: Vec<Keyed> = Vec::new();
        for filed in order.chunk_by(|(a, _), (b, _)| a >> 32 == b >> 32) {
            keyed.clear();
            keyed.extend(filed.iter().map(|(key, index)| (*key as u32, *index)));
            if let Some((key, _)) = filed.first() {
                self.file_anchor((key >> 32) as TermId, &mut keyed);
            }
        }
    }

    /// Adds the row of one anchor, and an entry or a group for each of its bits. `keyed` is sorted by second term.
    fn file_anchor(&mut self, anchor: TermId, keyed: &mut [Keyed]) {
        let seconds = keyed.chunk_by(|(a, _), (b, _)| a == b).count();
        let largest = keyed.last().map_or(0, |(second, _)| *second);
        let words = Row::words_for(seconds, largest);
        for (second, _) in &mut *keyed {
            *second = Row::bit_in(words, *second);
        }
        if largest >= words * u32::BITS {
            keyed.sort_unstable();
        }
        let (start, first) = (self.words.len(), self.entries.len() as u32);
        self.words.resize(start + words as usize, 0);
        for alike in keyed.chunk_by(|(a, _), (b, _)| a == b) {
            let Some((bit, first)) = alike.first() else {
                continue;
            };
            self.words[start + (bit / u32::BITS) as usize] |= 1 << (bit % u32::BITS);
            let entry = match alike {
                [_] => self.drafts[*first as usize].entry(true, &mut self.tails),
                several => self.group(anchor, several),
            };
            self.entries.push(entry);
        }
        let row = Row {
            place: self.place_of(start, first),
            first,
            last: words - 1,
            entries: keyed.len() as u32,
        };
        self.anchors.push((anchor, row));
    }

    /// The `place` of a new row, whose words are those of the list from `start` on. It is the word itself if there is one
    /// word, which then leaves the list. Else it is the index of the first word. `first` is the rank of the row's first
    /// bit.
    fn place_of(&mut self, start: usize, first: u32) -> u32 {
        if let [word] = self.words[start..] {
            self.words.truncate(start);
            return word;
        }
        let mut rank = first;
        for word in &self.words[start..] {
            self.before.push(rank);
            rank += word.count_ones();
        }
        start as u32
    }

    fn group(&mut self, anchor: TermId, several: &[Keyed]) -> Entry {
        let start = self.grouped.len() as u32;
        for (_, index) in several {
            let entry = self.drafts[*index as usize].entry(true, &mut self.tails);
            self.grouped.push(entry);
        }
        Entry::of_group(Group {
            start,
            len: several.len() as u32,
            anchor,
        })
    }
}
