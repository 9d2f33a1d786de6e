//! The commands that the engine takes, and the replies that it gives.

mod queue_commands;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

pub use self::queue_commands::{
    Change, ColumnPlace, Hold, Issuer, Now, QUEUE_OPTIONS, QueueNext, QueueOptions, QueueSlot,
    QueueStats, Receipt, RowNumber, SessionId, SourceMode, Taken, TakenRow, WaitSource, WhenFull,
};
use index::{Control, Interrupt};
use language::Syntax;
use language::analysis::{Analyzer, Settings};
use relation::bind::{JoinColumn, TAGS_OF_STANDING};
use relation::expression::{Expression, Kept};
use relation::options::{Options, Ranker};
use relation::request::{Assignment, Delete, Insert, Known, Select, Update};
use relation::schema::{Column, ColumnType};
use relation::source::{Shape, Source};
use relation::value::Value;

use crate::error::{Error, Result};
use crate::made::MadeRows;
use crate::messages::Messages;
use crate::planned::{Planned, Planning};
use crate::sync_mode::SyncMode;

/// A command. Table names may be in any case: the engine compares them in lower case.
///
/// A command is moved some ten times on its way to the engine. So its large parts are boxed.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// CREATE TABLE.
    CreateTable {
        /// The table as the statement describes it.
        definition: Box<Definition>,
        /// IF NOT EXISTS: if a table of that name exists, the command changes nothing.
        if_not_exists: bool,
    },
    /// DROP TABLE: drops all named tables or none. A table that another table names can be dropped together with that one.
    DropTable {
        /// Names of the tables.
        tables: Vec<String>,
        /// IF EXISTS: skips names of tables that do not exist.
        if_exists: bool,
    },
    /// Rows change.
    Write(Write),
    /// A statement inside the session's transaction; the first one opens it. INSERT, REPLACE and DELETE are answered as if they
    /// were done, and kept until [`Command::Commit`]; ends of rows are kept too. Other commands are done at once, a read over
    /// what the transaction has written.
    Within(Box<Command>),
    /// Only in [`Command::Within`]: the search and pq tables with the transaction's own writes. Answer: [`Reply::Seen`], or
    /// [`Reply::Done`] where the transaction has not touched the tables. Rows of its own changes count as read: if another session
    /// changes one of them, COMMIT is refused.
    Look {
        /// Names of the tables that the session will read.
        tables: Vec<String>,
        /// The session reads rows of these ids at most, rising; `None`: of any.
        ids: Option<Vec<u64>>,
    },
    /// COMMIT: stores the statements of the session's transaction as one record, or refuses all of them ([`Error::InMany`],
    /// [`Error::Conflict`]). Conditions are decided again over the rows of then; another outcome than the one that was told is a
    /// `Conflict`. Either way the transaction is over. Without a transaction it does nothing.
    Commit,
    /// ROLLBACK: forgets the session's transaction and gives the rows that it took back to their queues.
    Rollback,
    /// Statements that one client sent together, inside a transaction or ending one. Each is done as if it had come alone, up to
    /// the first that is refused or has to wait for a row; they share a turn and its sync. Answer: [`Reply::Series`].
    Series(Vec<Command>),
    /// Writes, in order. The engine carries out all of them or none; a refusal is [`Error::InMany`].
    Many(Vec<Write>),
    /// SELECT on a queue or pq table. Search tables are read from [`crate::Snapshot`].
    Read {
        /// The parsed SELECT.
        select: Box<Select>,
    },
    /// The rows of a queue that the session sees, for a statement that joins or groups them. Answer: [`Reply::Source`].
    Source {
        /// Name of the queue.
        table: String,
    },
    /// `queue_wait`: ends the row that the session owns, then takes the first free row of the first source that has any. If
    /// no source has a free row, the session waits. Answer: [`Reply::Waited`].
    QueueWait {
        /// The sources of rows, the highest priority first.
        sources: Vec<WaitSource>,
        /// Longest wait in microseconds; 0: no wait.
        timeout_us: u64,
    },
    /// Ends deliveries, then takes the next rows. Answer: [`Reply::Taken`].
    QueueNext(QueueNext),
    /// Ends deliveries. The engine skips a delivery that the worker no longer holds. Answer: the number of rows ended.
    QueueDone {
        /// The deliveries that the worker has ended.
        receipts: Vec<Receipt>,
    },
    /// Gives deliveries back: their rows are free again after `delay_us`.
    QueueReturn {
        /// The deliveries that go back.
        receipts: Vec<Receipt>,
        /// Microseconds until the rows can be taken again; 0: at once.
        delay_us: u64,
    },
    /// Sets a new end for the leases of deliveries.
    QueueExtend {
        /// The deliveries whose leases change.
        receipts: Vec<Receipt>,
        /// Microseconds from now to the leases' new end.
        visible_again_us: u64,
    },
    /// `queue_end()`: deletes the row that the session owns and leaves owner mode. Outside owner mode it does nothing.
    QueueEnd,
    /// `queue_abort()`: gives the row that the session owns back to its place and leaves owner mode. [`Error::NotOwner`]
    /// outside owner mode.
    QueueAbort,
    /// `queue_rowid()`: the number of the row that the session owns. Answer: [`Reply::RowId`]; [`Error::NotOwner`] outside owner mode.
    QueueRowId,
    /// `queue_set_srcid()`: the session's next INSERT into a queue is a relayed row.
    QueueSetSource {
        /// Number of the sender: 0 to 63.
        sender: u8,
        /// Whether a row number at or below the last one received is skipped.
        mode: SourceMode,
        /// The row's number at the sender.
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
    /// The open transactions. Answer: [`Reply::Transactions`].
    Transactions,
    /// Pauses or resumes a queue or group. A paused one hands out no rows.
    QueuePause {
        /// Name of the queue.
        table: String,
        /// Name of a group; `None`: every group.
        group: Option<String>,
        /// `true` pauses, `false` resumes.
        paused: bool,
    },
    /// Deletes every free row of a queue. Answer: the number of rows deleted.
    QueuePurge {
        /// Name of the queue.
        table: String,
    },
    /// TRUNCATE: deletes every row, also rows that sessions own. Answer: the number of rows deleted.
    Truncate {
        /// Name of a search table, pq table or queue.
        table: String,
    },
    /// ALTER TABLE, of queues.
    AlterTable {
        /// Name of the queue.
        table: String,
        /// The changes in their order. The engine makes all of them or none.
        changes: Vec<Change>,
    },
    /// RENAME TABLE: names of tables and their new names, from left to right. The engine renames all of them or none.
    RenameTables {
        /// Pairs of the name and the new name.
        renames: Vec<(String, String)>,
    },
    /// ALTER TABLE of a distributed table: other local tables.
    AlterLocals {
        /// Name of the distributed table.
        table: String,
        /// Names of all its local tables from now on.
        locals: Vec<String>,
    },
    /// Collected messages of one call, and their rows in tables: one durable unit. The engine carries out all or nothing; a
    /// refusal of rows is [`Error::InMany`] with their place in `feeds`.
    Collect {
        /// The messages for stores outside of the engine, in the order of the call. An empty call makes no record.
        messages: Messages,
        /// How durable `messages` are when the engine replies; `None`: as the server's setting says. Never stricter than that.
        sync: Option<SyncMode>,
        /// Rows made of messages, by table.
        feeds: Vec<Feed>,
    },
    /// The collector has brought all messages of records up to a position to their stores, or into its own spools.
    Collected {
        /// Position of the last such record.
        upto: u64,
        /// The cursors that changed, with their new values.
        cursors: Vec<CursorChange>,
    },
    /// KILL QUERY: the session's wait for a row, or for the files of a FLUSH or OPTIMIZE, ends with [`Error::Interrupted`]. Without
    /// one nothing is done: a row that was given before stays given.
    EndWait,
    /// The connection is gone. The engine frees the rows that its session owned and ends its waits.
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
        /// Number of the load. The loader chooses it, and uses it again to continue an interrupted load.
        load: u64,
        /// Asks for the reached place, puts rows, or ends loads.
        step: LoadStep,
    },
    /// FLUSH TABLE: writes the rows that the tables hold in memory to files. The engine replies when a durable manifest names
    /// the files. Writes go on meanwhile.
    Flush {
        /// Names of the tables; empty: every table.
        tables: Vec<String>,
    },
    /// OPTIMIZE TABLE: as [`Command::Flush`]. Then the engine merges the segments of each shard into one without deleted rows.
    Optimize {
        /// Name of the search table.
        table: String,
    },
    /// Folds everything into files of its own, as far as the journal holds records for it.
    Checkpoint,
    /// Checkpoint, then the end of [`crate::Engine::run`].
    Shutdown,
}

