//! The one table of errors: for each stable code its MySQL number, SQLSTATE and HTTP status.
//! `docs/errors.md` holds the same table; a test compares them.
//!
//! To add an error: add its line to `kinds!` and to `docs/errors.md`; if the engine raises it, also an arm to `kind_of`.

#[cfg(test)]
mod tests;

use std::fmt;

use engine::Error;
use language::tree::UnknownField;
use wire::sql::{ErrorKind, SyntaxError};

/// A row of the table. Its code never changes and is never used again for another error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Stable name, for documentation and HTTP clients: lower case with underscores.
    pub code: &'static str,
    /// MySQL's error number.
    pub errno: u16,
    /// SQLSTATE, five characters.
    pub sqlstate: &'static str,
    /// Status of an HTTP reply.
    pub status: u16,
    /// Cause and remedy: the text of `docs/errors.md`.
    pub when: &'static str,
}

macro_rules! kinds {
    ($($name:ident $code:literal $errno:literal $sqlstate:literal $status:literal $when:literal;)*) => {
        $(
            #[doc = $when]
            pub const $name: Kind =
                Kind { code: $code, errno: $errno, sqlstate: $sqlstate, status: $status, when: $when };
        )*
        /// Every kind, in the order of the documentation.
        #[cfg(test)]
        pub const KINDS: &[Kind] = &[$($name),*];
    };
}

