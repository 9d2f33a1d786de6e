//! Random histories: whatever was inserted, deleted, sealed, dropped or reopened, and when, answers are the oracle's.

use std::sync::Arc;

use disk::MemoryDisk;
use language::tree::{FieldPlace, FieldSet, Form, Node, Term, Word};
use proptest::collection::vec;
use proptest::prelude::*;
use relation::options::Ranker;
use relation::request::{OrderBy, Select};
use relation::value::Value;

use crate::subject::{Subject, cases, expression, filtered, order, row, select_all, select_count};

const WORDS: [&str; 7] = ["ant", "bee", "cat", "dog", "eel", "fox", "#cat"];

#[derive(Clone, Debug)]
pub(crate) enum Step {
    Insert(u64, Vec<Value>),
    Delete(u64),
    Replace(u64, Vec<Value>),
    /// UPDATE of one row.
    Change(u64, Vec<(u16, Value)>),
    /// UPDATE of the rows with this `n`, planned before the other steps and taken in after them.
    Planned(i64, Vec<Step>),
    /// Replaces and deletes rows, and takes all of it back.
    Refused(Vec<(u64, Vec<Value>)>, Vec<u64>),
    Publish,
    Freeze,
    Run,
    Install,
    DropJob,
    StartMerge(bool),
    RunMerge,
    InstallMerged,
    DropMerge,
    Reopen,
    Check,
}

fn text() -> impl Strategy<Value = String> {
    let common = prop_oneof![4 => 0..3usize, 1 => 3..7usize];
    vec(common.prop_map(|at| WORDS[at]), 0..8).prop_map(|words| words.join(" "))
}

fn columns() -> BoxedStrategy<Vec<Value>> {
    (text(), -3..4i64, text(), -2..3i8, text())
        .prop_map(|(body, n, title, f, s)| row(&body, n, &title, f32::from(f) / 2.0, &s))
        .boxed()
}

/// Values of columns that are no texts. One in ten integers takes more than 64 bits.
fn changed() -> impl Strategy<Value = Vec<(u16, Value)>> {
    let number = prop_oneof![9 => -3..4i128, 1 => Just(1i128 << 70)];
    let value = prop_oneof![
        2 => number.prop_map(|number| (1, Value::Int(number))),
        1 => (-2..3i8).prop_map(|number| (3, Value::Float(f64::from(number) / 2.0))),
        1 => text().prop_map(|text| (4, Value::Str(text))),
    ];
    vec(value, 1..3)
}

/// A step; `columns` gives the rows.
pub(crate) fn step(columns: fn() -> BoxedStrategy<Vec<Value>>) -> impl Strategy<Value = Step> {
    let planned = (-3..4i64, vec(simple_step(columns), 0..8));
    prop_oneof![
        40 => simple_step(columns),
        2 => planned.prop_map(|(n, steps)| Step::Planned(n, steps)),
    ]
}

fn simple_step(columns: fn() -> BoxedStrategy<Vec<Value>>) -> impl Strategy<Value = Step> {
    let id = 1..40u64;
    prop_oneof![
        6 => (id.clone(), changed()).prop_map(|(id, values)| Step::Change(id, values)),
        12 => (id.clone(), columns()).prop_map(|(id, row)| Step::Insert(id, row)),
        4 => id.clone().prop_map(Step::Delete),
        4 => (id.clone(), columns()).prop_map(|(id, row)| Step::Replace(id, row)),
        2 => (vec((id.clone(), columns()), 0..4), vec(id, 0..4))
            .prop_map(|(rows, gone)| Step::Refused(rows, gone)),
        3 => Just(Step::Publish),
        2 => Just(Step::Freeze),
        2 => Just(Step::Run),
        2 => Just(Step::Install),
        1 => Just(Step::DropJob),
        2 => prop::bool::weighted(0.8).prop_map(Step::StartMerge),
        2 => Just(Step::RunMerge),
        2 => Just(Step::InstallMerged),
        1 => Just(Step::DropMerge),
        1 => Just(Step::Reopen),
        1 => Just(Step::Check),
    ]
}

