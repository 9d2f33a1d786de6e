//! Errors: the reasons why the engine refuses a command.

use std::borrow::Cow;
use std::fmt;

use language::tree::QueryError;
use relation::schema::ColumnType;
use relation::value::Value;

/// Result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why the engine did not carry out a command. A refused command has changed nothing.
///
/// Names are as stored: lower case. Row numbers count from 1 within the command. The enum is exhaustive on purpose: the
/// server's table of errors has no wildcard arm, so the compiler asks for a row of each new variant.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// The command names a table that does not exist.
    NoSuchTable(String),
    /// A CREATE TABLE without IF NOT EXISTS names a table that exists.
    TableExists(String),
    /// The command names a column that the table does not have.
    UnknownColumn {
        /// Name of the column.
        column: String,
        /// Name of the table.
        table: String,
    },
    /// A constant in a condition that the type of the column beside it does not read.
    Constant {
        /// What is wrong, with the constant and the column.
        what: String,
    },
    /// A row has more or fewer values than the command has columns.
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
        /// The number; `None`: nobody gave it, such as an id behind the last.
        value: Option<ShownValue>,
    },
    /// An INSERT gives an id that the table holds, or gives the same id twice.
    DuplicateId {
        /// The repeated id.
        id: u64,
    },
    /// An INSERT into a temporary table gives a key that the table holds, or gives the same key twice.
    DuplicateKey {
        /// The values of the key, joined by `-`.
        entry: String,
        /// `key (…)` with the columns of the key, joined by commas.
        key: String,
    },
    /// A query text that does not parse.
    Query(QueryError),
    /// A DROP names a table that another table names, for example in `on=` or `into=`.
    TableInUse {
        /// The table to be dropped.
        table: String,
        /// The table that names it.
        by: String,
    },
    /// The statement has a meaning, but this version cannot carry it out.
    NotYet {
        /// The missing ability, in the words of SQL.
        what: String,
    },
    /// The engine can never carry out the statement as it is written.
    Invalid {
        /// What is wrong: lower case, no full stop.
        what: String,
    },
    /// The command exceeds a limit of the engine.
    Limit {
        /// Unit and object of the limit: a plural such as `bytes of a name`.
        what: &'static str,
        /// The highest allowed number, in the unit that `what` names.
        max: u64,
    },
    /// The rows that a SELECT found take more memory than one statement may take.
    SearchMemory {
        /// The bound, in bytes.
        max: u64,
    },
    /// The matcher took more steps for the documents of a statement than the bound allows.
    TooCostly {
        /// The pq table.
        table: String,
        /// The standing query that took the most steps on one document. `None`: no query had to look at the places of words.
        dearest: Option<Dearest>,
        /// The bound, in steps.
        max: u64,
    },
    /// KILL ended a read, or the client of the read is gone.
    Interrupted,
    /// A statement that began on a thread with other duties has spent its budget of units. Its caller runs it again where it holds
    /// nobody up; no client gets this error.
    BudgetSpent,
    /// A COUNT(*), a join, a CALL PQ, a DELETE or an UPDATE reached its time limit. A part of it would be wrong.
    OutOfTime,
    /// The device has no room for another write. The engine still takes deletes and the ends of queue rows.
    DiskFull,
    /// The rows would exceed the queue's `rows_max=` or `bytes_max=`.
    QueueFull {
        /// Name of the queue.
        queue: String,
    },
    /// The command has no room at present: the mailbox, the memory, a tail, the leases or the backlog of the collector is full.
    Overloaded,
    /// The engine was opened read-only: it refuses writes and answers reads.
    ReadOnly,
    /// The engine has ended or is about to end. It did not carry out the command.
    Stopped,
    /// `queue_abort()` or `queue_rowid()` outside owner mode.
    NotOwner {
        /// Name of the called function.
        function: &'static str,
    },
    /// The engine refused one of several rows, and with it the whole command. Used where the inner error has no row number.
    AtRow {
        /// Number of the refused row, from 1.
        row: usize,
        /// The refusal of this row.
        error: Box<Error>,
    },
    /// The engine refused a member of a [`crate::Command::Many`], and with it all members.
    InMany {
        /// Place of the member, from 0.
        index: usize,
        /// The refusal of this member.
        error: Box<Error>,
    },
    /// COMMIT cannot store the transaction, or a DELETE or UPDATE cannot be decided, because others have changed what it depends
    /// on. Nothing of it is stored. To run it again may succeed.
    Conflict {
        /// What has changed: lower case, no full stop.
        what: String,
    },
    /// The journal failed. The engine takes no further command. The last commands may be durable or lost.
    Poisoned {
        /// The journal's message.
        why: String,
    },
    /// The bytes of a file differ from those that the engine wrote, or the file is missing.
    Corrupt {
        /// The file's path below the data directory.
        file: String,
        /// Byte offset of the damage; 0 for a missing file.
        offset: u64,
        /// The damage, as the reader of the file describes it.
        why: String,
    },
    /// The data directory was written by a later version.
    NewerFormat {
        /// Format version of the directory or file.
        found: u32,
        /// The newest version that this program reads.
        known: u32,
    },
    /// Another process holds the lock of the data directory.
    Locked {
        /// Path of the lock, and the id of the process that holds it, if the lock tells.
        holder: String,
    },
    /// The engine has a bug, or a device failed outside the journal.
    Internal {
        /// The cause, for the log.
        what: String,
    },
}

