//! Statements after parsing. Names are in lower case and without a database, because the catalog has one namespace.

mod expressions;
mod queue_call;
mod several;
mod show;

use relation::expression::{Expression, Variable, value_of_its_moment};
use relation::request::{Change, Delete, Insert, JoinedSelect, Known, Select, Update};
use relation::schema::Column;

use super::error::SyntaxError;
pub use expressions::each_of_join;
pub use queue_call::{QueueCall, QueueNext};
pub use several::{Faceted, Part, Shown, Union, UnionColumn, UnionKey};
pub(in crate::sql) use show::{Of, SHOWS};
pub use show::{Show, ShowKind};

/// A statement as parsed; names are as written.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// Nothing but white space and comments. MySQL answers 1065.
    Empty,
    /// SELECT … FROM one table.
    Select(Select),
    /// SELECT … FROM several tables.
    Joined(Box<JoinedSelect>),
    /// SELECT … UNION SELECT …, SELECT … FROM (SELECT …).
    Union(Box<Union>),
    /// SELECT … FACET ….
    Faceted(Box<Faceted>),
    /// SELECT without a table: one row, each item under its name.
    SelectConstants(Vec<(String, Constant)>),
    /// `SELECT queue_wait(…)` and the other functions of queues.
    Queue {
        /// The function and its arguments.
        call: QueueCall,
        /// Header of the answer's only column.
        name: String,
    },
    /// `SELECT … FROM t WHERE queue_wait(…)`: waits, then reads.
    SelectWaiting {
        /// The call of `queue_wait`.
        wait: QueueCall,
        /// The rest. Its filter has a place for the wait's answer: see [`crate::sql::with_answer`].
        select: Select,
    },
    /// `CALL QUEUE_NEXT(…)`: ends the rows that the connection owns and takes the next rows, as one result set.
    QueueNext(QueueNext),
    /// `CALL QUEUE_DONE()`: ends the rows that the connection owns.
    QueueDone,
    /// `CALL QUEUE_PAUSE('q')`, `CALL QUEUE_RESUME('q')`.
    QueuePause {
        /// Name of the queue.
        table: String,
        /// A consumer group; `None`: the whole queue.
        group: Option<String>,
        /// True for PAUSE, false for RESUME.
        paused: bool,
    },
    /// `CALL QUEUE_PURGE('q')`: deletes every row that no connection or client holds.
    QueuePurge {
        /// Name of the queue.
        table: String,
    },
    /// INSERT or REPLACE … VALUES.
    Insert(Insert),
    /// DELETE FROM.
    Delete(Delete),
    /// CREATE TABLE.
    CreateTable(CreateTable),
    /// CREATE TABLE … LIKE: the columns and options of another table, without its rows.
    CreateLike {
        /// The new table's name.
        name: String,
        /// IF NOT EXISTS: a table of that name is no error.
        if_not_exists: bool,
        /// The table that is copied.
        like: String,
    },
    /// ALTER TABLE of columns. A type's name means one thing in a queue and another in other tables, so both readings are here; at
    /// least one is no error.
    AlterTable {
        /// Name of the table.
        table: String,
        /// The changes of a queue, in order; at least one.
        of_queue: Result<Vec<Change>, SyntaxError>,
        /// The changes of a search or pq table.
        of_documents: Result<Vec<Change>, SyntaxError>,
    },
    /// INSERT IGNORE, INSERT … ON DUPLICATE KEY UPDATE, REPLACE … SET … WHERE id=n.
    Upsert {
        /// As without IGNORE, ON DUPLICATE KEY and WHERE; a REPLACE names the id of WHERE.
        insert: Insert,
        /// What a row does whose id is known.
        known: Known,
    },
    /// INSERT … SELECT and REPLACE … SELECT.
    InsertSelect {
        /// Table, columns and verb; without rows.
        insert: Insert,
        /// IGNORE and ON DUPLICATE KEY UPDATE; `None`: neither.
        known: Option<Known>,
        /// The statement that gives the rows.
        select: Box<Statement>,
    },
    /// An INSERT or REPLACE with values that need its moment, such as NOW(). NULL stands in their places; [`Statement::put`] puts
    /// them there.
    Timed {
        /// An INSERT, a REPLACE or one of their other forms with VALUES.
        statement: Box<Statement>,
        /// At least one.
        timed: Vec<Timed>,
    },
    /// UPDATE of one table.
    Update(Update),
    /// RENAME TABLE, ALTER TABLE … RENAME: all tables or none.
    RenameTables(Vec<(String, String)>),
    /// ALTER TABLE of a distributed table: its local tables from now on.
    AlterLocals {
        /// Name of the distributed table.
        table: String,
        /// Names of the local tables; at least one.
        locals: Vec<String>,
    },
    /// INSTALL PLUGIN, CREATE FUNCTION … SONAME and their opposites, for Q4M's names. Does nothing: they are built in.
    Installed,
    /// CREATE TEMPORARY TABLE: a table of this connection.
    CreateTemporary(CreateTemporary),
    /// DROP TABLE of one or more tables: drops all of them or none.
    DropTable {
        /// The tables; at least one.
        tables: Vec<String>,
        /// DROP TEMPORARY TABLE: only tables of this connection.
        temporary: bool,
        /// IF EXISTS: a missing table is no error.
        if_exists: bool,
    },
    /// CALL PQ: percolates documents through a pq table.
    CallPq {
        /// Name of the pq table.
        table: String,
        /// Documents as written, JSON or text; at least one. One string may hold several JSON documents.
        documents: Vec<Vec<u8>>,
        /// Checked options.
        options: PqOptions,
    },
    /// CALL ATTRIBUTION: what each channel contributed to the orders of a table.
    CallAttribution(AttributionCall),
    /// CALL PQ_BACKFILL: sends the hits of a standing query among the stored documents where new hits go.
    PqBackfill {
        /// Name of the pq table.
        table: String,
        /// Id of the standing query.
        id: u64,
        /// Only documents of the last `days` days, at least 1; `None`: all.
        days: Option<u64>,
    },
    /// BACKUP TO: copies all tables to a new folder.
    Backup {
        /// Path of the folder.
        to: String,
    },
    /// FLUSH TABLE t, FLUSH RAMCHUNK t, FLUSH TABLES: writes rows in memory into files now.
    Flush {
        /// The tables; empty: all.
        tables: Vec<String>,
    },
    /// OPTIMIZE TABLE: as FLUSH, then merges the table's segments to one.
    Optimize {
        /// Name of the table.
        table: String,
    },
    /// TRUNCATE TABLE: deletes every row and keeps the table.
    Truncate {
        /// Name of the table.
        table: String,
    },
    /// SHOW, DESCRIBE.
    Show(Show),
    /// EXPLAIN of a SELECT, which is done, or of an UPDATE or DELETE, whose rows are only found: what each step cost.
    Explain(Box<Statement>),
    /// EXPLAIN QUERY t 'text': the tree of a MATCH.
    ExplainQuery {
        /// Name of the table.
        table: String,
        /// The text of the MATCH.
        text: String,
    },
    /// SET, with one or more assignments.
    Set(Vec<Assignment>),
    /// USE, with the database's name.
    Use(String),
    /// BEGIN, START TRANSACTION.
    Begin,
    /// COMMIT.
    Commit,
    /// ROLLBACK.
    Rollback,
    /// KILL [CONNECTION | QUERY] n.
    Kill {
        /// Number of the connection, as SHOW PROCESSLIST shows it.
        connection: u64,
        /// KILL QUERY: the connection stays open.
        query_only: bool,
    },
}

