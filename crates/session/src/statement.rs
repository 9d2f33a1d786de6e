//! Statements: from text to an outcome, the same for MySQL and HTTP. A door only encodes the outcome.
//!
//! Example: a client sends `INSERT INTO t VALUES (1, 'a'); SHOW META` in one text.
//!
//! ```text
//! next(text)                        Parsed(INSERT), rest " SHOW META"
//! execute(INSERT)                   translate::write → Write::Insert → Node::submit: mailbox, sync, Reply::Done
//!                                   Outcome::Done { affected: 1, .. }; the session's row_count is 1
//! next(rest)                        Parsed(SHOW META), rest ""
//! execute(SHOW META)                Execution::show → Outcome::Rows: `system.meta`, the lines of the last SELECT or CALL PQ
//! next("")                          None: the text is done
//! ```
//!
//! A SELECT on a search or pq table runs in [`execute`] itself (`select.rs`), on the caller's thread while it is short, else in a
//! turn ([`Node::read`]). Its rows are read as the door encodes them.

mod attribution;
mod constants;
mod explain;
mod faceted;
mod insert_select;
mod join;
mod load;
mod local_time;
pub(crate) mod owned_row;
mod pq;
mod queue_functions;
mod relations;
mod row_groups;
mod select;
mod show;
mod temporary;
mod together;
mod transaction;
mod translate;
mod union;
mod update;
mod variables;

use relation::request::Insert;
use std::sync::Arc;

use engine::{Answer, Command, Interrupt, Profile, Reply, Rows, Write};
use relation::request::tables_of;
use relation::schema::ColumnType;
use relation::value::Value;
use wire::sql::{QueueCall, ShowKind, Statement};

use crate::budget::Grant;
use crate::counters::add;
use crate::errors::{self, Failure};
use crate::faults::ReadFault;
use crate::limits::{
    EVALUATED_INLINE_MAX, INLINE_UNITS, LISTED_NUMBER_BYTES, PARSE_INLINE_BYTES, PARSED_FACTOR,
    PARSED_FACTOR_BYTES_MAX, PARSED_FACTOR_LONG, PARSED_GROWTH, ROWS_INLINE_MAX,
};
use crate::near::with_near_name;
use crate::node::{Node, guarded};
use crate::query_log::{Pending, Said, is_logged, tell};
use crate::rights::{Action, Deed};
use crate::searches::{Search, stopped};
use crate::session::Session;

pub use load::load;
pub use pq::{Batch, Labels, Percolation, PqRow, PqRows, watched};
pub use relations::columns_by_name as columns;
pub use row_groups::groups_of_rows;
pub use together::{SENT_TOGETHER_MAX, send_together};

/// A statement that is parsed, or its syntax error. [`execute`] does it.
pub struct Parsed {
    statement: Result<Statement, Failure>,
    /// Fault of this read that a test asked for.
    fault: Option<ReadFault>,
    /// The beginning of the text, for SHOW THREADS; only of a SELECT, CALL PQ, DELETE or UPDATE.
    text: Option<Arc<str>>,
    /// The client's text for the query log; `None`: it is off, or the statement is no search.
    said: Option<Said>,
    /// Memory of the parsed values, until the statement is done.
    held: Option<Grant>,
    /// What the engine answered, if it got the statement with those before it; see [`send_together`]. Boxed, since few statements
    /// have it and all are moved.
    answered: Option<Box<Result<Reply, engine::Error>>>,
}

/// Result of a statement.
pub enum Outcome {
    /// Done, without rows.
    Done {
        /// Count of rows inserted, replaced or deleted.
        affected: u64,
        /// Id of the last row inserted; 0 if none was.
        last_id: u64,
    },
    /// Rows of a SELECT, SHOW or queue function.
    Rows(Box<FoundRows>),
    /// The result sets of a SELECT with FACETs: its own first.
    Several(Vec<FoundRows>),
    /// Rows of CALL PQ.
    Pq(Box<PqRows>),
}