/// The standing query that took the most steps on one document of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dearest {
    /// Id of the query.
    pub query: u64,
    /// Steps that the query took on the document.
    pub steps: u64,
    /// Number of the document in the statement, from 1.
    pub row: usize,
}

/// Bytes of a refused value that its error shows.
const SHOWN_BYTES: usize = 64;

/// The beginning of a value that was refused, as an error shows it: `'abc'`, or `'abcdef…'` where it is longer than 64 bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownValue(String);

impl ShownValue {
    /// What [`ShownValue::of`] needs of a value that is given away. Cost: a number is copied, and so are 65 bytes of a text.
    pub(crate) fn beginning(value: &Value) -> Value {
        match value {
            Value::Str(text) => {
                let end = text.ceil_char_boundary(SHOWN_BYTES + 1);
                Value::Str(text.get(..end).unwrap_or_default().to_owned())
            }
            Value::Bytes(bytes) => {
                Value::Bytes(bytes.iter().take(SHOWN_BYTES + 1).copied().collect())
            }
            Value::Null | Value::Int(_) | Value::Float(_) => value.clone(),
            Value::Set(_) | Value::Json(_) => Value::Str("(…)".to_owned()),
        }
    }

    /// Takes the beginning of a value, without a look at the rest of a long text.
    pub(crate) fn of(value: &Value) -> ShownValue {
        let text = match value {
            Value::Str(text) => Cow::Borrowed(text.as_str()),
            Value::Bytes(bytes) => {
                let shown = bytes.get(..SHOWN_BYTES + 1).unwrap_or(bytes);
                String::from_utf8_lossy(shown)
            }
            Value::Null | Value::Int(_) | Value::Float(_) => Cow::Owned(value.to_string()),
            Value::Set(_) | Value::Json(_) => Cow::Borrowed("(…)"),
        };
        match text.len() > SHOWN_BYTES {
            true => {
                let end = text.floor_char_boundary(SHOWN_BYTES);
                ShownValue(format!("{}…", text.get(..end).unwrap_or_default()))
            }
            false => ShownValue(text.into_owned()),
        }
    }
}

impl fmt::Display for ShownValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}'", self.0)
    }
}

/// What is wrong with a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// The value cannot be read as the column's type.
    Incorrect(ColumnType, ShownValue),
    /// The text is not JSON: it breaks at that byte, from 0.
    NotJson(ShownValue, usize),
    /// The value is longer than the column allows.
    TooLong,
    /// JSON nested deeper than 64 levels.
    TooDeep,
    /// The value is NULL, and the column is NOT NULL.
    Null,
    /// The command gives no value, and the column has no default.
    NoDefault,
}

