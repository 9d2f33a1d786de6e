//! A connection to a server: one call at a time, each within its time.
//!
//! A call is sent within `timeout` and answered within `timeout`, however small the parts are. After an error the owner drops the
//! connection, since an answer that comes late must not answer a later call.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use wire::scribe::{Call, Dialect, MessageReader, Method, Reply, ResultCode, Transport};

use crate::message::Message;

/// Longest answer of a server. Bytes.
const ANSWER_BYTES_MAX: usize = 1 << 20;

/// A buffer above this size is freed after its call: there may be thousands of stores. Bytes.
const KEPT_BYTES: usize = 64 << 10;

/// A connection to a server.
pub(super) struct Link {
    /// Host and port, as they were given.
    pub(super) address: String,
    timeout: Duration,
    stream: TcpStream,
    reader: MessageReader,
    out: Vec<u8>,
    sequence: i32,
}

impl Link {
    /// Connects to the first address of the host that answers; each has `timeout`.
    pub(super) fn connect((host, port): &(String, u16), timeout: Duration) -> Result<Link, String> {
        let address = format!("{host}:{port}");
        let failed = |error: io::Error| format!("{address}: {error}");
        let mut last = format!("{address}: the name has no address");
        for found in (host.as_str(), *port).to_socket_addrs().map_err(failed)? {
            let opened = TcpStream::connect_timeout(&found, timeout).and_then(|stream| {
                stream.set_nodelay(true)?;
                Ok(stream)
            });
            match opened {
                Ok(stream) => {
                    return Ok(Link {
                        address,
                        timeout,
                        stream,
                        reader: MessageReader::of(Transport::Framed, ANSWER_BYTES_MAX),
                        out: Vec::new(),
                        sequence: 0,
                    });
                }
                Err(error) => last = failed(error),
            }
        }
        Err(last)
    }

    /// One call of `Log`.
    pub(super) fn log(&mut self, messages: &[Message<'_>]) -> Result<ResultCode, String> {
        self.sequence = self.sequence.wrapping_add(1);
        self.out.clear();
        let entries = messages
            .iter()
            .map(|message| (message.category, message.body));
        let encoded = Dialect::SCRIBE.put_log(self.sequence, entries, &mut self.out);
        encoded.map_err(|error| error.to_string())?;
        let address = self.address.clone();
        match self.answer(Method::Log)? {
            Reply::Log(code) => Ok(code),
            Reply::Exception(exception) => Err(format!("{address}: {exception}")),
            other => Err(format!("{address}: Log was answered by {other:?}")),
        }
    }

    /// Asks for the servers of all buckets: the number of each, its host and its port as they were sent.
    pub(super) fn mapping(&mut self, category: &[u8]) -> Result<Vec<(i32, String, i32)>, String> {
        self.sequence = self.sequence.wrapping_add(1);
        self.out.clear();
        let encoded =
            Dialect::SCRIBE.put_call(self.sequence, &Call::GetMapping(category), &mut self.out);
        encoded.map_err(|error| error.to_string())?;
        let address = self.address.clone();
        let hosts = match self.answer(Method::GetMapping)? {
            Reply::Mapping(hosts) => hosts,
            Reply::NoMapping { message, code } => {
                let message = String::from_utf8_lossy(message);
                return Err(format!("{address}: no mapping: {message} ({code})"));
            }
            Reply::Exception(exception) => return Err(format!("{address}: {exception}")),
            other => return Err(format!("{address}: getMapping was answered by {other:?}")),
        };
        let name = |host: &[u8]| String::from_utf8_lossy(host).into_owned();
        let hosts = hosts.iter();
        Ok(hosts
            .map(|(bucket, at)| (*bucket, name(at.host), at.port))
            .collect())
    }

    /// Sends the call in `out` and waits for its answer.
    fn answer(&mut self, method: Method) -> Result<Reply<'_>, String> {
        let exchanged = self.exchange();
        if self.out.capacity() > KEPT_BYTES {
            self.out = Vec::new();
        }
        let address = &self.address;
        exchanged.map_err(|error| match error.kind() {
            // A socket whose time is over says WouldBlock.
            ErrorKind::WouldBlock | ErrorKind::TimedOut => {
                format!(
                    "{address}: no answer within {} ms",
                    self.timeout.as_millis()
                )
            }
            _ => format!("{address}: {error}"),
        })?;
        let reply = Reply::decode(self.reader.message(), method, self.sequence);
        reply.map_err(|error| format!("{address}: {error}"))
    }

    /// Sends the call; returns when the reader has a message.
    fn exchange(&mut self) -> io::Result<()> {
        let end = Instant::now() + self.timeout;
        let mut rest = &self.out[..];
        while !rest.is_empty() {
            self.stream.set_write_timeout(Some(left(end)?))?;
            let count = self.stream.write(rest)?;
            if count == 0 {
                return Err(ErrorKind::WriteZero.into());
            }
            rest = rest.get(count..).unwrap_or_default();
        }
        let end = Instant::now() + self.timeout;
        while !self.reader.advance().map_err(io::Error::other)? {
            self.stream.set_read_timeout(Some(left(end)?))?;
            let count = self.stream.read(self.reader.spare())?;
            if count == 0 {
                let why = "the connection was closed before the answer";
                return Err(io::Error::new(ErrorKind::UnexpectedEof, why));
            }
            self.reader.filled(count);
        }
        Ok(())
    }
}

/// Time until `end`.
fn left(end: Instant) -> io::Result<Duration> {
    let left = end.saturating_duration_since(Instant::now());
    match left.is_zero() {
        true => Err(ErrorKind::TimedOut.into()),
        false => Ok(left),
    }
}
