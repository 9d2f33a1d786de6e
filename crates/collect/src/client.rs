//! A client of a Scribe server: one call at a time, each within its time.
//!
//! Each 64 KiB of a call are sent within `timeout`, so a slow link takes a large call, and a server that stops reading does not
//! hold the caller. The answer comes within `timeout`, however small its parts are. After an error the owner drops the
//! client, since an answer that comes late must not answer a later call.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use wire::scribe::{Call, Dialect, MessageReader, Method, Reply, ResultCode, Transport};

/// A buffer above this size is freed after its call: there may be thousands of stores. Bytes.
const KEPT_BYTES: usize = 64 << 10;

/// Bytes of a call that are sent within `timeout`.
const PART_BYTES: usize = 64 << 10;

/// A connection to a Scribe server.
pub struct Client {
    address: String,
    timeout: Duration,
    socket: Socket,
    reader: MessageReader,
    out: Vec<u8>,
    sequence: i32,
}

enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Client {
    /// Connects to the first address of the host that answers; each has `timeout`, as each call has later. `answer_bytes_max`:
    /// longest answer, in bytes.
    ///
    /// # Errors
    /// The name has no address, or none of its addresses answers: why the last does not.
    pub fn connect(
        (host, port): (&str, u16),
        timeout: Duration,
        answer_bytes_max: usize,
    ) -> Result<Client, String> {
        let address = format!("{host}:{port}");
        let failed = |error: io::Error| format!("{address}: {error}");
        let mut last = format!("{address}: the name has no address");
        for found in (host, port).to_socket_addrs().map_err(failed)? {
            let opened = TcpStream::connect_timeout(&found, timeout).and_then(|stream| {
                stream.set_nodelay(true)?;
                Ok(stream)
            });
            match opened {
                Ok(stream) => {
                    let socket = Socket::Tcp(stream);
                    return Ok(Client::over(socket, address, timeout, answer_bytes_max));
                }
                Err(error) => last = failed(error),
            }
        }
        Err(last)
    }

    /// Connects to a unix socket; else as [`connect`](Self::connect).
    ///
    /// # Errors
    /// Why nobody listens at the path.
    pub fn connect_unix(
        path: &str,
        timeout: Duration,
        answer_bytes_max: usize,
    ) -> Result<Client, String> {
        let address = format!("unix:{path}");
        let stream = UnixStream::connect(path).map_err(|error| format!("{address}: {error}"))?;
        let socket = Socket::Unix(stream);
        Ok(Client::over(socket, address, timeout, answer_bytes_max))
    }

    fn over(socket: Socket, address: String, timeout: Duration, answer_bytes_max: usize) -> Client {
        Client {
            address,
            timeout,
            socket,
            reader: MessageReader::of(Transport::Framed, answer_bytes_max),
            out: Vec::new(),
            sequence: 0,
        }
    }

    /// The address as it was given, with the port.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// One call of `Log`; entries are category and message.
    ///
    /// # Errors
    /// The call was not sent, not answered in time, or answered by an exception. The server may have the messages.
    pub fn log<'m>(
        &mut self,
        entries: impl IntoIterator<Item = (&'m [u8], &'m [u8])>,
    ) -> Result<ResultCode, String> {
        self.begin();
        let encoded = Dialect::SCRIBE.put_log(self.sequence, entries, &mut self.out);
        encoded.map_err(|error| error.to_string())?;
        self.answer_of_log()
    }

    /// As [`Client::log`], of messages that are lines: a file with `add_newlines` of a Seine gives them no second line feed.
    ///
    /// # Errors
    /// As of [`Client::log`].
    pub fn log_lines<'m>(
        &mut self,
        entries: impl IntoIterator<Item = (&'m [u8], &'m [u8])>,
    ) -> Result<ResultCode, String> {
        self.begin();
        let encoded = Dialect::SCRIBE.put_lines(self.sequence, entries, &mut self.out);
        encoded.map_err(|error| error.to_string())?;
        self.answer_of_log()
    }

    fn answer_of_log(&mut self) -> Result<ResultCode, String> {
        let reply = self.answer(Method::Log)?;
        let answered = match reply {
            Reply::Log(code) => return Ok(code),
            Reply::Exception(exception) => exception.to_string(),
            other => format!("Log was answered by {other:?}"),
        };
        Err(format!("{}: {answered}", self.address))
    }

    /// A call. One without an answer gives [`Reply::Done`] once it is sent.
    ///
    /// # Errors
    /// The call was not sent or not answered in time, or the answer cannot be read.
    pub fn call(&mut self, call: &Call<'_>) -> Result<Reply<'_>, String> {
        self.begin();
        let encoded = Dialect::SCRIBE.put_call(self.sequence, call, &mut self.out);
        encoded.map_err(|error| error.to_string())?;
        if call.method().is_oneway() {
            let sent = self.send();
            return sent.map(|()| Reply::Done).map_err(|error| self.why(&error));
        }
        self.answer(call.method())
    }

    fn begin(&mut self) {
        self.sequence = self.sequence.wrapping_add(1);
        self.out.clear();
    }

    /// Sends the call in `out` and waits for its answer.
    fn answer(&mut self, method: Method) -> Result<Reply<'_>, String> {
        let exchanged = self.send().and_then(|()| self.receive());
        if self.out.capacity() > KEPT_BYTES {
            self.out = Vec::new();
        }
        exchanged.map_err(|error| self.why(&error))?;
        let reply = Reply::decode(self.reader.message(), method, self.sequence);
        reply.map_err(|error| format!("{}: {error}", self.address))
    }

    fn why(&self, error: &io::Error) -> String {
        let address = &self.address;
        match error.kind() {
            // A socket whose time is over says WouldBlock.
            ErrorKind::WouldBlock | ErrorKind::TimedOut => {
                let ms = self.timeout.as_millis();
                format!("{address}: no answer within {ms} ms")
            }
            _ => format!("{address}: {error}"),
        }
    }

    fn send(&mut self) -> io::Result<()> {
        for part in self.out.chunks(PART_BYTES) {
            let end = Instant::now() + self.timeout;
            let mut rest = part;
            while !rest.is_empty() {
                let count = self.socket.write(rest, left(end)?)?;
                if count == 0 {
                    return Err(ErrorKind::WriteZero.into());
                }
                rest = rest.get(count..).unwrap_or_default();
            }
        }
        Ok(())
    }

    /// Returns when the reader has a message.
    fn receive(&mut self) -> io::Result<()> {
        let end = Instant::now() + self.timeout;
        while !self.reader.advance().map_err(io::Error::other)? {
            let count = self.socket.read(self.reader.spare(), left(end)?)?;
            if count == 0 {
                let why = "the connection was closed before the answer";
                return Err(io::Error::new(ErrorKind::UnexpectedEof, why));
            }
            self.reader.filled(count);
        }
        Ok(())
    }
}

impl Socket {
    fn read(&mut self, buffer: &mut [u8], within: Duration) -> io::Result<usize> {
        match self {
            Socket::Tcp(stream) => {
                stream.set_read_timeout(Some(within))?;
                stream.read(buffer)
            }
            Socket::Unix(stream) => {
                stream.set_read_timeout(Some(within))?;
                stream.read(buffer)
            }
        }
    }

    fn write(&mut self, bytes: &[u8], within: Duration) -> io::Result<usize> {
        match self {
            Socket::Tcp(stream) => {
                stream.set_write_timeout(Some(within))?;
                stream.write(bytes)
            }
            Socket::Unix(stream) => {
                stream.set_write_timeout(Some(within))?;
                stream.write(bytes)
            }
        }
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
