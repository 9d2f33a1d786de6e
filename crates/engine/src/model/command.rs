//! Commands that the engine takes, and its replies.

mod queue_commands;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

pub use self::queue_commands::{
    Change, ColumnPlace, Hold, Issuer, Now, QueueNext, QueueOptions, QueueStats, Receipt,
    RowNumber, SessionId, SourceMode, Taken, TakenRow, WaitSource, WhenFull,
};
use crate::messages::Messages;
use crate::sync_mode::SyncMode;
use index::Memory;
use query::Syntax;
use query::analysis::{Analyzer, Settings};
use query::expression::Expression;
use query::options::Ranker;
use query::request::{Delete, Insert, Select};
use query::schema::{Column, ColumnType};
use query::value::Value;

use crate::error::{Error, Result};

/// A command. Table names are in any case; they are compared in lower case.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// CREATE TABLE.
    CreateTable {
        /// The table as asked for.
        definition: Definition,
        /// IF NOT EXISTS: a table of that name is left as it is.
        if_not_exists: bool,
    },
    /// DROP TABLE: all of them or none. A table may be named by another one that goes with it.
    DropTable {
        /// Names of the tables.
        tables: Vec<String>,
        /// IF EXISTS: names of no table are passed over.
        if_exists: bool,
    },
    /// INSERT or REPLACE into a search, pq or queue table.
    Insert(Insert),
    /// DELETE.
    Delete(Delete),
    /// One piece of a backfill, from [`crate::Snapshot::backfill`]: one durable unit. Answer: the rows put.
    Backfill(Backfill),
    /// Inserts and deletes, in order; all of them or none. A refusal is [`Error::InMany`].
    Many(Vec<Command>),
    /// SELECT on a queue or pq table. Search tables are read from [`crate::Snapshot`].
    Read {
        /// What is asked.
        select: Select,
    },
    /// `queue_wait`: ends the row owned, then takes the first free row of the first source that has one, or waits for
    /// one. Answer: [`Reply::Waited`].
    QueueWait {
        /// Where from, by priority.
        sources: Vec<WaitSource>,
        /// How long to wait; 0 only looks.
        timeout_us: u64,
    },
    /// Ends deliveries, then takes the next rows. Answer: [`Reply::Taken`].
    QueueNext(QueueNext),
    /// Ends deliveries. A delivery that is not held any more is passed over. Answer: the number of rows ended.
    QueueDone {
        /// The deliveries that the worker has ended.
        receipts: Vec<Receipt>,
    },
    /// Gives deliveries back.
    QueueReturn {
        /// The deliveries that go back.
        receipts: Vec<Receipt>,
        /// Nobody gets them earlier.
        delay_us: u64,
    },
    /// Holds deliveries for longer.
    QueueExtend {
        /// The deliveries that are held for longer.
        receipts: Vec<Receipt>,
        /// From now.
        visible_again_us: u64,
    },
    /// `queue_end()`: deletes the row owned and leaves owner mode; fine outside of it.
    QueueEnd,
    /// `queue_abort()`: gives the row owned back to its place and leaves owner mode.
    QueueAbort,
    /// `queue_rowid()`: the number of the row owned. Answer: [`Reply::RowId`]; [`Error::NotOwner`] outside owner mode.
    QueueRowId,
    /// `queue_set_srcid()`: the session's next INSERT into a queue is a relayed row.
    QueueSetSource {
        /// Who sends: 0 to 63.
        sender: u8,
        /// Whether a row number at or below the last one received is skipped.
        mode: SourceMode,
        /// The row's number there.
        row: u64,
    },
    /// `queue_compact()`: folds the queue into its files.
    QueueCompact {
        /// Name of the queue.
        table: String,
    },
    /// `queue_stats()`. Answer: [`Reply::QueueStats`].
    QueueStats {
        /// Name of the queue.
        table: String,
    },
    /// Hands out no row of a queue or group until it is resumed.
    QueuePause {
        /// Name of the queue.
        table: String,
        /// One of its groups; `None`: all of it.
        group: Option<String>,
        /// False: resumes.
        paused: bool,
    },
    /// Deletes every free row of a queue. Answer: how many.
    QueuePurge {
        /// Name of the queue.
        table: String,
    },
    /// TRUNCATE: every row goes, owned ones too. Answer: how many.
    Truncate {
        /// Name of a search table, pq table or queue.
        table: String,
    },
    /// ALTER TABLE, of queues.
    AlterTable {
        /// Name of the queue.
        table: String,
        /// In this order; all or none.
        changes: Vec<Change>,
    },
    /// Messages of one call of Scribe's `Log`: one durable unit. `sync` may ask for less than the server's mode.
    Collect {
        /// In the order of the call; none makes no record.
        messages: Messages,
        /// When the reply goes; `None`: as the server's setting says.
        sync: Option<SyncMode>,
    },
    /// The collector has brought all messages of records up to a position to their stores, or into its own spools.
    Collected {
        /// Position of the last such record.
        upto: u64,
        /// The cursors that changed.
        cursors: Vec<CursorChange>,
    },
    /// The connection is gone: what it owned is given back, what it waited for is forgotten.
    SessionClosed,
    /// Copies the state of all replies sent so far to a new place, which [`crate::Options::backups`] opens by that name. Answer:
    /// the files, when all are durable there; writes go on meanwhile.
    Backup {
        /// The new place, by the name that [`crate::Options::backups`] opens.
        to: String,
    },
    /// One step of a load that may be interrupted and go on without a doubled or missing row.
    Load {
        /// Name of the table that is loaded.
        table: String,
        /// Names the load: chosen by who loads, the same again when it goes on.
        load: u64,
        /// Begin, rows or end.
        step: LoadStep,
    },
    /// FLUSH TABLE: what the tables hold in memory goes to files now. Answer: when a durable manifest names them; writes
    /// go on meanwhile.
    Flush {
        /// Which; empty: all.
        tables: Vec<String>,
    },
    /// OPTIMIZE TABLE: as [`Command::Flush`], then the segments that it has by then become one a shard, without its deleted rows.
    Optimize {
        /// A search table.
        table: String,
    },
    /// Folds everything into files of its own, as far as the journal holds records for it.
    Checkpoint,
    /// Checkpoint, then the end of [`crate::Engine::run`].
    Shutdown,
}

