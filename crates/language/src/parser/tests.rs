mod operators;

use proptest::prelude::*;

use super::*;
use crate::analysis::{Settings, Words};
use crate::reference;
use crate::tree::Term;

const FIELDS: [&str; 3] = ["title", "body", "sub"];

fn parsed(text: &str) -> Result<Query, QueryError> {
    parse(text, &FIELDS, &Analyzer::default())
}

/// The query and its tree, printed.
#[track_caller]
fn check(text: &str, want: &str) {
    let got = match parsed(text) {
        Ok(query) => query.root.display(&FIELDS).to_string(),
        Err(error) => error.to_string(),
    };
    assert_eq!(got, want, "{text}");
}

#[track_caller]
fn check_warning(text: &str, want: &str) {
    let warnings = parsed(text).unwrap().warnings;
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].contains(want), "{warnings:?}");
}

#[test]
fn words_side_by_side_are_all_wanted() {
    check("Star  WARS", "star wars");
    check("star-wars it's", "star wars it s");
    check("a (b (c))", "a b c");
    check("one", "one");
}

#[test]
fn or_binds_tighter_than_and() {
    check("a b | c d", "a (b | c) d");
    check("a | (b | c)|d", "a | b | c | d");
    check("(a b) | c", "(a b) | c");
    check("star-wars | c", "(star wars) | c");
}

#[test]
fn negation_stands_beside_something_wanted() {
    check("a -b !c", "a -b -c");
    check("a -(b | c)", "a -(b | c)");
    check("google (-maps -earth)", "google -maps -earth");
    check("a -\"b c\"", "a -\"b c\"");
    check("a -(b -c)", "a -(b -c)");
    check("(b -c) | a", "(b -c) | a");
    check(
        "-a",
        "query is non-computable (single NOT operator) at byte 0",
    );
    check(
        "  -a -b",
        "query is non-computable (single NOT operator) at byte 5",
    );
    check(
        "a -(-b)",
        "query is non-computable (single NOT operator) at byte 2",
    );
    check(
        "a | -b",
        "query is non-computable (NOT is not allowed within OR) at byte 4",
    );
    check(
        "-a | b",
        "query is non-computable (single NOT operator) at byte 0",
    );
    check(
        "b | (-a -c)",
        "query is non-computable (NOT is not allowed within OR) at byte 4",
    );
    check("a --b", "double negation at byte 2");
}

#[test]
fn a_dash_excludes_what_follows_it_up_to_the_end_of_an_alternation() {
    check("a - b", "a -b");
    check("a ! (b c) d", "a -(b c) d");
    check("a! b", "a b");
    check("a -b | c d", "a -(b | c) d");
    check("a -b MAYBE c", "a -(b MAYBE c)");
    check("a (-b | c)", "a -(b | c)");
    check(
        "@title -a | b c",
        "-((@(title) a) | (@(title) b)) (@(title) c)",
    );
    operators::check_finds("a -b | c", &["a", "a b", "a c", "a d"], &[1, 4]);
    check(
        "a -b | -c",
        "query is non-computable (NOT is not allowed within OR) at byte 7",
    );
}

#[test]
fn a_dash_with_nothing_behind_it_is_punctuation() {
    check("a -- b", "a b");
    check("a - | b", "a b");
    check("a -", "a");
    check("wow! (!)", "wow");
    check_warning("a -", "write -word to exclude");
}

#[test]
fn a_text_without_a_word_matches_no_document_and_an_empty_one_all() {
    for text in [" ", " (\n) ", "&", "???", "!!!", "😀", "\"\"", "(&)"] {
        assert_eq!(parsed(text).unwrap().root, Node::Or(Vec::new()), "{text}");
        let warnings = parsed(text).unwrap().warnings;
        assert!(
            warnings.last().unwrap().contains("no document matches"),
            "{warnings:?}"
        );
        operators::check_finds(text, &["a", ""], &[]);
    }
    check("a &", "a");
    check("a | &", "a");
    check("a -&", "a");
    assert_eq!(parsed("").unwrap().root, Node::All);
}

