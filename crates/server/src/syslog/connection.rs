//! One stream of the syslog door: reads what has come, has it taken, reads the next.

use std::io;
use std::sync::Arc;

use collect::Incoming;
use session::counters::add;
use session::errors::Failure;
use session::places::Peer;
use session::{Grant, Room, Session};
use tokio::io::AsyncReadExt;
use tokio::time::timeout;
use wire::limits::SYSLOG_READ_BYTES_MIN;
use wire::syslog::{Arrival, BadLength, FrameReader};

use super::Door;
use super::batch::Batch;
use crate::limits::{SCRIBE_LOG_EVERY, SYSLOG_QUIET, SYSLOG_RETRY_FIRST, SYSLOG_RETRY_MAX};
use crate::listen::{Pace, Stream, TimedStream};
use crate::scribe::{Intake, Sender};
use crate::sparse::Sparse;

/// Why a connection ends.
enum Ended {
    /// The client closed it, or its socket failed.
    Gone(io::Error),
    /// The client was silent or too slow, or the server stops.
    Silent,
    /// A message begins with a digit and not with a length. Where the next one begins cannot be known.
    Broken(BadLength),
    /// There is no memory for a message.
    Refused(Failure),
    /// The server stops and can take nothing more.
    Stopped,
}

struct Connection<'a> {
    door: &'a Door,
    peer: &'a Peer,
    /// The client's address without a port.
    sender: String,
    session: Session,
    stream: TimedStream,
    reader: FrameReader,
    batch: Batch,
    /// Memory of the buffers of `reader` and `batch`.
    grant: Grant,
    pace: Pace,
}

/// One connection from its first byte to its last.
pub(super) async fn serve(door: Arc<Door>, stream: Stream) {
    let server = &door.server;
    let Ok(admitted) = server.admit("syslog", &stream) else {
        return; // syslog has no answer that could say why
    };
    let patience = server.settings().live.client_timeout;
    let id = engine::SessionId(admitted.peer.id);
    let sender = stream.address.map(|address| address.to_string());
    let mut connection = Connection {
        door: &door,
        peer: &admitted.peer,
        sender: sender.unwrap_or_else(|| "localhost".to_owned()),
        session: Session::new(id, String::new(), stream.host.clone(), None),
        stream: TimedStream::new(stream, patience),
        reader: FrameReader::default(),
        batch: Batch::default(),
        grant: server.budget.grant(),
        pace: Pace::new(patience),
    };
    let ended = tokio::select! {
        ended = connection.run() => ended,
        () = admitted.peer.killed.notified() => return,
    };
    connection.tell(&ended);
}