fn fields() -> impl Strategy<Value = FieldSet> {
    prop_oneof![3 => Just(FieldSet::ALL), 1 => (0..4u64).prop_map(FieldSet)]
}

fn place() -> impl Strategy<Value = FieldPlace> {
    let limited = (any::<bool>(), any::<bool>(), 0..4u32);
    let limited = limited.prop_map(|(first, last, within)| FieldPlace {
        first,
        last,
        within,
    });
    prop_oneof![6 => Just(FieldPlace::default()), 1 => limited]
}

fn term() -> impl Strategy<Value = Term> {
    let patterns = ["c*", "*e*", "?at", "do%g", "#*", "zz*"];
    let pattern = prop::sample::select(patterns.to_vec()).prop_map(|text| (text, Form::Pattern));
    let word = prop::sample::select(WORDS.to_vec()).prop_map(|text| (text, Form::Whole));
    (prop_oneof![5 => word, 1 => pattern], place()).prop_map(|((text, form), place)| Term {
        text: text.into(),
        form,
        place,
    })
}

fn leaf() -> impl Strategy<Value = Node> {
    let single = (term(), fields()).prop_map(|(term, fields)| Node::Word(Word { term, fields }));
    let phrase = (vec((term(), 1..3u32), 2..4), fields()).prop_map(|(parts, fields)| {
        let mut at = 0;
        let mut words = Vec::new();
        for (term, distance) in parts {
            words.push((term, at));
            at += distance;
        }
        Node::Phrase { words, fields }
    });
    let near =
        (vec(term(), 2..4), fields(), 1..4u32).prop_map(|(terms, fields, slack)| Node::Proximity {
            terms,
            fields,
            slack,
        });
    prop_oneof![8 => single, 2 => phrase, 1 => near, 1 => Just(Node::All)]
}

pub(crate) fn node() -> impl Strategy<Value = Node> {
    leaf().prop_recursive(3, 12, 3, |inner| {
        let boxed = || inner.clone().prop_map(Box::new);
        let several = || vec(inner.clone(), 2..4);
        let negated = boxed().prop_map(Node::Not);
        prop_oneof![
            4 => several().prop_map(Node::And),
            4 => several().prop_map(Node::Or),
            4 => (inner.clone(), negated).prop_map(|(wanted, not)| Node::And(vec![wanted, not])),
            1 => several().prop_map(Node::Order),
            1 => (several(), 1..3u32).prop_map(|(parts, least)| {
                let least = least.min(parts.len() as u32);
                Node::Quorum { parts, least }
            }),
            1 => (boxed(), boxed(), 1..4u32)
                .prop_map(|(left, right, distance)| Node::Near { left, right, distance }),
            1 => (boxed(), boxed(), 1..4u32)
                .prop_map(|(left, right, distance)| Node::NotNear { left, right, distance }),
            1 => (boxed(), boxed()).prop_map(|(left, right)| Node::Maybe(left, right)),
        ]
    })
}

/// A ranker, options that change its weights, and a cutoff.
fn options() -> impl Strategy<Value = Vec<(String, String)>> {
    let rankers = Ranker::NAMED.map(|(name, _)| name);
    let ranker = prop::sample::select(rankers.to_vec()).prop_map(|ranker| ("ranker", ranker));
    let weights = ["(title=10,body=3)", "(body=0)", "(title=65535)"];
    let weights = prop::sample::select(weights.to_vec()).prop_map(|of| ("field_weights", of));
    let idf = ["plain", "tfidf_unnormalized", "plain,tfidf_unnormalized"];
    let idf = prop::sample::select(idf.to_vec()).prop_map(|idf| ("idf", idf));
    let cutoff = prop::sample::select(vec!["0", "1", "2", "5", "12"]);
    let cutoff = cutoff.prop_map(|cutoff| ("cutoff", cutoff));
    let several = (
        prop::option::weighted(0.9, ranker),
        prop::option::of(weights),
        prop::option::weighted(0.2, idf),
        prop::option::weighted(0.3, cutoff),
    );
    several.prop_map(|(ranker, weights, idf, cutoff)| {
        let set = [ranker, weights, idf, cutoff].into_iter().flatten();
        set.map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect()
    })
}

