//! Places of connections: who is connected, and who is let in when no place is left.
//!
//! Example, with `connections_max = 2`: A has logged in, B has connected and said nothing. C connects: B is closed and C gets its
//! place. C logs in. D connects: A and C are clients at work, so D is refused, unless it asks for the server's health or owns it.
//!
//! Invariants:
//! - At most `connections_max` connections hold an ordinary place, and at most [`RESERVED_PLACES`] of each door a reserved one.
//! - A connection that owes something (its login, the head of a request, more of a body) loses its place to a newcomer when
//!   none is left; the one that owes for longest goes first. A connection that owes nothing keeps its place.
//! - A reserved place is for health checks and for the server's owner. The doors refuse anything else there.

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
    /// Where it comes from.
    pub host: String,
    /// The same, as limits and failed logins are counted by.
    pub remote: Remote,
    /// Which door.
    pub door: &'static str,
    /// Since when, in steady microseconds.
    pub since_us: u64,
    /// Tells whether it is still there while a search keeps its task busy; `None` where nobody looks.
    pub client: Option<IsGone>,
    /// Rings when KILL names this connection, or a newcomer got its place.
    pub killed: Notify,
    /// Whether its place is a reserved one.
    pub is_reserved: bool,
    /// Since when it owes something, in steady microseconds and at least 1; 0: it owes nothing.
    owes_since_us: AtomicU64,
}

impl Peer {
    /// From now on the client has to send something.
    pub fn owes(&self, now_us: u64) {
        self.owes_since_us.store(now_us.max(1), Ordering::Relaxed);
    }

    /// The client has sent all that it had to.
    pub fn owes_nothing(&self) {
        self.owes_since_us.store(0, Ordering::Relaxed);
    }
}

/// A client that wants a place.
pub struct Newcomer {
    /// Its number.
    pub id: u64,
    /// Where it comes from, for people.
    pub host: String,
    /// Where it comes from.
    pub remote: Remote,
    /// Which door.
    pub door: &'static str,
    /// When it came, in steady microseconds.
    pub now_us: u64,
    /// Whether it may have a reserved place: its door asks it there for a proof.
    pub may_reserve: bool,
}

/// How many may be connected.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Over all.
    pub connections_max: usize,
    /// From one address; `None`: half of them, and any number from this machine.
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
    /// All are taken.
    Places,
    /// Those of this address are.
    Address,
}

/// What a newcomer got.
pub struct Taken {
    /// Itself.
    pub peer: Arc<Peer>,
    /// Whether another lost its place for it.
    pub has_evicted: bool,
}

/// The open connections, by number.
#[derive(Default)]
pub struct Places(Mutex<BTreeMap<u64, Arc<Peer>>>);

impl Places {
    /// Gives a place, or says why there is none. `client` is called, with the number of open connections, only for a newcomer
    /// that is let in. Costs a look at every open connection where places are scarce.
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

    /// Why there is no ordinary place, after the one that owes for longest has lost its own.
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

    /// Closes the connection that owes something for longest; false where none owes. For when the process has no file descriptor
    /// left for a newcomer.
    pub fn evict(&self) -> bool {
        let mut peers = self.lock();
        let open = peers.len();
        let mut has_evicted = false;
        make_room(&mut peers, open, |_| true, &mut has_evicted);
        has_evicted
    }

    /// A connection is gone. Gives how many are left.
    pub fn leave(&self, id: u64) -> usize {
        let mut peers = self.lock();
        peers.remove(&id);
        peers.len()
    }

    /// The open connections, by number.
    pub fn all(&self) -> Vec<Arc<Peer>> {
        self.lock().values().cloned().collect()
    }

    /// One of them.
    pub fn get(&self, id: u64) -> Option<Arc<Peer>> {
        self.lock().get(&id).cloned()
    }

    /// How many are open.
    pub fn count(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Peer>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether fewer than `most` of these connections are open, once the one that owes something for longest was closed where that
/// is what it takes.
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
    // More than one too many are there only after a reload lowered the bound: those go as they end.
    let Some((_, id)) = oldest.filter(|_| count == most) else {
        return false;
    };
    if let Some(evicted) = peers.remove(&id) {
        evicted.killed.notify_one();
        *has_evicted = true;
    }
    true
}
