//! Calls of a Scribe server for the verbs `cat` and `ctl`. One blocking connection.

use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use clap::Arg;
use wire::scribe::{Call, Dialect, MessageReader, Method, Reply, ResultCode, Transport};

/// Port of Scribe's tools where an address names none.
const PORT: &str = "1463";

/// Longest wait for a connection, a send or an answer. A server that syncs for longer is stuck.
const PATIENCE: Duration = Duration::from_secs(30);

/// Longest answer, in bytes: counters of 100,000 categories fit.
const ANSWER_BYTES_MAX: usize = 64 << 20;

trait Socket: Read + Write {}
impl<T: Read + Write> Socket for T {}

/// A connection to a Scribe server.
pub(crate) struct ScribeClient {
    address: String,
    socket: Box<dyn Socket>,
    reader: MessageReader,
    out: Vec<u8>,
    sequence: i32,
}

/// The argument that names the server. `-h`, as in Scribe's own tools.
pub(crate) fn host() -> Arg {
    Arg::new("host")
        .short('h')
        .long("host")
        .value_name("HOST[:PORT]")
        .default_value("127.0.0.1:1463")
        .help("Address of the Scribe door, or unix:/path; port 1463 where none is given.")
}

impl ScribeClient {
    /// Connects to `host`, `host:port` or `unix:/path`.
    pub(crate) fn connect(address: &str) -> Result<ScribeClient, String> {
        let failed = |error: std::io::Error| format!("{address}: {error}");
        let socket: Box<dyn Socket> = match address.strip_prefix("unix:") {
            Some(path) => {
                let stream = UnixStream::connect(path).map_err(failed)?;
                stream.set_read_timeout(Some(PATIENCE)).map_err(failed)?;
                stream.set_write_timeout(Some(PATIENCE)).map_err(failed)?;
                Box::new(stream)
            }
            None => Box::new(connect_tcp(address).map_err(failed)?),
        };
        Ok(ScribeClient {
            address: address.to_owned(),
            socket,
            reader: MessageReader::of(Transport::Framed, ANSWER_BYTES_MAX),
            out: Vec::new(),
            sequence: 0,
        })
    }

    /// Sends messages of one category as one call.
    pub(crate) fn log<'m>(
        &mut self,
        category: &'m [u8],
        messages: impl IntoIterator<Item = &'m [u8]>,
    ) -> Result<ResultCode, String> {
        let entries = messages.into_iter().map(|message| (category, message));
        self.sequence += 1;
        let encoded = Dialect::SCRIBE.put_log(self.sequence, entries, &mut self.out);
        encoded.map_err(|error| error.to_string())?;
        let address = self.address.clone();
        match self.answer(Method::Log)? {
            Reply::Log(code) => Ok(code),
            Reply::Exception(exception) => Err(exception.to_string()),
            other => Err(format!("{address}: an unexpected answer: {other:?}")),
        }
    }

    /// Sends a call. A oneway call gives [`Reply::Done`] at once.
    pub(crate) fn call(&mut self, call: &Call<'_>) -> Result<Reply<'_>, String> {
        self.sequence += 1;
        let encoded = Dialect::SCRIBE.put_call(self.sequence, call, &mut self.out);
        encoded.map_err(|error| error.to_string())?;
        if call.method().is_oneway() {
            self.send()?;
            return Ok(Reply::Done);
        }
        self.answer(call.method())
    }

    fn send(&mut self) -> Result<(), String> {
        let sent = self
            .socket
            .write_all(&self.out)
            .and_then(|()| self.socket.flush());
        self.out.clear();
        sent.map_err(|error| format!("{}: {error}", self.address))
    }

    fn answer(&mut self, method: Method) -> Result<Reply<'_>, String> {
        self.send()?;
        let address = &self.address;
        loop {
            match self.reader.advance() {
                Ok(true) => break,
                Ok(false) => {}
                Err(error) => return Err(format!("{address}: {error}")),
            }
            let count = self
                .socket
                .read(self.reader.spare())
                .map_err(|error| format!("{address}: {error}"))?;
            if count == 0 {
                return Err(format!(
                    "{address}: the server closed the connection before it answered"
                ));
            }
            self.reader.filled(count);
        }
        Reply::decode(self.reader.message(), method, self.sequence)
            .map_err(|error| format!("{address}: {error}"))
    }
}

fn connect_tcp(address: &str) -> std::io::Result<TcpStream> {
    let has_port = address
        .rsplit_once(':')
        .is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let with_port = match has_port {
        true => address.to_owned(),
        false => format!("{address}:{PORT}"),
    };
    let mut failed = std::io::Error::new(std::io::ErrorKind::NotFound, "the name has no address");
    for address in with_port.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, PATIENCE) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                stream.set_read_timeout(Some(PATIENCE))?;
                stream.set_write_timeout(Some(PATIENCE))?;
                return Ok(stream);
            }
            Err(error) => failed = error,
        }
    }
    Err(failed)
}
