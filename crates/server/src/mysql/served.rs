//! Clients that are being served, and how long the next packet of one is waited for awake.
//!
//! A thread that sleeps in the kernel takes tens of microseconds to wake, as long as a look-up by id takes. A client that asks one
//! thing after the other would wait for that each time. So the only client that is being served is waited for awake, for a moment.
//! With a second one nobody waits so: the processor's time would be taken from the other's statement.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

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

    /// Returns after `most`, or once another client is served. Meanwhile the event loop looks at all sockets again and again.
    pub(super) async fn moment(&self, most: Duration) {
        let begun = Instant::now();
        while self.server.served.load(Ordering::Relaxed) == 1 && begun.elapsed() < most {
            tokio::task::yield_now().await;
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.server.served.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::task::Poll;

    use super::*;
    use crate::server::tests::server;

    #[tokio::test]
    async fn only_a_client_that_is_served_alone_is_waited_for_and_no_longer_than_told() {
        let server = server();
        let one = Served::new(&server);
        one.moment(Duration::ZERO).await;
        let mut hour = std::pin::pin!(one.moment(Duration::from_secs(3600)));
        let mut waits = poll_fn(|context| Poll::Ready(hour.as_mut().poll(context).is_pending()));
        assert!((&mut waits).await);
        drop(Served::new(&server));
        assert!((&mut waits).await, "the other one is gone");
        let _two = Served::new(&server);
        assert!(!waits.await);
    }
}
