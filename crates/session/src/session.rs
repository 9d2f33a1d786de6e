//! State of one connection between two statements: names, variables, warnings, and the answers to SHOW META, ROW_COUNT() and
//! the like.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use engine::{Answer, Command, Damaged, SessionId};
use relation::value::Value;
use wire::mysql::{STATUS_AUTOCOMMIT, STATUS_IN_TRANSACTION};

use crate::errors::{self, Failure};
use crate::limits::{META_KEYWORDS_MAX, SESSION_NAME_BYTES_MAX, WARNING_CHARS_MAX, WARNINGS_MAX};
use crate::list_variables::ListVariables;
use crate::places::Peer;
use crate::profiled::Profiled;
use crate::query_log::Pending;
use crate::searches::IsGone;
use crate::statement::owned_row::OwnedRow;
use crate::temporary::TemporaryTables;

/// State of one connection, or of one HTTP request. The engine holds the rows that the connection owns.
pub struct Session {
    /// Number of the connection or request, unique in this process.
    pub id: SessionId,
    /// The name given at login; empty over HTTP.
    pub user: String,
    /// The client's address for people: `ip:port`, `unix` or `http`.
    pub host: String,
    /// The user whose turns its long work takes: the name given at login, else the client's address.
    pub payer: Arc<str>,
    /// Name chosen by USE or at login. Any name is accepted and changes nothing.
    pub database: Option<String>,
    /// Variables that SET changed, by lower-case name. Names of user variables begin with `@`.
    pub variables: BTreeMap<String, Value>,
    /// Tells whether the client has closed the connection. A running search asks it.
    pub client: Option<IsGone>,
    /// Whether the client is on a unix socket. The rights of the socket's file decide which users reach it.
    pub is_on_unix_socket: bool,
    /// Warnings of the last statement; at most [`WARNINGS_MAX`].
    pub warnings: Vec<String>,
    /// The answer to SHOW META.
    pub meta: Meta,
    /// The answer to SHOW PLAN and SHOW PROFILE.
    pub(crate) profiled: Option<Profiled>,
    /// The answer to SHOW SCROLL: the token of the page behind the last SELECT's.
    pub(crate) scroll: Option<String>,
    /// LAST_INSERT_ID(): ids that the last INSERT or REPLACE stored. Only the last id where the engine gives no list.
    pub last_insert_ids: Vec<u64>,
    /// ROW_COUNT(): -1 after a statement with rows.
    pub row_count: i64,
    /// FOUND_ROWS(): rows that the last SELECT on a table found, before LIMIT.
    pub found_rows: u64,
    /// When the current statement began, in steady microseconds.
    pub started_us: u64,
    /// The search that is being done, for the query log.
    pub logged: Option<Pending>,
    /// The row that the last `queue_wait` gave. The next SELECT is answered from it without the engine.
    pub(crate) owned_row: Option<OwnedRow>,
    /// The variables that SET made lists.
    pub(crate) lists: ListVariables,
    /// The temporary tables.
    pub(crate) temporary: TemporaryTables,
    /// Whether the last step of a load was refused.
    pub(crate) load_refused: bool,
    /// Whether the engine has received a command of this session. If so, it must be told when the session ends.
    pub(crate) has_asked: AtomicBool,
    in_transaction: bool,
    /// The engine has received a statement of the transaction.
    engine_has_part: bool,
}

/// Name of the only database. Clients may use any other name for it.
pub(crate) const DATABASE: &str = "seine";

/// The answer to SHOW META after a SELECT or CALL PQ.
#[derive(Debug, Default)]
pub struct Meta {
    /// Header of the first column: `Variable_name` after a SELECT, `Variable name` after a CALL PQ, as Manticore writes them.
    pub header: &'static str,
    /// Names and values, in the order shown.
    pub lines: Vec<(String, String)>,
    total_found: u64,
    /// Rows that the client could fetch: `total_found`, or `max_matches` if that is less.
    total: u64,
    is_partial: bool,
    keywords: Vec<engine::Keyword>,
}

impl Session {
    /// A session without variables, warnings or rows.
    pub fn new(id: SessionId, user: String, host: String, database: Option<String>) -> Session {
        let payer = if user.is_empty() { &host } else { &user };
        Session {
            id,
            payer: payer.as_str().into(),
            user,
            host,
            database,
            variables: BTreeMap::new(),
            client: None,
            is_on_unix_socket: false,
            warnings: Vec::new(),
            meta: Meta {
                header: "Variable_name",
                ..Meta::default()
            },
            profiled: None,
            scroll: None,
            last_insert_ids: Vec::new(),
            row_count: 0,
            found_rows: 0,
            started_us: 0,
            logged: None,
            owned_row: None,
            lists: ListVariables::default(),
            temporary: TemporaryTables::default(),
            load_refused: false,
            has_asked: AtomicBool::new(false),
            in_transaction: false,
            engine_has_part: false,
        }
    }