fn select() -> impl Strategy<Value = Select> {
    let filters = [
        "n >= 0",
        "id IN (3, 5, 7, 900, 5)",
        "id = 4 OR id = 9 OR id IN (1, 2)",
        "id = 6 AND n < 2",
        "f * 2 = n",
        "s = ''",
        "NOT n BETWEEN -1 AND 1",
        "id > 10 AND id < 25",
        "id = '8'",
        "title <> s AND n > -2",
        "(n, s) IN ((0, ''), (1, 'ant'), (-1, NULL))",
        "(id = 3 AND n = 1) OR (id = 5 AND n = 2) OR (id = 8 AND n = 0)",
    ];
    let orders = [
        vec![],
        vec![order("weight()", false), order("id", true)],
        vec![order("n", true)],
        vec![order("s", false), order("f", true)],
        vec![order("n + f", false), order("weight()", true)],
        vec![order("id", true)],
    ];
    let filter = prop::option::of(prop::sample::select(filters.to_vec()));
    let order = prop::sample::select(orders.to_vec());
    let limit = prop::option::of(0..9u64);
    let page = (limit, 0..4u64);
    (filter, order, page, options(), 0..8u8).prop_map(|(filter, order, page, options, kind)| {
        let (limit, offset) = page;
        let base = if kind == 0 {
            select_count()
        } else {
            select_all()
        };
        let order = if kind == 0 { Vec::new() } else { order };
        Select {
            filter: filter.map(expression),
            order,
            limit,
            offset,
            options,
            ..base
        }
    })
}

/// SELECTs of all rows, by one of the orders, or of their number.
pub(crate) fn rows_or_count(
    filter: impl Strategy<Value = Option<&'static str>>,
    orders: Vec<Vec<OrderBy>>,
) -> impl Strategy<Value = Select> {
    let order = prop::sample::select(orders);
    (filter, order, any::<bool>()).prop_map(|(filter, order, counts)| {
        let (base, order) = match counts {
            true => (select_count(), Vec::new()),
            false => (select_all(), order),
        };
        Select {
            filter: filter.map(expression),
            order,
            ..base
        }
    })
}

pub(crate) fn apply(subject: &mut Subject, step: &Step, asked: &[(Select, Option<Node>)]) {
    match step.clone() {
        Step::Insert(id, row) => subject.insert(id, row),
        Step::Delete(id) => subject.delete(id),
        Step::Replace(id, row) => subject.replace(id, row),
        Step::Refused(rows, gone) => subject.refuse(rows, &gone),
        Step::Change(id, values) => subject.change(id, values),
        Step::Planned(n, steps) => {
            let plan = subject.plan(n);
            let between = steps.iter().filter(|step| !matches!(step, Step::Reopen));
            between.for_each(|step| apply(subject, step, asked));
            subject.take_planned(plan, n);
        }
        Step::Publish => drop(subject.table.snapshot()),
        Step::Freeze => subject.freeze(),
        Step::Run => subject.run_job(),
        Step::Install => subject.install(),
        Step::DropJob => subject.drop_job(),
        Step::StartMerge(wholly) => subject.start_merge(wholly),
        Step::RunMerge => subject.run_merge(),
        Step::InstallMerged => subject.install_merged(),
        Step::DropMerge => subject.drop_merge(),
        Step::Reopen => subject.reopen(),
        Step::Check => {
            subject.check_counts();
            asked
                .iter()
                .for_each(|(select, root)| subject.check(select, root.as_ref()));
        }
    }
}

