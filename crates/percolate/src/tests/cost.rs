//! The cost of matching in steps, and calls that end in the middle of a document.

use std::{cell::Cell, sync::Arc};

use language::analysis::{Analyzer, Words};
use language::reference;
use language::tree::{FieldSet, Node, Unit, Word};
use proptest::prelude::*;
use relation::expression::{self, Prepared};
use relation::lexer::Lexer;
use relation::value::Value;

use super::{ask, document, insert, standing, word};
use crate::{
    Costly, Documents, Hits, QUERY_STEPS_MAX, QuerySet, Scratch, Snapshot, Unfinished,
    statement_steps,
};

fn parsed(text: &str) -> Node {
    language::parse(text, &["f"], &Analyzer::default())
        .unwrap()
        .root
}

fn set_of(queries: impl IntoIterator<Item = String>) -> QuerySet {
    let mut set = QuerySet::new();
    for (text, id) in queries.into_iter().zip(0..) {
        insert(&mut set, id, &parsed(&text));
    }
    set
}

/// A document of `words` times `a`, and three `b` behind them.
fn repeated(words: usize) -> Words {
    document(&[&("a ".repeat(words) + "b b b")])
}

/// `a NEAR/x a NEAR/y b` with other distances each time.
fn chains(count: usize) -> QuerySet {
    set_of((0..count).map(|n| format!("a NEAR/{} a NEAR/{} b", 1 + n % 100, 1 + n / 100)))
}

fn steps(snapshot: &Snapshot, documents: &[Words]) -> u64 {
    let mut hits = Hits::new();
    let done = snapshot.matches(&Documents::of(documents), &mut Scratch::new(), &mut hits);
    assert_eq!(done, Ok(()));
    hits.work().steps
}

/// The end of a call of at most `steps_max` steps, and how often it called `goes_on`.
fn ended(snapshot: &Snapshot, words: &[Words], steps_max: u64) -> (Result<(), Unfinished>, u64) {
    let asked = Cell::new(0);
    let goes_on = || {
        asked.set(asked.get() + 1);
        true
    };
    let documents = Documents {
        steps_max,
        goes_on: &goes_on,
        ..Documents::of(words)
    };
    let mut hits = Hits::new();
    let done = snapshot.matches(&documents, &mut Scratch::new(), &mut hits);
    assert!(done.is_ok() || hits.is_empty());
    (done, asked.get())
}

#[test]
fn a_chain_of_near_around_a_rare_word_costs_no_more_in_a_longer_document() {
    let snapshot = chains(100).snapshot();
    let [short, long] = [500, 4_000].map(|words| steps(&snapshot, &[repeated(words)]));
    // Besides the places of the words, which are listed once.
    assert!(long < short + 4_000, "{short} and {long}");
    let snapshot = set_of((1..100).map(|n| format!("a NEAR/{n} a NEAR/9 a"))).snapshot();
    let [short, long] = [500, 4_000].map(|words| steps(&snapshot, &[repeated(words)]));
    assert!(long < 9 * short, "in proportion: {short} and {long}");
}

#[test]
fn a_document_that_many_chains_look_at_is_refused_and_the_dearest_query_named() {
    let mut set = chains(10_000);
    let documents = [document(&["x"]), repeated(32_000)];
    let max = statement_steps(32_004);
    let (done, _) = ended(&set.snapshot(), &documents, max);
    let Err(Unfinished::TooCostly(costly)) = done else {
        panic!("{done:?}");
    };
    assert_eq!((costly.max, costly.document), (max, 1));
    assert!(costly.query.is_some() && costly.steps > 500, "{costly:?}");
    // The same call ends at the same step.
    assert_eq!(ended(&set.snapshot(), &documents, max).0, done);
}

#[test]
fn a_query_that_is_dearer_than_all_others_is_the_one_named() {
    let mut set = chains(10);
    let dear = vec!["a"; 500].join(" << ");
    insert(&mut set, 7_777, &parsed(&dear));
    let (done, _) = ended(&set.snapshot(), &[repeated(500)], 200_000);
    let Err(Unfinished::TooCostly(Costly { query, steps, .. })) = done else {
        panic!("{done:?}");
    };
    assert_eq!(query, Some(7_777));
    assert!(steps > 100_000);
    // A removed query is not checked, though its level still holds it.
    set.remove(7_777);
    assert_eq!(ended(&set.snapshot(), &[repeated(500)], 200_000).0, Ok(()));
}

#[test]
fn one_query_on_one_document_has_a_bound_of_its_own() {
    let mut set = set_of([format!("\"{}\"", vec!["a"; 4_000].join(" "))]);
    let (done, _) = ended(&set.snapshot(), &[repeated(16_000)], u64::MAX);
    let Err(Unfinished::TooCostly(Costly { max, query, .. })) = done else {
        panic!("{done:?}");
    };
    assert_eq!((max, query), (QUERY_STEPS_MAX, Some(0)));
}