    /// Takes the client's facts from its connection.
    #[must_use]
    pub fn at(self, peer: &Peer) -> Session {
        let payer = match self.user.is_empty() {
            true => peer.remote.to_string().into(),
            false => self.payer,
        };
        Session {
            client: peer.client.clone(),
            is_on_unix_socket: peer.remote.is_unix(),
            payer,
            ..self
        }
    }

    /// USE: keeps the name. Any name is accepted.
    ///
    /// # Errors
    /// `LIMIT`: the name is longer than [`SESSION_NAME_BYTES_MAX`].
    pub fn use_database(&mut self, name: String) -> Result<(), Failure> {
        check_name(&name)?;
        self.database = Some(name);
        Ok(())
    }

    /// COM_RESET_CONNECTION: back to a new session of the same user and database.
    pub fn reset(&mut self) {
        let (user, host) = (
            std::mem::take(&mut self.user),
            std::mem::take(&mut self.host),
        );
        *self = Session {
            client: self.client.take(),
            is_on_unix_socket: self.is_on_unix_socket,
            ..Session::new(self.id, user, host, self.database.take())
        };
    }

    /// Begins a statement. Unless it asks about the statement before it (`looks_back`), that one's warnings are dropped.
    pub(crate) fn begin(&mut self, started_us: u64, looks_back: bool) {
        self.started_us = started_us;
        self.logged = None;
        if !looks_back {
            self.warnings.clear();
        }
    }

    /// Keeps a warning, cut to [`WARNING_CHARS_MAX`]; beyond [`WARNINGS_MAX`] it is dropped.
    pub fn warn(&mut self, mut warning: String) {
        if self.warnings.len() < WARNINGS_MAX {
            if let Some((end, _)) = warning.char_indices().nth(WARNING_CHARS_MAX) {
                warning.truncate(end);
                warning.shrink_to_fit();
            }
            self.warnings.push(warning);
        }
    }

    /// Count of warnings of the current statement, 0 ..= [`WARNINGS_MAX`].
    pub fn warning_count(&self) -> u16 {
        self.warnings.len() as u16
    }

    /// Records a write: its row count, ids and warnings.
    pub(crate) fn wrote(&mut self, affected: u64, ids: Vec<u64>, warnings: Vec<String>) {
        self.row_count = i64::try_from(affected).unwrap_or(i64::MAX);
        if !ids.is_empty() {
            self.last_insert_ids = ids;
        }
        for warning in warnings {
            self.warn(warning);
        }
    }

    /// LAST_INSERT_ID(): a number; for several rows a text `1,2,3`, as Manticore has it.
    pub(crate) fn last_insert_id(&self) -> Value {
        match self.last_insert_ids.as_slice() {
            [] => Value::Int(0),
            [id] => Value::Int(i128::from(*id)),
            ids => Value::Str(ids.iter().map(u64::to_string).collect::<Vec<_>>().join(",")),
        }
    }

    /// Records the answer of a SELECT on a table. Its rows are not sent yet.
    pub(crate) fn found(&mut self, answer: &Answer) {
        self.found_rows = answer.total_found;
        if let Some(logged) = &mut self.logged {
            logged.found(answer.total_found);
        }
        self.scroll.clone_from(&answer.scroll);
        for warning in &answer.warnings {
            self.warn(warning.clone());
        }
        self.meta = Meta {
            header: "Variable_name",
            lines: Vec::new(),
            total_found: answer.total_found,
            total: answer.total_found,
            is_partial: answer.partial.is_some(),
            keywords: answer
                .keywords
                .iter()
                .take(META_KEYWORDS_MAX)
                .cloned()
                .collect(),
        };
    }

    /// Bounds `total` of SHOW META: the client cannot fetch more rows than this.
    pub(crate) fn has_at_most(&mut self, rows: u64) {
        self.meta.total = self.meta.total.min(rows);
    }

    /// Marks the answer as partial if rows are missing from it because files are damaged.
    pub fn lacks(&mut self, damaged: &Damaged) {
        self.meta.is_partial |= !damaged.files().is_empty();
    }

    /// Notes that the session's search waited for a thread, in microseconds.
    pub(crate) fn waited(&self, us: u64) {
        if let Some(logged) = &self.logged {
            logged.waited(us);
        }
    }

    /// Tells the query log how many rows of the session's search were sent.
    pub fn returned(&self, rows: u64) {
        if let Some(logged) = &self.logged {
            logged.returned(rows);
        }
    }

