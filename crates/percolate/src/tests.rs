//! Sets of standing queries: which hits they find, and how their levels are shaped.

mod any;
mod cost;
mod hard;
mod laws;

use std::sync::Arc;

use language::analysis::{Analyzer, Words};
use language::tree::{FieldSet, Node, Term, Word};

use crate::{Documents, Hits, QuerySet, Scratch, Snapshot, StandingQuery};

/// Words of each length class: 1 to 3 bytes, 4 to 7, 8 to 15, 16 and more; and words outside ASCII.
const WORDS: [&str; 14] = [
    "a",
    "b",
    "ab",
    "cat",
    "cats",
    "catfish",
    "catalogs",
    "catalogue",
    "fifteen15letter",
    "sixteen16letters",
    "seventeen17letter",
    "seventeen17lettes",
    "жук",
    "猫",
];

fn word(text: &str) -> Node {
    limited(text, FieldSet::ALL)
}

fn limited(text: &str, fields: FieldSet) -> Node {
    Node::Word(Word::whole(text, fields))
}

fn phrase(words: &[(&str, u32)]) -> Node {
    let words = words
        .iter()
        .map(|(text, distance)| (Term::whole(*text), *distance))
        .collect();
    Node::Phrase {
        words,
        fields: FieldSet::ALL,
    }
}

fn standing(id: u64, text: &str) -> Arc<StandingQuery> {
    let empty = Box::<str>::default();
    Arc::new(StandingQuery {
        id,
        text: text.into(),
        tags: empty.clone(),
        filters: empty.clone(),
        source: empty,
        count: Default::default(),
    })
}

/// Adds a query whose text is its tree, as Rust writes it. Returns the text of the query that it replaces.
fn insert(set: &mut QuerySet, id: u64, root: &Node) -> Option<Box<str>> {
    let replaced = set.insert(standing(id, &format!("{root:?}")), root, None);
    replaced.map(|query| query.text.clone())
}

fn document(fields: &[&str]) -> Words {
    let mut words = Words::new();
    for (text, field) in fields.iter().zip(0..) {
        words.push_field(&Analyzer::default(), field, text);
    }
    words
}

/// Matches documents. No other lines of the tests know how a set is called.
fn rows_of(
    snapshot: &Snapshot,
    documents: &Documents<'_>,
    scratch: &mut Scratch,
) -> Vec<(u64, Vec<u32>)> {
    let mut hits = Hits::new();
    assert_eq!(snapshot.matches(documents, scratch, &mut hits), Ok(()));
    let rows: Vec<_> = hits
        .rows()
        .map(|(query, found)| (query.id, found.to_vec()))
        .collect();
    let ids: Vec<_> = hits.ids().map(|(id, found)| (id, found.to_vec())).collect();
    assert_eq!(rows, ids);
    assert_eq!(hits.len(), rows.len());
    assert_eq!(
        hits.work().matches,
        rows.iter()
            .map(|(_, found)| found.len() as u64)
            .sum::<u64>()
    );
    rows
}

fn ask(snapshot: &Snapshot, documents: &[Words], scratch: &mut Scratch) -> Vec<(u64, Vec<u32>)> {
    rows_of(snapshot, &Documents::of(documents), scratch)
}

#[track_caller]
fn check(root: Node, documents: &[&[&str]], hit: &[u32]) {
    let mut set = QuerySet::new();
    insert(&mut set, 7, &root);
    let documents: Vec<Words> = documents.iter().map(|fields| document(fields)).collect();
    let want = if hit.is_empty() {
        vec![]
    } else {
        vec![(7, hit.to_vec())]
    };
    assert_eq!(ask(&set.snapshot(), &documents, &mut Scratch::new()), want);
}

#[test]
fn every_word_of_a_conjunction_must_be_there_and_no_negated_one() {
    let root = Node::And(vec![word("cat"), word("b"), Node::Not(Box::new(word("a")))]);
    check(
        root,
        &[&["cat b"], &["cat"], &["b a cat"], &["b cats cat"]],
        &[0, 3],
    );
}

#[test]
fn a_word_limited_to_fields_is_found_in_those_only() {
    let root = limited("cat", FieldSet(0b10));
    check(
        root,
        &[&["cat", "b"], &["b", "cat"], &["cat", "cat"]],
        &[1, 2],
    );
}

