//! The verifier beside the reference, and texts that repeat one word.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;

use super::{Buffers, Counts, Document, Joined, Places, Verifier};
use crate::analysis::{Analyzer, Settings, Words};
use crate::limits::ROW_OCCURRENCES_MAX;
use crate::meter::Meter;
use crate::reference;
use crate::tree::{FieldPlace, FieldSet, Form, Node, Term, Unit, Word};

fn document(fields: &[String]) -> Words {
    let mut settings = Settings::default();
    assert_eq!(settings.set("index_sp", "1"), Some(Ok(())));
    let analyzer = Analyzer::new(settings);
    let mut words = Words::new();
    for (text, field) in fields.iter().zip(0..) {
        words.push_field(&analyzer, field, text);
    }
    words
}

fn any_term() -> impl Strategy<Value = Term> {
    let form = prop_oneof![
        8 => Just(Form::Whole),
        2 => Just(Form::Pattern),
        1 => Just(Form::Regex),
    ];
    let place = prop_oneof![
        8 => Just(FieldPlace::default()),
        1 => (any::<bool>(), any::<bool>(), 0..4u32)
            .prop_map(|(first, last, within)| FieldPlace { first, last, within }),
    ];
    let text = proptest::sample::select(&["a", "b", "ab", "c"][..]);
    (text, form, place).prop_map(|(text, form, place)| {
        let text = match form {
            Form::Whole => text.to_owned(),
            Form::Pattern => format!("{text}*"),
            Form::Regex => format!("{text}|c"),
        };
        let text = text.into();
        Term { text, form, place }
    })
}

fn any_fields() -> impl Strategy<Value = FieldSet> {
    prop_oneof![Just(FieldSet::ALL), (0..8u64).prop_map(FieldSet)]
}

fn any_node() -> impl Strategy<Value = Node> {
    let terms = || proptest::collection::vec(any_term(), 2..5);
    let phrase = |(terms, gap, fields): (Vec<Term>, u32, FieldSet)| Node::Phrase {
        words: terms.into_iter().zip((0..).map(|n| n * gap)).collect(),
        fields,
    };
    let leaf = prop_oneof![
        6 => (any_term(), any_fields()).prop_map(|(term, fields)| Node::Word(Word { term, fields })),
        2 => (terms(), 1..3u32, any_fields()).prop_map(phrase),
        2 => (terms(), any_fields(), 0..6u32)
            .prop_map(|(terms, fields, slack)| Node::Proximity { terms, fields, slack }),
        1 => Just(Node::All),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let few = || proptest::collection::vec(inner.clone(), 2..4);
        let one = || inner.clone().prop_map(Box::new);
        let distance = || prop_oneof![4 => 1..5u32, 1 => Just(u32::MAX)];
        let unit = prop_oneof![Just(Unit::Sentence), Just(Unit::Paragraph)];
        prop_oneof![
            few().prop_map(Node::And),
            few().prop_map(Node::Or),
            one().prop_map(Node::Not),
            (few(), 1..4u32).prop_map(|(parts, least)| Node::Quorum { parts, least }),
            few().prop_map(Node::Order),
            (unit, few()).prop_map(|(unit, parts)| Node::Together { unit, parts }),
            (one(), one(), distance()).prop_map(|(left, right, distance)| Node::Near {
                left,
                right,
                distance
            }),
            (one(), one(), distance()).prop_map(|(left, right, distance)| Node::NotNear {
                left,
                right,
                distance
            }),
            (one(), one()).prop_map(|(left, right)| Node::Maybe(left, right)),
        ]
    })
}

