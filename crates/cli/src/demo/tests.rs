use language::analysis::Analyzer;
use language::parse;
use language::reference;

use super::count::{Difference, difference};
use super::posts::{BUNDLED_POSTS, Post, Posts};
use super::queries::{BODY, FIELDS, built_in, read};
use super::screen::grouped;
use super::{marks, queries};

#[test]
fn the_bundle_holds_what_it_says() {
    let posts: Vec<Post> = Posts::open(None)
        .unwrap()
        .flat_map(|batch| batch.unwrap().to_vec())
        .collect();
    assert_eq!(posts.len(), BUNDLED_POSTS);
    assert!(
        posts
            .iter()
            .zip(1..)
            .all(|(post, id)| post.id == id && !post.body.is_empty())
    );
}

#[test]
fn the_built_in_queries_are_ten_thousand_and_hit_the_sample() {
    let mut posts = Posts::open(None).unwrap();
    let sample = posts.look_ahead(72).unwrap();
    let sample: Vec<&Post> = sample.iter().flat_map(|batch| batch.iter()).collect();
    let saved = built_in(&sample);
    assert_eq!(saved.len(), 10_000);
    let words: Vec<_> = sample.iter().map(|post| queries::words_of(post)).collect();
    for query in saved.iter().step_by(100) {
        let hit = words
            .iter()
            .any(|words| reference::matches(&query.root, words));
        assert!(
            hit || query.id <= queries::SHOWN,
            "{} hits nothing",
            query.text
        );
    }
}

#[test]
fn looking_ahead_takes_nothing_from_the_stream() {
    let mut posts = Posts::open(None).unwrap();
    let ahead = posts.look_ahead(3).unwrap();
    let taken: Vec<_> = posts.take(3).map(Result::unwrap).collect();
    assert_eq!(ahead, taken);
}

#[test]
fn a_file_of_queries_keeps_the_good_and_names_the_bad_and_the_doubtful() {
    let choice = read("red shoes\n\n\"open quote\nred OR blue\n");
    let texts: Vec<&str> = choice
        .saved
        .iter()
        .map(|query| query.text.as_str())
        .collect();
    assert_eq!(
        (texts, choice.saved[1].id),
        (vec!["red shoes", "red OR blue"], 2)
    );
    assert_eq!(
        choice.bad.iter().map(|one| one.line).collect::<Vec<_>>(),
        [3]
    );
    assert_eq!(
        choice
            .doubtful
            .iter()
            .map(|one| one.line)
            .collect::<Vec<_>>(),
        [4]
    );
}

#[test]
fn differences_are_counted_by_kind() {
    let expected = [(1, 1), (1, 2), (2, 1), (3, 3)];
    check_difference(&expected, &expected, (0, 0, 0));
    check_difference(
        &expected,
        &[(1, 1), (1, 1), (1, 1), (2, 1), (2, 2)],
        (2, 1, 2),
    );
    check_difference(&expected, &[], (4, 0, 0));
    check_difference(&[], &[(1, 1), (1, 1)], (0, 1, 1));
}

#[track_caller]
fn check_difference(expected: &[(u64, u64)], found: &[(u64, u64)], want: (u64, u64, u64)) {
    let (missing, strange, doubled) = want;
    assert_eq!(
        difference(expected, found),
        Difference {
            missing,
            strange,
            doubled
        }
    );
}

#[test]
fn marks_cover_the_words_that_were_asked_for() {
    check_marks("google -maps", "Google, not maps", "[Google], not maps");
    check_marks(
        "\"star wars\"",
        "wars and Star Wars",
        "wars and [Star] [Wars]",
    );
    check_marks("(red | blue) shoes", "blue SHOES", "[blue] [SHOES]");
    check_marks("shoes @sub red", "red shoes", "red [shoes]");
}

#[track_caller]
fn check_marks(query: &str, body: &str, want: &str) {
    let query = parse(query, &FIELDS, &Analyzer::default()).unwrap();
    let mut got = body.to_owned();
    for mark in marks::of(&query.root, BODY, body).iter().rev() {
        got.insert(mark.end, ']');
        got.insert(mark.start, '[');
    }
    assert_eq!(got, want);
}

#[test]
fn numbers_are_grouped_by_thousands() {
    assert_eq!(
        [0, 999, 1_000, 1_234_567].map(grouped),
        ["0", "999", "1,000", "1,234,567"]
    );
}