#[test]
fn a_phrase_needs_order_distance_and_one_field() {
    let root = phrase(&[("cat", 0), ("b", 2)]);
    check(
        root,
        &[
            &["cat b"],
            &["cat a b"],
            &["b a cat"],
            &["cat a", "b"],
            &["cat cat b b"],
        ],
        &[1, 4],
    );
}

#[test]
fn more_words_than_an_entry_holds_are_all_asked_for() {
    let root = Node::And(
        ["a", "b", "ab", "cat", "cats", "catfish", "catalogs"]
            .into_iter()
            .map(word)
            .collect(),
    );
    check(
        root,
        &[
            &["a b ab cat cats catfish catalogs"],
            &["a b ab cat cats catfish"],
        ],
        &[0],
    );
}

#[test]
fn a_long_or_is_one_hit() {
    let root = Node::Or(WORDS.into_iter().map(word).collect());
    check(root, &[&["a b cat"], &["dog"], &["жук"]], &[0, 2]);
}

#[test]
fn queries_without_a_positive_word_are_counted_and_tried() {
    let mut set = QuerySet::new();
    insert(&mut set, 1, &Node::All);
    insert(&mut set, 2, &word("cat"));
    let no_cat = Node::And(vec![Node::All, Node::Not(Box::new(word("cat")))]);
    insert(&mut set, 3, &no_cat);
    let snapshot = set.snapshot();
    assert_eq!(snapshot.always_len(), 2);
    let documents = [document(&["cat"]), document(&["b"])];
    let hits = ask(&snapshot, &documents, &mut Scratch::new());
    assert_eq!(hits, [(1, vec![0, 1]), (2, vec![0]), (3, vec![1])]);
    set.remove(1);
    assert_eq!(set.snapshot().always_len(), 1);
}

#[test]
fn an_unchanged_set_gives_the_same_snapshot() {
    let mut set = QuerySet::new();
    insert(&mut set, 1, &word("cat"));
    let first = set.snapshot();
    assert!(!set.remove(2));
    assert!(Arc::ptr_eq(&first, &set.snapshot()));
}

