//! What a query asks the shards' dictionaries for. A plain value, of the query alone.

use std::borrow::Cow;

use query::tree::{Form, Node, Place, Term};

/// The distinct terms that a query's rows are looked for by.
pub(super) struct Terms<'q> {
    /// The query.
    pub(super) root: &'q Node,
    /// The tree that they stand in, every node of which has a step: that of the query, or, where a part of it is decided on rows'
    /// texts, what every match needs.
    pub(super) stepped: Cow<'q, Node>,
    /// Whole words, in the order in which they come.
    pub(super) words: WordNumbers,
    /// Wildcards and regular expressions, likewise.
    pub(super) patterns: Vec<Term>,
}

/// Distinct words, numbered from 0.
#[derive(Default)]
pub(super) struct WordNumbers {
    texts: Vec<String>,
    /// Empty where they are few, which are compared one by one.
    numbers: hashbrown::HashMap<String, usize>,
}

/// Words that are sooner compared than hashed.
const FEW_WORDS: usize = 8;

impl<'q> Terms<'q> {
    pub(super) fn new(root: &'q Node) -> Terms<'q> {
        let stepped = match has_steps(root) {
            true => Cow::Borrowed(root),
            false => Cow::Owned(root.necessary_and_welcome()),
        };
        let (mut words, mut patterns) = (WordNumbers::default(), Vec::new());
        stepped.each_term(&mut |term| match term.form {
            Form::Whole => {
                words.add(&term.text);
            }
            _ if number(&patterns, term).is_none() => patterns.push(term.clone()),
            _ => {}
        });
        Terms {
            root,
            stepped,
            words,
            patterns,
        }
    }

    /// The number of a pattern.
    pub(super) fn pattern(&self, term: &Term) -> Option<usize> {
        number(&self.patterns, term)
    }
}

impl WordNumbers {
    /// The number of a word, which gets the next one if it has none.
    pub(super) fn add(&mut self, text: &str) -> usize {
        if let Some(number) = self.get(text) {
            return number;
        }
        let next = self.texts.len();
        self.texts.push(text.into());
        if next >= FEW_WORDS {
            let texts = self.texts.iter().cloned().zip(0..);
            self.numbers.extend(texts.skip(self.numbers.len()));
        }
        next
    }

    pub(super) fn get(&self, text: &str) -> Option<usize> {
        match self.numbers.is_empty() {
            true => self.texts.iter().position(|known| known == text),
            false => self.numbers.get(text).copied(),
        }
    }

    /// By number.
    pub(super) fn texts(&self) -> &[String] {
        &self.texts
    }
}

fn number(patterns: &[Term], term: &Term) -> Option<usize> {
    let is_same = |known: &Term| known.form == term.form && known.text == term.text;
    patterns.iter().position(is_same)
}

/// Whether every operator of the tree has a step.
fn has_steps(node: &Node) -> bool {
    match node {
        Node::All => true,
        Node::Word(word) => word.term.place == Place::default(),
        Node::Phrase { words, .. } => words.iter().all(|(term, _)| term.is_plain()),
        Node::Quorum { parts, .. } | Node::And(parts) | Node::Or(parts) => {
            parts.iter().all(has_steps)
        }
        Node::Maybe(left, right) => has_steps(left) && has_steps(right),
        Node::Not(part) => has_steps(part),
        Node::Repeated { .. }
        | Node::Proximity { .. }
        | Node::Order(_)
        | Node::Near { .. }
        | Node::NotNear { .. }
        | Node::Together { .. } => false,
    }
}
