//! Places of connections: who is connected, and who is let in when no place is left.
//!
//! A connection owes something while the server waits for its login, for the head of a request or for more of a body. Example
//! with `connections_max = 2`, each client at an address of its own. A number is the second since which a connection owes
//! something; `–` means that it owes nothing:
//!
//! ```text
//! second  event                              ordinary places   reserved places
//! 1       A connects over HTTP               A 1
//! 2       B connects over MySQL              A 1  B 2
//! 3       A's request has come               A –  B 2
//! 4       C connects over MySQL              A –  C 4                            B is evicted: it owes for longest
//! 5       C has logged in                    A –  C –
//! 6       D connects over HTTP               A –  C –          D 6               D may ask for /livez and /readyz
//! 7       E, a stranger, over MySQL          A –  C –          D 6               E is refused: MySQL 1040
//! 8       A's answer is sent                 A 8  C –          D 6               A owes its next request
//! 9       E connects again                   E 9  C –          D 6               A is evicted
//! ```
//!
//! Invariants:
//! - At most `connections_max` connections hold an ordinary place. At most [`RESERVED_PLACES`] of each door hold a reserved one.
//!   Only a reload that lowers `connections_max` breaks this; the surplus goes as connections end.
//! - A newcomer for which no place is left evicts the connection that owes for longest, of those whose place it could take. It
//!   never evicts one that owes nothing.
//! - A connection holds a reserved place only if no ordinary place was left when it came. A door serves health checks and the
//!   server's owner there, and refuses everything else.
//!
//! Operations: [`Places::take`] as a connection comes, [`Peer::owes`] and [`Peer::owes_nothing`] as its requests come and go,
//! [`Places::leave`] as it ends. [`Places::evict`] frees a file descriptor.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::limits::RESERVED_PLACES;
use crate::remote::Remote;
use crate::searches::IsGone;

/// One open connection, as SHOW PROCESSLIST lists it.
pub struct Peer {
    /// The session's number; MySQL's connection id.
    pub id: u64,
    /// The client's address for people: `ip:port` or `unix`.
    pub host: String,
    /// The client's address as limits and failed logins count it.
    pub remote: Remote,
    /// `mysql` or `http`.
    pub door: &'static str,
    /// When it connected, in steady microseconds.
    pub since_us: u64,
    /// Tells whether the client has closed the connection, while a search keeps its task busy. `None`: not watched.
    pub client: Option<IsGone>,
    /// Notified when KILL names this connection, or when it is evicted. Its task then closes the socket.
    pub killed: Notify,
    /// Whether it holds a reserved place.
    pub is_reserved: bool,
    /// Since when it owes something, in steady microseconds, at least 1. 0: it owes nothing.
    owes_since_us: AtomicU64,
}

impl Peer {
    /// The client must send something from now on: it may be evicted.
    pub fn owes(&self, now_us: u64) {
        self.owes_since_us.store(now_us.max(1), Ordering::Relaxed);
    }

    /// The server has all that it waited for: the connection cannot be evicted.
    pub fn owes_nothing(&self) {
        self.owes_since_us.store(0, Ordering::Relaxed);
    }
}

/// A client that asks for a place; the fields are those of [`Peer`].
pub struct Newcomer {
    /// Session number, unique in this process.
    pub id: u64,
    /// The client's address for people.
    pub host: String,
    /// The client's address as limits count it.
    pub remote: Remote,
    /// `mysql` or `http`.
    pub door: &'static str,
    /// The time of the connection, in steady microseconds.
    pub now_us: u64,
    /// Whether it may get a reserved place. Its door then checks that it is a health check or the owner.
    pub may_reserve: bool,
}

/// Most connections at a time.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Most ordinary places, of all addresses and doors.
    pub connections_max: usize,
    /// Most ordinary places of one network address. `None`: half of `connections_max`, and no limit for this machine.
    /// Unix sockets have no such limit.
    pub per_address_max: Option<usize>,
}

impl Bounds {
    fn of_address(&self, remote: Remote) -> usize {
        match (remote, self.per_address_max) {
            (Remote::Unix(_), _) => usize::MAX,
            (Remote::Ip(_), Some(most)) => most,
            (Remote::Ip(_), None) if remote.is_local() => usize::MAX,
            (Remote::Ip(_), None) => (self.connections_max / 2).max(1),
        }
    }
}

/// Why there is no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Full {
    /// All places are taken by connections that owe nothing.
    Places,
    /// The places of this address are taken by connections that owe nothing.
    Address,
}

