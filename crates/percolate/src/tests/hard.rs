//! Extreme inputs: none, very many, or all of one kind.

use std::{cell::Cell, sync::Arc};

use language::analysis::{Analyzer, Words};
use language::tree::{FieldPlace, FieldSet, Form, Node, Term, Unit, Word};
use relation::expression::{self, Prepared};
use relation::lexer::Lexer;
use relation::value::Value;

use super::{ask, check, document, insert, phrase, rows_of, standing, word};
use crate::{Documents, QuerySet, Scratch};

fn near(left: Node, right: Node, distance: u32) -> Node {
    Node::Near {
        left: Box::new(left),
        right: Box::new(right),
        distance,
    }
}

fn proximity(words: &[&str], slack: u32) -> Node {
    Node::Proximity {
        terms: words.iter().map(|text| Term::whole(*text)).collect(),
        fields: FieldSet::ALL,
        slack,
    }
}

fn placed(text: &str, place: FieldPlace) -> Node {
    let term = Term {
        place,
        ..Term::whole(text)
    };
    Node::Word(Word {
        term,
        fields: FieldSet::ALL,
    })
}

fn pattern(text: &str, form: Form) -> Node {
    let term = Term {
        form,
        ..Term::whole(text)
    };
    Node::Word(Word {
        term,
        fields: FieldSet::ALL,
    })
}

#[test]
fn documents_without_words_hit_what_asks_for_none() {
    let mut set = QuerySet::new();
    insert(&mut set, 1, &Node::All);
    insert(&mut set, 2, &phrase(&[("a", 0), ("b", 1)]));
    insert(&mut set, 3, &pattern("*", Form::Regex));
    let documents = [Words::new(), document(&["", "a b"]), document(&["", ""])];
    let found = ask(&set.snapshot(), &documents, &mut Scratch::new());
    assert_eq!(found, [(1, vec![0, 1, 2]), (2, vec![1])]);
}

#[test]
fn a_word_is_not_near_itself() {
    check(
        near(word("a"), word("a"), 1),
        &[&["a"], &["a a"], &["a b a"]],
        &[1],
    );
}

#[test]
fn phrases_may_overlap() {
    check(
        phrase(&[("a", 0), ("b", 1), ("a", 2)]),
        &[&["a b b a b a"], &["a b b a"]],
        &[0],
    );
    let both = Node::And(vec![
        phrase(&[("a", 0), ("b", 1)]),
        phrase(&[("b", 0), ("a", 1)]),
    ]);
    check(both, &[&["a b a"], &["a b b"]], &[0]);
}

#[test]
fn a_slack_or_distance_beyond_every_document_is_no_limit() {
    let documents: &[&[&str]] = &[&["a c c c b"], &["b", "a"], &["b c a"]];
    check(proximity(&["a", "b"], u32::MAX), documents, &[0, 2]);
    check(near(word("a"), word("b"), u32::MAX), documents, &[0, 2]);
}

#[test]
fn a_place_that_no_word_has_is_never_hit() {
    let place = FieldPlace {
        first: true,
        last: true,
        within: 1,
    };
    check(placed("a", place), &[&["a b"], &["a"], &["b a"]], &[1]);
    let second = FieldPlace {
        within: 2,
        ..FieldPlace::default()
    };
    check(placed("a", second), &[&["b b a"], &["b a"]], &[1]);
}

#[test]
fn a_pair_in_one_field_is_not_one_in_another_nor_across_both() {
    let mut set = QuerySet::new();
    let pair = |fields| Node::Phrase {
        words: vec![(Term::whole("a"), 0), (Term::whole("b"), 1)],
        fields,
    };
    insert(&mut set, 1, &pair(FieldSet::ALL));
    insert(&mut set, 2, &pair(FieldSet(0b10)));
    let documents = [
        document(&["a b"]),
        document(&["a", "b"]),
        document(&["a", "b a b"]),
    ];
    let found = ask(&set.snapshot(), &documents, &mut Scratch::new());
    assert_eq!(found, [(1, vec![0, 2]), (2, vec![2])]);
}

#[test]
fn patterns_added_later_are_found_in_words_met_before() {
    let (mut set, mut scratch) = (QuerySet::new(), Scratch::new());
    let documents = [document(&["catalogue"]), document(&["dog"])];
    for (id, text) in ["cat*", "*gue", "*talo*", "d?g"].into_iter().enumerate() {
        insert(&mut set, id as u64, &pattern(text, Form::Pattern));
        let found = ask(&set.snapshot(), &documents, &mut scratch);
        assert_eq!(found.len(), id + 1);
    }
    set.remove(0);
    set.outlive_words();
    set.settle();
    let found = ask(&set.snapshot(), &documents, &mut scratch);
    assert_eq!(found, [(1, vec![0]), (2, vec![0]), (3, vec![1])]);
}