/// What a load asks for. Places are numbers that rise through its input, such as byte offsets.
#[derive(Clone, Debug, PartialEq)]
pub enum LoadStep {
    /// How far is it? Answer: the place, as `last_id`; 0 for a load that is not known.
    Ask,
    /// The rows between two places, as one durable unit with the fact that they are stored. Rows that are stored already
    /// are passed over: `affected` is 0 then.
    Put {
        /// Where the rows begin: the place that the load has reached, or a later one.
        from: u64,
        /// Where they end: above `from`.
        to: u64,
        /// See [`Command::Insert`].
        columns: Vec<String>,
        /// Values of the rows, one a column.
        rows: Vec<Vec<Value>>,
        /// REPLACE: a row of the same id goes first.
        replace: bool,
    },
    /// It is over: the next load of that name begins at 0.
    End,
    /// Every load of the table is over, whatever its number. Answer: how many there were, as `affected`.
    Forget,
}

/// Documents that are stored, for one standing query that came later: their hits go where those of new documents go.
#[derive(Clone, Debug, PartialEq)]
pub struct Backfill {
    /// The pq table.
    pub table: String,
    /// Id of the query.
    pub query_id: u64,
    /// The search table that it listens to.
    pub on: String,
    /// The documents; those that do not hit the query, or not any more, are passed over.
    pub ids: Vec<u64>,
}

/// The reply to a command.
#[derive(Debug)]
pub enum Reply {
    /// Done, and durable.
    Done {
        /// Rows inserted or deleted.
        affected: u64,
        /// Id of the last row inserted; 0 for a queue and where nothing was.
        last_id: u64,
        /// Ids of the rows inserted, in their order: of two rows up to [`crate::limits::INSERTED_IDS_MAX`], else empty.
        ids: Vec<u64>,
        /// What the writer probably meant otherwise.
        warnings: Vec<String>,
    },
    /// Rows of a read.
    Rows(Answer),
    /// How a read that takes long is answered, on whichever thread.
    Reading(Reading),
    /// `queue_wait`: the 1-based place of the source that gave a row; 0 when time ran out or a queue was dropped.
    Waited(u32),
    /// Rows taken.
    Taken(Taken),
    /// `queue_rowid`: `None` where nothing is owned.
    RowId(Option<RowNumber>),
    /// `queue_stats`.
    QueueStats(QueueStats),
    /// One reply a member of [`Command::Many`].
    Many(Vec<Reply>),
}

