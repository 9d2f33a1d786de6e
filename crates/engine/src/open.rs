//! What a data directory holds: the manifest, copies of it, and what of it cannot be used.

pub(crate) mod backup;
pub(crate) mod describe;
pub(crate) mod manifest;
pub(crate) mod salvage;
