//! Groups made from blocks of columns are those of the rows one by one, to the byte, whatever the history, the threads, the shards and
//! segments, and the groups that are made in the same pass.

use std::sync::{Arc, LazyLock};

use disk::{Disk, MemoryDisk};
use index::{
    Control, Error, Interrupt, Located, Memory, Pool, Reason, Snapshot, Table, TableShape,
};
use language::meter::{Meter, Unmetered};
use language::tree::{Node, Query};
use proptest::collection::vec;
use proptest::prelude::*;
use relation::bind::{BoundJoin, JoinColumn, JoinScope};
use relation::expression::{Expression, parse_of_join};
use relation::json::{Json, JsonStep};
use relation::lexer::Lexer;
use relation::options::Options;
use relation::request::{Grouping, Item, JoinedSelect, OrderBy, Output, Select};
use relation::rows::{Answered, BoxedRows, Join, JoinBounds, JoinRows};
use relation::schema::{Column, ColumnType};
use relation::value::Value;

use crate::laws::{Step, apply, node, step};
use crate::model::shape;
use crate::subject::{DIR, Subject, cases, row, select_all, tree};

/// The table of [`shape`] with a column `tags` of sets, and `j` of documents.
fn with_lists(shards: u16) -> TableShape {
    let mut shape = TableShape { shards, ..shape() };
    for (name, kind) in [
        ("tags", ColumnType::Multi { wide: true }),
        ("j", ColumnType::Json),
    ] {
        shape.columns.push(Column {
            name: name.to_owned(),
            kind,
            nullable: true,
            default: None,
            keyed: false,
        });
    }
    shape
}

fn columns() -> BoxedStrategy<Vec<Value>> {
    let body = prop::sample::select(vec!["ant", "bee cat", "cat cat dog", "", "cat fox"]);
    let n = prop_oneof![
        8 => (-3..4i128).prop_map(Value::Int),
        1 => Just(Value::Null),
        1 => Just(Value::Int(i64::MAX.into())),
    ];
    let f = prop_oneof![
        6 => (-4..4i8).prop_map(|f| Value::Float(f64::from(f) / 2.0)),
        1 => prop::sample::select(vec![-0.0, 1e300, 1e-9, f64::NAN]).prop_map(Value::Float),
        1 => Just(Value::Null),
    ];
    let s = prop_oneof![
        6 => prop::sample::select(vec!["a", "A", "b", "", "ab"]).prop_map(|s| Value::Str(s.to_owned())),
        1 => Just(Value::Null),
    ];
    let tags = prop::collection::btree_set(-2..3i64, 0..3);
    let documents = [
        r#"{"k":1}"#,
        r#"{"k":1.0}"#,
        r#"{"k":"x"}"#,
        r#"{"k":[1,2]}"#,
        "{}",
        "7",
    ];
    let weights = [8, 4, 4, 1, 4, 1];
    let documents = prop::sample::select(
        documents
            .iter()
            .zip(weights)
            .flat_map(|(of, times)| vec![*of; times])
            .collect::<Vec<_>>(),
    );
    (body, n, f, s, tags, documents)
        .prop_map(|(body, n, f, s, tags, document)| {
            let mut columns = row(body, 0, "cat", 0.0, "");
            (columns[1], columns[3], columns[4]) = (n, f, s);
            columns.push(Value::Set(tags.into_iter().collect()));
            columns.push(Value::Json(Json::parse(document.as_bytes()).expect("JSON")));
            columns
        })
        .boxed()
}

const KEYS: [&str; 13] = [
    "(n > 0) + (id <= 20) * 2",
    "id MOD n",
    "n * id - 9223372036854775807",
    "n",
    "s",
    "f",
    "id",
    "n + 1",
    "j.k",
    "tags",
    "if(n > 0, s, n)",
    "j",
    "n DIV 2",
];

const AGGREGATES: [&str; 20] = [
    "count(*)",
    "count(n)",
    "count(s)",
    "count(DISTINCT n)",
    "count(DISTINCT s)",
    "count(DISTINCT n, s)",
    "count(DISTINCT tags)",
    "count(DISTINCT j.k)",
    "sum(n)",
    "sum(f)",
    "avg(n)",
    "min(n)",
    "max(n)",
    "min(s)",
    "max(f)",
    "min(j.k)",
    "stddev(f)",
    "variance(n)",
    "max(n * 2 - id)",
    "group_concat(n)",
];

/// A statement, with the tree of its MATCH.
#[derive(Clone, Debug)]
struct Asked {
    select: JoinedSelect,
    root: Option<Node>,
}

