//! A store that keeps messages in a secondary store while its primary does not take them, and sends them later.
//!
//! # Example
//! The primary is a server that goes away after message 2 and is back for the look at 310 s; three messages a file:
//!
//! ```text
//! time   event                       state           primary has   files of the secondary
//! 0 s    write 1, 2                  STREAMING       1 2
//! 4 s    write 3: the primary fails  DISCONNECTED    1 2           [3]
//! 9 s    write 4, 5, 6               DISCONNECTED    1 2           [3 4 5] [6]
//! 310 s  look: the primary opens     SENDING_BUFFER  1 2 3 4 5     [6]
//! 310 s  write 7                     SENDING_BUFFER  1 2 3 4 5     [6 7]
//! 310 s  look: nothing is left       STREAMING       1 … 7
//! ```
//!
//! # States
//! | from | to | when |
//! |---|---|---|
//! | start | as from DISCONNECTED | at the first call; the secondary is opened too, so that a path that cannot be made is told now |
//! | DISCONNECTED | SENDING_BUFFER | the primary opens; it is tried when a pause ([`pause`]) has passed since its last failure |
//! | DISCONNECTED | STREAMING | the same, with `replay_buffer=no` or an empty secondary |
//! | SENDING_BUFFER | STREAMING | a look finds the secondary empty |
//! | STREAMING | SENDING_BUFFER | the line's queue is longer than `max_queue_length` |
//! | both | DISCONNECTED | the primary takes only a part of a batch; the rest goes to the secondary in the same call |
//!
//! Invariants:
//! - In STREAMING with `replay_buffer` the secondary is empty. So a message that goes to the primary is never newer than one in the
//!   secondary, except with `flush_streaming`, which asks for that.
//! - A message leaves the secondary after the primary took and synced it. A crash between the two sends a piece again, or the file
//!   from an older place where the notes of its place were lost.
//! - The marks of a primary of several stores speak of the oldest messages of the secondary. They are noted beside its place, after
//!   a sync of the primary.
//!
//! # Speed
//! A look sends one piece of at most [`PIECE_BYTES_MAX`], so the line can write new messages between two looks, and
//! [`Store::next_look_us`] asks for the next one at once. With `buffer_send_rate` set, it asks only until that number of files is
//! sent; the next periodic look then begins the next files.

#[cfg(test)]
mod laws;
mod pause;
#[cfg(test)]
mod tests;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use self::pause::Pause;
use super::{Marks, Store, Surroundings, Written, shape};
use crate::config::BufferConfig;
use crate::counters::{Counter, Counters};
use crate::message::{Message, Now};

/// Most bytes of messages that one look reads from the secondary, unless one message has more.
const PIECE_BYTES_MAX: usize = 1 << 20;

/// A `buffer` store.
pub(super) struct Buffer {
    primary: Box<dyn Store>,
    secondary: Box<dyn Store>,
    state: State,
    pause: Pause,
    /// When the primary failed last, on the steady clock.
    failed_at_us: u64,
    replay_buffer: bool,
    flush_streaming: bool,
    /// With `flush_streaming`: a longer queue of the line goes before the secondary's files.
    bypass_bytes: u64,
    /// The secondary takes over while the line's queue is longer.
    queue_bytes_max: Option<u64>,
    files_a_look: Option<u64>,
    /// Files of `files_a_look` that are still to be sent.
    files_left: u64,
    wants_look: bool,
    /// Why the primary does not take messages.
    primary_failed: Option<String>,
    /// A sync of the primary failed while files were sent. The next `sync` returns it: it counts for messages of the line too.
    unsynced: Option<io::Error>,
    /// Why the secondary did not take, or not give, messages the last time.
    secondary_failed: Option<String>,
    /// Tells whether marks are of a primary like this one.
    shape: u64,
    /// The marks of the primary that the secondary has noted.
    noted: Vec<u8>,
    /// The category that failures of the primary are counted under.
    category: Box<[u8]>,
    queue_bytes: Arc<AtomicU64>,
    counters: Arc<Counters>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Start,
    Disconnected,
    SendingBuffer,
    Streaming,
}

impl Buffer {
    /// A buffer from a primary and a secondary, which opens nothing yet. With `replay_buffer` and a secondary that cannot be
    /// read, messages stay in the secondary, as with `replay_buffer=no`. `category`, `copies` as in [`super::build`].
    pub(super) fn new(
        (primary, mut secondary): (Box<dyn Store>, Box<dyn Store>),
        config: &BufferConfig,
        (category, copies): (&[u8], usize),
        surroundings: &Surroundings,
    ) -> Buffer {
        let ratio = config.buffer_bypass_max_ratio.clamp(0.0, 1.0);
        Buffer {
            replay_buffer: config.replay_buffer && secondary.backlog().is_some(),
            primary,
            secondary,
            state: State::Start,
            pause: Pause::new(config, surroundings.seed),
            failed_at_us: 0,
            flush_streaming: config.flush_streaming,
            bypass_bytes: (surroundings.max_queue_size as f64 * ratio) as u64,
            queue_bytes_max: Some(config.max_queue_length).filter(|bytes| *bytes > 0),
            files_a_look: config.buffer_send_rate,
            files_left: 0,
            wants_look: false,
            primary_failed: None,
            unsynced: None,
            secondary_failed: None,
            shape: shape(&config.primary, category, copies),
            noted: Vec::new(),
            category: category.into(),
            queue_bytes: Arc::clone(&surroundings.queue_bytes),
            counters: Arc::clone(&surroundings.counters),
        }
    }

