//! The socket of one connection: packets in, bytes out, with time limits and the memory of its buffer.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};
use std::{fmt, io};

use engine::SessionId;
use session::counters::add;
use session::errors::Failure;
use session::limits::{GRANT_FREE_BYTES, PARSE_INLINE_BYTES};
use session::movable::long_turn_of;
use session::searches::{Search, SearchRequest, stopped};
use session::{Grant, Room};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;
use wire::limits::PACKET_BYTES_MAX;
use wire::mysql::{Encoder, Packet, PacketError, PacketReader};

use super::served::Served;
use crate::limits::{AWAKE_MAX, HANDSHAKE_TIMEOUT, IN_A_ROW_MAX, LOGIN_PACKET_BYTES_MAX};
use crate::listen::{Pace, Stream, TimedStream, TooSlow};
use crate::server::Server;

/// Most bytes read ahead while a statement waits for a queue's row. The rest stays in the kernel.
const AHEAD_BYTES_MAX: usize = GRANT_FREE_BYTES;

/// Largest buffer that is moved or freed on the event loop, in bytes.
const MOVED_INLINE_BYTES: usize = 4 << 20;

/// Why no further packet can be read.
#[derive(Debug)]
pub(super) enum Ended {
    /// The client closed the connection, or its socket failed.
    Gone(io::Error),
    /// The client was silent, or its packet came too slowly.
    Silent,
    /// The bytes are not the protocol, or a packet is too long; the client can still be told.
    Broken(PacketError),
}

/// A packet that was passed over: there was no memory for it, or KILL QUERY came while it did.
#[derive(Debug)]
pub(super) struct PassedOver {
    /// The error for the client.
    pub(super) failure: Failure,
    /// Sequence number of the packet's last frame.
    pub(super) sequence: u8,
}

/// Waits until KILL QUERY ends a packet that comes.
async fn killed(arriving: Option<&Search>) -> Failure {
    match arriving {
        Some(arriving) => stopped(&arriving.interrupt).await,
        None => std::future::pending().await,
    }
}

/// The socket of one connection.
pub(super) struct Socket {
    server: Arc<Server>,
    /// The user whose turns its long work takes: the client's address.
    payer: Arc<str>,
    stream: TimedStream,
    reader: PacketReader,
    patience: Duration,
    /// Memory of the read buffer.
    grant: Grant,
    /// From a packet until the next one is slow to come.
    served: Option<Served>,
    /// Whether the reader stands at a packet that [`Socket::packet`] has not given yet.
    holds_next: bool,
    /// Since when packets are given that came together, without a look at other connections.
    since: Instant,
    /// A large packet, from its beginning until [`Socket::arrived_whole`]: KILL QUERY ends its statement already.
    arriving: Option<Search>,
    /// Why the reader passes a packet over.
    passing: Option<Failure>,
}

impl fmt::Display for Ended {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ended::Gone(error) => write!(out, "the client is gone: {error}"),
            Ended::Silent => out.write_str("the client was silent for too long"),
            Ended::Broken(error) => error.fmt(out),
        }
    }
}

impl Socket {
    /// A socket whose client may pause for `patience` within a packet. Before [`Socket::logged_in`] a packet has at most
    /// [`LOGIN_PACKET_BYTES_MAX`], so a stranger takes no memory of the budget.
    pub(super) fn new(server: Arc<Server>, stream: Stream, patience: Duration) -> Socket {
        Socket {
            grant: server.budget.grant(),
            payer: stream.remote.to_string().into(),
            served: None,
            holds_next: false,
            since: Instant::now(),
            arriving: None,
            passing: None,
            server,
            stream: TimedStream::new(stream, patience),
            reader: PacketReader::new(LOGIN_PACKET_BYTES_MAX),
            patience,
        }
    }

    /// The client has logged in: packets may have [`PACKET_BYTES_MAX`] from now on.
    pub(super) fn logged_in(&mut self) {
        self.reader.take_up_to(PACKET_BYTES_MAX);
    }