/// Rows for a door to encode.
pub struct FoundRows {
    /// Columns and rows. Reading a row may read files.
    pub answer: Answer,
    /// The table they come from; empty for a SHOW.
    pub table: String,
    /// Whether SHOW META reports it: a SELECT on a table. The door then calls [`Session::sent`].
    pub counted: bool,
    /// Keeps the search listed as running until the rows are sent.
    pub search: Option<Search>,
    /// Memory of the rows, held until they are sent.
    pub held: Option<Arc<Grant>>,
    /// Whether a column of one row may take long: an expression that calls a function.
    pub is_costly: bool,
    /// Of a join, the names of its columns where the headers do not tell whose they are: see [`BoundJoin::members`]. Empty: the
    /// headers do.
    ///
    /// [`BoundJoin::members`]: relation::bind::BoundJoin::members
    pub members: Vec<String>,
}

impl FoundRows {
    /// Whether its rows may take longer than a millisecond to read and encode, so that a door does it in a turn: they are many, or
    /// they are not in memory and have expressions that are many or costly.
    pub fn reads_long(&self) -> bool {
        let rows = &self.answer.rows;
        let most = rows.size_hint().1.unwrap_or(usize::MAX);
        let columns = self.answer.columns.iter();
        let expressions = columns.filter(|(_, kind)| kind.is_none()).count();
        let is_evaluated = !rows.is_ready() && expressions > 0;
        most as u64 > ROWS_INLINE_MAX
            || is_evaluated
                && (self.is_costly || most.saturating_mul(expressions) > EVALUATED_INLINE_MAX)
    }
}

/// An answer of rows in memory, without keywords or warnings.
pub(crate) fn ready(columns: Vec<(String, Option<ColumnType>)>, rows: Vec<Vec<Value>>) -> Answer {
    Answer {
        columns,
        kept: Vec::new(),
        total_found: rows.len() as u64,
        rows: Rows::ready(rows),
        keywords: Vec::new(),
        warnings: Vec::new(),
        partial: None,
        scroll: None,
    }
}

impl Outcome {
    /// Rows of no table. SHOW META does not report them.
    fn shown(columns: Vec<(String, Option<ColumnType>)>, rows: Vec<Vec<Value>>) -> Outcome {
        Outcome::Rows(Box::new(FoundRows {
            answer: ready(columns, rows),
            table: String::new(),
            counted: false,
            search: None,
            held: None,
            is_costly: false,
            members: Vec::new(),
        }))
    }

    /// [`FoundRows::reads_long`] of any of its rows.
    pub fn reads_long(&self) -> bool {
        match self {
            Outcome::Rows(found) => found.reads_long(),
            Outcome::Several(sets) => sets.iter().any(FoundRows::reads_long),
            Outcome::Pq(rows) => rows.answer.hits.len() as u64 > ROWS_INLINE_MAX,
            Outcome::Done { .. } => false,
        }
    }

    /// Done, with no row affected.
    pub const NOTHING: Outcome = Outcome::Done {
        affected: 0,
        last_id: 0,
    };
}

/// Parses the first statement of a text. Also gives the text behind it. `None`: the text has no statement.
///
/// A syntax error is part of the [`Parsed`], so that [`execute`] counts it. Up to [`PARSE_INLINE_BYTES`] are parsed on the
/// event loop and need no memory of the budget; a longer statement waits for its memory.
pub async fn next<'t>(
    node: &Node,
    session: &Session,
    text: &'t [u8],
) -> Option<(Parsed, &'t [u8])> {
    let near = text.get(..PARSE_INLINE_BYTES).unwrap_or(text);
    let is_whole = near.len() == text.len();
    match wire::sql::first(near) {
        Some((one, behind)) if is_whole || !behind.is_empty() => {
            let rest = &text[near.len() - behind.len()..];
            let shortly = || Ok(wire::sql::parse_shortly(one, INLINE_UNITS as usize));
            let statement = match guarded(node, shortly) {
                Ok(Err(error)) if error.is_out_of_work() => {
                    node.long(session).await;
                    guarded(node, || Ok(wire::sql::parse(one)?))
                }
                parsed => parsed.and_then(|parsed| Ok(parsed?)),
            };
            return Some((Parsed::read(node, one, statement), rest));
        }
        None if is_whole => return None,
        _ => {}
    }
    let search = node.list(session, format!("a text of {} bytes", text.len()));
    node.long_within(session, &search.interrupt).await;
    let (one, rest) = wire::sql::first(text)?;
    let held = node.budget.grant();
    let statement = large(node, session, one, (&held, &search.interrupt)).await;
    let mut parsed = Parsed::read(node, one, statement);
    parsed.held = Some(held);
    Some((parsed, rest))
}