impl Statement {
    /// Whether it is a SELECT of tables that waits for nothing.
    #[must_use]
    pub fn is_select(&self) -> bool {
        self.one_table().is_some() || matches!(self, Statement::Joined(_) | Statement::Union(_))
    }

    /// The SELECT of one table that it is, or that its FACETs are of; `None`: it is another statement.
    #[must_use]
    pub fn one_table(&self) -> Option<&Select> {
        if let Statement::Select(select) = self {
            Some(select)
        } else if let Statement::Faceted(faceted) = self {
            Some(&faceted.select)
        } else {
            None
        }
    }
}

/// An item of a SELECT without a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    /// `@@name`, `@@session.name`, `@@global.name`, `@name`.
    Variable {
        /// Scope of the variable.
        scope: Scope,
        /// Name of the variable, in lower case, without the scope.
        name: String,
    },
    /// DATABASE(), SCHEMA(): NULL if the client has chosen none.
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
    /// UTC_TIMESTAMP(): `YYYY-MM-DD hh:mm:ss`. NOW() is an expression, whose session has a time zone.
    UtcTimestamp,
    /// An expression over constants.
    Expression(Expression),
}

/// Scope of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// `@@name`, `@@session.name`, `SET name`, `SET SESSION name`.
    Session,
    /// `@@global.name`, `SET GLOBAL name`.
    Global,
    /// `@name`.
    User,
    /// `SET GLOBAL @name`: a list that all sessions share.
    Shared,
}

/// An assignment of SET.
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    /// Scope of the variable. `SET NAMES` and `SET CHARACTER SET` have the scope `Session`.
    pub scope: Scope,
    /// Name in lower case: `names` for SET NAMES, `character_set` for SET CHARACTER SET,
    /// `transaction` for `SET [SESSION] TRANSACTION …`.
    pub name: String,
    /// A constant or a list. A bare word such as `ON`, `utf8mb4` or `DEFAULT` is the constant with that text.
    pub value: Variable,
}

