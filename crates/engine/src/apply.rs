//! What records and sessions have come to, and how a record changes it.

pub(crate) mod deadlines;
pub(crate) mod sessions;
pub(crate) mod state;
pub(crate) mod undo;
