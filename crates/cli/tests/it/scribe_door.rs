//! What strangers send to the Scribe door, and what honest clients get meanwhile.

mod hostile;
mod load;
mod memory;
mod tables;

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};

use std::time::Duration;

use wire::scribe::{Call, Dialect, MessageReader, Method, Reply, ResultCode, Transport};

use crate::collect::files;
use crate::server::Server;

/// Longer than any answer takes on a busy machine.
const SOON: Duration = Duration::from_secs(60);

/// Longest reply that a test reads, in bytes.
const REPLY_BYTES_MAX: usize = 256 << 20;

/// A client of the door that can also send what no client sends.
pub(crate) struct Scribe {
    stream: TcpStream,
    reader: MessageReader,
    sequence: i32,
}

impl Scribe {
    pub(crate) fn connect(server: &Server) -> Scribe {
        Scribe::connect_to(server.scribe())
    }

    fn connect_to(address: impl ToSocketAddrs) -> Scribe {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(SOON)).unwrap();
        stream.set_write_timeout(Some(SOON)).unwrap();
        Scribe {
            stream,
            reader: MessageReader::of(Transport::Framed, REPLY_BYTES_MAX),
            sequence: 0,
        }
    }

    /// Sends bytes. The server may have closed: then nothing reads them.
    fn send(&mut self, bytes: &[u8]) {
        let _ = self.stream.write_all(bytes);
    }

    /// The next reply; `None`: the server has closed the connection.
    #[track_caller]
    fn receive(&mut self) -> Option<Vec<u8>> {
        while !self.reader.advance().unwrap() {
            match self.stream.read(self.reader.spare()) {
                Ok(0) => return None,
                Ok(count) => self.reader.filled(count),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    panic!("no answer within {SOON:?}")
                }
                Err(_) => return None,
            }
        }
        Some(self.reader.message().to_vec())
    }

    /// Calls `Log` and gives its answer; `None`: the server has closed the connection.
    #[track_caller]
    pub(crate) fn try_log(&mut self, messages: &[(&[u8], &[u8])]) -> Option<ResultCode> {
        self.sequence += 1;
        self.send(&log_call(self.sequence, messages));
        let reply = self.receive()?;
        match Reply::decode(&reply, Method::Log, self.sequence).unwrap() {
            Reply::Log(code) => Some(code),
            other => panic!("{other:?}"),
        }
    }

    /// Calls `Log` and gives the message of the exception that answers it.
    #[track_caller]
    pub(crate) fn refused_log(&mut self, messages: &[(&[u8], &[u8])]) -> String {
        self.sequence += 1;
        self.send(&log_call(self.sequence, messages));
        let reply = self.receive().unwrap();
        match Reply::decode(&reply, Method::Log, self.sequence).unwrap() {
            Reply::Exception(exception) => exception.message,
            other => panic!("{other:?}"),
        }
    }

    /// Calls `Log` with one line of `web`, which the server must take.
    #[track_caller]
    pub(crate) fn log(&mut self, body: &str) {
        let answer = self.try_log(&[(b"web", format!("{body}\n").as_bytes())]);
        assert_eq!(answer, Some(ResultCode::Ok), "{body}");
    }

    /// Calls a method and gives its reply to `read`.
    #[track_caller]
    fn call<T>(&mut self, call: &Call<'_>, read: impl FnOnce(Reply<'_>) -> T) -> T {
        self.sequence += 1;
        let mut sent = Vec::new();
        Dialect::SCRIBE
            .put_call(self.sequence, call, &mut sent)
            .unwrap();
        self.send(&sent);
        let reply = self.receive().unwrap();
        read(Reply::decode(&reply, call.method(), self.sequence).unwrap())
    }

    /// A counter by its name.
    #[track_caller]
    pub(crate) fn counter(&mut self, name: &str) -> i64 {
        self.call(&Call::GetCounter(name.as_bytes()), |reply| match reply {
            Reply::Number(number) => number,
            other => panic!("{other:?}"),
        })
    }
}

/// A call of `Log` as Scribe's clients send it.
fn log_call(sequence: i32, messages: &[(&[u8], &[u8])]) -> Vec<u8> {
    let mut sent = Vec::new();
    Dialect::SCRIBE
        .put_log(sequence, messages.iter().copied(), &mut sent)
        .unwrap();
    sent
}

/// A frame with these bytes.
fn framed(message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).unwrap();
    [&length.to_be_bytes(), message].concat()
}

/// A versionless call of this method and kind; `arguments` is the struct without its end.
fn message(method: &str, kind: u8, arguments: &[u8]) -> Vec<u8> {
    let length = u32::try_from(method.len()).unwrap();
    let mut message = length.to_be_bytes().to_vec();
    message.extend_from_slice(method.as_bytes());
    message.push(kind);
    message.extend_from_slice(&[0, 0, 0, 7]);
    message.extend_from_slice(arguments);
    message.push(0);
    message
}

/// The text of all files of a category, without a configuration.
pub(crate) fn text_of(server: &Server, category: &str) -> Vec<u8> {
    let folder = server.folder().0.join("data/collected").join(category);
    files(&folder, category)
        .iter()
        .flat_map(|path| std::fs::read(path).unwrap())
        .collect()
}

pub(crate) fn lines_of(server: &Server, category: &str) -> Vec<String> {
    let text = String::from_utf8(text_of(server, category)).unwrap();
    text.lines().map(str::to_owned).collect()
}

/// Whether the server closes the connection, and says nothing before.
#[track_caller]
fn is_closed(client: &mut Scribe) -> bool {
    let _ = client.stream.shutdown(Shutdown::Write);
    client.receive().is_none()
}
