//! The query log: each search with its time, its rows and the client's own text, on its way to a file or a table.
//!
//! Example: `SELECT * FROM posts WHERE MATCH('storm')` over MySQL.
//!
//! ```text
//! parsed            the text is kept, cut at LOGGED_TEXT_BYTES_MAX
//! begun             Pending: tables, query, sort mode, window, of the statement; the session holds it
//! found             rows that matched
//! sent, or dropped  the time is taken; an entry below `query_log_min_msec` is forgotten, another goes to the writer
//! ```
//!
//! Invariants:
//! - A statement never waits for the log: an entry that finds no room is counted ([`QueryLog::lost`]) and forgotten.
//! - A search whose client vanished, or that failed, is logged as well, since its session drops the entry.
//! - An entry is small, whatever the statement: each of its texts is cut, and making it looks at no more than a bound of the
//!   statement's tree. The last entries are bounded in bytes, too.
//! - Only searches and percolations are logged, so no password of CREATE USER and no row of an INSERT comes here.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use relation::bind::IMPLICIT_LIMIT;
use relation::expression::{BinaryOperator, Expression};
use relation::request::{JoinedSelect, OrderBy, Output, Select, tables_of};
use study::log::{Entry, MatchMode, SortMode};
use wire::sql::Statement;

use crate::clock::Clock;
use crate::limits::{
    LOGGED_LAST_BYTES_MAX, LOGGED_LAST_MAX, LOGGED_TEXT_BYTES_MAX, LOGGED_WAITING_BYTES_MAX,
    LOGGED_WAITING_MAX,
};

/// A search that is over.
#[derive(Debug, Default)]
pub struct Logged {
    /// When it was answered, in microseconds since 1970-01-01 UTC.
    pub unix_us: i64,
    /// What it was. The writer sets its `time`, since it knows the time zone, and the sizes of tables.
    pub entry: Entry<'static>,
}

impl Logged {
    /// Memory of it, in bytes.
    fn bytes(&self) -> usize {
        let entry = &self.entry;
        let texts = [
            &entry.query,
            &entry.statement,
            &entry.group_by,
            &entry.ranker,
            &entry.client,
            &entry.error,
            &entry.comment,
        ];
        let texts = texts.into_iter().flatten().map(|text| text.len());
        size_of::<Logged>() + entry.tables.len() + texts.sum::<usize>()
    }
}

/// The log as sessions see it: off until [`QueryLog::begin`].
#[derive(Default)]
pub struct QueryLog {
    to: OnceLock<SyncSender<Box<Logged>>>,
    /// The table that gets the entries: searches on it are none.
    table: OnceLock<String>,
    /// Entries that took less are forgotten, in microseconds.
    min_us: AtomicU64,
    waiting_bytes: AtomicUsize,
    lost: AtomicU64,
    rows_lost: AtomicU64,
    last: Mutex<Last>,
}

/// The last entries, the latest at the end.
#[derive(Default)]
struct Last {
    entries: VecDeque<Arc<Logged>>,
    bytes: usize,
}

impl Last {
    fn add(&mut self, logged: &Arc<Logged>) {
        self.bytes += logged.bytes();
        self.entries.push_back(Arc::clone(logged));
        while self.entries.len() > LOGGED_LAST_MAX || self.bytes > LOGGED_LAST_BYTES_MAX {
            let Some(first) = self.entries.pop_front() else {
                return;
            };
            self.bytes -= first.bytes();
        }
    }
}

/// The entries of a log, for its writer.
pub struct Entries {
    log: Arc<QueryLog>,
    from: Receiver<Box<Logged>>,
}

impl Entries {
    /// The next entry; `None`: none waits.
    pub fn next(&self) -> Option<Box<Logged>> {
        let next = self.from.try_recv().ok()?;
        let bytes = next.bytes();
        self.log.waiting_bytes.fetch_sub(bytes, Ordering::Relaxed);
        Some(next)
    }

    /// Puts an entry among the last ones.
    pub fn keep(&self, logged: Box<Logged>) -> Arc<Logged> {
        let logged = Arc::from(logged);
        let last = self.log.last.lock();
        last.unwrap_or_else(PoisonError::into_inner).add(&logged);
        logged
    }
}

impl QueryLog {
    /// Turns the log on. `table`: the one that gets the entries, in lower case. A second call gives nothing: the log has its writer.
    pub fn begin(self: &Arc<QueryLog>, table: Option<String>) -> Option<Entries> {
        if let Some(table) = table {
            self.table.set(table).ok()?;
        }
        let (to, from) = sync_channel(LOGGED_WAITING_MAX);
        self.to.set(to).ok()?;
        Some(Entries {
            log: Arc::clone(self),
            from,
        })
    }

    /// Whether searches are logged.
    pub fn is_on(&self) -> bool {
        self.to.get().is_some()
    }

    /// Sets `query_log_min_msec`.
    pub fn set_least(&self, milliseconds: u64) {
        let us = milliseconds.saturating_mul(1_000);
        self.min_us.store(us, Ordering::Relaxed);
    }

