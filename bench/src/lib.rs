//! Load, timing, comparison; a figure is printed only for a right answer.
//!
//! A benchmark is a library function. It takes plain options and gives an [`Outcome`] or a report, which prints itself as a
//! table, as CSV and as JSON. `benchmarks/definitions/` says which workloads are measured and which answers they must give.
//!
//! To add a benchmark: a module with `Options` and `run`, its definition, and its command line in
//! `src/bin/seine-bench/commands`. A wrong answer must be [`Error::WrongAnswer`], before any time is printed.
//!
//! The random numbers of the workloads are the same on every machine:
//!
//! ```
//! use bench::random::XorShift;
//!
//! let draw = || {
//!     let mut random = XorShift::new(42);
//!     [random.below(6), random.below(6), random.below(6)]
//! };
//! assert_eq!(draw(), draw());
//! ```

mod batch;
pub mod collect;
pub mod compare;
mod definition;
mod device;
mod error;
mod http;
pub mod index;
pub mod insert;
mod latency;
pub mod log_lines;
mod outcome;
pub mod percolate;
mod printed;
mod process;
mod progress;
pub mod queue;
pub mod random;
mod runs;
pub mod search;
pub mod select;
pub mod statements;
pub mod touch;
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