    /// Tells the query log that the session's search failed.
    pub fn failed(&self, failure: &Failure) {
        if let Some(logged) = &self.logged {
            logged.failed(&failure.message);
        }
    }

    /// As [`Session::failed`], once nothing more is told of the search: the log has it from now on.
    pub fn unsent(&mut self, failure: &Failure) {
        self.failed(failure);
        self.logged = None;
    }

    /// Writes the lines of SHOW META, once the door has sent the `rows` rows of a [counted](crate::statement::FoundRows) answer. The
    /// query log has the search from now on.
    pub fn sent(&mut self, now_us: u64, rows: u64) {
        self.returned(rows);
        self.logged = None;
        self.row_count = -1;
        if let Some(profiled) = &mut self.profiled {
            profiled.sent(now_us);
        }
        let meta = &mut self.meta;
        let seconds = (now_us.saturating_sub(self.started_us)) as f64 / 1e6;
        let relation = if meta.is_partial { "gte" } else { "eq" };
        let mut lines = vec![
            ("total".to_owned(), meta.total.to_string()),
            ("total_found".to_owned(), meta.total_found.to_string()),
            ("total_relation".to_owned(), relation.to_owned()),
            ("time".to_owned(), format!("{seconds:.3}")),
        ];
        for (index, keyword) in meta.keywords.iter().enumerate() {
            lines.push((format!("keyword[{index}]"), keyword.word.clone()));
            lines.push((format!("docs[{index}]"), keyword.documents.to_string()));
            lines.push((format!("hits[{index}]"), keyword.hits.to_string()));
        }
        if !self.warnings.is_empty() {
            lines.push(("warning".to_owned(), self.warnings.join("; ")));
        }
        meta.lines = lines;
    }

    /// Sets SHOW META after a CALL PQ. The session must hold its warnings already.
    pub(crate) fn percolated(&mut self, mut lines: Vec<(String, String)>) {
        if !self.warnings.is_empty() {
            lines.push(("warning".to_owned(), self.warnings.join("; ")));
        }
        self.row_count = -1;
        self.meta = Meta {
            header: "Variable name",
            lines,
            ..Meta::default()
        };
    }

    /// BEGIN: the statements from now on are one transaction.
    pub(crate) fn begin_transaction(&mut self) {
        self.in_transaction = true;
    }

    /// The transaction is over. True if the engine has part of it, and must be told how it ends.
    pub(crate) fn end_transaction(&mut self) -> bool {
        self.in_transaction = false;
        std::mem::take(&mut self.engine_has_part)
    }

    /// Whether a statement belongs to a transaction: after BEGIN, or with autocommit off.
    pub fn is_in_transaction(&self) -> bool {
        self.in_transaction || self.is_manual_commit()
    }

    /// Whether the engine has part of the transaction.
    pub(crate) fn engine_has_part(&self) -> bool {
        self.engine_has_part
    }

    /// A command on its way to the engine: inside the transaction if there is one.
    pub(crate) fn within(&mut self, command: Command) -> Command {
        if !self.is_in_transaction() {
            return command;
        }
        self.engine_has_part = true;
        Command::Within(Box::new(command))
    }

    /// The database that its client has named, else the name of the only one.
    pub(crate) fn database_name(&self) -> &str {
        self.database.as_deref().unwrap_or(DATABASE)
    }

    /// Status flags of the protocol. IN_TRANSACTION is set after BEGIN, and after a write with autocommit off.
    pub fn status(&self) -> u16 {
        let is_manual = self.is_manual_commit();
        let autocommit = if is_manual { 0 } else { STATUS_AUTOCOMMIT };
        let is_open = self.has_open_transaction();
        autocommit | if is_open { STATUS_IN_TRANSACTION } else { 0 }
    }

    /// `@@in_transaction`: BEGIN went before, or a write with autocommit off.
    pub(crate) fn has_open_transaction(&self) -> bool {
        self.in_transaction || self.engine_has_part
    }

    pub(crate) fn is_manual_commit(&self) -> bool {
        self.variables
            .get("autocommit")
            .is_some_and(|value| value.as_bool() == Some(false))
    }
}

/// Checks a name that a session is to keep.
///
/// # Errors
/// `LIMIT`: it is longer than [`SESSION_NAME_BYTES_MAX`].
pub fn check_name(name: &str) -> Result<(), Failure> {
    if name.len() > SESSION_NAME_BYTES_MAX {
        let message = format!("a name has at most {SESSION_NAME_BYTES_MAX} bytes");
        return Err(Failure::new(errors::LIMIT, message));
    }
    Ok(())
}
