//! What a statement asks for. Names are in lower case and without a database, as the catalog has one namespace.

mod queue;

use query::expression::Expression;
use query::request::{Change, Delete, Insert, Select};
use query::schema::Column;
use query::value::Value;
pub use queue::{QueueCall, QueueNext};

/// One statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// Nothing but white space and comments. MySQL answers 1065.
    Empty,
    /// SELECT … FROM one table.
    Select(Select),
    /// SELECT without a table: one row, each item under its name.
    SelectConstants(Vec<(String, Constant)>),
    /// `SELECT queue_wait(…)` and the other functions of queues.
    Queue {
        /// Which, of what.
        call: QueueCall,
        /// Header of the answer's one column.
        name: String,
    },
    /// `SELECT … FROM t WHERE queue_wait(…)`: waits, then reads.
    SelectWaiting {
        /// The wait.
        wait: QueueCall,
        /// The rest; its filter waits for the wait's answer, see [`crate::sql::with_answer`].
        select: Select,
    },
    /// `CALL QUEUE_NEXT(…)`: acknowledges what the connection owns and takes the next rows, as one result set.
    QueueNext(QueueNext),
    /// `CALL QUEUE_DONE()`: acknowledges what the connection owns.
    QueueDone,
    /// `CALL QUEUE_PAUSE('q')`, `CALL QUEUE_RESUME('q')`.
    QueuePause {
        /// The queue.
        table: String,
        /// One of its groups; `None`: all of it.
        group: Option<String>,
        /// False: RESUME.
        paused: bool,
    },
    /// `CALL QUEUE_PURGE('q')`: every row that nobody owns goes.
    QueuePurge {
        /// The queue.
        table: String,
    },
    /// INSERT or REPLACE … VALUES.
    Insert(Insert),
    /// DELETE FROM.
    Delete(Delete),
    /// CREATE TABLE.
    CreateTable(CreateTable),
    /// ALTER TABLE, of a queue.
    AlterTable {
        /// Which.
        table: String,
        /// At least one, in this order.
        changes: Vec<Change>,
    },
    /// UPDATE of one table: what it sets is not read, as nothing can be updated.
    Update {
        /// Which.
        table: String,
    },
    /// INSTALL PLUGIN, CREATE FUNCTION … SONAME and their opposites, for Q4M's names: all of it is here already.
    Installed,
    /// DROP TABLE of one table or several: all of them go, or none.
    DropTable {
        /// Which; at least one.
        tables: Vec<String>,
        /// IF EXISTS: nothing to drop is no error.
        if_exists: bool,
    },
    /// CALL PQ: documents against a table of standing queries.
    CallPq {
        /// The pq table.
        table: String,
        /// Documents as written, JSON or text; at least one. One string may hold several JSON documents.
        documents: Vec<Vec<u8>>,
        /// Checked options.
        options: PqOptions,
    },
    /// CALL PQ_BACKFILL: the hits of one standing query among the documents stored already go where new ones go.
    PqBackfill {
        /// The pq table.
        table: String,
        /// The query.
        id: u64,
        /// Only documents of the last so many days; at least 1.
        days: Option<u64>,
    },
    /// BACKUP TO: everything is copied to a new folder.
    Backup {
        /// Which.
        to: String,
    },
    /// FLUSH TABLE t, FLUSH RAMCHUNK t, FLUSH TABLES: what is in memory goes to files now.
    Flush {
        /// Which; empty: all.
        tables: Vec<String>,
    },
    /// OPTIMIZE TABLE: as FLUSH, then the table's segments become one.
    Optimize {
        /// Which.
        table: String,
    },
    /// TRUNCATE TABLE: every row goes, the table stays.
    Truncate {
        /// Which.
        table: String,
    },
    /// SHOW [FULL] TABLES.
    ShowTables {
        /// LIKE, for [`crate::sql::like`].
        like: Option<String>,
        /// FULL adds a column with each table's type.
        full: bool,
    },
    /// DESCRIBE t, DESC t, EXPLAIN t, SHOW COLUMNS FROM t: MySQL's six columns.
    Describe {
        /// Which table.
        table: String,
        /// LIKE on the column's name; a name after DESCRIBE t arrives here too.
        like: Option<String>,
        /// `DESC pq TABLE`: of a table of standing queries the columns of the documents alone.
        documents: bool,
    },
    /// SHOW FULL COLUMNS FROM t: MySQL's nine columns.
    ShowFullColumns {
        /// Which table.
        table: String,
        /// LIKE on the column's name.
        like: Option<String>,
    },
    /// SHOW CREATE TABLE t.
    ShowCreateTable {
        /// Which table.
        table: String,
    },
    /// SHOW TABLE t STATUS, SHOW INDEX t STATUS: name and value pairs of one table.
    ShowTableStatus {
        /// Which table.
        table: String,
        /// LIKE on the pair's name.
        like: Option<String>,
    },
    /// SHOW TABLE STATUS: MySQL's one row for each table.
    ShowTablesStatus {
        /// LIKE on the table's name.
        like: Option<String>,
    },
    /// SHOW META: the numbers of this session's last query.
    ShowMeta {
        /// LIKE on the variable's name.
        like: Option<String>,
    },
    /// SHOW STATUS: the server's counters.
    ShowStatus {
        /// LIKE on the counter's name.
        like: Option<String>,
    },
    /// SHOW VARIABLES.
    ShowVariables {
        /// LIKE on the variable's name.
        like: Option<String>,
        /// WHERE, over the columns `variable_name` and `value`.
        filter: Option<Expression>,
    },
    /// SHOW WARNINGS, SHOW ERRORS: those of this session's last statement.
    ShowWarnings {
        /// SHOW COUNT(*) WARNINGS: only how many.
        count: bool,
    },
    /// SHOW QUEUES: one row for each queue and group.
    ShowQueues {
        /// LIKE on the queue's name.
        like: Option<String>,
    },
    /// SHOW ENGINE QUEUE STATUS.
    ShowEngineQueueStatus,
    /// SHOW DATABASES, SHOW SCHEMAS.
    ShowDatabases {
        /// LIKE on the name.
        like: Option<String>,
    },
    /// A list that clients ask for and whose rows the server knows.
    Show {
        /// Which.
        list: ShowList,
        /// LIKE on the first column.
        like: Option<String>,
    },
    /// SET: one or several.
    Set(Vec<Assignment>),
    /// USE.
    Use(String),
    /// BEGIN, START TRANSACTION.
    Begin,
    /// COMMIT.
    Commit,
    /// ROLLBACK.
    Rollback,
    /// KILL [CONNECTION | QUERY] n.
    Kill {
        /// Which connection.
        connection: u64,
        /// KILL QUERY: the connection itself lives on.
        query_only: bool,
    },
}

