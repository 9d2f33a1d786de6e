//! The door of the engine: commands wait here, bounded, until its thread takes them.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;

use crate::command::{Answering, Command, Envelope, SessionId};
use crate::error::{Error, Result};
use crate::histogram::Work;
use crate::limits::{BATCH_BYTES_MAX, BATCH_COMMANDS_MAX, MAILBOX_BYTES_MAX, MAILBOX_COMMANDS_MAX};
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
        let full = queue.waiting.len() >= MAILBOX_COMMANDS_MAX
            || (queue.bytes + bytes > MAILBOX_BYTES_MAX && !queue.waiting.is_empty());
        if full && !must_fit {
            return Err(Error::Overloaded);
        }
        queue.bytes += bytes;
        queue.waiting.push_back((
            bytes,
            Envelope {
                session,
                command,
                reply,
            },
        ));
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
        if queue.waiting.is_empty() && !queue.woken {
            queue.sleeps = true;
            queue = self.inbox.wait(queue, patience);
            queue.sleeps = false;
        }
        queue.woken = false;
        let mut batch = Vec::with_capacity(queue.waiting.len().min(BATCH_COMMANDS_MAX));
        let mut batch_bytes = 0;
        while let Some(bytes) = queue.waiting.front().map(|(bytes, _)| *bytes) {
            let fits = batch.is_empty() || batch_bytes + bytes <= BATCH_BYTES_MAX;
            if !fits || batch.len() == BATCH_COMMANDS_MAX {
                break;
            }
            batch_bytes += bytes;
            queue.bytes -= bytes;
            batch.extend(queue.waiting.pop_front().map(|(_, envelope)| envelope));
        }
        batch
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
        let left = std::mem::take(&mut queue.waiting);
        drop(queue);
        for (_, envelope) in left {
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

#[derive(Default)]
struct Queue {
    waiting: VecDeque<(usize, Envelope)>,
    bytes: usize,
    woken: bool,
    /// The engine's thread waits and was not woken yet; waking costs a system call, so it is done once.
    sleeps: bool,
    closed: bool,
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
