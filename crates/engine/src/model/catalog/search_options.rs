//! Options of search tables: as text for records and SHOW CREATE TABLE, and what they must satisfy.

use index::limits::SHARDS_MAX;
use relation::options::Ranker;

use crate::command::SearchOptions;
use crate::error::{Error, Result};

/// Shards of a table without `shards=`. One, since a search cuts its work into ranges of rows, not into shards: more shards only
/// make more and smaller segments.
const SHARDS_AUTOMATIC: u16 = 1;

/// Number of shards of a table; at least 1.
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

/// Sets an option as [`pairs`] wrote it. False: no option of a search table has this name. `None`: the value is not valid.
pub(super) fn read(options: &mut SearchOptions, name: &str, value: &str) -> Option<bool> {
    match name {
        "shards" => options.shards = Some(value.parse().ok()?),
        "ranker" => options.ranker = Some(Ranker::named(value).ok()?),
        _ => return Some(false),
    }
    Some(true)
}

/// Checks `shards=`. Errors: `Invalid` for 0, `Limit` above [`SHARDS_MAX`].
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