/// A newcomer's place.
pub struct Taken {
    /// The newcomer, now a peer. It owes its login or its first request.
    pub peer: Arc<Peer>,
    /// Whether another connection was evicted for it.
    pub has_evicted: bool,
}

/// The open connections, by session number.
#[derive(Default)]
pub struct Places(Mutex<BTreeMap<u64, Arc<Peer>>>);

impl Places {
    /// Gives an ordinary place; else a reserved one, if the newcomer may have it; else says why there is none.
    ///
    /// `client` makes [`Peer::client`]. It is called only for a newcomer that is let in, with the count of other open
    /// connections. Cost: O(log n) while places are free, O(n) in the open connections once they are scarce.
    pub fn take(
        &self,
        newcomer: Newcomer,
        bounds: &Bounds,
        client: impl FnOnce(usize) -> Option<IsGone>,
    ) -> Result<Taken, Full> {
        let mut peers = self.lock();
        let mut has_evicted = false;
        let full = Places::full(&mut peers, &newcomer, bounds, &mut has_evicted);
        if let Some(full) = full {
            let beside = |peer: &Peer| peer.is_reserved && peer.door == newcomer.door;
            let may_enter = newcomer.may_reserve
                && make_room(&mut peers, RESERVED_PLACES, beside, &mut has_evicted);
            if !may_enter {
                return Err(full);
            }
        }
        let peer = Arc::new(Peer {
            id: newcomer.id,
            host: newcomer.host,
            remote: newcomer.remote,
            door: newcomer.door,
            since_us: newcomer.now_us,
            client: client(peers.len()),
            killed: Notify::new(),
            is_reserved: full.is_some(),
            owes_since_us: AtomicU64::new(newcomer.now_us.max(1)),
        });
        peers.insert(peer.id, Arc::clone(&peer));
        Ok(Taken { peer, has_evicted })
    }

    /// Tries to free an ordinary place for the newcomer, by an eviction if need be. `None`: one is free now.
    fn full(
        peers: &mut BTreeMap<u64, Arc<Peer>>,
        newcomer: &Newcomer,
        bounds: &Bounds,
        has_evicted: &mut bool,
    ) -> Option<Full> {
        let ordinary = |peer: &Peer| !peer.is_reserved;
        let of_address = |peer: &Peer| ordinary(peer) && peer.remote == newcomer.remote;
        let most = bounds.of_address(newcomer.remote);
        if most != usize::MAX && !make_room(peers, most, of_address, has_evicted) {
            return Some(Full::Address);
        }
        if !make_room(peers, bounds.connections_max, ordinary, has_evicted) {
            return Some(Full::Places);
        }
        None
    }

    /// Evicts the connection that owes for longest; false if none owes anything. For a process without a free file descriptor.
    pub fn evict(&self) -> bool {
        let mut peers = self.lock();
        let open = peers.len();
        let mut has_evicted = false;
        make_room(&mut peers, open, |_| true, &mut has_evicted);
        has_evicted
    }

    /// Removes a connection that has ended, if it is still there. Gives the count of those left.
    pub fn leave(&self, id: u64) -> usize {
        let mut peers = self.lock();
        peers.remove(&id);
        peers.len()
    }

    /// The open connections, by rising number.
    pub fn all(&self) -> Vec<Arc<Peer>> {
        self.lock().values().cloned().collect()
    }

    /// The open connection of this number.
    pub fn get(&self, id: u64) -> Option<Arc<Peer>> {
        self.lock().get(&id).cloned()
    }

    /// Count of open connections, reserved places included.
    pub fn count(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Peer>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes sure that fewer than `most` of the connections that `these` selects are open. If exactly `most` are, it evicts the
/// selected connection that owes for longest. False if that does not do.
fn make_room(
    peers: &mut BTreeMap<u64, Arc<Peer>>,
    most: usize,
    these: impl Fn(&Peer) -> bool,
    has_evicted: &mut bool,
) -> bool {
    if peers.len() < most {
        return true;
    }
    let mut count = 0;
    let mut oldest: Option<(u64, u64)> = None;
    for peer in peers.values().filter(|peer| these(peer)) {
        count += 1;
        let since_us = peer.owes_since_us.load(Ordering::Relaxed);
        if since_us > 0 && oldest.is_none_or(|(least_us, _)| since_us < least_us) {
            oldest = Some((since_us, peer.id));
        }
    }
    if count < most {
        return true;
    }
    // More than `most` are open only after a reload has lowered the bound: they go as they end, one eviction would not do.
    let Some((_, id)) = oldest.filter(|_| count == most) else {
        return false;
    };
    if let Some(evicted) = peers.remove(&id) {
        evicted.killed.notify_one();
        *has_evicted = true;
    }
    true
}
