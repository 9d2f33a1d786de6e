//! The server: doors, settings, health, metrics, webhooks, from the first listening socket to the last checkpoint.
//!
//! One statement from socket to answer, `SELECT id FROM news WHERE MATCH('cats')` at the MySQL door:
//!
//! ```text
//! Listener::accept, Server::accept      a socket; a task of its own serves it
//! Server::admit → Places::take          a place, or an error packet: MySQL 1040
//! handshake::shake                      greeting, login, OK; then Peer::owes_nothing: the place is safe
//! Socket::packet                        bytes → a packet; Grant::reserve pays for the buffer before it grows
//! Connection::query                     the command is COM_QUERY: its payload is SQL text
//! session::statement::next              text → Parsed, by wire::sql::parse
//! session::statement::execute           Parsed → Outcome::Rows; Node::snapshot, then the search on this thread
//! Connection::write_rows                Sending::begin: column definitions; Sending::fill: rows, until 64 KiB wait
//! Socket::send                          the encoder's bytes → socket; no more rows are read until the client took them
//! Session::sent, Encoder::end_rows      SHOW META is settled; the last packet has the count of warnings
//! ```
//!
//! An INSERT takes the same way up to `execute`. There `Node::submit` sends a command to the engine's mailbox. The reply comes
//! after the sync of its batch, and `Connection::write` encodes it as one OK packet.
//!
//! Over HTTP, `http::routes` names a handler for each path. `guard::own_page` and `guard::login` run before it, `body::whole`
//! reads the body, and the handler ends in the same `execute`. Its reply is built whole before it is sent.
//!
//! A server is made from its settings, and those from four sources; the first that names a setting wins:
//!
//! ```
//! use server::settings::{Settings, Sources};
//!
//! let sources = Sources {
//!     flags: &|flag| (flag == "data").then(|| vec!["/var/lib/seine".to_owned()]),
//!     environment: &|name| (name == "SEINE_MEMORY").then(|| "2GiB".to_owned()),
//!     config: Some("/dev/null".as_ref()),
//! };
//! let settings = Settings::load(&sources)?;
//! assert_eq!(settings.data, std::path::Path::new("/var/lib/seine"));
//! assert_eq!(settings.memory_bytes, 2 << 30);
//! # Ok::<(), server::settings::BadSetting>(())
//! ```

mod auth;
mod backups;
mod http;
mod life;
mod limits;
mod listen;
mod logins;
mod logs;
mod mysql;
mod query_log;
mod random;
mod scribe;
mod server;
pub mod settings;
mod signals;
mod sparse;
mod syslog;
mod touch;
mod webhook;

pub use life::serve;
pub use scribe::{CheckedScribe, check as check_scribe};
pub use webhook::as_json;
