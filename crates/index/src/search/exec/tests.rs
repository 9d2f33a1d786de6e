//! Compares the executor with the slow one: tables of several parts with deleted rows, every form
//! of tree, every ranker.

mod cursor;
mod pairs;
mod shards;
mod slow;
mod stopped;
mod three_words;

use std::sync::{Arc, LazyLock, OnceLock};

use disk::MemoryDisk;
use language::analysis::{Analyzer, Settings, Words};
use language::meter::Unmetered;
use language::tree::Query;
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng};
use relation::bind::BoundSelect;
use relation::expression::{self, Expression};
use relation::lexer::Lexer;
use relation::options::{Options, Ranker};
use relation::request::{Item, OrderBy, Output, Select};
use relation::schema::{Column, ColumnType};
use relation::value::Value;

use super::super::candidates::Candidates;
use super::super::collect::{Collector, FoundRow, Top};
use super::super::plan;
use super::job::{Gathered, Shared};
use super::{Filter, Job, Opened};
use crate::control::Control;
use crate::filters::Filters;
use crate::shape::TableShape;
use crate::snapshot::Snapshot;
use crate::table::Table;

/// Distinct words of a table's texts: more than a query is weighed by, unless by places.
const WORDS: u64 = 20;

fn shape(texts: usize) -> TableShape {
    let column = |name: &str, kind| Column {
        name: name.to_owned(),
        kind,
        nullable: true,
        default: None,
        keyed: false,
    };
    let mut columns = vec![column("n", ColumnType::Int)];
    let names = ["body", "sub"].into_iter().take(texts);
    columns.extend(names.map(|name| column(name, ColumnType::Text)));
    TableShape {
        columns,
        analyzer: analyzer(texts),
        shards: 1,
    }
}

/// That of a table with two text columns knows sentences.
fn analyzer(texts: usize) -> Analyzer {
    let mut settings = Settings::default();
    let sentences = if texts == 2 { "1" } else { "0" };
    settings.set("index_sp", sentences).unwrap().unwrap();
    Analyzer::new(settings)
}

/// Pseudo-random numbers, the same in every run.
struct Chance(TestRng);

impl Chance {
    fn below(&mut self, most: u64) -> u64 {
        self.0.next_u64() % most
    }

    /// A text of a few words, low numbers more often; sometimes one word many times.
    fn text(&mut self) -> String {
        let mut text = String::new();
        for _ in 0..self.below(12) {
            let word = self
                .below(WORDS)
                .min(self.below(WORDS))
                .min(self.below(WORDS));
            let times = if self.below(40) == 0 { 9 } else { 1 };
            for _ in 0..times {
                text.push_str(&format!("w{word} "));
            }
            match self.below(12) {
                0 => text.push_str(". "),
                1 => text.push_str("\n\n"),
                _ => {}
            }
        }
        text
    }
}

/// A table with this many rows in each segment and in its tail; every seventh row is deleted. Each
/// id is `step` above the one before, modulo about a million. With steps of 1, ids rise from
/// segment to segment.
fn table(texts: usize, parts: &[u64], step: u64) -> Arc<Snapshot> {
    let shape = shape(texts);
    let mut table = Table::create(Arc::new(MemoryDisk::new()), "t", shape.clone()).unwrap();
    let mut chance = Chance(TestRng::from_seed(RngAlgorithm::ChaCha, &[texts as u8; 32]));
    let mut number = 0;
    for (at, rows) in parts.iter().enumerate() {
        for _ in 0..*rows {
            number += 1;
            let id = number * step % 1_000_003;
            let mut row = vec![Value::Int(i128::from(chance.below(50)))];
            let mut words = Words::new();
            for field in 0..texts as u8 {
                let text = chance.text();
                words.push_field(&shape.analyzer, field, &text);
                row.push(Value::Str(text));
            }
            table
                .insert(id, relation::row::encode(&row), &words)
                .unwrap();
            if number % 97 == 0 {
                drop(table.snapshot());
            }
        }
        if at + 1 < parts.len() {
            drop(table.snapshot());
            let job = table.freeze(number).unwrap();
            table.install(job.run().unwrap()).unwrap();
        }
    }
    for number in (7..number).step_by(7) {
        table.delete(number * step % 1_000_003).unwrap();
    }
    table.snapshot()
}

