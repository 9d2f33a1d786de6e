//! `seine bench percolate`: posts against standing queries, in process or over MySQL.

mod over_mysql;
mod prepared;
mod within;

use crate::{
    Effort, Server,
    definition::{self, Definition},
    error::{Error, Result},
    outcome::{Cell, Outcome},
    runs,
    workload::posts,
};

pub(crate) use over_mysql::{cell, count, insert_queries};
pub(crate) use prepared::Prepared;

/// Where the matching is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In this process: tokenising and matching, no protocol.
    Within,
    /// In a running server, by `CALL PQ`. A table `bench_alerts` is made, and dropped afterwards.
    Server(Server),
}

/// What to measure.
#[derive(Clone, Debug)]
pub struct Options {
    /// Name of a definition, such as `common-100k`.
    pub definition: String,
    /// The posts, NDJSON, unpacked. The definitions' counts are those of the bundled ones.
    pub posts: Vec<u8>,
    /// Where.
    pub place: Place,
    /// Documents in a call: one part of the grid.
    pub batches: Vec<u32>,
    /// Threads, or connections: the other part.
    pub concurrencies: Vec<u32>,
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
    options.effort.check()?;
    if options
        .batches
        .iter()
        .chain(&options.concurrencies)
        .any(|number| *number == 0)
    {
        return Err(Error::BadOption("batches and clients are 1 or more"));
    }
    let posts = posts(&options.posts)?;
    let prepared = Prepared::new(definition, &posts)?;
    let mut notes = prepared.notes(definition, &posts);
    let mut cells = Vec::new();
    let server = match &options.place {
        Place::Within => None,
        Place::Server(server) => Some(over_mysql::Alerts::create(server, &prepared)?),
    };
    notes.push(match &options.place {
        Place::Within => "in process: tokenising and matching, no protocol".to_owned(),
        Place::Server(server) => format!("CALL PQ over MySQL at {}, all rows read", server.addr),
    });
    for &batch in &options.batches {
        for &concurrency in &options.concurrencies {
            let doing = format!("percolate, batch {batch}, concurrency {concurrency}");
            let runs = runs::repeat(options.effort, &doing, |tick| match &server {
                None => within::run(&prepared, batch, concurrency, options.effort, tick),
                Some(alerts) => alerts.run(&prepared, batch, concurrency, options.effort, tick),
            })?;
            cells.push(Cell::new(concurrency, batch, &runs));
        }
    }
    if let Some(alerts) = server {
        alerts.drop()?;
    }
    Ok(Outcome {
        name: format!("percolate/{}", definition.name),
        element: "docs",
        notes,
        cells,
    })
}

#[cfg(test)]
mod tests;
