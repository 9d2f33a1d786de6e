//! Clients that are being served, and how long the next packet of one is waited for awake.
//!
//! A thread that sleeps in the kernel takes tens of microseconds to wake, as long as a look-up by id takes. A client that asks one
//! thing after the other would wait for that each time. So the only client that is being served is waited for awake, for a moment.
//! With a second one nobody waits so: the processor's time would be taken from the other's statement.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use crate::limits::AWAKE_MAX;
use crate::server::Server;

/// A client whose statement runs, or was answered a moment ago.
pub(super) struct Served {
    server: Arc<Server>,
}

impl Served {
    pub(super) fn new(server: &Arc<Server>) -> Served {
        server.served.fetch_add(1, Ordering::Relaxed);
        Served {
            server: Arc::clone(server),
        }
    }

    /// Returns after [`AWAKE_MAX`], or once another client is served. Meanwhile the event loop looks at all sockets again and again.
    pub(super) async fn moment(&self) {
        let begun = Instant::now();
        while self.server.served.load(Ordering::Relaxed) == 1 && begun.elapsed() < AWAKE_MAX {
            tokio::task::yield_now().await;
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.server.served.fetch_sub(1, Ordering::Relaxed);
    }
}
