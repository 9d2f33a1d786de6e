use query::tree::{FieldSet, Form, Term, Word};

use super::{Memo, Patterns};

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
        let sorted = |matches: &[(FieldSet, u32)]| {
            let mut terms: Vec<u32> = matches.iter().map(|(_, term)| *term).collect();
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
