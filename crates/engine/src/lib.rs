//! The engine: the catalog and all tables, and the one way in which they change: command, record, journal, apply, reply.
//!
//! One thread owns all state and changes it in one place, [`Engine::step`]: each command of a batch is decided and its
//! outcome applied to state that readers cannot see; the outcomes of the batch become one frame of the journal, one
//! sync makes them durable, and only then a new [`Snapshot`] is published and the senders are answered. The function
//! that applies an outcome is the same in the server, in recovery and in tests.
//!
//! The crate knows no protocol, no socket and no clock: [`Now`] is an argument.
//!
//! # Example
//! A queue is made, and a row put into it, in one batch. The engine then ends as by a crash, and the next one has the row:
//!
//! ```
//! use std::sync::Arc;
//!
//! use disk::MemoryDisk;
//! use engine::{Command, Definition, Engine, Envelope, Kind, Now, Options, QueueOptions, SessionId, Write};
//! use language::analysis::Settings;
//! use relation::request::Insert;
//! use relation::schema::{Column, ColumnType};
//! use relation::value::Value;
//!
//! let column = Column {
//!     name: "task".to_owned(),
//!     kind: ColumnType::Text,
//!     nullable: true,
//!     default: None,
//!     keyed: false,
//! };
//! let create = Command::CreateTable {
//!     definition: Box::new(Definition {
//!         name: "jobs".to_owned(),
//!         kind: Kind::Queue(QueueOptions::default()),
//!         columns: vec![column],
//!         analysis: Settings::default(),
//!         sync: None,
//!         keep: None,
//!     }),
//!     if_not_exists: false,
//! };
//! let insert = Command::Write(Write::Insert(Insert {
//!     table: "jobs".to_owned(),
//!     columns: None,
//!     rows: vec![vec![Value::Str("sweep".into())]],
//!     replace: false,
//! }));
//! let batch = [create, insert].map(|command| Envelope {
//!     session: SessionId(1),
//!     command,
//!     interrupt: None,
//!     made: Vec::new(),
//!     reply: Box::new(|outcome| assert!(outcome.is_ok())),
//! });
//!
//! let options = Options::new(Arc::new(MemoryDisk::new()));
//! let (mut engine, _) = Engine::open(options.clone(), Now::default())?;
//! engine.step(batch.into(), Now::default())?; // one frame, one sync, two replies
//! drop(engine);
//!
//! let (engine, recovered) = Engine::open(options, Now::default())?;
//! assert_eq!(recovered.records_replayed, 2);
//! let (handle, _mailbox) = engine.mailbox();
//! assert_eq!(handle.snapshot().queues()[0].rows, 1);
//! # Ok::<(), engine::Error>(())
//! ```

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
mod temporary;

use apply::{collected, sessions, state, transactions, undo};
pub use model::limits;
use model::{
    altered, catalog, command, error, failure, into, made, messages, planned, ranges, recent,
    record, sync_mode,
};
pub use open::backup::{FindSpools, SpoolFile};
use open::{backup, manifest};

pub use apply::collected::Cursors;
pub use backup::restore;
pub use catalog::Webhook;
pub use command::{
    Answer, Answering, Backfill, Change, ColumnPlace, Command, CursorChange, Damaged, Definition,
    Envelope, Feed, Hold, Issuer, Keep, Kind, LoadStep, Now, OpenTransaction, QUEUE_OPTIONS,
    QueueNext, QueueOptions, QueueSlot, QueueStats, Reading, Receipt, Reply, RowNumber, Rows,
    SearchOptions, Searched, Seen, SessionId, SourceMode, TableSource, Taken, TakenRow, WaitSource,
    WhenFull, Write,
};
pub use decide::Plans;
pub use engine::{Claim, Engine, Journal, OpenBackup, Options, Recovered, Restored};
pub use error::{Dearest, Error, Family, Result, ShownValue, Why};
pub use histogram::{Histogram, Work};
pub use index::{
    Control, Filters, Interrupt, Keyword, Lender, Memory, OnDamage, Pool, Profile, Reads, Reason,
    Step, give_others_precedence,
};
pub use jobs::{Background, HeldJobs, JobLine};
pub use made::{InsertedRows, MadeRows, MadeWords, Wanted};
pub use mailbox::{Handle, Mailbox};
pub use messages::{Batch, Handover, Messages, Run};
pub use planned::{Planned, Planning};
pub use queue::{GroupReport, QueueReport};
pub use snapshot::{
    JoinControl, Marker, PARSE, PqAnswer, PqDocument, PqHits, PqRequest, PqScratch, Snapshot,
    goes_on,
};
pub use status::EngineStatus;
pub use sync_mode::SyncMode;
pub use temporary::{Inserted, Temporary, TemporaryRows, TemporarySource};
