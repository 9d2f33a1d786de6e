//! Messages become rows of tables.
//!
//! # Example
//! ```text
//! <store>
//! category=web
//! type=index
//! table=logs                     logs (level string, msg text, rest string, ts timestamp)
//! format=json
//! fields=level msg
//! time_column=ts
//! </store>
//! ```
//!
//! | message at 12:00:00 | level | msg | rest | ts |
//! |---|---|---|---|---|
//! | `{"level":"warn","msg":"low"}` | warn | low | | 12:00:00 |
//! | `{"level":"warn","msg":"low","disk":3}` | warn | low | the whole message | 12:00:00 |
//! | `{"level":["a","b"]}` | | | the whole message | 12:00:00 |
//! | `disk is low` | | | the whole message | 12:00:00 |
//!
//! The last three count as `kept whole`.
//!
//! # Invariants
//! - A row fits the table as its definition was when the row was made: the engine refuses it only if the table has changed since,
//!   or for the sake of a hit.
//! - A message is never dropped here: what no column holds is in the rest column.

mod make;
mod shape;

pub use make::{MARK, Making, making, quoted_text};

pub(crate) use shape::{Shape, TableRows};

use std::sync::Arc;

use engine::Definition;

/// The tables of this server, as readers see them now.
pub trait Tables: Send + Sync {
    /// The definition of a table; `None`: there is no such table. Two answers are the same `Arc` while the table stays as it is.
    fn definition(&self, name: &str) -> Option<Arc<Definition>>;
}

/// A server without tables.
impl Tables for () {
    fn definition(&self, _: &str) -> Option<Arc<Definition>> {
        None
    }
}

#[cfg(test)]
mod tests;