fn any_document() -> impl Strategy<Value = Words> {
    let word = proptest::sample::select(&["a ", "b ", "ab ", "c ", "d ", "a. ", "b\n\n"][..]);
    let field = proptest::collection::vec(word, 0..12).prop_map(|words| words.concat());
    proptest::collection::vec(field, 1..4).prop_map(|fields| document(&fields))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_024))]

    #[test]
    fn spans_are_those_of_the_reference(root in any_node(), words in any_document()) {
        let verifier = Verifier::new(&root);
        let spans = reference::spans(&root, &words);
        prop_assert_eq!(verifier.matches(&words), spans.is_some());
        prop_assert_eq!(verifier.spans(&words), spans);
    }

    #[test]
    fn what_counts_of_a_match_are_its_words_at_their_places(root in any_node(), words in any_document()) {
        let verifier = Verifier::new(&root);
        if verifier.matches(&words) {
            let tally = verifier.tally(&words);
            let places: Vec<_> = words.iter().collect();
            prop_assert!(tally.words.iter().all(|counted| places.contains(counted)));
            let stands = |joined: &Joined| {
                let begins = |place: &(&str, u8, u32)| (place.1, place.2) == (joined.field, joined.position);
                joined.place < root.places() && joined.weight > 0 && places.iter().any(begins)
            };
            prop_assert!(tally.joined.iter().all(stands), "{:?}", tally);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_024))]

    #[test]
    fn no_more_counts_than_the_places_of_terms_allow(root in any_node(), words in any_document()) {
        let verifier = Verifier::new(&root);
        if verifier.matches(&words) {
            let places = Places::new(&verifier.terms, &words);
            let mut counts = Counts::default();
            let is_whole = verifier.count(&places, &mut Buffers::default(), &mut counts);
            prop_assert!(is_whole);
            for field in 0..3 {
                let in_field = |term: usize| {
                    let standing = places.standing(term).iter();
                    standing.filter(|span| span.field == field).count() as u64
                };
                let most = verifier.most(field, &in_field);
                let hits: Vec<_> = counts.hits.iter().filter(|hit| hit.field == field).collect();
                prop_assert!(hits.len() as u64 <= most.hits);
                let counted: u64 = hits.iter().map(|hit| u64::from(hit.weight)).sum();
                prop_assert!(counted <= most.words);
            }
            let is_of_words = counts.hits.iter().all(|hit| hit.term.is_some());
            prop_assert!(is_of_words || !verifier.is_of_words());
        }
    }
}

/// Position, place in the query, span and words of each occurrence of several words, as Sphinx 2.2.11 has them by its
/// `lcs` and `wordcount`.
#[track_caller]
fn check_joined(query: &str, text: &str, want: &[(u32, u32, u32, u32)]) {
    let root = crate::parse(query, &["body"], &Analyzer::default())
        .unwrap()
        .root;
    let mut words = Words::new();
    words.push_field(&Analyzer::default(), 0, text);
    let verifier = Verifier::new(&root);
    let tally = verifier.tally(&words);
    let found = tally.joined.iter();
    let found: Vec<_> = found
        .map(|hit| (hit.position, hit.place, hit.span, hit.weight))
        .collect();
    assert_eq!(found, want, "{query} in {text}");
}

#[test]
fn several_words_count_as_one() {
    check_joined(
        "x | \"a * b\"",
        "a y b a x b",
        &[(1, 1, 3, 2), (4, 1, 3, 2)],
    );
    check_joined("\"a a\"", "a a a a", &[(1, 0, 2, 2), (3, 0, 2, 2)]);
    check_joined("\"a b\"~3 | x", "a b a", &[(1, 0, 2, 2), (2, 0, 2, 1)]);
    check_joined(
        "\"a b\"~3 \"c d\"",
        "a b c d",
        &[(1, 0, 2, 2), (3, 3, 2, 2)],
    );
    check_joined("\"a b\"/1 \"c d\"", "b c d", &[(2, 3, 2, 2)]);
    check_joined("-x \"c d\"", "c d", &[(1, 1, 2, 2)]);
    check_joined("b NEAR/2 a", "a x b a", &[(1, 0, 2, 2)]);
    check_joined("a NEAR/2 b", "a b b", &[(1, 0, 2, 2), (2, 1, 2, 2)]);
    check_joined("a NEAR/2 \"b a\"", "b a a", &[(1, 0, 2, 3), (2, 0, 2, 2)]);
    check_joined("a NEAR/4294967295 b", "a b", &[(1, 0, 2, 2)]);
}

#[test]
fn one_word_many_times_takes_no_quadratic_time() {
    let words = document(&["a ".repeat(1 << 17)]);
    let a = || Node::Word(Word::whole("a", FieldSet::ALL));
    let last = Term {
        place: FieldPlace {
            last: true,
            ..FieldPlace::default()
        },
        ..Term::whole("a")
    };
    let near = |left, right| Node::Near {
        left: Box::new(left),
        right: Box::new(right),
        distance: 1 << 30,
    };
    let not_near = |left, right| Node::NotNear {
        left: Box::new(left),
        right: Box::new(right),
        distance: 1 << 30,
    };
    let proximity = Node::Proximity {
        terms: vec![Term::whole("a"), Term::whole("a"), Term::whole("a")],
        fields: FieldSet::ALL,
        slack: 1 << 30,
    };
    let together = Node::Together {
        unit: Unit::Sentence,
        parts: vec![a(), proximity.clone()],
    };
    let last = Node::Word(Word {
        term: last,
        fields: FieldSet::ALL,
    });
    // Work in the square of the places would take minutes.
    for root in [
        near(near(a(), a()), a()),
        Node::Order(vec![a(), a(), a()]),
        not_near(a(), Node::Word(Word::whole("b", FieldSet::ALL))),
        proximity,
        together,
        last,
    ] {
        let verifier = Verifier::new(&root);
        assert!(verifier.matches(&words), "{root:?}");
        let tally = verifier.tally(&words);
        assert!(
            !tally.words.is_empty() || !tally.joined.is_empty(),
            "{root:?}"
        );
    }
    assert!(!Verifier::new(&not_near(a(), a())).matches(&words));
}

