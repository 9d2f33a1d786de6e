//! Options of CREATE TABLE that only search tables have.

use engine::SearchOptions;
use relation::options::Ranker;

use crate::errors::{self, Failure};

/// Names of the options.
pub(super) const NAMES: [&str; 2] = ["shards", "ranker"];

/// Sets one option; false if [`NAMES`] lacks it. Errors: `INVALID` or `NOT_YET`, a bad value.
pub(super) fn set(options: &mut SearchOptions, name: &str, value: &str) -> Result<bool, Failure> {
    match name {
        "shards" if value.eq_ignore_ascii_case("auto") => options.shards = None,
        "shards" => {
            let shards = value.trim().parse();
            let wrong = |_| format!("shards={value} is neither a number of shards nor 'auto'");
            let shards = shards.map_err(wrong);
            options.shards =
                Some(shards.map_err(|message| Failure::new(errors::INVALID, message))?);
        }
        "ranker" => {
            let ranker = Ranker::named(value.trim());
            options.ranker = Some(ranker.map_err(Failure::refused)?);
        }
        _ => return Ok(false),
    }
    Ok(true)
}
