//! `seine bench search --inserts`: inserts single rows while searches run at a fixed rate.

use std::{
    sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    thread,
    time::{Duration, Instant},
};

use super::{
    Options,
    corpus::Corpus,
    definition::{self, Test},
    drive::Caller,
    queries,
    served::Served,
};
use crate::{
    Batch,
    device::Device,
    error::{Error, Result},
    latency::Latencies,
    outcome::{Cell, Outcome},
    process::Process,
    runs::{self, Run, WATCHED_EVERY},
    workload::push_literal,
};

/// Count of connections that search, so that a slow search does not delay the next.
const SEARCHERS: u32 = 4;

/// State that the threads of a run share.
struct Load<'a> {
    begun: Instant,
    until: Instant,
    next_search: AtomicUsize,
    next_id: AtomicU64,
    searches: f64,
    texts: &'a [&'a str],
    table: &'a str,
}

/// Inserts rows over one connection, each after the row before is durable, while `searches_a_second` searches run. They are those
/// of the first test, over the first count of shards. A search's time counts from the moment it was due. Deletes the rows
/// afterwards.
///
/// # Errors
/// [`Error::BadOption`]: there is no server. The server's. [`Error::WrongAnswer`]: the count of stored rows is not that of the
/// acknowledged ones.
pub fn inserts(options: &Options, corpus: &Corpus, searches_a_second: f64) -> Result<Outcome> {
    options.effort.check()?;
    let Some(server) = &options.server else {
        return Err(Error::BadOption(
            "inserts are measured in a server: name it with --addr",
        ));
    };
    let tests = definition::named(&options.tests)?;
    let (Some(test), Some(shards)) = (tests.first(), options.shards.first()) else {
        return Err(Error::BadOption("there is no test"));
    };
    if test.matching.is_operator() {
        return Err(Error::BadOption(
            "inserts are measured beside the study's queries",
        ));
    }
    let served = Served::open(server, corpus, *shards, false)?;
    let texts: Vec<&str> = corpus.iter().take(10_000).map(|(_, text)| text).collect();
    let id_max = corpus.iter().map(|(id, _)| id).max().unwrap_or(0);
    let process = Process::listening(&server.addr);
    let asked = queries(options)?;
    let asked: Vec<String> = asked
        .iter()
        .map(|words| test.matching.text(words))
        .collect();
    let doing = format!("inserts beside {searches_a_second} searches a second");
    let runs = runs::repeat(options.effort, &doing, |tick| {
        let begun = Instant::now();
        let load = Load {
            begun,
            until: begun + options.effort.run_time(),
            next_search: AtomicUsize::new(0),
            next_id: AtomicU64::new(id_max + 1),
            searches: searches_a_second,
            texts: &texts,
            table: &served.table,
        };
        let mut run = both(&load, &served, test, &asked, tick)?;
        let anonymous = process.as_ref().and_then(Process::anonymous_bytes);
        run.facts
            .extend(anonymous.map(|bytes| ("anonymous MiB", bytes as f64 / f64::from(1 << 20))));
        served.remove_from(id_max + 1, run.elements)?;
        Ok(run)
    })?;
    if !options.keep {
        served.drop()?;
    }
    Ok(Outcome {
        name: format!(
            "search/{}, inserts beside {searches_a_second} searches a second",
            test.name
        ),
        element: "rows",
        notes: vec![
            Device::measure(&options.data).to_string(),
            format!(
                "{} records; one row each, durable; latencies are those of inserts",
                corpus.records()
            ),
        ],
        tag: options.tag.clone(),
        cells: vec![Cell::new(1, Batch::Of(1), &runs)],
    })
}

fn both(
    load: &Load<'_>,
    served: &Served,
    test: &Test,
    asked: &[String],
    tick: &mut dyn FnMut(),
) -> Result<Run> {
    let callers = (0..SEARCHERS).map(|_| served.caller(test, asked, None));
    let callers = callers.collect::<Result<Vec<_>>>()?;
    let mut client = served.connect()?;
    let queries = asked.len();
    thread::scope(|scope| {
        let searching: Vec<_> = callers
            .into_iter()
            .map(|caller| scope.spawn(move || search(load, caller, queries)))
            .collect();
        let inserting = scope.spawn(move || {
            let mut latencies = Latencies::default();
            let mut at = Instant::now();
            while at < load.until {
                let id = load.next_id.fetch_add(1, Relaxed);
                let mut statement = format!("INSERT INTO {} (id, body) VALUES ({id},", load.table);
                push_literal(&mut statement, load.texts[id as usize % load.texts.len()]);
                statement.push(')');
                client.query(&statement)?;
                let now = Instant::now();
                latencies.add(now - at);
                at = now;
            }
            Ok::<Latencies, Error>(latencies)
        });
        while Instant::now() < load.until && !inserting.is_finished() {
            thread::park_timeout(WATCHED_EVERY);
            tick();
        }
        let latencies = joined(inserting)?;
        let mut searches = Latencies::default();
        for thread in searching {
            searches.merge(&joined(thread)?);
        }
        let elapsed = load.begun.elapsed();
        Ok(Run {
            elements: latencies.count(),
            elapsed,
            latencies,
            facts: vec![
                (
                    "searches/s",
                    searches.count() as f64 / elapsed.as_secs_f64(),
                ),
                ("search median ms", searches.percentile_ms(0.5)),
                ("search p99 ms", searches.percentile_ms(0.99)),
            ],
        })
    })
}

fn joined<T>(thread: thread::ScopedJoinHandle<'_, Result<T>>) -> Result<T> {
    match thread.join() {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// Runs each search when it is due. The time that a late search has waited counts as well.
fn search(load: &Load<'_>, mut caller: Box<dyn Caller>, queries: usize) -> Result<Latencies> {
    let mut latencies = Latencies::default();
    loop {
        let number = load.next_search.fetch_add(1, Relaxed);
        let due = load.begun + Duration::from_secs_f64(number as f64 / load.searches.max(1e-3));
        if due >= load.until {
            return Ok(latencies);
        }
        let now = Instant::now();
        if due > now {
            thread::sleep(due - now);
        }
        caller.ask(number % queries)?;
        latencies.add(due.elapsed());
    }
}