/// One text column with dense pages; two text columns; ids that rise over segments only.
fn snapshots() -> &'static [Arc<Snapshot>; 3] {
    static MADE: OnceLock<[Arc<Snapshot>; 3]> = OnceLock::new();
    MADE.get_or_init(|| {
        [
            table(1, &[9_000, 300, 700], 7_919),
            table(2, &[400, 4_000, 900], 7_919),
            table(1, &[700, 3_000, 300, 0], 1),
        ]
    })
}

#[test]
fn ids_rise_where_no_segment_begins_below_the_end_of_another() {
    let rise = snapshots().each_ref().map(|snapshot| snapshot.ids_rise);
    assert_eq!(rise, [false, false, true]);
}

#[test]
fn a_wide_pattern_weighs_rows_of_the_tail_by_every_ranker() {
    let snapshot = table(1, &[300, 700], 7_919);
    for (_, ranker) in Ranker::NAMED {
        for text in ["w*", "(w0 PARAGRAPH w*)", "w* -w1"] {
            for keep in [Some(3), None] {
                let [fast, slow] = both(&snapshot, text, ranker, keep, &[], None, false);
                assert_eq!(fast, slow, "{text} {ranker:?} {keep:?}");
            }
        }
    }
}

#[test]
fn operators_of_a_hundred_words_are_answered_as_the_slow_executor_does() {
    let snapshot = table(1, &[300, 200], 7_919);
    let words: Vec<String> = (0..100).map(|at| format!("w{}", at % WORDS)).collect();
    let again = vec!["w0"; 100];
    let texts = [
        words.join(" NEAR/3 "),
        again.join(" NEAR/3 "),
        words.join(" << "),
        format!("\"{}\"/3", words.join(" ")),
        format!("\"{}\"/100", again.join(" ")),
        format!("\"{}\"~5", again.join(" ")),
        format!("\"{}\"", again.join(" ")),
        format!("\"{}\"", again[..9].join(" ")),
    ];
    for text in &texts {
        for ranker in [Ranker::ProximityBm25, Ranker::Sph04] {
            let [fast, slow] = both(&snapshot, text, ranker, None, &[], None, false);
            assert_eq!(fast, slow, "{text} {ranker:?}");
        }
    }
    let found = |text: &String| both(&snapshot, text, Ranker::None, Some(0), &[], None, false)[0].0;
    assert!(found(&texts[3]) > 0 && found(&texts[7]) > 0);
}

#[test]
fn an_or_of_many_plain_words_is_weighed_by_every_ranker_as_the_slow_executor_does() {
    let snapshot = table(1, &[300, 200], 7_919);
    let words: Vec<String> = (0..100).map(|at| format!("w{at}")).collect();
    let or = words.join(" | ");
    for (_, ranker) in Ranker::NAMED {
        for text in [&or, &format!("w1 ({or})"), &format!("\"w1 w2\" | {or}")] {
            for keep in [Some(5), None] {
                let [fast, slow] = both(&snapshot, text, ranker, keep, &[], None, false);
                assert_eq!(fast, slow, "{text} {ranker:?} {keep:?}");
            }
        }
    }
}

/// The text of a query.
fn query() -> impl Strategy<Value = String> {
    let word = (0..WORDS + 1).prop_map(|word| format!("w{word}"));
    let leaf = prop_oneof![
        5 => word.clone(),
        1 => Just("w*".to_owned()),
        1 => proptest::sample::select(vec!["w1*", "*w12*", "*12", "*1"]).prop_map(str::to_owned),
        1 => (word.clone(), word.clone()).prop_map(|(a, b)| format!("\"{a} {b}\"")),
        1 => (word.clone(), word.clone(), word.clone()).prop_map(|(a, b, c)| format!("\"{a} {b} {c}\"")),
        1 => word.clone().prop_map(|word| format!("(@body {word})")),
        1 => (word.clone(), word.clone(), word.clone(), 1..4).prop_map(|(a, b, c, n)| format!("\"{a} {b} {c}\"/{n}")),
    ];
    let leaf = prop_oneof![5 => leaf, 2 => placed_leaf(word)];
    leaf.prop_recursive(3, 10, 3, |inner| {
        prop_oneof![
            3 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} {b})")),
            4 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} | {b})")),
            2 => (inner.clone(), inner.clone(), inner.clone()).prop_map(|(a, b, c)| format!("({a} | {b} | {c})")),
            1 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} -{b})")),
            1 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} MAYBE {b})")),
            1 => (inner.clone(), inner.clone(), 1..5).prop_map(|(a, b, n)| format!("({a} NEAR/{n} {b})")),
            1 => (inner.clone(), inner.clone(), 1..5).prop_map(|(a, b, n)| format!("({a} NOTNEAR/{n} {b})")),
            1 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} << {b})")),
            1 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} SENTENCE {b})")),
            1 => (inner.clone(), inner).prop_map(|(a, b)| format!("({a} PARAGRAPH {b})")),
        ]
    })
}

