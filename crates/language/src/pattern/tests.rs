use proptest::prelude::*;

use super::*;
use crate::limits::PATTERN_CHARS_MAX;
use crate::meter::{Unmetered, Work};
use crate::tree::FieldPlace;

fn matcher(text: &str, form: Form) -> Result<Matcher, String> {
    let place = FieldPlace::default();
    let text = text.into();
    Matcher::new(&Term { text, form, place })
}

/// The words of the second list are those of the first that the pattern matches.
#[track_caller]
fn check(text: &str, form: Form, words: &str, want: &str) {
    let matcher = matcher(text, form).unwrap();
    let found: Vec<_> = words
        .split(' ')
        .filter(|word| matcher.is_match(word))
        .collect();
    assert_eq!(found.join(" "), want, "{text}");
}

#[test]
fn wildcards_stand_for_any_one_and_at_most_one_letter() {
    check("run*", Form::Pattern, "run running prun ru", "run running");
    check("*run", Form::Pattern, "run prun runs", "run prun");
    check("*run*", Form::Pattern, "run prun runs ru", "run prun runs");
    check("r?n", Form::Pattern, "rn ran rén raan", "ran rén");
    check("r%n", Form::Pattern, "rn ran rén raan", "rn ran rén");
    check("a*a", Form::Pattern, "a aa aba ab", "aa aba");
    check("ab*ba", Form::Pattern, "aba abba abxba", "abba abxba");
    check("%%%", Form::Pattern, "a ab abc abcd", "a ab abc");
    check("*a?b*", Form::Pattern, "axb xaxbx ab", "axb xaxbx");
}

#[test]
fn a_wildcard_is_no_mark() {
    check("?tag", Form::Pattern, "#tag stag @tag =tag", "stag");
    check("#t*", Form::Pattern, "tag #tag @tag", "#tag");
    check("=run*", Form::Pattern, "run =run =runs", "=run =runs");
}

#[test]
fn a_regular_expression_takes_the_whole_word() {
    check("t.?e", Form::Regex, "te the tree then", "te the");
    check("a|bc", Form::Regex, "a bc ac abc", "a bc");
    check("=(?:a|b)", Form::Regex, "a =a =b b", "=a =b");
}

#[test]
fn a_regular_expression_that_cannot_be_run_is_refused() {
    for (text, want) in [
        ("(", "unclosed group"),
        ("a)(b", "unopened group"),
        (r"(?:\w{500}){500}", "compiles to more than"),
        (&"a".repeat(REGEX_BYTES_MAX + 1), "longer than"),
    ] {
        let refused = matcher(text, Form::Regex).unwrap_err();
        assert!(refused.contains(want), "{refused}");
    }
    let long = "?".repeat(PATTERN_CHARS_MAX + 1);
    assert!(
        matcher(&long, Form::Pattern)
            .unwrap_err()
            .contains("longer")
    );
}

#[test]
fn a_literal_says_where_to_begin() {
    let literal = |text, form| matcher(text, form).unwrap().literal().clone();
    let pattern = |text| literal(text, Form::Pattern);
    let regex = |text| literal(text, Form::Regex);
    assert_eq!(pattern("run*"), Literal::Prefix("run".into()));
    assert_eq!(pattern("*run"), Literal::Suffix("run".into()));
    assert_eq!(pattern("*run*"), Literal::Infix("run".into()));
    assert_eq!(pattern("a*runs*b"), Literal::Infix("runs".into()));
    assert_eq!(pattern("ab*cd"), Literal::Prefix("ab".into()));
    assert_eq!(pattern("*?%"), Literal::None);
    assert_eq!(regex("run.*"), Literal::Prefix("run".into()));
    assert_eq!(regex("r(u)n(ning)+"), Literal::Suffix("ning".into()));
    assert_eq!(regex("=(?:.*run.?)"), Literal::Infix("run".into()));
    assert_eq!(regex("a|b+"), Literal::None);
}

/// The obvious matcher, as the oracle.
fn slow(pattern: &[char], word: &[char]) -> bool {
    match pattern.split_first() {
        None => word.is_empty(),
        Some(('*', rest)) => (0..=word.len()).any(|skip| slow(rest, &word[skip..])),
        Some(('?', rest)) => !word.is_empty() && slow(rest, &word[1..]),
        Some(('%', rest)) => slow(rest, word) || (!word.is_empty() && slow(rest, &word[1..])),
        Some((c, rest)) => word.first() == Some(c) && slow(rest, &word[1..]),
    }
}

proptest! {
    #[test]
    fn wildcards_match_what_their_meaning_says(pattern in "[abé*?%]{1,8}", word in "[abé]{1,8}") {
        let letters = |text: &str| text.chars().collect::<Vec<_>>();
        let matcher = matcher(&pattern, Form::Pattern).unwrap();
        let found = matcher.is_match(&word);
        prop_assert_eq!(found, slow(&letters(&pattern), &letters(&word)));
        if found {
            prop_assert!(holds(matcher.literal(), &word));
        }
    }

    #[test]
    fn a_word_that_a_regular_expression_matches_holds_its_literal(
        text in "([ab]|[ab]\\+|\\(ab\\|ba\\)|\\.|ab\\*|a\\?|(bab)){1,5}", word in "[ab]{1,8}"
    ) {
        if let Ok(matcher) = matcher(&text, Form::Regex) {
            prop_assert!(!matcher.is_match(&word) || holds(matcher.literal(), &word));
        }
    }

    #[test]
    fn no_expression_makes_the_compiler_panic(text in "\\PC{0,20}", word in "\\PC{0,8}") {
        if let Ok(matcher) = matcher(&text, Form::Regex) {
            let _ = matcher.is_match(&word);
        }
    }
}

fn holds(literal: &Literal, word: &str) -> bool {
    match literal {
        Literal::Prefix(text) => word.starts_with(&**text),
        Literal::Suffix(text) => word.ends_with(&**text),
        Literal::Infix(text) => word.contains(&**text),
        Literal::None => true,
    }
}

#[test]
fn escape_makes_the_next_character_plain_and_itself_means_nothing_else() {
    let work = Work::new(&Unmetered);
    let fits = |pattern, text, escape| like_escaped(pattern, text, escape, &work) == Some(true);
    assert!(fits("a|%b", "A%B", Some('|')) && !fits("a|%b", "axb", Some('|')));
    assert!(fits("%||", "x|", Some('|')) && !fits("x|", "x|", Some('|')));
    assert!(fits("a\\%", "a\\b", None) && !fits("a\\%", "a%", None));
    assert!(fits("%%_", "%x", Some('%')) && !fits("a%", "a", Some('%')));
}