/// Parses a large statement within granted memory. It first asks for an estimate; if that is too little, it parses again with
/// [`PARSED_GROWTH`] times as much. In the end it gives the unused part back. KILL ends the wait for memory, and the statement before
/// and behind the parser.
async fn large(
    node: &Node,
    session: &Session,
    text: &[u8],
    (held, interrupt): (&Grant, &Arc<Interrupt>),
) -> Result<Statement, Failure> {
    // The request also holds the buffer of the text, up to twice its length: the values can get the rest at most.
    let most = node.budget.total_bytes().saturating_sub(2 * text.len());
    let factor = match text.len() <= PARSED_FACTOR_BYTES_MAX {
        true => PARSED_FACTOR,
        false => PARSED_FACTOR_LONG,
    };
    let mut room = text.len().saturating_mul(factor).min(most);
    loop {
        tokio::select! {
            reserved = held.reserve(room) => { reserved?; }
            failure = stopped(interrupt) => return Err(failure),
        };
        node.long_within(session, interrupt).await;
        engine::goes_on(interrupt)?;
        let parsed = guarded(node, || Ok(wire::sql::parse_within(text, room)))?;
        engine::goes_on(interrupt)?;
        match parsed {
            Err(error) if error.is_out_of_room() && room < most => {
                room = room.saturating_mul(PARSED_GROWTH).min(most);
            }
            Err(error) => return Err(error.into()),
            Ok((statement, bytes)) => {
                held.keep(bytes);
                return Ok(statement);
            }
        }
    }
}

impl Parsed {
    fn read(node: &Node, text: &[u8], statement: Result<Statement, Failure>) -> Parsed {
        let is_search = matches!(
            statement,
            Ok(Statement::Explain(_)
                | Statement::CallPq { .. }
                | Statement::CallAttribution(_)
                | Statement::Delete(_)
                | Statement::Update(_)
                | Statement::Show(_))
        );
        let is_search = is_search || statement.as_ref().is_ok_and(Statement::is_select);
        let fault = node.faults.any().then(|| node.faults.choose(text));
        let is_logged = node.query_log.is_on() && statement.as_ref().is_ok_and(is_logged);
        Parsed {
            said: is_logged.then(|| Said::new(text)),
            statement,
            fault: fault.flatten(),
            text: is_search.then(|| select::shown(text)),
            held: None,
            answered: None,
        }
    }

    /// A statement that a door made without SQL text.
    pub fn of(statement: Statement) -> Parsed {
        Parsed {
            statement: Ok(statement),
            fault: None,
            text: None,
            said: None,
            held: None,
            answered: None,
        }
    }

    /// Gives the statement the client's text, for the query log.
    #[must_use]
    pub fn said(mut self, node: &Node, text: &[u8]) -> Parsed {
        self.said = node.query_log.is_on().then(|| Said::new(text));
        self
    }

    /// Gives the statement memory to hold until it is done.
    pub fn holding(mut self, held: Grant) -> Parsed {
        self.held = Some(held);
        self
    }

    /// Whether it is a SELECT; `None`: a syntax error.
    pub fn is_read(&self) -> Option<bool> {
        let statement = self.statement.as_ref().ok()?;
        Some(
            matches!(
                statement,
                Statement::SelectConstants(_)
                    | Statement::Queue { .. }
                    | Statement::SelectWaiting { .. }
            ) || statement.is_select(),
        )
    }

    /// Whether it changes neither rows, tables nor leases. True for a syntax error.
    pub fn only_reads(&self) -> bool {
        match &self.statement {
            Err(_) => true,
            Ok(statement) => {
                matches!(
                    statement,
                    Statement::SelectConstants(_)
                        | Statement::CallPq { .. }
                        | Statement::CallAttribution(_)
                        | Statement::Show(_)
                        | Statement::Explain(_)
                        | Statement::ExplainQuery { .. }
                ) || statement.is_select()
            }
        }
    }