/// The text of a word, a phrase or a quorum that places decide.
fn placed_leaf(
    word: impl Strategy<Value = String> + Clone + 'static,
) -> impl Strategy<Value = String> {
    prop_oneof![
        1 => word.clone().prop_map(|word| format!("^{word}")),
        1 => word.clone().prop_map(|word| format!("{word}$")),
        1 => Just("^w1*".to_owned()),
        1 => (word.clone(), 1..4).prop_map(|(word, most)| format!("(@body[{most}] {word})")),
        1 => word.clone().prop_map(|word| format!("\"{word} w*\"")),
        1 => word.clone().prop_map(|word| format!("\"w1* * {word}\"")),
        1 => (word.clone(), word.clone(), 1..5).prop_map(|(a, b, n)| format!("\"{a} {b} {a}\"~{n}")),
        1 => (word.clone(), word.clone(), 1..5).prop_map(|(a, b, n)| format!("\"{a} w1* {b}\"~{n}")),
        1 => (word.clone(), word, 2..4).prop_map(|(a, b, n)| format!("\"{a} {a} {b}\"/{n}")),
    ]
}

fn order() -> impl Strategy<Value = Vec<OrderBy>> {
    let by = |key, descending| OrderBy { key, descending };
    let column = |name: &str| Output::Expression(Expression::Column(name.to_owned()));
    let written = |text: &str| expression::parse(&mut Lexer::new(text.as_bytes())).unwrap();
    prop_oneof![
        6 => Just(vec![]),
        1 => Just(vec![by(column("id"), false)]),
        1 => Just(vec![by(column("n"), true), by(Output::Weight, true)]),
        1 => Just(vec![by(Output::Weight, false)]),
        1 => Just(vec![by(column("id"), true)]),
        1 => Just(vec![by(column("n"), false), by(column("id"), true)]),
        1 => Just(vec![by(Output::Expression(written("n % 7 - 3")), true), by(Output::Weight, false)]),
        1 => Just(vec![by(column("body"), true)]),
    ]
}

fn filter() -> impl Strategy<Value = Option<&'static str>> {
    let texts = vec![
        "n < 20",
        "n <> 20 AND n >= 3",
        "n NOT BETWEEN 4 AND 40",
        "n BETWEEN 40 AND 4",
        "n < 2 OR n > 47",
        "body <> 'w0' AND n < 30",
        "id = 7919 OR id = 39595",
        "id > 500000 AND n = 3",
        "id > 500000",
    ];
    prop_oneof![1 => Just(None), 1 => proptest::sample::select(texts).prop_map(Some)]
}

/// Kept pages, shared by all cases, with room for some of them.
fn kept() -> &'static Filters {
    static KEPT: LazyLock<Filters> = LazyLock::new(|| Filters::new(60_000));
    &KEPT
}

