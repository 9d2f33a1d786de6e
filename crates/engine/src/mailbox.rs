//! The door of the engine: commands wait here, bounded, until its thread takes them.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use rustc_hash::FxHashMap;

use crate::command::{Answering, Command, Envelope, SessionId};
use crate::error::{Error, Result};
use crate::histogram::Work;
use crate::limits::{
    BATCH_BYTES_MAX, BATCH_COMMANDS_MAX, MAILBOX_BYTES_MAX, MAILBOX_COMMANDS_MAX,
    SMALL_COMMAND_BYTES_MAX,
};
use crate::snapshot::Snapshot;
use crate::status::EngineStatus;

/// What readers share with the engine's thread.
pub(crate) struct Shared {
    pub(crate) snapshot: ArcSwap<Snapshot>,
    pub(crate) status: Mutex<EngineStatus>,
    pub(crate) upheavals: AtomicU64,
    pub(crate) work: Work,
}

/// A way in, for any thread. Cheap to clone.
#[derive(Clone)]
pub struct Handle {
    shared: Arc<Shared>,
    inbox: Arc<Inbox>,
}

impl Handle {
    /// Leaves a command for the engine's thread, which calls `reply` once the outcome is durable. Never blocks.
    ///
    /// # Errors
    /// [`Error::Overloaded`] where the mailbox is full ([`Command::SessionClosed`], [`Command::Shutdown`] and
    /// [`Command::Checkpoint`] always fit); [`Error::Stopped`] after the engine's end. `reply` is then dropped.
    pub fn submit(&self, session: SessionId, command: Command, reply: Answering) -> Result<()> {
        let bytes = command.bytes();
        let must_fit = matches!(
            command,
            Command::SessionClosed | Command::Shutdown | Command::Checkpoint
        );
        let mut queue = self.inbox.lock();
        if queue.closed {
            return Err(Error::Stopped);
        }
        let full = queue.len() >= MAILBOX_COMMANDS_MAX
            || (queue.bytes + bytes > MAILBOX_BYTES_MAX && queue.len() > 0);
        if full && !must_fit {
            return Err(Error::Overloaded);
        }
        queue.push(
            bytes,
            Envelope {
                session,
                command,
                reply,
            },
        );
        let sleeps = std::mem::take(&mut queue.sleeps);
        drop(queue);
        if sleeps {
            self.inbox.filled.notify_one();
        }
        Ok(())
    }

    /// What readers see now: everything that was acknowledged before this call. Costs an atomic increment.
    #[must_use]
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.shared.snapshot.load_full()
    }

    /// How often tables changed, or owners lost their rows to somebody else's statement. While this stands still, the row
    /// that a session was given is the row that it owns, and looks the same.
    #[must_use]
    pub fn upheavals(&self) -> u64 {
        self.shared.upheavals.load(Ordering::Acquire)
    }

    /// Counters as of the last batch.
    #[must_use]
    pub fn status(&self) -> EngineStatus {
        *self
            .shared
            .status
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// How the engine's thread works.
    #[must_use]
    pub fn work(&self) -> &Work {
        &self.shared.work
    }
}

/// The engine's end of the door. Dropping it answers what still waits with [`Error::Stopped`].
pub struct Mailbox {
    inbox: Arc<Inbox>,
}

/// Both ends of a new door.
pub(crate) fn channel(shared: &Arc<Shared>) -> (Handle, Mailbox) {
    let inbox = Arc::new(Inbox {
        queue: Mutex::default(),
        filled: Condvar::new(),
    });
    (
        Handle {
            shared: Arc::clone(shared),
            inbox: Arc::clone(&inbox),
        },
        Mailbox { inbox },
    )
}

impl Mailbox {
    /// Takes what waits, as much as one batch holds; with nothing there, waits until something is, `patience` has
    /// passed or [`Waker::wake`] was called. May return nothing.
    pub(crate) fn take(&self, patience: Option<Duration>) -> Vec<Envelope> {
        let mut queue = self.inbox.lock();
        if queue.len() == 0 && !queue.woken {
            queue.sleeps = true;
            queue = self.inbox.wait(queue, patience);
            queue.sleeps = false;
        }
        queue.woken = false;
        queue.take_batch()
    }

    /// A way for background work to end a [`Mailbox::take`] that waits.
    pub(crate) fn waker(&self) -> Waker {
        Waker(Arc::clone(&self.inbox))
    }
}

impl Drop for Mailbox {
    fn drop(&mut self) {
        let mut queue = self.inbox.lock();
        queue.closed = true;
        let small = std::mem::take(&mut queue.small);
        let large = std::mem::take(&mut queue.large);
        drop(queue);
        for (_, envelope) in small.into_iter().chain(large) {
            (envelope.reply)(Err(Error::Stopped));
        }
    }
}

/// Wakes the engine's thread without a command.
#[derive(Clone)]
pub(crate) struct Waker(Arc<Inbox>);

impl Waker {
    pub(crate) fn wake(&self) {
        self.0.lock().woken = true;
        self.0.filled.notify_one();
    }
}

struct Inbox {
    queue: Mutex<Queue>,
    filled: Condvar,
}