impl Reply {
    /// Done, with nothing to count.
    pub(crate) fn done() -> Reply {
        Reply::affected(0)
    }

    /// Done; `affected` rows were inserted or deleted.
    pub(crate) fn affected(affected: u64) -> Reply {
        Reply::Done {
            affected,
            last_id: 0,
            ids: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

/// A table as it was asked for; as stored, names are in lower case and the columns complete.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// Name of the table.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// Its columns, without the implied `id` of search and pq tables. Of a pq table: the columns of the documents it
    /// is asked about; may be empty with `on`.
    pub columns: Vec<Column>,
    /// How its texts become words. A pq table with `on` has that of the tables it listens to.
    pub analysis: Settings,
    /// When the reply to a write goes; `None`: as the server's setting says. Never stricter than that.
    pub sync: Option<SyncMode>,
    /// What a search table keeps; `None`: everything.
    pub keep: Option<Keep>,
}

impl Definition {
    /// What reads the texts of the table.
    pub(crate) fn analyzer(&self) -> Arc<Analyzer> {
        Arc::new(Analyzer::new(self.analysis.clone()))
    }
}

/// `keep=`, `keep_bytes=`, `keep_by=`: whole segments of a search table go when all their rows are old, or too much.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keep {
    /// Rows stay at least so long after the time in their column, in seconds.
    pub seconds: Option<u64>,
    /// Bytes of segments above which the oldest go.
    pub bytes: Option<u64>,
    /// The timestamp column that tells a row's age; `None`: the only one. As stored, it is there.
    pub by: Option<String>,
}

/// What a table is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Documents: `type='rt'`.
    Search(SearchOptions),
    /// Several tables of documents that are searched as one: `type='distributed'`. It has no rows of its own.
    Distributed {
        /// Search tables with the same columns and the same analysis.
        locals: Vec<String>,
    },
    /// Standing queries: `type='pq'`. Its own rows are (id, query, tags, filters).
    Percolate {
        /// The search tables whose every INSERT and REPLACE is matched; none: the table is only asked by CALL PQ.
        on: Vec<String>,
        /// The queue or search table that takes the hits; only with `on`.
        into: Option<String>,
        /// What the queries are written in.
        syntax: Syntax,
    },
    /// Rows for workers: `ENGINE=queue`, `type='queue'`.
    Queue(QueueOptions),
}

/// What a table of documents may be told beside its columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SearchOptions {
    /// `shards=`: tails and sets of segments that its rows are spread over by their ids; `None`: the engine chooses.
    pub shards: Option<u16>,
    /// `ranker=`: of a SELECT that names none.
    pub ranker: Option<Ranker>,
}

/// Rows of a SELECT.
#[derive(Debug)]
pub struct Answer {
    /// Headers, with the type where the column is one of the table's.
    pub columns: Vec<(String, Option<ColumnType>)>,
    /// The rows, read as they are asked for.
    pub rows: Rows,
    /// Rows that matched, before OFFSET and LIMIT.
    pub total_found: u64,
    /// The words of MATCH, in query order; empty without one.
    pub keywords: Vec<index::Keyword>,
    /// What the writer of MATCH probably meant otherwise, and files that were found damaged.
    pub warnings: Vec<String>,
    /// Why rows may be missing, and `total_found` may be too small; `None`: nothing is.
    pub partial: Option<index::Reason>,
}

/// Rows, one at a time; every one has as many values as the answer has columns.
pub struct Rows {
    rows: Box<dyn Iterator<Item = Result<Vec<Value>>> + Send>,
    is_ready: bool,
    damaged: Damaged,
}

