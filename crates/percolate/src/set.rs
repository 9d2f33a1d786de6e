//! The writer's side: queries added, replaced and removed.

use std::{collections::BTreeMap, sync::Arc};

use query::{
    expression::Prepared,
    tree::{Node, Word},
};

use crate::{
    conjunction::{Conjunction, Terms, compile},
    dictionary::{Dictionary, TermId},
    filter::{Filter, Filters},
    frequency::{Costs, Stream, Uses},
    level::{Builder, Level, Ordinal},
    limits::{
        FORGOTTEN_MIN, FORGOTTEN_PART, LEARNED_FIRST, LEARNED_GROWTH, LEVEL_RATIO, LEVELS_MAX,
    },
    removed::Removed,
    snapshot::Snapshot,
    standing::StandingQuery,
};

/// A set of standing queries, owned by one writer.
///
/// New queries gather until [`snapshot`](QuerySet::snapshot) is called; then they become a small level, and levels
/// that have grown too alike in size are merged. A query is rewritten some fifty times on its way to the largest of
/// a million, at about a tenth of a microsecond each.
#[derive(Debug, Default)]
pub struct QuerySet {
    /// Largest first; each at least [`LEVEL_RATIO`] times the next.
    levels: Vec<Held>,
    /// Not in a level yet.
    fresh: BTreeMap<u64, Fresh>,
    words: Vocabulary,
    filters: Filters,
    stream: Arc<Stream>,
    len: usize,
    /// Queries taken out since the vocabulary was begun: their words are still in it.
    taken: usize,
    /// Documents that the stream had shown when all queries were last filed anew.
    filed_at: u64,
    /// The set as it is, unless it has changed since.
    published: Option<Arc<Snapshot>>,
}

/// A query on its way into a level.
#[derive(Clone, Debug)]
pub(crate) struct Fresh {
    pub(crate) query: Arc<StandingQuery>,
    pub(crate) conjunctions: Vec<Conjunction>,
    pub(crate) filter: Option<Filter>,
}

/// A level and what has been removed from it.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub(crate) level: Arc<Level>,
    pub(crate) removed: Arc<Removed>,
}

impl Held {
    fn new(level: Level) -> Held {
        Held {
            level: Arc::new(level),
            removed: Arc::default(),
        }
    }

    fn find(&self, id: u64) -> Option<Ordinal> {
        self.level
            .find(id)
            .filter(|query| !self.removed.holds(*query))
    }

    fn len(&self) -> usize {
        self.level.len() - self.removed.len()
    }

    fn live(&self) -> impl Iterator<Item = &Arc<StandingQuery>> {
        let numbered = self.level.queries.iter().zip(0..);
        numbered
            .filter(|(_, ordinal)| !self.removed.holds(*ordinal))
            .map(|(query, _)| query)
    }

    /// Queries with an entry that is filed under no word.
    pub(crate) fn always_len(&self) -> usize {
        let queries = self.level.always.chunk_by(|a, b| a.query == b.query);
        queries
            .filter(|entries| entries.iter().all(|e| !self.removed.holds(e.query)))
            .count()
    }
}

/// The words of all queries, and how often they were named.
#[derive(Debug, Default)]
struct Vocabulary {
    dictionary: Dictionary,
    uses: Uses,
}

/// A vocabulary with the stream's counts: what compiling a query asks.
struct Compiling<'a> {
    words: &'a mut Vocabulary,
    stream: &'a Stream,
}

impl Terms for Compiling<'_> {
    fn intern(&mut self, word: &Word) -> TermId {
        let term = self.words.dictionary.intern(word);
        self.words.uses.add(term, &word.term.text);
        term
    }

    fn cost(&self, term: TermId) -> u64 {
        Costs::new(self.stream, &self.words.uses).of(term)
    }
}

impl QuerySet {
    /// An empty set.
    #[must_use]
    pub fn new() -> QuerySet {
        QuerySet::default()
    }

    /// Adds a query that asks for `root`, of documents that its filter accepts, or puts it in the place of the one with
    /// its id: a snapshot shows the old one or the new one, never both and never neither. Returns the one replaced.
    pub fn insert(
        &mut self,
        query: Arc<StandingQuery>,
        root: &Node,
        filter: Option<Arc<Prepared>>,
    ) -> Option<Arc<StandingQuery>> {
        let replaced = self.take(query.id);
        let mut terms = Compiling {
            words: &mut self.words,
            stream: &self.stream,
        };
        let fresh = Fresh {
            conjunctions: compile(root, &mut terms),
            filter: filter.map(|filter| self.filters.intern(&query.filters, filter)),
            query,
        };
        self.fresh.insert(fresh.query.id, fresh);
        self.len += 1;
        self.published = None;
        replaced
    }

    /// Removes a query; false if there is none of that id.
    pub fn remove(&mut self, id: u64) -> bool {
        self.take(id).is_some()
    }

    /// The query of that id.
    #[must_use]
    pub fn get(&self, id: u64) -> Option<&Arc<StandingQuery>> {
        let fresh = self.fresh.get(&id).map(|fresh| &fresh.query);
        fresh.or_else(|| {
            let find = |held: &'_ Held| held.find(id);
            self.levels
                .iter()
                .find_map(|held| Some(&held.level.queries[find(held)? as usize]))
        })
    }

