//! The words and patterns of a query: what the dictionaries are asked for. Depends on the query
//! alone.

use query::tree::{Form, Node, Term};

/// The distinct words and patterns of a query.
pub(super) struct Terms<'q> {
    /// The tree of the query.
    pub(super) root: &'q Node,
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
        let (mut words, mut patterns) = (WordNumbers::default(), Vec::new());
        root.each_term(&mut |term| match term.form {
            Form::Whole => {
                words.add(&term.text);
            }
            _ if number(&patterns, term).is_none() => patterns.push(term.clone()),
            _ => {}
        });
        Terms {
            root,
            words,
            patterns,
        }
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
            let texts = self.texts.iter().zip(0..).skip(self.numbers.len());
            self.numbers
                .extend(texts.map(|(text, number)| (text.clone(), number)));
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