/// Files that were found damaged and whose rows an answer lacks, with a sentence for each. It grows while rows are read.
#[derive(Clone, Debug, Default)]
pub struct Damaged(Arc<Mutex<BTreeMap<String, String>>>);

impl Damaged {
    pub(crate) fn add(&self, file: String, sentence: String) {
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        files.entry(file).or_insert(sentence);
    }

    /// The files by name, each with its sentence.
    #[must_use]
    pub fn files(&self) -> Vec<(String, String)> {
        let files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        files.clone().into_iter().collect()
    }
}

impl Rows {
    /// Rows that are at hand.
    #[must_use]
    pub fn ready(rows: Vec<Vec<Value>>) -> Rows {
        Rows {
            rows: Box::new(rows.into_iter().map(Ok)),
            is_ready: true,
            damaged: Damaged::default(),
        }
    }

    /// Rows that are read as they are asked for.
    pub fn reading(rows: impl Iterator<Item = Result<Vec<Value>>> + Send + 'static) -> Rows {
        Rows {
            rows: Box::new(rows),
            is_ready: false,
            damaged: Damaged::default(),
        }
    }

    /// With the note of what was found damaged, which the rows add to.
    pub(crate) fn noting(self, damaged: Damaged) -> Rows {
        Rows { damaged, ..self }
    }

    /// What was found damaged; complete once every row was taken.
    #[must_use]
    pub fn damaged(&self) -> Damaged {
        self.damaged.clone()
    }

    /// Whether they are at hand: taking them reads no file and decodes nothing.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.is_ready
    }
}

impl Iterator for Rows {
    type Item = Result<Vec<Value>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.rows.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.rows.size_hint()
    }
}

impl std::fmt::Debug for Rows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Rows(..)")
    }
}

/// A read that is still to be done, of how everything was when it was asked for.
pub struct Reading(Box<Read>);

type Read = dyn FnOnce(&Memory) -> Result<Answer> + Send;

impl Reading {
    pub(crate) fn new(read: impl FnOnce(&Memory) -> Result<Answer> + Send + 'static) -> Reading {
        Reading(Box::new(read))
    }

    /// Does it. May take long. The rows of the answer are taken from `memory`.
    ///
    /// # Errors
    /// Those of a SELECT.
    pub fn run(self, memory: &Memory) -> Result<Answer> {
        (self.0)(memory)
    }
}

impl std::fmt::Debug for Reading {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Reading(..)")
    }
}

/// Takes the answer to one command, on the engine's thread: it must be quick and must not block.
pub type Answering = Box<dyn FnOnce(std::result::Result<Reply, Error>) + Send>;

/// A command with its sender.
pub struct Envelope {
    /// The session that sent it.
    pub session: SessionId,
    /// The command itself.
    pub command: Command,
    /// Called once, when what was done is durable.
    pub reply: Answering,
}

/// A cursor of the collector by its name, and its new value; `None`: it goes.
pub type CursorChange = (Box<[u8]>, Option<Box<[u8]>>);

impl Command {
    /// Memory that it takes while it waits, roughly, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let own = size_of::<Command>();
        match self {
            Command::Insert(Insert { rows, .. }) => {
                own + rows.iter().flatten().map(Value::memory).sum::<usize>()
            }
            Command::Load {
                step: LoadStep::Put { rows, .. },
                ..
            } => own + rows.iter().flatten().map(Value::memory).sum::<usize>(),
            Command::Delete(Delete { filter, .. }) => {
                own + filter.as_ref().map_or(0, expression_bytes)
            }
            Command::Many(members) => own + members.iter().map(Command::bytes).sum::<usize>(),
            Command::Collect { messages, .. } => own + messages.bytes() as usize,
            _ => own,
        }
    }
}

/// Only lists grow large in practice; a tree's depth is bounded by its parser.
fn expression_bytes(expression: &Expression) -> usize {
    let own = size_of::<Expression>();
    match expression {
        Expression::In { list, .. } => own + list.iter().map(Value::memory).sum::<usize>(),
        Expression::Binary(_, left, right) => {
            own + expression_bytes(left) + expression_bytes(right)
        }
        Expression::Unary(_, operand) => own + expression_bytes(operand),
        _ => own,
    }
}
