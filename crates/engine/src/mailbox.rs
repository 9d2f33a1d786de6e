//! The mailbox: commands wait here, bounded, until the engine's thread takes them as a batch.
//!
//! `session` submits a [`Command`] through a [`Handle`], with a function that takes the reply. The number of commands and their
//! bytes are bounded (`MAILBOX_COMMANDS_MAX`, `MAILBOX_BYTES_MAX`); one more is refused with `Overloaded`. SessionClosed,
//! Shutdown and Checkpoint always fit. A command that was taken is answered by its turn; a wait, a FLUSH or a BACKUP by a later
//! one. An engine that failed answers with its error, and a mailbox that is dropped with `Stopped`. A reply function that is
//! dropped uncalled tells its sender that the engine is gone.
//!
//! Readers share more than the mailbox with the engine: the last snapshot, the counters, and the flag that ends a search or a
//! match early. All of it is in `Shared`.

mod commands;
mod inbox;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use arc_swap::ArcSwap;

use crate::apply::collected::Cursors;
use crate::command::{Answering, Command, Envelope, SessionId};
use crate::error::{Error, Result};
use crate::histogram::Work;
use crate::messages::Handover;
use crate::snapshot::Snapshot;
use crate::status::EngineStatus;
pub(crate) use inbox::Inbox;

/// Values that the engine's thread writes and other threads read.
#[derive(Default)]
pub(crate) struct Shared {
    pub(crate) snapshot: ArcSwap<Snapshot>,
    pub(crate) status: Mutex<EngineStatus>,
    pub(crate) upheavals: AtomicU64,
    pub(crate) work: Work,
    /// Collected messages on their way to the collector.
    pub(crate) handover: Arc<Handover>,
    /// The collector's position and cursors as the start of the engine found them.
    pub(crate) collected: (u64, Cursors),
    /// The backup that runs.
    pub(crate) backup: BackupPin,
    /// When the turn under way began, on the steady clock; 0 while the engine rests.
    pub(crate) turn_since_us: AtomicU64,
    /// The engine is to end: it refuses statements, and a match that runs stops.
    pub(crate) stop: Arc<AtomicBool>,
}

/// Tells other threads whether a backup copies files.
#[derive(Default)]
pub(crate) struct BackupPin(Mutex<Weak<()>>);

impl BackupPin {
    /// A backup runs as long as the value lives.
    pub(crate) fn pin(&self, running: &Arc<()>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(running);
    }

    fn is_held(&self) -> bool {
        let pin = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pin.strong_count() > 0
    }
}

/// A way in, for any thread. Cheap to clone.
#[derive(Clone)]
pub struct Handle {
    shared: Arc<Shared>,
    inbox: Arc<Inbox>,
}

impl Handle {
    /// Whether a backup copies files now: files that its cursors need must stay.
    #[must_use]
    pub fn is_backing_up(&self) -> bool {
        self.shared.backup.is_held()
    }

    /// Leaves a command for the engine's thread, which calls `reply` once the outcome is durable. While that thread rests
    /// and few sessions are at work, the caller's thread does a short command itself, its sync included.
    ///
    /// # Errors
    /// [`Error::Overloaded`] where the mailbox is full ([`Command::EndWait`], [`Command::SessionClosed`],
    /// [`Command::Shutdown`] and [`Command::Checkpoint`] always fit); [`Error::Stopped`] after the engine's end. `reply` is then dropped.
    pub fn submit(&self, session: SessionId, command: Command, reply: Answering) -> Result<()> {
        self.send(Envelope {
            session,
            command,
            interrupt: None,
            made: Vec::new(),
            reply,
        })
    }

    /// As [`Handle::submit`].
    ///
    /// # Errors
    /// Those of [`Handle::submit`].
    pub fn send(&self, envelope: Envelope) -> Result<()> {
        self.inbox.submit(envelope)
    }

    /// The last snapshot: it holds every write whose OK was sent before this call. Costs an atomic increment.
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

    /// When the turn under way began, on the steady clock of [`crate::Now`]; `None` while the engine rests. Does not wait for
    /// the engine.
    #[must_use]
    pub fn turn_since_us(&self) -> Option<u64> {
        let since_us = self.shared.turn_since_us.load(Ordering::Relaxed);
        (since_us > 0).then_some(since_us)
    }

    /// Refuses every statement that is not done yet with [`Error::Stopped`], so that [`Command::Shutdown`] comes soon. A
    /// statement that is matching documents ends within some tenths of a millisecond; nothing of it is done.
    pub fn refuse_statements(&self) {
        self.shared.stop.store(true, Ordering::Relaxed);
    }

    /// Collected messages that no position covers, then each batch once it is published. For one collector.
    #[must_use]
    pub fn handover(&self) -> Arc<Handover> {
        Arc::clone(&self.shared.handover)
    }

    /// The collector's position and cursors as the start of the engine found them.
    #[must_use]
    pub fn collected(&self) -> &(u64, Cursors) {
        &self.shared.collected
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
    let inbox = Arc::new(Inbox::default());
    (
        Handle {
            shared: Arc::clone(shared),
            inbox: Arc::clone(&inbox),
        },
        Mailbox { inbox },
    )
}

impl Mailbox {
    pub(crate) fn inbox(&self) -> &Arc<Inbox> {
        &self.inbox
    }

    /// A way for background work to end a rest of the engine's thread.
    pub(crate) fn waker(&self) -> Waker {
        Waker(Arc::clone(&self.inbox))
    }
}

impl Drop for Mailbox {
    fn drop(&mut self) {
        for envelope in self.inbox.close() {
            (envelope.reply)(Err(Error::Stopped));
        }
    }
}

/// Wakes the engine's thread without a command.
#[derive(Clone)]
pub(crate) struct Waker(Arc<Inbox>);

impl Waker {
    pub(crate) fn wake(&self) {
        self.0.wake();
    }
}
