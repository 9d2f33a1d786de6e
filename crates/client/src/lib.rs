//! A blocking client of the MySQL protocol, for `seine sql`, `seine load`, the demo, tests and benchmarks.
//!
//! It runs one statement at a time. Cells are slices of the read buffer, so that the client costs a benchmark little. It has
//! neither TLS nor prepared statements, and refuses a server that insists on them.
//!
//! ```no_run
//! let mut client = client::Client::connect("127.0.0.1:9306", "seine", "")?;
//! let answer = client.query("SELECT id FROM posts WHERE MATCH('harbour')")?;
//! for row in &answer.rows {
//!     println!("{:?}", row[0]);
//! }
//! # Ok::<(), client::ClientError>(())
//! ```

#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::fmt;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use wire::limits::COLUMNS_MAX;
use wire::mysql::{
    Capabilities, ClientLogin, ColumnDefinition, Command, DecodeError, Done, LoginStep,
    PacketError, PacketReader, PacketWriter, Reply, RowPacket, STATUS_MORE_RESULTS, ServerError,
};

/// Why a statement or a connection failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum ClientError {
    /// The server refused the statement or the login. After a statement the connection is still usable.
    Server(ServerError),
    /// The connection broke.
    Io(io::Error),
    /// The server broke the protocol.
    Protocol(&'static str),
}

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClientError::Server(error) => error.fmt(f),
            ClientError::Io(error) => write!(f, "connection: {error}"),
            ClientError::Protocol(what) => write!(f, "protocol: {what}"),
        }
    }
}

impl std::error::Error for ClientError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ClientError::Server(error) => Some(error),
            ClientError::Io(error) => Some(error),
            ClientError::Protocol(_) => None,
        }
    }
}

impl From<io::Error> for ClientError {
    fn from(error: io::Error) -> Self {
        ClientError::Io(error)
    }
}

impl From<DecodeError> for ClientError {
    fn from(error: DecodeError) -> Self {
        ClientError::Protocol(error.what)
    }
}

impl From<PacketError> for ClientError {
    fn from(error: PacketError) -> Self {
        match error {
            PacketError::TooLong { .. } => ClientError::Protocol("packet too long"),
            PacketError::OutOfOrder { .. } | PacketError::GivenUp { .. } => {
                ClientError::Protocol("packets out of order")
            }
        }
    }
}

/// Result of this crate.
pub type Result<T> = std::result::Result<T, ClientError>;

/// The cells of a row, as slices of the read buffer; `None` is NULL.
pub type Cells<'r> = [Option<&'r [u8]>];

/// The whole answer of a statement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueryResult {
    /// Headers and types; empty for a statement without rows.
    pub columns: Vec<ColumnDefinition>,
    /// Rows of text cells, one for each column; `None` is NULL.
    pub rows: Vec<Vec<Option<Vec<u8>>>>,
    /// Count of rows inserted, replaced or deleted.
    pub affected: u64,
    /// Id of the last row inserted; 0: none.
    pub last_id: u64,
    /// Count of warnings that SHOW WARNINGS has.
    pub warnings: u16,
}

/// Counts of [`Client::query_rows`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Count of rows visited.
    pub rows: u64,
    /// Count of rows inserted, replaced or deleted.
    pub affected: u64,
    /// Count of warnings that SHOW WARNINGS has.
    pub warnings: u16,
}

#[derive(Debug)]
enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Stream {
    /// `host:port`, or `unix:/path`.
    fn connect(addr: &str) -> io::Result<Self> {
        if let Some(path) = addr.strip_prefix("unix:") {
            return UnixStream::connect(path).map(Stream::Unix);
        }
        let stream = TcpStream::connect(addr)?;
        stream.set_nodelay(true)?;
        Ok(Stream::Tcp(stream))
    }

    fn set_read_timeout(&self, longest: Duration) -> io::Result<()> {
        match self {
            Stream::Tcp(stream) => stream.set_read_timeout(Some(longest)),
            Stream::Unix(stream) => stream.set_read_timeout(Some(longest)),
        }
    }

    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => stream.read(room),
            Stream::Unix(stream) => stream.read(room),
        }
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Stream::Tcp(stream) => stream.write_all(bytes),
            Stream::Unix(stream) => stream.write_all(bytes),
        }
    }
}

/// A connection that has logged in.
#[derive(Debug)]
pub struct Client {
    stream: Stream,
    reader: PacketReader,
    packets: PacketWriter,
    capabilities: Capabilities,
    /// Whether a reply was left unread: no further statement is possible.
    broken: bool,
}

