//! The tables of each kind, as the engine's thread owns them.

pub(crate) mod in_manifest;
pub(crate) mod queues;
pub(crate) mod search;
pub(crate) mod standing;
