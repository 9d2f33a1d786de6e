//! A query ready to run: a tree of steps, and a value for each word and code.
//!
//! A plan is made of the query and of the statistics of all shards; every shard runs the same plan.
//! Example: `cat | bl*` where `bl*` stands for black and blue:
//!
//! ```text
//! words      0 cat, 1 black, 2 blue        (frequencies: live rows and occurrences of each)
//! root       AtLeast 1 of [Word 0, AtLeast 1 of [Word 1, Word 2]]
//! keywords   cat: [0], bl*: [1, 2]         (for SHOW META)
//! weigher    a table of 256 values for each word
//! ```
//!
//! Invariant: words are numbered alike in the steps, the weigher, the frequencies and the lists of
//! every part. A word's number is an index into all of them.

mod numbered;
mod placed;
mod shape;
mod step;

use language::tree::{FieldPlace, FieldSet, Form, Node, Term, Word};
use language::verify::Rated;
use relation::bind::BoundSelect;
use relation::options::Ranker;

use numbered::Numbered;
use shape::Shape;
use step::Stepper;

use super::rank::{Needs, QueryWords, Table, Weigher};
use super::statistics::{Frequencies, Statistics};
use super::terms::{Terms, WordNumbers};
use crate::answer::Keyword;
use crate::control::Memory;
use crate::error::Result;
use crate::postings::SharesCache;
use crate::removed::Frequency;

pub(super) use numbered::TermWords;
pub(super) use placed::{Placed, PlacedTwo, PlacedWord, TwoOperator};
pub(super) use step::{Fields, Step};

/// Words above which a query of several patterns is weighed by the places of its terms: a row holds few of the words, and the others
/// are not looked for in it.
pub(super) const WIDE_WORDS: usize = 16;

/// Memory of a word of a plan, in bytes: the table of its values, its text, and its places in lists.
const WORD_BYTES: u64 = 1_280;

/// Memory of each use of a word that a pattern stands for, in bytes: a step, its entries in the tree that places decide, and a place
/// of the query.
const USED_BYTES: u64 = 128;

/// A query ready to run on every shard.
pub(super) struct Plan {
    words: WordNumbers,
    weigher: Weigher,
    root: Step,
    shape: Shape,
    /// The whole tree, for the weights of its rows, where the places of words decide what counts,
    /// or patterns stand for many words; else `None`.
    placed: Option<Placed>,
    /// By word: live rows and occurrences.
    frequencies: Frequencies,
    /// Words and patterns of the query, each with the numbers of the words that it stands for;
    /// `None` where these are just the words of the plan.
    keywords: Option<Vec<(String, Vec<usize>)>>,
}

impl Plan {
    /// Makes the plan. `statistics`: those of the terms, summed over all shards. `shares`: the
    /// table's cache of factors. `memory` pays for the words that patterns stand for. Errors: `TooManyWords`; `SearchMemory` and
    /// `NoMemory`.
    pub(super) fn new(
        terms: Terms<'_>,
        statistics: Statistics,
        select: &BoundSelect<'_>,
        shares: &SharesCache,
        memory: &Memory,
    ) -> Result<Plan> {
        let (options, fields) = (&select.options, &select.field_weights);
        let (root, is_plain) = (terms.root, is_plain(terms.root));
        let (rows, hits) = (statistics.rows, statistics.hits);
        statistics.check(&terms)?;
        let expanded = statistics.patterns.iter().map(|words| words.len() as u64);
        let bytes = expanded.zip(&terms.uses);
        let bytes = bytes.map(|(words, uses)| words * (WORD_BYTES + uses * USED_BYTES));
        for bytes in bytes {
            memory.take(bytes)?;
        }
        let (numbered, frequencies) = Numbered::new(terms.words, terms.patterns, statistics);
        let every = every_field(fields.len());
        let mut stepper = Stepper {
            numbered: &numbered,
            every,
            phrases: 0,
            is_placed: false,
        };
        let step = stepper.step(root);
        let is_free = stepper.is_placed;
        let is_one_sum = is_one_term(root) && is_told_by_fields(options.ranker());
        let is_wide = !is_plain && !is_one_sum && frequencies.len() > WIDE_WORDS;
        let placed = is_free || is_wide;
        let placed = placed.then(|| Placed::new(root, &numbered));
        let words_of = |term: &_| numbered.of(term);
        let mut query_words = match placed {
            None => QueryWords::new(root, &words_of, every),
            Some(_) => QueryWords::of_placed(root, &words_of, every, is_free),
        };
        query_words.distinct = match is_plain {
            true => numbered.words.texts().len(),
            false => distinct_terms(root),
        };
        query_words.set_documents(frequencies.iter().map(|frequency| frequency.documents));
        let table = Table {
            rows,
            hits,
            fields,
            shares,
        };
        let mut shape = Shape::new(&step, frequencies.len());
        if placed.is_some() {
            let words = query_words.words.iter();
            shape.wanted = words.map(|word| !word.places.is_empty()).collect();
        }
        let mut weigher = Weigher::new(options.ranker(), options.idf, query_words, &table);
        bound_by_fields(&mut weigher, placed.as_ref());
        Ok(Plan {
            weigher,
            shape,
            keywords: (!is_plain).then(|| keywords(&numbered, root)),
            words: numbered.words,
            root: step,
            placed,
            frequencies,
        })
    }

