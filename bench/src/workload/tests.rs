use super::{Drawn, Post, Recipe, commonest_words, push_literal, statements};
use crate::random::XorShift;

const TEXTS: [&str; 3] = ["the net the net the sea", "the #sea and salt water", "net"];

#[test]
fn words_are_ranked_by_count_and_then_by_bytes() {
    assert_eq!(
        commonest_words(&TEXTS),
        ["the", "net", "sea", "and", "salt", "water"]
    );
}

fn posts(texts: &[&str]) -> Vec<Post> {
    let post = |(text, number): (&&str, i64)| Post {
        body: (*text).to_owned(),
        sub: format!("sub{}", number % 3),
        ts: format!("2013-01-0{}T00:00:00Z", 1 + number % 9),
        score: number * 10,
        seconds: 1_356_998_400 + number * 86_400,
    };
    texts.iter().zip(0..).map(post).collect()
}

fn draw(recipe: Recipe, texts: &[&str], count: usize, seed: u64) -> Option<Vec<Drawn>> {
    let posts = posts(texts);
    let draw = recipe.draw(&posts, seed)?;
    Some(draw.take(count).collect())
}

/// Texts of long words behind 100 filler words. A recipe that leaves out the 100 commonest words leaves out the fillers.
fn long_texts() -> Vec<String> {
    let filler: Vec<String> = (0..100)
        .map(|number| format!("filler{number:02}"))
        .collect();
    let filler = filler.join(" ");
    let text = |number: usize| {
        let words: Vec<String> = (0..7)
            .map(|step| format!("selected{}", number * 5 + step))
            .collect();
        format!("{filler} {}", words.join(" "))
    };
    (0..20).map(text).collect()
}

const RECIPES: [Recipe; 11] = [
    Recipe::Common,
    Recipe::Selective,
    Recipe::SelectiveFive,
    Recipe::Any,
    Recipe::AnyFive,
    Recipe::Phrases,
    Recipe::Ors,
    Recipe::Wildcards,
    Recipe::Near,
    Recipe::Mixed,
    Recipe::Boolean,
];

#[test]
fn a_seed_gives_the_same_queries_for_ever() {
    let texts = long_texts();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    for recipe in RECIPES {
        let queries = draw(recipe, &texts, 20, 1).unwrap();
        assert_eq!(queries, draw(recipe, &texts, 20, 1).unwrap());
        assert_ne!(queries, draw(recipe, &texts, 20, 2).unwrap());
    }
    let mut random = XorShift::new(1);
    assert_eq!(
        [random.next_u64(), random.next_u64()],
        [1_082_269_761, 1_152_992_998_833_853_505]
    );
}

#[test]
fn texts_with_too_few_words_give_no_queries() {
    for recipe in RECIPES {
        assert!(draw(recipe, &["one two six"], 1, 1).is_none() || recipe == Recipe::Any);
    }
    assert!(draw(Recipe::Any, &["one", "two"], 1, 1).is_none());
}

#[test]
fn a_query_asks_for_four_different_words() {
    for query in draw(Recipe::Common, &TEXTS, 50, 3).unwrap() {
        let mut words: Vec<&str> = query
            .text
            .split(' ')
            .map(|word| word.trim_start_matches('-'))
            .collect();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), 4, "{query:?}");
        assert_eq!(query.text.matches(" -").count(), 2);
    }
}

#[test]
fn a_mix_has_each_shape_in_its_share_and_filters_on_half() {
    let texts = long_texts();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let queries = draw(Recipe::Mixed, &texts, 10_000, 1).unwrap();
    let share = |is: fn(&Drawn) -> bool| queries.iter().filter(|query| is(query)).count() / 100;
    let is_wild = |query: &Drawn| query.text.contains(['*', '?']);
    assert!((27..=33).contains(&share(|query| query.text.starts_with('"'))));
    assert!((18..=22).contains(&share(|query| query.text.contains('|'))));
    assert!((8..=12).contains(&share(|query| query.text.contains(" NEAR/5 "))));
    assert!((8..=12).contains(&share(is_wild)));
    assert!((47..=53).contains(&share(|query| !query.filters.is_empty())));
}

#[test]
fn a_boolean_mix_is_of_words_and_groups_alone() {
    let texts = long_texts();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let queries = draw(Recipe::Boolean, &texts, 10_000, 1).unwrap();
    let groups = queries.iter().filter(|query| query.text.contains('|'));
    assert!((38..=42).contains(&(groups.count() / 100)));
    let is_more =
        |query: &&Drawn| query.text.contains(['"', '*', '?', '/']) || !query.filters.is_empty();
    assert_eq!(queries.iter().find(is_more), None);
}

#[test]
fn a_phrase_is_of_words_that_follow_each_other() {
    let texts = long_texts();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    for query in draw(Recipe::Phrases, &texts, 100, 1).unwrap() {
        let phrase = query.text.trim_matches('"');
        assert!((2..=4).contains(&phrase.split(' ').count()), "{phrase}");
        let is_there = |text: &&str| format!(" {text} ").contains(&format!(" {phrase} "));
        assert!(texts.iter().any(is_there), "{phrase}");
    }
}

#[test]
fn statements_hold_so_many_items_each() {
    let push = |text: &mut String, item: &str| push_literal(text, item);
    let made: Vec<String> = statements("X ", ["a", "b'", "\\"].into_iter(), 2, ";", push).collect();
    assert_eq!(made, [r"X 'a','b\'';", r"X '\\';"]);
}
