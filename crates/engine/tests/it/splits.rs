//! Promise 2: over any number of shards, segments, batches and threads, after any seals, merges and restarts, the same history gives
//! the same reply, to the byte.

use std::collections::BTreeSet;
use std::sync::Arc;

use disk::MemoryDisk;
use engine::{
    Answer, Background, Change, ColumnPlace, Command, Control, Definition, Error, Kind, Now,
    Options, Pool, Reply, SearchOptions,
};
use proptest::collection::vec;
use proptest::prelude::*;
use relation::options::Ranker;
use relation::schema::Column;

use crate::driver::{Driver, options};
use crate::statement::{Statement, command, options_of, parse};
use crate::workload::{cases, play};

const WORDS: [&str; 8] = ["ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen"];

/// One statement of a history.
#[derive(Clone, Debug)]
enum Step {
    /// Rows of these ids; those that are there are replaced.
    Replace(Vec<(u64, String, String, i64)>),
    Delete(Vec<u64>),
    DeleteFound(&'static str),
    /// A condition, and what is added to `n`.
    Update(&'static str, i64),
    Truncate,
    /// ALTER TABLE: adds the column at this place of [`MORE`], or drops it where the table has it.
    Alter(usize),
    /// ALTER TABLE … MODIFY n bigint.
    Widen,
}

/// Columns that ALTER adds and drops; REPLACE gives `extra` the words of `body`.
const MORE: [&str; 3] = [
    "extra text",
    "k int default 3",
    "s string default 'ant' key",
];

/// How the same history may be run.
#[derive(Clone, Debug)]
struct Way {
    shards: u16,
    /// Rows of a tail that make a segment: with 1, a seal follows every statement.
    seal_rows: u32,
    /// Seals and merges run beside the statements that follow, so rows are deleted while they are sealed.
    beside: bool,
    batch: usize,
    /// Batches between two restarts; 0: none.
    restart: usize,
    threads: usize,
}

const PLAIN: Way = Way {
    shards: 1,
    seal_rows: 1_000_000,
    beside: false,
    batch: 1,
    restart: 0,
    threads: 1,
};

fn text() -> impl Strategy<Value = String> {
    let word = prop_oneof![4 => 0..3usize, 1 => 3..WORDS.len()];
    vec(word.prop_map(|at| WORDS[at]), 0..9).prop_map(|words| words.join(" "))
}

fn step() -> impl Strategy<Value = Step> {
    let row = (1..30u64, text(), text(), -2..3i64);
    prop_oneof![
        8 => vec(row, 1..5).prop_map(Step::Replace),
        3 => vec(1..30u64, 1..4).prop_map(Step::Delete),
        1 => prop::sample::select(vec!["fox", "\"ant bee\"", "eel gnu"]).prop_map(Step::DeleteFound),
        2 => (
            prop::sample::select(vec![
                "where n > 0", "where id < 9", "match 'ant'", "match 'bee' where n < 1", "where id in (3, 4, 5)",
            ]),
            -2..3i64,
        )
            .prop_map(|(rows, n)| Step::Update(rows, n)),
        1 => Just(Step::Truncate),
        3 => (0..MORE.len()).prop_map(Step::Alter),
        1 => Just(Step::Widen),
    ]
}

fn way() -> impl Strategy<Value = Way> {
    let seal_rows = prop::sample::select(vec![1, 2, 5, 1_000]);
    let shape = (1..8u16, seal_rows, any::<bool>());
    (shape, 1..5usize, 0..4usize, 1..4usize).prop_map(
        |((shards, seal_rows, beside), batch, restart, threads)| Way {
            shards,
            seal_rows,
            beside,
            batch,
            restart,
            threads,
        },
    )
}

/// The text of a query behind FROM, and a ranker.
fn asked() -> impl Strategy<Value = (String, &'static str)> {
    let word = || prop::sample::select(WORDS.to_vec());
    let query = prop_oneof![
        vec(word(), 1..4).prop_map(|words| words.join(" | ")),
        vec(word(), 1..4).prop_map(|words| words.join(" ")),
        vec(word(), 2..4).prop_map(|words| format!("\"{}\"", words.join(" "))),
        vec(word(), 3..5).prop_map(|words| format!("\"{}\"/2", words.join(" "))),
        (word(), word()).prop_map(|(one, other)| format!("{one} -{other}")),
        (word(), word()).prop_map(|(one, other)| format!("@title {one} | {other}")),
        (word(), word()).prop_map(|(one, other)| format!("{one} NEAR/2 {other}")),
    ];
    let rest = prop::sample::select(vec![
        "limit 100",
        "limit 3",
        "limit 3 offset 2",
        "where n > 0 limit 10",
        "order by n limit 6",
        "order by n desc limit 100",
        "order by id desc limit 7",
        "where s = 'ant' limit 10",
        "where k > n limit 10",
    ]);
    let ranker = prop::sample::select(Ranker::NAMED.map(|(name, _)| name).to_vec());
    let line = (query, rest).prop_map(|(query, rest)| format!("match '{query}' {rest}"));
    (line, ranker)
}

/// The column of a definition in the words of CREATE TABLE.
fn column(words: &str) -> Column {
    match command(&format!("create search t ({words})")) {
        Command::CreateTable { definition, .. } => definition.columns[0].clone(),
        other => panic!("{other:?}"),
    }
}

/// The commands of a step. `more`: the columns of [`MORE`] that the table has.
fn commands(step: &Step, more: &mut BTreeSet<usize>) -> Vec<Command> {
    let alter = |change| {
        let (table, changes) = ("posts".to_owned(), vec![change]);
        vec![Command::AlterTable { table, changes }]
    };
    let each = |ids: &[u64]| -> Vec<Command> {
        let delete = |id: &u64| command(&format!("delete posts where id = {id}"));
        ids.iter().map(delete).collect()
    };
    match step {
        Step::Replace(rows) => {
            let mut seen = BTreeSet::new();
            let rows = rows.iter().filter(|(id, ..)| seen.insert(*id));
            let has_extra = more.contains(&0);
            let row = |(id, title, body, n): &(u64, String, String, i64)| match has_extra {
                true => format!("({id}, '{title}', '{body}', {n}, '{body}')"),
                false => format!("({id}, '{title}', '{body}', {n})"),
            };
            let rows: Vec<String> = rows.map(row).collect();
            let extra = if has_extra { ", extra" } else { "" };
            let line = format!(
                "replace posts (id, title, body, n{extra}) values {}",
                rows.join(", ")
            );
            vec![command(&line)]
        }
        Step::Delete(ids) => each(ids),
        Step::DeleteFound(query) => vec![command(&format!("delete posts match '{query}'"))],
        Step::Update(rows, n) => vec![command(&format!("update posts set n = n + {n} {rows}"))],
        Step::Truncate => vec![command("delete posts")],
        Step::Alter(place) => {
            let column = column(MORE[*place]);
            alter(match more.insert(*place) {
                true => Change::Add {
                    column,
                    place: ColumnPlace::Last,
                },
                false => {
                    more.remove(place);
                    Change::Drop { name: column.name }
                }
            })
        }
        Step::Widen => alter(Change::Modify {
            column: column("n bigint"),
        }),
    }
}

fn open(way: &Way) -> Driver {
    let options = Options {
        seal_rows: way.seal_rows,
        background: match way.beside {
            true => Background::Threads,
            false => Background::Inline,
        },
        ..options(Arc::new(MemoryDisk::new()))
    };
    let mut driver = Driver::open(options, Now::default()).unwrap();
    let Command::CreateTable { definition, .. } =
        command("create search posts (title text, body text, n int)")
    else {
        panic!("no table")
    };
    let shards = Some(way.shards);
    let definition = Box::new(Definition {
        kind: Kind::Search(SearchOptions {
            shards,
            ..SearchOptions::default()
        }),
        ..*definition
    });
    let create = Command::CreateTable {
        definition,
        if_not_exists: false,
    };
    driver.run(create).unwrap();
    driver
}

/// Everything that a reply holds, as text.
fn encoded(answer: Answer) -> String {
    let (columns, total, partial) = (answer.columns, answer.total_found, answer.partial);
    let (keywords, warnings) = (answer.keywords, answer.warnings);
    let rows: Vec<_> = answer.rows.map(|row| row.unwrap()).collect();
    format!("{columns:?} {total} {partial:?} {keywords:?} {warnings:?}\n{rows:?}")
}

fn replies(driver: &Driver, pool: &Arc<Pool>, asked: &[(String, &str)]) -> Vec<String> {
    let snapshot = driver.handle.snapshot();
    let reply = |(line, ranker): &(String, &str)| {
        let line = format!("select *, weight from posts {line}");
        let Statement::Select(mut select) = parse(&line) else {
            panic!("no select")
        };
        let ranker = ("ranker".to_owned(), (*ranker).to_owned());
        select.options.push(ranker);
        let control = Control {
            pool: Some(Arc::clone(pool)),
            helped_from: 0,
            ..Control::default()
        };
        match snapshot.select(&select, &options_of(&select), &control) {
            Ok(answer) => encoded(answer),
            Err(error @ Error::UnknownColumn { .. }) => error.to_string(), // one of MORE
            Err(error) => panic!("{line}: {error}"),
        }
    };
    asked.iter().map(reply).collect()
}

/// The replies after each step, and after a restart at the end.
fn run(steps: &[Step], way: &Way, asked: &[(String, &str)]) -> Vec<Vec<String>> {
    let mut driver = open(way);
    let pool = Arc::new(Pool::new(way.threads).unwrap());
    let (mut all, mut more) = (Vec::new(), BTreeSet::new());
    for (number, batch) in steps.chunks(way.batch).enumerate() {
        let commands = batch.iter().flat_map(|step| commands(step, &mut more));
        let commands: Vec<_> = commands.map(|command| (1, command)).collect();
        for answer in play(&mut driver, &commands) {
            assert!(matches!(answer, Ok(Reply::Done { .. })), "{answer:?}");
        }
        if way.restart > 0 && number % way.restart == 0 {
            driver = driver.reopen().unwrap();
        }
        if way.batch == 1 || number == steps.chunks(way.batch).len() - 1 {
            all.push(replies(&driver, &pool, asked));
        }
    }
    let driver = driver.reopen().unwrap();
    all.push(replies(&driver, &pool, asked));
    all
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn a_reply_does_not_show_how_rows_were_split(
        steps in vec(step(), 1..14),
        ways in vec(way(), 2),
        asked in vec(asked(), 9),
    ) {
        let wanted = run(&steps, &PLAIN, &asked);
        for way in &ways {
            let given = run(&steps, way, &asked);
            let wanted = &wanted[wanted.len() - given.len()..];
            for (given, wanted) in given.iter().zip(wanted) {
                for ((given, wanted), asked) in given.iter().zip(wanted).zip(&asked) {
                    prop_assert_eq!(given, wanted, "{:?} {:?}", asked, way);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(cases(2))]

    #[test]
    fn every_ranker_gives_one_reply_over_one_to_seven_shards_with_a_seal_after_every_statement(
        mut steps in vec(step(), 1..40),
    ) {
        let row = (1, "ant".to_owned(), "bee gnu".to_owned(), 1);
        steps.push(Step::Replace(vec![row]));
        let line = "match 'ant | \"bee gnu\" | cat' limit 100";
        let asked = Ranker::NAMED.map(|(name, _)| (line.to_owned(), name));
        let wanted = run(&steps, &PLAIN, &asked);
        let last = &wanted[steps.len() - 1];
        prop_assert!(last.iter().all(|reply| reply.contains("Int(")), "rows are found");
        for (shards, beside) in (1..8).flat_map(|shards| [(shards, false), (shards, true)]) {
            let threads = usize::from(shards) % 3 + 1;
            let way = Way { shards, beside, seal_rows: 1, threads, ..PLAIN };
            prop_assert_eq!(run(&steps, &way, &asked), wanted.clone(), "{:?}", way);
        }
    }
}
