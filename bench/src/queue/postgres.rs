//! PostgreSQL: a table and `FOR UPDATE SKIP LOCKED`, by prepared statements of its own protocol (version 3).
//!
//! A consumer's transaction stays open while it holds a row. Its `COMMIT` ends the row; it goes out in one write with the
//! `DELETE … RETURNING` that takes the next. A put while a row is held commits both. If the consumer goes away instead, the
//! server rolls back and another consumer gets the row. A consumer without a row asks again after a pause.
//!
//! By hand, not by `tokio-postgres`: that sends a Sync behind each statement, which the server answers one by one, and has a task
//! for each connection. Here COMMIT, BEGIN and DELETE are one write with one Sync.

use super::{payload::Payload, stream::Stream, tables::POLLED_EVERY};
use crate::{
    Server,
    error::{Error, Result},
};

/// Protocol 3.0, in the startup message.
const PROTOCOL: i32 = 3 << 16;
/// Longest message of the server, in bytes.
const MESSAGE_BYTES_MAX: usize = 1 << 20;

/// Takes the oldest row that no other consumer holds.
const TAKE: &str = "DELETE FROM q4m_t WHERE id = \
    (SELECT id FROM q4m_t ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING v";

/// A connection to a server that trusts its user, with a table `q4m_t` in the database `postgres`.
pub(super) struct Postgres {
    stream: Stream,
    /// `buffer[start..]` has arrived and is not used up.
    buffer: Vec<u8>,
    start: usize,
    out: Vec<u8>,
    /// Whether a transaction is open, with the row taken last.
    open: bool,
    /// Statements that this connection has prepared: `take`, `put`.
    prepared: Vec<&'static str>,
}

impl Postgres {
    /// Connects as the server's user, without a password.
    pub(super) async fn connect(server: &Server) -> Result<Postgres> {
        let mut link = Postgres {
            stream: Stream::connect(&server.addr).await?,
            buffer: Vec::new(),
            start: 0,
            out: Vec::new(),
            open: false,
            prepared: Vec::new(),
        };
        let parameters = format!("user\0{}\0database\0postgres\0\0", server.user);
        let length = 8 + parameters.len() as i32;
        link.out.extend_from_slice(&length.to_be_bytes());
        link.out.extend_from_slice(&PROTOCOL.to_be_bytes());
        link.out.extend_from_slice(parameters.as_bytes());
        link.answer().await?;
        link.prepare("begin", "BEGIN");
        link.prepare("commit", "COMMIT");
        link.sync().await?;
        Ok(link)
    }

    /// Creates the table again.
    pub(super) async fn reset(&mut self, payload: Payload) -> Result<()> {
        let long = if payload.length > 0 {
            ", s text not null"
        } else {
            ""
        };
        self.query(&format!(
            "DROP TABLE IF EXISTS q4m_t; CREATE TABLE q4m_t \
             (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, v int not null{long})"
        ))
        .await
        .map(drop)
    }

    pub(super) async fn drop_table(&mut self) -> Result<()> {
        self.query("DROP TABLE IF EXISTS q4m_t").await.map(drop)
    }

    pub(super) async fn count(&mut self) -> Result<u64> {
        let count = self.query("SELECT COUNT(*) FROM q4m_t").await?;
        Ok(count.unwrap_or(0).unsigned_abs())
    }

    /// Puts rows in one statement. Commits them and the row that is held.
    pub(super) async fn put(
        &mut self,
        values: impl Iterator<Item = i64>,
        payload: Payload,
    ) -> Result<()> {
        let values: Vec<String> = values.map(|value| value.to_string()).collect();
        let values = format!("{{{}}}", values.join(","));
        if payload.length > 0 {
            let insert = "INSERT INTO q4m_t (v, s) SELECT unnest($1::int[]), $2";
            self.prepare("put", insert);
            let text = "z".repeat(payload.length);
            self.execute("put", &[&values, &text]);
        } else {
            self.prepare("put", "INSERT INTO q4m_t (v) SELECT unnest($1::int[])");
            self.execute("put", &[&values]);
        }
        self.commit();
        self.sync().await.map(drop)
    }

    /// Ends the row taken before and takes the next; waits for one if need be.
    pub(super) async fn next(&mut self) -> Result<i64> {
        loop {
            self.prepare("take", TAKE);
            self.commit();
            self.execute("begin", &[]);
            self.execute("take", &[]);
            self.open = true;
            if let Some(value) = self.sync().await? {
                return Ok(value);
            }
            tokio::time::sleep(POLLED_EVERY).await;
        }
    }