#[test]
fn one_word_many_times_takes_no_quadratic_time() {
    let mut words = Words::new();
    words.push_field(&Analyzer::default(), 0, &"a ".repeat(1 << 17));
    let documents = [words];
    let mut set = QuerySet::new();
    let boxed = |node: Node| Box::new(node);
    let roots = [
        phrase(&[("a", 0), ("a", 1), ("a", 5)]),
        proximity(&["a", "a", "a"], 1 << 30),
        near(near(word("a"), word("a"), 1 << 30), word("a"), 1 << 30),
        Node::Order(vec![word("a"), word("a"), word("a")]),
        Node::NotNear {
            left: boxed(word("a")),
            right: boxed(phrase(&[("a", 0), ("a", 2)])),
            distance: 1 << 30,
        },
        Node::Together {
            unit: Unit::Sentence,
            parts: vec![word("a"), proximity(&["a", "a"], 9)],
        },
    ];
    for (id, root) in roots.iter().enumerate() {
        insert(&mut set, id as u64, root);
    }
    let found = ask(&set.snapshot(), &documents, &mut Scratch::new());
    let ids: Vec<u64> = found.into_iter().map(|(id, _)| id).collect();
    assert_eq!(ids, [0, 1, 2, 3, 5]);
}

#[test]
fn equal_filters_are_asked_once_for_each_document_that_is_left() {
    let text = "n = 1";
    let expression = expression::parse(&mut Lexer::new(text.as_bytes())).unwrap();
    let prepared = Arc::new(Prepared::new(&expression, &|_| Some(0)).unwrap());
    let mut set = QuerySet::new();
    for id in 0..1_000 {
        let query = crate::StandingQuery {
            filters: text.into(),
            ..(*standing(id, "a")).clone()
        };
        set.insert(Arc::new(query), &word("a"), Some(Arc::clone(&prepared)));
    }
    let words = [document(&["a"]), document(&["b"]), document(&["a"])];
    let asked = Cell::new(0);
    let attributes = |document: usize, _| {
        asked.set(asked.get() + 1);
        Value::Int(document as i128 / 2)
    };
    let documents = Documents {
        attributes: &attributes,
        ..Documents::of(&words)
    };
    let found = rows_of(&set.snapshot(), &documents, &mut Scratch::new());
    assert_eq!(found.len(), 1_000);
    assert!(found.iter().all(|(_, documents)| *documents == [2]));
    assert_eq!(
        asked.get(),
        2,
        "twice, and never for the document without the word"
    );
}

/// Standing queries at the language's limits, and a document with 64 fields and very many words.
#[test]
fn queries_of_very_many_words_are_hit_as_the_reference_says() {
    let analyzer = Analyzer::default();
    let names: Vec<String> = (0..64).map(|field| format!("f{field}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let joined = |count: usize, between: &str| {
        let words: Vec<String> = (0..count).map(|number| format!("w{number}")).collect();
        words.join(between)
    };
    let texts = [
        joined(16_384, " "),
        joined(16_384, " | "),
        format!("({}) (x | y)", joined(5_000, " | ")),
        format!("({}) -x", joined(500, "* | ")),
        format!("\"{}\"", joined(16_000, " ")),
        format!("\"{}\"~9", joined(2_000, " ")),
        format!("\"{}\"/100", joined(255, " ")),
        format!("@f63 ({})", joined(4_097, " | ")),
        format!("x -({})", joined(8_000, " | ")),
    ];
    let mut set = QuerySet::new();
    let mut roots = Vec::new();
    for (text, id) in texts.iter().zip(0..) {
        let root = language::parse(text, &names, &analyzer).unwrap().root;
        insert(&mut set, id, &root);
        roots.push((id, root));
    }
    let mut many = Words::new();
    many.push_field(&analyzer, 0, &joined(20_000, " "));
    let mut wide = Words::new();
    for field in 0..64 {
        wide.push_field(
            &analyzer,
            field,
            &format!("w{} y x{field}", 300 * u32::from(field)),
        );
    }
    let documents = [many, wide, document(&["x"]), document(&["w7 x"])];
    let verifiers: Vec<_> = roots
        .iter()
        .map(|(id, root)| (*id, language::verify::Verifier::new(root)))
        .collect();
    let want: Vec<(u64, Vec<u32>)> = verifiers
        .iter()
        .map(|(id, verifier)| {
            let numbered = documents.iter().zip(0..);
            let hit = numbered.filter(|(words, _)| verifier.matches(words));
            (*id, hit.map(|(_, number)| number).collect())
        })
        .filter(|(_, hit): &(u64, Vec<u32>)| !hit.is_empty())
        .collect();
    let mut scratch = Scratch::new();
    assert_eq!(ask(&set.snapshot(), &documents, &mut scratch), want);
    set.settle();
    assert_eq!(
        ask(&set.snapshot(), &documents, &mut scratch),
        want,
        "filed anew"
    );
}

#[test]
fn regular_expressions_of_many_queries_are_each_compared_with_a_word_once() {
    let mut set = QuerySet::new();
    for id in 0..200 {
        insert(
            &mut set,
            id,
            &pattern(&format!("[a-z]+{id}(x|y)*"), Form::Regex),
        );
    }
    let documents = [document(&["cat7xyx dog199"]), document(&["cat"])];
    let found = ask(&set.snapshot(), &documents, &mut Scratch::new());
    assert_eq!(found, [(7, vec![0]), (199, vec![0])]);
}
