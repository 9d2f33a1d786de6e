//! What the server remembers of one connection between two statements.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use engine::{Answer, Damaged, SessionId};
use query::value::Value;
use wire::mysql::{STATUS_AUTOCOMMIT, STATUS_IN_TRANSACTION};

use crate::errors::{self, Failure};
use crate::limits::{META_KEYWORDS_MAX, SESSION_NAME_BYTES_MAX, WARNING_CHARS_MAX, WARNINGS_MAX};
use crate::places::Peer;
use crate::searches::IsGone;
use crate::statement::owned_row::OwnedRow;

/// A session. Owner mode is the engine's; the rest is here.
pub struct Session {
    /// The connection's number.
    pub id: SessionId,
    /// The name given at login.
    pub user: String,
    /// Where the client is.
    pub host: String,
    /// Chosen by USE or at login; any name will do.
    pub database: Option<String>,
    /// What SET has set, by lower-case name; a user's own begin with `@`.
    pub variables: BTreeMap<String, Value>,
    /// Tells during a search whether anybody still waits.
    pub client: Option<IsGone>,
    /// Whether the client is on a unix socket, which only this machine's users reach whom its file lets in.
    pub is_on_unix_socket: bool,
    /// What the last statement warned of.
    pub warnings: Vec<String>,
    /// What SHOW META says.
    pub meta: Meta,
    /// LAST_INSERT_ID(): the ids that the last INSERT or REPLACE stored, as far as the engine tells them, else the last.
    pub last_insert_ids: Vec<u64>,
    /// ROW_COUNT(): -1 after a statement with rows.
    pub row_count: i64,
    /// FOUND_ROWS().
    pub found_rows: u64,
    /// When the statement at hand began, in steady microseconds.
    pub started_us: u64,
    /// The row that the last `queue_wait` gave, as long as a SELECT of it needs nobody else.
    pub(crate) owned_row: Option<OwnedRow>,
    /// The last rows of a load were refused.
    pub(crate) load_refused: bool,
    /// The engine has had a command of it, and must be told when it ends.
    pub(crate) has_asked: AtomicBool,
    in_transaction: bool,
    written_in_transaction: bool,
}

/// SHOW META of the last SELECT or CALL PQ.
#[derive(Debug, Default)]
pub struct Meta {
    /// Header of the first column: the two kinds differ by a blank.
    pub header: &'static str,
    /// Names and values.
    pub lines: Vec<(String, String)>,
    total_found: u64,
    /// Rows that could be had of it, `max_matches` at most.
    total: u64,
    is_partial: bool,
    keywords: Vec<engine::Keyword>,
}

impl Session {
    /// A new one.
    pub fn new(id: SessionId, user: String, host: String, database: Option<String>) -> Session {
        Session {
            id,
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
            last_insert_ids: Vec::new(),
            row_count: 0,
            found_rows: 0,
            started_us: 0,
            owned_row: None,
            load_refused: false,
            has_asked: AtomicBool::new(false),
            in_transaction: false,
            written_in_transaction: false,
        }
    }

    /// Of the client of this connection.
    #[must_use]
    pub fn at(self, peer: &Peer) -> Session {
        Session {
            client: peer.client.clone(),
            is_on_unix_socket: peer.remote.is_unix(),
            ..self
        }
    }

    /// USE; any name will do.
    ///
    /// # Errors
    /// `LIMIT` for a name that is too long to be kept.
    pub fn use_database(&mut self, name: String) -> Result<(), Failure> {
        check_name(&name)?;
        self.database = Some(name);
        Ok(())
    }

    /// As new, for the same client: COM_RESET_CONNECTION.
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

    /// A statement begins. One that does not look back at the last one forgets its warnings.
    pub(crate) fn begin(&mut self, started_us: u64, looks_back: bool) {
        self.started_us = started_us;
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

    /// Warnings of the statement at hand, as the protocol counts them.
    pub fn warning_count(&self) -> u16 {
        self.warnings.len() as u16
    }

    /// A write is done.
    pub(crate) fn wrote(&mut self, affected: u64, ids: Vec<u64>, warnings: Vec<String>) {
        self.row_count = i64::try_from(affected).unwrap_or(i64::MAX);
        if !ids.is_empty() {
            self.last_insert_ids = ids;
        }
        self.written_in_transaction |= self.in_transaction || self.is_manual_commit();
        for warning in warnings {
            self.warn(warning);
        }
    }

    /// LAST_INSERT_ID(): a number, or, as Manticore has it, of several rows a list with commas.
    pub(crate) fn last_insert_id(&self) -> Value {
        match self.last_insert_ids.as_slice() {
            [] => Value::Int(0),
            [id] => Value::Int(i128::from(*id)),
            ids => Value::Str(ids.iter().map(u64::to_string).collect::<Vec<_>>().join(",")),
        }
    }

    /// A SELECT on a table was answered; its rows are not sent yet.
    pub(crate) fn found(&mut self, answer: &Answer) {
        self.found_rows = answer.total_found;
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

    /// No more rows than these could be had of the last answer.
    pub(crate) fn has_at_most(&mut self, rows: u64) {
        self.meta.total = self.meta.total.min(rows);
    }

    /// Rows were left out of an answer because of these files.
    pub fn lacks(&mut self, damaged: &Damaged) {
        self.meta.is_partial |= !damaged.files().is_empty();
    }

    /// The rows of a counted answer were sent.
    pub fn sent(&mut self, now_us: u64) {
        self.row_count = -1;
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

    /// SHOW META of a CALL PQ; its warnings are here already.
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

    /// BEGIN. Each statement commits by itself, inside a transaction too; see [`Session::rollback`].
    pub(crate) fn begin_transaction(&mut self) {
        self.in_transaction = true;
        self.written_in_transaction = false;
    }

    /// COMMIT: all is committed already.
    pub(crate) fn commit(&mut self) {
        self.in_transaction = false;
        self.written_in_transaction = false;
    }

    /// ROLLBACK: fine where nothing was written since BEGIN, else an error, as nothing can be taken back.
    pub(crate) fn rollback(&mut self) -> Result<(), Failure> {
        let written =
            self.written_in_transaction && (self.in_transaction || self.is_manual_commit());
        self.in_transaction = false;
        self.written_in_transaction = false;
        if written {
            let message =
                "not yet: ROLLBACK; every statement was committed when it was acknowledged";
            return Err(Failure::new(errors::NOT_YET, message));
        }
        Ok(())
    }

    /// Status flags of the protocol. IN_TRANSACTION stands where COMMIT or ROLLBACK ends something: behind BEGIN, and
    /// behind a write with autocommit off. Drivers that do not see it leave a ROLLBACK out, and nobody learns that the
    /// write stays.
    pub fn status(&self) -> u16 {
        let is_manual = self.is_manual_commit();
        let autocommit = if is_manual { 0 } else { STATUS_AUTOCOMMIT };
        let is_open = self.in_transaction || is_manual && self.written_in_transaction;
        autocommit | if is_open { STATUS_IN_TRANSACTION } else { 0 }
    }

    pub(crate) fn is_manual_commit(&self) -> bool {
        self.variables
            .get("autocommit")
            .is_some_and(|value| value.as_bool() == Some(false))
    }
}

/// Errors: `LIMIT` for a name that is too long to be kept.
pub fn check_name(name: &str) -> Result<(), Failure> {
    if name.len() > SESSION_NAME_BYTES_MAX {
        let message = format!("a name has at most {SESSION_NAME_BYTES_MAX} bytes");
        return Err(Failure::new(errors::LIMIT, message));
    }
    Ok(())
}
