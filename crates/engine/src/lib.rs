//! Catalog, tables, queues: command, record, journal, apply, reply.
//!
//! One thread owns all state and changes it in one place, [`Engine::step`]: each command of a batch is decided and its
//! outcome applied to state that readers cannot see; the outcomes of the batch become one frame of the journal, one
//! sync makes them durable, and only then a new [`Snapshot`] is published and the senders are answered. The function
//! that applies an outcome is the same in the server, in recovery and in tests.
//!
//! The crate knows no protocol, no socket and no clock: [`Now`] is an argument.

mod apply;
mod decide;
mod engine;
mod histogram;
pub mod inspect;
mod jobs;
mod mailbox;
mod model;
mod open;
mod running;
mod snapshot;
mod status;
mod table;

use apply::{sessions, state, undo};
pub use model::limits;
use model::{catalog, command, error, failure, into, record, sync_mode};
use open::{backup, manifest};

pub use backup::restore;
pub use catalog::Webhook;
pub use command::{
    Answer, Answering, Backfill, Change, ColumnPlace, Command, Damaged, Definition, Envelope, Hold,
    Issuer, Keep, Kind, LoadStep, Now, QueueNext, QueueOptions, QueueStats, Reading, Receipt,
    Reply, RowNumber, Rows, SearchOptions, SessionId, SourceMode, Taken, TakenRow, WaitSource,
    WhenFull,
};
pub use engine::{Claim, Engine, Journal, OpenBackup, Options, Recovered, Restored};
pub use error::{Dearest, Error, Family, Result, Why};
pub use histogram::{Histogram, Work};
pub use index::{Control, Filters, Interrupt, Keyword, Lender, Memory, OnDamage, Pool, Reason};
pub use jobs::{Background, HeldJobs, JobLine};
pub use mailbox::{Handle, Mailbox};
pub use queue::{GroupReport, QueueReport};
pub use snapshot::{PqAnswer, PqDocument, PqHits, PqRequest, PqScratch, Snapshot, goes_on};
pub use status::EngineStatus;
pub use sync_mode::SyncMode;
