//! A query's tree made ready for the parts of one snapshot: words looked up once, their weights computed once.

mod expand;

use query::tree::{FieldSet, Node, Place, Term};
use query::verify::Verifier;

use super::cursor::{self, Cursor, Reader};
use super::rank::{Hit, WordWeight};
use crate::answer::Keyword;
use crate::error::Result;
use crate::part::{Part, PartWord};
use crate::removed::Frequency;
use crate::snapshot::Snapshot;

/// A query on one snapshot.
pub(super) struct Plan {
    words: Words,
    weights: Vec<WordWeight>,
    root: Step,
    /// What a row that the cursor stands on must still satisfy: the whole tree, where a part of it has no cursor.
    verified: Option<Verifier>,
    /// By part, then by word.
    found: Vec<Vec<Option<PartWord>>>,
    frequencies: Vec<Frequency>,
    text_columns: usize,
}

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
    /// Whether a word is asked for outside of any negation: only such words count for weights.
    wanted: Vec<bool>,
    numbers: hashbrown::HashMap<String, usize>,
}

impl Plan {
    /// Looks the words up in every part. Errors: `Io`, `Corrupt`, `TooManyWords`.
    pub(super) fn new(root: &Node, snapshot: &Snapshot) -> Result<Plan> {
        let is_stepped = has_cursors(root);
        let stepped = match is_stepped {
            true => expand::expand(root, snapshot)?,
            false => expand::expand(&root.necessary(), snapshot)?,
        };
        let mut words = Words::default();
        let text_columns = snapshot.shape.text_columns();
        let step = words.step(&stepped, every_field(text_columns), true);
        let mut plan = Plan {
            words,
            weights: Vec::new(),
            root: step,
            verified: (!is_stepped).then(|| Verifier::new(root)),
            found: Vec::with_capacity(snapshot.parts.len()),
            frequencies: Vec::new(),
            text_columns,
        };
        plan.find_words(snapshot)?;
        Ok(plan)
    }

    /// Every word in every part, and with that its weight.
    fn find_words(&mut self, snapshot: &Snapshot) -> Result<()> {
        let texts = &self.words.texts;
        self.frequencies = vec![Frequency::default(); texts.len()];
        for part in &snapshot.parts {
            let mut in_part = Vec::with_capacity(texts.len());
            for (text, sum) in texts.iter().zip(&mut self.frequencies) {
                let word = part.word(text)?;
                if let Some(PartWord { frequency, .. }) = &word {
                    sum.documents += frequency.documents;
                    sum.hits += frequency.hits;
                }
                in_part.push(word);
            }
            self.found.push(in_part);
        }
        let wanted = self.words.wanted.iter().filter(|wanted| **wanted).count();
        let weight =
            |frequency: &Frequency| WordWeight::new(snapshot.count(), frequency.documents, wanted);
        self.weights = self.frequencies.iter().map(weight).collect();
        Ok(())
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

    /// The rows of a part that match, deleted ones included. With `ranked`, what matched can be asked of the cursor.
    pub(super) fn cursor<'p>(
        &self,
        at: usize,
        part: &'p Part,
        ranked: bool,
    ) -> Result<Box<dyn Cursor + 'p>> {
        let reader = Reader {
            part,
            words: &self.found[at],
            field_mask: ranked && self.text_columns > 1,
        };
        cursor::build(&self.root, &reader)
    }

    /// What the cursor alone does not decide.
    pub(super) fn verified(&self) -> Option<&Verifier> {
        self.verified.as_ref()
    }

    pub(super) fn weight(&self, hit: &Hit) -> i64 {
        hit.weight(&self.weights)
    }

    /// Statistics for SHOW META.
    pub(super) fn keywords(&self) -> Vec<Keyword> {
        let keyword = |(text, frequency): (&String, &Frequency)| Keyword {
            word: text.clone(),
            documents: frequency.documents,
            hits: frequency.hits,
        };
        self.words
            .texts
            .iter()
            .zip(&self.frequencies)
            .map(keyword)
            .collect()
    }
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
        Node::Proximity { .. }
        | Node::Order(_)
        | Node::Near { .. }
        | Node::NotNear { .. }
        | Node::Together { .. } => false,
    }
}

impl Words {
    /// `wanted`: outside of any negation.
    fn step(&mut self, node: &Node, every: u64, wanted: bool) -> Step {
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
                word: self.number(&word.term.text, wanted),
                fields: fields(word.fields),
            },
            Node::Phrase { words, fields: set } => {
                let number =
                    |(term, distance): &(Term, u32)| (self.number(&term.text, wanted), *distance);
                Step::Phrase {
                    words: words.iter().map(number).collect(),
                    fields: fields(*set),
                }
            }
            Node::And(children) => self.and(children, every, wanted),
            Node::Or(children) => Step::AtLeast {
                parts: self.each(children, every, wanted),
                least: 1,
            },
            Node::Quorum { parts, least } => Step::AtLeast {
                parts: self.each(parts, every, wanted),
                least: *least as usize,
            },
            Node::Maybe(left, right) => Step::Maybe(
                Box::new(self.step(left, every, wanted)),
                Box::new(self.step(right, every, wanted)),
            ),
            // What has no cursor never comes here: `Plan::new` steps through what is necessary instead.
            Node::Proximity { .. }
            | Node::Order(_)
            | Node::Near { .. }
            | Node::NotNear { .. }
            | Node::Together { .. } => Step::All,
            Node::Not(_) => self.and(std::slice::from_ref(node), every, wanted),
        }
    }

    fn each(&mut self, parts: &[Node], every: u64, wanted: bool) -> Vec<Step> {
        let step = |part| self.step(part, every, wanted);
        parts.iter().map(step).collect()
    }

    fn and(&mut self, children: &[Node], every: u64, wanted: bool) -> Step {
        let (mut required, mut excluded) = (Vec::new(), Vec::new());
        for child in children {
            match child {
                Node::Not(child) => excluded.push(self.step(child, every, false)),
                child => required.push(self.step(child, every, wanted)),
            }
        }
        if required.is_empty() {
            required.push(Step::All);
        }
        Step::And { required, excluded }
    }

    fn number(&mut self, text: &str, wanted: bool) -> usize {
        let next = self.texts.len();
        let number = *self.numbers.entry_ref(text).or_insert(next);
        if number == next {
            self.texts.push(text.into());
            self.wanted.push(false);
        }
        self.wanted[number] |= wanted;
        number
    }
}

fn every_field(text_columns: usize) -> u64 {
    u64::MAX.checked_shr(64 - text_columns as u32).unwrap_or(0)
}
