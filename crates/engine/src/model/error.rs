//! Errors: the reasons why the engine refuses a command.

use std::fmt;

use query::schema::ColumnType;
use query::tree::QueryError;

/// Result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a command was not done. A refused command has changed nothing.
///
/// Names are as stored: lower case. Row numbers count from 1 within the command. The enum is exhaustive on purpose: the
/// server's table of errors has no wildcard arm, so a new variant must find its row there.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// No table of that name.
    NoSuchTable(String),
    /// CREATE of a name that is taken.
    TableExists(String),
    /// A name that is no column of the table.
    UnknownColumn {
        /// As written.
        column: String,
        /// Where it was looked for.
        table: String,
    },
    /// A row with more or fewer values than columns.
    WrongColumnCount {
        /// Which row, from 1.
        row: usize,
    },
    /// A value that its column cannot hold.
    BadValue {
        /// Name of the column.
        column: String,
        /// Which row, from 1.
        row: usize,
        /// What is wrong with it.
        why: Why,
    },
    /// A number outside its column's range.
    OutOfRange {
        /// Name of the column.
        column: String,
        /// Which row, from 1.
        row: usize,
    },
    /// INSERT of an id that is there already, or twice in one statement.
    DuplicateId {
        /// The id that is there already.
        id: u64,
    },
    /// A query text that does not parse.
    Query(QueryError),
    /// DROP of a table that another one names in `on=` or `into=`.
    TableInUse {
        /// The table to be dropped.
        table: String,
        /// Who names it.
        by: String,
    },
    /// Asked for something that a later version will do.
    NotYet {
        /// What, as the writer would call it.
        what: String,
    },
    /// A statement that can never be done as written.
    Invalid {
        /// What is wrong: lower case, no full stop.
        what: String,
    },
    /// Larger or more than a limit allows.
    Limit {
        /// What is limited.
        what: &'static str,
        /// The most allowed, in the unit that `what` names.
        max: u64,
    },
    /// The rows that a SELECT found take more memory than one statement may have.
    SearchMemory {
        /// Most bytes.
        max: u64,
    },
    /// Matching the documents of a statement took more steps than it may. Nothing of the statement was done.
    TooCostly {
        /// The pq table.
        table: String,
        /// The standing query that took the most steps on one document, with those steps and the document's place in the
        /// statement, from 1. `None`: no query had to look at places.
        dearest: Option<Dearest>,
        /// The bound, in steps.
        max: u64,
    },
    /// A SELECT was ended by KILL, or its client is gone.
    Interrupted,
    /// A count or a percolation was not finished in its time; less than the whole would be a wrong number, or hits missing.
    OutOfTime,
    /// No room on the device for another write; deletes and ends of rows still go.
    DiskFull,
    /// A queue with `rows_max=` or `bytes_max=` has no room for more.
    QueueFull {
        /// Name of the queue.
        queue: String,
    },
    /// More waits than memory allows: try again later.
    Overloaded,
    /// Writes are switched off; reads go on.
    ReadOnly,
    /// The engine has ended; nothing was done.
    Stopped,
    /// `queue_abort()` or `queue_rowid()` outside owner mode.
    NotOwner {
        /// Which of them.
        function: &'static str,
    },
    /// One of several rows was refused, and so all of them, for a reason that does not name its row.
    AtRow {
        /// Which row, from 1.
        row: usize,
        /// The refusal of this row.
        error: Box<Error>,
    },
    /// Member `index` (from 0) of a [`crate::Command::Many`] was refused, and so all of them.
    InMany {
        /// Place of the member, from 0.
        index: usize,
        /// The refusal of this member.
        error: Box<Error>,
    },
    /// The journal failed; this engine takes no command any more, and whether the last ones are durable is unknown.
    Poisoned {
        /// The failure, in words.
        why: String,
    },
    /// A file of ours is not as it was written.
    Corrupt {
        /// Its path below the data directory.
        file: String,
        /// Byte offset of what is wrong.
        offset: u64,
        /// What is wrong there.
        why: String,
    },
    /// The data directory was written by a later version.
    NewerFormat {
        /// Its format version.
        found: u32,
        /// The newest that is understood here.
        known: u32,
    },
    /// Another process has the data directory.
    Locked {
        /// Who, as far as the lock tells.
        holder: String,
    },
    /// A bug of ours, or a device that failed outside the journal.
    Internal {
        /// For the log.
        what: String,
    },
}

/// What the dearest standing query of a statement took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dearest {
    /// Id of the query.
    pub query: u64,
    /// Steps on one document.
    pub steps: u64,
    /// That document, from 1.
    pub row: usize,
}

/// What is wrong with a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// Cannot be read as the column's type.
    Incorrect(ColumnType),
    /// Longer than the column allows.
    TooLong,
    /// NULL where NOT NULL was declared.
    Null,
    /// Nothing was given, and the column has no default.
    NoDefault,
}

/// What a caller should do about an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// The caller's fault: the same command fails again.
    Caller,
    /// Not now: the same command may succeed later.
    Retry,
    /// Too large or too many: the same command fails again, a smaller one may not.
    Limit,
    /// This node is sick; a person must look.
    Sick,
}

