//! A query's tree made ready for the parts of one snapshot: words looked up once, their weights computed once.

mod expand;
mod shape;

use std::borrow::Cow;

use query::bind::BoundSelect;
use query::pattern::Matcher;
use query::tree::{FieldSet, Form, Node, Place, Term};
use query::verify::Verifier;

use shape::Shape;

use super::rank::{Asked, Table, Weigher};
use crate::answer::Keyword;
use crate::error::Result;
use crate::part::{LookUp, PartWord};
use crate::removed::Frequency;
use crate::snapshot::Snapshot;

/// A query on one snapshot.
pub(super) struct Plan {
    words: Words,
    weigher: Weigher,
    root: Step,
    shape: Shape,
    /// What a row that the cursor stands on must still satisfy: the whole tree, where a part of it has no cursor.
    verified: Option<Verifier>,
    found: Found,
    frequencies: Vec<Frequency>,
    /// Of the query's words and patterns, those of the plan that each stands for; `None`: they are the words of the plan.
    keywords: Option<Vec<(String, Vec<usize>)>>,
}

/// Words by part, then by number, those of all parts one behind the other.
type Found = Vec<Option<PartWord>>;

/// A node of the tree, with words by number.
pub(super) enum Step {
    All,
    Word {
        word: usize,
        fields: Fields,
    },
    Phrase {
        words: Vec<(usize, u32)>,
        fields: Fields,
        /// Among the phrases of the tree.
        number: usize,
    },
    And {
        required: Vec<Step>,
        excluded: Vec<Step>,
    },
    /// Any so many of several.
    AtLeast {
        parts: Vec<Step>,
        least: usize,
    },
    /// The first; the second only adds to the weight.
    Maybe(Box<Step>, Box<Step>),
}

/// The fields that a word may stand in.
#[derive(Clone, Copy)]
pub(super) struct Fields {
    /// One bit for each.
    pub(super) set: u64,
    /// Whether that is every field of the table.
    pub(super) every: bool,
}

/// The distinct words of a query, in the order in which they come.
#[derive(Default)]
struct Words {
    texts: Vec<String>,
    numbers: hashbrown::HashMap<String, usize>,
    /// Phrases so far.
    phrases: usize,
}

impl Plan {
    /// Looks the words up in every part, and makes of their statistics what rows will weigh.
    /// Errors: `Io`, `Corrupt`, `TooManyWords`.
    pub(super) fn new(root: &Node, snapshot: &Snapshot, select: &BoundSelect<'_>) -> Result<Plan> {
        let options = &select.options;
        let is_stepped = has_cursors(root);
        let necessary = (!is_stepped).then(|| root.necessary_and_welcome());
        let stepped = necessary.as_ref().unwrap_or(root);
        let is_plain = is_plain(root);
        let expanded = match is_plain {
            true => Cow::Borrowed(stepped),
            false => Cow::Owned(expand::expand(stepped, snapshot)?),
        };
        let mut words = Words::default();
        let every = every_field(snapshot.shape.text_columns());
        let step = words.step(&expanded, every);
        let (found, frequencies) = words.find(snapshot)?;
        let mut asked = match is_stepped {
            true => Asked::new(stepped, &expanded, &|text| words.known(text), every),
            false => Asked::of_text(root, &words.texts, every),
        };
        asked.distinct = match is_plain {
            true => words.texts.len(),
            false => distinct_terms(root),
        };
        asked.set_documents(frequencies.iter().map(|frequency| frequency.documents));
        let table = Table {
            rows: snapshot.count(),
            hits: snapshot.words(),
            fields: &select.field_weights,
            shares: &snapshot.shares,
        };
        Ok(Plan {
            weigher: Weigher::new(options.ranker(), options.idf, asked, &table),
            shape: Shape::new(&step, words.texts.len()),
            keywords: (!is_plain).then(|| words.keywords(root)),
            words,
            root: step,
            verified: (!is_stepped).then(|| Verifier::new(root)),
            found,
            frequencies,
        })
    }

    /// Whether every row matches.
    pub(super) fn is_all(&self) -> bool {
        matches!(self.root, Step::All) && self.verified.is_none()
    }

