//! State that all connections of one server share: the node that does their statements, settings, failed logins.

#[cfg(test)]
pub(crate) mod tests;

use std::ops::Deref;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use engine::SessionId;
use relation::value::Value;
use session::errors::{self, Failure};
use session::movable::Movable;
use session::places::{self, Full, Newcomer, Peer};
use session::statement::{self, Outcome};
use session::{Faults, Node, Session};

use crate::limits::{ACCEPT_PAUSE, EVICTION_PAUSE, WATCHED_CONNECTIONS_MAX};
use crate::listen::{Listener, Stream};
use crate::logins::Logins;
use crate::logs::Logs;
use crate::settings::{Settings, Unsettable};
use crate::touch::flood::Flood;

/// Session of the commands of the server itself.
pub(crate) const OWN_SESSION: SessionId = SessionId(0);

/// The server. Connections hold it by reference count.
pub(crate) struct Server {
    node: Node,
    /// Failed logins, by address.
    pub(crate) logins: Logins,
    /// Bounds of touches.
    pub(crate) flood: Flood,
    /// Clients of the MySQL door that are being served.
    pub(crate) served: AtomicUsize,
    settings: RwLock<Arc<Settings>>,
}

impl Deref for Server {
    type Target = Node;

    fn deref(&self) -> &Node {
        &self.node
    }
}

impl Server {
    /// A server without an engine: [`Node::serve`] opens it for statements.
    pub(crate) fn new(settings: Settings, faults: Faults) -> Server {
        let (memory_bytes, threads) = (settings.memory_bytes, settings.threads);
        Server {
            node: Node::new(memory_bytes, threads, settings.bounds(), faults),
            logins: Logins::default(),
            flood: Flood::default(),
            served: AtomicUsize::new(0),
            settings: RwLock::new(Arc::new(settings)),
        }
    }