#[test]
fn a_call_ends_inside_a_document_and_the_next_one_is_right() {
    let mut set = chains(10_000);
    let snapshot = set.snapshot();
    let (documents, asked) = ([repeated(4_000)], Cell::new(0));
    let goes_on = || {
        asked.set(asked.get() + 1);
        asked.get() < 9
    };
    let all = Documents {
        goes_on: &goes_on,
        ..Documents::of(&documents)
    };
    let (mut scratch, mut hits) = (Scratch::new(), Hits::new());
    let stopped = snapshot.matches(&all, &mut scratch, &mut hits);
    assert_eq!((stopped, asked.get()), (Err(Unfinished::Stopped), 9));
    assert!(hits.is_empty());
    assert_eq!(
        ask(&snapshot, &[document(&["a a b"])], &mut scratch).len(),
        10_000
    );
}

/// Work that may exceed the words of the document and the number of queries many times is counted, whatever the
/// operator.
#[test]
fn every_way_to_be_dear_is_counted_and_ends() {
    let a = |count| vec!["a"; count];
    let many: [(&str, Vec<String>); 9] = [
        ("words in fields", Vec::new()),
        ("phrases", vec![format!("\"{}\"", a(2_000).join(" "))]),
        (
            "proximity",
            (1..200).map(|n| format!("\"a a b\"~{n}")).collect(),
        ),
        ("order", vec![a(500).join(" << ")]),
        ("sentence", Vec::new()),
        (
            "not near",
            vec![format!("(a NOTNEAR/3 x) ({})", a(250).join(" NOTNEAR/3 "))],
        ),
        (
            "alternatives",
            vec![format!(
                "({}) NEAR/3 b",
                (1..500)
                    .map(|n| format!("(a NEAR/{n} a)"))
                    .collect::<Vec<_>>()
                    .join(" | ")
            )],
        ),
        (
            "patterns",
            (1..300).map(|n| format!("REGEX(/a|{n}*/) x")).collect(),
        ),
        (
            "places of patterns",
            (1..100)
                .map(|n| format!("REGEX(/a|{n}*/) NEAR/3 b"))
                .collect(),
        ),
    ];
    for (name, queries) in many {
        let mut set = set_of(queries);
        if name == "words in fields" {
            for fields in (0..2_000).map(|n| n << 1 | 1) {
                let term = Word::whole("a", FieldSet(fields));
                insert(&mut set, fields, &Node::Word(term));
            }
        }
        if name == "sentence" {
            let (unit, parts) = (Unit::Sentence, vec![word("a"); 500]);
            insert(&mut set, 1, &Node::Together { unit, parts });
        }
        let (done, asked) = ended(&set.snapshot(), &[repeated(1_000)], 100_000);
        let is_costly = matches!(done, Err(Unfinished::TooCostly(_)));
        assert!(
            is_costly && asked < 20,
            "{name}: {done:?}, asked {asked} times"
        );
    }
}

#[test]
fn filters_and_entries_without_places_are_counted() {
    let (mut set, text) = (QuerySet::new(), "n + 1 = 1");
    for id in 0..5_000 {
        let text = format!("{text} AND {id} = {id}");
        let expression = expression::parse(&mut Lexer::new(text.as_bytes())).unwrap();
        let prepared = Arc::new(Prepared::new(&expression, &|_| Some(0)).unwrap());
        let query = crate::StandingQuery {
            filters: text.into(),
            ..(*standing(id, "a")).clone()
        };
        set.insert(Arc::new(query), &word("a"), Some(prepared));
    }
    let words = [document(&["a"])];
    let attributes = |_, _| Value::Int(7);
    let documents = Documents {
        attributes: &attributes,
        steps_max: 10_000,
        ..Documents::of(&words)
    };
    let done = set
        .snapshot()
        .matches(&documents, &mut Scratch::new(), &mut Hits::new());
    let costly = Costly {
        max: 10_000,
        query: None,
        document: 0,
        steps: 0,
    };
    assert_eq!(done, Err(Unfinished::TooCostly(costly)));
    let snapshot = set_of((0..8_000).map(|_| "a b -x".to_owned())).snapshot();
    let counted = steps(&snapshot, &[document(&["a b x"])]);
    assert!((1_000..8_000).contains(&counted), "{counted}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Long lists are walked by other code than short ones: galloping, backwards, over spans of several words.
    #[test]
    fn chains_of_near_over_long_texts_are_the_references(
        texts in proptest::collection::vec(proptest::sample::select(&["a ", "a ", "a ", "b ", "c ", "a. ", "a ", "d "][..]), 0..160),
        parts in proptest::collection::vec(
            (proptest::sample::select(&["a", "b", "a", "c", "a", "b", "a", "d", "(a | c)", "\"a b\"~3", "(a NOTNEAR/2 d)", "(b << a)", "\"a * b\""][..]), 1..30u32),
            1..5,
        ),
        last in proptest::sample::select(&["b", "d", "d", "c", "\"a a\"", "(c MAYBE a)"][..]),
    ) {
        let words = document(&[&texts.concat(), &texts[texts.len() / 2..].concat()]);
        let chain: String = parts.iter().map(|(part, far)| format!("{part} NEAR/{far} ")).collect();
        let root = parsed(&(chain + last));
        let mut set = QuerySet::new();
        insert(&mut set, 7, &root);
        let found = ask(&set.snapshot(), std::slice::from_ref(&words), &mut Scratch::new());
        prop_assert_eq!(!found.is_empty(), reference::matches(&root, &words), "{:?}", root);
    }
}