#[test]
fn levels_stay_few_while_queries_come_one_by_one() {
    let mut set = QuerySet::new();
    for id in 0..5_000_u64 {
        let root = word(WORDS[id as usize % 14]);
        insert(&mut set, id.wrapping_mul(0x9e37_79b9_7f4a_7c15), &root);
        set.settle();
        assert!(
            set.snapshot().levels_len() <= 5,
            "log 8 of 5,000, rounded up"
        );
    }
    assert_eq!(set.snapshot().len(), 5_000);
    for id in 0..5_000_u64 {
        assert!(set.remove(id.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
        set.settle();
    }
    assert_eq!(
        set.snapshot().levels_len(),
        0,
        "nothing is kept of what was removed"
    );
}

#[test]
fn levels_stay_bounded_where_no_job_is_ever_run() {
    let mut set = QuerySet::new();
    for id in 0..30_000_u64 {
        insert(&mut set, id, &word(WORDS[id as usize % 14]));
        if id % 100 == 0 {
            assert!(set.snapshot().levels_len() <= 25);
        }
    }
}

#[test]
fn a_job_given_up_is_given_again_and_a_late_one_changes_nothing() {
    let mut set = QuerySet::new();
    for id in 0..20_000 {
        insert(&mut set, id, &word("cat"));
        if id % 4_000 == 0 {
            set.snapshot();
        }
    }
    set.snapshot();
    let late = set.merge_job().unwrap();
    assert!(set.merge_job().is_none(), "one at a time");
    set.abandon();
    let again = set.merge_job().unwrap();
    let levels = set.snapshot().levels_len();
    set.install(late.run());
    assert_eq!(set.snapshot().levels_len(), levels);
    set.install(again.run());
    assert_eq!(set.snapshot().levels_len(), 1);
    assert_eq!(set.snapshot().len(), 20_000);
}

#[test]
fn a_job_begun_before_a_load_does_not_bring_the_vocabulary_before_it_back() {
    let mut set = QuerySet::new();
    set.outlive_words();
    let first = set.merge_job().unwrap();
    set.install(first.run());
    set.outdate();
    let late = set.merge_job().unwrap();
    let mut part = set.part();
    let query = StandingQuery {
        id: 7,
        ..StandingQuery::default()
    };
    part.insert(Arc::new(query), &word("cat"), None);
    set.load(vec![part]);
    set.install(late.run());
    let hits = ask(&set.snapshot(), &[document(&["cat"])], &mut Scratch::new());
    assert_eq!(hits, [(7, vec![0])]);
}

#[test]
fn words_of_queries_long_gone_are_forgotten() {
    let mut set = QuerySet::new();
    let mut scratch = Scratch::new();
    insert(&mut set, 0, &word("kept"));
    for round in 0..20_000 {
        insert(&mut set, 1, &word(&format!("only{round}")));
        set.settle();
        assert!(set.snapshot().dictionary.len() < 10_000, "{round}");
    }
    let documents = [document(&["kept only19999"]), document(&["only19998"])];
    let hits = ask(&set.snapshot(), &documents, &mut scratch);
    assert_eq!(hits, [(0, vec![0]), (1, vec![0])]);
}

#[test]
fn queries_are_filed_under_the_rare_word_once_the_stream_has_been_seen() {
    let mut set = QuerySet::new();
    for id in 0..100 {
        insert(&mut set, id, &Node::And(vec![word("cat"), word("b")]));
        insert(&mut set, 1_000 + id, &word("b"));
    }
    // Fewer queries name `cat` than `b`, but nearly every document holds it.
    let mut documents = vec![document(&["cat"]); 2_000];
    documents.push(document(&["b cat"]));
    let (mut scratch, mut hits) = (Scratch::new(), Hits::new());
    assert_eq!(
        set.snapshot()
            .matches(&Documents::of(&documents), &mut scratch, &mut hits),
        Ok(())
    );
    assert!(hits.work().candidates > 100_000);
    assert!(set.is_outdated());
    set.settle();
    let before: Vec<_> = hits.ids().map(|(id, found)| (id, found.to_vec())).collect();
    assert_eq!(
        set.snapshot()
            .matches(&Documents::of(&documents), &mut scratch, &mut hits),
        Ok(())
    );
    assert_eq!(hits.work().candidates, 200);
    assert!(!set.is_outdated());
    let after: Vec<_> = hits.ids().map(|(id, found)| (id, found.to_vec())).collect();
    assert_eq!(before, after);
}

#[test]
fn more_hits_than_a_call_may_give_are_refused_and_the_next_call_is_right() {
    let mut set = QuerySet::new();
    for id in 0..60_000 {
        insert(&mut set, id, &word("b"));
    }
    let documents = vec![document(&["b"]); 64 * 280];
    let (mut scratch, mut hits) = (Scratch::new(), Hits::new());
    let snapshot = set.snapshot();
    let refused = snapshot.matches(&Documents::of(&documents), &mut scratch, &mut hits);
    assert_eq!(refused, Err(crate::Unfinished::TooManyPairs));
    assert!(hits.is_empty());
    assert_eq!(ask(&snapshot, &documents[..1], &mut scratch).len(), 60_000);
}

#[test]
fn a_call_ends_between_two_slices_once_nobody_wants_its_answer() {
    let mut set = QuerySet::new();
    insert(&mut set, 7, &word("b"));
    let snapshot = set.snapshot();
    let documents = vec![document(&["b"]); 64 * 10];
    let (mut scratch, mut hits) = (Scratch::new(), Hits::new());
    let asked = std::cell::Cell::new(0);
    let goes_on = || {
        asked.set(asked.get() + 1);
        asked.get() < 4
    };
    let all = Documents {
        goes_on: &goes_on,
        ..Documents::of(&documents)
    };
    let stopped = snapshot.matches(&all, &mut scratch, &mut hits);
    assert_eq!(stopped, Err(crate::Unfinished::Stopped));
    assert!(hits.is_empty() && asked.get() == 4, "and no further");
    let found = ask(&snapshot, &documents[..65], &mut scratch);
    assert_eq!(found[0].1.len(), 65, "the next call is right");
}