    /// Live rows of each word, added up.
    pub(super) fn postings(&self) -> u64 {
        self.frequencies.iter().map(|word| word.documents).sum()
    }

    /// Distinct words.
    pub(super) fn words(&self) -> usize {
        self.words.texts.len()
    }

    pub(super) fn root(&self) -> &Step {
        &self.root
    }

    /// Words of a part, by number; `None` for those that none of its live rows holds.
    pub(super) fn found(&self, part: usize) -> &[Option<PartWord>] {
        let words = self.words();
        &self.found[part * words..(part + 1) * words]
    }

    /// Whether a word stands outside of every negation.
    pub(super) fn is_wanted(&self, word: u32) -> bool {
        self.shape.wanted[word as usize]
    }

    /// Whether positions decide: a phrase, or a word that may stand in some fields only.
    pub(super) fn has_places(&self) -> bool {
        self.shape.has_places
    }

    /// Whether in every row that matches, each wanted word that the row holds counts.
    pub(super) fn counts_present(&self) -> bool {
        self.shape.counts_present
    }

    /// Whether the query is a word, or an OR of words, in any field.
    pub(super) fn is_any(&self) -> bool {
        self.shape.is_any && self.verified.is_none()
    }

    /// The number of a word.
    pub(super) fn number(&self, text: &str) -> Option<usize> {
        self.words.known(text)
    }

    /// What the cursor alone does not decide.
    pub(super) fn verified(&self) -> Option<&Verifier> {
        self.verified.as_ref()
    }

    /// What rows weigh.
    pub(super) fn weigher(&self) -> &Weigher {
        &self.weigher
    }

    /// Statistics for SHOW META: of each word that is looked for, and of each pattern those of its words, added up.
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
                let words = self.words.texts.iter().zip(&self.frequencies);
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

/// Whether a query is of whole words alone, none excluded: then the words of its plan are its own, in their order. Most are, and
/// are spared the lists of words and a copy of the tree.
fn is_plain(node: &Node) -> bool {
    match node {
        Node::Word(word) => word.term.form == Form::Whole,
        Node::Phrase { words, .. } => words.iter().all(|(term, _)| term.form == Form::Whole),
        Node::And(children) | Node::Or(children) => children.iter().all(is_plain),
        _ => false,
    }
}

/// Distinct words and patterns of a query, wherever they stand in it.
fn distinct_terms(root: &Node) -> usize {
    let mut terms = hashbrown::HashSet::new();
    root.each_term(&mut |term| {
        terms.insert((term.form, &term.text));
    });
    terms.len()
}

/// Whether every operator of the tree has a cursor of its own.
fn has_cursors(node: &Node) -> bool {
    match node {
        Node::All => true,
        Node::Word(word) => word.term.place == Place::default(),
        Node::Phrase { words, .. } => words.iter().all(|(term, _)| term.is_plain()),
        Node::Quorum { parts, .. } | Node::And(parts) | Node::Or(parts) => {
            parts.iter().all(has_cursors)
        }
        Node::Maybe(left, right) => has_cursors(left) && has_cursors(right),
        Node::Not(part) => has_cursors(part),
        Node::Repeated { .. }
        | Node::Proximity { .. }
        | Node::Order(_)
        | Node::Near { .. }
        | Node::NotNear { .. }
        | Node::Together { .. } => false,
    }
}

impl Words {
    fn step(&mut self, node: &Node, every: u64) -> Step {
        let fields = |FieldSet(set): FieldSet| {
            let set = set & every;
            Fields {
                set,
                every: set == every,
            }
        };
        match node {
            Node::All => Step::All,
            Node::Word(word) => Step::Word {
                word: self.number(&word.term.text),
                fields: fields(word.fields),
            },
            Node::Phrase { words, fields: set } => {
                let word = |(term, distance): &(Term, u32)| (self.number(&term.text), *distance);
                let words = words.iter().map(word).collect();
                self.phrases += 1;
                Step::Phrase {
                    words,
                    fields: fields(*set),
                    number: self.phrases - 1,
                }
            }
            Node::And(children) => self.and(children, every),
            Node::Or(children) => Step::AtLeast {
                parts: self.each(children, every),
                least: 1,
            },
            Node::Quorum { parts, least } => Step::AtLeast {
                parts: self.each(parts, every),
                least: *least as usize,
            },
            Node::Maybe(left, right) => Step::Maybe(
                Box::new(self.step(left, every)),
                Box::new(self.step(right, every)),
            ),
            // What has no cursor never comes here: `Plan::new` steps through what is necessary instead.
            Node::Repeated { .. }
            | Node::Proximity { .. }
            | Node::Order(_)
            | Node::Near { .. }
            | Node::NotNear { .. }
            | Node::Together { .. } => Step::All,
            Node::Not(_) => self.and(std::slice::from_ref(node), every),
        }
    }

