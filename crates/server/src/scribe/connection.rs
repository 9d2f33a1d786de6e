//! One connection of the Scribe door: reads a call, answers it, reads the next.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use collect::Decision;
use engine::Command;
use session::counters::add;
use session::errors::Failure;
use session::places::Peer;
use session::{Grant, Room, Session};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;
use wire::scribe::{
    Call, Entries, Exception, ExceptionKind, MessageReader, Reply, Request, ResultCode, Transport,
};

use super::Scribe;
use crate::listen::{Pace, Stream, TimedStream, TooSlow};
use crate::server::Server;

/// Largest buffer that is moved, decoded or freed on the event loop, in bytes.
const INLINE_BYTES: usize = 1 << 20;

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
    session: Session,
    stream: TimedStream,
    reader: MessageReader,
    /// Memory of the read buffer.
    grant: Grant,
    patience: Duration,
    out: Vec<u8>,
}

/// One connection from its first byte to its last.
pub(super) async fn serve(server: Arc<Server>, scribe: Arc<Scribe>, stream: Stream) {
    let Ok(admitted) = server.admit("scribe", &stream) else {
        return; // Thrift has no greeting that could say why
    };
    let Some(_connected) = scribe.connect() else {
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
        session,
        stream: TimedStream::new(stream, patience),
        reader: MessageReader::default(),
        grant: server.budget.grant(),
        patience,
        out: Vec::new(),
    };
    let ended = tokio::select! {
        ended = connection.run() => ended,
        () = admitted.peer.killed.notified() => return,
    };
    let connection = admitted.peer.id;
    match ended {
        Ended::Gone(error) => {
            tracing::debug!(connection, %error, "a client of the Scribe door is gone")
        }
        Ended::Silent => tracing::debug!(
            connection,
            "a client of the Scribe door was silent, or the server stops"
        ),
        Ended::Broken(why) => {
            tracing::warn!(connection, address = %admitted.peer.host, why, "closed a connection of the Scribe door")
        }
        Ended::Refused(failure) => {
            tracing::warn!(connection, %failure, "no memory for a message of the Scribe door")
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
                tokio::task::block_in_place(|| self.reader.release());
                self.grant.keep(self.reader.buffer_bytes());
            }
            let sent = std::mem::take(&mut self.out);
            add(&self.server.counters.bytes_sent, sent.len() as u64);
            if let Err(error) = self.stream.write_all(&sent).await {
                return Ended::Gone(error);
            }
            self.out = sent;
            self.out.clear();
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
                tokio::task::block_in_place(|| self.reader.spare().len());
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
        let to = request.to;
        match request.call {
            Call::Log(entries) => {
                let reply = log(self.server, self.scribe, &self.session, &entries).await;
                to.put(&reply, &mut self.out);
            }
            call => {
                let answer = self.scribe.answer(self.server, self.peer.remote, &call);
                to.put(&answer.reply(), &mut self.out);
            }
        }
        Ok(())
    }
}

/// Takes messages into the journal. OK comes after the sync that their categories ask for.
async fn log(
    server: &Server,
    scribe: &Scribe,
    session: &Session,
    entries: &Entries<'_>,
) -> Reply<'static> {
    let Some(collector) = scribe.collector.get() else {
        return Reply::Log(ResultCode::TryLater);
    };
    let memory = server.budget.grant();
    if memory
        .cover(entries.text_bytes() + entries.len() * 8)
        .is_err()
    {
        return Reply::Log(ResultCode::TryLater);
    }
    let now = super::now(server);
    let decide = || collector.decide(entries.iter(), now);
    let decision = match entries.text_bytes() > INLINE_BYTES {
        true => tokio::task::block_in_place(decide),
        false => decide(),
    };
    let (messages, sync, received) = match decision {
        Decision::TryLater => return Reply::Log(ResultCode::TryLater),
        Decision::Nothing => return Reply::Log(ResultCode::Ok),
        Decision::Store {
            messages,
            sync,
            received,
        } => (messages, sync, received),
    };
    match server
        .submit(session, Command::Collect { messages, sync })
        .await
    {
        Ok(_) => {
            collector.took(&received);
            Reply::Log(ResultCode::Ok)
        }
        // Overload, a full disk, a start or a stop: these pass.
        Err(failure) if failure.kind.status == 503 || failure.kind.status == 507 => {
            Reply::Log(ResultCode::TryLater)
        }
        Err(failure) => Reply::Exception(Exception {
            kind: ExceptionKind::InternalError,
            message: failure.to_string(),
        }),
    }
}