#[test]
fn a_known_field_behind_an_at_sign_inside_a_word_limits_what_follows() {
    check("a@title b", "a (@(title) b)");
    check("me@home.org", "me home org");
    check("a@title", "field limit without a word at byte 1");
    check(r"a\@title b", "a title b");
}

#[test]
fn stored_queries_that_are_refused_now_mean_what_they_meant() {
    let stored =
        |text: &str| crate::Syntax::Sphinx.parse_stored(text, &FIELDS, &Analyzer::default());
    for (text, want) in [
        ("a NEAR/ 3 b", "a near 3 b"),
        ("\"a b\"~x", "\"a b\" x"),
        ("\"a b\" / c", "\"a b\" c"),
        ("- a", "a"),
        ("me@title", "me title"),
        ("\"a b\"~3.", "\"a b\"~3"),
        ("\"a b\"~3.5", "\"a b\"~3 5"),
        ("-() PARAGRAPH a", "a"),
    ] {
        assert!(parsed(text).is_err(), "{text}");
        assert_eq!(
            stored(text).unwrap().root.display(&FIELDS).to_string(),
            want
        );
    }
    assert_eq!(stored("a - b").unwrap(), parsed("a - b").unwrap());
    assert_eq!(stored("(a"), parsed("(a"));
}

#[test]
fn phrases_keep_their_distances() {
    check("\"Star  wars, IV\" a", "\"star wars iv\" a");
    check("\"one\"", "one");
    check("\"\" a", "a");
    check("\"a \\\"b\\\" (c) @d\"", "\"a b c @d\"");
    let root = parsed("\"#東京 tower\"").unwrap().root;
    let words = vec![(Term::whole("#東京"), 0), (Term::whole("tower"), 2)];
    assert_eq!(
        root,
        Node::Phrase {
            words,
            fields: FieldSet::ALL
        }
    );
}

#[test]
fn field_limits_hold_to_the_next_one_or_the_closing_bracket() {
    check(
        "@title a b @body c",
        "(@(title) a) (@(title) b) (@(body) c)",
    );
    check("(@title a) b", "(@(title) a) b");
    check(
        "@title a (@sub b) c",
        "(@(title) a) (@(sub) b) (@(title) c)",
    );
    check("@(title, SUB) a", "(@(title,sub) a)");
    check("@!title a", "(@(body,sub) a)");
    check("@!(title,body) \"a b\"", "(@(sub) \"a b\")");
    check("@title a @* b", "(@(title) a) b");
    check("a | @title b", "a | (@(title) b)");
    check("a -@sub b", "a -(@(sub) b)");
    check("@(title,body,sub) a", "a");
}

#[test]
fn unknown_fields_are_errors_unless_the_query_is_relaxed() {
    check(
        "a @nope b",
        r"no field 'nope' found in schema: write \@nope for the handle at byte 3",
    );
    check("@@relaxed @(nope,sub) b", "(@(sub) b)");
    check("@@relaxed @nope b", "(@!(title,body,sub) b)");
    check(
        "@ b",
        r"a field name must follow @: write \@ for the sign itself at byte 1",
    );
    check("@title", "field limit without a word at byte 0");
    check("@(title b", "unclosed list of fields at byte 0");
    check(
        "a @@relaxed",
        "@@relaxed stands only at the beginning of a query at byte 2",
    );
    check("me@home.org", "me home org");
}

#[test]
fn tags_and_handles_are_searched_as_written() {
    check("tag #Tag", "tag #tag");
    check(r"\@Bob", r"\@bob");
    check("\"@bob\"", r"\@bob");
    check("#東京", "#東京");
    check("東京", "東 京");
}

#[test]
fn a_backslash_takes_the_meaning_from_an_operator() {
    check(r"a \-b \| c\*", "a b c");
    check(r"\MAYBE \(x\)", "maybe x");
    check("a \\", "a");
}

