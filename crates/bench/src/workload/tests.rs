use super::{Recipe, commonest_words, push_literal, statements};
use crate::random::XorShift;

const TEXTS: [&str; 3] = ["the net the net the sea", "the #sea and salt water", "net"];

#[test]
fn words_are_ranked_by_count_and_then_by_bytes() {
    assert_eq!(
        commonest_words(&TEXTS),
        ["the", "net", "sea", "and", "salt", "water"]
    );
}

#[test]
fn a_seed_gives_the_same_queries_for_ever() {
    let queries = Recipe::Common.queries(&TEXTS, 2, 1).unwrap();
    assert_eq!(queries, Recipe::Common.queries(&TEXTS, 2, 1).unwrap());
    assert_ne!(queries, Recipe::Common.queries(&TEXTS, 2, 2).unwrap());
    let mut random = XorShift::new(1);
    assert_eq!(
        [random.next_u64(), random.next_u64()],
        [1_082_269_761, 1_152_992_998_833_853_505]
    );
}

#[test]
fn texts_with_too_few_words_give_no_queries() {
    assert!(Recipe::Common.queries(&["one two three"], 1, 1).is_none());
    assert!(
        Recipe::Selective
            .queries(&["one two six", "lengthy"], 1, 1)
            .is_none()
    );
}

#[test]
fn a_query_asks_for_four_different_words() {
    for query in Recipe::Common.queries(&TEXTS, 50, 3).unwrap() {
        let mut words: Vec<&str> = query
            .split(' ')
            .map(|word| word.trim_start_matches('-'))
            .collect();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), 4, "{query}");
        assert_eq!(query.matches(" -").count(), 2);
    }
}

#[test]
fn statements_hold_so_many_items_each() {
    let push = |text: &mut String, item: &str| push_literal(text, item);
    let made: Vec<String> = statements("X ", ["a", "b'", "\\"].into_iter(), 2, ";", push).collect();
    assert_eq!(made, [r"X 'a','b\'';", r"X '\\';"]);
}