fn parsed(text: &str) -> Expression {
    let names = ["posts".to_owned()];
    let parsed = parse_of_join(&mut Lexer::new(text.as_bytes()), &names, &mut |_, _| {
        Ok(None)
    });
    parsed.unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn ordered(keys: &[&str]) -> Vec<OrderBy> {
    let key = |key: &&str| OrderBy {
        key: Output::Expression(parsed(key.trim_end_matches(" DESC"))),
        descending: key.ends_with(" DESC"),
    };
    keys.iter().map(key).collect()
}

fn grouped(items: &[&str], keys: &[&str], filter: Option<&str>) -> JoinedSelect {
    let items = items.iter().map(|item| Item::Value {
        what: Output::Expression(parsed(item)),
        name: (*item).to_owned(),
    });
    let mut select = JoinedSelect::of(Select {
        items: items.collect(),
        filter: filter.map(parsed),
        ..select_all()
    });
    select.grouping = Some(Grouping {
        keys: keys.iter().map(|key| parsed(key)).collect(),
        ..Grouping::default()
    });
    select
}

prop_compose! {
    fn asked()(
        items in prop::sample::subsequence(AGGREGATES[..19].to_vec(), 1..6),
        concat in prop::bool::weighted(0.05),
        keys in prop::sample::subsequence(KEYS.to_vec(), 0..3),
        shown in any::<bool>(),
        order in prop::sample::select(vec![vec![], vec!["count(*) DESC"], vec!["max(n)", "id DESC"]]),
        by_keys in prop::bool::weighted(0.3),
        within in prop::bool::weighted(0.1),
        having in prop::option::weighted(0.2, Just("count(*) > 1")),
        filter in prop::option::weighted(0.4, prop::sample::select(vec!["n >= 0", "s = 'a'", "id < 20", "id IN (3, 5, 7)", "f > 0"])),
        root in prop::option::weighted(0.6, prop_oneof![Just(tree("cat")), Just(tree("cat | fox | ant")), node()]),
        ranker in prop::option::of(prop::sample::select(vec!["bm25a", "none", "sph04", "proximity_bm25"])),
        (offset, limit) in (0..3u64, 0..30u64),
    ) -> Asked {
        let mut items = items;
        items.extend(concat.then_some(AGGREGATES[19]));
        items.extend(if shown { &["id", "s", "n"][..] } else { &[] });
        items.extend((keys.len() == 1).then_some("groupby()"));
        let mut select = grouped(&items, &keys, filter);
        if let Some(grouping) = &mut select.grouping {
            grouping.having = having.map(parsed);
            grouping.within = if within { ordered(&["n DESC"]) } else { Vec::new() };
        }
        select.order = ordered(&order);
        if by_keys {
            let keys: Vec<String> = keys.iter().map(|key| format!("{key} DESC")).collect();
            select.order.extend(ordered(&keys.iter().map(String::as_str).collect::<Vec<_>>()));
        }
        (select.offset, select.limit) = (offset, Some(limit));
        select.options = ranker.map(|ranker| ("ranker".to_owned(), ranker.to_owned())).into_iter().collect();
        Asked { select, root }
    }
}

struct Rows(Located);

impl JoinRows for Rows {
    type Error = Error;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn value(&self, row: u32, column: usize) -> index::Result<Value> {
        self.0.value(row as usize, column)
    }

    fn value_at(&self, row: u32, column: usize, path: &[JsonStep]) -> index::Result<Value> {
        self.0.value_at(row as usize, column, path)
    }
}

struct Bounds(Arc<Memory>);

impl JoinBounds for Bounds {
    type Error = Error;

    fn take(&self, bytes: u64) -> index::Result<()> {
        self.0.take(bytes)
    }

    fn take_row(&self, bytes: u64) -> index::Result<()> {
        self.0.take_row(bytes)
    }

    fn check(&self) -> index::Result<()> {
        Ok(())
    }

    fn meter(&self) -> &dyn Meter {
        &Unmetered
    }
}

/// How the groups of a statement are made.
enum Way<'a> {
    /// One row after the other.
    Rows,
    /// In blocks, in one pass with the groups of other statements.
    Blocks(&'a [Asked]),
}

/// A statement bound to the table.
fn bound(snapshot: &Snapshot, shape: &TableShape, asked: &Asked) -> BoundJoin {
    let columns = shape.columns.iter().map(|of| (of.name.clone(), of.kind));
    let columns = std::iter::once(("id".to_owned(), ColumnType::Bigint)).chain(columns);
    let scope = JoinScope {
        name: "posts",
        columns: columns
            .map(|(name, kind)| JoinColumn { name, kind })
            .collect(),
        starred: 1 + shape.columns.len(),
        has_id: true,
        rows: snapshot.count(),
        is_searched: asked.root.is_some(),
        is_standing: false,
    };
    BoundJoin::new(&asked.select, &[scope]).expect("a SELECT of this table")
}

/// What a statement gives; `None`: its groups are not made in blocks.
fn answer(
    snapshot: &Arc<Snapshot>,
    shape: &TableShape,
    asked: &Asked,
    control: &Control,
    way: Way<'_>,
) -> index::Result<Option<String>> {
    let own = bound(snapshot, shape, asked);
    let select = Select {
        items: Vec::new(),
        matching: asked.root.as_ref().map(|_| String::new()),
        filter: own.steps[0].own.clone(),
        ..select_all()
    };
    let query = asked.root.clone().map(|root| Query {
        root,
        warnings: Vec::new(),
    });
    let options = Options::parse(&asked.select.options).expect("options");
    let of_rows = snapshot
        .bind(&select, &options)
        .expect("a SELECT of this table");
    let mut join = Join::new(&own, Arc::new(Bounds(Arc::clone(&control.memory))));
    let joined = match way {
        Way::Rows => {
            let found = snapshot.search(&of_rows, query.as_ref(), control)?;
            let located = found.rows.located(shape.columns.len()).expect("rows");
            join.step(&own.steps[0], Arc::new(Rows(located)) as BoxedRows<Error>)?;
            join.answer(&own)?
        }
        Way::Blocks(beside) => {
            let beside = beside.iter().map(|other| bound(snapshot, shape, other));
            let mut groupings: Vec<_> = beside.map(|it| it.groups.expect("groups")).collect();
            groupings.push(own.groups.clone().expect("groups"));
            let mut made = snapshot.group(&of_rows, query.as_ref(), &groupings, control)?;
            assert_eq!(made.len(), groupings.len());
            let Some(made) = made.pop().flatten() else {
                return Ok(None);
            };
            let rows = Arc::new(Rows(made.rows)) as BoxedRows<Error>;
            join.step(&own.steps[0], rows)?;
            join.answer_blocks(&own, made.made)?
        }
    };
    match joined.rows {
        Answered::Ready(rows) => Ok(Some(format!("{} {rows:?}", joined.total))),
        Answered::Reading(_) => panic!("no groups"),
    }
}

/// Threads that help with every statement, however small.
fn helped() -> Control {
    static POOL: LazyLock<Arc<Pool>> = LazyLock::new(|| Arc::new(Pool::new(3).expect("threads")));
    Control {
        pool: Some(Arc::clone(&POOL)),
        helped_from: 0,
        ..Control::default()
    }
}

/// Checks statements. Gives how many were taken in blocks.
#[track_caller]
fn check(subject: &mut Subject, all: &[Asked]) -> usize {
    let snapshot = subject.table.snapshot();
    let shape = &subject.model.shape;
    let mut taken = 0;
    for asked in all {
        let by_row = answer(&snapshot, shape, asked, &Control::default(), Way::Rows).expect("rows");
        for control in [Control::default(), helped()] {
            let way = Way::Blocks(&all[..all.len().min(2)]);
            let blocks = answer(&snapshot, shape, asked, &control, way).expect("groups");
            if blocks.is_some() {
                taken += 1;
                assert_eq!(blocks, by_row, "{asked:?}");
            }
        }
    }
    taken
}

/// A table of the same rows, split in another way: by ids into shards, and into segments of `segment` rows; 0: none is sealed.
fn split(of: &Subject, shards: u16, segment: usize) -> Subject {
    let mut other = Subject::with_shape(Arc::new(MemoryDisk::new()), with_lists(shards));
    for (at, (id, row)) in (1..).zip(of.model.rows()) {
        other.insert(id, row.clone());
        if segment > 0 && at % segment == 0 {
            other.seal();
        }
    }
    other
}

/// Checks that tables of the same rows give the same groups, in blocks and row by row, on one thread and on several.
#[track_caller]
fn check_splits(subject: &mut Subject, all: &[Asked], ways: &[(u16, usize)]) {
    let wanted = subject.table.snapshot();
    for (shards, segment) in ways {
        let mut other = split(subject, *shards, *segment);
        let (given, shape) = (other.table.snapshot(), &other.model.shape);
        for asked in all {
            let of = |snapshot, control: &Control, way| {
                answer(snapshot, shape, asked, control, way).expect("groups")
            };
            let by_row = of(&wanted, &Control::default(), Way::Rows);
            assert_eq!(of(&given, &helped(), Way::Rows), by_row, "{asked:?}");
            let beside = Way::Blocks(&all[..all.len().min(2)]);
            let blocks = of(&given, &helped(), beside);
            assert!(
                blocks.is_none() || blocks == by_row,
                "{asked:?} {blocks:?} {by_row:?}"
            );
        }
    }
}

proptest! {
    #![proptest_config(cases(160))]

    #[test]
    fn groups_are_those_of_the_rows_whatever_the_history(
        steps in vec(step(columns), 1..70),
        shards in prop_oneof![3 => Just(1u16), 1 => Just(4)],
        asked in vec(asked(), 8),
        ways in vec((prop::sample::select(vec![1u16, 2, 5]), 0..9usize), 2),
    ) {
        let mut subject = Subject::with_shape(Arc::new(MemoryDisk::new()), with_lists(shards));
        for step in &steps {
            apply(&mut subject, step, &[]);
            if matches!(step, Step::Check) {
                check(&mut subject, &asked);
            }
        }
        check(&mut subject, &asked);
        subject.seal();
        check(&mut subject, &asked);
        check_splits(&mut subject, &asked, &ways);
        subject.optimize();
        check(&mut subject, &asked);
    }
}

/// Rows of [`large`].
const ROWS: u64 = 70_000;

/// A segment of two pages, a small one whose list of texts is as long and has others, one with a shorter list, and a tail; some
/// values were changed and some rows deleted since.
fn large() -> (MemoryDisk, Subject) {
    let disk = MemoryDisk::new();
    let mut subject = Subject::with_shape(Arc::new(disk.clone()), with_lists(1));
    let insert = |subject: &mut Subject, id: u64, texts: [&str; 3]| {
        let body = if id.is_multiple_of(3) {
            "cat"
        } else {
            "cat dog"
        };
        let n = (id * 2_654_435_761 % 1_000).cast_signed();
        let mut columns = row(body, n, "", (id % 7) as f32 / 4.0, texts[id as usize % 3]);
        columns.push(Value::Set([n % 5].into()));
        columns.push(Value::Json(Json::parse(b"{}").expect("JSON")));
        subject.insert(id, columns);
    };
    (1..=ROWS).for_each(|id| insert(&mut subject, id, ["x", "X", "y"]));
    subject.seal();
    (ROWS + 1..ROWS + 200).for_each(|id| insert(&mut subject, id, ["p", "Y", "x"]));
    subject.seal();
    (ROWS + 200..ROWS + 220).for_each(|id| insert(&mut subject, id, ["x"; 3]));
    subject.seal();
    (ROWS + 220..ROWS + 500).for_each(|id| insert(&mut subject, id, ["x", "X", "y"]));
    for id in (1..ROWS).step_by(977) {
        subject.change(id, vec![(1, Value::Int(i128::from(id) - 5_000))]);
        subject.delete(id + 1);
    }
    (disk, subject)
}

fn ask(items: &[&str], keys: &[&str], root: Option<&str>) -> Asked {
    let mut select = grouped(items, keys, None);
    select.limit = Some(100_000);
    let root = root.map(tree);
    Asked { select, root }
}

#[test]
fn groups_of_many_pages_are_those_of_the_rows() {
    let (_, mut subject) = large();
    let numbers = [
        "count(*)", "sum(n)", "avg(n)", "min(n)", "max(n)", "id", "n",
    ];
    let all = [
        ask(&numbers, &["n"], None),
        ask(&numbers, &["n"], Some("dog")),
        ask(
            &["count(DISTINCT n)", "count(DISTINCT id)"],
            &[],
            Some("cat"),
        ),
        ask(
            &["count(DISTINCT n)", "count(DISTINCT s)", "min(s)", "s"],
            &["f", "n MOD 10"],
            Some("dog | cat"),
        ),
        ask(
            &["sum(f)", "stddev(n)", "count(DISTINCT tags)"],
            &["s"],
            None,
        ),
        ask(&["count(s)", "s"], &["s"], Some("cat")),
        ask(&["count(*)"], &["id"], None),
    ];
    assert_eq!(check(&mut subject, &all), 2 * all.len());
    // A set, and a document without a list.
    let of_lists = [
        ask(&["count(*)", "sum(n)", "groupby()"], &["tags"], Some("dog")),
        ask(&["count(DISTINCT n)", "max(s)"], &["tags", "j", "s"], None),
    ];
    assert_eq!(check(&mut subject, &of_lists), 2 * of_lists.len());
}

#[test]
fn groups_end_where_their_memory_does_and_when_they_are_stopped() {
    let (_, mut subject) = large();
    let (snapshot, shape) = (subject.table.snapshot(), &subject.model.shape);
    for asked in [
        ask(&["count(DISTINCT id)"], &[], None),
        ask(&["count(*)"], &["id"], Some("cat")),
    ] {
        let control = Control {
            memory: Arc::new(Memory::new(1 << 20)),
            ..helped()
        };
        let refused = answer(&snapshot, shape, &asked, &control, Way::Blocks(&[]));
        assert!(
            matches!(refused, Err(Error::SearchMemory { .. })),
            "{refused:?}"
        );
        for reason in [Reason::Time, Reason::Killed] {
            let interrupt = Arc::new(Interrupt::default());
            interrupt.stop(reason);
            let control = Control {
                interrupt,
                ..helped()
            };
            let stopped = answer(&snapshot, shape, &asked, &control, Way::Blocks(&[]));
            assert!(matches!(stopped, Err(Error::Interrupted { reason: why }) if why == reason));
        }
    }
}

#[test]
fn wide_texts_take_memory_only_where_a_group_keeps_them() {
    const WIDE: usize = 3 << 20;
    let mut subject = Subject::with_shape(Arc::new(MemoryDisk::new()), with_lists(1));
    for (id, last) in (1..).zip(["a", "a", "b", "A", "c"]) {
        let mut columns = row(&"ant ".repeat(WIDE / 4), 0, "", 0.0, "");
        columns[4] = Value::Str("x".repeat(WIDE) + last);
        columns.extend([Value::Null, Value::Null]);
        subject.insert(id, columns);
        if id == 3 {
            subject.seal();
        }
    }
    let (snapshot, shape) = (subject.table.snapshot(), &subject.model.shape);
    for (items, keys, kept) in [
        (&["count(*)"][..], &["s"][..], 0),
        (&["count(*)", "count(body)"], &["s", "body"], 0),
        (&["count(DISTINCT s)", "count(DISTINCT s, body)"], &[], 0),
        // The text of the state, and that of the answer.
        (&["min(s)"], &[], 2),
        (&["count(*)"], &["concat(s, 1)"], 0),
    ] {
        let asked = ask(items, keys, None);
        let within = |bytes: usize| {
            let control = Control {
                memory: Arc::new(Memory::new(bytes as u64)),
                ..Control::default()
            };
            answer(&snapshot, shape, &asked, &control, Way::Blocks(&[]))
        };
        let made = within((1 << 20) + kept * WIDE).expect("memory");
        let control = Control::default();
        let slow = answer(&snapshot, shape, &asked, &control, Way::Rows).expect("rows");
        assert!(made.is_some() && made == slow, "{items:?} by {keys:?}");
        if kept > 0 {
            let refused = within(kept * WIDE - 1);
            assert!(matches!(refused, Err(Error::SearchMemory { .. })));
        }
    }
}

#[test]
fn a_damaged_segment_makes_groups_refuse_and_never_lie() {
    let (disk, mut subject) = large();
    subject.seal(); // nothing is left to be replayed
    let all = [
        ask(&["count(*)", "sum(n)", "id"], &["n"], Some("dog")),
        ask(&["count(DISTINCT n)", "max(s)"], &["f"], None),
    ];
    let snapshot = subject.table.snapshot();
    let shape = subject.model.shape.clone();
    let whole: Vec<_> = all
        .iter()
        .map(|asked| answer(&snapshot, &shape, asked, &helped(), Way::Blocks(&[])))
        .collect();
    let path = format!("{DIR}/{}/rows", subject.manifest.segments[0].directory);
    let file = disk.open(&path).expect("a file");
    let length = file.len().expect("a length");
    let (mut refused, mut answered) = (0, 0);
    for at in (0..length).step_by(length as usize / 23) {
        let mut byte = [0];
        file.read_at(at, &mut byte).expect("a byte");
        file.write_at(at, &[!byte[0]]).expect("a byte");
        let copy: Arc<dyn Disk> = Arc::new(disk.clone());
        let opened = Table::open(copy, DIR, shape.clone(), &subject.manifest);
        let snapshot = opened.expect("a table").snapshot();
        for (asked, whole) in all.iter().zip(&whole) {
            match answer(&snapshot, &shape, asked, &helped(), Way::Blocks(&[])) {
                Err(Error::Corrupt { .. }) => refused += 1,
                given => {
                    assert_eq!(given.ok(), whole.as_ref().ok().cloned(), "byte {at}");
                    answered += 1;
                }
            }
        }
        file.write_at(at, &byte).expect("a byte");
    }
    assert!(refused > 5 && answered > 5, "{refused} {answered}");
}