/// Lists that clients and graphical tools ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShowList {
    /// SHOW [STORAGE] ENGINES
    Engines,
    /// SHOW CHARACTER SET
    CharacterSets,
    /// SHOW COLLATION
    Collations,
    /// SHOW PLUGINS
    Plugins,
    /// SHOW [FULL] PROCESSLIST, SHOW THREADS
    Processes,
    /// SHOW INDEX / KEYS FROM t
    Indexes,
    /// SHOW TRIGGERS
    Triggers,
    /// SHOW PROCEDURE STATUS, SHOW FUNCTION STATUS
    Routines,
    /// SHOW EVENTS
    Events,
    /// SHOW GRANTS
    Grants,
}

/// One item of a SELECT without a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    /// `@@name`, `@@session.name`, `@@global.name`, `@name`.
    Variable {
        /// Of the server, of the session, or the user's own.
        scope: Scope,
        /// Lower case, without the scope.
        name: String,
    },
    /// DATABASE(), SCHEMA(): NULL where the client chose none.
    Database,
    /// USER(), SESSION_USER(), SYSTEM_USER(): name@host of the client.
    User,
    /// CURRENT_USER()
    CurrentUser,
    /// VERSION()
    Version,
    /// CONNECTION_ID()
    ConnectionId,
    /// LAST_INSERT_ID()
    LastInsertId,
    /// ROW_COUNT()
    RowCount,
    /// FOUND_ROWS()
    FoundRows,
    /// NOW(), CURRENT_TIMESTAMP, LOCALTIME(): `YYYY-MM-DD hh:mm:ss`, UTC like all times here. UTC_TIMESTAMP() too.
    Now,
    /// UNIX_TIMESTAMP(): whole seconds.
    UnixTimestamp,
    /// An expression over constants.
    Expression(Expression),
}

