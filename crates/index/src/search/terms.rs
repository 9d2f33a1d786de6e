//! The words and patterns of a query: what the dictionaries are asked for. Depends on the query
//! alone.

use std::borrow::Cow;

use query::tree::{FieldPlace, Form, Node, Term};

/// The distinct words and patterns by which a query's rows are found.
pub(super) struct Terms<'q> {
    /// The whole tree of the query.
    pub(super) root: &'q Node,
    /// A tree whose every node has a step, in which the terms stand. It is `root`, or, where the
    /// text decides a part of the query, the weaker tree that every match satisfies.
    pub(super) stepped: Cow<'q, Node>,
    /// Whole words, numbered in the order in which they come.
    pub(super) words: WordNumbers,
    /// Wildcards and regular expressions, in the order in which they come.
    pub(super) patterns: Vec<Term>,
}

/// Distinct words, numbered from 0.
#[derive(Default)]
pub(super) struct WordNumbers {
    texts: Vec<String>,
    /// Number of each text. Empty for few words, which are compared one by one.
    numbers: hashbrown::HashMap<String, usize>,
}

/// Words up to which comparing them is faster than a hash.
const FEW_WORDS: usize = 8;

impl<'q> Terms<'q> {
    /// The terms of a query's tree.
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

    /// The number of a pattern in `patterns`.
    pub(super) fn pattern(&self, term: &Term) -> Option<usize> {
        number(&self.patterns, term)
    }
}

impl WordNumbers {
    /// The number of a word; a new word gets the next number.
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

    /// The number of a word.
    pub(super) fn get(&self, text: &str) -> Option<usize> {
        match self.numbers.is_empty() {
            true => self.texts.iter().position(|known| known == text),
            false => self.numbers.get(text).copied(),
        }
    }

    /// The texts by number.
    pub(super) fn texts(&self) -> &[String] {
        &self.texts
    }
}

fn number(patterns: &[Term], term: &Term) -> Option<usize> {
    let is_same = |known: &Term| known.form == term.form && known.text == term.text;
    patterns.iter().position(is_same)
}

/// Whether every node of the tree has a step. A word with a [`FieldPlace`] (at a field's start or end)
/// has none: its text decides.
fn has_steps(node: &Node) -> bool {
    match node {
        Node::All => true,
        Node::Word(word) => word.term.place == FieldPlace::default(),
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
