//! Options of search tables: as text for records and SHOW CREATE TABLE, and what they must satisfy.

use index::limits::SHARDS_MAX;
use query::options::Ranker;

use crate::command::SearchOptions;
use crate::error::{Error, Result};

/// Shards of a table that does not say how many. One: work is cut into ranges of rows and not into shards, so more of them
/// only make more and smaller segments.
const SHARDS_AUTOMATIC: u16 = 1;

/// How many shards a table has.
pub(crate) fn shards(options: SearchOptions) -> u16 {
    options.shards.unwrap_or(SHARDS_AUTOMATIC)
}

/// The options that are set, each with its value as CREATE TABLE takes it.
pub(super) fn pairs(options: SearchOptions) -> Vec<(&'static str, String)> {
    let shards = options.shards.map(|shards| ("shards", shards.to_string()));
    let ranker = options
        .ranker
        .map(|ranker| ("ranker", ranker.name().to_owned()));
    shards.into_iter().chain(ranker).collect()
}

/// Sets an option as [`pairs`] wrote it; false for another name, `None` for a value that is none.
pub(super) fn read(options: &mut SearchOptions, name: &str, value: &str) -> Option<bool> {
    match name {
        "shards" => options.shards = Some(value.parse().ok()?),
        "ranker" => options.ranker = Some(Ranker::named(value).ok()?),
        _ => return Some(false),
    }
    Some(true)
}

/// Refuses what no table can have.
pub(super) fn check(options: SearchOptions) -> Result<()> {
    match options.shards {
        Some(0) => Err(Error::invalid("shards= is at least 1")),
        Some(shards) if shards > SHARDS_MAX => Err(Error::Limit {
            what: "shards of a table",
            max: SHARDS_MAX.into(),
        }),
        _ => Ok(()),
    }
}