/// A command that changes rows of one table, as its statement or condition says.
#[derive(Clone, Debug, PartialEq)]
pub enum Write {
    /// INSERT or REPLACE into a search, pq or queue table.
    Insert(Insert),
    /// INSERT into a search table of rows whose ids may be known. IGNORE also goes into a pq table or queue.
    Upsert {
        /// Its `replace` is not looked at.
        insert: Insert,
        /// What a row does whose id is known.
        known: Known,
    },
    /// DELETE. Answer: the number of rows deleted; [`Reply::Plan`] where its condition is long to evaluate.
    Delete(Box<Delete>),
    /// UPDATE of a search table. Answer: the number of rows changed; [`Reply::Plan`] where its condition is long to evaluate.
    Update(Box<Update>),
    /// A DELETE or UPDATE whose rows were chosen as [`Reply::Plan`] asked. Answer: as of the statement; [`Reply::Plan`] again where
    /// too much was changed meanwhile.
    Planned(Planned),
    /// One piece of a backfill, from [`crate::Snapshot::backfill`]: one durable unit. Answer: the number of rows inserted.
    Backfill(Backfill),
}

/// Rows made of collected messages, for one table.
#[derive(Clone, Debug, PartialEq)]
pub enum Feed {
    /// Rows of a search table or queue.
    Store(Insert),
    /// Rows that a pq table hears and nothing stores. The table needs `into=` and no `on=`. A hit of such a row has the
    /// document id 0.
    Match(Insert),
}

