//! The MySQL door: one task a connection, one statement at a time, results sent as they are made.

mod connection;
mod handshake;
mod results;
mod socket;

use std::sync::Arc;

use wire::mysql::{Capabilities, Encoder};

use crate::listen::{Listener, Stream};
use crate::node::Node;
use connection::Connection;
use socket::{Ended, Socket};

/// What clients are told the server is. MySQL 8's number in front, as clients and drivers choose their ways by it.
pub const VERSION: &str = concat!("8.0.36-seine-", env!("CARGO_PKG_VERSION"));

/// Serves one listener until the server stops; connections then end after their statement.
pub async fn listen(node: Arc<Node>, listener: Listener) {
    let mut stopping = node.stopping();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stopping.wait_for(|stop| *stop) => return,
        };
        match accepted {
            Ok(stream) => {
                tokio::spawn(serve(Arc::clone(&node), stream));
            }
            Err(error) => {
                node.could_not_accept("mysql", &error).await;
            }
        }
    }
}

/// One connection from its first byte to its last.
async fn serve(node: Arc<Node>, stream: Stream) {
    let patience = node.settings().live.client_timeout;
    let admitted = node.admit("mysql", &stream);
    let mut socket = Socket::new(Arc::clone(&node), stream, patience);
    let admitted = match admitted {
        Ok(admitted) => admitted,
        Err(failure) => {
            // The refusal takes the greeting's place; nobody waits for its outcome.
            let mut encoder = Encoder::new(Capabilities::SERVER);
            encoder.start(0);
            results::error(&mut encoder, &failure);
            let _ = socket.send(&mut encoder).await;
            return;
        }
    };
    let shaken = tokio::select! {
        shaken = handshake::shake(&node, &mut socket, &admitted.peer) => shaken,
        () = admitted.peer.killed.notified() => return,
    };
    let ended = match shaken {
        Ok(Some(guest)) => {
            socket.logged_in();
            Connection::new(Arc::clone(&node), socket, &admitted, guest)
                .run()
                .await
        }
        Ok(None) => Ok(()),
        Err(Ended::Broken(error)) => {
            // Nobody waits for the outcome, nor for what else a stranger sends.
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