    /// Whether every live row matches.
    pub(super) fn is_all(&self) -> bool {
        matches!(self.root, Step::All)
    }

    /// Sum of the words' live rows: an estimate of the postings to be read.
    pub(super) fn postings(&self) -> u64 {
        self.frequencies.iter().map(|word| word.documents).sum()
    }

    /// Sum of the words' occurrences, each as often as the query has the word: an estimate of the places to be read.
    pub(super) fn occurrences(&self) -> u64 {
        let words = self.frequencies.iter().zip(self.weigher.times());
        words
            .map(|(word, times)| word.hits.saturating_mul(times))
            .sum()
    }

    /// Number of distinct words.
    pub(super) fn words(&self) -> usize {
        self.frequencies.len()
    }

    /// Texts of the words by number: those of the terms, then those that patterns stand for.
    pub(super) fn texts(&self) -> &[String] {
        self.words.texts()
    }

    /// The tree of steps.
    pub(super) fn root(&self) -> &Step {
        &self.root
    }

    /// Whether a word stands outside of every negation.
    pub(super) fn is_wanted(&self, word: u32) -> bool {
        self.shape.wanted[word as usize]
    }

    /// Whether places decide which rows match: the query has a phrase, or a word that may stand
    /// only in some fields.
    pub(super) fn has_places(&self) -> bool {
        self.shape.has_places
    }

    /// Whether in every matching row each wanted word that the row holds counts. False for an AND
    /// inside an OR: a row may hold a word of the AND without matching it.
    pub(super) fn counts_present(&self) -> bool {
        self.shape.counts_present
    }

    /// Whether [`Plan::counts_present`], and each word counts by itself, wherever it stands in its fields.
    pub(super) fn counts_alone(&self) -> bool {
        self.shape.counts_alone
    }

    /// Whether a word's value counts in a row that matches.
    pub(super) fn rated(&self, word: u32) -> Rated {
        match &self.placed {
            Some(placed) => placed.rated[word as usize],
            None if self.counts_present() => Rated::Always,
            None => Rated::Maybe,
        }
    }

    /// Whether the query is a word, or an OR of words, in any field.
    pub(super) fn is_or_of_words(&self) -> bool {
        self.shape.is_or_of_words
    }

    /// Whether all matching rows hold the same words: the query is a phrase, or an AND of words in
    /// any field.
    pub(super) fn is_joined(&self) -> bool {
        self.shape.is_joined
    }

    /// The whole tree, if its rows are weighed by the places of its terms.
    pub(super) fn placed(&self) -> Option<&Placed> {
        self.placed.as_ref()
    }

    /// Whether the weight of a row that matches follows from codes, and from the fields of its words where the ranker needs them.
    pub(super) fn is_told(&self) -> bool {
        match &self.placed {
            None => self.counts_present(),
            // As in Sphinx, a word that matches at a place of one field counts in each field.
            Some(placed) => match self.weigher.needs() {
                Needs::Fields => placed.is_rated() && placed.word.is_some(),
                _ => placed.is_rated(),
            },
        }
    }

    /// The ranker with the words of the query.
    pub(super) fn weigher(&self) -> &Weigher {
        &self.weigher
    }

