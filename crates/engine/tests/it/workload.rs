//! Random commands for the model's schema, and the comparison of the engine's replies with the model's.

use engine::{Change, ColumnPlace, Command, Error, Reply, SessionId, Write};
use proptest::prelude::*;
use relation::expression::{BinaryOperator, Expression};
use relation::request::{Assignment, Delete, Insert, Known, Update, inserted_name};
use relation::schema::{Column, ColumnType, TypeSystem};
use relation::value::Value;

use crate::driver::{Driver, until};
use crate::model::{QUEUES, SCHEMA, SEARCHES, STANDING};
use crate::scripts::show;
use crate::statement::{Statement, command, many, options_of, parse};

pub type Asked = (u64, Command);

const WORDS: [&str; 5] = ["cat", "dog", "star", "wars", "mouse"];
const QUERIES: [&str; 10] = [
    "cat",
    "dog",
    "cat dog",
    "cat -dog",
    "star | wars",
    "\"star wars\"",
    "mouse -(cat | dog)",
    "\"wars star\" | mouse",
    "cat \"dog",
    "",
];

/// Conditions on what all documents have; the last one is refused.
const FILTERS: [&str; 8] = [
    "",
    "",
    "",
    "n > 2",
    "n IN (1, 3)",
    "id < 6 AND n <> 0",
    "body = 'Cat'",
    "colour = 1",
];

/// A few words.
pub fn body() -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(&WORDS[..]), 0..6)
        .prop_map(|words| words.join(" "))
}

/// 0: to be assigned.
fn id() -> impl Strategy<Value = Value> {
    prop_oneof![2 => 1..12i128, 1 => Just(0)].prop_map(Value::Int)
}

pub fn insert(table: &str, columns: &[&str], rows: Vec<Vec<Value>>, replace: bool) -> Command {
    Command::Write(Write::Insert(Insert {
        table: table.to_owned(),
        columns: Some(columns.iter().map(|&column| column.to_owned()).collect()),
        rows,
        replace,
    }))
}

fn delete(table: &str, matching: Option<&str>, filter: Option<Expression>) -> Command {
    Command::Write(Write::Delete(Box::new(Delete {
        table: table.to_owned(),
        matching: matching.map(str::to_owned),
        filter,
        limit: None,
        order: Vec::new(),
    })))
}

/// `UPDATE … SET n = n + …`; or to a value that no row can hold.
fn update(table: &str, matching: Option<&str>, filter: Option<Expression>, n: i128) -> Command {
    let column = Expression::Column("n".to_owned());
    let n = Expression::Literal(Value::Int(n));
    let sum = Expression::Binary(BinaryOperator::Add, Box::new(column), Box::new(n));
    Command::Write(Write::Update(Box::new(Update {
        table: table.to_owned(),
        set: vec![Assignment {
            column: "n".to_owned(),
            path: Vec::new(),
            value: sum,
        }],
        matching: matching.map(str::to_owned),
        filter,
        order: Vec::new(),
        options: Default::default(),
        limit: None,
    })))
}

fn compare(column: &str, operator: BinaryOperator, value: i128) -> Expression {
    Expression::Binary(
        operator,
        Box::new(Expression::Column(column.to_owned())),
        Box::new(Expression::Literal(Value::Int(value))),
    )
}

fn filter(column: &'static str) -> impl Strategy<Value = Option<Expression>> {
    prop_oneof![
        4 => (1..12i128).prop_map(move |id| Some(compare(column, BinaryOperator::Equal, id))),
        1 => proptest::collection::vec(1..12i128, 1..4).prop_map(move |ids| Some(Expression::In {
            needle: Box::new(Expression::Column(column.to_owned())),
            negated: false,
            list: ids.into_iter().map(Value::Int).collect(),
        })),
        1 => (0..12i128).prop_map(move |id| Some(compare(column, BinaryOperator::Less, id))),
    ]
}

