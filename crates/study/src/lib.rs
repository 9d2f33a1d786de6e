//! What rows say: the study of query logs, in [`log`], the comparison of answers, in [`results`], and what led to orders, in
//! [`attribution`].
//!
//! The crate parses, counts and compares. It reads from the [`std::io::Read`]s that it is given and starts threads only where
//! the caller says how many. It knows no socket and no clock, and it draws nothing: crate `report` does.

pub mod attribution;
mod decode;
pub mod log;
pub mod results;
pub mod time_option;