/// What waits, in two lines, each in order of arrival and each with its bytes.
#[derive(Default)]
struct Queue {
    small: VecDeque<(usize, Envelope)>,
    /// Large commands, and whatever their sessions sent after them.
    large: VecDeque<(usize, Envelope)>,
    /// How many commands in the line of large ones are of a session.
    behind: FxHashMap<SessionId, usize>,
    bytes: usize,
    woken: bool,
    /// The engine's thread waits and was not woken yet; waking costs a system call, so it is done once.
    sleeps: bool,
    closed: bool,
}

impl Queue {
    fn len(&self) -> usize {
        self.small.len() + self.large.len()
    }

    /// The commands of one session keep their order; the end comes after everything.
    fn push(&mut self, bytes: usize, envelope: Envelope) {
        self.bytes += bytes;
        let is_end = matches!(envelope.command, Command::Shutdown) && !self.large.is_empty();
        let is_behind = !self.behind.is_empty() && self.behind.contains_key(&envelope.session);
        if bytes <= SMALL_COMMAND_BYTES_MAX && !is_behind && !is_end {
            self.small.push_back((bytes, envelope));
            return;
        }
        *self.behind.entry(envelope.session).or_default() += 1;
        self.large.push_back((bytes, envelope));
    }

    /// Small commands first; then large ones as long as the batch is not, and at least one of them.
    fn take_batch(&mut self) -> Vec<Envelope> {
        let mut batch = Vec::with_capacity(self.len().min(BATCH_COMMANDS_MAX));
        let mut batch_bytes = 0;
        while batch.len() < BATCH_COMMANDS_MAX
            && let Some((bytes, envelope)) = self.small.pop_front()
        {
            batch_bytes += bytes;
            batch.push(envelope);
            if batch_bytes >= BATCH_BYTES_MAX {
                break;
            }
        }
        let mut is_first = true;
        while let Some(bytes) = self.large.front().map(|(bytes, _)| *bytes) {
            if !is_first && batch_bytes + bytes > BATCH_BYTES_MAX {
                break;
            }
            let Some((_, envelope)) = self.large.pop_front() else {
                break;
            };
            is_first = false;
            batch_bytes += bytes;
            if let Entry::Occupied(mut behind) = self.behind.entry(envelope.session) {
                *behind.get_mut() -= 1;
                if *behind.get() == 0 {
                    behind.remove();
                }
            }
            batch.push(envelope);
        }
        self.bytes -= batch_bytes;
        batch
    }
}

impl Inbox {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(
        &self,
        queue: MutexGuard<'a, Queue>,
        patience: Option<Duration>,
    ) -> MutexGuard<'a, Queue> {
        match patience {
            None => self
                .filled
                .wait(queue)
                .unwrap_or_else(PoisonError::into_inner),
            Some(patience) => {
                self.filled
                    .wait_timeout(queue, patience)
                    .unwrap_or_else(PoisonError::into_inner)
                    .0
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use query::value::Value;

    fn insert(bytes: usize) -> Command {
        Command::Insert {
            table: "q".to_owned(),
            columns: None,
            rows: vec![vec![Value::Str("x".repeat(bytes))]],
            replace: false,
        }
    }

    /// The order in which the sessions' commands are taken, batch by batch.
    fn taken(sent: &[(u64, Command)]) -> Vec<Vec<u64>> {
        let mut queue = Queue::default();
        for (session, command) in sent {
            let envelope = Envelope {
                session: SessionId(*session),
                command: command.clone(),
                reply: Box::new(|_| {}),
            };
            queue.push(command.bytes(), envelope);
        }
        let mut batches = Vec::new();
        while queue.len() > 0 {
            let batch = queue.take_batch();
            batches.push(batch.iter().map(|envelope| envelope.session.0).collect());
        }
        assert_eq!((queue.bytes, queue.behind.len()), (0, 0));
        batches
    }

    #[test]
    fn small_commands_pass_large_ones_and_one_large_one_goes_with_each_batch() {
        let large = || insert(BATCH_BYTES_MAX);
        let sent = [(1, large()), (2, large()), (3, insert(1)), (4, large())];
        assert_eq!(taken(&sent), [vec![3, 1], vec![2], vec![4]]);
    }

    #[test]
    fn the_commands_of_a_session_keep_their_order() {
        let large = || insert(BATCH_BYTES_MAX);
        let sent = [
            (1, large()),
            (2, large()),
            (2, Command::SessionClosed),
            (3, insert(1)),
        ];
        assert_eq!(taken(&sent), [vec![3, 1], vec![2], vec![2]]);
    }

    #[test]
    fn the_end_comes_after_what_was_sent_before() {
        let large = || insert(BATCH_BYTES_MAX);
        let sent = [(1, large()), (2, large()), (0, Command::Shutdown)];
        assert_eq!(taken(&sent), [vec![1], vec![2], vec![0]]);
    }

    #[test]
    fn large_commands_share_a_batch_as_long_as_it_is_short() {
        let sent: Vec<_> = (1..=5)
            .map(|session| (session, insert(BATCH_BYTES_MAX / 3)))
            .collect();
        assert_eq!(taken(&sent), [vec![1, 2], vec![3, 4], vec![5]]);
    }
}
