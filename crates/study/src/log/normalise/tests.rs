use super::{fold_entry, fold_words};
use crate::log::line::parse;

fn folded(query: &str) -> (u32, String) {
    let mut form = Vec::new();
    let words = fold_words(query.as_bytes(), &mut form);
    (words, String::from_utf8(form).unwrap())
}

#[test]
fn blanks_and_case_are_folded_and_words_counted() {
    for (query, words, form) in [
        ("  Black \t CAT ", 2, "black cat"),
        (
            "@title hello \"one two\"~5 | three/2",
            4,
            "@title hello \"one two\"~5 | three/2",
        ),
        ("iPhone 15", 2, "iphone 15"),
        ("Äpfel", 1, "Äpfel"),
        ("()!- ", 0, "()!-"),
        ("", 0, ""),
    ] {
        assert_eq!(folded(query), (words, form.to_owned()), "{query}");
    }
}

#[test]
fn literals_of_statements_are_folded_and_the_words_of_match_kept() {
    for (statement, form) in [
        (
            "SELECT id  FROM t1 WHERE MATCH('Black  cat') AND a IN (1, 2,3) AND b='it\\'s' LIMIT 5, 10;",
            "SELECT id FROM t1 WHERE MATCH('black cat') AND a IN (?) AND b=? LIMIT ?",
        ),
        (
            "SELECT 1.5e3 FROM t WHERE a>-7;",
            "SELECT ? FROM t WHERE a>-?",
        ),
        ("SELECT 'open", "SELECT ?"),
        (
            "/* page 3 */ SELECT id /* of 7 */ FROM t;",
            "SELECT id FROM t",
        ),
        (
            "SELECT * FROM t WHERE MATCH('half",
            "SELECT * FROM t WHERE MATCH('half'",
        ),
    ] {
        let line = format!(
            "/* Sun Apr 28 12:38:02.808 2024 conn 2 real 0.000 wall 0.000 found 1 */ {statement}"
        );
        let (_, entry) = parse(line.as_bytes()).unwrap();
        let mut text = Vec::new();
        fold_entry(&entry, &mut text);
        assert_eq!(String::from_utf8(text).unwrap(), form);
    }
}

#[test]
fn a_json_request_is_its_table_and_words() {
    let line = "/* Sun Apr 28 12:38:02.808 2024 conn 2 real 0.000 wall 0.000 found 1 */ \
                /*{\"table\":\"posts\",\"query\":{\"bool\":{\"must\":[{\"match\":{\"*\":\"Cat\"}},{\"query_string\":\"DOG\"}]}}}*/";
    let (_, entry) = parse(line.as_bytes()).unwrap();
    let mut text = Vec::new();
    assert_eq!(fold_entry(&entry, &mut text), 2);
    assert_eq!(String::from_utf8(text).unwrap(), "posts: cat dog");
}