#[test]
fn what_is_never_closed_is_an_error() {
    check("a (b", "unclosed bracket at byte 2");
    check("a \"b", "unclosed quote at byte 2");
    check("a) b", "closing bracket without an opening one at byte 1");
    check("a |", "a word is missing beside | at byte 3");
    check("| a", "a word is missing beside | at byte 0");
    check("a || b", "a word is missing beside | at byte 3");
    check("a (| b)", "a word is missing beside | at byte 3");
}

#[test]
fn what_holds_no_word_is_left_out() {
    check("a | ,", "a");
    check("a -😀 , & (\n)", "a");
}

#[test]
fn capital_operators_are_words_with_a_warning() {
    check("a AND b", "a and b");
    check_warning("a AND b AND c", "side by side");
    check_warning("a OR b", "write |");
    check_warning("a NOT b", "write -word");
    assert!(parsed("\"a OR b\" or and not").unwrap().warnings.is_empty());
}

#[test]
fn punctuation_that_is_no_operator_parts_words() {
    check(
        "$100 a=b c/d x^y near 1<2 a ^ b $ =",
        "100 a b c d x y near 1 2 a b",
    );
    check(
        "NEAR a near/3 maybe Sentence",
        "near a near 3 maybe sentence",
    );
    check(
        "a NEAR/ 3 b",
        "NEAR takes a whole number from 1 to 4294967295 at byte 2",
    );
    for text in [
        "ZONE:(h1) a",
        "ZONESPAN:(h1) a",
        "ZONE:h1 a",
        "ZONESPAN:h1 a",
    ] {
        check(text, "not yet: zones at byte 0");
    }
}

#[test]
fn limits_refuse_and_never_cut() {
    let deep = |count: u32| "(".repeat(count as usize) + "a" + &")".repeat(count as usize);
    check(&deep(QUERY_DEPTH_MAX), "a");
    check(
        &deep(QUERY_DEPTH_MAX + 1),
        "query is nested deeper than 64 at byte 65",
    );
    assert!(parsed(&"a ".repeat(QUERY_WORDS_MAX)).is_ok());
    assert!(
        parsed(&"a ".repeat(QUERY_WORDS_MAX + 1))
            .unwrap_err()
            .message
            .contains("16384 words")
    );
    assert!(
        parsed(&" ".repeat(QUERY_BYTES_MAX + 1))
            .unwrap_err()
            .message
            .contains("bytes")
    );
}

#[test]
fn the_limits_are_those_that_the_users_read() {
    let page = include_str!("../../../../docs/language.md");
    let thousands = |count: usize| format!("{},{:03}", count / 1000, count % 1000);
    for line in [
        format!("| text | {} bytes |", thousands(QUERY_BYTES_MAX)),
        format!("| words | {} |", thousands(QUERY_WORDS_MAX)),
        format!("| nodes of the tree | {} |", thousands(QUERY_NODES_MAX)),
        format!("| depth of brackets and negations | {QUERY_DEPTH_MAX} |"),
        format!(
            "operators nested in each other, chains of NEAR included | {QUERY_TREE_DEPTH_MAX} |"
        ),
        format!(
            "At most {} phrases in all",
            thousands(crate::limits::PHRASE_VARIANTS_MAX)
        ),
        format!("At most {} words", crate::limits::QUORUM_WORDS_MAX),
        format!("At most {} characters", crate::limits::PATTERN_CHARS_MAX),
        format!(
            "At most {} bytes",
            thousands(crate::limits::REGEX_BYTES_MAX)
        ),
        format!(
            "{} KiB compiled",
            crate::limits::REGEX_PROGRAM_BYTES_MAX >> 10
        ),
        format!("longer than {} bytes", crate::limits::WORD_BYTES_MAX),
    ] {
        assert!(page.contains(&line), "{line}");
    }
}

fn word() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "a", "b", "c", "#d", r"\@e", "東京", "x-y", "É", ",", "#東y", "a*", "?b", "^a", "c$", "=b",
        "c%d",
    ])
    .prop_map(str::to_owned)
}

