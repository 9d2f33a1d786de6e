//! The places of a tree's terms in a document, found in one pass over its words.

use rustc_hash::FxHashMap;

use super::document::Document;
use super::prepared::Standing;
use super::terms::Terms;
use crate::analysis::Words;
use crate::reference::Span;
use crate::tree::{FieldSet, Term, Unit};

/// The places of a tree's terms in the words of a document.
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
        let mut of = vec![Vec::new(); terms.listed.len()];
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

    /// The terms of the tree.
    pub(super) fn terms(&self) -> &'a Terms {
        self.terms
    }

    /// Whether a word of the document matches one of the `wanted` terms.
    pub(super) fn stands_for(&self, text: &str, wanted: impl Fn(usize) -> bool) -> bool {
        self.terms.numbers(text, wanted)
    }

    /// The places of a term in these fields, rising, each once.
    pub(crate) fn spans(&self, term: &Term, fields: FieldSet) -> Vec<Span> {
        let asked = Standing::new(term, fields, self.terms);
        let of = self.standing(asked.term).iter();
        of.filter(|span| asked.holds(span, self)).copied().collect()
    }
}

impl Document for Places<'_> {
    fn standing(&self, term: usize) -> &[Span] {
        self.of.get(term).map_or(&[], Vec::as_slice)
    }

    fn last(&self, field: u8) -> Option<u32> {
        let last = self.lasts.get(usize::from(field)).copied();
        last.filter(|last| *last > 0)
    }

    fn unit_bounds(&self, unit: Unit, field: u8, position: u32) -> (u32, u32) {
        self.words.units().unit_bounds(unit, field, position)
    }
}