/// What a caller should do about an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// The caller's fault: the same command fails again.
    Caller,
    /// The same command may succeed later.
    Retry,
    /// The command exceeds a limit: it fails again, but a smaller one may succeed.
    Limit,
    /// The node is damaged or faulty: a person must look.
    Sick,
}

impl Error {
    /// What a caller should do about the error.
    #[must_use]
    pub fn family(&self) -> Family {
        match self {
            Error::NoSuchTable(_)
            | Error::TableExists(_)
            | Error::UnknownColumn { .. }
            | Error::Constant { .. }
            | Error::WrongColumnCount { .. }
            | Error::BadValue { .. }
            | Error::OutOfRange { .. }
            | Error::DuplicateId { .. }
            | Error::DuplicateKey { .. }
            | Error::Query(_)
            | Error::TableInUse { .. }
            | Error::NotYet { .. }
            | Error::Invalid { .. }
            | Error::Conflict { .. }
            | Error::NotOwner { .. } => Family::Caller,
            Error::Interrupted
            | Error::BudgetSpent
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

    /// Adds the row's number if the command has `several` rows; otherwise gives the error unchanged.
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
            Error::OutOfRange { column, row, value } => out_of_range(f, column, *row, value),
            Error::DuplicateId { id } => write!(f, "duplicate id '{id}'"),
            Error::DuplicateKey { entry, key } => write!(f, "duplicate entry '{entry}' for {key}"),
            Error::Query(error) => write!(
                f,
                "query text at byte {}: {}",
                error.position, error.message
            ),
            Error::TableInUse { table, by } => {
                write!(f, "table '{table}' is named by table '{by}'")
            }
            Error::NotYet { what } => write!(f, "not yet: {what}"),
            Error::Constant { what } | Error::Invalid { what } => f.write_str(what),
            Error::Limit { what, max } => write!(f, "{what} exceed the limit of {max}"),
            Error::SearchMemory { max } => write!(
                f,
                "the rows found, or the words of wildcards, take more than {max} bytes of memory: say LIMIT, or raise search_memory"
            ),
            Error::TooCostly {
                table,
                dearest,
                max,
            } => write_too_costly(f, table, *dearest, *max),
            Error::OutOfTime => f.write_str(
                "it was not finished within max_query_time, and a part of its answer would look whole",
            ),
            Error::BudgetSpent => f.write_str("the statement has spent its budget of units"),
            Error::Interrupted => f.write_str("query execution was interrupted"),
            Error::DiskFull => {
                f.write_str(
                    "disk full: writes are refused, deletes and reads go on; drop tables, or give the device of the data directory more room",
                )
            }
            Error::QueueFull { queue } => {
                write!(f, "queue '{queue}' is full: try again when rows were taken")
            }
            Error::Overloaded => f.write_str("overloaded: try again later"),
            Error::ReadOnly => f.write_str("read-only: this server was started to write nothing"),
            Error::Stopped => f.write_str("server is shutting down"),
            Error::NotOwner { function } => write!(f, "{function}(): not in owner mode"),
            Error::AtRow { row, error } => write!(f, "{error} at row {row}"),
            Error::Conflict { what } => f.write_str(what),
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

fn out_of_range(
    f: &mut fmt::Formatter<'_>,
    column: &str,
    row: usize,
    value: &Option<ShownValue>,
) -> fmt::Result {
    f.write_str("out of range value")?;
    value.iter().try_for_each(|value| write!(f, " {value}"))?;
    write!(f, " for column '{column}' at row {row}")
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Why::NotJson(value, at) => write!(f, "{value} is not JSON at byte {at},"),
            Why::Incorrect(ColumnType::Json, value) => write!(f, "{value} is not JSON,"),
            Why::Incorrect(kind, value) => write!(f, "incorrect {} value {value}", kind.sql_name()),
            Why::TooLong => f.write_str("value too long"),
            Why::TooDeep => f.write_str("JSON nested deeper than 64 levels"),
            Why::Null => f.write_str("NULL given"),
            Why::NoDefault => f.write_str("no value and no default"),
        }
    }
}