    /// Whether it takes or ends a row that the connection owns, and so needs a lasting connection.
    pub fn needs_connection(&self) -> bool {
        match &self.statement {
            Ok(Statement::Queue { call, .. }) => {
                !matches!(call, QueueCall::Compact { .. } | QueueCall::Stats { .. })
            }
            Ok(statement) => matches!(
                statement,
                Statement::SelectWaiting { .. } | Statement::QueueNext(_) | Statement::QueueDone
            ),
            Err(_) => false,
        }
    }

    /// Whether it waits for a row of a queue, as long as its client's timeout says. Not if it was answered with others.
    pub fn waits(&self) -> bool {
        let may_wait = matches!(
            self.statement,
            Ok(Statement::Queue {
                call: QueueCall::Wait { .. },
                ..
            } | Statement::SelectWaiting { .. }
                | Statement::QueueNext(_))
        );
        may_wait && self.answered.is_none()
    }
}

/// Does one statement for a session. The session then holds its warnings. The door calls [`Session::sent`] once it has sent
/// the rows: that settles SHOW META.
pub async fn execute(
    node: &Node,
    session: &mut Session,
    parsed: Parsed,
) -> Result<Outcome, Failure> {
    let started_us = node.clock.steady_us();
    let is_wait = parsed.waits();
    let held = parsed.held;
    let mut statement = match parsed.statement {
        Ok(statement) => statement,
        Err(failure) => {
            add(&node.counters.failed, 1);
            return Err(failure);
        }
    };
    let looks_back = if let Statement::Show(show) = &statement {
        show.kind.looks_back()
    } else {
        matches!(statement, Statement::SelectConstants(_))
    };
    session.begin(started_us, looks_back);
    begin_logged(node, session, &statement, (started_us, parsed.said));
    let related = read_relations(node, session, &statement, parsed.text.as_deref()).await;
    related.inspect_err(|_| add(&node.counters.failed, 1))?;
    if held.is_some() && variables::is_local(session) {
        node.long(session).await;
    }
    let settled = variables::settle(node, session, &mut statement);
    count(node, &statement);
    let profile = explain::profile_of(node, session, &statement);
    let listed = settled.and_then(|numbers| listed(node, numbers));
    let listed = listed.inspect_err(|_| add(&node.counters.failed, 1))?;
    let mut execution = Execution {
        node,
        profile,
        session,
        fault: parsed.fault,
        text: parsed.text,
        is_large: held.iter().chain(&listed).any(|held| !held.is_empty()),
        answered: parsed.answered,
        shared: None,
        is_costly: false,
    };
    let outcome = execution.run(statement).await;
    let outcome = outcome.map_err(|failure| with_near_name(node, failure));
    execution.keep_profile();
    session.temporary.forget_relations();
    if let Err(failure) = &outcome {
        add(&node.counters.failed, 1);
        session.unsent(failure);
    }
    if let Ok(Outcome::Pq(rows)) = &outcome
        && let Some(mut logged) = session.logged.take()
    {
        logged.found(rows.answer.total);
        logged.returned(rows.answer.hits.len() as u64);
    }
    if !is_wait {
        add(
            &node.counters.statement_us,
            node.clock.steady_us() - started_us,
        );
    }
    outcome
}

/// Begins the entry of a search in the query log, if it is on.
fn begin_logged(
    node: &Node,
    session: &mut Session,
    statement: &Statement,
    (started_us, said): (u64, Option<Said>),
) {
    let is_own = session.id.0 == 0; // the server asks itself
    if node.query_log.is_on() && !is_own && is_logged(statement) {
        let client = (session.id.0, &*session.host);
        let since = (node.clock, started_us);
        let say = |told: &mut _| tell(statement, told);
        session.logged = Pending::begin(&node.query_log, since, client, said, say);
    }
}

