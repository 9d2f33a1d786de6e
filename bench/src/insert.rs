//! `seine bench insert`: inserts rows, durable when acknowledged, into a running server.

mod load;
mod logged;
mod tables;

use std::path::PathBuf;

use crate::{
    Batch, Effort, Server,
    definition::Definition,
    device::{Device, Paired},
    error::{Error, Result},
    outcome::{Cell, Outcome},
    percolate::Prepared,
    runs,
    workload::posts,
};

pub(crate) use load::Rows;
use tables::Tables;

/// A load: how rows are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// Count of connections. Each waits for its answer before it sends again.
    pub connections: u32,
    /// Count of rows in a statement.
    pub rows: u32,
    /// Whether standing queries listen to the table and put their hits into a queue.
    pub percolated: bool,
}

/// The usual loads: statements of one row over 1 and over 32 connections, and statements of 500 rows with standing queries.
pub const LOADS: [Load; 3] = [
    Load {
        connections: 1,
        rows: 1,
        percolated: false,
    },
    Load {
        connections: 32,
        rows: 1,
        percolated: false,
    },
    Load {
        connections: 2,
        rows: 500,
        percolated: true,
    },
];

/// The load over Scribe's door: calls of 200 messages past standing queries.
pub const LOGGED: [Load; 1] = [Load {
    connections: 8,
    rows: 200,
    percolated: true,
}];

/// The table of the rows, and their category at Scribe's door.
const POSTS_TABLE: &str = "bench_posts";

/// Options of the benchmark.
#[derive(Clone, Debug)]
pub struct Options {
    /// The server. The benchmark creates tables `bench_posts`, `bench_alerts` and `bench_hits` and drops them afterwards.
    pub server: Server,
    /// The posts, as unpacked NDJSON.
    pub posts: Vec<u8>,
    /// Name of a definition, such as `selective-10k`, with the standing queries of percolated loads.
    pub definition: String,
    /// `host:port` of a Scribe door, if the rows go there as messages of the category `bench_posts`. Its stores must be of the types
    /// `index` with the table `bench_posts`, and `percolate` with the table `bench_alerts`.
    pub scribe: Option<String>,
    /// The loads, measured one after the other.
    pub loads: Vec<Load>,
    /// The server's data directory, if it is on this machine: its disk is measured as well.
    pub data: Option<PathBuf>,
    /// Count and length of runs.
    pub effort: Effort,
}

/// Runs the benchmark. Blocks for runs × seconds × loads and some seconds of preparation.
///
/// # Errors
/// Before anything is measured: bad options or posts. [`Error::WrongAnswer`]: rows or hits after a run are not those of the
/// acknowledged rows.
pub fn run(options: &Options) -> Result<Outcome> {
    options.effort.check()?;
    if options
        .loads
        .iter()
        .any(|load| load.connections == 0 || load.rows == 0)
    {
        return Err(Error::BadOption("connections and rows are 1 or more"));
    }
    let device = options.data.as_deref().map(Device::measure);
    let definition = Definition::insert(&options.definition)?;
    let posts = posts(&options.posts)?;
    let prepared = Prepared::new(&definition, posts.clone())?;
    let mut notes = vec![match &device {
        Some(device) => device.to_string(),
        None => "disk not known: give the server's data directory to measure it".to_owned(),
    }];
    notes.push(match &options.scribe {
        Some(addr) => {
            format!("messages over Scribe's door at {addr}, rows and hits counted afterwards")
        }
        None => format!(
            "rows over MySQL at {}, counted afterwards",
            options.server.addr
        ),
    });
    if options.loads.iter().any(|load| load.percolated) {
        notes.extend(prepared.notes(&definition));
    }
    let rows = load::Rows::new(&posts);
    let mut cells = Vec::new();
    for load in &options.loads {
        let doing = format!(
            "insert, {} rows each, {} connections",
            load.rows, load.connections
        );
        let runs = runs::repeat(options.effort, &doing, |tick| {
            let queries = load.percolated.then_some(&prepared);
            let logged = options.scribe.as_deref().map(|addr| (addr, &posts[..]));
            let mut tables = Tables::create(&options.server, queries, logged.is_some())?;
            let paired = Paired::begin(options.data.as_deref());
            let mut run = load::run(&options.server, &rows, logged, *load, options.effort, tick)?;
            paired.end(&mut run);
            tables.check(run.elements, &prepared.hits)?;
            tables.drop()?;
            Ok(run)
        })?;
        cells.push(Cell::new(load.connections, Batch::Of(load.rows), &runs));
    }
    Ok(Outcome {
        name: "insert".to_owned(),
        element: "rows",
        notes,
        tag: None,
        cells,
    })
}
