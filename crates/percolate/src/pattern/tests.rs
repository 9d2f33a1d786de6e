use language::tree::{FieldSet, Form, Term, Word};

use super::{Memo, Patterns, memo::Matches};

fn pattern(text: &str, form: Form) -> Word {
    let term = Term {
        form,
        ..Term::whole(text)
    };
    Word {
        term,
        fields: FieldSet::ALL,
    }
}

#[test]
fn a_word_matches_each_of_its_patterns_once_before_and_after_it_is_known() {
    let texts = [
        "cat*",
        "*cat",
        "*at*",
        "?at",
        "ba%",
        "catalogueofcatalogues*",
        "*c*t*",
    ];
    let (mut patterns, mut memo) = (Patterns::default(), Memo::default());
    let mut kept = Vec::new();
    for (text, term) in texts.iter().zip(0..) {
        patterns.add(&pattern(text, Form::Pattern), term);
        kept.push(patterns.clone());
    }
    patterns.add(&pattern("(c|b)at", Form::Regex), 7);
    let words = [
        "cat",
        "tomcat",
        "atat",
        "catalogueofcatalogues",
        "dog",
        "bat",
    ];
    let mut found = |word: &str, patterns: &Patterns| {
        let sorted = |matches: Matches<'_>| {
            let mut terms = Vec::new();
            matches.each(0, |term| terms.push(term));
            terms.sort_unstable();
            terms
        };
        let terms = sorted(memo.of(patterns, word.as_bytes(), 0..word.len(), word));
        let term = words.iter().position(|other| *other == word).unwrap() as u32;
        assert_eq!(sorted(memo.of_term(patterns, term, || word)), terms);
        terms
    };
    for _ in 0..2 {
        assert_eq!(found("cat", &patterns), [0, 1, 2, 3, 6, 7]);
        assert_eq!(found("tomcat", &patterns), [1, 2, 6]);
        assert_eq!(found("atat", &patterns), [2]);
        assert_eq!(found("catalogueofcatalogues", &patterns), [0, 2, 5, 6]);
        assert!(found("dog", &patterns).is_empty());
    }
    assert_eq!(found("cat", &kept[0]), [0]);
    assert_eq!(found("bat", &kept[3]), [2, 3]);
    assert_eq!(patterns.find(&pattern("?at", Form::Pattern)), Some(3));
    assert_eq!(patterns.find(&pattern("?at", Form::Regex)), None);
}

#[test]
fn words_without_a_term_keep_their_matches_while_the_memo_grows() {
    let (mut patterns, mut memo) = (Patterns::default(), Memo::default());
    patterns.add(&pattern("1*", Form::Pattern), 4);
    let body = Word {
        fields: FieldSet(2),
        ..pattern("*5", Form::Pattern)
    };
    patterns.add(&body, 5);
    for _ in 0..2 {
        for number in 0..1_000 {
            let word = number.to_string();
            let mut terms = Vec::new();
            for field in [0, 1] {
                let matches = memo.of(&patterns, word.as_bytes(), 0..word.len(), &word);
                matches.each(field, |term| terms.push((field, term)));
            }
            terms.sort_unstable();
            let mut expected = Vec::new();
            expected.extend(
                word.starts_with('1')
                    .then_some([(0, 4), (1, 4)])
                    .into_iter()
                    .flatten(),
            );
            expected.extend(word.ends_with('5').then_some((1, 5)));
            assert_eq!(terms, expected, "{word}");
        }
    }
}
