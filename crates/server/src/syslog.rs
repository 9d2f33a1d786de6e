//! The syslog door: messages of RFC 5424 and RFC 3164, by streams and by datagrams, on their way to the journal.
//!
//! # Example
//! A read of a stream gives `<34>Oct 11 22:14:15 db su[7]: no` and two lines of `nginx`:
//!
//! | | function | what it does |
//! |---|---|---|
//! | 1 | `connection.rs::receive` | reads what has come, at most 1 MiB |
//! | 2 | `batch.rs::push` | finds category, host and time of each message: `su`, `db`, 22:14:15 |
//! | 3 | [`Scribe::take`] | one record of three messages in the journal, synced as their categories ask |
//! | 4 | `connection.rs::run` | reads again |
//!
//! Syslog has no answer. A stream whose messages cannot be taken now is not read until they are taken, so its sender keeps what
//! follows. A datagram that cannot be taken now is dropped and counted. Each stream and each UDP socket has one call under way,
//! so that none stands before others more than once.

mod batch;
mod connection;
mod udp;

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::net::UdpSocket;

use crate::listen::Listener;
use crate::scribe::Scribe;
use crate::server::Server;
use crate::settings::{CategoryBy, Settings};
use crate::sparse::Sparse;

/// What all streams and sockets of the door share.
struct Door {
    server: Arc<Server>,
    scribe: Arc<Scribe>,
    category: CategoryBy,
    told: Told,
}

/// Log lines that strangers cause.
#[derive(Default)]
struct Told {
    /// Streams closed because of a bad length.
    broken: Sparse,
    /// Streams closed because there is no memory for a message.
    no_memory: Sparse,
    /// Messages that can never be taken.
    never: Sparse,
    /// Messages of streams that a stop of the server gives up.
    given_up: Sparse,
    /// Dropped datagrams.
    dropped: Sparse,
    /// UDP sockets that fail.
    failed: Sparse,
}

/// The sockets of the door.
pub(crate) struct Bound {
    streams: Vec<Listener>,
    datagrams: Vec<(UdpSocket, SocketAddr)>,
}

/// Binds all addresses of the door; none in a server that only reads.
///
/// # Errors
/// One line: an address that cannot be bound.
pub(crate) async fn bind(settings: &Settings) -> Result<Bound, String> {
    let mut bound = Bound {
        streams: Vec::new(),
        datagrams: Vec::new(),
    };
    if settings.read_only {
        return Ok(bound);
    }
    for address in &settings.syslog {
        let listener = Listener::bind(address).await;
        let listener = listener.map_err(|error| format!("cannot listen on {address}: {error}"))?;
        bound.streams.push(listener);
    }
    for address in &settings.syslog_udp {
        let socket = udp::bind(&address.to_string()).await;
        let socket = socket.map_err(|error| format!("cannot bind udp {address}: {error}"))?;
        bound.datagrams.push(socket);
    }
    Ok(bound)
}

impl Bound {
    /// Names of the doors that are open, and their addresses with commas between them.
    pub(crate) fn names(&self) -> Vec<(&'static str, String)> {
        let streams = self.streams.iter().map(|one| one.address().to_string());
        let datagrams = self
            .datagrams
            .iter()
            .map(|(_, address)| address.to_string());
        let both: [(_, Vec<String>); 2] = [
            ("syslog", streams.collect()),
            ("syslog_udp", datagrams.collect()),
        ];
        let open = both.iter().filter(|(_, addresses)| !addresses.is_empty());
        open.map(|(name, addresses)| (*name, addresses.join(",")))
            .collect()
    }

    /// Serves all sockets until the server stops.
    pub(crate) fn listen(self, server: &Arc<Server>, scribe: &Arc<Scribe>) {
        let door = Arc::new(Door {
            server: Arc::clone(server),
            scribe: Arc::clone(scribe),
            category: server.settings().syslog_category.clone(),
            told: Told::default(),
        });
        for listener in self.streams {
            tokio::spawn(listen(Arc::clone(&door), listener));
        }
        for (socket, _) in self.datagrams {
            tokio::spawn(udp::serve(Arc::clone(&door), socket));
        }
    }
}

async fn listen(door: Arc<Door>, listener: Listener) {
    let connected = |stream| connection::serve(Arc::clone(&door), stream);
    door.server.accept("syslog", listener, connected).await;
}
