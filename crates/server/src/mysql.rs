//! The MySQL door: one task for each connection, one statement at a time, rows sent as they are read.

mod connection;
mod handshake;
mod results;
mod served;
mod socket;

use std::sync::Arc;

use connection::Connection;
use socket::{Ended, Socket};
use wire::mysql::{Capabilities, Encoder};

use crate::listen::{Listener, Stream};
use crate::server::Server;

/// Serves one listener until the server stops; connections then end after their statement.
pub(crate) async fn listen(server: Arc<Server>, listener: Listener) {
    let connected = |stream| connection(Arc::clone(&server), stream);
    server.accept("mysql", listener, connected).await;
}

/// One connection from its first byte to its last.
async fn connection(server: Arc<Server>, stream: Stream) {
    let patience = server.settings().live.client_timeout;
    let admitted = server.admit("mysql", &stream);
    let mut socket = Socket::new(Arc::clone(&server), stream, patience);
    let admitted = match admitted {
        Ok(admitted) => admitted,
        Err(failure) => {
            // The refusal takes the place of the greeting. Whether the client reads it does not matter.
            let mut encoder = Encoder::new(Capabilities::SERVER);
            encoder.start(0);
            results::error(&mut encoder, &failure);
            let _ = socket.send(&mut encoder).await;
            return;
        }
    };
    let shaken = tokio::select! {
        shaken = handshake::shake(&server, &mut socket, &admitted.peer) => shaken,
        () = admitted.peer.killed.notified() => return,
    };
    let ended = match shaken {
        Ok(Some(guest)) => {
            socket.logged_in();
            Connection::new(Arc::clone(&server), socket, &admitted, guest)
                .run()
                .await
        }
        Ok(None) => Ok(()),
        Err(Ended::Broken(error)) => {
            // Whether the client reads it does not matter. Unlike after a login, what else it sends is not drained.
            let mut encoder = Encoder::new(Capabilities::SERVER);
            encoder.start(error.sequence().wrapping_add(1));
            results::error(&mut encoder, &results::broken(error));
            let _ = socket.send(&mut encoder).await;
            Err(Ended::Broken(error))
        }
        Err(error) => Err(error),
    };
    if let Err(error) = ended {
        tracing::debug!(connection = admitted.peer.id, %error, "a MySQL connection ended");
    }
}