/// An INSERT, UPDATE or DELETE.
fn write() -> impl Strategy<Value = Command> {
    let n = prop_oneof![20 => 0..5i128, 1 => Just(5_000_000_000)];
    let post =
        (id(), body(), n).prop_map(|(id, body, n)| vec![id, Value::Str(body), Value::Int(n)]);
    let query = (
        id(),
        proptest::sample::select(&QUERIES[..]),
        proptest::sample::select(&FILTERS[..]),
    );
    let query = query.prop_map(|(id, text, filters)| {
        vec![
            id,
            Value::Str(text.to_owned()),
            Value::Str(filters.to_owned()),
        ]
    });
    let standing = || proptest::sample::select(&STANDING[..]);
    let job = (1..12i128).prop_map(|id| vec![Value::Int(id)]);
    prop_oneof![
        6 => (proptest::sample::select(&["posts", "posts", "news"][..]), proptest::collection::vec(post, 1..4), any::<bool>())
            .prop_map(|(table, rows, replace)| insert(table, &["id", "body", "n"], rows, replace)),
        5 => (standing(), proptest::collection::vec(query, 1..3), any::<bool>())
            .prop_map(|(table, rows, replace)| insert(table, &["id", "query", "filters"], rows, replace)),
        3 => proptest::collection::vec(job, 1..4).prop_map(|rows| insert("jobs", &["id"], rows, false)),
        2 => (filter("id"), 0..3i128).prop_map(|(filter, n)| update("posts", None, filter, n)),
        2 => (filter("n"), 1..3i128).prop_map(|(filter, n)| update("news", None, filter, n)),
        1 => (proptest::sample::select(&QUERIES[..8]), filter("n"))
            .prop_map(|(text, filter)| update("posts", Some(text), filter, -1)),
        1 => filter("id").prop_map(|filter| update("log", None, filter, 5_000_000_000)),
        2 => filter("id").prop_map(|filter| delete("posts", None, filter)),
        1 => filter("n").prop_map(|filter| delete("posts", None, filter)),
        1 => (proptest::sample::select(&QUERIES[..8]), filter("id"))
            .prop_map(|(text, filter)| delete("posts", Some(text), filter)),
        1 => (standing(), filter("id")).prop_map(|(table, filter)| delete(table, None, filter)),
        1 => filter("hits").prop_map(|filter| delete("alerts", None, filter)),
        1 => filter("id").prop_map(|filter| delete("log", None, filter)),
        1 => filter("id").prop_map(|filter| delete("jobs", None, filter)),
        3 => upsert(),
    ]
}

/// INSERT IGNORE, or INSERT … ON DUPLICATE KEY UPDATE n = n + VALUES(n).
fn upsert() -> impl Strategy<Value = Command> {
    let n = prop_oneof![20 => 0..5i128, 1 => Just(4_294_967_295)];
    let row = (id(), body(), n);
    let row = row.prop_map(|(id, body, n)| vec![id, Value::Str(body), Value::Int(n)]);
    let table = proptest::sample::select(&["posts", "news"][..]);
    let rows = proptest::collection::vec(row, 1..5);
    (table, rows, any::<bool>()).prop_map(|(table, rows, ignores)| match ignores {
        true => upserted(table, rows, Known::Ignore),
        false => upserted(table, rows, adds_n()),
    })
}

/// ON DUPLICATE KEY UPDATE n = n + VALUES(n)
pub fn adds_n() -> Known {
    let column = |name: String| Box::new(Expression::Column(name));
    let (n, given) = (column("n".to_owned()), column(inserted_name("n")));
    Known::Update(vec![Assignment {
        column: "n".to_owned(),
        path: Vec::new(),
        value: Expression::Binary(BinaryOperator::Add, n, given),
    }])
}

/// An INSERT of rows of id, body and n.
pub fn upserted(table: &str, rows: Vec<Vec<Value>>, known: Known) -> Command {
    match insert(table, &["id", "body", "n"], rows, false) {
        Command::Write(Write::Insert(insert)) => Command::Write(Write::Upsert { insert, known }),
        other => panic!("{other:?}"),
    }
}

/// ALTER TABLE: adds or drops a column of `posts`, makes or drops the index of a KEY, or changes a type, which is refused.
fn alter() -> impl Strategy<Value = Command> {
    let column = |name: &str, words: &str| Column {
        name: name.to_owned(),
        kind: ColumnType::parse(words, &[], false, TypeSystem::Search).unwrap(),
        nullable: false,
        default: None,
        keyed: false,
    };
    let alter = |table: &str, change| Command::AlterTable {
        table: table.to_owned(),
        changes: vec![change],
    };
    let (more, n) = (column("more", "int"), column("n", "bigint"));
    let add = Change::Add {
        column: more,
        place: ColumnPlace::Last,
    };
    let drop = Change::Drop {
        name: "more".to_owned(),
    };
    let tables = || proptest::sample::select(&["posts", "news"][..]);
    let widen = Change::Modify { column: n };
    prop_oneof![
        2 => Just(alter("posts", add)),
        2 => Just(alter("posts", drop)),
        2 => (tables(), any::<bool>()).prop_map(move |(table, keyed)| {
            alter(table, Change::Key { name: "n".to_owned(), keyed })
        }),
        1 => tables().prop_map(move |table| alter(table, widen.clone())),
    ]
}