/// Makes tables in memory of the system relations that a statement reads, for as long as it is done.
async fn read_relations(
    node: &Node,
    session: &mut Session,
    statement: &Statement,
    text: Option<&str>,
) -> Result<(), Failure> {
    let mut names = Vec::new();
    statement.each_table(&mut |name| {
        let related = tables_of(name).filter(|name| name.contains('.'));
        names.extend(related);
    });
    names.sort_unstable();
    names.dedup();
    if names.is_empty() {
        return Ok(());
    }
    for name in names {
        let relation = relations::find(name);
        let relation = relation.ok_or_else(|| engine::Error::NoSuchTable(name.to_owned()))?;
        let search = node.list(session, text.unwrap_or(name).to_owned());
        let table = relation.table(node, session, &search.interrupt).await?;
        let memory = &node.table_memory;
        session
            .temporary
            .add_relation(memory, relation.name, table)?;
    }
    Ok(())
}

/// Memory for the sets that are made of `numbers` numbers in lists of variables; `None`: they are few. The numbers of a written
/// list take it when they are parsed.
fn listed(node: &Node, numbers: usize) -> Result<Option<Grant>, Failure> {
    if numbers as u64 <= ROWS_INLINE_MAX {
        return Ok(None);
    }
    let held = node.budget.grant();
    held.cover(numbers.saturating_mul(LISTED_NUMBER_BYTES))?;
    Ok(Some(held))
}

/// A statement that is being done.
struct Execution<'a> {
    node: &'a Node,
    session: &'a mut Session,
    /// Where its steps are noted; `None`: nobody asked for them.
    profile: Option<Arc<Profile>>,
    fault: Option<ReadFault>,
    text: Option<Arc<str>>,
    /// Whether its values hold memory of the budget. Compiling so large a statement takes long, so it goes off the event loop.
    is_large: bool,
    /// The engine's answer to its one command, if the engine has it already.
    answered: Option<Box<Result<Reply, engine::Error>>>,
    /// What its SELECTs share, where it has several.
    shared: Option<select::Shared>,
    /// Whether a column of one of its SELECTs may take long: [`FoundRows::is_costly`].
    is_costly: bool,
}

