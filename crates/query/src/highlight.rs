//! Which bytes of a text made a query match.

use std::ops::Range;

use crate::analysis::{Analyzer, Words};
use crate::pattern::Matcher;
use crate::reference::Span;
use crate::tree::{FieldSet, Node, Term, Word};
use crate::verify::{Places, Terms, spans};

/// The bytes of the words of one field's text that the query asks for there, ascending, apart from each other. Words under a NOT
/// are none of them, nor are words that do not stand as a phrase, NEAR and the like want them. Whether the whole query matches is
/// not asked: other fields may decide that.
/// Cost: near to linear in the places of the query's words.
#[must_use]
pub fn ranges(root: &Node, field: u8, text: &str, analyzer: &Analyzer) -> Vec<Range<usize>> {
    let mut words = Words::new();
    words.push_field(analyzer, field, text);
    let mut places = Vec::new();
    analyzer.words(text, &mut |word| {
        places.push(Place {
            text: word.text.to_owned(),
            position: word.position,
            source: word.source,
        });
    });
    let terms = Terms::of(root);
    let mut search = Search {
        standing: Places::new(&terms, &words),
        places,
        marks: Vec::new(),
    };
    search.collect(root, &mut Vec::new());
    let mut marks = search.marks;
    marks.sort_by_key(|mark| (mark.start, mark.end));
    marks.dedup_by(|next, mark| {
        let joined = next.start < mark.end;
        if joined {
            mark.end = mark.end.max(next.end);
        }
        joined
    });
    marks
}

/// One word of the text.
struct Place {
    text: String,
    position: u32,
    source: Range<usize>,
}

struct Search<'a> {
    standing: Places<'a>,
    /// In order of position.
    places: Vec<Place>,
    marks: Vec<Range<usize>>,
}

/// Spans of the field, as words ask for one that they lie in.
struct Bound {
    /// Where they start, rising.
    starts: Vec<u32>,
    /// Of each, the furthest end up to it.
    ends: Vec<u32>,
}

impl Bound {
    /// Of spans by rising start.
    fn of(spans: impl Iterator<Item = (u32, u32)>) -> Bound {
        let (starts, mut ends): (Vec<u32>, Vec<u32>) = spans.unzip();
        let mut furthest = 0;
        for end in &mut ends {
            furthest = furthest.max(*end);
            *end = furthest;
        }
        Bound { starts, ends }
    }

    /// Whether one of the spans begins no later and ends no sooner.
    fn holds(&self, span: &Span) -> bool {
        let begun = self.starts.partition_point(|start| *start <= span.start);
        let furthest = begun.checked_sub(1).and_then(|last| self.ends.get(last));
        furthest.is_some_and(|end| span.end <= *end)
    }
}

