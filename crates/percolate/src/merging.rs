//! Merging levels and filing queries anew, away from the writer's thread.
//!
//! A job owns what it reads: levels never change, and what has been removed from them, the counts of words and the
//! dictionary are copies of the moment it began. What changed meanwhile is applied when its result is installed.

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

/// Work on the larger levels of a set, made by [`QuerySet::merge_job`](crate::QuerySet::merge_job). Runs on any
/// thread while the set changes and matchers match.
#[derive(Debug)]
pub struct MergeJob {
    pub(crate) number: u64,
    /// Neighbouring levels to become one; may be none.
    pub(crate) inputs: Vec<LiveLevel>,
    /// All queries are filed under what is rare now: the stream's past counts less from here on.
    pub(crate) is_anew: bool,
    /// The words of queries long gone are forgotten: terms get new numbers.
    pub(crate) is_forgetting: bool,
    pub(crate) stream: Arc<Stream>,
    pub(crate) uses: Arc<Uses>,
    /// The dictionary, if its layers are to become one.
    pub(crate) dictionary: Option<Dictionary>,
    /// Levels that nobody else holds any more: giving a large one back takes as long as reading it.
    pub(crate) retired: Vec<Arc<Level>>,
}

/// What came of a [`MergeJob`]; goes to [`QuerySet::install`](crate::QuerySet::install).
#[derive(Debug)]
pub struct Merged {
    pub(crate) number: u64,
    pub(crate) inputs: Vec<LiveLevel>,
    /// None if every query was removed, or no level was to be merged.
    pub(crate) level: Option<Level>,
    pub(crate) dictionary: Option<Dictionary>,
    /// If the level's terms have new numbers: the words by them.
    pub(crate) renumbering: Option<Renumbering>,
}

/// A new vocabulary, of the words of live queries only, and how to come to it.
#[derive(Debug, Default)]
pub(crate) struct Renumbering {
    pub(crate) words: Vocabulary,
    pub(crate) filters: Filters,
    /// By old number, what the term stands for and the new number.
    named: Vec<Named>,
    numbers: Vec<Option<TermId>>,
    uses: Arc<Uses>,
}

impl Renumbering {
    /// Into a vocabulary that is there already.
    pub(crate) fn into(words: Vocabulary, filters: Filters) -> Renumbering {
        Renumbering {
            words,
            filters,
            ..Renumbering::default()
        }
    }

    /// Takes over what the old vocabulary has come to.
    pub(crate) fn learn(&mut self, old: &Vocabulary) {
        self.named = old.dictionary.named();
        self.numbers.resize(self.named.len(), None);
        self.uses = Arc::clone(&old.uses);
    }

    /// A level in the new vocabulary; its queries keep their places.
    pub(crate) fn level(&mut self, level: &Level) -> Level {
        self.renumber(|number, filters| level.renumbered(number, filters))
    }

    /// Queries on their way into a level, in the new vocabulary.
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
    /// Does the work: about 0.3 µs for each query.
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
