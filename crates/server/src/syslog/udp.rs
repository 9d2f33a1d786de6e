//! Datagrams of the syslog door: all that wait become one call. What cannot be taken now is dropped and counted.
//!
//! Datagrams come after everything else: they are dropped while messages on their way to stores take more than
//! [`SYSLOG_UDP_SHARE_OF_MEMORY`] allows, which is less than half of what streams and calls of Scribe may fill.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use session::Session;
use session::counters::add;
use socket2::SockRef;
use tokio::net::UdpSocket;
use wire::syslog::Frame;

use super::Door;
use super::batch::Batch;
use crate::limits::{
    ACCEPT_PAUSE, SCRIBE_LOG_EVERY, SYSLOG_UDP_BYTES, SYSLOG_UDP_PENDING_MAX,
    SYSLOG_UDP_SHARE_OF_MEMORY, SYSLOG_UDP_SOCKET_BYTES,
};
use crate::scribe::{Intake, Sender};

/// Longest datagram. Bytes.
const DATAGRAM_BYTES: usize = 64 << 10;

/// Binds a socket. The system may give it a smaller receive buffer than asked for.
pub(super) async fn bind(address: &str) -> io::Result<(UdpSocket, SocketAddr)> {
    let socket = UdpSocket::bind(address).await?;
    // A smaller buffer loses datagrams earlier, and nothing else.
    let _ = SockRef::from(&socket).set_recv_buffer_size(SYSLOG_UDP_SOCKET_BYTES);
    let bound = socket.local_addr()?;
    Ok((socket, bound))
}

/// Takes datagrams until the server stops.
pub(super) async fn serve(door: Arc<Door>, socket: UdpSocket) {
    let id = door.server.next_session();
    let session = Session::new(id, String::new(), "udp".to_owned(), None);
    let mut stopping = door.server.stopping();
    let mut datagram = vec![0; DATAGRAM_BYTES];
    let mut batch = Batch::default();
    loop {
        let ready = tokio::select! {
            ready = socket.readable() => ready,
            _ = stopping.wait_for(|stop| *stop) => return,
        };
        let received = ready.and_then(|()| receive(&door, &socket, &mut datagram, &mut batch));
        take(&door, &session, &batch).await;
        if let Err(error) = received {
            let now_us = door.server.clock.steady_us();
            if let Some(count) = door.told.failed.due(SCRIBE_LOG_EVERY, now_us) {
                tracing::warn!(%error, count, "a UDP socket of the syslog door failed; count: those since the last such line");
            }
            tokio::time::sleep(ACCEPT_PAUSE).await;
        }
        // A socket that always has datagrams must leave the thread to others.
        tokio::task::yield_now().await;
    }
}

/// Reads the datagrams that wait into the batch, until it is full.
fn receive(
    door: &Door,
    socket: &UdpSocket,
    datagram: &mut [u8],
    batch: &mut Batch,
) -> io::Result<()> {
    batch.begin(SYSLOG_UDP_BYTES, "");
    let arrival = door.arrival();
    let mut last: Option<IpAddr> = None;
    while !batch.is_full() {
        let (count, from) = match socket.try_recv_from(datagram) {
            Ok(received) => received,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
            Err(error) => return Err(error),
        };
        let address = from.ip().to_canonical();
        if last.replace(address) != Some(address) {
            batch.sender(&address.to_string());
        }
        let frame = Frame {
            bytes: datagram.get(..count).unwrap_or_default(),
            is_begin: true,
            is_end: true,
        };
        batch.push(frame, arrival, &door.category);
    }
    Ok(())
}

/// Has the datagrams taken, or drops them.
async fn take(door: &Door, session: &Session, batch: &Batch) {
    if batch.is_empty() {
        return;
    }
    let server = &door.server;
    let sender = Sender {
        server,
        session,
        held_bytes: Batch::held_bytes(SYSLOG_UDP_BYTES),
        count: batch.len(),
        text_bytes: batch.text_bytes(),
    };
    let share = server.settings().memory_bytes / SYSLOG_UDP_SHARE_OF_MEMORY;
    let is_behind = server.messages_pending_bytes() > share.min(SYSLOG_UDP_PENDING_MAX);
    let intake = match is_behind {
        true => Intake::Later,
        false => door.scribe.take(&sender, batch.messages()).await,
    };
    let why = match intake {
        Intake::Taken => return door.count(batch),
        Intake::Later => "the server is overloaded, starts, stops, or has no room".to_owned(),
        Intake::Never(why) => why,
    };
    add(&server.counters.syslog_dropped, batch.len() as u64);
    if let Some(count) = door
        .told
        .dropped
        .due(SCRIBE_LOG_EVERY, server.clock.steady_us())
    {
        tracing::warn!(
            why,
            count,
            "dropped datagrams of the syslog door; count: calls since the last such line"
        );
    }
}