impl Search<'_> {
    /// `bounds`: a word counts only inside one span of each.
    fn collect(&mut self, node: &Node, bounds: &mut Vec<Bound>) {
        match node {
            Node::All | Node::Not(_) => {}
            Node::Word(Word { term, fields }) => self.mark(term, *fields, bounds),
            Node::Phrase {
                words: terms,
                fields,
            } => {
                let found = spans(node, &self.standing).unwrap_or_default();
                for (term, distance) in terms {
                    let at = found.iter().map(|span| span.start + distance);
                    bounds.push(Bound::of(at.map(|at| (at, at))));
                    self.mark(term, *fields, bounds);
                    bounds.pop();
                }
            }
            Node::Proximity { terms, fields, .. } => {
                bounds.push(self.bound(node));
                for term in terms {
                    self.mark(term, *fields, bounds);
                }
                bounds.pop();
            }
            Node::Order(parts) | Node::Together { parts, .. } => {
                self.inside(node, &mut parts.iter(), bounds);
            }
            Node::Near { left, right, .. } => {
                self.inside(node, &mut [&**left, &**right].into_iter(), bounds);
            }
            Node::NotNear { left, .. } => {
                self.inside(node, &mut [&**left].into_iter(), bounds);
            }
            Node::Quorum { parts, .. } | Node::And(parts) | Node::Or(parts) => {
                parts.iter().for_each(|part| self.collect(part, bounds));
            }
            Node::Maybe(left, right) => {
                self.collect(left, bounds);
                self.collect(right, bounds);
            }
        }
    }

    /// The words of the parts where the node itself matches.
    fn inside(
        &mut self,
        node: &Node,
        parts: &mut dyn Iterator<Item = &Node>,
        bounds: &mut Vec<Bound>,
    ) {
        bounds.push(self.bound(node));
        parts.for_each(|part| self.collect(part, bounds));
        bounds.pop();
    }

    /// Where a node matches.
    fn bound(&self, node: &Node) -> Bound {
        let found = spans(node, &self.standing).unwrap_or_default();
        Bound::of(found.iter().map(|span| (span.start, span.end)))
    }

    fn mark(&mut self, term: &Term, fields: FieldSet, bounds: &[Bound]) {
        let Ok(matcher) = Matcher::new(term) else {
            return; // the parser refused it
        };
        let found = self.standing.standing(term, fields).into_iter();
        for span in found.filter(|span| bounds.iter().all(|bound| bound.holds(span))) {
            let first = self
                .places
                .partition_point(|place| place.position < span.start);
            let here = self.places.iter().skip(first);
            let here = here.take_while(|place| place.position == span.start);
            let here = here.filter(|place| matcher.is_match(&place.text));
            self.marks.extend(here.map(|place| place.source.clone()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Settings;
    use crate::parse;

    /// The text with its marks in brackets.
    #[track_caller]
    fn check(query: &str, text: &str, want: &str) {
        check_with(&Analyzer::default(), query, text, want);
    }

    #[track_caller]
    fn check_with(analyzer: &Analyzer, query: &str, text: &str, want: &str) {
        let root = parse(query, &["title", "body"], analyzer).unwrap().root;
        let mut shown = String::new();
        let mut behind = 0;
        for range in ranges(&root, 1, text, analyzer) {
            shown.push_str(&text[behind..range.start]);
            shown.push_str(&format!("[{}]", &text[range.clone()]));
            behind = range.end;
        }
        shown.push_str(&text[behind..]);
        assert_eq!(shown, want, "{query}");
    }

    #[test]
    fn words_are_marked_where_they_stand() {
        check("café | x", "A Café, x!", "A [Café], [x]!");
        check("a -b", "a b", "[a] b");
        check("@title a | @body b", "a b", "a [b]");
        check("#tag", "tag #Tag", "tag [#Tag]");
        check("tag", "tag #Tag", "[tag] #[Tag]");
        check("st*", "star wars", "[star] wars");
        check("^a", "a b a", "[a] b a");
        check("\"東京\"", "東京 東", "[東][京] 東");
    }

    #[test]
    fn positions_decide_which_words_are_marked() {
        check("\"star wars\"", "star star wars", "star [star] [wars]");
        check("\"a * b\" x", "a x b b", "[a] [x] [b] b");
        check("a NEAR/1 b", "a x b a", "a x [b] [a]");
        check("a NOTNEAR/1 b", "a b x a", "a b x [a]");
        check("a << b", "b a x b", "b [a] x [b]");
        check("\"a b\"~1", "a x x b a", "a x x [b] [a]");
        check("(a << b) NEAR/1 c", "a b a c", "a b a c");
    }

    #[test]
    fn a_stem_marks_the_word_as_written() {
        let mut settings = Settings::default();
        settings.set("morphology", "stem_en").unwrap().unwrap();
        let english = Analyzer::new(settings);
        check_with(
            &english,
            "run =cats",
            "Running cat cats",
            "[Running] cat [cats]",
        );
        check_with(&english, "runn*", "Running runs", "[Running] runs");
    }

    #[test]
    fn a_phrase_many_times_takes_no_quadratic_time() {
        let analyzer = Analyzer::default();
        let text = "a b ".repeat(1 << 16);
        // The square of the places would take minutes.
        for query in ["\"a b\"", "a NEAR/3 b", "\"a b\"~9", "a << b"] {
            let root = parse(query, &["body"], &analyzer).unwrap().root;
            assert_eq!(ranges(&root, 0, &text, &analyzer).len(), 1 << 17, "{query}");
        }
    }
}