impl Feed {
    /// The rows, with the name of their table.
    #[must_use]
    pub fn rows(&self) -> &Insert {
        match self {
            Feed::Store(rows) | Feed::Match(rows) => rows,
        }
    }
}

/// A step of a load. Places are numbers that rise through the load's input, such as byte offsets.
#[derive(Clone, Debug, PartialEq)]
pub enum LoadStep {
    /// Asks for the place that the load has reached. Answer: the place as `last_id`; 0 for an unknown load.
    Ask,
    /// Inserts the rows between two places. The rows and the load's new place are one durable unit. If the load has reached
    /// `to` already, the engine stores nothing and `affected` is 0.
    Put {
        /// Place where the rows begin: the place that the load has reached, or a later one.
        from: u64,
        /// Place where the rows end: above `from`.
        to: u64,
        /// Names of the columns that the rows have values for.
        columns: Vec<String>,
        /// The rows, each with one value for each of `columns`.
        rows: Vec<Vec<Value>>,
        /// REPLACE: the engine first deletes a row with the same id.
        replace: bool,
    },
    /// Ends the load: the next load of that number begins at 0.
    End,
    /// Ends every load of the table. Answer: their number as `affected`.
    Forget,
}

/// Stored documents to match against one standing query that came later. Their hits go where the
/// hits of new documents go.
#[derive(Clone, Debug, PartialEq)]
pub struct Backfill {
    /// The pq table.
    pub table: String,
    /// Id of the query.
    pub query_id: u64,
    /// The search table that the pq table listens to.
    pub on: String,
    /// Ids of the documents. The engine matches each again and skips those that do not hit the query.
    pub ids: Vec<u64>,
}

/// An open transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenTransaction {
    /// Whose it is.
    pub session: SessionId,
    /// How long ago its first statement reached the engine, in microseconds.
    pub age_us: u64,
    /// Its statements that change rows.
    pub statements: u64,
    /// Rows that it took from queues and that COMMIT ends.
    pub ends: u64,
    /// Memory that it takes, estimated.
    pub bytes: u64,
    /// Why each statement but ROLLBACK is refused; `None`: it goes on.
    pub refused: Option<String>,
}

