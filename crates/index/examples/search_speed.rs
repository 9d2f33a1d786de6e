//! Searches a second on one thread, over a file of texts.
//!
//! `zstd -dc abstracts.tsv.zst > abstracts.tsv`, then
//! `cargo run --release -p seine-index --example search_speed -- abstracts.tsv queries.txt [copies] [segments] [seconds] [KIND]
//! [RANKER]`: lines of `id<TAB>text`, repeated `copies` times with new ids and merged into `segments` segments; one query a line.
//! Each query is asked as an OR of its words, as an AND and as a phrase (or as one KIND of these), by `bm25a` (or RANKER), for the
//! first 100 rows and the exact total. Totals of a sample are compared with a count over the texts. Processor time of the one
//! thread, Linux only.
//!
//! Phrases by the default ranker, in one segment, for five seconds:
//! `… --example search_speed -- abstracts.tsv queries.txt 1 1 5 phrase proximity_bm25`. By `bm25a`, which joins postings and weights
//! (`Job::joins`): the same with `bm25a` as the last argument.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "an example talks to the person who ran it"
)]

mod shared;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use disk::MemoryDisk;
use index::{Control, Snapshot, Table, TableShape};
use query::analysis::Analyzer;
use query::schema::ColumnType;
use query::tree::{FieldSet, Node, Term};
use query::value::Value;
use shared::{all, analysed, any, column, cpu_time, query, search, select, tokens};

/// Rows shown of each answer.
const SHOWN: u64 = 100;
/// Every so many-th query is checked.
const SAMPLE: usize = 250;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let number = |at: usize, default: u64| {
        arguments
            .get(at)
            .map_or(default, |text| text.parse().unwrap())
    };
    let (copies, segments, seconds) = (number(3, 4), number(4, 1), number(5, 5));
    let ranker = arguments.get(7).map_or("bm25a", String::as_str);
    let texts = texts(&std::fs::read_to_string(&arguments[1]).unwrap());
    let queries = std::fs::read_to_string(&arguments[2]).unwrap();
    let queries: Vec<Vec<String>> = queries
        .lines()
        .map(tokens)
        .filter(|words| !words.is_empty())
        .collect();
    let start = Instant::now();
    let snapshot = build(&texts, copies, segments);
    println!(
        "{} rows in {:.1} s",
        snapshot.count(),
        start.elapsed().as_secs_f64()
    );
    for (name, make) in [
        ("OR", any as fn(&[String]) -> Node),
        ("AND", all),
        ("phrase", phrase),
    ] {
        if arguments.get(6).is_some_and(|kind| kind != name) {
            continue;
        }
        check(&snapshot, &texts, copies, &queries, name, make);
        measure(&queries, seconds, name, &|words| {
            ask(&snapshot, make(words), ranker)
        });
    }
}

/// Each line's id, and its words.
fn texts(file: &str) -> Vec<(u64, Vec<String>)> {
    let line = |line: &str| {
        let (id, text) = line.split_once('\t').unwrap();
        (id.parse().unwrap(), tokens(text))
    };
    file.lines().map(line).collect()
}

fn shape() -> TableShape {
    TableShape {
        columns: vec![column("body", ColumnType::Text)],
        analyzer: Analyzer::default(),
        shards: 1,
    }
}

/// One seal for each segment.
fn build(texts: &[(u64, Vec<String>)], copies: u64, segments: u64) -> Arc<Snapshot> {
    let mut table = Table::create(Arc::new(MemoryDisk::new()), "posts", shape()).unwrap();
    let step = texts.iter().map(|(id, _)| *id).max().unwrap_or(0) + 1;
    let sealed_at = (texts.len() as u64 * copies).div_ceil(segments);
    let mut rows = 0;
    for copy in 0..copies {
        for (id, words) in texts {
            let analysed = analysed(&words.join(" "));
            table
                .insert(
                    id + copy * step,
                    query::row::encode(&[Value::Null]),
                    &analysed,
                )
                .unwrap();
            rows += 1;
            if rows % 4_096 == 0 {
                drop(table.snapshot());
            }
            if rows % sealed_at == 0 {
                drop(table.snapshot());
                seal(&mut table, rows);
            }
        }
    }
    if table.tail().rows > 0 {
        seal(&mut table, rows);
    }
    table.snapshot()
}

fn seal(table: &mut Table, position: u64) {
    let job = table.freeze(position).unwrap();
    table.install(job.run().unwrap()).unwrap();
    drop(table.take_discarded());
}

fn phrase(words: &[String]) -> Node {
    let terms = words.iter().map(|word| Term::whole(word.as_str())).zip(0..);
    Node::Phrase {
        words: terms.collect(),
        fields: FieldSet::ALL,
    }
}

fn ask(snapshot: &Arc<Snapshot>, node: Node, ranker: &str) -> (u64, u64) {
    let (select, query) = (select(true, None, SHOWN, ranker), query(node));
    let answer = search(snapshot, &select, Some(&query), &Control::default()).unwrap();
    (
        answer.total_found,
        answer.rows.map(Result::unwrap).count() as u64,
    )
}

/// Totals of some queries, beside a count over the texts.
fn check(
    snapshot: &Arc<Snapshot>,
    texts: &[(u64, Vec<String>)],
    copies: u64,
    queries: &[Vec<String>],
    name: &str,
    make: fn(&[String]) -> Node,
) {
    let sample: Vec<&Vec<String>> = queries.iter().step_by(SAMPLE).collect();
    let mut counted = vec![0; sample.len()];
    for (_, words) in texts {
        let mut places: HashMap<&str, ()> = HashMap::new();
        places.extend(words.iter().map(|word| (word.as_str(), ())));
        for (query, count) in sample.iter().zip(&mut counted) {
            let mut has = query.iter().map(|word| places.contains_key(word.as_str()));
            let matches = match name {
                "OR" => has.any(|has| has),
                "AND" => has.all(|has| has),
                _ => {
                    has.all(|has| has)
                        && words.windows(query.len()).any(|words| words == &query[..])
                }
            };
            *count += u64::from(matches) * copies;
        }
    }
    for (query, count) in sample.iter().zip(counted) {
        let (total, shown) = ask(snapshot, make(query), "bm25a");
        assert_eq!(
            (total, shown),
            (count, count.min(SHOWN)),
            "{name} of {query:?}"
        );
    }
    println!("{name}: totals of {} queries are right", sample.len());
}

fn measure(
    queries: &[Vec<String>],
    seconds: u64,
    name: &str,
    ask: &dyn Fn(&[String]) -> (u64, u64),
) {
    let (start, mut asked, mut found) = (Instant::now(), 0, 0);
    let before = cpu_time();
    let enough = Duration::from_secs(seconds);
    while start.elapsed() < enough {
        for query in queries.iter().skip(asked % queries.len()).take(100) {
            found += ask(query).0;
            asked += 1;
        }
    }
    println!(
        "{name}: {:.0} queries/s, {} rows match on average",
        asked as f64 / (cpu_time() - before).as_secs_f64(),
        found / asked as u64
    );
}
