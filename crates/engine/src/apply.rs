//! The engine's state in memory, and the functions that change it.
//!
//! - `state`: the catalog and all tables. [`state::State::apply`] is the only function that applies a record: the writer calls it
//!   after deciding, recovery and a follower call it with records of the journal.
//! - `undo`: takes the members of a refused [`crate::Command::Many`] back.
//! - `sessions`: owner mode and waiters. No record holds it: after a restart no session is known, and every row is free.
//! - `transactions`: what each session has written since BEGIN. No record holds it before COMMIT.
//! - `deadlines`: when each wait ends.

pub(crate) mod collected;
pub(crate) mod deadlines;
pub(crate) mod sessions;
pub(crate) mod state;
pub(crate) mod transactions;
pub(crate) mod undo;
