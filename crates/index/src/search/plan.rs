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

mod expand;
mod shape;
mod step;

use std::borrow::Cow;

use query::bind::BoundSelect;
use query::pattern::Matcher;
use query::tree::{Form, Node, Term};
use query::verify::Verifier;

use shape::Shape;
use step::Stepper;

use super::rank::{QueryWords, Table, Weigher};
use super::statistics::{Frequencies, Statistics};
use super::terms::{Terms, WordNumbers};
use crate::answer::Keyword;
use crate::error::Result;
use crate::postings::SharesCache;
use crate::removed::Frequency;

pub(super) use step::{Fields, Step};

/// A query ready to run on every shard.
pub(super) struct Plan {
    words: WordNumbers,
    weigher: Weigher,
    root: Step,
    shape: Shape,
    /// The whole tree, to be tested on the text of each row that the steps find; `None` where the
    /// steps decide alone.
    verified: Option<Verifier>,
    /// By word: live rows and occurrences.
    frequencies: Frequencies,
    /// Words and patterns of the query, each with the numbers of the words that it stands for;
    /// `None` where these are just the words of the plan.
    keywords: Option<Vec<(String, Vec<usize>)>>,
}

impl Plan {
    /// Makes the plan. `statistics`: those of the terms, summed over all shards. `shares`: the
    /// table's cache of factors. Errors: `TooManyWords`.
    pub(super) fn new(
        terms: Terms<'_>,
        statistics: Statistics,
        select: &BoundSelect<'_>,
        shares: &SharesCache,
    ) -> Result<Plan> {
        let (options, fields) = (&select.options, &select.field_weights);
        let is_plain = is_plain(terms.root);
        let expanded = match is_plain {
            true => Cow::Borrowed(&*terms.stepped),
            false => Cow::Owned(expand::expand(&terms.stepped, &terms, &statistics)?),
        };
        let (root, stepped, mut words) = (terms.root, &terms.stepped, terms.words);
        let is_stepped = matches!(stepped, Cow::Borrowed(_));
        let mut frequencies = statistics.words;
        for (text, frequency) in statistics.patterns.into_iter().flatten() {
            if words.add(&text) == frequencies.len() {
                frequencies.push(frequency);
            }
        }
        let every = every_field(fields.len());
        let mut stepper = Stepper {
            words: &mut words,
            every,
            phrases: 0,
        };
        let step = stepper.step(&expanded);
        let mut query_words = match is_stepped {
            true => QueryWords::new(stepped, &expanded, &|text| words.get(text), every),
            false => QueryWords::of_text(root, words.texts(), every),
        };
        query_words.distinct = match is_plain {
            true => words.texts().len(),
            false => distinct_terms(root),
        };
        query_words.set_documents(frequencies.iter().map(|frequency| frequency.documents));
        let table = Table {
            rows: statistics.rows,
            hits: statistics.hits,
            fields,
            shares,
        };
        Ok(Plan {
            weigher: Weigher::new(options.ranker(), options.idf, query_words, &table),
            shape: Shape::new(&step, words.texts().len()),
            keywords: (!is_plain).then(|| keywords(&words, root)),
            words,
            root: step,
            verified: (!is_stepped).then(|| Verifier::new(root)),
            frequencies,
        })
    }

    /// Whether every live row matches.
    pub(super) fn is_all(&self) -> bool {
        matches!(self.root, Step::All) && self.verified.is_none()
    }

    /// Sum of the words' live rows: an estimate of the postings to be read.
    pub(super) fn postings(&self) -> u64 {
        self.frequencies.iter().map(|word| word.documents).sum()
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

    /// Whether the query is a word, or an OR of words, in any field, and needs no text.
    pub(super) fn is_or_of_words(&self) -> bool {
        self.shape.is_or_of_words && self.verified.is_none()
    }

    /// Whether all matching rows hold the same words: the query is a phrase, or an AND of words in
    /// any field.
    pub(super) fn is_joined(&self) -> bool {
        self.shape.is_joined
    }

    /// The number of a word; `None` if the plan does not have it.
    pub(super) fn number(&self, text: &str) -> Option<usize> {
        self.words.get(text)
    }

    /// Tests the text of a row, where the steps alone do not decide.
    pub(super) fn verified(&self) -> Option<&Verifier> {
        self.verified.as_ref()
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

/// Whether a query has whole words only, none excluded. Then the words of its plan are its own, in
/// their order, and no copy of the tree is needed. Most queries are such.
fn is_plain(node: &Node) -> bool {
    match node {
        Node::Word(word) => word.term.form == Form::Whole,
        Node::Phrase { words, .. } => words.iter().all(|(term, _)| term.form == Form::Whole),
        Node::And(children) | Node::Or(children) => children.iter().all(is_plain),
        _ => false,
    }
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
/// for. Leaves out words that are only excluded and not searched for.
fn keywords(words: &WordNumbers, root: &Node) -> Vec<(String, Vec<usize>)> {
    let mut keywords: Vec<(String, Vec<usize>)> = Vec::new();
    let mut known = hashbrown::HashSet::new();
    root.each_term(&mut |term| {
        if !known.insert((term.form, &term.text)) {
            return;
        }
        let numbers: Vec<usize> = match term.form {
            Form::Whole => words.get(&term.text).into_iter().collect(),
            _ => matching(words.texts(), term),
        };
        if !numbers.is_empty() || term.form != Form::Whole {
            keywords.push((term.text.to_string(), numbers));
        }
    });
    keywords
}

/// Numbers of the words that a pattern matches.
fn matching(texts: &[String], pattern: &Term) -> Vec<usize> {
    // The parser refused every pattern that does not compile.
    let Ok(matcher) = Matcher::new(pattern) else {
        return Vec::new();
    };
    let texts = texts.iter().enumerate();
    let matching = texts.filter(|(_, text)| matcher.is_match(text));
    matching.map(|(number, _)| number).collect()
}

/// Set of all fields of a table.
fn every_field(text_columns: usize) -> u64 {
    u64::MAX.checked_shr(64 - text_columns as u32).unwrap_or(0)
}
