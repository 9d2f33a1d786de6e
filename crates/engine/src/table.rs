//! The tables of each kind, as the engine's thread owns them: `search` documents, `standing` queries, `queues` of rows.
//!
//! Each holds its rows, the files that the next manifest names, and its checkpoint `folded`: files hold the effects of the
//! records up to there. `in_manifest` tells how much of that a durable manifest names. The module `apply` changes tables by
//! records; `engine/maintain.rs` writes their files and moves the checkpoints.

pub(crate) mod in_manifest;
pub(crate) mod queues;
pub(crate) mod reshape;
pub(crate) mod search;
pub(crate) mod standing;
