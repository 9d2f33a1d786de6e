use std::hash::RandomState;

use super::Words;

#[test]
fn no_word_of_a_query_is_left_and_equal_words_stay_equal() {
    let words = Words::Hashed(RandomState::new());
    let shown = words.show("black cat \"black\"~5 Äpfel");
    for word in ["black", "cat", "pfel"] {
        assert!(!shown.contains(word), "{shown}");
    }
    let parts: Vec<&str> = shown
        .split([' ', '"', '~'])
        .filter(|part| !part.is_empty())
        .collect();
    assert_eq!(parts[0], parts[2]);
    assert_ne!(parts[0], parts[1]);
    assert_ne!(
        shown,
        Words::Hashed(RandomState::new()).show("black cat \"black\"~5 Äpfel")
    );
}

#[test]
fn a_statement_keeps_its_names_and_loses_its_literals() {
    let words = Words::Hashed(RandomState::new());
    let shown =
        words.show("SELECT id FROM posts WHERE MATCH('it\\'s black') AND author='smith' LIMIT 5");
    assert!(
        shown.starts_with("SELECT id FROM posts WHERE MATCH('") && shown.ends_with(" LIMIT 5"),
        "{shown}"
    );
    for word in ["it", "black", "smith"] {
        assert!(
            !shown.contains(&format!("{word}'")) && !shown.contains(&format!("'{word}")),
            "{shown}"
        );
    }
    assert!(shown.contains("author='"));
}

#[test]
fn kept_words_are_kept_and_unknown_lines_only_measured() {
    assert_eq!(Words::Kept.show("black cat"), "black cat");
    let words = Words::Hashed(RandomState::new());
    assert_eq!(words.show_line("secret"), "(6 bytes)");
    assert!(
        !words
            .show_message("index lj: near 'secret'")
            .contains("secret")
    );
}