kinds! {
    SYNTAX "syntax" 1064 "42000" 400 "The statement, the JSON body or the documents of CALL PQ cannot be read; the message names the place.";
    QUERY "query" 1064 "42000" 400 "The text of MATCH or of a standing query cannot be read; the message names the byte.";
    EMPTY_STATEMENT "empty_statement" 1065 "42000" 400 "There is no statement in the text.";
    NO_SUCH_TABLE "no_such_table" 1146 "42S02" 404 "No table has that name; SHOW TABLES lists those there are.";
    TABLE_EXISTS "table_exists" 1050 "42S01" 409 "CREATE TABLE of a name that is taken.";
    TABLE_IN_USE "table_in_use" 1451 "23000" 409 "DROP or RENAME of a table that another one names.";
    UNKNOWN_COLUMN "unknown_column" 1054 "42S22" 400 "The table has no such column; DESCRIBE lists those it has.";
    WRONG_COLUMN_COUNT "wrong_column_count" 1136 "21S01" 400 "A row has more or fewer values than columns.";
    BAD_CONSTANT "bad_constant" 1292 "22007" 400 "A constant in a condition is no value of the type of the column beside it; the message names both.";
    BAD_VALUE "bad_value" 1366 "HY000" 400 "The column cannot hold the value.";
    NULL_VALUE "null_value" 1048 "23000" 400 "NULL for a column that was declared NOT NULL.";
    NO_DEFAULT "no_default" 1364 "HY000" 400 "No value for a column that has no default.";
    TOO_LONG "too_long" 1406 "22001" 400 "The value is longer than its column allows.";
    OUT_OF_RANGE "out_of_range" 1264 "22003" 400 "The number is outside its column's range.";
    DUPLICATE_ID "duplicate_id" 1062 "23000" 409 "INSERT of an id, or of a key of a temporary table, that is there; REPLACE replaces it.";
    CONFLICT "conflict" 1213 "40001" 409 "COMMIT of a transaction whose statements would have another outcome now, whose rows of a queue are no longer held, or whose table was altered; a DELETE or UPDATE whose rows others changed again and again while its condition was evaluated. Nothing was stored: run it again.";
    NOT_YET "not_yet" 1235 "42000" 501 "A later version will do this.";
    INVALID "invalid" 1210 "HY000" 400 "The statement can never be done as written; the message says why.";
    NOT_OWNER "not_owner" 1210 "HY000" 400 "queue_abort() or queue_rowid() outside owner mode: no queue_wait() went before.";
    NOT_THIS_KIND "not_this_kind" 1031 "HY000" 400 "UPDATE of a queue: its rows are inserted, taken and deleted.";
    LIMIT "limit" 1105 "HY000" 413 "Larger or more than a documented limit allows.";
    TOO_COSTLY "too_costly" 1105 "HY000" 413 "Standing queries take more counted work on the documents than a statement may; the message names the query that takes most.";
    SEARCH_MEMORY "search_memory" 1038 "HY001" 413 "The rows that one SELECT found, or the words that its wildcards stand for, take more memory than search_memory allows: say LIMIT, order by id, or write more letters.";
    PACKET_TOO_LARGE "packet_too_large" 1153 "08S01" 413 "A packet, a body or a line is longer than 128 MiB.";
    UNKNOWN_VARIABLE "unknown_variable" 1193 "HY000" 400 "SELECT @@name, or @name in an expression, of a variable that does not exist.";
    READ_ONLY_VARIABLE "read_only_variable" 1238 "HY000" 400 "SET GLOBAL of what only seine.toml changes.";
    GLOBAL_VARIABLE "global_variable" 1229 "HY000" 400 "SET without GLOBAL of a setting of the server.";
    UNKNOWN_COMMAND "unknown_command" 1047 "08S01" 400 "A command of the MySQL protocol that this server does not have.";
    NO_PREPARED_STATEMENTS "no_prepared_statements" 1295 "HY000" 501 "COM_STMT_PREPARE: statements are prepared by the client; drivers that know this number then do so themselves.";
    UNKNOWN_THREAD "unknown_thread" 1094 "HY000" 404 "KILL of a connection that is not there.";
    MALFORMED_PACKET "malformed_packet" 1835 "HY000" 400 "The bytes are not the MySQL protocol; the connection is closed.";
    MALFORMED_BODY "malformed_body" 1105 "HY000" 400 "The body of an HTTP request ended too early or came too slowly.";
    ACCESS_DENIED "access_denied" 1045 "28000" 401 "Wrong user name or password.";
    FOREIGN_ORIGIN "foreign_origin" 1045 "28000" 403 "An HTTP request that a page of another site sent: its Host or Origin is not this server, or it is a GET whose Sec-Fetch-Site is neither none nor same-origin.";
    NOT_PERMITTED "not_permitted" 1227 "42000" 403 "BACKUP TO from a client that is not on a unix socket, where backup.dir is unset: set it, or start the server with --insecure.";
    NO_STORE "no_store" 1105 "HY000" 404 "No store of Scribe's configuration takes the category of POST /collect; the messages are counted and dropped.";
    NO_SUCH_ORDER "no_such_order" 1032 "HY000" 404 "POST /order without a visitor, of an order that is not recorded: name the visitor, or send it again once a page has told the order.";
    ORDER_DIFFERS "order_differs" 1062 "23000" 409 "POST /order of an order that is recorded with another value, currency or visitor; a refund is an order of its own, with a negative value.";
    NO_SUCH_PATH "no_such_path" 1105 "HY000" 404 "The HTTP door has no such path.";
    WRONG_METHOD "wrong_method" 1105 "HY000" 405 "The path takes another HTTP method.";
    UNREAD_ENCODING "unread_encoding" 1105 "HY000" 415 "The body has a Content-Encoding that the path does not read; the message names those that it reads.";
    INTERRUPTED "interrupted" 1317 "70100" 503 "The statement was ended by KILL or because the server stops.";
    OUT_OF_TIME "out_of_time" 3024 "HY000" 503 "COUNT(*), a join, INSERT … SELECT, CALL PQ, DELETE, UPDATE, or a SELECT on a queue or on standing queries was not finished within max_query_time; other SELECTs give what they have found, and say so.";
    TOO_MANY_CONNECTIONS "too_many_connections" 1040 "08004" 503 "connections_max clients are connected: close one, or try again later.";
    QUEUE_FULL "queue_full" 1114 "HY000" 429 "A queue with rows_max= or bytes_max= has no room: try again when rows were taken (HTTP says Retry-After).";
    TOO_OFTEN "too_often" 1226 "42000" 429 "POST /touch: this client, or the pages of this site, told more in this minute than touch.per_client or touch.per_origin allow; Retry-After has the seconds to the next minute.";
    OVERLOADED "overloaded" 1040 "08004" 503 "More work waits than memory allows: try again later (HTTP says Retry-After).";
    RECOVERING "recovering" 3032 "HY000" 503 "The server starts and reads its journal: try again later.";
    STOPPING "stopping" 1053 "08S01" 503 "The server stops; nothing was done.";
    READ_ONLY "read_only" 1290 "HY000" 503 "Writes are switched off; reads go on.";
    STUCK "stuck" 1205 "HY000" 503 "Said by /readyz alone: one turn of the engine's thread lasts longer than 10 s, and writes wait for it.";
    DISK_FULL "disk_full" 1021 "HY000" 507 "No room for another write; deletes, queue_end() and reads go on.";
    SICK "sick" 1030 "HY000" 500 "The journal failed or a file is damaged; the log says which, and a person must look.";
    INTERNAL "internal" 1105 "HY000" 500 "A fault of the server itself; the log has the detail.";
}

/// First words of a message whose request a later version will serve.
pub const LATER: &str = "not yet: ";

/// MySQL's number of every warning in SHOW WARNINGS: "unknown error". Warnings have no numbers of their own, as in Sphinx.
pub const WARNING_ERRNO: u16 = 1000;

