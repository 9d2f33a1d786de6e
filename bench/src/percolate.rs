//! `seine bench percolate`: percolates posts through standing queries, in this process or in a server.

mod caller;
mod changes;
mod doors;
mod drive;
mod export;
mod grid;
mod matcher;
mod oracle;
mod prepared;
mod queries;
mod store;

use crate::{
    Batch, Effort, Server,
    definition::{self, Definition},
    error::{Error, Result},
    outcome::{Cell, Outcome},
    workload::posts,
};

pub use doors::Door;
pub(crate) use doors::{cell, count, insert_queries};
pub use export::export;
pub(crate) use prepared::Prepared;
pub use store::store;

/// Batch sizes of the published grid.
pub const GRID_BATCHES: [u32; 10] = [1, 4, 5, 6, 10, 20, 50, 100, 200, 300];
/// Counts of clients of the published grid.
pub const GRID_CLIENTS: [u32; 3] = [1, 2, 8];

/// Place of the matching.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// This process: analysis and matching, without a protocol.
    Within,
    /// A running server. The benchmark creates a table `bench_alerts` and drops it afterwards.
    Server(Door, Server),
}

/// Options of the benchmark.
#[derive(Clone, Debug)]
pub struct Options {
    /// Name of a definition, such as `common-100k`.
    pub definition: String,
    /// The posts, as unpacked NDJSON. The definitions' counts are those of the bundled posts.
    pub posts: Vec<u8>,
    /// Number of the first document, from 1.
    pub from: u64,
    /// Count of documents; behind the last comes the first again. `None`: all from `from` on.
    pub limit: Option<u64>,
    /// Place of the matching.
    pub place: Target,
    /// Whether the server has an analysis of its own, as another product has. Every pass must then give the first pass's count
    /// of pairs, not that of the workload.
    pub own_count: bool,
    /// Counts of documents in a call: one axis of the grid.
    pub batches: Vec<Batch>,
    /// Counts of threads or connections: the other axis.
    pub concurrencies: Vec<u32>,
    /// Queries that are replaced per second in a second cell beside each cell; `None`: no such cells.
    pub changes: Option<u32>,
    /// Text that is appended to each line of the CSV.
    pub tag: Option<String>,
    /// Count and length of runs.
    pub effort: Effort,
}

/// The names of the definitions, the default first.
///
/// # Errors
/// [`Error::BadDefinition`]: a compiled-in definition cannot be parsed; a test rules that out.
pub fn names() -> Result<Vec<String>> {
    definition::percolate_names()
}

/// Runs the benchmark. Blocks for runs × seconds × cells and some seconds of preparation.
///
/// # Errors
/// Before anything is measured: bad options, posts or queries. [`Error::WrongAnswer`]: hits differ from the reference on a
/// sample, the count of pairs differs from the definition's, or a pass gives another count.
pub fn run(options: &Options) -> Result<Outcome> {
    measure(&Definition::percolate(&options.definition)?, options)
}

fn measure(definition: &Definition, options: &Options) -> Result<Outcome> {
    let prepared = prepare(definition, options)?;
    let mut notes = prepared.notes(definition);
    notes.push(match &options.place {
        Target::Within => "in process: tokenising and matching, no protocol".to_owned(),
        Target::Server(door, server) => format!("{door} at {}, all rows read", server.addr),
    });
    let cells = match options.changes {
        Some(rate) => changes::measure(options, rate, prepared, &mut notes)?,
        None => measure_quiet(options, &prepared, &mut notes)?,
    };
    Ok(Outcome {
        name: format!("percolate/{}", definition.name),
        element: "docs",
        notes,
        tag: options.tag.clone(),
        cells,
    })
}

fn measure_quiet(
    options: &Options,
    prepared: &Prepared,
    notes: &mut Vec<String>,
) -> Result<Vec<Cell>> {
    match &options.place {
        Target::Within => {
            let connect = || {
                let Prepared {
                    posts, snapshot, ..
                } = prepared;
                let thread = matcher::Thread::new(posts, snapshot, matcher::UNCHANGED);
                Ok(Box::new(thread) as Box<dyn caller::Caller>)
            };
            grid::measure(options, prepared, &connect, notes)
        }
        Target::Server(door, server) => {
            let table = doors::create(*door, server, prepared)?;
            let cells = grid::measure(options, prepared, &|| table.connect(prepared), notes)?;
            table.remove()?;
            Ok(cells)
        }
    }
}

/// The workload, cut to the chosen documents.
fn prepare(definition: &Definition, options: &Options) -> Result<Prepared> {
    options.effort.check()?;
    if options.batches.contains(&Batch::Of(0)) || options.concurrencies.contains(&0) {
        return Err(Error::BadOption("batches and clients are 1 or more"));
    }
    if options.from == 0 {
        return Err(Error::BadOption("documents are counted from 1"));
    }
    let mut prepared = Prepared::new(definition, posts(&options.posts)?)?;
    prepared.select(options.from, options.limit);
    if prepared.posts.is_empty() {
        return Err(Error::BadOption("no documents are left to measure with"));
    }
    Ok(prepared)
}

#[cfg(test)]
mod tests;