/// The reply to a command.
#[derive(Debug)]
pub enum Reply {
    /// Done, and durable.
    Done {
        /// Rows inserted or deleted.
        affected: u64,
        /// Id of the last inserted row; 0 for a queue, and where no row was inserted.
        last_id: u64,
        /// Ids of the inserted rows in their order. Empty for fewer than two rows and for more than
        /// [`crate::limits::INSERTED_IDS_MAX`].
        ids: Vec<u64>,
        /// Sentences about parts of the command that its writer probably meant differently.
        warnings: Vec<String>,
    },
    /// The condition of a DELETE or UPDATE is long to evaluate. Nothing was changed. The caller runs this on a thread of its
    /// choice and sends the outcome as [`Write::Planned`].
    Plan(Planning),
    /// Rows of a read.
    Rows(Answer),
    /// A read that may take long. The caller runs it on a thread of its choice.
    Reading(Reading),
    /// The rows of a queue.
    Source(Arc<TableSource>),
    /// `queue_wait`: the 1-based place of the source that gave a row; 0 when time ran out or a queue was dropped.
    Waited(u32),
    /// The rows that the session took.
    Taken(Taken),
    /// `queue_rowid`: the number of the row that the session owns; `None` in owner mode without a row.
    RowId(Option<RowNumber>),
    /// `queue_stats`.
    QueueStats(QueueStats),
    /// The open transactions, in no order.
    Transactions(Vec<OpenTransaction>),
    /// The tables as the session's transaction sees them.
    Seen(Seen),
    /// One reply a member of [`Command::Many`].
    Many(Vec<Reply>),
    /// The outcomes of the members of [`Command::Series`] that were done, at least one. The others were not begun.
    Series(Vec<Result<Reply>>),
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

/// A table as CREATE TABLE describes it. In the catalog its names are in lower case and its columns complete.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// Name of the table.
    pub name: String,
    /// Its type, with the options of that type.
    pub kind: Kind,
    /// Its columns, without the implied `id` of search and pq tables. Of a pq table: the columns of the documents it
    /// is asked about; may be empty with `on`.
    pub columns: Vec<Column>,
    /// Settings by which texts are split into words. A pq table with `on` has the settings of the tables that it listens to.
    pub analysis: Settings,
    /// How durable a write is when the engine replies; `None`: as the server's setting says. Never stricter than that setting.
    pub sync: Option<SyncMode>,
    /// Limits of age and size above which a search table drops segments; `None`: it drops none.
    pub keep: Option<Keep>,
}

/// The columns of a pq table's own rows beside `id`. `*` shows the first [`STANDING_SHOWN`]; the others are there for who names them.
pub(crate) const STANDING_COLUMNS: [(&str, ColumnType); 5] = [
    ("query", ColumnType::String),
    (TAGS_OF_STANDING, ColumnType::String),
    ("filters", ColumnType::String),
    ("hits", ColumnType::Bigint),
    ("last_hit", ColumnType::Timestamp),
];

/// Columns of a pq table that `*` stands for beside `id`.
pub(crate) const STANDING_SHOWN: usize = 3;

impl Definition {
    /// The analyzer of the table's texts. Cost: it is built anew by each call.
    pub(crate) fn analyzer(&self) -> Arc<Analyzer> {
        Arc::new(Analyzer::new(self.analysis.clone()))
    }

    /// What statements may name of the table.
    #[must_use]
    pub fn shape(&self) -> Shape {
        let (standing, is_standing) = match self.kind {
            Kind::Percolate { .. } => (&STANDING_COLUMNS[..], true),
            Kind::Search(_) | Kind::Distributed { .. } | Kind::Queue(_) => (&[][..], false),
        };
        let has_id = !matches!(self.kind, Kind::Queue(_));
        let own = self.columns.iter().filter(|_| !is_standing);
        let own = own.map(|column| (&*column.name, column.kind));
        let implied = has_id.then_some(("id", ColumnType::Bigint)).into_iter();
        let all = implied.chain(standing.iter().copied()).chain(own);
        let columns: Vec<JoinColumn> = all
            .map(|(name, kind)| JoinColumn {
                name: name.to_owned(),
                kind,
            })
            .collect();
        Shape {
            starred: match is_standing {
                true => 1 + STANDING_SHOWN,
                false => columns.len(),
            },
            columns,
            has_id,
            is_standing,
            takes_match: matches!(self.kind, Kind::Search(_) | Kind::Distributed { .. }),
        }
    }

    /// Whether it has a json column.
    pub(crate) fn has_json(&self) -> bool {
        let mut columns = self.columns.iter();
        columns.any(|column| column.kind == ColumnType::Json)
    }
}

