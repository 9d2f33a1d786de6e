//! `seine bench touch`: touches of pages by `POST /touch`, durable when answered, beside `POST /insert` of the same values.
//!
//! In each pair both doors take their turn over the same number of connections, in an order that changes. `POST /insert` goes into a
//! table with the columns and keys of `touches`. A figure is printed only if the rows of both tables are those that were acknowledged.

use std::{
    path::PathBuf,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::{Instant, SystemTime, UNIX_EPOCH},
};

use study::attribution::table::{self, TABLE};

use crate::{
    Batch, Effort, Server,
    device::{Device, Paired},
    error::{Error, Result},
    http::{Http, JSON},
    latency::Latencies,
    outcome::{Cell, Outcome},
    percolate::count,
    progress::Progress,
    runs::{Run, listed, work_watched},
};

/// The site of the touches: `touch.origins` of the server must name it.
pub const ORIGIN: &str = "http://bench.example";

/// The table of `POST /insert`.
const BESIDE: &str = "bench_touches";

/// Odd, so that its multiples are different numbers in no order, as ids that pages draw.
const STRIDE: u64 = 0x9e37_79b9_7f4a_7c15;

/// Options of the benchmark.
#[derive(Clone, Debug)]
pub struct Options {
    /// The server, over MySQL. Its table `touches` must be empty, and is emptied again; `bench_touches` is made and dropped.
    pub server: Server,
    /// `host:port` of its HTTP door. The server needs `touch.origins` with [`ORIGIN`], and bounds that let the benchmark through.
    pub http: String,
    /// Count of connections.
    pub connections: u32,
    /// The server's data directory, if it is on this machine: its disk is measured as well.
    pub data: Option<PathBuf>,
    /// Count and length of runs.
    pub effort: Effort,
}

/// A way into the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Door {
    Touch,
    Insert,
}

impl Door {
    fn name(self) -> &'static str {
        match self {
            Door::Touch => "POST /touch",
            Door::Insert => "POST /insert",
        }
    }

    fn table(self) -> &'static str {
        match self {
            Door::Touch => TABLE,
            Door::Insert => BESIDE,
        }
    }
}

/// Runs the benchmark. Blocks for 2 × runs × seconds.
///
/// # Errors
/// [`Error::BadOption`]: no connection, or touches that are somebody's. [`Error::Http`]: the server refuses a touch.
/// [`Error::WrongAnswer`]: a table has other rows than were acknowledged.
pub fn run(options: &Options) -> Result<Outcome> {
    options.effort.check()?;
    if options.connections == 0 {
        return Err(Error::BadOption("connections are 1 or more"));
    }
    let mut client = options.server.connect()?;
    client.query(&table::create())?;
    if count(&mut client, "SELECT COUNT(*) FROM touches")? > 0 {
        return Err(Error::BadOption(
            "the table touches of the server has rows, and the benchmark would delete them",
        ));
    }
    let device = options.data.as_deref().map(Device::measure);
    let pairs = options.effort.runs;
    let mut progress = Progress::new(options.effort.progress);
    let (mut touched, mut inserted, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for pair in 0..pairs {
        let order = match pair % 2 {
            0 => [Door::Touch, Door::Insert],
            _ => [Door::Insert, Door::Touch],
        };
        let mut rates = [0.0; 2];
        for door in order {
            let part = f64::from(pair) / f64::from(pairs);
            let run = one(options, door, &mut || progress.show(door.name(), part))?;
            rates[usize::from(door == Door::Insert)] = run.rate();
            match door {
                Door::Touch => touched.push(run),
                Door::Insert => inserted.push(run),
            }
        }
        ratios.push(rates[0] / rates[1]);
    }
    ratios.sort_by(f64::total_cmp);
    let cell = |door: Door, mut runs: Vec<Run>| {
        runs.sort_by(|a, b| a.rate().total_cmp(&b.rate()));
        Cell {
            name: door.name().to_owned(),
            ..Cell::new(options.connections, Batch::Of(1), &runs)
        }
    };
    let disk = device.map_or_else(
        || "disk not known: give the server's data directory to measure it".to_owned(),
        |device| device.to_string(),
    );
    Ok(Outcome {
        name: "touch".to_owned(),
        element: "rows",
        notes: vec![
            disk,
            "rows of both tables counted after each run".to_owned(),
            format!(
                "rate of POST /touch / POST /insert, pair by pair: {}",
                listed(&ratios)
            ),
        ],
        tag: None,
        cells: vec![cell(Door::Touch, touched), cell(Door::Insert, inserted)],
    })
}

/// One run through a door, into an empty table.
fn one(options: &Options, door: Door, tick: &mut dyn FnMut()) -> Result<Run> {
    let mut client = options.server.connect()?;
    match door {
        Door::Touch => client.query(&format!("TRUNCATE TABLE {TABLE}"))?,
        Door::Insert => {
            client.query(&format!("DROP TABLE IF EXISTS {BESIDE}"))?;
            client.query(&table::create().replace(TABLE, BESIDE))?
        }
    };
    let http = Server {
        addr: options.http.clone(),
        ..options.server.clone()
    };
    let connect = |_| {
        let mut http = Http::connect(&http)?;
        if door == Door::Touch {
            http.say("Origin", ORIGIN);
        }
        Ok(http)
    };
    let connections: Result<Vec<Http>> = (0..options.connections).map(connect).collect();
    let paired = Paired::begin(options.data.as_deref());
    let next = &AtomicU64::new(1);
    let begun = Instant::now();
    let until = begun + options.effort.run_time();
    let worker = |http| move || tell_until(http, door, next, until);
    let workers = connections?.into_iter().map(worker).collect();
    let latencies = work_watched(workers, until, tick)?;
    let mut run = Run {
        elements: latencies.count(),
        elapsed: begun.elapsed(),
        latencies,
        facts: Vec::new(),
    };
    paired.end(&mut run);
    let table = door.table();
    let stored = format!("SELECT COUNT(*) FROM {table} WHERE source='google' AND medium='cpc'");
    let stored = count(&mut client, &stored)?;
    if stored != run.elements {
        return Err(Error::WrongAnswer {
            what: format!("rows of {table}"),
            expected: run.elements,
            counted: stored,
        });
    }
    client.query(&match door {
        Door::Touch => format!("TRUNCATE TABLE {TABLE}"),
        Door::Insert => format!("DROP TABLE {BESIDE}"),
    })?;
    Ok(run)
}

/// Tells touches until the time is up, each once.
fn tell_until(mut http: Http, door: Door, next: &AtomicU64, until: Instant) -> Result<Latencies> {
    let mut latencies = Latencies::default();
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let now_s = since.map_or(0, |since| since.as_secs());
    loop {
        let begun = Instant::now();
        if begun >= until {
            return Ok(latencies);
        }
        let id = (next.fetch_add(1, Relaxed).wrapping_mul(STRIDE) >> 1).max(1);
        let (path, body) = match door {
            Door::Touch => (
                "/touch",
                format!(
                    r#"{{"id":"{id:016x}","time":{now_s},"source":"google","medium":"cpc","subcat":"shoes"}}"#
                ),
            ),
            Door::Insert => (
                "/insert",
                format!(
                    r#"{{"table":"{BESIDE}","id":{id},"doc":{{"visitor":"{:032x}","time":{now_s},"source":"google","medium":"cpc","subcat":"shoes","site":"{ORIGIN}"}}}}"#,
                    u128::from(id) << 64 | u128::from(id)
                ),
            ),
        };
        http.get("POST", path, JSON, body.as_bytes())?;
        latencies.add(begun.elapsed());
    }
}
