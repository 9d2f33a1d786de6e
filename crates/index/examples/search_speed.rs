//! Searches a second on one thread, over a file of texts.
//!
//! `zstd -dc abstracts.tsv.zst > abstracts.tsv`, then
//! `cargo run --release -p seine-index --example search_speed -- abstracts.tsv queries.txt [copies] [segments] [seconds] [KIND]
//! [RANKER]`: lines of `id<TAB>text`, repeated `copies` times with new ids and merged into `segments` segments; one query a line.
//! `cut:2000` in place of the queries cuts 2,000 phrases from the texts, each with a common word: the study of phrases.
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

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use disk::MemoryDisk;
use index::{Control, MergeRequest, Snapshot, Table, TableShape};
use language::analysis::Analyzer;
use language::tree::{FieldSet, Node, Term};
use relation::schema::ColumnType;
use relation::value::Value;
use shared::{all, analysed, any, column, cpu_time, query, search, select, tokens};

/// Rows shown of each answer.
const SHOWN: u64 = 100;
/// Words that make a phrase one with a common word.
const COMMON: usize = 64;
/// Rows of a seal.
const SEALED: u64 = 61_440;
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
    let queries: Vec<Vec<String>> = match arguments[2].strip_prefix("cut:") {
        Some(count) => cut_phrases(&texts, count.parse().unwrap()),
        None => {
            let queries = std::fs::read_to_string(&arguments[2]).unwrap();
            let queries = queries.lines().map(tokens);
            queries.filter(|words| !words.is_empty()).collect()
        }
    };
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

/// Phrases of 2 to 4 words, cut from the texts at pseudo-random places. Each has at least one of the [`COMMON`] words that most
/// texts hold.
fn cut_phrases(texts: &[(u64, Vec<String>)], count: usize) -> Vec<Vec<String>> {
    let mut held: HashMap<&str, u32> = HashMap::new();
    for (_, words) in texts {
        let distinct: HashSet<&str> = words.iter().map(String::as_str).collect();
        distinct
            .into_iter()
            .for_each(|word| *held.entry(word).or_default() += 1);
    }
    let mut words: Vec<(Reverse<u32>, &str)> = held
        .into_iter()
        .map(|(word, texts)| (Reverse(texts), word))
        .collect();
    words.sort_unstable();
    let common: HashSet<&str> = words.iter().take(COMMON).map(|(_, word)| *word).collect();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut below = |end: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        ((u128::from(state) * end as u128) >> 64) as usize
    };
    let mut phrases = Vec::new();
    while phrases.len() < count {
        let (words, length) = (&texts[below(texts.len())].1, 2 + below(3));
        if words.len() >= length {
            let at = below(words.len() - length + 1);
            let phrase = &words[at..at + length];
            if phrase.iter().any(|word| common.contains(word.as_str())) {
                phrases.push(phrase.to_vec());
            }
        }
    }
    phrases
}

fn shape() -> TableShape {
    TableShape {
        columns: vec![column("body", ColumnType::Text)],
        analyzer: Analyzer::default(),
        shards: 1,
    }
}

/// One seal for each segment; for one segment a merge of seals of [`SEALED`] rows.
fn build(texts: &[(u64, Vec<String>)], copies: u64, segments: u64) -> Arc<Snapshot> {
    let mut table = Table::create(Arc::new(MemoryDisk::new()), "posts", shape()).unwrap();
    let step = texts.iter().map(|(id, _)| *id).max().unwrap_or(0) + 1;
    let sealed_at = match segments {
        1 => SEALED,
        segments => (texts.len() as u64 * copies).div_ceil(segments),
    };
    let mut rows = 0;
    let start = Instant::now();
    for copy in 0..copies {
        for (id, words) in texts {
            let text = words.join(" ");
            let (analysed, id) = (analysed(&text), id + copy * step);
            let row = relation::row::encode(&[Value::Str(text)]);
            table.insert(id, row, &analysed).unwrap();
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
    println!("loaded in {:.2} s", start.elapsed().as_secs_f64());
    if segments == 1 && table.status().segments > 1 {
        let (start, before) = (Instant::now(), table.status().bytes_segments);
        table.optimize();
        let job = table.merge_job(MergeRequest::default()).unwrap();
        table.install_merged(job.run().unwrap()).unwrap();
        drop(table.take_discarded());
        let after = table.status().bytes_segments;
        println!(
            "merged in {:.2} s, {before} bytes to {after}",
            start.elapsed().as_secs_f64()
        );
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