    fn each(&mut self, parts: &[Node], every: u64) -> Vec<Step> {
        let step = |part| self.step(part, every);
        parts.iter().map(step).collect()
    }

    fn and(&mut self, children: &[Node], every: u64) -> Step {
        let (mut required, mut excluded) = (Vec::new(), Vec::new());
        for child in children {
            match child {
                Node::Not(child) => excluded.push(self.step(child, every)),
                child => required.push(self.step(child, every)),
            }
        }
        if required.is_empty() {
            required.push(Step::All);
        }
        Step::And { required, excluded }
    }

    /// Each word and pattern of a query, in its order, with the words that it stands for. Those that are not looked for, since
    /// they are only excluded, are left out.
    fn keywords(&self, root: &Node) -> Vec<(String, Vec<usize>)> {
        let mut keywords: Vec<(String, Vec<usize>)> = Vec::new();
        let mut known = hashbrown::HashSet::new();
        root.each_term(&mut |term| {
            if !known.insert((term.form, &term.text)) {
                return;
            }
            let words: Vec<usize> = match term.form {
                Form::Whole => self.known(&term.text).into_iter().collect(),
                _ => self.matching(term),
            };
            if !words.is_empty() || term.form != Form::Whole {
                keywords.push((term.text.to_string(), words));
            }
        });
        keywords
    }

    fn matching(&self, term: &Term) -> Vec<usize> {
        // One that does not compile was refused by the parser.
        let Ok(matcher) = Matcher::new(term) else {
            return Vec::new();
        };
        let texts = self.texts.iter().enumerate();
        let matching = texts.filter(|(_, text)| matcher.is_match(text));
        matching.map(|(number, _)| number).collect()
    }

    fn number(&mut self, text: &str) -> usize {
        let next = self.texts.len();
        let number = *self.numbers.entry_ref(text).or_insert(next);
        if number == next {
            self.texts.push(text.into());
        }
        number
    }

    fn known(&self, text: &str) -> Option<usize> {
        self.numbers.get(text).copied()
    }

    /// Every word in every part, and how often it occurs in all of them. Look-ups take their steps in turns: one alone would spend
    /// its time waiting for memory. Errors: `Io`, `Corrupt`.
    fn find(&self, snapshot: &Snapshot) -> Result<(Found, Vec<Frequency>)> {
        let mut look_ups = Vec::with_capacity(snapshot.parts.len() * self.texts.len());
        for part in &snapshot.parts {
            for text in &self.texts {
                look_ups.push(part.look_up(text)?);
            }
        }
        look_ups.iter().for_each(LookUp::fetch);
        for _ in 0..LookUp::STEPS {
            look_ups.iter_mut().try_for_each(LookUp::step)?;
            look_ups.iter().for_each(LookUp::fetch);
        }
        let found = look_ups.into_iter().map(LookUp::end);
        let found = found.collect::<Result<Found>>()?;
        let mut frequencies = vec![Frequency::default(); self.texts.len()];
        for (at, word) in found.iter().enumerate() {
            if let Some(PartWord { frequency, .. }) = word {
                let sum = &mut frequencies[at % self.texts.len()];
                sum.documents += frequency.documents;
                sum.hits += frequency.hits;
            }
        }
        Ok((found, frequencies))
    }
}

fn every_field(text_columns: usize) -> u64 {
    u64::MAX.checked_shr(64 - text_columns as u32).unwrap_or(0)
}
