//! How often live rows hold what a query asks for: the first step of a search, which every shard does for its own rows.
//!
//! [`Statistics`] are a plain value, and those of all shards together are the same whichever is merged first. What a shard has found
//! on the way, [`FoundWords`], stays with it: it runs the plan without looking words up again.

use std::collections::BTreeMap;

use query::pattern::{Literal, Matcher};
use query::tree::Term;
use smallvec::{SmallVec, smallvec};

use super::terms::Terms;
use crate::error::{Error, Result};
use crate::limits::EXPANSION_MAX;
use crate::part::{LookUp, Part, PartWord};
use crate::removed::Frequency;
use crate::snapshot::{PartIndex, Snapshot};

/// By word. Few queries have more of them: then no memory is asked for.
pub(super) type Frequencies = SmallVec<[Frequency; 8]>;

/// Sums over live rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Statistics {
    /// The rows.
    pub(super) rows: u64,
    /// Their words over all fields, every occurrence counted.
    pub(super) hits: u64,
    /// By word of [`Terms`].
    pub(super) words: Frequencies,
    /// By pattern of [`Terms`]: the words that it stands for, each of which some row holds.
    pub(super) patterns: Vec<BTreeMap<String, Frequency>>,
}

/// The words of a query in the parts of a shard, as far as live rows hold them.
#[derive(Default)]
pub(super) struct FoundWords {
    /// Words of a part.
    count: usize,
    /// By part, then by word.
    words: Vec<Option<PartWord>>,
    /// By part: the words that patterns stand for. Empty where there are no patterns.
    expanded: Vec<BTreeMap<String, PartWord>>,
}

impl Statistics {
    /// Of one shard: those of its parts. Errors: `Io`, `Corrupt` of a dictionary.
    pub(super) fn of_shard(
        terms: &Terms<'_>,
        shard: &Snapshot,
    ) -> Result<(Statistics, FoundWords)> {
        let (texts, patterns) = (terms.words.texts(), &terms.patterns[..]);
        let mut statistics = Statistics {
            rows: 0,
            hits: 0,
            words: smallvec![Frequency::default(); texts.len()],
            patterns: vec![BTreeMap::new(); patterns.len()],
        };
        let mut found = FoundWords {
            count: texts.len(),
            words: look_up(shard, texts)?,
            expanded: Vec::new(),
        };
        for (at, part) in shard.numbered() {
            let mut own = Statistics::of_part(part, found.of_part(at));
            if !patterns.is_empty() {
                found.expanded.push(own.expand(patterns, part)?);
            }
            statistics.merge(own);
        }
        Ok((statistics, found))
    }

    fn of_part(part: &Part, words: &[Option<PartWord>]) -> Statistics {
        let frequency = |word: &Option<PartWord>| {
            let found = word.as_ref().map(|word| word.frequency);
            found.unwrap_or_default()
        };
        Statistics {
            rows: part.rows_live(),
            hits: part.hits(),
            words: words.iter().map(frequency).collect(),
            patterns: Vec::new(),
        }
    }

    /// Adds what patterns stand for in a part, and gives these words. Errors: `Io`, `Corrupt`.
    fn expand(&mut self, patterns: &[Term], part: &Part) -> Result<BTreeMap<String, PartWord>> {
        let mut expanded = BTreeMap::new();
        for pattern in patterns {
            let matcher = Matcher::new(pattern).map_err(|what| Error::Internal { what })?;
            let prefix = match matcher.literal() {
                Literal::Prefix(prefix) => prefix,
                _ => "",
            };
            let mut texts = Vec::new();
            part.each_word(prefix, &mut |text| {
                if matcher.is_match(text) {
                    texts.push(text.to_owned());
                }
            })?;
            let mut words = BTreeMap::new();
            for text in texts {
                if let Some(word) = part.word(&text)? {
                    words.insert(text.clone(), word.frequency);
                    // Of more no plan is made.
                    if words.len() <= EXPANSION_MAX {
                        expanded.insert(text, word);
                    }
                }
            }
            self.patterns.push(words);
        }
        Ok(expanded)
    }

    /// Adds those of other rows, for the same terms.
    pub(super) fn merge(&mut self, other: Statistics) {
        self.rows += other.rows;
        self.hits += other.hits;
        for (sum, more) in self.words.iter_mut().zip(other.words) {
            sum.add(more);
        }
        for (sums, more) in self.patterns.iter_mut().zip(other.patterns) {
            for (text, more) in more {
                sums.entry(text).or_default().add(more);
            }
        }
    }
}

impl FoundWords {
    /// Those of a plan, which are the terms' words and then those that patterns stand for.
    pub(super) fn of_plan(mut self, texts: &[String]) -> FoundWords {
        if self.expanded.is_empty() {
            return self;
        }
        let expanded = std::mem::take(&mut self.expanded);
        let mut words = Vec::with_capacity(expanded.len() * texts.len());
        let mut whole = self.words.into_iter();
        for mut expanded in expanded {
            words.extend(whole.by_ref().take(self.count));
            words.extend(texts[self.count..].iter().map(|text| expanded.remove(text)));
        }
        FoundWords {
            count: texts.len(),
            words,
            expanded: Vec::new(),
        }
    }

    /// Words of a part, by number; `None` for those that none of its live rows holds.
    pub(super) fn of_part(&self, part: PartIndex) -> &[Option<PartWord>] {
        &self.words[part.at() * self.count..][..self.count]
    }
}

/// Every word in every part. Look-ups take their steps in turns: one alone would spend its time waiting for memory.
/// Errors: `Io`, `Corrupt`.
fn look_up(shard: &Snapshot, texts: &[String]) -> Result<Vec<Option<PartWord>>> {
    let mut look_ups = Vec::with_capacity(shard.parts.len() * texts.len());
    for part in &shard.parts {
        for text in texts {
            look_ups.push(part.look_up(text)?);
        }
    }
    look_ups.iter().for_each(LookUp::fetch);
    for _ in 0..LookUp::STEPS {
        look_ups.iter_mut().try_for_each(LookUp::step)?;
        look_ups.iter().for_each(LookUp::fetch);
    }
    look_ups.into_iter().map(LookUp::end).collect()
}
