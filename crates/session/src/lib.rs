//! Statements of connections and requests, from text to an outcome: the one entry of every door. Knows no socket.
//!
//! A door (MySQL, HTTP) holds one [`Node`] for the process and one [`Session`] for each connection or HTTP request. For each
//! text it receives it does four steps:
//!
//! 1. [`statement::next`] cuts the first statement off the text and parses it into a [`statement::Parsed`].
//! 2. [`statement::execute`] does it and gives a [`statement::Outcome`]: a count, rows, or rows of CALL PQ. A read takes a
//!    snapshot ([`Node::snapshot`]). A write goes to the engine's mailbox ([`Node::submit`]) and waits for its sync.
//! 3. The door encodes the outcome into its socket and drops it. That gives the statement's memory back to the [`Budget`].
//! 4. [`Session::sent`] settles the lines of SHOW META. [`Node::close_session`] ends the session with its connection.
//!
//! A connection takes its place before any of this, and a newcomer may displace it while it owes its login:
//!
//! ```
//! use session::places::{Bounds, Full, Newcomer, Places};
//! use session::Remote;
//!
//! let places = Places::default();
//! let bounds = Bounds { connections_max: 2, per_address_max: None };
//! let connect = |id| {
//!     let remote = Remote::of([127, 0, 0, 1].into());
//!     let host = remote.to_string();
//!     let newcomer = Newcomer { id, host, remote, door: "mysql", now_us: id, may_reserve: false };
//!     places.take(newcomer, &bounds, |_| None)
//! };
//! let a = connect(1).unwrap_or_else(|_| panic!("2 of 2 places are free"));
//! a.peer.owes_nothing(); // a has logged in
//! let b = connect(2).unwrap_or_else(|_| panic!("1 of 2 places is free"));
//! let c = connect(3).unwrap_or_else(|_| panic!("b owes its login"));
//! assert!(!b.has_evicted && c.has_evicted);
//! c.peer.owes_nothing();
//! assert_eq!(connect(4).err(), Some(Full::Places));
//! ```

mod budget;
mod clock;
mod coming;
pub mod counters;
pub mod errors;
mod faults;
mod freeing;
pub mod json_texts;
pub mod limits;
mod list_variables;
pub mod movable;
pub mod near;
mod node;
pub mod places;
mod profiled;
pub mod query_log;
mod remote;
mod rights;
pub mod scheduler;
pub mod searches;
mod session;
pub mod statement;
mod temporary;
pub mod units;
pub mod webhook_target;

pub use budget::{Budget, Grant, Room};
pub use clock::{Clock, civil};
pub use faults::{Faults, ReadFault};
pub use node::{Bounds, Node, SetSetting, guarded};
pub use remote::Remote;
pub use rights::{Action, Deed};
pub use session::{Session, check_name};

/// Version text of the MySQL greeting and of VERSION(). It begins with a version of MySQL 8: clients and drivers pick their
/// SQL and their login by it.
pub const VERSION: &str = concat!("8.0.36-seine-", env!("CARGO_PKG_VERSION"));