    /// Tries to reach the primary.
    fn connect(&mut self, now: Now) {
        if self.state == State::Start {
            let _ = self.secondary.open(now); // its status says why not
            self.take_up_noted(now);
        }
        match self.primary.open(now) {
            Ok(()) => {
                self.primary_failed = None;
                self.state = State::SendingBuffer;
                self.files_left = 0;
                self.stream_if_empty(now);
            }
            Err(reason) => self.disconnect(reason, now),
        }
    }

    /// Gives the primary the marks that were noted before the start.
    fn take_up_noted(&mut self, now: Now) {
        let backlog = self.secondary.backlog().filter(|_| self.replay_buffer);
        // Without them the parts get again what they have.
        let noted = backlog.and_then(|backlog| backlog.marks(now).ok());
        self.noted = noted.unwrap_or_default();
        if let Some(marks) = Marks::of_note(&self.noted, self.shape) {
            self.primary.take_up(&marks);
        }
    }

    /// Notes what parts of the primary have of the oldest messages of the secondary, once it is on their disks.
    fn note_marks(&mut self, now: Now) {
        if !self.replay_buffer {
            // What the primary did not take is for people now.
            return self.primary.forget();
        }
        let marks = self.primary.marks().note(self.shape);
        if marks == self.noted {
            return;
        }
        if let Err(error) = self.primary.sync() {
            self.primary.forget();
            self.unsynced = Some(error);
            return;
        }
        let noted = self.secondary.backlog();
        match noted.map_or(Ok(()), |backlog| backlog.note_marks(&marks, now)) {
            Ok(()) => self.noted = marks,
            Err(error) => tracing::warn!(
                %error,
                "what parts of a buffer's primary have is not noted: a restart gives it again"
            ),
        }
    }

    /// The primary failed: it did not open, or did not take messages.
    fn disconnect(&mut self, reason: String, now: Now) {
        self.counters.add(&self.category, Counter::Retries, 1);
        if self.state == State::Streaming && !self.replay_buffer {
            self.secondary.open_again(now);
        }
        self.state = State::Disconnected;
        self.failed_at_us = now.steady_us;
        self.wants_look = false;
        self.primary_failed = Some(reason);
        self.pause.failed();
    }

    /// Goes from SENDING_BUFFER to STREAMING if no message waits in the secondary.
    fn stream_if_empty(&mut self, now: Now) {
        let is_empty = match self.secondary.backlog() {
            Some(backlog) if self.replay_buffer => backlog.is_empty(now),
            _ => Ok(true),
        };
        match is_empty {
            Ok(true) => {
                self.state = State::Streaming;
                self.primary.forget();
                self.wants_look = false;
                self.secondary_failed = None;
                if self.secondary.status().is_some() {
                    let _ = self.secondary.open(now); // what failed before may be over
                }
                self.leave_no_empty_file();
            }
            Ok(false) => self.wants_look = self.files_a_look.is_none() || self.files_left > 0,
            Err(error) => self.cannot_read(&error),
        }
    }

    /// In STREAMING the folder of the secondary tells that nothing waits.
    fn leave_no_empty_file(&mut self) {
        if self.state == State::Streaming
            && self.replay_buffer
            && let Some(backlog) = self.secondary.backlog()
        {
            backlog.remove_if_empty();
        }
    }

    /// New messages go on to the secondary, so that their order holds; the next periodic look tries again.
    fn cannot_read(&mut self, error: &io::Error) {
        self.secondary_failed = Some(format!("cannot read the secondary store: {error}"));
        self.wants_look = false;
    }

