//! The engine: it owns all state, and one function changes it, [`Engine::step`]. A step takes a batch of commands, writes one
//! frame of the journal, syncs once, publishes a snapshot and sends the replies.
//!
//! # Example
//! The journal ends at record 40. Two commands wait in the mailbox: session 1 inserts the document `a cat` into `news`, which
//! the query `cat` of `alerts` sends on to the queue `jobs`; session 2 asks for a row of `jobs`.
//!
//! | | function | what it does |
//! |---|---|---|
//! | 1 | `Inbox::take_batch` | gives both commands |
//! | 2 | `Engine::decide_write` | the INSERT: a document with id 1, and a row for `jobs` |
//! | 3 | `Engine::admit` | encodes that as record 41 into the batch's frame |
//! | 4 | `State::apply` | the document is in the tail of `news`, row 1 in `jobs`; readers see neither |
//! | 5 | `Engine::take_or_wait` | the QUEUE_WAIT: session 2 owns row 1. No record, since ownership is in memory |
//! | 6 | `Engine::settle` | appends the frame, syncs the journal: record 41 is durable |
//! | 7 | `Engine::publish` | swaps in a snapshot with the document |
//! | 8 | `Engine::turn` | sends both replies |
//! | 9 | `Engine::maintain` | starts background work: seals, folds, merges, a manifest |
//!
//! # Invariants
//! - A record is admitted before it is applied: a record that finds no room then changes nothing. Only the members of a unit are
//!   applied first, and `Undo` takes them back if the unit is not admitted.
//! - With `sync='always'` the sync comes before the snapshot and the replies. A reply before it would promise a document that
//!   a power cut takes away. That holds for session 2 too: it owns a row of the same frame. `sync.rs` has the weaker modes.
//! - `state.position` is the position of the last record applied. Between turns the journal of a leader ends there; a
//!   follower's journal may be ahead.
//! - Replies go in step 8; those of CHECKPOINT, FLUSH and BACKUP after step 9. After an error that ends the engine, `poison`
//!   ends all waits and sends the error to all replies that are left. After a panic the engine's thread calls
//!   [`Engine::fail`], which does the same without the waits. A reply that the panic drops tells its sender that the engine
//!   is gone.
//! - After a failed sync no command is taken: memory is ahead of the disk by an unknown part.

mod alter;
mod alter_documents;
mod backup;
mod bounds;
mod collect;
mod counts;
mod follow;
mod frame;
mod leases;
mod load;
mod log;
mod maintain;
mod open;
mod publish;
mod queue_calls;
mod read_only;
mod rename;
mod series;
mod sync;
mod transact;
mod turn;
mod waits;
mod write;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use disk::{Disk, Lock};

use crate::command::Now;
use crate::decide::{Plans, Workspace};
use crate::error::{Error, Result};
use crate::jobs::{Background, Jobs};
use crate::mailbox::{Handle, Mailbox, Shared, Waker, channel};
use crate::messages::Giver;
use crate::open::backup::FindSpools;
use crate::sessions::{Outbox, Sessions};
use crate::state::State;
use crate::status::EngineStatus;
use crate::sync_mode::SyncMode;
pub use log::Journal;
pub use open::{Claim, Restored};
pub(crate) use open::{JOURNAL_DIR, check_new, lock};

/// How an engine is opened.
#[derive(Clone)]
pub struct Options {
    /// The data directory.
    pub disk: Arc<dyn Disk>,
    /// Which start of the server this is: receipts of another one are late. The server draws it at random; tests give
    /// their own.
    pub incarnation: u64,
    /// Memory that tails and queues may take together, in bytes.
    pub memory_bytes: u64,
    /// Rows of a search table's tail that make the engine seal it. By default a page of postings, less a batch: a few rows
    /// above a page would be one more page of every list.
    pub seal_rows: u32,
    /// Where seals, folds, merges, manifests and backups are done. Only [`Background::Threads`] has a thread that prepares the
    /// journal's next file; else the engine's thread prepares it.
    pub background: Background,
    /// Bytes of journal that make the engine fold every view that has changed.
    pub journal_bytes_max: u64,
    /// Bytes of collected messages that the collector has not noted: more are refused with `Overloaded`. A quarter of
    /// `memory_bytes` counts where that is less.
    pub collected_bytes_max: u64,
    /// Memory of a queue's rows that makes the engine fold them into a file.
    pub queue_fold_bytes: u64,
    /// Bytes of one file of the journal.
    pub journal_segment_bytes: u64,
    /// When the reply to a write goes, for tables that do not ask for less.
    pub sync: SyncMode,
    /// Called before a record is applied, with its position. For tests, which let it panic.
    pub on_apply: Option<Arc<dyn Fn(u64) + Send + Sync>>,
    /// Which conditions of DELETE and UPDATE are handed out: [`crate::Reply::Plan`].
    pub plans: Plans,
    /// Not one byte of the disk is changed: recovery happens in memory, and every command that writes is refused.
    pub read_only: bool,
    /// Opens the place that `BACKUP TO` names; without it, backups are refused.
    pub backups: Option<OpenBackup>,
    /// Names the collector's files, which a backup holds too; `None`: there are none.
    pub spools: Option<FindSpools>,
}

/// Opens the place of a new backup by the name that the statement gave. Refuses what is there already.
pub type OpenBackup = Arc<dyn Fn(&str) -> Result<Arc<dyn Disk>> + Send + Sync>;

