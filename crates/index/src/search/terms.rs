//! The words and patterns of a query: what the dictionaries are asked for. Depends on the query
//! alone.

use language::tree::{Form, Node, Term};
use rustc_hash::FxHashMap;

use crate::error::Error;

/// The distinct words and patterns of a query.
pub(super) struct Terms<'q> {
    /// The tree of the query.
    pub(super) root: &'q Node,
    /// Whole words, numbered in the order in which they come.
    pub(super) words: WordNumbers,
    /// Wildcards and regular expressions, in the order in which they come.
    pub(super) patterns: Vec<Term>,
    /// By number of the pattern: how often the query has it.
    pub(super) uses: Vec<u64>,
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
        let (mut numbers, mut uses) = (FxHashMap::default(), Vec::new());
        root.each_term(&mut |term| {
            if term.form == Form::Whole {
                words.add(&term.text);
                return;
            }
            let number = *numbers.entry((term.form, &*term.text)).or_insert_with(|| {
                patterns.push(term.clone());
                uses.push(0);
                uses.len() - 1
            });
            uses[number] += 1;
        });
        Terms {
            root,
            words,
            patterns,
            uses,
        }
    }

    /// The error of a pattern, by its number, that stands for too many words.
    pub(super) fn too_many(&self, number: usize) -> Error {
        let pattern = self.patterns.get(number);
        Error::TooManyWords {
            pattern: pattern.map_or_else(String::new, |pattern| pattern.text.to_string()),
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