proptest! {
    #![proptest_config(cases(192))]

    #[test]
    fn answers_do_not_depend_on_history_or_layout(
        steps in vec(step(columns), 1..90),
        shards in prop_oneof![2 => Just(1u16), 1 => 2..8u16, 1 => Just(64)],
        asked in vec((select(), prop::option::of(node())), 6),
    ) {
        let mut subject = Subject::with_shards(Arc::new(MemoryDisk::new()), shards);
        for step in steps.iter().chain([&Step::Check]) {
            apply(&mut subject, step, &asked);
        }
        subject.seal();
        apply(&mut subject, &Step::Check, &asked);
        subject.reopen();
        apply(&mut subject, &Step::Check, &asked);
        subject.seal(); // what a seal that was tried again has left to the next
        subject.optimize();
        apply(&mut subject, &Step::Check, &asked);
        prop_assert!(subject.manifest.segments.len() <= usize::from(shards));
        subject.reopen();
        apply(&mut subject, &Step::Check, &asked);
        prop_assert_eq!(subject.table.status().tombstones, 0);
    }
}

#[test]
fn optimizing_ends_though_a_segment_is_sealed_during_each_of_its_merges() {
    let mut subject = Subject::new(Arc::new(MemoryDisk::new()));
    for id in [1, 2] {
        subject.insert(id, row("cat", 1, "", 0.0, ""));
        subject.seal();
    }
    subject.start_merge(true);
    subject.insert(3, row("cat", 1, "", 0.0, ""));
    subject.seal();
    assert!(subject.table.is_optimizing());
    subject.run_merge();
    subject.install_merged();
    assert!(!subject.table.is_optimizing());
    assert_eq!(subject.table.status().segments, 2);
    subject.check(&select_all(), None);
}

#[test]
fn an_old_snapshot_keeps_its_answers() {
    let mut subject = Subject::new(Arc::new(MemoryDisk::new()));
    (1..20).for_each(|id| subject.insert(id, row("cat dog", 1, "cat", 0.0, "")));
    let old = subject.table.snapshot();
    let model = subject.model.clone();
    (5..15).for_each(|id| subject.delete(id));
    subject.seal();
    (30..99).for_each(|id| subject.insert(id, row("cat", 2, "", 0.0, "")));
    subject.seal();
    let cat = crate::subject::tree("cat");
    crate::subject::check(&old, &model, &select_all(), Some(&cat));
    crate::subject::check(&old, &model, &filtered("n = 1"), None);
    subject.check(&select_all(), Some(&cat));
}

#[test]
fn what_is_not_published_is_not_visible() {
    let mut subject = Subject::new(Arc::new(MemoryDisk::new()));
    subject.insert(1, row("cat", 1, "", 0.0, ""));
    let before = subject.table.snapshot();
    subject.insert(2, row("cat", 1, "", 0.0, ""));
    subject.delete(1);
    assert_eq!(before.count(), 1);
    assert_eq!(before.document_frequency("cat").expect("a count"), 1);
    assert!(before.get(2).expect("a look-up").is_none());
    assert!(before.get(1).expect("a look-up").is_some());
    assert_eq!(subject.table.snapshot().get(1).expect("a look-up"), None);
}

/// A row that was changed, deleted or replaced after an UPDATE was worked out stays as it is then: the engine decides it again.
#[test]
fn a_planned_update_leaves_rows_alone_that_moved_meanwhile() {
    let mut subject = Subject::new(Arc::new(MemoryDisk::new()));
    for id in 1..=20 {
        subject.insert(id, row("cat", 1, "", 0.0, ""));
    }
    for sealed in [false, true] {
        if sealed {
            subject.seal();
        }
        let n = if sealed { 2 } else { 1 };
        let plan = subject.plan(n);
        let base = if sealed { 10 } else { 0 };
        subject.change(base + 1, vec![(1, Value::Int(9))]);
        subject.change(base + 2, vec![(4, Value::Str("other".to_owned()))]);
        subject.delete(base + 3);
        subject.replace(base + 4, row("dog", 7, "", 0.0, ""));
        let moved = subject.table.moved_since(&plan);
        let wanted: Vec<u64> = (base + 1..=base + 4).collect();
        assert_eq!(moved.into_iter().collect::<Vec<_>>(), wanted);
        subject.take_planned(plan, n);
        for asked in [
            select_all(),
            filtered("n = 9"),
            filtered("n = 2"),
            filtered("n = 1"),
        ] {
            subject.check(&asked, None);
        }
    }
    subject.reopen();
    subject.check(&select_all(), None);
}
