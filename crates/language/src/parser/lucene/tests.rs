use proptest::prelude::*;

use super::*;
use crate::analysis::Words;
use crate::{Syntax, reference};

const FIELDS: [&str; 3] = ["title", "body", "sub"];

/// The query as Sphinx's syntax would say it.
#[track_caller]
fn check(text: &str, want: &str) {
    check_with(Options::default(), text, want);
}

#[track_caller]
fn check_with(options: Options, text: &str, want: &str) {
    let got = match parse(text, &FIELDS, &Analyzer::default(), options) {
        Ok(query) => query.root.display(&FIELDS).to_string(),
        Err(error) => error.to_string(),
    };
    assert_eq!(got, want, "{text}");
}

#[test]
fn words_without_an_operator_are_alternatives() {
    check("a b c", "a | b | c");
    check("a OR b || (c d)", "a | b | c | d");
    let all = Options {
        all: true,
        ..Options::default()
    };
    check_with(all, "a b", "a b");
    check_with(all, "a b OR c", "a MAYBE (b | c)");
    check_with(all, "a OR b -c", "(a | b) -c");
}

#[test]
fn operators_say_what_is_required() {
    check("a AND b && c", "a b c");
    check("a AND b OR c", "(a b) MAYBE c");
    check("a OR b AND c", "(b c) MAYBE a");
    check("+a b -c", "(a MAYBE b) -c");
    check("a NOT b !c", "a -b -c");
    check("a AND NOT b", "a -b");
    check("a AND (NOT b)", "a -b");
    check("(a OR b) AND c", "(a | b) c");
    check(
        "NOT (a b)",
        "query is non-computable (single NOT operator) at byte 0",
    );
    check(
        "a OR (-b)",
        "query is non-computable (NOT is not allowed within OR) at byte 5",
    );
    check("a OR -b", "a -b");
    check("+a +b", "a b");
    check("and a or", "and | a | or");
}

#[test]
fn everything_is_written_with_stars() {
    check("*:*", "");
    check("*:* AND a", "a");
    check("*:* OR a", "");
    check(
        "*:* -a",
        "query is non-computable (single NOT operator) at byte 4",
    );
    check(
        "-*:*",
        "query is non-computable (single NOT operator) at byte 0",
    );
}

#[test]
fn a_field_holds_for_what_follows_it() {
    check("title:a b", "(@(title) a) | b");
    check("title:(a AND b) c", "((@(title) a) (@(title) b)) | c");
    check("title:(a body:b)", "(@(title) a) | (@(body) b)");
    check("Title: \"a b\"", "(@(title) \"a b\")");
    check("-sub:a b", "b -(@(sub) a)");
    check(
        "nope:a",
        r"no field 'nope' found in schema: write nope\: for the text at byte 0",
    );
    check(r"http\:x", "\"http x\"");
    check("_exists_:title", "not yet: _exists_ at byte 0");
    check("title:", "a word is missing beside : at byte 6");
    let body = Options {
        fields: FieldSet(2),
        ..Options::default()
    };
    check_with(body, "a title:b", "(@(body) a) | (@(title) b)");
}

#[test]
fn phrases_take_a_slop() {
    check("\"a b\"", "\"a b\"");
    check("\"a * (b | ^c)\"", "\"a b c\"");
    check("\"a b\"~3", "\"a b\"~4");
    check("\"a b\"~0^2", "\"a b\"");
    check(
        "\"a b\"~",
        "a slop is a whole number up to 4294967295 at byte 5",
    );
    check("wi-fi it's", "\"wi fi\" | \"it s\"");
    let finds = |text: &str| {
        let mut words = Words::new();
        words.push_field(&Analyzer::default(), 0, text);
        let root = Syntax::Lucene
            .parse("\"a b\"~2", &FIELDS, &Analyzer::default())
            .unwrap()
            .root;
        reference::matches(&root, &words)
    };
    assert!(finds("a x x b") && !finds("a x x x b"));
}

#[test]
fn patterns_are_lucenes() {
    check("wi*d b?d 50%", "wi*d | b?d | 50");
    check(r"a\*b /t.?e/", "\"a b\" | REGEX(/t.?e/)");
    check(
        "title:/a|b/ =a ^b $c",
        "(@(title) REGEX(/a|b/)) | a | b | c",
    );
    check("a^2 b^0.5", "a | b");
    check("/a", "a regular expression is written /…/ at byte 0");
    check("* a", "a");
}

#[test]
fn what_is_not_built_is_refused_where_it_stands() {
    check("roam~", "not yet: fuzzy words, word~ at byte 4");
    check("x roam~2", "not yet: fuzzy words, word~ at byte 6");
    check("title:[a TO b]", "not yet: ranges at byte 6");
    check("{a TO b}", "not yet: ranges at byte 0");
    check("title:>=5", "not yet: ranges at byte 6");
}

#[test]
fn what_is_never_closed_or_begun_is_an_error() {
    check("(a", "unclosed bracket at byte 0");
    check("\"a", "unclosed quote at byte 0");
    check("a)", "closing bracket without an opening one at byte 1");
    check("a AND", "a word is missing beside AND at byte 5");
    check("OR a", "a word is missing beside OR at byte 0");
    check("a OR AND b", "a word is missing beside OR at byte 5");
    check("NOT", "a word is missing beside NOT at byte 3");
    check("--a", "double negation at byte 0");
    check("a - b", "a | b");
    check(
        "a]b",
        r"] stands for nothing here: write \] for the sign at byte 1",
    );
}

proptest! {
    #[test]
    fn no_text_makes_the_parser_panic_and_trees_print_as_sphinxs(
        text in r#"([ab "()|*\\:+~/?!&-]|\PC|title:| AND | OR |NOT | \*:\* ){0,30}"#, all in any::<bool>()
    ) {
        let options = Options { all, ..Options::default() };
        match parse(&text, &FIELDS, &Analyzer::default(), options) {
            Ok(query) => {
                let printed = query.root.display(&FIELDS).to_string();
                let again = crate::parse(&printed, &FIELDS, &Analyzer::default());
                prop_assert_eq!(again.map(|query| query.root), Ok(query.root), "{}", printed);
            }
            Err(error) => prop_assert!(error.position <= text.len()),
        }
    }
}