/// CREATE TABLE.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateTable {
    /// The table's name.
    pub name: String,
    /// IF NOT EXISTS: a table of that name is no error.
    pub if_not_exists: bool,
    /// The columns in the order written, with the types of the table's kind. An implied `id` is left out.
    pub columns: Vec<Column>,
    /// Pairs of a lower-case name and a value without quotes: `ENGINE=queue` is `("engine", "queue")`.
    pub options: Vec<(String, String)>,
}

/// CREATE TEMPORARY TABLE.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateTemporary {
    /// The table's name.
    pub name: String,
    /// IF NOT EXISTS: a temporary table of that name is no error.
    pub if_not_exists: bool,
    /// The columns with the types of MySQL, `id` like any other. [`Column::keyed`] has no effect.
    pub columns: Vec<Column>,
    /// The columns of PRIMARY KEY and of UNIQUE, by index: two rows may not be equal in them.
    pub unique: Vec<Vec<usize>>,
    /// The SELECT behind the columns, which gives the first rows; without columns, it also gives these.
    pub select: Option<Box<Statement>>,
}

/// A CALL ATTRIBUTION as written.
#[derive(Clone, Debug, PartialEq)]
pub struct AttributionCall {
    /// Name of the table of touches and orders.
    pub table: String,
    /// Name of each option, in lower case, and its values as texts: of a constant one, of a list any number. No name is there twice.
    pub options: Vec<(String, Vec<String>)>,
}

/// Options of CALL PQ.
#[derive(Clone, Debug, PartialEq)]
pub struct PqOptions {
    /// `docs_json`: documents are JSON (default); false: plain text for the first field.
    pub docs_json: bool,
    /// `docs`: adds a column with the documents that each query hits.
    pub docs: bool,
    /// `docs_id`: the JSON field that holds a document's own id.
    pub docs_id: Option<String>,
    /// `query`: adds columns with each query's text, tags and filters.
    pub query: bool,
    /// `verbose`: SHOW META shows the time of each query.
    pub verbose: bool,
    /// `skip_bad_json`: a bad document is a warning, not an error.
    pub skip_bad_json: bool,
    /// `skip_empty`: empty JSON values are skipped.
    pub skip_empty: bool,
    /// `shift`: added to automatic document numbers.
    pub shift: i64,
    /// `only`: a condition on the standing queries, over `id`, `query`, `tags`, `filters`, `hits` and `last_hit`. `any(tags)` is
    /// a column of that name.
    pub only: Option<Expression>,
    /// `count`: one row with counts in place of the rows.
    pub count: bool,
    /// `limit`: most queries in the answer.
    pub limit: Option<u64>,
    /// `after`: only queries with a higher id.
    pub after: Option<u64>,
    /// `top`: most queries for each document, by weight; at least 1.
    pub top: Option<u32>,
    /// `weights`: adds a column with the weight of each of a row's documents.
    pub weights: bool,
    /// `highlight`: adds a column with each document's texts, with marks around the matched words.
    pub highlight: bool,
    /// The call is written exactly as a public stress-tester writes it. That program reads a column `Documents`.
    pub capital: bool,
}

impl Default for PqOptions {
    fn default() -> Self {
        PqOptions {
            docs_json: true,
            docs: false,
            docs_id: None,
            query: false,
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

/// A value of a row of VALUES that needs the moment of its statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Timed {
    /// Which row, from 0.
    pub row: usize,
    /// Which value of it, from 0.
    pub place: usize,
    /// The value. It reads no column.
    pub value: Expression,
}

impl Statement {
    /// The statement with values that need its moment, if there are some.
    pub(super) fn timed(self, timed: Vec<Timed>) -> Statement {
        match timed.is_empty() {
            true => self,
            false => Statement::Timed {
                statement: Box::new(self),
                timed,
            },
        }
    }

    /// Puts values that have their moment into their rows, if they take less than `left` units. Any other statement is unchanged.
    #[must_use]
    pub fn put(self, left: &mut usize) -> Option<Statement> {
        let Statement::Timed { statement, timed } = self else {
            return Some(self);
        };
        let mut statement = *statement;
        let (Statement::Insert(insert) | Statement::Upsert { insert, .. }) = &mut statement else {
            return Some(statement); // no other has values
        };
        let rows = &mut insert.rows;
        for Timed { row, place, value } in &timed {
            if let Some(at) = rows.get_mut(*row).and_then(|row| row.get_mut(*place)) {
                *at = value_of_its_moment(value, left)?;
            }
        }
        Some(statement)
    }
}
