//! `seine bench percolate`: posts against standing queries, in process or in a server.

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

use std::sync::Arc;

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

/// The batches and the numbers of clients of the published grid.
pub const GRID_BATCHES: [u32; 10] = [1, 4, 5, 6, 10, 20, 50, 100, 200, 300];
/// See [`GRID_BATCHES`].
pub const GRID_CLIENTS: [u32; 3] = [1, 2, 8];

/// Where the matching is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In this process: tokenising and matching, no protocol.
    Within,
    /// In a running server. A table `bench_alerts` is made, and dropped afterwards.
    Server(Door, Server),
}

/// What to measure.
#[derive(Clone, Debug)]
pub struct Options {
    /// Name of a definition, such as `common-100k`.
    pub definition: String,
    /// The posts, NDJSON, unpacked. The definitions' counts are those of the bundled ones.
    pub posts: Vec<u8>,
    /// The first document measured, from 1.
    pub from: u64,
    /// So many documents; more than there are begin again with the first. None: all from `from` on.
    pub limit: Option<u64>,
    /// Where.
    pub place: Place,
    /// The server is another product with an analysis of its own: every pass must give as many pairs as the first one,
    /// and not those of the workload.
    pub own_count: bool,
    /// Documents in a call: one part of the grid.
    pub batches: Vec<Batch>,
    /// Threads, or connections: the other part.
    pub concurrencies: Vec<u32>,
    /// Beside each cell another one, while so many queries a second are replaced.
    pub changes: Option<u32>,
    /// Put behind each line of the CSV.
    pub tag: Option<String>,
    /// How much.
    pub effort: Effort,
}

/// The names of the definitions, the default first.
///
/// # Errors
/// [`Error::BadDefinition`]: a definition that was compiled in cannot be read; a test rules it out.
pub fn names() -> Result<Vec<String>> {
    definition::percolate_names()
}

/// Measures. Blocks for runs × seconds × cells and some seconds of preparation.
///
/// # Errors
/// Before anything is measured: bad options, posts or queries. [`Error::WrongAnswer`] where hits differ from the
/// reference on a sample, the number of pairs from the definition's, or a pass gives another number.
pub fn run(options: &Options) -> Result<Outcome> {
    measure(&Definition::percolate(&options.definition)?, options)
}

fn measure(definition: &Definition, options: &Options) -> Result<Outcome> {
    let prepared = prepare(definition, options)?;
    let mut notes = prepared.notes(definition);
    notes.push(match &options.place {
        Place::Within => "in process: tokenising and matching, no protocol".to_owned(),
        Place::Server(door, server) => format!("{door} at {}, all rows read", server.addr),
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
        Place::Within => {
            let present = || Arc::clone(&prepared.snapshot);
            let connect = || {
                let thread = matcher::Thread::new(&prepared.posts, &present);
                Ok(Box::new(thread) as Box<dyn caller::Caller>)
            };
            grid::measure(options, prepared, &connect, notes)
        }
        Place::Server(door, server) => {
            let table = doors::create(*door, server, prepared)?;
            let cells = grid::measure(options, prepared, &|| table.connect(prepared), notes)?;
            table.remove()?;
            Ok(cells)
        }
    }
}

/// The workload, cut to the documents that are asked for.
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