impl Error {
    /// What a caller should do about it.
    #[must_use]
    pub fn family(&self) -> Family {
        match self {
            Error::NoSuchTable(_)
            | Error::TableExists(_)
            | Error::UnknownColumn { .. }
            | Error::WrongColumnCount { .. }
            | Error::BadValue { .. }
            | Error::OutOfRange { .. }
            | Error::DuplicateId { .. }
            | Error::Query(_)
            | Error::TableInUse { .. }
            | Error::NotYet { .. }
            | Error::Invalid { .. }
            | Error::NotOwner { .. } => Family::Caller,
            Error::Interrupted
            | Error::OutOfTime
            | Error::DiskFull
            | Error::QueueFull { .. }
            | Error::Overloaded
            | Error::ReadOnly
            | Error::Stopped
            | Error::Locked { .. } => Family::Retry,
            Error::Limit { .. } | Error::SearchMemory { .. } | Error::TooCostly { .. } => {
                Family::Limit
            }
            Error::InMany { error, .. } | Error::AtRow { error, .. } => error.family(),
            Error::Poisoned { .. }
            | Error::Corrupt { .. }
            | Error::NewerFormat { .. }
            | Error::Internal { .. } => Family::Sick,
        }
    }

    /// The error of one of several rows, with its number; of a single row it stays as it is.
    pub(crate) fn at_row(self, several: bool, row: usize) -> Error {
        if !several {
            return self;
        }
        let error = Box::new(self);
        Error::AtRow { row, error }
    }

    pub(crate) fn invalid(what: impl Into<String>) -> Error {
        Error::Invalid { what: what.into() }
    }

    pub(crate) fn internal(what: impl Into<String>) -> Error {
        Error::Internal { what: what.into() }
    }
}

impl std::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NoSuchTable(table) => write!(f, "no table '{table}'"),
            Error::TableExists(table) => write!(f, "table '{table}' exists already"),
            Error::UnknownColumn { column, table } => {
                write!(f, "no column '{column}' in table '{table}'")
            }
            Error::WrongColumnCount { row } => {
                write!(f, "column count does not match value count at row {row}")
            }
            Error::BadValue { column, row, why } => {
                write!(f, "{why} for column '{column}' at row {row}")
            }
            Error::OutOfRange { column, row } => {
                write!(f, "out of range value for column '{column}' at row {row}")
            }
            Error::DuplicateId { id } => write!(f, "duplicate id '{id}'"),
            Error::Query(error) => write!(
                f,
                "query text at byte {}: {}",
                error.position, error.message
            ),
            Error::TableInUse { table, by } => {
                write!(f, "table '{table}' is named by table '{by}'")
            }
            Error::NotYet { what } => write!(f, "not yet: {what}"),
            Error::Invalid { what } => f.write_str(what),
            Error::Limit { what, max } => write!(f, "{what} exceed the limit of {max}"),
            Error::SearchMemory { max } => write!(
                f,
                "the rows found take more than {max} bytes of memory: say LIMIT, or raise search_memory"
            ),
            Error::TooCostly {
                table,
                dearest,
                max,
            } => write_too_costly(f, table, *dearest, *max),
            Error::OutOfTime => f.write_str(
                "it was not finished within max_query_time, and there is no part of a count or of CALL PQ",
            ),
            Error::Interrupted => f.write_str("query execution was interrupted"),
            Error::DiskFull => {
                f.write_str("disk full: writes are refused, deletes and reads go on")
            }
            Error::QueueFull { queue } => {
                write!(f, "queue '{queue}' is full: try again when rows were taken")
            }
            Error::Overloaded => f.write_str("overloaded: try again later"),
            Error::ReadOnly => f.write_str("read-only: this server was started to write nothing"),
            Error::Stopped => f.write_str("server is shutting down"),
            Error::NotOwner { function } => write!(f, "{function}(): not in owner mode"),
            Error::AtRow { row, error } => write!(f, "{error} at row {row}"),
            Error::InMany { index, error } => write!(f, "statement {}: {error}", index + 1),
            Error::Poisoned { why } => write!(f, "journal failed, outcome unknown: {why}"),
            Error::Corrupt { file, offset, why } => {
                write!(f, "damaged file {file} at byte {offset}: {why}")
            }
            Error::NewerFormat { found, known } => {
                write!(
                    f,
                    "data directory has format version {found}, this program knows up to {known}"
                )
            }
            Error::Locked { holder } => write!(f, "data directory is in use: {holder}"),
            Error::Internal { what } => write!(f, "internal error: {what}"),
        }
    }
}

fn write_too_costly(
    f: &mut fmt::Formatter<'_>,
    table: &str,
    dearest: Option<Dearest>,
    max: u64,
) -> fmt::Result {
    write!(
        f,
        "standing queries of table '{table}' take more than {max} steps"
    )?;
    match dearest {
        Some(Dearest { query, steps, row }) => write!(
            f,
            ": query {query} takes {steps} of them on row {row}; narrow or delete it, or send shorter texts or fewer rows"
        ),
        None => f.write_str(": send shorter texts or fewer rows"),
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Why::Incorrect(_) => f.write_str("incorrect value"),
            Why::TooLong => f.write_str("value too long"),
            Why::Null => f.write_str("NULL given"),
            Why::NoDefault => f.write_str("no value and no default"),
        }
    }
}