impl Execution<'_> {
    async fn run(&mut self, statement: Statement) -> Result<Outcome, Failure> {
        if !matches!(statement, Statement::Select(_) | Statement::Insert(_)) {
            self.session.owned_row = None;
        }
        if temporary::table_of(&statement).is_some_and(|it| self.session.temporary.has(it)) {
            return self.of_temporary(statement).await;
        }
        if transaction::commits(&statement) {
            self.commit().await?;
        }
        match statement {
            Statement::Empty => Err(Failure::new(errors::EMPTY_STATEMENT, "query was empty")),
            Statement::Select(select) => self.select(select).await,
            Statement::Explain(select) => Box::pin(self.explain(*select)).await,
            Statement::Queue { call, name } => self.queue(call, &name).await,
            Statement::SelectWaiting { wait, select } => self.select_waiting(wait, select).await,
            Statement::QueueNext(next) => self.queue_next(next).await,
            Statement::QueueDone => self.write_within(Command::QueueEnd).await,
            Statement::QueuePause { .. } => self.queue_pause(statement).await,
            Statement::QueuePurge { table } => self.write(Command::QueuePurge { table }).await,
            // Large and rare futures are boxed: the future of every statement has room for the largest that is not.
            Statement::Update(update) => Box::pin(self.update(Box::new(update))).await,
            Statement::Installed => Ok(Outcome::NOTHING),
            Statement::Insert(_) | Statement::Delete(_) => self.change_rows(statement).await,
            Statement::Upsert { insert, known } => {
                self.write_within(Command::Write(Write::Upsert { insert, known }))
                    .await
            }
            Statement::InsertSelect {
                insert,
                known,
                select,
            } => Box::pin(self.insert_select(insert, known, *select)).await,
            Statement::Truncate { .. } => self.truncate(statement).await,
            Statement::PqBackfill { table, id, days } => self.backfill(&table, id, days).await,
            Statement::CreateTable(_)
            | Statement::CreateLike { .. }
            | Statement::AlterTable { .. }
            | Statement::RenameTables(_)
            | Statement::AlterLocals { .. } => self.define(statement).await,
            Statement::DropTable { .. } => self.drop_tables(statement).await,
            Statement::CallPq {
                table,
                documents,
                options,
            } => self.call_pq(&table, &documents, options).await,
            Statement::CallAttribution(call) => Box::pin(self.call_attribution(call)).await,
            Statement::Backup { to } => self.write(Command::Backup { to }).await,
            Statement::Flush { tables } => self.write(Command::Flush { tables }).await,
            Statement::Optimize { table } => self.write(Command::Optimize { table }).await,
            Statement::Begin => self.begin().await,
            Statement::Commit => self.commit().await,
            Statement::Rollback => self.rollback().await,
            Statement::Set(assignments) => self.set(assignments).await,
            Statement::Use(database) => self.use_database(database),
            Statement::Kill {
                connection,
                query_only,
            } => self.kill(connection, query_only),
            Statement::CreateTemporary(create) => Box::pin(self.create_temporary(create)).await,
            Statement::SelectConstants(_)
            | Statement::Joined(_)
            | Statement::Union(_)
            | Statement::Faceted(_) => self.read_rows(statement).await,
            Statement::Show(show) => Box::pin(self.show(show)).await,
            Statement::ExplainQuery { table, text } => self.explain_query(&table, &text),
            Statement::Timed { .. } => Err(unexpected()), // `settle` has put its values into rows
        }
    }

    async fn define(&mut self, statement: Statement) -> Result<Outcome, Failure> {
        let command = translate::define(self.node, self.session, statement)?;
        self.write(command).await
    }

    fn use_database(&mut self, database: String) -> Result<Outcome, Failure> {
        self.session.use_database(database)?;
        Ok(Outcome::NOTHING)
    }

    /// A SELECT of any kind.
    async fn read_rows(&mut self, select: Statement) -> Result<Outcome, Failure> {
        match select {
            Statement::Select(select) => self.select(select).await,
            Statement::Joined(select) => Box::pin(self.joined(*select)).await,
            Statement::Union(union) => Box::pin(self.union(*union)).await,
            Statement::Faceted(faceted) => Box::pin(self.faceted(*faceted)).await,
            Statement::SelectConstants(items) => {
                if constants::may_take_long(&items) {
                    self.node.long(self.session).await;
                }
                constants::select(self.node, self.session, items)
            }
            _ => Err(unexpected()),
        }
    }

    /// INSERT, REPLACE or DELETE of rows that the statement names; the engine may have it already.
    async fn change_rows(&mut self, statement: Statement) -> Result<Outcome, Failure> {
        if let Some(answered) = self.answered.take() {
            return self.written((*answered)?);
        }
        let command = translate::write(self.node, self.session, statement)?;
        self.write_within(command).await
    }

    async fn queue_pause(&mut self, pause: Statement) -> Result<Outcome, Failure> {
        let Statement::QueuePause {
            table,
            group,
            paused,
        } = pause
        else {
            return Err(unexpected());
        };
        let command = Command::QueuePause {
            table,
            group,
            paused,
        };
        self.write(command).await
    }

    /// TRUNCATE reports no affected rows, as in MySQL.
    async fn truncate(&mut self, statement: Statement) -> Result<Outcome, Failure> {
        let command = translate::write(self.node, self.session, statement)?;
        self.write(command).await?;
        Ok(Outcome::NOTHING)
    }

    async fn submit(&mut self, command: Command) -> Result<Reply, Failure> {
        Ok(self.submit_raw(command).await??)
    }

    /// The engine's answer to a command; it may be there already. The inner error is the engine's.
    async fn submit_raw(
        &mut self,
        command: Command,
    ) -> Result<Result<Reply, engine::Error>, Failure> {
        match self.answered.take() {
            Some(answered) => Ok(*answered),
            None => self.node.submit_raw(self.session, command).await,
        }
    }

    /// A write that is part of the transaction, if there is one.
    async fn write_within(&mut self, command: Command) -> Result<Outcome, Failure> {
        let command = self.session.within(command);
        self.write(command).await
    }

    async fn write(&mut self, command: Command) -> Result<Outcome, Failure> {
        let reply = match command.reads_rows_of() {
            Some(_) if self.answered.is_none() => Box::pin(self.by_condition(command)).await?,
            Some(_) | None => self.submit(command).await?,
        };
        self.written(reply)
    }

    /// Finds the documents of a backfill here, from a snapshot, and sends them to the engine piece by piece.
    async fn backfill(
        &mut self,
        table: &str,
        query_id: u64,
        days: Option<u64>,
    ) -> Result<Outcome, Failure> {
        let now = self.node.now();
        let reads = Action(Deed::Read, Some(table));
        let snapshot = self.node.snapshot(self.session, reads)?;
        let request = self.search_request(table);
        let search = pq::watched(self.node, request);
        let interrupt = &search.interrupt;
        let find = || Ok(snapshot.backfill(table, query_id, days, now, interrupt)?);
        self.node.long_within(self.session, interrupt).await;
        let pieces = guarded(self.node, find)?;
        let mut put = 0;
        for piece in pieces {
            match self.submit(Command::Write(Write::Backfill(piece))).await? {
                Reply::Done { affected, .. } => put += affected,
                _ => return Err(unexpected()),
            }
        }
        self.session.wrote(put, Vec::new(), Vec::new());
        Ok(Outcome::Done {
            affected: put,
            last_id: 0,
        })
    }

    fn kill(&self, connection: u64, query_only: bool) -> Result<Outcome, Failure> {
        let maintains = Action(Deed::Maintain, None);
        self.node.permit(self.session, maintains)?;
        let there = if query_only {
            self.node.kill_search(connection)
        } else {
            self.node.kill(connection)
        };
        if there {
            return Ok(Outcome::NOTHING);
        }
        Err(Failure::new(
            errors::UNKNOWN_THREAD,
            format!("no connection {connection}"),
        ))
    }
}

