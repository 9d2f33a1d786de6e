//! POST /bulk: a JSON operation in each line, read and stored as the lines arrive.
//!
//! Lines are collected into batches. A batch ends at an empty line, at the end of the body, or when it reaches
//! [`BULK_BATCH_COUNT`] lines or [`BULK_BATCH_BYTES`]. It is stored as a whole or not at all. Example, a body of seven lines:
//!
//! ```text
//! line 1  {"insert": …}
//! line 2  {"insert": …}
//! line 3                     an empty line: lines 1 and 2 are stored as one batch
//! line 4  {"insert": …}
//! line 5  {"insert": BAD
//! line 6                     the batch of lines 4 and 5 is refused, for line 5; the request ends
//! line 7  {"insert": …}      not read
//! ```
//!
//! The reply says that lines 1 to 3 are stored and that nothing from line 4 on is.

mod batch;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use batch::Batch;
use engine::Command;
use session::errors::{self, Failure};
use session::json_texts;
use session::near::with_near_name;
use session::{Action, Deed, Grant};
use wire::json::BulkReply;
use wire::limits::LINE_BYTES_MAX;

use super::body::{self, Pieces};
use super::reply::{self, Refusal};
use super::{Door, Guest};
use crate::limits::{BULK_BATCH_BYTES, BULK_BATCH_COUNT};

/// Levels of JSON that are read without a tree: a line, its action, the document.
const FIELDS_DEPTH: usize = 3;

/// Handles POST /bulk. Answers once the last batch is synced.
pub(super) async fn post(
    State(door): State<Door>,
    request: Request<Body>,
) -> Result<Response, Refusal> {
    let server = &door.server;
    let guest = Guest::new(server);
    // Recovery and rights are checked before the body is read.
    server.snapshot(&guest.session, Action(Deed::Write, None))?;
    body::not_packed(request.headers())?;
    let patience = server.settings().live.client_timeout;
    let mut load = Load::new(guest);
    let result = load.all(Pieces::new(request.into_body(), patience)).await;
    Ok(load.reply(result))
}

/// A request that is being read.
struct Load<'a> {
    guest: Guest<'a>,
    /// Whole lines of the current batch, then the beginning of the next line.
    text: Vec<u8>,
    /// Offset in `text` at which the next line begins.
    line_start: usize,
    /// Count of lines of the current batch.
    lines: u64,
    /// Count of lines of stored batches, empty lines included.
    lines_done: u64,
    /// Number of the last line read, from 1.
    line: u64,
    reply: BulkReply,
    /// Memory of `text` and of the batch that is parsed from it.
    held: Grant,
}

impl<'a> Load<'a> {
    fn new(guest: Guest<'a>) -> Load<'a> {
        let text = Vec::new();
        let reply = BulkReply::default();
        Load {
            held: guest.budget.grant(),
            guest,
            text,
            line_start: 0,
            lines: 0,
            lines_done: 0,
            line: 0,
            reply,
        }
    }

    async fn all(&mut self, mut pieces: Pieces) -> Result<(), Failure> {
        while let Some(piece) = pieces.next().await? {
            let mut piece = piece.as_ref();
            // The text's buffer may double as it grows.
            self.held
                .reserve(2 * (self.text.len() + piece.len()))
                .await?;
            while let Some(end) = piece.iter().position(|byte| *byte == b'\n') {
                self.text.extend_from_slice(&piece[..end]);
                piece = &piece[end + 1..];
                self.line_ended().await?;
            }
            self.text.extend_from_slice(piece);
            if self.text.len() - self.line_start > LINE_BYTES_MAX {
                let message = format!("line {}: longer than {LINE_BYTES_MAX} bytes", self.line + 1);
                return Err(Failure::new(errors::PACKET_TOO_LARGE, message));
            }
        }
        if self.text.len() > self.line_start {
            self.line_ended().await?;
        }
        self.commit().await
    }

    /// Ends the line at the end of `text`. Stores the batch if it ends here.
    async fn line_ended(&mut self) -> Result<(), Failure> {
        self.line += 1;
        let is_empty = self.text[self.line_start..]
            .iter()
            .all(u8::is_ascii_whitespace);
        if is_empty {
            self.text.truncate(self.line_start);
            self.commit().await?;
            self.lines_done = self.line;
            return Ok(());
        }
        self.text.push(b'\n');
        self.line_start = self.text.len();
        self.lines += 1;
        if self.lines as usize >= BULK_BATCH_COUNT || self.text.len() >= BULK_BATCH_BYTES {
            self.commit().await?;
        }
        Ok(())
    }

    /// Stores the current batch, unless it is empty.
    async fn commit(&mut self) -> Result<(), Failure> {
        if self.lines == 0 {
            return Ok(());
        }
        let (text, first_line) = (&self.text, self.lines_done + 1);
        body::room_for_json(text, FIELDS_DEPTH, &self.held).await?;
        let server = self.guest.server;
        server.long(&self.guest.session).await;
        let read = || Batch::read(text, first_line);
        let batch = session::guarded(server, read)?;
        let (mut writes, counted) = batch.into_writes();
        for write in &mut writes {
            json_texts::of_write(server, write);
        }
        let command = Command::Many(writes);
        let reply = server.submit_raw(&self.guest.session, command).await?;
        let reply = reply.map_err(|error| with_near_name(server, counted.failure(error)))?;
        counted.report(&reply, &mut self.reply);
        self.text.clear();
        self.text.shrink_to(BULK_BATCH_BYTES);
        self.held.keep(self.text.capacity());
        self.line_start = 0;
        self.lines_done += self.lines;
        self.lines = 0;
        Ok(())
    }

    /// The reply: counts and ids of each stored batch. For a failure also its line, and which lines are stored.
    fn reply(mut self, result: Result<(), Failure>) -> Response {
        let Err(failure) = result else {
            self.reply.finish(self.line, 0, "");
            return reply::json_bytes(StatusCode::OK, self.reply.bytes().to_vec());
        };
        let first = self.lines_done + 1;
        let fate = match self.lines_done {
            0 => format!(
                "no line was stored, nothing after line {} was read",
                self.line
            ),
            done => format!(
                "lines 1 to {done} are stored, from line {first} on nothing is, nothing after line {} was read",
                self.line
            ),
        };
        let message = format!("{}; {fate}", failure.message);
        self.reply
            .finish(self.line, self.line - self.lines_done, &message);
        reply::json_bytes(
            reply::status(failure.kind.status),
            self.reply.bytes().to_vec(),
        )
    }
}