    /// Every query, by id ascending. Cost: gathers and sorts a list of all first.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<StandingQuery>> {
        let mut all: Vec<_> = self.levels.iter().flat_map(Held::live).collect();
        all.extend(self.fresh.values().map(|fresh| &fresh.query));
        all.sort_by_key(|query| query.id);
        all.into_iter()
    }

    /// How many queries there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether [`snapshot`](QuerySet::snapshot) would file all queries anew, because matchers have seen much more of
    /// the stream than when that was last done. An owner whose set seldom changes asks from time to time.
    #[must_use]
    pub fn is_outdated(&self) -> bool {
        self.stream.documents() >= LEARNED_FIRST.max(self.filed_at * LEARNED_GROWTH)
    }

    /// The set as it is now. The same `Arc` again, at once, if nothing has changed: call it once for each batch of
    /// changes and documents.
    ///
    /// Cost of a change: amortised microseconds; a call that merges the largest levels takes about 0.2 µs for each
    /// query. When matchers have learned eight times as much of the stream as before (first at 1,024 documents),
    /// all queries are filed anew under the words that are rare in it, at the same cost.
    pub fn snapshot(&mut self) -> Arc<Snapshot> {
        if self.is_outdated() {
            self.file_anew();
        }
        if let Some(published) = &self.published {
            return Arc::clone(published);
        }
        if self.taken > FORGOTTEN_MIN.max(self.len * FORGOTTEN_PART) {
            self.forget_words();
        }
        self.settle();
        let snapshot = Arc::new(Snapshot {
            levels: self.levels.clone(),
            dictionary: self.words.dictionary.clone(),
            stream: Arc::clone(&self.stream),
            len: self.len,
        });
        self.published = Some(Arc::clone(&snapshot));
        snapshot
    }

    /// Takes a query out.
    fn take(&mut self, id: u64) -> Option<Arc<StandingQuery>> {
        let taken = match self.fresh.remove(&id) {
            Some(fresh) => fresh.query,
            None => self.take_from_level(id)?,
        };
        self.published = None;
        self.len -= 1;
        self.taken += 1;
        Some(taken)
    }

    fn take_from_level(&mut self, id: u64) -> Option<Arc<StandingQuery>> {
        let found = |(number, held): (usize, &Held)| Some((number, held.find(id)?));
        let (number, ordinal) = self.levels.iter().enumerate().find_map(found)?;
        self.published = None; // else its share of the set would force a copy
        let held = &mut self.levels[number];
        Arc::make_mut(&mut held.removed).add(ordinal);
        Some(Arc::clone(&held.level.queries[ordinal as usize]))
    }

    /// Begins a new vocabulary with the words of the queries that are left, so that those of queries long gone take no
    /// memory. Cost: that of adding every query.
    pub(crate) fn forget_words(&mut self) {
        self.push_fresh();
        self.merge(0..self.levels.len());
        let old = std::mem::take(&mut self.words);
        self.filters = Filters::default();
        if let Some(held) = self.levels.first_mut() {
            let named = old.dictionary.words();
            let mut numbers = vec![None; named.len()];
            let mut renumber = |term: TermId| {
                *numbers[term as usize].get_or_insert_with(|| {
                    let new = self.words.dictionary.intern(&named[term as usize]);
                    self.words.uses.take_over(&old.uses, term, new);
                    new
                })
            };
            *held = Held::new(held.level.renumbered(&mut renumber, &mut self.filters));
        }
        self.taken = 0;
        self.published = None;
    }

    /// Makes a level of the fresh queries and merges levels until each is large enough against the next and holds
    /// more live queries than removed ones.
    fn settle(&mut self) {
        self.push_fresh();
        let mut index = self.levels.len();
        while index > 0 {
            index -= 1;
            let held = &self.levels[index];
            let next_len = self.levels.get(index + 1).map_or(0, Held::len);
            if held.len() < next_len * LEVEL_RATIO {
                self.merge(index..index + 2);
            } else if held.removed.len() > held.len() {
                self.merge(index..index + 1);
            }
        }
        assert!(self.levels.len() <= LEVELS_MAX, "levels grow by a ratio");
    }

    fn push_fresh(&mut self) {
        if self.fresh.is_empty() {
            return;
        }
        let mut builder = Builder::default();
        let fresh = std::mem::take(&mut self.fresh);
        for fresh in fresh.into_values() {
            builder.add(fresh);
        }
        self.levels.push(Held::new(builder.finish()));
    }

    /// Merges neighbouring levels into one, or into none if all their queries were removed.
    fn merge(&mut self, range: std::ops::Range<usize>) {
        let costs = Costs::new(&self.stream, &self.words.uses);
        let merged = Builder::merge(&self.levels[range.clone()], &costs);
        let merged = (merged.len() > 0).then(|| Held::new(merged));
        self.levels.splice(range, merged);
    }

    /// Files every query under the word that is now the cheapest.
    pub(crate) fn file_anew(&mut self) {
        self.stream.decay();
        self.filed_at = self.stream.documents();
        self.push_fresh();
        self.words.dictionary.compact();
        if !self.levels.is_empty() {
            self.merge(0..self.levels.len());
        }
        self.published = None;
    }
}