/// `keep=`, `keep_bytes=`, `keep_by=`: the engine drops a whole segment of a search table once all its rows are too old, or
/// while the table's segments are too large.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keep {
    /// Seconds that a row stays at least, counted from the time in its column `by`.
    pub seconds: Option<u64>,
    /// Bytes of all segments above which the engine drops the oldest.
    pub bytes: Option<u64>,
    /// The timestamp column that tells a row's age; `None`: the table's only one. In the catalog it is always given.
    pub by: Option<String>,
}

/// Type of a table, with the options of that type.
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
        /// The language of the queries.
        syntax: Syntax,
        /// `on_update=`: rows that an UPDATE changes are matched too; only with `on`.
        on_update: bool,
    },
    /// Rows for workers: `ENGINE=queue`, `type='queue'`.
    Queue(QueueOptions),
}

/// Options of a search table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SearchOptions {
    /// `shards=`: tails and sets of segments that its rows are spread over by their ids; `None`: the engine chooses.
    pub shards: Option<u16>,
    /// `ranker=`: the ranker of a SELECT that names no ranker.
    pub ranker: Option<Ranker>,
}

/// Rows of a SELECT.
#[derive(Debug)]
pub struct Answer {
    /// Headers, with the type where the column is one of the table's.
    pub columns: Vec<(String, Option<ColumnType>)>,
    /// What is known of the values of the first columns, also of an expression's. Of the others the types tell.
    pub kept: Vec<Kept>,
    /// The rows, read as they are asked for.
    pub rows: Rows,
    /// Rows that matched, before OFFSET and LIMIT.
    pub total_found: u64,
    /// The words of MATCH, in query order; empty without one.
    pub keywords: Vec<index::Keyword>,
    /// Sentences about parts of MATCH that its writer probably meant differently, and about damaged files.
    pub warnings: Vec<String>,
    /// Why rows may be missing, and `total_found` may be too small; `None`: nothing is.
    pub partial: Option<index::Reason>,
    /// The token of the next page; `None` without OPTION scroll, and behind the last row.
    pub scroll: Option<String>,
}

impl Answer {
    /// What is known of the values of each column.
    #[must_use]
    pub fn known(&self) -> Vec<Kept> {
        let others = self.columns.iter().skip(self.kept.len());
        let others = others.map(|(_, kind)| Kept::of(*kind));
        self.kept.iter().copied().chain(others).collect()
    }
}

/// Rows, one at a time; every one has as many values as the answer has columns.
pub struct Rows {
    rows: Box<dyn Iterator<Item = Result<Vec<Value>>> + Send>,
    is_ready: bool,
    damaged: Damaged,
}

/// Files that were found damaged and whose rows an answer lacks, with a sentence for each. It grows while rows are read.
#[derive(Clone, Debug, Default)]
pub struct Damaged {
    own: Arc<Mutex<BTreeMap<String, String>>>,
    /// Those of the answers that this one is made of.
    parts: Arc<[Damaged]>,
}

impl Damaged {
    /// The damaged files of an answer that is made of others.
    #[must_use]
    pub fn of_parts(parts: Vec<Damaged>) -> Damaged {
        Damaged {
            own: Arc::default(),
            parts: parts.into(),
        }
    }

    pub(crate) fn add(&self, file: String, sentence: String) {
        let mut files = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        files.entry(file).or_insert(sentence);
    }

    /// The files by name, each with its sentence.
    #[must_use]
    pub fn files(&self) -> Vec<(String, String)> {
        let own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        let mut files = own.clone();
        drop(own);
        files.extend(self.parts.iter().flat_map(Damaged::files));
        files.into_iter().collect()
    }
}

impl Rows {
    /// Rows in memory.
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

    /// These rows with `damaged`, to which they add each damaged file that they meet.
    #[must_use]
    pub fn noting(self, damaged: Damaged) -> Rows {
        Rows { damaged, ..self }
    }

    /// The damaged files; complete once the caller has taken every row.
    #[must_use]
    pub fn damaged(&self) -> Damaged {
        self.damaged.clone()
    }

