//! Statements of connections and requests, from text to an outcome: the one entry of every door. Knows no socket.

mod budget;
mod clock;
pub mod counters;
pub mod errors;
mod faults;
pub mod limits;
mod node;
pub mod places;
mod remote;
mod rights;
pub mod searches;
mod session;
pub mod statement;
pub mod units;
pub mod webhook_target;

pub use budget::{Budget, Grant, Room};
pub use clock::{Clock, civil};
pub use faults::{Faults, ReadFault};
pub use node::{Bounds, Node};
pub use remote::Remote;
pub use rights::{Action, Deed};
pub use session::{Session, check_name};

/// What clients are told the server is. MySQL 8's number in front, as clients and drivers choose their ways by it.
pub const VERSION: &str = concat!("8.0.36-seine-", env!("CARGO_PKG_VERSION"));