    /// Entries that found no room on their way to the writer, or that it could not write to the file.
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Counts entries that the writer could not write to the file.
    pub fn lose(&self, entries: u64) {
        self.lost.fetch_add(entries, Ordering::Relaxed);
    }

    /// Entries that did not become rows of the table, beside those of [`QueryLog::lost`].
    pub fn rows_lost(&self) -> u64 {
        self.rows_lost.load(Ordering::Relaxed)
    }

    /// Counts entries that did not become rows of the table.
    pub fn lose_rows(&self, entries: u64) {
        self.rows_lost.fetch_add(entries, Ordering::Relaxed);
    }

    /// The last entries, the latest first; at most [`LOGGED_LAST_MAX`], of at most [`LOGGED_LAST_BYTES_MAX`].
    pub fn last(&self) -> Vec<Arc<Logged>> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.entries.iter().rev().cloned().collect()
    }

    fn add(&self, logged: Box<Logged>) {
        let Some(to) = self.to.get() else {
            return;
        };
        let bytes = logged.bytes();
        let waiting = self.waiting_bytes.fetch_add(bytes, Ordering::Relaxed);
        let is_sent = waiting + bytes <= LOGGED_WAITING_BYTES_MAX
            && match to.try_send(logged) {
                Ok(()) => true,
                Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => false,
            };
        if !is_sent {
            self.waiting_bytes.fetch_sub(bytes, Ordering::Relaxed);
            self.lose(1);
        }
    }
}

/// A search that is not over. It goes to the log when it is dropped.
pub struct Pending {
    log: Arc<QueryLog>,
    clock: Clock,
    started_us: u64,
    /// Time that it waited for a thread, in microseconds.
    queued_us: AtomicU64,
    /// Rows that were sent, and one; 0: none are known.
    returned: AtomicU64,
    /// Why it failed.
    failure: OnceLock<Cow<'static, [u8]>>,
    /// `None`: the log has it.
    logged: Option<Box<Logged>>,
}

/// The client's own text, as far as a line of the log has it.
pub struct Said {
    text: Vec<u8>,
    /// Length of the whole text.
    whole: usize,
}

impl Said {
    /// The beginning of a text.
    #[must_use]
    pub fn new(text: &[u8]) -> Said {
        Said {
            text: text[..text.len().min(LOGGED_TEXT_BYTES_MAX)].to_vec(),
            whole: text.len(),
        }
    }
}

impl Pending {
    /// A search that begins; `None`: the log is off. `started_us`: by `clock`. `tell` says what it is.
    #[must_use]
    pub fn begin(
        log: &Arc<QueryLog>,
        clock: Clock,
        started_us: u64,
        (connection, host): (u64, &str),
        tell: impl FnOnce(&mut Entry<'static>),
    ) -> Option<Pending> {
        if !log.is_on() {
            return None;
        }
        let mut logged = Box::<Logged>::default();
        tell(&mut logged.entry);
        let tables = &*logged.entry.tables;
        let of_log = log
            .table
            .get()
            .is_some_and(|own| *tables == *own.as_bytes());
        logged.entry.connection = Some(connection);
        logged.entry.client = (!host.is_empty()).then(|| host.as_bytes().to_vec().into());
        (!of_log).then(|| Pending {
            log: Arc::clone(log),
            clock,
            started_us,
            queued_us: AtomicU64::new(0),
            returned: AtomicU64::new(0),
            failure: OnceLock::new(),
            logged: Some(logged),
        })
    }

    /// Notes how many rows matched.
    pub fn found(&mut self, rows: u64) {
        if let Some(logged) = &mut self.logged {
            logged.entry.found = Some(rows);
        }
    }

    /// Notes how many rows were sent.
    pub fn returned(&self, rows: u64) {
        self.returned
            .store(rows.saturating_add(1), Ordering::Relaxed);
    }

    /// Notes time that the search waited for a thread, in microseconds.
    pub fn waited(&self, us: u64) {
        self.queued_us.fetch_add(us, Ordering::Relaxed);
    }

    /// Notes that it failed. The first failure counts.
    pub fn failed(&self, message: &str) {
        let _ = self.failure.set(cut(message));
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        let real_us = self.clock.steady_us().saturating_sub(self.started_us);
        if real_us < self.log.min_us.load(Ordering::Relaxed) {
            return;
        }
        let Some(mut logged) = self.logged.take() else {
            return;
        };
        let entry = &mut logged.entry;
        if let Some(failure) = self.failure.take() {
            entry.error = Some(failure);
            entry.found = None;
        }
        entry.real_us = Some(real_us);
        let queued_us = *self.queued_us.get_mut();
        entry.queued_us = Some(queued_us);
        entry.returned = self.returned.get_mut().checked_sub(1);
        entry.wall_us = Some(real_us.saturating_sub(queued_us));
        logged.unix_us = self.clock.unix_us();
        self.log.add(logged);
    }
}

/// Tells what a percolation over HTTP is, before it is done.
pub fn percolation(table: &str, body: &[u8], entry: &mut Entry<'static>) {
    said_of(Some(Said::new(body)), &[table], entry);
}

/// Whether a statement is logged.
pub(crate) fn is_logged(statement: &Statement) -> bool {
    statement.is_select() || matches!(statement, Statement::CallPq { .. })
}

/// Tells what a statement is, before it is done. `said`: the client's text.
pub(crate) fn tell(statement: &Statement, said: Option<Said>, entry: &mut Entry<'static>) {
    let mut tables: Vec<&str> = Vec::new();
    if let Statement::CallPq { table, .. } = statement {
        tables.push(table);
    }
    statement.each_table(&mut |name| {
        let left = TABLES_MAX.saturating_sub(tables.len());
        tables.extend(tables_of(name).take(left));
    });
    tables.dedup();
    let search = if let Statement::Joined(select) = statement {
        Some(Searched::of_joined(select))
    } else {
        statement.one_table().map(Searched::of_select)
    };
    said_of(said, &tables, entry);
    if let Some(search) = search {
        search.tell(entry);
    }
}

/// Tells the client's text and the tables that it names.
fn said_of(said: Option<Said>, tables: &[&str], entry: &mut Entry<'static>) {
    entry.tables = match tables {
        [table] => cut(table),
        _ => cut(&tables.join(",")),
    };
    if let Some(said) = said {
        let is_cut = said.whole > said.text.len();
        entry.cut_bytes = is_cut.then_some(said.whole as u64);
        entry.statement = Some(said.text.into());
    }
    entry.multiplier = Some(1);
}

/// The beginning of a text, as far as a line of the log has it.
fn cut(text: &str) -> Cow<'static, [u8]> {
    let end = text.floor_char_boundary(LOGGED_TEXT_BYTES_MAX);
    text.as_bytes()[..end].to_vec().into()
}