/// The error for a reply of the engine that does not fit its command: a bug.
pub fn unexpected() -> Failure {
    Failure::new(
        errors::INTERNAL,
        "internal error: unexpected reply of the engine",
    )
}

fn count(node: &Node, statement: &Statement) {
    let counters = &node.counters;
    let counter = match statement {
        Statement::Explain(_) => &counters.selects,
        Statement::Select(_)
        | Statement::Joined(_)
        | Statement::Union(_)
        | Statement::Faceted(_) => &counters.selects,
        Statement::Insert(Insert { replace: false, .. }) => &counters.inserts,
        Statement::Insert(Insert { replace: true, .. }) => &counters.replaces,
        Statement::Upsert { insert, .. } | Statement::InsertSelect { insert, .. } => {
            match insert.replace {
                true => &counters.replaces,
                false => &counters.inserts,
            }
        }
        Statement::Update(_) => &counters.updates,
        Statement::Delete(_) | Statement::Truncate { .. } => &counters.deletes,
        Statement::CallPq { .. } => &counters.call_pqs,
        Statement::Queue { .. }
        | Statement::SelectWaiting { .. }
        | Statement::QueueNext(_)
        | Statement::QueueDone => &counters.queue_calls,
        Statement::Show(show) if show.kind == ShowKind::Status => &counters.statuses,
        Statement::Set(_) => &counters.sets,
        Statement::Empty
        | Statement::SelectConstants(_)
        | Statement::QueuePause { .. }
        | Statement::QueuePurge { .. }
        | Statement::CreateTable(_)
        | Statement::CreateLike { .. }
        | Statement::AlterTable { .. }
        | Statement::Timed { .. }
        | Statement::RenameTables(_)
        | Statement::AlterLocals { .. }
        | Statement::Installed
        | Statement::CreateTemporary(_)
        | Statement::DropTable { .. }
        | Statement::CallAttribution(_)
        | Statement::PqBackfill { .. }
        | Statement::Backup { .. }
        | Statement::Flush { .. }
        | Statement::Optimize { .. }
        | Statement::Show(_)
        | Statement::ExplainQuery { .. }
        | Statement::Begin
        | Statement::Commit
        | Statement::Rollback
        | Statement::Use(_)
        | Statement::Kill { .. } => &counters.others,
    };
    add(counter, 1);
}