    /// The current settings.
    pub(crate) fn settings(&self) -> Arc<Settings> {
        Arc::clone(&self.settings.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Replaces the settings that SIGHUP may change with those that were read again.
    pub(crate) fn reload(&self, read: &Settings, logs: &Logs) {
        let changed = self.change(|settings| Ok(settings.reloaded(read)), logs);
        debug_assert_eq!(changed, Ok(()), "settings that were read are valid");
    }

    /// SET GLOBAL of a setting. `text`: its value; `None`: its default. It holds until SIGHUP or a start reads the settings.
    ///
    /// # Errors
    /// `READ_ONLY_VARIABLE`: a name that SET GLOBAL does not change. `INVALID`: a value that the setting does not take.
    pub(crate) fn set_global(
        &self,
        name: &str,
        text: Option<&str>,
        logs: &Logs,
    ) -> Result<(), Failure> {
        let changed = self.change(|settings| settings.with(name, text), logs);
        changed.map_err(|why| match why {
            Unsettable::Name(why) => Failure::new(errors::READ_ONLY_VARIABLE, why),
            Unsettable::Value(why) => Failure::new(errors::INVALID, why),
        })
    }

    /// Puts other settings in the place of these. One change ends before the next begins.
    fn change(
        &self,
        make: impl FnOnce(&Settings) -> Result<Settings, Unsettable>,
        logs: &Logs,
    ) -> Result<(), Unsettable> {
        let mut settings = self
            .settings
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let changed = make(&settings)?;
        self.node.set_bounds(changed.bounds());
        let least = changed.live.query_log_least_ms;
        self.node.query_log.set_least(least);
        if changed.live.log != settings.live.log {
            logs.set(&changed.live.log);
        }
        *settings = Arc::new(changed);
        Ok(())
    }

    /// Runs one statement as the server itself, and gives its rows.
    ///
    /// # Errors
    /// Those of the statement.
    pub(crate) async fn run(&self, sql: &str) -> Result<Vec<Vec<Value>>, Failure> {
        let mut session = Session::new(OWN_SESSION, String::new(), String::new(), None);
        let Some((parsed, _)) = statement::next(self, &session, sql.as_bytes()).await else {
            return Ok(Vec::new());
        };
        match statement::execute(self, &mut session, parsed).await? {
            Outcome::Rows(found) => {
                let rows: Result<Vec<_>, _> = found.answer.rows.collect();
                Ok(rows?)
            }
            Outcome::Done { .. } | Outcome::Several(_) | Outcome::Pq(_) => Ok(Vec::new()),
        }
    }

    /// Gives a client a place among the connections. Errors: `TOO_MANY_CONNECTIONS`.
    pub(crate) fn admit(
        self: &Arc<Server>,
        door: &'static str,
        stream: &Stream,
    ) -> Result<Admitted, Failure> {
        self.admit_watching(door, stream, WATCHED_CONNECTIONS_MAX)
    }

    /// As [`Server::admit`]. The client is watched only if fewer than `watched_max` connections are open.
    fn admit_watching(
        self: &Arc<Server>,
        door: &'static str,
        stream: &Stream,
        watched_max: usize,
    ) -> Result<Admitted, Failure> {
        let settings = self.settings();
        let bounds = places::Bounds {
            connections_max: settings.live.connections_max,
            per_address_max: settings.live.connections_per_address,
        };
        let remote = stream.remote;
        let newcomer = Newcomer {
            id: self.next_session().0,
            host: stream.host.clone(),
            remote,
            door,
            now_us: self.clock.steady_us(),
            // The HTTP door checks each request of a reserved place. At the MySQL door the login is the check.
            may_reserve: door == "http"
                || remote.is_owners_process()
                || remote.is_local() && settings.live.login.is_some(),
        };
        let client = |open: usize| {
            let is_watched = open < watched_max;
            is_watched.then(|| stream.watched()).flatten()
        };
        match self.places.take(newcomer, &bounds, client) {
            Ok(taken) => {
                let counters = &self.counters;
                counters.connections.fetch_add(1, Ordering::Relaxed);
                counters
                    .evicted
                    .fetch_add(u64::from(taken.has_evicted), Ordering::Relaxed);
                let open = self.places.count() as u64;
                counters.connections_open.store(open, Ordering::Relaxed);
                Ok(Admitted {
                    server: Arc::clone(self),
                    peer: taken.peer,
                })
            }
            Err(Full::Places) => Err(self.no_place("too many connections")),
            Err(Full::Address) => {
                Err(self
                    .no_place("too many connections from this address: connections_per_address"))
            }
        }
    }

    /// Accepts clients and serves each by a task of its own, until the server stops.
    pub(crate) async fn accept<C: Future<Output = ()> + Send + 'static>(
        &self,
        door: &'static str,
        listener: Listener,
        connected: impl Fn(Stream) -> C,
    ) {
        let mut stopping = self.stopping();
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                _ = stopping.wait_for(|stop| *stop) => return,
            };
            match accepted {
                Ok(stream) => {
                    let scheduler = Arc::clone(&self.scheduler);
                    drop(tokio::spawn(Movable::new(scheduler, connected(stream))));
                }
                Err(error) => self.could_not_accept(door, &error).await,
            }
        }
    }

    /// Handles a failed accept: usually no file descriptor is left. Evicts a connection that owes something, and pauses.
    async fn could_not_accept(&self, door: &'static str, error: &std::io::Error) {
        if self.places.evict() {
            self.counters.evicted.fetch_add(1, Ordering::Relaxed);
            // The evicted connection's task closes its socket as soon as it runs.
            tokio::time::sleep(EVICTION_PAUSE).await;
        } else {
            tracing::warn!(%error, door, "cannot accept a connection");
            tokio::time::sleep(ACCEPT_PAUSE).await;
        }
    }

    /// Counts a client without a place and gives its refusal.
    pub(crate) fn no_place(&self, message: &str) -> Failure {
        self.counters.refused.fetch_add(1, Ordering::Relaxed);
        Failure::new(errors::TOO_MANY_CONNECTIONS, message)
    }

    /// Whether a client that has passed the login, if one is set, is the server's owner.
    ///
    /// A client on a unix socket is the owner if it runs as the server's user or root. With a login set, any other client on
    /// this machine is too.
    pub(crate) fn is_owner(&self, peer: &Peer) -> bool {
        let has_login = self.settings().live.login.is_some();
        peer.remote.is_owners_process() || has_login && peer.remote.is_local()
    }

    /// Waits as long as the earlier failed logins of this client's address demand.
    pub(crate) async fn slow_login(&self, peer: &Peer) {
        let delay = self.logins.delay(peer.remote, self.clock.steady_us());
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
    }

    /// Records a failed login, and logs it unless the last such line is too recent.
    pub(crate) fn login_failed(&self, peer: &Peer) {
        self.counters.logins_refused.fetch_add(1, Ordering::Relaxed);
        let now_us = self.clock.steady_us();
        if let Some(count) = self.logins.failed(peer.remote, now_us) {
            let (address, door) = (peer.remote, peer.door);
            tracing::warn!(%address, door, count, "a login failed; count: those since the last such line");
        }
    }
}

/// A place among the connections; dropping it gives the place back.
pub(crate) struct Admitted {
    server: Arc<Server>,
    /// The place that the connection holds.
    pub(crate) peer: Arc<Peer>,
}

impl Drop for Admitted {
    fn drop(&mut self) {
        let open = self.server.places.leave(self.peer.id) as u64;
        let counters = &self.server.counters;
        counters.connections_open.store(open, Ordering::Relaxed);
    }
}
