//! Load, timing, comparison; a figure is printed only for a right answer.
//!
//! A benchmark is a library function: it takes plain options and gives an [`Outcome`], which prints itself as a
//! table, as CSV and as JSON. What is measured, and what must come out, is written in `benchmarks/definitions/`.

mod batch;
pub mod client;
pub mod compare;
mod definition;
mod device;
mod error;
mod http;
pub mod index;
pub mod insert;
mod latency;
mod outcome;
pub mod percolate;
mod plot;
mod process;
mod progress;
pub mod queue;
pub mod random;
mod runs;
pub mod search;
mod table;
pub mod workload;

pub use batch::Batch;
pub use error::{Error, Result};
pub use outcome::{Cell, Outcome};
pub use runs::Effort;

/// A running server and how to log in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Server {
    /// `host:port` or `unix:/path` of its MySQL door.
    pub addr: String,
    /// User name.
    pub user: String,
    /// Password; empty for none.
    pub password: String,
}

impl Server {
    pub(crate) fn connect(&self) -> Result<client::Client> {
        Ok(client::Client::connect(
            &self.addr,
            &self.user,
            &self.password,
        )?)
    }
}
