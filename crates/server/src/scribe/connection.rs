//! One connection of the Scribe door: reads a call, answers it, reads the next.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use session::counters::add;
use session::errors::Failure;
use session::limits::GRANT_FREE_BYTES;
use session::places::Peer;
use session::{Grant, Room, Session};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;
use wire::scribe::{MessageReader, Request, Transport};

use super::Scribe;
use super::answer::Caller;
use crate::limits::SCRIBE_LOG_EVERY;
use crate::listen::{Pace, Stream, TimedStream, TooSlow};
use crate::server::Server;
use crate::sparse::Sparse;

/// Largest buffer that is moved, decoded or freed on the event loop, in bytes.
pub(super) const INLINE_BYTES: usize = 1 << 20;

/// Why a connection ends.
enum Ended {
    /// The client closed it, or its socket failed.
    Gone(io::Error),
    /// The client was silent or too slow, or the server stops.
    Silent,
    /// The bytes are not Thrift; nothing can be answered.
    Broken(String),
    /// There is no memory for the message.
    Refused(Failure),
}

struct Connection<'a> {
    server: &'a Arc<Server>,
    scribe: &'a Scribe,
    peer: &'a Peer,
    address: Option<IpAddr>,
    session: Session,
    stream: TimedStream,
    reader: MessageReader,
    /// Memory of the read buffer.
    grant: Grant,
    patience: Duration,
    /// The answer that is sent next.
    out: Vec<u8>,
    /// Memory of a large answer.
    reply_memory: Grant,
}

/// One connection from its first byte to its last.
pub(super) async fn serve(server: Arc<Server>, scribe: Arc<Scribe>, stream: Stream) {
    // First: a client above `max_conn` must evict nobody.
    let Some(_connected) = scribe.connect() else {
        return; // Thrift has no greeting that could say why
    };
    let Ok(admitted) = server.admit("scribe", &stream) else {
        return;
    };
    let patience = server.settings().live.client_timeout;
    let session = Session::new(
        engine::SessionId(admitted.peer.id),
        String::new(),
        stream.host.clone(),
        None,
    );
    let mut connection = Connection {
        server: &server,
        scribe: &scribe,
        peer: &admitted.peer,
        address: stream.address,
        session,
        stream: TimedStream::new(stream, patience),
        reader: MessageReader::default(),
        grant: server.budget.grant(),
        patience,
        out: Vec::new(),
        reply_memory: server.budget.grant(),
    };
    let ended = tokio::select! {
        ended = connection.run() => ended,
        () = admitted.peer.killed.notified() => return,
    };
    tell(&ended, &server, &scribe, &admitted.peer);
}

/// Logs the end of a connection.
fn tell(ended: &Ended, server: &Server, scribe: &Scribe, peer: &Peer) {
    let (connection, address) = (peer.id, &peer.host);
    let due = |line: &Sparse| line.due(SCRIBE_LOG_EVERY, server.clock.steady_us());
    match ended {
        Ended::Gone(error) => {
            tracing::debug!(connection, %error, "a client of the Scribe door is gone")
        }
        Ended::Silent => tracing::debug!(
            connection,
            "a client of the Scribe door was silent, or the server stops"
        ),
        Ended::Broken(why) => {
            if let Some(count) = due(&scribe.told.broken) {
                tracing::warn!(connection, %address, why, count, "closed a connection of the Scribe door; count: those since the last such line");
            }
        }
        Ended::Refused(failure) => {
            if let Some(count) = due(&scribe.told.no_memory) {
                tracing::warn!(connection, %address, %failure, count, "no memory for a message of the Scribe door; count: those since the last such line");
            }
        }
    }
}

impl Connection<'_> {
    async fn run(&mut self) -> Ended {
        loop {
            if let Err(ended) = self.receive().await {
                return ended;
            }
            self.peer.owes_nothing();
            if let Err(why) = self.answer().await {
                return Ended::Broken(why);
            }
            if self.reader.buffer_bytes() > INLINE_BYTES {
                self.server.long(&self.session).await;
                self.reader.release();
                self.grant.keep(self.reader.buffer_bytes());
            }
            let sent = std::mem::take(&mut self.out);
            add(&self.server.counters.bytes_sent, sent.len() as u64);
            if let Err(error) = self.stream.write_all(&sent).await {
                return Ended::Gone(error);
            }
            if sent.capacity() <= GRANT_FREE_BYTES {
                self.out = sent;
                self.out.clear();
            }
            self.reply_memory.keep(0);
            // An idle client may lose its place to a new one; it connects again for its next call.
            self.peer.owes(self.server.clock.steady_us());
        }
    }

    /// Waits for a whole message. A client may be silent between two; within one it must keep to its [`Pace`].
    async fn receive(&mut self) -> Result<(), Ended> {
        let idle = self.server.settings().live.idle_timeout;
        let mut stopping = self.server.stopping();
        let mut pace = Pace::new(self.patience);
        loop {
            match self.reader.advance() {
                Ok(true) => return Ok(()),
                Ok(false) => {}
                Err(error) => return Err(Ended::Broken(error.to_string())),
            }
            match self.grant.reserve(self.reader.wanted_bytes()).await {
                Ok(Room::Free) => {}
                Ok(Room::Waited) => pace.again(),
                Err(failure) => return Err(Ended::Refused(failure)),
            }
            if self.reader.wanted_bytes() > self.reader.buffer_bytes().max(INLINE_BYTES) {
                self.server.long(&self.session).await;
                self.reader.spare();
            }
            let read = if self.reader.is_midway() {
                let read = self.stream.read(self.reader.spare());
                pace.next(&self.grant, read)
                    .await
                    .map_err(|TooSlow| Ended::Silent)?
            } else {
                let read = timeout(idle, self.stream.read(self.reader.spare()));
                let read = tokio::select! {
                    read = read => read,
                    _ = stopping.wait_for(|stop| *stop) => return Err(Ended::Silent),
                };
                pace.again();
                read.map_err(|_| Ended::Silent)?
            };
            match read {
                Err(error) => return Err(Ended::Gone(error)),
                Ok(0) => return Err(Ended::Gone(io::ErrorKind::UnexpectedEof.into())),
                Ok(count) => {
                    pace.came(count);
                    self.reader.filled(count);
                    add(&self.server.counters.bytes_received, count as u64);
                }
            }
        }
    }

    /// Answers the message that was read, into `out`. Error: nothing of it can be answered.
    async fn answer(&mut self) -> Result<(), String> {
        let transport = self.reader.transport().unwrap_or(Transport::Framed);
        let message = self.reader.message();
        let request = match Request::decode(message, transport) {
            Ok(request) => request,
            Err(refusal) if refusal.must_close() => return Err(refusal.to_string()),
            Err(refusal) => {
                refusal.put_answer(&mut self.out);
                return Ok(());
            }
        };
        let caller = Caller {
            server: self.server,
            peer: self.peer,
            address: self.address,
            session: &self.session,
            held_bytes: self.reader.buffer_bytes(),
            reply_memory: &self.reply_memory,
        };
        let answer = self.scribe.answer(&caller, &request.call).await;
        request.to.put(&answer.reply(), &mut self.out);
        Ok(())
    }
}
