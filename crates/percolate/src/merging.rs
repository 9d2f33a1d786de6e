//! Jobs: merging levels and filing queries anew, away from the writer's thread.
//!
//! A job owns all that it reads. Levels never change; removed bits, word counts and dictionary are copies of the
//! moment the job began. The writer applies later changes when it installs the result.
//!
//! Example: a job merges levels A and B. Meanwhile the writer removes query 7, which lies in A. [`QuerySet::install`]
//! finds the bit of 7 set in A's `removed` but not in the job's copy, and sets it in the merged level.
//!
//! [`QuerySet::install`]: crate::QuerySet::install

use std::sync::Arc;

use crate::{
    dictionary::{Dictionary, Named},
    filter::Filters,
    frequency::{Costs, Stream, Uses},
    level::Level,
    level::builder::Builder,
    live_level::LiveLevel,
    term::TermId,
    vocabulary::Vocabulary,
};

/// Work on a set that is too long for the writer's thread, made by
/// [`QuerySet::merge_job`](crate::QuerySet::merge_job). Runs on any thread while the set changes and matchers match.
#[derive(Debug)]
pub struct MergeJob {
    pub(crate) number: u64,
    /// Neighbouring levels that become one; may be empty.
    pub(crate) inputs: Vec<LiveLevel>,
    /// All queries are filed anew, and the stream's counts are halved where they have grown large.
    pub(crate) is_anew: bool,
    /// The vocabulary is built anew without the words of removed queries: terms get new numbers.
    pub(crate) is_forgetting: bool,
    pub(crate) stream: Arc<Stream>,
    pub(crate) uses: Arc<Uses>,
    /// The dictionary, if its layers are to be merged.
    pub(crate) dictionary: Option<Dictionary>,
    /// Levels whose only holder is the job: freeing a large one takes as long as reading it.
    pub(crate) retired: Vec<Arc<Level>>,
}

/// The result of a [`MergeJob`], for [`QuerySet::install`](crate::QuerySet::install).
#[derive(Debug)]
pub struct Merged {
    pub(crate) number: u64,
    pub(crate) inputs: Vec<LiveLevel>,
    /// `None` if every query was removed, or the job merged no level.
    pub(crate) level: Option<Level>,
    pub(crate) dictionary: Option<Dictionary>,
    /// The new vocabulary, if the level's terms have new numbers.
    pub(crate) renumbering: Option<Renumbering>,
}

/// A new vocabulary of the words of live queries only, and the map from old terms to its terms.
#[derive(Debug, Default)]
pub(crate) struct Renumbering {
    pub(crate) words: Vocabulary,
    pub(crate) filters: Filters,
    /// By old term: the word, pattern or pair that it stands for.
    named: Vec<Named>,
    /// By old term: the new one, once it is needed.
    numbers: Vec<Option<TermId>>,
    uses: Arc<Uses>,
}

impl Renumbering {
    /// Starts from a vocabulary that has terms already.
    pub(crate) fn into(words: Vocabulary, filters: Filters) -> Renumbering {
        Renumbering {
            words,
            filters,
            ..Renumbering::default()
        }
    }

    /// Reads the terms of the old vocabulary. A second call replaces the old vocabulary by a later state of it.
    pub(crate) fn learn(&mut self, old: &Vocabulary) {
        self.named = old.dictionary.named();
        self.numbers.resize(self.named.len(), None);
        self.uses = Arc::clone(&old.uses);
    }

    /// A copy of a level in the new vocabulary; its queries keep their ordinals.
    pub(crate) fn level(&mut self, level: &Level) -> Level {
        self.renumber(|number, filters| level.renumbered(number, filters))
    }

    /// Renumbers queries that are in no level yet.
    pub(crate) fn unfiled(&mut self, builder: &mut Builder) {
        self.renumber(|number, filters| builder.renumber_all(number, filters));
    }

    fn renumber<R>(
        &mut self,
        work: impl FnOnce(&mut dyn FnMut(TermId) -> TermId, &mut Filters) -> R,
    ) -> R {
        let Renumbering {
            words,
            filters,
            named,
            numbers,
            uses,
        } = self;
        let mut renumber = |term: TermId| {
            *numbers[term as usize].get_or_insert_with(|| {
                let new = words.dictionary.adopt(term, named);
                Arc::make_mut(&mut words.uses).take_over(uses, term, new);
                new
            })
        };
        work(&mut renumber, filters)
    }
}

impl MergeJob {
    /// Does the work. Cost: about 0.3 µs for each query of the levels that it reads.
    #[must_use]
    pub fn run(self) -> Merged {
        drop(self.retired);
        if self.is_anew {
            self.stream.decay();
        }
        let costs = Costs::new(&self.stream, &self.uses);
        let level = (!self.inputs.is_empty()).then(|| Builder::merge(&self.inputs, &costs));
        let mut level = level.filter(|level| level.len() > 0);
        let dictionary = self.dictionary.map(|mut dictionary| {
            dictionary.compact();
            dictionary
        });
        let mut renumbering = None;
        if self.is_forgetting
            && let Some(dictionary) = &dictionary
        {
            let made = renumbering.insert(Renumbering::default());
            made.learn(&Vocabulary {
                dictionary: dictionary.clone(),
                uses: Arc::clone(&self.uses),
            });
            level = level.map(|level| made.level(&level));
            made.words.dictionary.compact();
        }
        Merged {
            number: self.number,
            inputs: self.inputs,
            level,
            dictionary,
            renumbering,
        }
    }
}