impl Options {
    /// The defaults, on a disk.
    #[must_use]
    pub fn new(disk: Arc<dyn Disk>) -> Options {
        Options {
            disk,
            incarnation: 0,
            memory_bytes: 1 << 30,
            seal_rows: 65_536 - 1_024,
            background: Background::Threads,
            journal_bytes_max: 8 << 30,
            collected_bytes_max: 256 << 20,
            queue_fold_bytes: 32 << 20,
            journal_segment_bytes: 64 << 20,
            sync: SyncMode::Always,
            on_apply: None,
            plans: Plans::default(),
            read_only: false,
            backups: None,
            spools: None,
        }
    }
}

/// What opening found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Tables in the catalog.
    pub tables: u64,
    /// Records applied again.
    pub records_replayed: u64,
    /// Records that every view already held.
    pub records_skipped: u64,
    /// Bytes of a torn last frame that were cut. No OK was sent for anything in it.
    pub bytes_cut: u64,
    /// Files and folders that no manifest named, removed.
    pub orphans_removed: u64,
}

/// The server's heart: owns all state. Used by one thread.
pub struct Engine {
    options: Options,
    state: State,
    sessions: Sessions,
    journal: Journal,
    /// Another engine writes the log.
    is_follower: bool,
    frame: frame::Frame,
    unsynced: sync::Unsynced,
    outbox: Outbox,
    work: Workspace,
    jobs: Jobs,
    status: EngineStatus,
    shared: Arc<Shared>,
    views: publish::Views,
    /// The error after which every command is refused; `None` while all is well.
    poisoned: Option<String>,
    /// A [`crate::Command::Shutdown`] was taken: the turn that took it is the last.
    has_ended: bool,
    /// Files that the next manifest will no longer name.
    unused: Vec<String>,
    /// Bytes of records when each table was last folded: what it holds back of the journal.
    folded_at_bytes: BTreeMap<crate::catalog::TableId, u64>,
    /// The collector has noted a position since the last manifest began.
    has_new_note: bool,
    /// Bytes appended to the journal when the last manifest began.
    manifest_at_bytes: u64,
    /// The journal refused a record for want of room; a fold failed for it.
    journal_full: bool,
    folds_full: bool,
    /// Tables whose last fold or seal failed: each is tried again.
    failed_folds: BTreeSet<crate::catalog::TableId>,
    /// Something was installed, or failed, since the last manifest was written.
    is_manifest_due: bool,
    /// Memory to be freed by another thread, once no snapshot of ours shows it.
    garbage: Vec<crate::jobs::Garbage>,
    /// A manifest is being written.
    manifest_runs: bool,
    /// Tables that FLUSH or a sweep wants folded at the end of this turn.
    wanted_folds: BTreeSet<crate::catalog::TableId>,
    /// When failed background work is tried again, on the steady clock.
    retry_us: u64,
    /// Who asked for a checkpoint in this batch.
    checkpoint_replies: Vec<crate::Answering>,
    backups: backup::Backups,
    alters: alter_documents::Alters,
    flushes: maintain::flush::Flushes,
    retention: maintain::retention::Retention,
    /// What the clock said last.
    now: Now,
    /// Ends the hand-over of messages with the engine.
    _giver: Giver,
    /// When the lock was looked at last, on the steady clock, in microseconds.
    lock_checked_us: u64,
    /// Dropped last: the data directory stays ours until everything is closed.
    lock: Box<dyn Lock>,
}

impl Engine {
    /// The sending and the taking end of this engine's mailbox. Called once.
    #[must_use]
    pub fn mailbox(&self) -> (Handle, Mailbox) {
        channel(&self.shared)
    }

    /// Sets the function that a background job calls at its end, so that the engine's thread takes a turn.
    pub(crate) fn wake_by(&self, waker: Waker) {
        self.jobs.wake_by(waker);
    }

    /// When the next turn is due without a command, on the steady clock, in microseconds: the end of a wait, a timer, a sync that
    /// was promised. `None`: never.
    pub(crate) fn due_us(&self) -> Option<u64> {
        if !self.state.searching.is_empty() {
            return Some(0);
        }
        let wait_ends = self.sessions.next_deadline_us();
        let timers = wait_ends.into_iter().chain(self.next_timer_us());
        timers.chain(self.unsynced.due_us).min()
    }

    /// Whether [`crate::Command::Shutdown`] was carried out: every later command is answered [`Error::Stopped`].
    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Ends all waits and answers all replies that are left with `Stopped`.
    fn stop(&mut self) {
        self.sessions.end_waits(&mut self.state, &mut self.outbox);
        self.answer_all(&Error::Stopped);
    }

    /// Answers all replies that are left with `error` and refuses every later command. For a panic, after which sessions may be
    /// in pieces, so waits are not ended.
    pub(crate) fn fail(&mut self, error: &Error) {
        self.answer_all(error);
        self.poisoned.get_or_insert_with(|| error.to_string());
    }

    /// Ends the hand-over of messages, and sends `error` to the replies in the outbox and to those of CHECKPOINT, BACKUP and FLUSH.
    fn answer_all(&mut self, error: &Error) {
        self.shared.handover.end();
        let replies = self.outbox.drain(..).map(|(reply, _)| reply);
        let backups = self.backups.asked.drain(..).map(|(_, reply)| reply);
        for reply in replies
            .chain(self.checkpoint_replies.drain(..))
            .chain(backups)
            .chain(self.flushes.take_replies())
        {
            reply(Err(error.clone()));
        }
    }
}

/// After these the engine cannot go on: memory and disk may differ.
fn is_fatal(error: &Error) -> bool {
    matches!(error, Error::Poisoned { .. })
}
