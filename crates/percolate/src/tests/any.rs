//! Random trees of every kind, documents and filters.

use language::analysis::{Analyzer, Settings, Words};
use language::tree::{FieldPlace, FieldSet, Form, Node, Term, Unit, Word};
use proptest::prelude::*;

use super::WORDS;

pub(super) fn any_fields() -> impl Strategy<Value = FieldSet> {
    prop_oneof![3 => Just(FieldSet::ALL), 2 => (0_u64..8).prop_map(FieldSet)]
}

pub(super) fn any_word() -> impl Strategy<Value = &'static str> {
    prop_oneof![9 => proptest::sample::select(&WORDS[..]), 1 => Just("#cat")]
}

const PATTERNS: [&str; 6] = ["cat*", "*at*", "?", "*letter", "catal*gue", "c%at%"];

pub(super) fn any_term() -> impl Strategy<Value = Term> {
    let form = prop_oneof![
        24 => any_word().prop_map(Term::whole),
        4 => proptest::sample::select(&PATTERNS[..])
            .prop_map(|text| Term { form: Form::Pattern, ..Term::whole(text) }),
        1 => proptest::sample::select(&["a|b", "cat.*s", "[^a]*"][..])
            .prop_map(|text| Term { form: Form::Regex, ..Term::whole(text) }),
    ];
    let place = prop_oneof![
        8 => Just(FieldPlace::default()),
        1 => (any::<bool>(), any::<bool>(), 0_u32..4)
            .prop_map(|(first, last, within)| FieldPlace { first, last, within }),
    ];
    (form, place).prop_map(|(term, place)| Term { place, ..term })
}

pub(super) fn any_phrase() -> impl Strategy<Value = Node> {
    let terms = proptest::collection::vec((any_term(), 1_u32..3), 2..4);
    (terms, any_fields()).prop_map(|(words, fields)| {
        let mut distance = 0;
        let place = |(number, (term, step)): (usize, (Term, u32))| {
            distance += if number == 0 { 0 } else { step };
            (term, distance)
        };
        let words = words.into_iter().enumerate().map(place).collect();
        Node::Phrase { words, fields }
    })
}

pub(super) fn any_proximity() -> impl Strategy<Value = Node> {
    let slack = prop_oneof![4 => 0_u32..5, 1 => Just(100_u32)];
    let terms = proptest::collection::vec(any_term(), 2..4);
    (terms, any_fields(), slack).prop_map(|(terms, fields, slack)| Node::Proximity {
        terms,
        fields,
        slack,
    })
}

pub(super) fn any_distance() -> impl Strategy<Value = u32> {
    prop_oneof![6 => 1_u32..5, 1 => Just(u32::MAX)]
}

pub(super) fn any_unit() -> impl Strategy<Value = Unit> {
    prop_oneof![Just(Unit::Sentence), Just(Unit::Paragraph)]
}

pub(super) fn any_node() -> impl Strategy<Value = Node> {
    let leaf = prop_oneof![
        12 => (any_term(), any_fields())
            .prop_map(|(term, fields)| Node::Word(Word { term, fields })),
        4 => any_phrase(),
        2 => any_proximity(),
        1 => Just(Node::All),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        let few = || proptest::collection::vec(inner.clone(), 2..5);
        let one = || inner.clone().prop_map(Box::new);
        prop_oneof![
            4 => (few(), proptest::collection::vec(inner.clone(), 0..4)).prop_map(
                |(mut parts, negated)| {
                    parts.extend(negated.into_iter().map(|node| Node::Not(Box::new(node))));
                    Node::And(parts)
                }
            ),
            2 => proptest::collection::vec(inner.clone(), 2..6).prop_map(Node::Or),
            1 => few().prop_flat_map(|parts| {
                let least = 1..=parts.len() as u32;
                (Just(parts), least).prop_map(|(parts, least)| Node::Quorum { parts, least })
            }),
            1 => few().prop_map(Node::Order),
            1 => (any_unit(), few()).prop_map(|(unit, parts)| Node::Together { unit, parts }),
            1 => (one(), one(), any_distance())
                .prop_map(|(left, right, distance)| Node::Near { left, right, distance }),
            1 => (one(), one(), any_distance())
                .prop_map(|(left, right, distance)| Node::NotNear { left, right, distance }),
            1 => (one(), one()).prop_map(|(left, right)| Node::Maybe(left, right)),
        ]
    })
}

/// Words, some of them marked, in sentences and paragraphs.
pub(super) fn any_document() -> impl Strategy<Value = Words> {
    let between = proptest::sample::select(&[" ", " ", " ", " ", ". ", "\n\n"][..]);
    let word = (any_word(), between).prop_map(|(word, between)| format!("{word}{between}"));
    let field = proptest::collection::vec(word, 0..8).prop_map(|words| words.concat());
    proptest::collection::vec(field, 1..4).prop_map(|fields| {
        let mut settings = Settings::default();
        assert_eq!(settings.set("index_sp", "1"), Some(Ok(())));
        let analyzer = Analyzer::new(settings);
        let mut words = Words::new();
        for (text, field) in fields.iter().zip(0..) {
            words.push_field(&analyzer, field, text);
        }
        words
    })
}

/// Filters over the attributes `n`, `m` and `s`.
pub(super) const FILTERS: [&str; 8] = [
    "n > 3",
    "n = m",
    "m in (1, 5) or n is null",
    "n + m < 6",
    "n not between 2 and 3 and 2 <= m",
    "s in ('Red', 'blue') and n <> 1",
    "s <> 'GREEN'",
    "s not in ('red', 'x') and 's' <> s and m < 7",
];

/// A filter by its number; none in half of the cases.
pub(super) fn any_filter() -> impl Strategy<Value = Option<usize>> {
    proptest::option::of(0..FILTERS.len())
}