fn facts(found: Vec<FoundRow>) -> Vec<(u64, i64, Vec<Value>)> {
    found
        .into_iter()
        .map(|row| (row.id, row.weight, row.keys))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_executor_finds_weighs_and_counts_as_the_slow_one(
        text in query(),
        table in 0..3usize,
        ranker in any_ranker(),
        keep in prop_oneof![Just(None), Just(Some(0)), (1..150u64).prop_map(Some), (1..8u64).prop_map(Some)],
        order in order(),
        filter in filter(),
        keeps in any::<bool>(),
        backwards in any::<bool>(),
    ) {
        let snapshot = &snapshots()[table];
        let order = order.as_slice();
        let filter = filter.map(|filter| (filter, keeps));
        let [fast, slow] = both(snapshot, &text, ranker, keep, order, filter, backwards);
        prop_assert_eq!(fast, slow);
    }

    #[test]
    fn an_or_of_words_keeps_every_row_that_enters(
        words in proptest::collection::vec(0..WORDS, 1..5),
        ranker in proptest::sample::select(vec![Ranker::Bm25a, Ranker::Bm25]),
        keep in 1..60u64,
        filter in filter(),
        keeps in any::<bool>(),
        backwards in any::<bool>(),
        rising in any::<bool>(),
    ) {
        let text: Vec<String> = words.iter().map(|word| format!("w{word}")).collect();
        let filter = filter.map(|filter| (filter, keeps));
        let [fast, slow] = both(&snapshots()[2 * usize::from(rising)], &text.join(" | "), ranker, Some(keep), &[], filter, backwards);
        prop_assert_eq!(fast, slow);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn an_or_weighed_from_most_words_down_keeps_every_row_that_enters(
        words in proptest::collection::vec(0..WORDS, 2..10),
        table in 0..3usize,
        ranker in proptest::sample::select(vec![
            Ranker::Matchany, Ranker::ProximityBm25, Ranker::Proximity, Ranker::Sph04, Ranker::Wordcount, Ranker::Fieldmask,
        ]),
        keep in prop_oneof![1..60u64, 60..2_000u64],
        backwards in any::<bool>(),
    ) {
        let text: Vec<String> = words.iter().map(|word| format!("w{word}")).collect();
        let snapshot = &snapshots()[table];
        let [fast, slow] = both(snapshot, &text.join(" | "), ranker, Some(keep), &[], None, backwards);
        prop_assert_eq!(fast, slow);
    }
}

fn any_ranker() -> impl Strategy<Value = Ranker> {
    proptest::sample::select(Ranker::NAMED.map(|(_, ranker)| ranker).to_vec())
}

/// The total, and id, weight and keys of each row.
type Facts = (u64, Vec<(u64, i64, Vec<Value>)>);

fn select(text: &str, filter: Option<Expression>, order: &[OrderBy], limit: Option<u64>) -> Select {
    Select {
        table: String::new(),
        items: vec![Item::Star],
        matching: Some(text.to_owned()),
        filter,
        order: order.to_vec(),
        limit,
        offset: 0,
        options: Vec::new(),
    }
}

fn options(ranker: Ranker) -> Options {
    Options {
        ranker: Some(ranker),
        ..Options::default()
    }
}

/// The answers of both executors. `filter`: a condition, and whether pages of it may be kept.
fn both(
    snapshot: &Arc<Snapshot>,
    text: &str,
    ranker: Ranker,
    keep: Option<u64>,
    order: &[OrderBy],
    filter: Option<(&str, bool)>,
    backwards: bool,
) -> [Facts; 2] {
    let fields: &[&str] = match snapshot.shape.text_columns() {
        1 => &["body"],
        _ => &["body", "sub"],
    };
    let query = language::parse(text, fields, &snapshot.shape.analyzer).unwrap();
    let keeps = filter.is_some_and(|(_, keeps)| keeps);
    let filter =
        filter.map(|(text, _)| expression::parse(&mut Lexer::new(text.as_bytes())).unwrap());
    let select = select(text, filter, order, None);
    let options = options(ranker);
    let bound = snapshot.bind(&select, &options).unwrap();
    let condition = bound.condition.as_ref();
    let (plan, words) = plan(snapshot, &bound, &query, &Control::default()).unwrap();
    let job = Job {
        snapshot,
        ranked: true,
        plan: Some(plan),
        words,
        candidates: condition.and_then(|condition| {
            Candidates::of(condition, snapshot, &Control::default(), &mut Vec::new()).unwrap()
        }),
        filter: condition.map(|condition| Filter::new(condition, snapshot, keeps.then(kept))),
        order: Arc::clone(&bound.order),
        keep,
        lists: Opened::new(snapshot),
        only: None,
        stops: false,
        in_blocks: false,
    };
    let control = Control::default();
    let slow = job.run_slowly(&query.root, &control).unwrap();
    let (shared, mut ranges) = (Shared::new(&control), job.ranges(false));
    job.raise_first(&shared).unwrap();
    if backwards {
        ranges.reverse();
    }
    // As two threads would: each with its own collector.
    let top = || Gathered::new(Top::new(Arc::clone(&job.order), keep));
    let mut tops = [top(), top()];
    for (at, range) in ranges.iter().enumerate() {
        job.run(range, &shared, &mut tops[at % 2].out()).unwrap();
    }
    for top in &mut tops {
        job.settle(&control, &mut top.out()).unwrap();
    }
    let [mut top, other] = tops.map(|gathered| gathered.collector);
    top.merge(other, &Unmetered);
    let [fast, slow] =
        [top, slow].map(|top| (top.total, facts(top.into_sorted(0, &Unmetered).unwrap())));
    [fast, slow]
}
