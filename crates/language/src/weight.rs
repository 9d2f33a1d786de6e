//! Weights: how well a document answers a query.

use rustc_hash::FxHashSet;

use crate::analysis::Words;
use crate::reference::Span;
use crate::tree::{FieldSet, Node, Term, Word};
use crate::verify::{Places, Terms};

/// Weight of one more word in order: more than any number of places.
const RUN: u64 = 1_000;

/// The weight of a document: 1,000 for each word of the longest run, and 1 for each place of a query word, up to 999.
/// A run is a series of query words that stand in the document as in the query. Words under a NOT, and to the right
/// of NOTNEAR, do not count.
///
/// A function of query and document alone, so it does not depend on how either is split. Cost: one pass over the
/// document, and the places of the query's words.
///
/// Example: `a b c` in the text `a b x c a` weighs 2,004: the run `a b`, and four places.
#[must_use]
pub fn of(root: &Node, words: &Words) -> u64 {
    let mut query_terms = QueryTerms::default();
    query_terms.collect(root);
    let terms = Terms::of(root);
    let places = Places::new(&terms, words);
    let mut distinct: Vec<(u8, u32)> = Vec::new();
    let mut met: FxHashSet<(&Term, FieldSet)> = FxHashSet::default();
    for (term, fields, _) in &query_terms.words {
        if met.insert((*term, *fields)) {
            let spans = places.spans(term, *fields);
            distinct.extend(spans.iter().map(|span| (span.field, span.start)));
        }
    }
    distinct.sort_unstable();
    distinct.dedup();
    RUN * longest(query_terms.words, &places) + (distinct.len() as u64).min(RUN - 1)
}

/// The longest run of words in order. Memory: the places of two words.
fn longest(mut words: Vec<(&Term, FieldSet, u32)>, places: &Places<'_>) -> u64 {
    words.sort_by_key(|(_, _, number)| *number);
    let mut best = 0;
    // Places of the word before, each with the length of the run that ends there.
    let (mut before, mut last) = (Vec::new(), None);
    for alike in words.chunk_by(|(.., a), (.., b)| a == b) {
        let number = alike.first().map(|(.., number)| *number);
        if last.is_none_or(|last: u32| number != last.checked_add(1)) {
            before.clear();
        }
        last = number;
        let standing = alike.iter();
        let mut standing: Vec<Span> = standing
            .flat_map(|(term, fields, _)| places.spans(term, *fields))
            .collect();
        standing.sort_unstable();
        let (mut runs, mut next): (Vec<(Span, u64)>, usize) = (Vec::new(), 0);
        for span in standing {
            let is_behind = |(earlier, _): &(Span, u64)| {
                (earlier.field, earlier.start.saturating_add(1)) < (span.field, span.start)
            };
            while before.get(next).is_some_and(is_behind) {
                next += 1;
            }
            let follows = before.get(next).filter(|(earlier, _)| {
                (earlier.field, earlier.start.saturating_add(1)) == (span.field, span.start)
            });
            let length = follows.map_or(1, |(_, length)| length + 1);
            best = best.max(length);
            runs.push((span, length));
        }
        before = runs;
    }
    best
}

/// The words of a query, numbered by their places in it.
#[derive(Default)]
struct QueryTerms<'a> {
    words: Vec<(&'a Term, FieldSet, u32)>,
    next: u32,
}

impl<'a> QueryTerms<'a> {
    fn collect(&mut self, node: &'a Node) {
        match node {
            Node::All | Node::Not(_) => {}
            Node::Word(Word { term, fields })
            | Node::Repeated {
                word: Word { term, fields },
                ..
            } => self.one(term, *fields),
            Node::Phrase { words, fields } => {
                let first = self.next;
                for (term, distance) in words {
                    self.next = first + distance;
                    self.one(term, *fields);
                }
            }
            Node::Proximity { terms, fields, .. } => {
                terms.iter().for_each(|term| self.one(term, *fields));
            }
            Node::Quorum { parts, .. }
            | Node::Order(parts)
            | Node::Together { parts, .. }
            | Node::And(parts)
            | Node::Or(parts) => parts.iter().for_each(|part| self.collect(part)),
            Node::Near { left, right, .. } | Node::Maybe(left, right) => {
                self.collect(left);
                self.collect(right);
            }
            Node::NotNear { left, .. } => self.collect(left),
        }
    }

    fn one(&mut self, term: &'a Term, fields: FieldSet) {
        self.words.push((term, fields, self.next));
        self.next += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Analyzer;
    use crate::parse;

    #[track_caller]
    fn check(query: &str, title: &str, want: u64) {
        let analyzer = Analyzer::default();
        let root = parse(query, &["title", "body"], &analyzer).unwrap().root;
        let mut words = Words::new();
        words.push_field(&analyzer, 0, title);
        words.push_field(&analyzer, 1, "body of the text");
        assert_eq!(of(&root, &words), want, "{query}");
    }

    #[test]
    fn a_run_in_order_is_worth_most_and_places_decide_between_equals() {
        check("a b c", "a b c", 3_003);
        check("a b c", "c b a", 1_003);
        check("a b c", "a b x c a", 2_004);
        check("a b", "b a b x a b", 2_005);
        check("\"a * b\"", "a x b", 1_002);
        check("a a", "a", 1_001);
    }

    #[test]
    fn only_wanted_words_in_their_fields_count() {
        check("a -b", "a x", 1_001);
        check("a NOTNEAR/2 body", "a", 1_001);
        check("a MAYBE b", "a b", 2_002);
        check("@body a | text", "a", 1_001);
        check("b* of", "x", 2_002);
        check("", "x", 0);
    }

    #[test]
    fn places_are_counted_to_999() {
        check("a", &"a ".repeat(2_000), 1_999);
    }

    #[test]
    fn one_word_many_times_in_query_and_text_takes_the_memory_of_the_text() {
        // Pairs of a query word and a text word would be 17 million.
        let (query, text) = ("a ".repeat(1_024), "a ".repeat(1 << 14));
        check(&query, &text, 1_024_999);
    }

    #[test]
    fn many_words_in_a_long_text_take_one_pass() {
        let text: String = (0..40_000).map(|number| format!("w{number} ")).collect();
        let query: String = (0..16_000).map(|number| format!("w{number} | ")).collect();
        // Comparing each query word with each text word would take minutes.
        check(query.trim_end_matches(" | "), &text, 16_000_999);
    }
}