/// Texts that may stand in quotes.
fn quoted() -> impl Strategy<Value = String> {
    let group =
        prop::collection::vec(word(), 2..4).prop_map(|words| format!("( {} )", words.join(" | ")));
    let gap = Just("*".to_owned());
    let part = prop_oneof![8 => word(), 1 => group, 1 => gap];
    let suffix = prop::sample::select(vec!["", "", "~1", "~3", "/1", "/2", "/0.5", "^2"]);
    let parts = prop::collection::vec(part, 0..4);
    (parts, suffix).prop_map(|(parts, suffix)| format!("\"{}\"{suffix}", parts.join(" ")))
}

/// Query texts with every construct of the language.
fn query_text() -> impl Strategy<Value = String> {
    let regex = Just("REGEX(/[ab]|x.?/)".to_owned());
    let leaf = prop_oneof![8 => word(), 3 => quoted(), 1 => regex];
    leaf.prop_recursive(4, 24, 4, |inside| {
        let limit = prop::sample::select(vec![
            "@title",
            "@(body,sub)",
            "@!sub",
            "@*",
            "@title[2]",
            "@*[1]",
        ]);
        let infix = prop::sample::select(vec![
            "<<",
            "NEAR/1",
            "NEAR/3",
            "NOTNEAR/2",
            "MAYBE",
            "SENTENCE",
            "PARAGRAPH",
            "|",
        ]);
        prop_oneof![
            prop::collection::vec(inside.clone(), 1..4).prop_map(|parts| parts.join(" ")),
            prop::collection::vec(inside.clone(), 2..4)
                .prop_map(|parts| format!("({})", parts.join(" | "))),
            (inside.clone(), inside.clone()).prop_map(|(a, b)| format!("{a} -({b})")),
            (prop::collection::vec(inside.clone(), 2..4), infix.clone())
                .prop_map(|(parts, infix)| format!("({})", parts.join(&format!(" {infix} ")))),
            (inside.clone(), infix, inside.clone())
                .prop_map(|(a, infix, b)| format!("{a} {infix} {b}")),
            (limit, inside).prop_map(|(limit, a)| format!("({limit} {a})")),
        ]
    })
}

fn document() -> impl Strategy<Value = Words> {
    prop::collection::vec(prop::collection::vec(word(), 0..6), 3).prop_map(|fields| {
        let mut words = Words::new();
        for (number, field) in fields.iter().enumerate() {
            let text = field.join(" ").replace('\\', "");
            words.push_field(&Analyzer::default(), number as u8, &text);
        }
        words
    })
}

/// Asserts the invariants of a parsed tree that `tree.rs` lists.
fn assert_normal(node: &Node) {
    match node {
        Node::And(children) => {
            assert!(children.len() > 1 && !only_excludes(node));
            assert!(
                !children
                    .iter()
                    .any(|child| matches!(child, Node::And(_) | Node::All))
            );
            for child in children {
                match child {
                    Node::Not(excluded) => {
                        assert!(!only_excludes(excluded) && **excluded != Node::All);
                        assert_normal(excluded);
                    }
                    child => assert_normal(child),
                }
            }
        }
        Node::Or(children) => {
            assert!(children.len() != 1);
            for child in children {
                assert!(!matches!(child, Node::Or(_) | Node::All));
                assert_normal(child);
            }
        }
        Node::Phrase { words, .. } => {
            assert!(words.len() > 1 && words[0].1 == 0);
            assert!(words.windows(2).all(|pair| pair[0].1 < pair[1].1));
        }
        Node::Word(word) => assert!(!word.term.text.is_empty()),
        Node::Repeated { times, .. } => assert!(*times > 1),
        Node::Proximity { terms, slack, .. } => assert!(terms.len() > 1 && *slack > 0),
        Node::Quorum { parts, least } => {
            assert!(parts.len() > 1 && *least > 0 && *least as usize <= parts.len());
            parts.iter().for_each(assert_normal);
        }
        Node::Order(parts) | Node::Together { parts, .. } => {
            assert!(parts.len() > 1);
            parts.iter().for_each(assert_operand);
        }
        Node::Near {
            left,
            right,
            distance,
        }
        | Node::NotNear {
            left,
            right,
            distance,
        } => {
            assert!(*distance > 0);
            assert_operand(left);
            assert_operand(right);
        }
        Node::Maybe(left, right) => {
            assert_operand(left);
            assert_operand(right);
        }
        Node::All => {}
        Node::Not(_) => panic!("a negation stands alone"),
    }
}

