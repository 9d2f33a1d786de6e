//! Pure codecs: MySQL packets, the SQL dialect, JSON bodies, Elasticsearch's bodies, the compact answer of a percolation.
//!
//! Bytes go in, values come out, and the other way round. Nothing here does I/O, waits, or reads a clock; nothing
//! panics on a stranger's bytes or allocates by a length that was not checked against what has arrived.

pub mod es;
pub mod json;
pub mod limits;
pub mod mysql;
pub mod pq;
pub mod sql;