    /// Sends the oldest messages of the secondary.
    fn send_piece(&mut self, now: Now) {
        if self.files_left == 0 {
            self.files_left = self.files_a_look.unwrap_or(0);
        }
        let Some(backlog) = self.secondary.backlog() else {
            return;
        };
        let messages = match backlog.read_oldest(PIECE_BYTES_MAX, now) {
            Ok(messages) => messages,
            Err(error) => return self.cannot_read(&error),
        };
        if messages.count() == 0 {
            return self.stream_if_empty(now);
        }
        let batch: Vec<Message<'_>> = messages
            .runs()
            .flat_map(|run| {
                let category = run.category;
                run.bodies().map(move |body| Message { category, body })
            })
            .collect();
        let written = self.primary.write(&batch, now);
        let synced = match written.taken {
            0 => Ok(()),
            _ => self.primary.sync(),
        };
        if let Err(error) = synced {
            self.primary.forget();
            self.disconnect(format!("the sync failed: {error}"), now);
            self.unsynced = Some(error);
            return;
        }
        let removed = match (written.taken, self.secondary.backlog()) {
            (1.., Some(backlog)) => backlog.remove_oldest(written.taken),
            _ => Ok(false),
        };
        self.note_marks(now);
        if let Some(reason) = written.failed {
            self.disconnect(reason, now);
        }
        match removed {
            Err(error) => self.cannot_read(&error),
            Ok(_) if self.state != State::SendingBuffer => {}
            Ok(has_ended) => {
                self.secondary_failed = None;
                self.wants_look = true;
                if has_ended {
                    self.pause.succeeded();
                    self.files_left = self.files_left.saturating_sub(1);
                    self.stream_if_empty(now);
                }
            }
        }
    }

    /// Whether new messages go to the primary. The line's queue decides too, so that a slow primary does not fill memory.
    fn goes_to_primary(&mut self) -> bool {
        let queued = self.queue_bytes.load(Ordering::Relaxed);
        let is_too_long = self.queue_bytes_max.is_some_and(|max| queued > max);
        match self.state {
            State::Streaming if is_too_long => {
                if self.replay_buffer {
                    self.state = State::SendingBuffer;
                    self.wants_look = true;
                }
                false
            }
            State::Streaming => true,
            State::SendingBuffer => self.flush_streaming && !is_too_long,
            State::Start | State::Disconnected => false,
        }
    }
}

impl Store for Buffer {
    fn open(&mut self, now: Now) -> Result<(), String> {
        if self.state == State::Start {
            self.connect(now);
        }
        match self.state {
            State::SendingBuffer | State::Streaming => Ok(()),
            State::Start | State::Disconnected => self.secondary.open(now),
        }
    }

    fn write(&mut self, batch: &[Message<'_>], now: Now) -> Written {
        if self.state == State::Start {
            self.connect(now);
        }
        let mut taken = 0;
        let goes_to_primary = self.goes_to_primary();
        let is_in_order = self.state == State::Streaming;
        if goes_to_primary {
            if !is_in_order {
                // The marks speak of the secondary's messages, which go later.
                self.primary.forget();
            }
            let written = self.primary.write(batch, now);
            let Some(reason) = written.failed else {
                self.pause.succeeded();
                self.secondary_failed = None;
                return written;
            };
            taken = written.taken;
            self.disconnect(reason, now);
        }
        let written = self
            .secondary
            .write(batch.get(taken..).unwrap_or_default(), now);
        if goes_to_primary && is_in_order {
            self.note_marks(now);
        } else if goes_to_primary {
            self.primary.forget();
        }
        self.secondary_failed = written
            .failed
            .map(|reason| format!("the secondary store does not take messages: {reason}"));
        Written {
            taken: taken + written.taken,
            failed: self.secondary_failed.clone(),
        }
    }

    fn forget(&mut self) {
        self.primary.forget();
        self.secondary.forget();
    }

    fn look(&mut self, now: Now) {
        self.primary.look(now);
        self.secondary.look(now);
        self.leave_no_empty_file();
        let waited_us = now.steady_us.saturating_sub(self.failed_at_us);
        let is_due = self.state == State::Disconnected && waited_us >= self.pause.us();
        if is_due || self.state == State::Start {
            self.connect(now);
        }
        let queued = self.queue_bytes.load(Ordering::Relaxed);
        let is_bypassed = self.flush_streaming && queued >= self.bypass_bytes;
        if self.state == State::SendingBuffer && !is_bypassed {
            self.send_piece(now);
        }
    }

    fn next_look_us(&self) -> Option<u64> {
        let of_this = self.wants_look.then_some(0);
        let each = [
            of_this,
            self.primary.next_look_us(),
            self.secondary.next_look_us(),
        ];
        each.into_iter().flatten().min()
    }

    fn sync(&mut self) -> io::Result<()> {
        let earlier = self.unsynced.take().map_or(Ok(()), Err);
        let synced = earlier.and(self.primary.sync());
        synced.and_then(|()| self.secondary.sync())
    }

    /// The secondary's trouble goes before the primary's, which the secondary makes up for.
    fn status(&self) -> Option<String> {
        self.secondary
            .status()
            .or_else(|| self.secondary_failed.clone())
            .or_else(|| self.primary.status())
            .or_else(|| self.primary_failed.clone())
    }

    fn close(&mut self, now: Now) {
        self.primary.close(now);
        self.secondary.close(now);
    }
}