/// A failure on its way to a client.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// Its row of the table.
    pub kind: Kind,
    /// Text for the client: lower case, no full stop.
    pub message: String,
    /// The name for which it was refused, if there is nothing of that name.
    pub unknown: Option<Box<Unknown>>,
}

/// A name in a statement that no table, column or field has.
#[derive(Clone, Debug, PartialEq)]
pub enum Unknown {
    /// Of a table.
    Table(String),
    /// Of a column.
    Column {
        /// As it was written, with a table's name and a dot where it was.
        column: String,
        /// The tables that were searched for it, joined by `, `.
        tables: String,
    },
    /// Of a field in a query's text.
    Field(UnknownField),
}

impl Failure {
    /// A refused value: `NOT_YET` if the message begins with [`LATER`], else `INVALID`.
    pub fn refused(message: String) -> Failure {
        let kind = if message.starts_with(LATER) {
            NOT_YET
        } else {
            INVALID
        };
        Failure::new(kind, message)
    }

    /// A failure with this kind and message.
    pub fn new(kind: Kind, message: impl Into<String>) -> Failure {
        Failure {
            kind,
            message: message.into(),
            unknown: None,
        }
    }
}

impl Unknown {
    /// The name that an error of the engine does not find.
    fn of(error: &Error) -> Option<Unknown> {
        match error {
            Error::NoSuchTable(table) => Some(Unknown::Table(table.clone())),
            Error::UnknownColumn { column, table } => Some(Unknown::Column {
                column: column.clone(),
                tables: table.clone(),
            }),
            Error::Query(error) => error.field.clone().map(Unknown::Field),
            _ => None, // the others name nothing that could have been meant otherwise
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        let kind = kind_of(&error);
        // The detail may name files of the server: it goes to the log, not to the client.
        let message = match &error {
            Error::Internal { .. } => "internal error; the server's log has the detail".to_owned(),
            other => other.to_string(),
        };
        Failure {
            kind,
            message,
            unknown: Unknown::of(&error).map(Box::new),
        }
    }
}

impl From<SyntaxError> for Failure {
    fn from(error: SyntaxError) -> Failure {
        let kind = match error.kind {
            ErrorKind::Syntax | ErrorKind::Argument => SYNTAX,
            ErrorKind::NotYet => NOT_YET,
            ErrorKind::Limit => LIMIT,
        };
        Failure::new(kind, error.to_string())
    }
}

/// The row of an engine's error. There is no wildcard arm, so the compiler asks for the row of a new error.
fn kind_of(error: &Error) -> Kind {
    match error {
        Error::NoSuchTable(_) => NO_SUCH_TABLE,
        Error::TableExists(_) => TABLE_EXISTS,
        Error::UnknownColumn { .. } => UNKNOWN_COLUMN,
        Error::Constant { .. } => BAD_CONSTANT,
        Error::WrongColumnCount { .. } => WRONG_COLUMN_COUNT,
        Error::BadValue { why, .. } => match why {
            engine::Why::Incorrect(..) | engine::Why::NotJson(..) => BAD_VALUE,
            engine::Why::TooLong | engine::Why::TooDeep => TOO_LONG,
            engine::Why::Null => NULL_VALUE,
            engine::Why::NoDefault => NO_DEFAULT,
        },
        Error::OutOfRange { .. } => OUT_OF_RANGE,
        Error::DuplicateId { .. } | Error::DuplicateKey { .. } => DUPLICATE_ID,
        Error::Conflict { .. } => CONFLICT,
        Error::Query(error) if error.message.starts_with(LATER) => NOT_YET,
        Error::Query(_) => QUERY,
        Error::TableInUse { .. } => TABLE_IN_USE,
        Error::NotYet { .. } => NOT_YET,
        Error::Invalid { .. } => INVALID,
        Error::Limit { .. } => LIMIT,
        Error::SearchMemory { .. } => SEARCH_MEMORY,
        Error::TooCostly { .. } => TOO_COSTLY,
        Error::Interrupted | Error::BudgetSpent => INTERRUPTED,
        Error::OutOfTime => OUT_OF_TIME,
        Error::DiskFull => DISK_FULL,
        Error::QueueFull { .. } => QUEUE_FULL,
        Error::Overloaded => OVERLOADED,
        Error::ReadOnly => READ_ONLY,
        Error::Stopped => STOPPING,
        Error::NotOwner { .. } => NOT_OWNER,
        Error::InMany { error, .. } | Error::AtRow { error, .. } => kind_of(error),
        Error::Poisoned { .. }
        | Error::Corrupt { .. }
        | Error::NewerFormat { .. }
        | Error::Locked { .. } => SICK,
        Error::Internal { .. } => INTERNAL,
    }
}