/// The parts of a search that its line tells.
struct Searched<'s> {
    matching: Option<&'s String>,
    filter: Option<&'s Expression>,
    order: &'s [OrderBy],
    window: (u64, Option<u64>),
    options: &'s [(String, String)],
    key: Option<&'s Expression>,
}

impl<'s> Searched<'s> {
    fn of_select(select: &'s Select) -> Searched<'s> {
        Searched {
            matching: select.matching.as_ref(),
            filter: select.filter.as_ref(),
            order: &select.order,
            window: (select.offset, select.limit),
            options: &select.options,
            key: None,
        }
    }

    fn of_joined(select: &'s JoinedSelect) -> Searched<'s> {
        let mut matching = select.tables.iter().map(|of| of.matching.as_ref());
        let grouping = select.grouping.as_ref();
        Searched {
            matching: matching.find_map(|text| text),
            filter: select.filter.as_ref(),
            order: &select.order,
            window: (select.offset, select.limit),
            options: &select.options,
            key: grouping.and_then(|grouping| grouping.keys.first()),
        }
    }

    fn tell(self, entry: &mut Entry<'static>) {
        let option = |name: &str| {
            let mut all = self.options.iter();
            let found = all.find(|(own, _)| own.eq_ignore_ascii_case(name));
            found.map(|(_, value)| value)
        };
        let (offset, limit) = self.window;
        let mut left = CONDITIONS_MAX;
        entry.mode = Some(match self.matching {
            Some(_) => MatchMode::Extended2,
            None => MatchMode::Fullscan,
        });
        entry.query = self.matching.map(|text| cut(text.trim()));
        entry.filters = Some(
            self.filter
                .map_or(0, |filter| conditions(filter, &mut left)),
        );
        entry.sort = Some(sort_of(self.order));
        entry.window = Some((offset, limit.unwrap_or(IMPLICIT_LIMIT)));
        // An expression may be as long as a statement, which the line has anyway.
        entry.group_by = self
            .key
            .map(|key| cut(key.column().unwrap_or("(expression)")));
        entry.ranker = option("ranker").map(|name| cut(name));
        entry.threads = option("threads").and_then(|number| number.parse().ok());
        entry.comment = option("comment").map(|text| cut(text));
    }
}

/// Most tables that a line names, and most conditions that it counts.
const TABLES_MAX: usize = 100;
const CONDITIONS_MAX: u64 = 1_000;

/// How many conditions AND joins, of `left` at most.
fn conditions(filter: &Expression, left: &mut u64) -> u64 {
    if *left == 0 {
        return 0;
    }
    if let Expression::Binary(BinaryOperator::And, one, other) = filter {
        return conditions(one, left) + conditions(other, left);
    }
    *left -= 1;
    1
}

/// Sphinx's name for an order.
fn sort_of(order: &[OrderBy]) -> SortMode {
    match order {
        [] => SortMode::Relevance,
        [one] => match (&one.key, one.descending) {
            (Output::Weight, true) => SortMode::Relevance,
            (_, true) => SortMode::AttributeDescending,
            (_, false) => SortMode::AttributeAscending,
        },
        _ => SortMode::Extended,
    }
}
