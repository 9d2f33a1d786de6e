//! How well a document answers a query.

use crate::analysis::Words;
use crate::tree::{FieldSet, Node, Term, Word};
use crate::verify::{Places, Terms};

/// What one more word in order is worth: more than any number of places.
const RUN: u64 = 1_000;

/// `1000 × the longest run of the query's words that stand in the document as in the query + the places where any of them
/// stands, 999 at most`. Words under a NOT, and to the right of NOTNEAR, are none of the query's. A function of the query and the
/// document alone, so it does not depend on how either is split.
/// Cost: one pass over the document, and the places of the query's words.
#[must_use]
pub fn of(root: &Node, words: &Words) -> u64 {
    let mut asked = Asked::default();
    asked.collect(root);
    let terms = Terms::of(root);
    let places = Places::new(&terms, words);
    // Where a word stands less where it is asked for is the same along a run.
    let mut runs: Vec<(u8, i64, u32)> = Vec::new();
    for (term, fields, number) in &asked.words {
        let spans = places.standing(term, *fields);
        runs.extend(spans.iter().map(|span| {
            let shift = i64::from(span.start) - i64::from(*number);
            (span.field, shift, *number)
        }));
    }
    let mut distinct: Vec<(u8, i64)> = runs
        .iter()
        .map(|(field, shift, number)| (*field, shift + i64::from(*number)))
        .collect();
    distinct.sort_unstable();
    distinct.dedup();
    runs.sort_unstable();
    runs.dedup();
    RUN * longest(&runs) + (distinct.len() as u64).min(RUN - 1)
}

fn longest(runs: &[(u8, i64, u32)]) -> u64 {
    let (mut best, mut length) = (0, 0);
    let mut last = None;
    for &(field, shift, number) in runs {
        let goes_on = number > 0 && last == Some((field, shift, number - 1));
        length = if goes_on { length + 1 } else { 1 };
        best = best.max(length);
        last = Some((field, shift, number));
    }
    best
}

/// The words that a query asks for, numbered as they are written.
#[derive(Default)]
struct Asked<'a> {
    words: Vec<(&'a Term, FieldSet, u32)>,
    next: u32,
}

impl<'a> Asked<'a> {
    fn collect(&mut self, node: &'a Node) {
        match node {
            Node::All | Node::Not(_) => {}
            Node::Word(Word { term, fields }) => self.one(term, *fields),
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
    fn many_words_in_a_long_text_take_one_pass() {
        let text: String = (0..40_000).map(|number| format!("w{number} ")).collect();
        let query: String = (0..16_000).map(|number| format!("w{number} | ")).collect();
        // The words of the one times those of the other would take minutes.
        check(query.trim_end_matches(" | "), &text, 16_000_999);
    }
}