fn assert_operand(node: &Node) {
    assert!(!only_excludes(node) && *node != Node::All);
    assert_normal(node);
}

proptest! {
    #[test]
    fn printed_text_parses_to_the_same_tree(text in query_text(), units in "[01]") {
        let mut settings = Settings::default();
        settings.set("index_sp", &units).unwrap().unwrap();
        let analyzer = Analyzer::new(settings);
        if let Ok(query) = parse(&text, &FIELDS, &analyzer) {
            assert_normal(&query.root);
            let printed = query.root.display(&FIELDS).to_string();
            let again = parse(&printed, &FIELDS, &analyzer).map(|query| query.root);
            prop_assert_eq!(again, Ok(query.root), "{}", printed);
        }
    }

    #[test]
    fn no_text_makes_the_parser_panic_and_errors_stand_inside_it(text in r#"([ab "()|@!*\\^$=~/,#%?<-]|\PC|@title|\[2\]|NEAR/1| MAYBE | SENTENCE |REGEX\(|0\.5){0,30}"#) {
        match parsed(&text) {
            Ok(query) => assert_normal(&query.root),
            Err(error) => prop_assert!(error.position <= text.len()),
        }
    }

    #[test]
    fn more_words_find_less_and_more_branches_find_more(a in query_text(), b in query_text(), words in document()) {
        let hit = |text: &str| parsed(text).ok().map(|query| reference::matches(&query.root, &words));
        if let (Some(hit_a), Some(hit_b)) = (hit(&a), hit(&b)) {
            let holds_words = |text: &str| parsed(text).unwrap().root != Node::Or(Vec::new());
            if holds_words(&a) && holds_words(&b) {
                prop_assert_eq!(hit(&format!("({a}) ({b})")), Some(hit_a && hit_b));
                prop_assert_eq!(hit(&format!("({a}) | ({b})")), Some(hit_a || hit_b));
                prop_assert_eq!(hit(&format!("({a}) -({b})")), Some(hit_a && !hit_b));
            }
        }
    }

    #[test]
    fn a_document_is_found_by_the_queries_that_it_hits(
        texts in prop::collection::vec(query_text(), 1..6),
        docs in prop::collection::vec(document(), 1..6),
    ) {
        let roots = texts.iter().filter_map(|text| parsed(text).ok()).map(|query| query.root);
        let queries: Vec<(u64, Node)> = (1..).zip(roots).collect();
        let docs: Vec<(u64, Words)> = (1..).zip(docs).collect();
        for (query, root) in &queries {
            let found = reference::search(root, &docs);
            for (doc, words) in &docs {
                let hits = reference::percolate(&queries, words);
                prop_assert_eq!(found.contains(doc), hits.contains(query));
            }
        }
    }
}

#[test]
fn a_query_may_be_read_otherwise() {
    let read = |any_word, only_negated, text: &str| {
        let leniency = Leniency {
            any_word,
            only_negated,
            as_before: false,
        };
        parse_as(leniency, text, &FIELDS, &Analyzer::default()).map(|query| query.root)
    };
    let same = |text: &str| parse(text, &FIELDS, &Analyzer::default()).map(|query| query.root);
    assert_eq!(read(true, false, "a b"), same("a | b"));
    assert_eq!(
        read(true, false, "a b | c (d e)"),
        same("a | b | c | d | e")
    );
    assert_eq!(read(true, false, "a b -c"), same("(a | b) -c"));
    assert_eq!(read(true, false, "\"a b\" c"), same("\"a b\" | c"));
    assert_eq!(read(true, false, "-a"), same("-a"));
    let excluded = read(false, true, "-a -b").expect("it is allowed");
    assert!(matches!(&excluded, Node::And(parts) if parts.len() == 3 && parts[0] == Node::All));
    assert_eq!(read(false, true, "a -b"), same("a -b"));
    assert_eq!(read(false, true, "a | -b"), same("a | -b"));
}
