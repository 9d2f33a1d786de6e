//! Posts as messages of Scribe's `Log`, which a store of type `index` puts into the table of the run.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use wire::scribe::{Dialect, MessageReader, Method, Reply, ResultCode, Transport};

use crate::error::{Error, Result};
use crate::workload::Post;

/// Pause after TRY_LATER.
const LATER: Duration = Duration::from_millis(2);
/// Longest answer. Bytes.
const ANSWER_BYTES_MAX: usize = 64 << 10;

/// A connection to the Scribe door.
pub(super) struct Logged<'p> {
    stream: TcpStream,
    reader: MessageReader,
    category: &'p str,
    posts: &'p [Post],
    call: Vec<u8>,
}

impl<'p> Logged<'p> {
    pub(super) fn connect(addr: &str, category: &'p str, posts: &'p [Post]) -> Result<Logged<'p>> {
        let stream = TcpStream::connect(addr)?;
        stream.set_nodelay(true)?;
        Ok(Logged {
            stream,
            reader: MessageReader::of(Transport::Framed, ANSWER_BYTES_MAX),
            category,
            posts,
            call: Vec::new(),
        })
    }

    /// Sends the posts of `count` ids as one call until it is answered OK. Id 1 is the first post; behind the last one comes the
    /// first again.
    pub(super) fn insert(&mut self, first_id: u64, count: u32) -> Result<()> {
        let peer = |error: String| Error::Peer(error);
        let ids = first_id..first_id + u64::from(count);
        let posts = self.posts.len() as u64;
        let messages = ids.map(|id| {
            let post = &self.posts[((id - 1) % posts) as usize];
            (self.category.as_bytes(), post.body.as_bytes())
        });
        self.call.clear();
        let put = Dialect::SCRIBE.put_log(0, messages, &mut self.call);
        put.map_err(|error| peer(error.to_string()))?;
        loop {
            self.stream.write_all(&self.call)?;
            match self.answer()? {
                ResultCode::Ok => return Ok(()),
                ResultCode::TryLater => std::thread::sleep(LATER),
            }
        }
    }

    fn answer(&mut self) -> Result<ResultCode> {
        let peer = |error: String| Error::Peer(error);
        while !self
            .reader
            .advance()
            .map_err(|error| peer(error.to_string()))?
        {
            let count = self.stream.read(self.reader.spare())?;
            if count == 0 {
                return Err(peer("the server closed the connection".to_owned()));
            }
            self.reader.filled(count);
        }
        let reply = Reply::decode(self.reader.message(), Method::Log, 0);
        match reply.map_err(|error| peer(error.to_string()))? {
            Reply::Log(code) => Ok(code),
            other => Err(peer(format!("Log was answered by {other:?}"))),
        }
    }
}