    /// Waits for a packet and gives it to `take`. It must begin within `idle`, and must then keep to its [`Pace`].
    ///
    /// A packet that finds no memory, or that KILL QUERY ends while it comes, is read to its end but not kept: the client reads no
    /// error before it has sent all of it. The next packet can be read behind it.
    ///
    /// A large packet is listed as running for `session`, see [`Socket::arrived_whole`]. `None`: the session runs something else.
    pub(super) async fn packet<T>(
        &mut self,
        idle: Duration,
        session: Option<SessionId>,
        take: impl FnOnce(Result<Packet<'_>, PassedOver>) -> T,
    ) -> Result<T, Ended> {
        let mut pace = Pace::new(self.patience);
        let mut has_read = false;
        loop {
            let advanced = match self.holds_next {
                true => Ok(true),
                false => self.reader.advance(),
            };
            match advanced {
                Ok(true) => {
                    // The caller may drop this future while it gives way: the next call gives this packet.
                    self.holds_next = true;
                    self.list(session, self.reader.packet().payload.len());
                    self.give_way(has_read).await;
                    self.holds_next = false;
                    let server = &self.server;
                    self.served.get_or_insert_with(|| Served::new(server));
                    return Ok(take(Ok(self.reader.packet())));
                }
                Ok(false) => {}
                Err(error) => {
                    return match (error, self.passing.take()) {
                        (PacketError::GivenUp { sequence }, Some(failure)) => {
                            Ok(take(Err(PassedOver { failure, sequence })))
                        }
                        (error, _) => Err(Ended::Broken(error)),
                    };
                }
            }
            if self.passing.is_some() {
                self.reader.spare(); // what has come is dropped, and a large buffer with it
                self.grant.keep(self.reader.buffer_bytes());
            } else {
                if self.reader.is_midway() {
                    self.list(session, self.reader.wanted_bytes());
                }
                match self.room().await {
                    Ok(Room::Free) => {}
                    Ok(Room::Waited) => pace.again(),
                    Err(failure) => {
                        self.pass_over(failure).await;
                        continue;
                    }
                }
            }
            if self.reader.wanted_bytes() > self.reader.buffer_bytes().max(MOVED_INLINE_BYTES) {
                // A large buffer moves.
                self.long_turn().await;
                self.reader.spare();
            }
            let Some(read) = self.read(idle, &mut pace).await? else {
                continue; // KILL QUERY came
            };
            match read {
                Err(error) => return Err(Ended::Gone(error)),
                Ok(0) => return Err(Ended::Gone(io::ErrorKind::UnexpectedEof.into())),
                Ok(count) => {
                    has_read = true;
                    pace.came(count);
                    self.arrived(count);
                }
            }
        }
    }

    /// As [`Socket::packet`], before the client has logged in: then a packet is so short that it takes no memory of the budget.
    pub(super) async fn early_packet<T>(
        &mut self,
        take: impl FnOnce(Packet<'_>) -> T,
    ) -> Result<T, Ended> {
        let taken = self.packet(HANDSHAKE_TIMEOUT, None, |packet| packet.map(take));
        let passed_over = |PassedOver { sequence, .. }| PacketError::GivenUp { sequence };
        taken.await?.map_err(|it| Ended::Broken(passed_over(it)))
    }

    /// Waits for the memory of the bytes that come next.
    ///
    /// # Errors
    /// There is none, or KILL QUERY came.
    async fn room(&mut self) -> Result<Room, Failure> {
        let room = self.grant.reserve(self.reader.wanted_bytes());
        tokio::select! {
            biased;
            room = room => room,
            failure = killed(self.arriving.as_ref()) => Err(failure),
        }
    }

    /// Reads what comes next. `None`: KILL QUERY came first, and the packet is passed over from now on.
    async fn read(
        &mut self,
        idle: Duration,
        pace: &mut Pace,
    ) -> Result<Option<io::Result<usize>>, Ended> {
        if !self.reader.is_midway() {
            let read = timeout(idle, self.read_next()).await;
            pace.again();
            return read.map(Some).map_err(|_| Ended::Silent);
        }
        let is_passing = self.passing.is_some();
        let arriving = self.arriving.as_ref().filter(|_| !is_passing);
        let read = self.stream.read(self.reader.spare());
        let failure = tokio::select! {
            biased;
            read = pace.next(&self.grant, read) => {
                return read.map(Some).map_err(|TooSlow| Ended::Silent);
            }
            failure = killed(arriving) => failure,
        };
        self.pass_over(failure).await;
        Ok(None)
    }

    /// Passes the packet that comes over, and gives its memory back.
    async fn pass_over(&mut self, failure: Failure) {
        self.passing = Some(failure);
        self.reader.give_up();
        if self.reader.buffer_bytes() > MOVED_INLINE_BYTES {
            self.long_turn().await;
        }
    }

    /// Before a packet is given: waits for a turn where it is long to parse, and lets other connections in where packets came
    /// together for a while. `has_read`: this one did not come with the one before.
    async fn give_way(&mut self, has_read: bool) {
        if !has_read && self.since.elapsed() >= IN_A_ROW_MAX {
            tokio::task::yield_now().await;
        }
        if has_read || self.since.elapsed() >= IN_A_ROW_MAX {
            self.since = Instant::now();
        }
        if self.reader.packet().payload.len() > PARSE_INLINE_BYTES {
            self.long_turn().await;
        }
    }

    /// Lists a large packet as running.
    fn list(&mut self, session: Option<SessionId>, bytes: usize) {
        let Some(session) = session.filter(|_| bytes > PARSE_INLINE_BYTES) else {
            return;
        };
        let server = &self.server;
        self.arriving.get_or_insert_with(|| {
            server.searches.begin(SearchRequest {
                session: session.0,
                since_us: server.clock.steady_us(),
                until_us: None,
                text: format!("a packet of {bytes} bytes").into(),
                client: None,
            })
        });
    }

    /// Takes the last packet off the list. Its statement lists itself once more when it begins.
    ///
    /// # Errors
    /// KILL QUERY came while the packet did, or while it waited for memory or a turn.
    pub(super) fn arrived_whole(&mut self) -> Result<(), Failure> {
        match self.arriving.take() {
            Some(arriving) => Ok(engine::goes_on(&arriving.interrupt)?),
            None => Ok(()),
        }
    }

    /// Waits for a turn, which comes at once if KILL QUERY came.
    async fn long_turn(&mut self) {
        let arriving = self.arriving.as_ref();
        let stop = arriving.map_or_else(Weak::new, |it| Arc::downgrade(&it.interrupt));
        long_turn_of(&self.payer, stop).await;
    }

    /// Reads the beginning of the next packet.
    async fn read_next(&mut self) -> io::Result<usize> {
        if let Some(served) = self.served.take() {
            tokio::select! {
                biased;
                read = self.stream.read(self.reader.spare()) => {
                    self.served = Some(served);
                    return read;
                }
                () = served.moment(AWAKE_MAX) => {}
            }
        }
        self.stream.read(self.reader.spare()).await
    }

    /// The payload of the last packet; valid until more is read.
    pub(super) fn payload(&self) -> &[u8] {
        self.reader.packet().payload
    }

    /// Drops the last packet. A buffer above [`GRANT_FREE_BYTES`] goes back to the budget if nothing else is in it.
    pub(super) async fn release(&mut self) {
        if !self.holds_next && self.reader.buffer_bytes() > GRANT_FREE_BYTES {
            if self.reader.buffer_bytes() > MOVED_INLINE_BYTES {
                self.long_turn().await;
            }
            self.reader.release();
            self.grant.keep(self.reader.buffer_bytes());
        }
    }

    /// Sends the encoder's bytes and empties it.
    pub(super) async fn send(&mut self, encoder: &mut Encoder) -> io::Result<()> {
        let bytes = encoder.bytes();
        if bytes.is_empty() {
            return Ok(());
        }
        add(&self.server.counters.bytes_sent, bytes.len() as u64);
        self.stream.write_all(bytes).await?;
        encoder.clear();
        Ok(())
    }

    /// Returns when the client is gone. Keeps up to [`AHEAD_BYTES_MAX`] that it sends meanwhile; then it waits for ever.
    pub(super) async fn vanished(&mut self) {
        let mut ahead = 0;
        while ahead < AHEAD_BYTES_MAX {
            match self.stream.read(self.reader.spare()).await {
                Ok(count) if count > 0 => {
                    ahead += count;
                    self.arrived(count);
                }
                _ => return,
            }
        }
        std::future::pending::<()>().await;
    }

    /// Reads and drops what the client still sends, so that it gets to read the error. Ends when the client closes, pauses for a
    /// second, or has sent 1 GiB.
    pub(super) async fn drain(&mut self) {
        const PAUSE: Duration = Duration::from_secs(1);
        let mut scrap = vec![0; 64 << 10];
        let mut left: usize = 1 << 30;
        while left > 0 {
            match timeout(PAUSE, self.stream.read(&mut scrap)).await {
                Ok(Ok(count)) if count > 0 => left = left.saturating_sub(count),
                _ => return,
            }
        }
    }

    fn arrived(&mut self, count: usize) {
        self.reader.filled(count);
        add(&self.server.counters.bytes_received, count as u64);
    }
}