    /// Whether the rows are in memory: taking them reads no file and decodes nothing.
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

/// A read that has not run yet. It reads the state of the moment in which the engine took its command.
pub struct Reading(Box<Read>);

type Read = dyn FnOnce(&Control) -> Result<Answer> + Send;

impl Reading {
    pub(crate) fn new(read: impl FnOnce(&Control) -> Result<Answer> + Send + 'static) -> Reading {
        Reading(Box::new(read))
    }

    /// Runs the read, which may take long, within `control`'s memory and until its switch stops it.
    ///
    /// # Errors
    /// Those of a SELECT; `OutOfTime`, `Interrupted`.
    pub fn run(self, control: &Control) -> Result<Answer> {
        (self.0)(control)
    }
}

/// A table as one statement reads it.
pub type TableSource = dyn Source<Error = Error, Control = Control>;

/// The tables of one moment, as statements read them: a snapshot.
pub trait Searched: Send + Sync {
    /// The definition of a table.
    ///
    /// # Errors
    /// `NoSuchTable`.
    fn definition(&self, table: &str) -> Result<Arc<Definition>>;

    /// A search or pq table.
    ///
    /// # Errors
    /// `NoSuchTable`; `Invalid` for a queue.
    fn source(&self, table: &str) -> Result<Arc<TableSource>>;

    /// SELECT on one search or pq table without groups: its best rows, by weight or keys.
    ///
    /// # Errors
    /// Those of [`crate::Snapshot::select`].
    fn select(&self, select: &Select, options: &Options, control: &Control) -> Result<Answer>;
}

/// The tables that a statement reads.
#[derive(Clone)]
pub struct Seen(Arc<dyn Searched>);

impl Seen {
    /// The tables of a snapshot.
    pub fn new(tables: Arc<dyn Searched>) -> Seen {
        Seen(tables)
    }
}

impl std::ops::Deref for Seen {
    type Target = dyn Searched;

    fn deref(&self) -> &(dyn Searched + 'static) {
        &*self.0
    }
}

impl std::fmt::Debug for Seen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Seen(..)")
    }
}

impl std::fmt::Debug for Reading {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Reading(..)")
    }
}

/// Called with the answer to one command, on the engine's thread: it must be quick and must not block.
pub type Answering = Box<dyn FnOnce(std::result::Result<Reply, Error>) + Send>;

/// A command with its sender.
pub struct Envelope {
    /// The session that sent it.
    pub session: SessionId,
    /// The command itself.
    pub command: Command,
    /// Stops the engine while it reads rows to decide the command; `None`: nobody does.
    pub interrupt: Option<Arc<Interrupt>>,
    /// The rows of the INSERTs in the command, in the order of [`Command::inserts`], as far as they were made beforehand. The engine
    /// makes the others.
    pub made: Vec<Option<MadeRows>>,
    /// Called once, when the command's changes are as durable as the sync mode demands, or with an error.
    pub reply: Answering,
}

/// Name of a cursor of the collector, and the cursor's new value; `None` removes it.
pub type CursorChange = (Box<[u8]>, Option<Box<[u8]>>);

impl Envelope {
    /// Approximate memory of the command while it waits, in bytes, or of the rows that it becomes where they take more, as short
    /// rows of many columns do. The words of rows made beforehand are not counted: their session has.
    pub(crate) fn bytes(&self) -> usize {
        let made = self.made.iter().flatten().map(|made| made.bytes().rows);
        self.command.bytes().max(made.sum())
    }
}

impl Write {
    /// The table, as the statement names it.
    #[must_use]
    pub fn table(&self) -> &str {
        match self {
            Write::Insert(insert) | Write::Upsert { insert, .. } => &insert.table,
            Write::Delete(delete) => &delete.table,
            Write::Update(update) => &update.table,
            Write::Planned(planned) => planned.table(),
            Write::Backfill(backfill) => &backfill.table,
        }
    }

    /// See [`Command::reads_rows_of`].
    fn reads_rows_of(&self) -> Option<&str> {
        let reads = match self {
            Write::Delete(_) | Write::Update(_) | Write::Planned(_) => true,
            Write::Insert(_) | Write::Upsert { .. } | Write::Backfill(_) => false,
        };
        reads.then(|| self.table())
    }