impl Client {
    /// Connects to `host:port` or `unix:/path`.
    ///
    /// # Errors
    /// [`ClientError::Server`]: the server refused the login or the connection. Others: the connection failed.
    pub fn connect(addr: &str, user: &str, password: &str) -> Result<Self> {
        let mut client = Client {
            stream: Stream::connect(addr)?,
            reader: PacketReader::default(),
            packets: PacketWriter::new(),
            capabilities: Capabilities::CLIENT,
            broken: false,
        };
        client.fetch()?;
        let greeting = client.reader.packet().payload;
        if greeting.first() == Some(&0xff)
            && let Reply::Error(error) = Reply::decode(greeting)?
        {
            return Err(ClientError::Server(error));
        }
        let login = ClientLogin::begin(greeting, user, password, &mut client.packets)?;
        client.capabilities = login.capabilities;
        client.log_in(&login)?;
        Ok(client)
    }

    /// From now on, a statement fails if the server sends nothing for this time. The connection is broken then.
    ///
    /// # Errors
    /// The time is zero.
    pub fn set_read_timeout(&self, longest: Duration) -> io::Result<()> {
        self.stream.set_read_timeout(longest)
    }

    fn log_in(&mut self, login: &ClientLogin) -> Result<()> {
        loop {
            self.stream.write_all(self.packets.bytes())?;
            self.packets.clear();
            self.fetch()?;
            let packet = self.reader.packet();
            match login.answer(packet.payload, packet.sequence, &mut self.packets)? {
                LoginStep::Read => {}
                LoginStep::Done => return Ok(()),
                LoginStep::Refused(error) => return Err(ClientError::Server(error)),
                LoginStep::Unsupported => {
                    return Err(ClientError::Protocol("unknown way of authentication"));
                }
            }
        }
    }

    /// Runs a statement and gives its whole answer. Of several result sets it keeps the last with columns; the count of
    /// affected rows is that of all.
    ///
    /// # Errors
    /// [`ClientError::Server`]: the statement was refused; the connection is still usable. Any other: it is broken.
    pub fn query(&mut self, text: &str) -> Result<QueryResult> {
        let mut rows = Vec::new();
        let mut columns = Vec::new();
        let mut keep = |cells: &[Option<&[u8]>]| {
            rows.push(cells.iter().map(|cell| cell.map(<[u8]>::to_vec)).collect());
        };
        let done = self.run(text, &mut |found| columns = found, &mut keep)?;
        Ok(QueryResult {
            columns,
            rows,
            affected: done.affected,
            last_id: done.last_id,
            warnings: done.warnings,
        })
    }

    /// Runs a statement and gives each of its result sets. The last one has the counts of all; without a result set it is the only one.
    ///
    /// # Errors
    /// As [`query`](Self::query).
    pub fn query_sets(&mut self, text: &str) -> Result<Vec<QueryResult>> {
        let sets: RefCell<Vec<QueryResult>> = RefCell::default();
        let mut begin = |columns| {
            sets.borrow_mut().push(QueryResult {
                columns,
                ..QueryResult::default()
            });
        };
        let mut keep = |cells: &[Option<&[u8]>]| {
            if let Some(set) = sets.borrow_mut().last_mut() {
                let cells = cells.iter().map(|cell| cell.map(<[u8]>::to_vec));
                set.rows.push(cells.collect());
            }
        };
        let done = self.run(text, &mut begin, &mut keep)?;
        let mut sets = sets.into_inner();
        let mut last = sets.pop().unwrap_or_default();
        (last.affected, last.last_id) = (done.affected, done.last_id);
        last.warnings = done.warnings;
        sets.push(last);
        Ok(sets)
    }

