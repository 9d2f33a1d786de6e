//! The engine's thread: batches in, answers out.

use std::sync::{Arc, Mutex};

use arc_swap::ArcSwap;
use disk::Disk;

use crate::command::{Envelope, Now};
use crate::error::{Error, Result};
use crate::mailbox::{Handle, Mailbox, Shared, channel};
use crate::snapshot::Snapshot;

/// How an engine is opened.
#[derive(Clone)]
pub struct Options {
    /// The data directory.
    pub disk: Arc<dyn Disk>,
    /// Memory that tails and queues may take together, in bytes.
    pub memory_bytes: u64,
    /// Rows of a search table's tail that make the engine seal it.
    pub seal_rows: u32,
    /// Seals and folds on the engine's own thread instead of a background one: for tests.
    pub seal_inline: bool,
    /// Bytes of journal that make the engine fold the views that hold it back.
    pub journal_bytes_max: u64,
    /// Called before a record is applied, with its position; tests make it panic.
    pub on_apply: Option<Arc<dyn Fn(u64) + Send + Sync>>,
}

impl Options {
    /// The defaults, on a disk.
    #[must_use]
    pub fn new(disk: Arc<dyn Disk>) -> Options {
        Options {
            disk,
            memory_bytes: 1 << 30,
            seal_rows: 65_536,
            seal_inline: false,
            journal_bytes_max: 8 << 30,
            on_apply: None,
        }
    }
}

/// What opening found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Tables.
    pub tables: u64,
    /// Records applied again.
    pub records_replayed: u64,
    /// Records that every view already held.
    pub records_skipped: u64,
    /// Bytes of a torn last frame that were cut: nothing of it was acknowledged.
    pub bytes_cut: u64,
    /// Files and folders that no manifest named, removed.
    pub orphans_removed: u64,
}

/// The server's heart: owns all state. Used by one thread.
pub struct Engine {
    shared: Arc<Shared>,
}

impl Engine {
    /// Opens a data directory, or makes one, and brings it to the state of the last record in the journal.
    ///
    /// # Errors
    /// `Locked`, `NewerFormat`, `Corrupt`, `Internal`.
    pub fn open(_options: Options, _now: Now) -> Result<(Engine, Recovered)> {
        let shared = Arc::new(Shared {
            snapshot: ArcSwap::from_pointee(Snapshot {}),
            status: Mutex::default(),
        });
        Ok((Engine { shared }, Recovered::default()))
    }

    /// A door for this engine; made once.
    #[must_use]
    pub fn mailbox(&self) -> (Handle, Mailbox) {
        channel(&self.shared)
    }

    /// One batch: every command decided and applied in order, one frame of the journal, one sync; then readers see it
    /// and replies are sent. The only way state changes.
    ///
    /// # Errors
    /// `Poisoned` once the journal has failed; every reply of the batch had that error.
    pub fn step(&mut self, batch: Vec<Envelope>, _now: Now) -> Result<()> {
        for envelope in batch {
            (envelope.reply)(Err(Error::NotYet {
                what: "engine".to_owned(),
            }));
        }
        Ok(())
    }

    /// Serves the mailbox until [`crate::Command::Shutdown`].
    ///
    /// # Errors
    /// `Poisoned` after a failed sync, `Internal` after a panic: the process must end.
    pub fn run(mut self, mailbox: Mailbox, clock: impl Fn() -> Now) -> Result<()> {
        loop {
            let batch = mailbox.take(None);
            let ends = batch
                .iter()
                .any(|envelope| envelope.command == crate::Command::Shutdown);
            self.step(batch, clock())?;
            if ends {
                return Ok(());
            }
        }
    }
}