/// Whose a variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// `@@name`, `@@session.name`, `SET name`, `SET SESSION name`.
    Session,
    /// `@@global.name`, `SET GLOBAL name`.
    Global,
    /// `@name`.
    User,
}

/// One assignment of SET.
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    /// Whose variable. `SET NAMES` and `SET CHARACTER SET` are the session's.
    pub scope: Scope,
    /// Lower case. `names` for SET NAMES, `character_set` for SET CHARACTER SET,
    /// `transaction` for SET [SESSION] TRANSACTION ….
    pub name: String,
    /// The constant; a bare word such as `ON`, `utf8mb4` or `DEFAULT` arrives as its text.
    pub value: Value,
}

/// CREATE TABLE.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateTable {
    /// The table's name.
    pub name: String,
    /// IF NOT EXISTS: a table of that name is no error.
    pub if_not_exists: bool,
    /// As written, types already those of the table's kind; `id` left out where it is implied.
    pub columns: Vec<Column>,
    /// name=value, names in lower case, values as written without quotes. `ENGINE=queue` is `("engine", "queue")`.
    pub options: Vec<(String, String)>,
}

/// Options of CALL PQ.
#[derive(Clone, Debug, PartialEq)]
pub struct PqOptions {
    /// `docs_json`: documents are JSON (default), else plain text for the first field.
    pub docs_json: bool,
    /// `docs`: a column lists the documents each query hit.
    pub docs: bool,
    /// `docs_id`: the JSON field that holds a document's own id.
    pub docs_id: Option<String>,
    /// `query`: columns with each query's text, tags and filters.
    pub query: bool,
    /// `mode`: how a distributed table splits the work.
    pub mode: PqMode,
    /// `verbose`: SHOW META tells the time of each query.
    pub verbose: bool,
    /// `skip_bad_json`: a bad document is a warning, not an error.
    pub skip_bad_json: bool,
    /// `skip_empty`: empty JSON values are skipped.
    pub skip_empty: bool,
    /// `shift`: added to automatic document numbers.
    pub shift: i64,
    /// `only`: a condition on the standing queries themselves, over `id`, `query`, `tags`, `filters`, `hits` and
    /// `last_hit`; `any(tags)` arrives as a column of that name.
    pub only: Option<Expression>,
    /// `count`: one row that counts instead of the rows.
    pub count: bool,
    /// `limit`: at most so many queries.
    pub limit: Option<u64>,
    /// `after`: only queries with a higher id.
    pub after: Option<u64>,
    /// `top`: for each document only so many queries, the best; at least 1.
    pub top: Option<u32>,
    /// `weights`: a column with the weight of each of a row's documents.
    pub weights: bool,
    /// `highlight`: a column with each document's texts, what matched marked.
    pub highlight: bool,
    /// The call is written as the public stress-tester writes it, which reads a column `Documents`.
    pub capital: bool,
}

/// How CALL PQ splits work over the parts of a distributed table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PqMode {
    /// Documents are split; each part holds every query.
    Sparsed,
    /// Every part sees every document; each holds some of the queries.
    Sharded,
}

impl Default for PqOptions {
    fn default() -> Self {
        PqOptions {
            docs_json: true,
            docs: false,
            docs_id: None,
            query: false,
            mode: PqMode::Sparsed,
            verbose: false,
            skip_bad_json: false,
            skip_empty: false,
            shift: 0,
            only: None,
            count: false,
            limit: None,
            after: None,
            top: None,
            weights: false,
            highlight: false,
            capital: false,
        }
    }
}