    /// Runs a statement and calls `visit` with each row. Allocates nothing for a row.
    ///
    /// # Errors
    /// As [`query`](Self::query). Rows before the failure were visited.
    pub fn query_rows(&mut self, text: &str, visit: &mut dyn FnMut(&Cells<'_>)) -> Result<Summary> {
        self.query_named_rows(text, &mut |_| {}, visit)
    }

    /// As [`query_rows`](Self::query_rows), but also gives the columns, before the rows.
    ///
    /// # Errors
    /// As [`query`](Self::query). Rows before the failure were visited.
    pub fn query_named_rows(
        &mut self,
        text: &str,
        columns: &mut dyn FnMut(Vec<ColumnDefinition>),
        visit: &mut dyn FnMut(&Cells<'_>),
    ) -> Result<Summary> {
        let mut rows = 0;
        let mut count = |cells: &[Option<&[u8]>]| {
            rows += 1;
            visit(cells);
        };
        let done = self.run(text, columns, &mut count)?;
        Ok(Summary {
            rows,
            affected: done.affected,
            warnings: done.warnings,
        })
    }

    /// Checks that the server answers.
    ///
    /// # Errors
    /// As [`query`](Self::query).
    pub fn ping(&mut self) -> Result<()> {
        self.packets.clear();
        Command::ping(&mut self.packets);
        self.answer(&mut |_| {}, &mut |_| {}).map(|_| ())
    }

    /// Sends a command without waiting for its answer. [`taken`](Self::taken) gives the answers, in order.
    ///
    /// # Errors
    /// The connection failed, and is broken.
    pub fn post(&mut self, write: impl FnOnce(&mut PacketWriter)) -> Result<()> {
        if self.broken {
            return Err(ClientError::Protocol("the connection broke earlier"));
        }
        self.packets.clear();
        write(&mut self.packets);
        let sent = self.stream.write_all(self.packets.bytes());
        self.broken = sent.is_err();
        Ok(sent?)
    }

    /// Reads the answer to the oldest [posted](Self::post) command without one.
    ///
    /// # Errors
    /// As [`query`](Self::query).
    pub fn taken(&mut self) -> Result<QueryResult> {
        let done = self.results(&mut |_| {}, &mut |_| {});
        self.broken = !matches!(done, Ok(_) | Err(ClientError::Server(_)));
        let done = done?;
        Ok(QueryResult {
            affected: done.affected,
            last_id: done.last_id,
            warnings: done.warnings,
            ..QueryResult::default()
        })
    }

    fn run(
        &mut self,
        text: &str,
        columns: &mut dyn FnMut(Vec<ColumnDefinition>),
        row: &mut dyn FnMut(&Cells<'_>),
    ) -> Result<Done> {
        self.packets.clear();
        Command::query(text.as_bytes(), &mut self.packets);
        self.answer(columns, row)
    }

    /// Sends the written command and reads its whole answer. Any error but a refusal leaves an answer half read, and so breaks
    /// the connection.
    fn answer(
        &mut self,
        columns: &mut dyn FnMut(Vec<ColumnDefinition>),
        row: &mut dyn FnMut(&Cells<'_>),
    ) -> Result<Done> {
        if self.broken {
            return Err(ClientError::Protocol("the connection broke earlier"));
        }
        self.broken = true;
        self.stream.write_all(self.packets.bytes())?;
        let done = self.results(columns, row);
        self.broken = !matches!(done, Ok(_) | Err(ClientError::Server(_)));
        done
    }

    fn results(
        &mut self,
        columns: &mut dyn FnMut(Vec<ColumnDefinition>),
        row: &mut dyn FnMut(&Cells<'_>),
    ) -> Result<Done> {
        let mut total = Done::default();
        loop {
            self.fetch()?;
            let done = match Reply::decode(self.reader.packet().payload)? {
                Reply::Ok(done) => done,
                Reply::Error(error) => return Err(ClientError::Server(error)),
                Reply::Columns(count) => {
                    columns(self.columns(count)?);
                    self.rows(row)?
                }
            };
            total = Done {
                affected: total.affected.saturating_add(done.affected),
                ..done
            };
            if total.status & STATUS_MORE_RESULTS == 0 {
                return Ok(total);
            }
        }
    }

    fn columns(&mut self, count: u64) -> Result<Vec<ColumnDefinition>> {
        if count > COLUMNS_MAX as u64 {
            return Err(ClientError::Protocol("too many columns"));
        }
        let mut columns = Vec::new();
        for _ in 0..count {
            self.fetch()?;
            columns.push(ColumnDefinition::decode(self.reader.packet().payload)?);
        }
        if !self.capabilities.has(Capabilities::DEPRECATE_EOF) {
            self.fetch()?;
        }
        Ok(columns)
    }

    fn rows(&mut self, visit: &mut dyn FnMut(&Cells<'_>)) -> Result<Done> {
        let mut kept = Vec::new();
        loop {
            self.fetch()?;
            let payload = self.reader.packet().payload;
            match RowPacket::decode(payload, self.capabilities)? {
                RowPacket::Row(found) => {
                    let mut cells: Vec<Option<&[u8]>> = kept;
                    for cell in found {
                        cells.push(cell?);
                    }
                    visit(&cells);
                    kept = emptied(cells);
                }
                RowPacket::Error(error) => return Err(ClientError::Server(error)),
                RowPacket::End { status, warnings } => {
                    return Ok(Done {
                        status,
                        warnings,
                        ..Done::default()
                    });
                }
            }
        }
    }

    /// Reads until the next packet is the reader's current one.
    #[inline]
    fn fetch(&mut self) -> Result<()> {
        while !self.reader.advance()? {
            let count = match self.stream.read(self.reader.spare()) {
                Ok(0) => return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error.into()),
            };
            self.reader.filled(count);
        }
        Ok(())
    }
}

impl Drop for Client {
    /// Sends COM_QUIT, so that the server logs no broken connection. Ignores a failure.
    fn drop(&mut self) {
        if !self.broken {
            self.packets.clear();
            Command::quit(&mut self.packets);
            let _ = self.stream.write_all(self.packets.bytes());
        }
    }
}

/// The empty vector with the same allocation, for the cells of the next row: collecting from an emptied vector keeps it.
fn emptied(mut cells: Vec<Option<&[u8]>>) -> Vec<Option<&'static [u8]>> {
    cells.clear();
    cells.into_iter().map(|_| None).collect()
}
