//! A connection of the load: a socket, and for line protocols a buffer in each direction.

use std::io;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpStream, UnixStream},
};

use crate::error::{Error, Result};

/// Longest line of a peer's protocol, in bytes.
const LINE_MAX: usize = 1 << 20;
/// Bytes of a read from the socket.
const READ_BYTES: usize = 8 << 10;

/// A socket of either family, with time limits.
pub(super) enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Stream {
    /// `host:port`, or `unix:/path`.
    pub(super) async fn connect(addr: &str) -> io::Result<Stream> {
        if let Some(path) = addr.strip_prefix("unix:") {
            return UnixStream::connect(path).await.map(Stream::Unix);
        }
        let stream = TcpStream::connect(addr).await?;
        stream.set_nodelay(true)?;
        Ok(Stream::Tcp(stream))
    }

    /// Reads the bytes that have arrived, at least one. The end of the stream is an error.
    pub(super) async fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let count = match self {
            Stream::Tcp(stream) => stream.read(room).await?,
            Stream::Unix(stream) => stream.read(room).await?,
        };
        match count {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            count => Ok(count),
        }
    }

    /// Appends the bytes that have arrived, at least one.
    pub(super) async fn read_more(&mut self, buffer: &mut Vec<u8>) -> Result<()> {
        let arrived = buffer.len();
        buffer.resize(arrived + READ_BYTES, 0);
        let read = self.read(&mut buffer[arrived..]).await;
        buffer.truncate(arrived + read.as_ref().copied().unwrap_or(0));
        read?;
        Ok(())
    }

    pub(super) async fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Stream::Tcp(stream) => stream.write_all(bytes).await,
            Stream::Unix(stream) => stream.write_all(bytes).await,
        }
    }
}

/// A connection whose protocol is lines that end with CR LF, with counted bytes between them.
pub(super) struct Lines {
    stream: Stream,
    /// `buffer[start..]` has arrived and is not used up.
    buffer: Vec<u8>,
    start: usize,
    /// Bytes for [`send`](Self::send).
    pub(super) out: Vec<u8>,
}

impl Lines {
    pub(super) async fn connect(addr: &str) -> Result<Lines> {
        Ok(Lines {
            stream: Stream::connect(addr).await?,
            buffer: Vec::new(),
            start: 0,
            out: Vec::new(),
        })
    }

    /// Sends and empties `out`.
    pub(super) async fn send(&mut self) -> Result<()> {
        self.stream.write_all(&self.out).await?;
        self.out.clear();
        Ok(())
    }

    /// The next line, without its end.
    pub(super) async fn line(&mut self) -> Result<&[u8]> {
        let mut looked_at = 0;
        let length = loop {
            let arrived = &self.buffer[self.start + looked_at..];
            if let Some(at) = arrived.iter().position(|byte| *byte == b'\n') {
                break looked_at + at;
            }
            looked_at += arrived.len();
            if looked_at > LINE_MAX {
                return Err(Error::Peer("a line without an end".to_owned()));
            }
            self.fill().await?;
        };
        let line = &self.buffer[self.start..self.start + length];
        self.start += length + 1;
        Ok(line.strip_suffix(b"\r").unwrap_or(line))
    }

    /// Reads `length` bytes and the line end behind them, which it leaves out.
    pub(super) async fn body(&mut self, length: usize) -> Result<&[u8]> {
        while self.buffer.len() - self.start < length + 2 {
            self.fill().await?;
        }
        let body = &self.buffer[self.start..self.start + length];
        self.start += length + 2;
        Ok(body)
    }

    async fn fill(&mut self) -> Result<()> {
        self.buffer.drain(..std::mem::take(&mut self.start));
        self.stream.read_more(&mut self.buffer).await
    }
}
