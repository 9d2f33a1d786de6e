//! Finds the places of a tree's terms in a document, in one pass over its words.

use rustc_hash::FxHashMap;

use crate::analysis::Words;
use crate::pattern::Matcher;
use crate::reference::Span;
use crate::tree::{FieldSet, Form, Node, Term};

/// The distinct terms of a tree by number, whatever their places and fields.
#[derive(Debug, Default)]
pub(crate) struct Terms {
    whole: FxHashMap<Box<str>, usize>,
    wildcards: FxHashMap<Box<str>, usize>,
    regexes: FxHashMap<Box<str>, usize>,
    /// By number, the matchers of patterns and regular expressions.
    matchers: Vec<(usize, Matcher)>,
    len: usize,
}

impl Terms {
    pub(crate) fn of(root: &Node) -> Terms {
        let mut terms = Terms::default();
        root.each_term(&mut |term| terms.add(term));
        terms
    }

    fn add(&mut self, term: &Term) {
        let next = self.len;
        let numbers = match term.form {
            Form::Whole => &mut self.whole,
            Form::Pattern => &mut self.wildcards,
            Form::Regex => &mut self.regexes,
        };
        if numbers.contains_key(&term.text) {
            return;
        }
        numbers.insert(term.text.clone(), next);
        self.len += 1;
        // The parser refuses a pattern that does not compile; here it matches nothing.
        if term.form != Form::Whole
            && let Ok(matcher) = Matcher::new(term)
        {
            self.matchers.push((next, matcher));
        }
    }

    /// Whether a word matches one of the `wanted` terms.
    fn numbers(&self, text: &str, wanted: impl Fn(usize) -> bool) -> bool {
        let mut matchers = self.matchers.iter();
        self.whole.get(text).is_some_and(|number| wanted(*number))
            || matchers.any(|(number, matcher)| wanted(*number) && matcher.is_match(text))
    }

    fn number(&self, term: &Term) -> Option<usize> {
        let numbers = match term.form {
            Form::Whole => &self.whole,
            Form::Pattern => &self.wildcards,
            Form::Regex => &self.regexes,
        };
        numbers.get(&term.text).copied()
    }

    fn matching(&self, text: &str) -> Vec<usize> {
        let matching = self.matchers.iter();
        let matching = matching.filter(|(_, matcher)| matcher.is_match(text));
        matching.map(|(number, _)| *number).collect()
    }
}

/// A document as the operators read it.
pub(crate) struct Places<'a> {
    pub(super) words: &'a Words,
    terms: &'a Terms,
    /// By term, its places, rising.
    of: Vec<Vec<Span>>,
    /// By field, its last position.
    lasts: Vec<u32>,
}

impl<'a> Places<'a> {
    pub(crate) fn new(terms: &'a Terms, words: &'a Words) -> Places<'a> {
        let mut of = vec![Vec::new(); terms.len];
        let mut lasts = Vec::new();
        let mut met: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
        for (text, field, position) in words.iter() {
            if lasts.len() <= usize::from(field) {
                lasts.resize(usize::from(field) + 1, 0);
            }
            lasts[usize::from(field)] = position.max(lasts[usize::from(field)]);
            let mut add = |number: usize| {
                let span = Span {
                    field,
                    start: position,
                    end: position,
                };
                // A regular expression may match both a word and its marked form at one position.
                if of[number].last() != Some(&span) {
                    of[number].push(span);
                }
            };
            if let Some(number) = terms.whole.get(text) {
                add(*number);
            }
            if !terms.matchers.is_empty() {
                let matching = met.entry(text).or_insert_with(|| terms.matching(text));
                matching.iter().for_each(|number| add(*number));
            }
        }
        Places {
            words,
            terms,
            of,
            lasts,
        }
    }

    /// Number of distinct terms of the tree.
    pub(super) fn terms(&self) -> usize {
        self.terms.len
    }

    pub(super) fn number(&self, term: &Term) -> Option<usize> {
        self.terms.number(term)
    }

    /// Whether a word of the document matches one of the `wanted` terms.
    pub(super) fn stands_for(&self, text: &str, wanted: impl Fn(usize) -> bool) -> bool {
        self.terms.numbers(text, wanted)
    }

    /// The places of a term in these fields, rising, each once.
    pub(crate) fn standing(&self, term: &Term, fields: FieldSet) -> Vec<Span> {
        let place = term.place;
        let stands = |span: &&Span| {
            fields.holds(span.field)
                && (!place.first || span.start == 1)
                && (!place.last || self.lasts.get(usize::from(span.field)) == Some(&span.start))
                && (place.within == 0 || span.start <= place.within)
        };
        let of = self
            .terms
            .number(term)
            .and_then(|number| self.of.get(number));
        of.into_iter().flatten().filter(stands).copied().collect()
    }
}