    /// As [`Command::bytes`].
    pub(crate) fn bytes(&self) -> usize {
        let set_bytes = |set: &[Assignment]| {
            let values = set.iter().map(|set| set.value.held_memory());
            values.sum::<usize>()
        };
        let content = match self {
            Write::Insert(insert) => rows_bytes(&insert.rows),
            Write::Upsert { insert, known } => {
                let set = match known {
                    Known::Update(set) => set_bytes(set),
                    Known::Ignore | Known::Keep => 0,
                };
                rows_bytes(&insert.rows) + set
            }
            Write::Update(update) => {
                set_bytes(&update.set) + update.filter.as_ref().map_or(0, Expression::held_memory)
            }
            Write::Delete(delete) => delete.filter.as_ref().map_or(0, Expression::held_memory),
            Write::Planned(_) => 0, // the memory of requests has its rows
            Write::Backfill(backfill) => size_of_val(&*backfill.ids),
        };
        size_of::<Write>() + content
    }
}

impl Command {
    /// A table whose rows the engine's thread reads, and evaluates a condition on, to decide the command; `None`: it reads none.
    /// Such a command may take long, so a caller lets it be stopped: [`Envelope::interrupt`].
    #[must_use]
    pub fn reads_rows_of(&self) -> Option<&str> {
        let (writes, inner) = self.parts();
        let mut read = writes.iter().filter_map(Write::reads_rows_of);
        read.next()
            .or_else(|| inner.iter().find_map(Command::reads_rows_of))
    }

    /// The writes and the commands that it is made of; one of the two is empty.
    pub(crate) fn parts(&self) -> (&[Write], &[Command]) {
        if let Command::Write(write) = self {
            (std::slice::from_ref(write), &[])
        } else if let Command::Many(writes) = self {
            (writes, &[])
        } else if let Command::Series(commands) = self {
            (&[], commands)
        } else if let Command::Within(command) = self {
            (&[], std::slice::from_ref(command))
        } else {
            (&[], &[])
        }
    }

    /// Approximate memory of the command while it waits, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let (writes, inner) = self.parts();
        let parts = writes.iter().map(Write::bytes).sum::<usize>()
            + inner.iter().map(Command::bytes).sum::<usize>();
        let content = match self {
            Command::Load {
                step: LoadStep::Put { rows, .. },
                ..
            } => rows_bytes(rows),
            Command::Collect {
                messages, feeds, ..
            } => {
                let feeds = feeds.iter().map(|feed| rows_bytes(&feed.rows().rows));
                messages.bytes() as usize + feeds.sum::<usize>()
            }
            Command::Look { ids, .. } => ids.as_ref().map_or(0, |ids| size_of_val(&**ids)),
            Command::Read { select } => select.filter.as_ref().map_or(0, Expression::held_memory),
            Command::QueueDone { receipts }
            | Command::QueueReturn { receipts, .. }
            | Command::QueueExtend { receipts, .. }
            | Command::QueueNext(QueueNext { done: receipts, .. }) => size_of_val(&**receipts),
            Command::Write(_) | Command::Many(_) | Command::Series(_) | Command::Within(_) => 0,
            // Names, columns and small numbers.
            Command::CreateTable { .. }
            | Command::DropTable { .. }
            | Command::AlterTable { .. }
            | Command::RenameTables { .. }
            | Command::AlterLocals { .. }
            | Command::Truncate { .. }
            | Command::Load {
                step: LoadStep::Ask | LoadStep::End | LoadStep::Forget,
                ..
            }
            | Command::Commit
            | Command::Rollback
            | Command::QueueWait { .. }
            | Command::QueueEnd
            | Command::QueueAbort
            | Command::QueueRowId
            | Command::QueueSetSource { .. }
            | Command::QueueCompact { .. }
            | Command::QueueStats { .. }
            | Command::QueuePause { .. }
            | Command::QueuePurge { .. }
            | Command::Transactions
            | Command::Source { .. }
            | Command::Collected { .. }
            | Command::EndWait
            | Command::SessionClosed
            | Command::Backup { .. }
            | Command::Flush { .. }
            | Command::Optimize { .. }
            | Command::Checkpoint
            | Command::Shutdown => 0,
        };
        size_of::<Command>() + parts + content
    }
}

fn rows_bytes(rows: &[Vec<Value>]) -> usize {
    rows.iter().flatten().map(Value::memory).sum()
}