    /// Statistics for SHOW META: of each word that is searched for; of each pattern the sum over
    /// its words.
    pub(super) fn keywords(&self) -> Vec<Keyword> {
        let keyword = |text: &String, words: &mut dyn Iterator<Item = &Frequency>| {
            let (documents, hits) = words.fold((0, 0), |(documents, hits), word| {
                (documents + word.documents, hits + word.hits)
            });
            Keyword {
                word: text.clone(),
                documents,
                hits,
            }
        };
        match &self.keywords {
            None => {
                let words = self.words.texts().iter().zip(&self.frequencies);
                words
                    .map(|(text, frequency)| keyword(text, &mut std::iter::once(frequency)))
                    .collect()
            }
            Some(keywords) => keywords
                .iter()
                .map(|(text, words)| {
                    keyword(text, &mut words.iter().map(|word| &self.frequencies[*word]))
                })
                .collect(),
        }
    }
}

/// Prepares the bounds of weights by the fields of words, but for trees that join words.
fn bound_by_fields(weigher: &mut Weigher, placed: Option<&Placed>) {
    match placed {
        None => weigher.bound_by_fields(&|_, _| true, false),
        Some(placed) if placed.verifier.is_of_words() => {
            weigher.bound_by_fields(&|field, words| placed.may_count(field, words), true);
        }
        Some(_) => {}
    }
}

/// Whether a query has whole words only, none excluded. Then the words of its plan are its own, in
/// their order, and no copy of the tree is needed. Most queries are such.
fn is_plain(node: &Node) -> bool {
    match node {
        Node::Word(word) => word.term.form == Form::Whole,
        Node::Phrase { words, .. } => words.iter().all(|(term, _)| term.form == Form::Whole),
        Node::And(children) | Node::Or(children) => children.iter().all(is_plain),
        Node::All
        | Node::Repeated { .. }
        | Node::Proximity { .. }
        | Node::Quorum { .. }
        | Node::Order(_)
        | Node::Near { .. }
        | Node::NotNear { .. }
        | Node::Together { .. }
        | Node::Maybe(..)
        | Node::Not(_) => false,
    }
}

/// Whether the weight of a row of one pattern follows from codes, and from the fields that its words stand in.
fn is_told_by_fields(ranker: Ranker) -> bool {
    match ranker {
        Ranker::ProximityBm25
        | Ranker::Proximity
        | Ranker::Bm25
        | Ranker::Bm25a
        | Ranker::Fieldmask
        | Ranker::None => true,
        // These count words, occurrences or places.
        Ranker::Wordcount | Ranker::Matchany | Ranker::Sph04 => false,
    }
}

/// Whether a query is one word or pattern, in any field. All that a pattern stands for has one place in the query: no run counts.
fn is_one_term(node: &Node) -> bool {
    let Node::Word(Word { term, fields }) = node else {
        return false;
    };
    *fields == FieldSet::ALL && term.place == FieldPlace::default()
}

/// Number of distinct words and patterns of a query, excluded ones too.
fn distinct_terms(root: &Node) -> usize {
    let mut terms = hashbrown::HashSet::new();
    root.each_term(&mut |term| {
        terms.insert((term.form, &term.text));
    });
    terms.len()
}

/// Each word and pattern of a query, in its order, with the numbers of the words that it stands
/// for.
fn keywords(numbered: &Numbered, root: &Node) -> Vec<(String, Vec<usize>)> {
    let mut keywords: Vec<(String, Vec<usize>)> = Vec::new();
    let mut known = hashbrown::HashSet::new();
    root.each_term(&mut |term| {
        if known.insert((term.form, &term.text)) {
            keywords.push((as_written(term).to_owned(), numbered.of(term).to_vec()));
        }
    });
    keywords
}

/// A term as people write it. In a table that stems, wildcards and expressions compare words as written, whose terms begin with
/// `=`: `ho*` is the term `=ho*`.
fn as_written(term: &Term) -> &str {
    let text = &*term.text;
    match term.form {
        Form::Whole => text,
        Form::Pattern => text.strip_prefix('=').unwrap_or(text),
        Form::Regex => {
            let inside = text.strip_prefix("=(?:");
            let inside = inside.and_then(|text| text.strip_suffix(')'));
            inside.unwrap_or(text)
        }
    }
}

/// Set of all fields of a table.
pub(super) fn every_field(text_columns: usize) -> u64 {
    u64::MAX.checked_shr(64 - text_columns as u32).unwrap_or(0)
}
