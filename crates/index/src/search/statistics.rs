//! Statistics: how many live rows hold the words of a query. Each shard computes its own.
//!
//! [`Statistics`] of shards are added up, in any order. [`FoundWords`], the words' locations in the
//! dictionaries, stay with their shard: the plan then runs without a second look-up. Example, two
//! parts and the query `cat bl*`:
//!
//! ```text
//!               part 0                      part 1              sum
//! cat           3 rows                      not there           3 rows
//! bl*           black 1 row, blue 2 rows    black 4 rows        black 5, blue 2
//! ```

use language::pattern::Matcher;
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

use super::terms::Terms;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::limits::EXPANSION_MAX;
use crate::part::{LookUp, Part, PartWord};
use crate::removed::Frequency;
use crate::snapshot::{PartIndex, Snapshot};

/// Words that a pattern stands for between two looks at the switch.
const CHECKED_WORDS: usize = 256;

/// Units of a word that is compared with a pattern.
const COMPARED_UNITS: u64 = 100;

/// Memory of a word that a pattern stands for in one part, in bytes: its text twice, and its places in a sorted list and in a table.
const EXPANDED_BYTES: u64 = 256;

/// Frequency of each word, inline for up to 8 words.
pub(super) type Frequencies = SmallVec<[Frequency; 8]>;

/// Sums over the live rows of some parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Statistics {
    /// Number of live rows.
    pub(super) rows: u64,
    /// Words of these rows over all fields, every occurrence counted.
    pub(super) hits: u64,
    /// By number of the word in [`Terms`]. A word without live rows has zeroes.
    pub(super) words: Frequencies,
    /// By number of the pattern in [`Terms`]: the words that it stands for, each held by a live
    /// row; rising.
    pub(super) patterns: Vec<Vec<(String, Frequency)>>,
}

/// For each part of a shard: where its dictionary has the words of a query.
#[derive(Default)]
pub(super) struct FoundWords {
    /// Number of words for each part.
    count: usize,
    /// By part, then by word: `count` entries a part.
    words: Vec<Option<PartWord>>,
    /// By part: the words that patterns stand for. Empty where there are no patterns, and once
    /// [`FoundWords::of_plan`] has merged them into `words`.
    expanded: Vec<FxHashMap<String, PartWord>>,
}

impl Statistics {
    /// Statistics of one shard, and where its parts have the words. Errors: `TooManyWords`; `Interrupted`, `SearchMemory` and
    /// `NoMemory`; `Io`, `Corrupt` of a dictionary.
    pub(super) fn of_shard(
        terms: &Terms<'_>,
        shard: &Snapshot,
        control: &Control,
    ) -> Result<(Statistics, FoundWords)> {
        let (texts, patterns) = (terms.words.texts(), &terms.patterns[..]);
        let matchers = patterns
            .iter()
            .map(|pattern| Matcher::new(pattern).map_err(|what| Error::Internal { what }));
        let matchers = matchers.collect::<Result<Vec<Matcher>>>()?;
        let mut statistics = Statistics {
            rows: 0,
            hits: 0,
            words: smallvec![Frequency::default(); texts.len()],
            patterns: vec![Vec::new(); patterns.len()],
        };
        let mut found = FoundWords {
            count: texts.len(),
            words: look_up(shard, texts)?,
            expanded: Vec::new(),
        };
        for (at, part) in shard.numbered() {
            let mut own = Statistics::of_part(part, found.of_part(at));
            if !patterns.is_empty() {
                found
                    .expanded
                    .push(own.expand(&matchers, part, control, terms)?);
            }
            statistics.merge(own);
            statistics.check(terms)?;
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

    /// Adds the words that patterns stand for in a part; returns where its dictionary has them.
    /// Errors: as [`Statistics::of_shard`].
    fn expand(
        &mut self,
        patterns: &[Matcher],
        part: &Part,
        control: &Control,
        terms: &Terms<'_>,
    ) -> Result<FxHashMap<String, PartWord>> {
        let mut expanded = FxHashMap::default();
        for (at, pattern) in patterns.iter().enumerate() {
            control.check()?;
            let (mut words, mut compared) = (Vec::new(), 0_usize);
            part.each_word(pattern.literal(), &mut |number, text| {
                compared += 1;
                if compared.is_multiple_of(CHECKED_WORDS) {
                    control.spend(COMPARED_UNITS * CHECKED_WORDS as u64)?;
                }
                if !pattern.is_match(text) {
                    return Ok(());
                }
                let Some(word) = part.numbered(number)? else {
                    return Ok(());
                };
                if words.len() >= EXPANSION_MAX {
                    return Err(terms.too_many(at));
                }
                words.push((text.to_owned(), word.frequency));
                expanded.insert(text.to_owned(), word);
                Ok(())
            })?;
            control.memory.take(words.len() as u64 * EXPANDED_BYTES)?;
            words.sort_unstable_by(|one, other| one.0.cmp(&other.0));
            self.patterns.push(words);
        }
        Ok(expanded)
    }

    /// Errors: `TooManyWords`, for a pattern of more words than [`EXPANSION_MAX`].
    pub(super) fn check(&self, terms: &Terms<'_>) -> Result<()> {
        let lengths = self.patterns.iter().map(Vec::len);
        match lengths.into_iter().position(|words| words > EXPANSION_MAX) {
            Some(at) => Err(terms.too_many(at)),
            None => Ok(()),
        }
    }

    /// Adds the statistics of other rows, for the same terms.
    pub(super) fn merge(&mut self, other: Statistics) {
        self.rows += other.rows;
        self.hits += other.hits;
        for (sum, more) in self.words.iter_mut().zip(other.words) {
            sum.add(more);
        }
        for (sums, more) in self.patterns.iter_mut().zip(other.patterns) {
            match sums.is_empty() {
                true => *sums = more,
                false => add_words(sums, more),
            }
        }
    }
}

impl FoundWords {
    /// Puts the words in the order of a plan: the words of the terms, then those that patterns
    /// stand for.
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

    /// The words of a part by number; `None` for a word that no live row of the part holds.
    pub(super) fn of_part(&self, part: PartIndex) -> &[Option<PartWord>] {
        &self.words[part.at() * self.count..][..self.count]
    }
}

/// Adds the frequencies of words, which rise as those of `sums` do.
fn add_words(sums: &mut Vec<(String, Frequency)>, more: Vec<(String, Frequency)>) {
    sums.extend(more);
    sums.sort_by(|one, other| one.0.cmp(&other.0));
    sums.dedup_by(|(text, more), (known, sum)| {
        let is_known = text == known;
        if is_known {
            sum.add(*more);
        }
        is_known
    });
}

/// Looks up every word in every part. The look-ups take steps in turns, so that they wait for
/// memory together. Errors: `Io`, `Corrupt`.
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
