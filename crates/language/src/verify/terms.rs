//! The terms of a tree by number.

use rustc_hash::FxHashMap;

use crate::pattern::Matcher;
use crate::tree::{FieldPlace, Form, Node, Term};

/// The distinct terms of a tree by number, whatever their places and fields.
#[derive(Debug, Default)]
pub(crate) struct Terms {
    pub(super) whole: FxHashMap<Box<str>, usize>,
    wildcards: FxHashMap<Box<str>, usize>,
    regexes: FxHashMap<Box<str>, usize>,
    /// By number, the matchers of patterns and regular expressions.
    pub(super) matchers: Vec<(usize, Matcher)>,
    /// By number, without their places in fields.
    pub(super) listed: Vec<Term>,
}

impl Terms {
    pub(crate) fn of(root: &Node) -> Terms {
        let mut terms = Terms::default();
        root.each_term(&mut |term| terms.add(term));
        terms
    }

    fn add(&mut self, term: &Term) {
        let next = self.listed.len();
        let numbers = match term.form {
            Form::Whole => &mut self.whole,
            Form::Pattern => &mut self.wildcards,
            Form::Regex => &mut self.regexes,
        };
        if numbers.contains_key(&term.text) {
            return;
        }
        numbers.insert(term.text.clone(), next);
        self.listed.push(Term {
            place: FieldPlace::default(),
            ..term.clone()
        });
        // The parser refuses a pattern that does not compile; here it matches nothing.
        if term.form != Form::Whole
            && let Ok(matcher) = Matcher::new(term)
        {
            self.matchers.push((next, matcher));
        }
    }

    /// Whether a word matches one of the `wanted` terms.
    pub(super) fn numbers(&self, text: &str, wanted: impl Fn(usize) -> bool) -> bool {
        let mut matchers = self.matchers.iter();
        self.whole.get(text).is_some_and(|number| wanted(*number))
            || matchers.any(|(number, matcher)| wanted(*number) && matcher.is_match(text))
    }

    /// The terms by number.
    pub(super) fn listed(&self) -> &[Term] {
        &self.listed
    }

    /// The number of a term, wherever in its field it must stand.
    pub(super) fn number(&self, term: &Term) -> Option<usize> {
        let numbers = match term.form {
            Form::Whole => &self.whole,
            Form::Pattern => &self.wildcards,
            Form::Regex => &self.regexes,
        };
        numbers.get(&term.text).copied()
    }

    pub(super) fn matching(&self, text: &str) -> Vec<usize> {
        let matching = self.matchers.iter();
        let matching = matching.filter(|(_, matcher)| matcher.is_match(text));
        matching.map(|(number, _)| *number).collect()
    }
}