/// The tree of a query in Sphinx's syntax.
fn tree(text: &str) -> Node {
    crate::parse(text, &["f"], &Analyzer::default())
        .expect("a query")
        .root
}

/// The places of single words that count, by field and position, and how many units do.
fn counted(root: &Node, words: &Words) -> (Vec<(u8, u32)>, usize) {
    let verifier = Verifier::new(root);
    let places = Places::new(&verifier.terms, words);
    let mut counts = Counts::default();
    assert!(verifier.count(&places, &mut Buffers::default(), &mut counts));
    let alone = counts.hits.iter().filter(|hit| hit.term.is_some());
    let alone: Vec<_> = alone.map(|hit| (hit.field, hit.start)).collect();
    let units = counts.hits.len() - alone.len();
    (alone, units)
}

#[test]
fn a_word_that_a_tree_has_often_counts_once_at_each_place() {
    let words = document(&["a b ".repeat(50)]);
    let many = |text: &str, sign: &str| vec![text; 200].join(sign);
    let each = |first: u32| {
        (first..=100)
            .step_by(2)
            .map(|at| (0, at))
            .collect::<Vec<_>>()
    };
    let (places, _) = counted(
        &tree(&format!("{} (b NEAR/1 c | a)", many("a", " | "))),
        &words,
    );
    assert_eq!(places, each(1));
    let (places, units) = counted(
        &tree(&format!("({}) | (a NEAR/1 b)", many("^a", " | "))),
        &words,
    );
    assert_eq!((places, units), (vec![(0, 1)], 50));
    // What NOTNEAR drops of one of them counts by another one.
    let (places, _) = counted(&tree("(b NOTNEAR/1 a) | (a NOTNEAR/1 b) | (a a)"), &words);
    assert_eq!(places, each(1));
    let (places, _) = counted(&tree(&many("(a SENTENCE b)", " | ")), &words);
    assert_eq!(places, (1..=100).map(|at| (0, at)).collect::<Vec<_>>());
}

#[test]
fn a_document_of_too_many_places_that_count_is_not_counted_whole() {
    let words = document(&["a b ".repeat(30_000)]);
    let counts_whole = |times: usize| {
        let verifier = Verifier::new(&tree(&vec!["a << b"; times].join(" << ")));
        let places = Places::new(&verifier.terms, &words);
        let mut counts = Counts::default();
        verifier.count(&places, &mut Buffers::default(), &mut counts)
    };
    assert!(counts_whole(1));
    // Each of 140 words counts at 30,000 places.
    const { assert!(70 * 60_000 > ROW_OCCURRENCES_MAX) };
    assert!(!counts_whole(70));
}

/// Stops at a question.
#[derive(Default)]
struct StopsAt(usize, AtomicUsize);

impl Meter for StopsAt {
    fn spend(&self, _: u64) {}

    fn is_stopped(&self) -> bool {
        self.1.fetch_add(1, Ordering::Relaxed) >= self.0
    }
}

#[test]
fn the_work_on_a_document_ends_between_two_nodes() {
    let words = document(&["a b ".repeat(50)]);
    let root = tree(&vec!["a"; 200].join(" NEAR/3 "));
    let verifier = Verifier::new(&root);
    let places = Places::new(&verifier.terms, &words);
    for (stops_at, asked_most) in [(0, 10), (50, 300), (usize::MAX, usize::MAX)] {
        let stop = Arc::new(StopsAt(stops_at, AtomicUsize::new(0)));
        let mut buffers = Buffers::default();
        buffers.stop_by(Arc::clone(&stop) as Arc<dyn Meter + Send + Sync>);
        let matches = verifier.matches_in(&places, &mut buffers);
        assert_eq!(matches, stops_at == usize::MAX && verifier.matches(&words));
        let mut counts = Counts::default();
        let _ = verifier.count(&places, &mut buffers, &mut counts);
        let asked = stop.1.load(Ordering::Relaxed);
        assert!(asked <= asked_most, "{asked} questions");
    }
}