    /// Ends the row taken last.
    pub(super) async fn finish(&mut self) -> Result<()> {
        self.commit();
        self.sync().await.map(drop)
    }

    fn commit(&mut self) {
        if std::mem::take(&mut self.open) {
            self.execute("commit", &[]);
        }
    }

    /// Sends Parse, if the connection has not prepared this statement yet.
    fn prepare(&mut self, name: &'static str, statement: &str) {
        if !self.prepared.contains(&name) {
            self.prepared.push(name);
            // No types of parameters: the server infers them.
            self.message(b'P', format!("{name}\0{statement}\0\0\0").as_bytes());
        }
    }

    /// Sends Bind, with parameters as text, and Execute, for all rows.
    fn execute(&mut self, name: &str, parameters: &[&str]) {
        let mut body = format!("\0{name}\0\0\0").into_bytes();
        body.extend_from_slice(&(parameters.len() as i16).to_be_bytes());
        for parameter in parameters {
            body.extend_from_slice(&(parameter.len() as i32).to_be_bytes());
            body.extend_from_slice(parameter.as_bytes());
        }
        body.extend_from_slice(&0i16.to_be_bytes());
        self.message(b'B', &body);
        self.message(b'E', &[0; 5]);
    }

    fn message(&mut self, kind: u8, body: &[u8]) {
        self.out.push(kind);
        let length = body.len() as i32 + 4;
        self.out.extend_from_slice(&length.to_be_bytes());
        self.out.extend_from_slice(body);
    }

    async fn sync(&mut self) -> Result<Option<i64>> {
        self.message(b'S', &[]);
        self.answer().await
    }

    async fn query(&mut self, statements: &str) -> Result<Option<i64>> {
        self.message(b'Q', format!("{statements}\0").as_bytes());
        self.answer().await
    }

    /// Sends `out` and reads up to ReadyForQuery. Gives the first cell of the last row as a number; `None`: no row.
    async fn answer(&mut self) -> Result<Option<i64>> {
        self.stream.write_all(&self.out).await?;
        self.out.clear();
        let (mut cell, mut refused) = (None, None);
        loop {
            let (kind, body) = self.receive().await?;
            match kind {
                b'D' => cell = Some(first_cell(body)?),
                b'E' => refused = Some(body.escape_ascii().to_string()),
                b'R' if body != [0; 4] => {
                    return Err(Error::Peer(
                        "PostgreSQL asks for a password: give the user `trust` in pg_hba.conf"
                            .to_owned(),
                    ));
                }
                b'Z' => return refused.map_or(Ok(cell), |why| Err(Error::Peer(why))),
                _ => {}
            }
            // An error in place of the greeting is the last message.
            if let Some(why) = refused.take_if(|_| self.prepared.is_empty()) {
                return Err(Error::Peer(why));
            }
        }
    }

    /// The next message: kind and body.
    async fn receive(&mut self) -> Result<(u8, &[u8])> {
        self.fill(5).await?;
        let head = &self.buffer[self.start..];
        let (kind, length) = (head[0], [head[1], head[2], head[3], head[4]]);
        let length = usize::try_from(i32::from_be_bytes(length)).unwrap_or(0);
        if !(4..=MESSAGE_BYTES_MAX).contains(&length) {
            return Err(Error::Peer(format!(
                "a message of PostgreSQL says {length} bytes"
            )));
        }
        self.fill(1 + length).await?;
        let body = self.start + 5..self.start + 1 + length;
        self.start = body.end;
        Ok((kind, &self.buffer[body]))
    }

    /// Reads until `count` unused bytes have arrived.
    async fn fill(&mut self, count: usize) -> Result<()> {
        while self.buffer.len() - self.start < count {
            self.buffer.drain(..std::mem::take(&mut self.start));
            self.stream.read_more(&mut self.buffer).await?;
        }
        Ok(())
    }
}

/// The first cell of a DataRow, which is a number as text.
fn first_cell(row: &[u8]) -> Result<i64> {
    let cell = row
        .get(2..6)
        .and_then(|length| length.try_into().ok())
        .map(i32::from_be_bytes)
        .and_then(|length| usize::try_from(length).ok())
        .and_then(|length| row.get(6..)?.get(..length));
    Payload::value(cell.unwrap_or_default())
}

#[cfg(test)]
mod tests;
