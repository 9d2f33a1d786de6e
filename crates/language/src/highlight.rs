//! Highlights: which bytes of a text made a query match.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::analysis::{Analyzer, Words};
use crate::meter::{Meter, Unmetered, Work};
use crate::pattern::Matcher;
use crate::tree::{Node, Term};
use crate::verify::{Counted, Places, Terms};

/// Units of a word of the text, and of a place that is marked.
const WORD_UNITS: u64 = 150;
const MARK_UNITS: u64 = 150;

/// The bytes of one field's words that the query names and that stand as its operators demand. Ascending, apart from
/// each other; may be empty. Words under a NOT are left out. The whole query need not match: other fields may decide
/// that. Cost: near to linear in the places of the query's words.
#[must_use]
pub fn ranges(root: &Node, field: u8, text: &str, analyzer: &Analyzer) -> Vec<Range<usize>> {
    ranges_within(root, field, text, analyzer, &Unmetered)
}

/// As [`ranges`], counted on the meter. Of no use once it has stopped.
#[must_use]
pub fn ranges_within(
    root: &Node,
    field: u8,
    text: &str,
    analyzer: &Analyzer,
    meter: &dyn Meter,
) -> Vec<Range<usize>> {
    let mut words = Words::new();
    words.push_field_within(analyzer, field, text, meter);
    let (work, mut places) = (Work::new(meter), Vec::new());
    analyzer.field_words(text, meter, &mut |word| {
        if work.begin(WORD_UNITS).is_none() {
            return;
        }
        places.push(TextWord {
            text: word.text.to_owned(),
            position: word.position,
            source: word.source,
        });
    });
    let terms = Terms::of(root);
    let standing = Places::new(&terms, &words);
    let mut matchers: FxHashMap<Term, Option<Matcher>> = FxHashMap::default();
    let mut marks = Vec::new();
    Counted::each(root, &standing, |term, span| {
        if work.begin(MARK_UNITS).is_none() {
            return;
        }
        if !matchers.contains_key(term) {
            // The parser refuses a pattern that does not compile.
            matchers.insert(term.clone(), Matcher::new(term).ok());
        }
        let Some(Some(matcher)) = matchers.get(term) else {
            return;
        };
        let first = places.partition_point(|place: &TextWord| place.position < span.start);
        let here = places.iter().skip(first);
        let here = here.take_while(|place| place.position == span.start);
        let here = here.filter(|place| matcher.is_match(&place.text));
        marks.extend(here.map(|place| place.source.clone()));
    });
    marks.sort_by_key(|mark: &Range<usize>| (mark.start, mark.end));
    marks.dedup_by(|next, mark| {
        let joined = next.start < mark.end;
        if joined {
            mark.end = mark.end.max(next.end);
        }
        joined
    });
    marks
}

/// A word of the text.
struct TextWord {
    text: String,
    position: u32,
    source: Range<usize>,
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
        // Work in the square of the places would take minutes.
        for query in ["\"a b\"", "a NEAR/3 b", "\"a b\"~9", "a << b"] {
            let root = parse(query, &["body"], &analyzer).unwrap().root;
            assert_eq!(ranges(&root, 0, &text, &analyzer).len(), 1 << 17, "{query}");
        }
    }
}