/// Any command of the model, with its session.
pub fn asked() -> impl Strategy<Value = Asked> {
    let queue = || proptest::sample::select(&QUEUES[..]);
    let command = prop_oneof![
        10 => write(),
        2 => proptest::collection::vec(write(), 1..5).prop_map(many),
        4 => queue().prop_map(|table| Command::QueueWait { sources: vec![engine::WaitSource::all(table)], timeout_us: 0 }),
        1 => Just(Command::QueueEnd),
        1 => Just(Command::QueueAbort),
        1 => Just(Command::SessionClosed),
        1 => Just(Command::Checkpoint),
        1 => alter(),
    ];
    (1..4u64, command)
}

/// Rows of a tail that make a segment: more than a case inserts, a few, or one.
pub fn seal_rows() -> impl Strategy<Value = u32> {
    prop_oneof![Just(1000u32), Just(3), Just(1)]
}

/// How much of its work a long test does: `SEINE_TEST_TIMES`, which is 1 at a desk and 4 in CI.
pub fn times() -> u32 {
    let times = std::env::var("SEINE_TEST_TIMES");
    times.map_or(1, |times| times.parse().unwrap())
}

/// A quarter of `count` random cases, [`times`] as many.
pub fn cases(count: u32) -> ProptestConfig {
    ProptestConfig {
        cases: (count * times()).div_ceil(4),
        max_shrink_iters: 2000,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// The step between the places that a test tries: four times `most`, divided by [`times`].
pub fn every(most: usize) -> usize {
    (4 * most / times() as usize).max(1)
}

pub fn create_schema(driver: &mut Driver) {
    for line in SCHEMA {
        driver.run(command(line)).unwrap();
    }
}

/// The answer as the model words it.
pub fn worded(outcome: Result<Reply, Error>) -> String {
    show(outcome).join("\n")
}

/// Commands and their answers. An ALTER stands alone, since the commands behind it do not wait for its end; the others are one
/// batch up to the next ALTER. An UPDATE that comes first is worked out by a reader.
pub fn play(driver: &mut Driver, commands: &[Asked]) -> Vec<Result<Reply, Error>> {
    let is_alter = |(_, command): &Asked| matches!(command, Command::AlterTable { .. });
    let batches = commands.chunk_by(|one, next| !is_alter(one) && !is_alter(next));
    batches
        .flat_map(|batch| play_batch(driver, batch))
        .collect()
}

fn play_batch(driver: &mut Driver, batch: &[Asked]) -> Vec<Result<Reply, Error>> {
    let commands = batch
        .iter()
        .map(|(session, command)| (SessionId(*session), command.clone()));
    let commands: Vec<(SessionId, Command)> = commands.collect();
    let pending = driver.batch(commands);
    let answers = pending.into_iter();
    let answers = answers.map(|answer| match answer.take() {
        Some(answer) => answer,
        None => until("the ALTER is answered", || {
            driver.tick(1);
            answer.take()
        }),
    });
    answers.collect()
}

/// Everything that a fresh session sees. Reads through both doors: snapshots and the engine's thread.
pub fn dump(driver: &mut Driver) -> Vec<String> {
    let mut lines = Vec::new();
    for table in SEARCHES {
        let more = if table == "log" {
            ", query_id, doc_id"
        } else {
            ""
        };
        let line = format!("select id, body, n{more} from {table} order by id limit 1000000");
        let Statement::Select(mut select) = parse(&line) else {
            panic!("no select")
        };
        let all = ("max_matches".to_owned(), "1000000".to_owned());
        select.options.push(all);
        let answer = driver
            .handle
            .snapshot()
            .select(&select, &options_of(&select), &engine::Control::default())
            .unwrap();
        let shown = crate::scripts::show_answer(answer).unwrap();
        lines.extend(
            shown
                .into_iter()
                .skip(1)
                .map(|row| format!("{table} {row}")),
        );
    }
    let standing = STANDING.map(|table| (table, "id, query, filters, hits"));
    let queues = QUEUES.map(|table| (table, "*"));
    for (table, columns) in standing.into_iter().chain(queues) {
        let read = command(&format!("read {columns} from {table}"));
        let answer = driver.ask(u64::MAX, read).take().unwrap();
        lines.extend(
            show(answer)
                .into_iter()
                .skip(1)
                .map(|row| format!("{table} {row}")),
        );
    }
    lines
}