impl Connection<'_> {
    async fn run(&mut self) -> Ended {
        loop {
            let found = self.find();
            if let Err(ended) = self.take().await {
                return ended;
            }
            match found {
                Ok(true) => continue,
                Ok(false) => {}
                Err(bad) => return Ended::Broken(bad),
            }
            // An idle client may lose its place to a new one.
            self.peer.owes(self.door.server.clock.steady_us());
            if let Err(ended) = self.receive().await {
                return self.finish(ended).await;
            }
            self.peer.owes_nothing();
        }
    }

    /// Fills the batch with messages that have come; true: there may be more.
    fn find(&mut self) -> Result<bool, BadLength> {
        self.batch.begin(self.reader.buffer_bytes(), &self.sender);
        let arrival = self.door.arrival();
        while let Some(frame) = self.reader.advance()? {
            self.batch.push(frame, arrival, &self.door.category);
            if self.batch.is_full() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Has the batch taken. While the server cannot, nothing more is read, and the client waits. A batch that can never be taken
    /// goes message by message, since one of them may be the cause.
    async fn take(&mut self) -> Result<(), Ended> {
        let (door, batch) = (self.door, &self.batch);
        if batch.is_empty() {
            return Ok(());
        }
        let from = (&self.session, Batch::held_bytes(self.reader.buffer_bytes()));
        let whole = (batch.len(), batch.text_bytes());
        match door.take(from, batch.messages(), whole).await? {
            Ok(()) => door.count(batch),
            Err(why) if batch.len() == 1 => door.never(1, &why),
            Err(_) => {
                for message in batch.messages() {
                    let bytes = message.category.len() + message.body.len();
                    let one = std::iter::once(message);
                    if let Err(why) = door.take(from, one, (1, bytes)).await? {
                        door.never(1, &why);
                    }
                }
                door.count(batch);
            }
        }
        // The client may have waited for the server.
        self.pace.again();
        Ok(())
    }

    /// Waits for more bytes. A client may be silent between two messages; within one it must keep to its [`Pace`].
    async fn receive(&mut self) -> Result<(), Ended> {
        let idle = self.door.server.settings().live.idle_timeout;
        let mut stopping = self.door.server.stopping();
        loop {
            self.make_room().await?;
            let is_midway = self.reader.is_midway();
            let is_large = self.reader.buffer_bytes() > SYSLOG_READ_BYTES_MIN;
            let read = self.stream.read(self.reader.spare());
            let next = async {
                match is_midway {
                    true => self.pace.next(&self.grant, read).await.ok(),
                    false if is_large => timeout(SYSLOG_QUIET.min(idle), read).await.ok(),
                    false => timeout(idle, read).await.ok(),
                }
            };
            let read = tokio::select! {
                read = next => read,
                _ = stopping.wait_for(|stop| *stop) => return Err(Ended::Silent),
            };
            match read {
                None if is_large && !is_midway => self.release(),
                None => return Err(Ended::Silent),
                Some(Err(error)) => return Err(Ended::Gone(error)),
                Some(Ok(0)) => return Err(Ended::Gone(io::ErrorKind::UnexpectedEof.into())),
                Some(Ok(count)) => {
                    if !is_midway {
                        self.pace.again();
                    }
                    self.pace.came(count);
                    self.reader.filled(count);
                    return Ok(());
                }
            }
        }
    }

    /// Pays for the next buffer. A larger one is wanted where the last read was full; it is needed for a message only.
    async fn make_room(&mut self) -> Result<(), Ended> {
        let bytes = |reader: &FrameReader| Batch::held_bytes(reader.wanted_bytes());
        if !self.reader.must_grow() && self.grant.cover(bytes(&self.reader)).is_err() {
            self.reader.stay_small();
        }
        match self.grant.reserve(bytes(&self.reader)).await {
            Ok(Room::Free) => {}
            Ok(Room::Waited) => self.pace.again(),
            Err(failure) => return Err(Ended::Refused(failure)),
        }
        Ok(())
    }

    /// Frees large buffers of a client that says nothing.
    fn release(&mut self) {
        self.reader.release();
        self.batch.begin(0, "");
        self.grant.keep(0);
    }

    /// After the last byte: a line without its line feed is a message, however the connection ended.
    async fn finish(&mut self, ended: Ended) -> Ended {
        let arrival = self.door.arrival();
        self.batch.begin(self.reader.buffer_bytes(), &self.sender);
        let is_midway = self.reader.is_midway();
        match self.reader.finish() {
            Some(frame) => self.batch.push(frame, arrival, &self.door.category),
            None => add(
                &self.door.server.counters.syslog_refused,
                u64::from(is_midway),
            ),
        }
        self.take().await.err().unwrap_or(ended)
    }

    /// Counts and logs the end of the connection.
    fn tell(&self, ended: &Ended) {
        let (told, server) = (&self.door.told, &self.door.server);
        let (connection, address) = (self.peer.id, &self.peer.host);
        let due = |line: &Sparse| line.due(SCRIBE_LOG_EVERY, server.clock.steady_us());
        match ended {
            Ended::Gone(error) => {
                tracing::debug!(connection, %error, "a client of the syslog door is gone");
            }
            Ended::Silent => tracing::debug!(
                connection,
                "a client of the syslog door was silent, or the server stops"
            ),
            Ended::Broken(bad) => {
                add(&server.counters.syslog_refused, 1);
                if let Some(count) = due(&told.broken) {
                    tracing::warn!(connection, %address, %bad, count, "closed a connection of the syslog door; count: those since the last such line");
                }
            }
            Ended::Refused(failure) => {
                if let Some(count) = due(&told.no_memory) {
                    tracing::warn!(connection, %address, %failure, count, "no memory for a message of the syslog door; count: those since the last such line");
                }
            }
            Ended::Stopped => {
                if let Some(count) = due(&told.given_up) {
                    tracing::warn!(connection, %address, count, "the server stops, and messages of this connection are lost; count: connections since the last such line");
                }
            }
        }
    }
}

impl Door {
    /// Has these messages taken, all or none; tries again until the server can. `from`: the session and the memory that it holds,
    /// in bytes. `size`: number of the messages, and bytes of their texts. The inner error: why they never can be taken.
    async fn take<'m>(
        &self,
        from: (&Session, usize),
        messages: impl Iterator<Item = Incoming<'m>> + Clone + Send,
        size: (usize, usize),
    ) -> Result<Result<(), String>, Ended> {
        let sender = Sender {
            server: &self.server,
            session: from.0,
            held_bytes: from.1,
            count: size.0,
            text_bytes: size.1,
        };
        let mut stopping = self.server.stopping();
        let mut pause = SYSLOG_RETRY_FIRST;
        loop {
            let is_last = *stopping.borrow();
            match self.scribe.take(&sender, messages.clone()).await {
                Intake::Taken => return Ok(Ok(())),
                Intake::Never(why) => return Ok(Err(why)),
                Intake::Later if is_last => {
                    add(&self.server.counters.syslog_refused, size.0 as u64);
                    return Err(Ended::Stopped);
                }
                Intake::Later => {}
            }
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                _ = stopping.wait_for(|stop| *stop) => {}
            }
            pause = (pause * 2).min(SYSLOG_RETRY_MAX);
        }
    }

    /// The time, as headers need it.
    pub(super) fn arrival(&self) -> Arrival {
        let now = crate::scribe::now(&self.server);
        Arrival {
            unix_s: now.unix_us.div_euclid(1_000_000),
            utc_offset_s: now.utc_offset_s,
        }
    }

    /// Counts messages that were taken.
    pub(super) fn count(&self, batch: &Batch) {
        let (begun, pieces) = batch.counts();
        add(&self.server.counters.syslog_messages, begun);
        add(&self.server.counters.syslog_pieces, pieces);
    }

    /// Counts and logs messages that can never be taken.
    fn never(&self, messages: u64, why: &str) {
        add(&self.server.counters.syslog_refused, messages);
        let now_us = self.server.clock.steady_us();
        if let Some(count) = self.told.never.due(SCRIBE_LOG_EVERY, now_us) {
            tracing::warn!(
                messages,
                why,
                count,
                "syslog messages are lost; count: calls since the last such line"
            );
        }
    }
}
