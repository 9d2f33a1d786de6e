//! SELECT on tables: on which thread it runs, its time limit, and how it is listed for KILL.

use std::sync::Arc;
use std::time::Duration;

use engine::{
    Answer, Command, Control, Interrupt, Kind, Memory, OnDamage, Reason, Reply, Seen, Snapshot,
};
use relation::bind::{self, Ids};
use relation::expression::Expression;
use relation::options::Options;
use relation::request::{Item, JoinedSelect, OrderBy, Output, Select, tables_of};

use super::{Execution, FoundRows, Outcome, join, owned_row};
use crate::budget::Grant;
use crate::errors::Failure;
use crate::faults::ReadFault;
use crate::limits::{MATCH_INLINE_BYTES, ROWS_INLINE_MAX, SHOWN_STATEMENT_BYTES};
use crate::rights::{Action, Deed};
use crate::searches::{Search, SearchRequest};

/// What the SELECTs of one statement share: they read the same tables, in one memory, until one switch stops them.
#[derive(Clone)]
pub(super) struct Shared {
    pub(super) seen: Seen,
    pub(super) held: Arc<Grant>,
    pub(super) interrupt: Arc<Interrupt>,
}

/// The beginning of a statement, for SHOW THREADS.
pub(super) fn shown(text: &[u8]) -> Arc<str> {
    let text = &text[..text.len().min(SHOWN_STATEMENT_BYTES)];
    String::from_utf8_lossy(text).trim().into()
}

impl Execution<'_> {
    /// Does a SELECT. Search and pq tables are read here, from a snapshot. A queue is read by the engine, because the rows
    /// that a connection sees depend on the rows that it owns.
    pub(super) async fn select(&mut self, mut select: Select) -> Result<Outcome, Failure> {
        let options = Options::parse(&select.options);
        let options = options.map_err(|error| Failure::refused(error.to_string()))?;
        self.is_costly |= may_take_long(&select.items);
        let snapshot = self.to_read(&select.table)?;
        let upheavals = self.node.engine()?.upheavals();
        if self.session.owned_row.is_some() && self.is_costly {
            self.node.long(self.session).await;
        }
        if let Some(answer) = owned_row::answer(&self.session.owned_row, &select, upheavals) {
            return Ok(self.counted(answer, select.table, None, None));
        }
        if self.session.temporary.has(&select.table) {
            return Box::pin(self.joined(JoinedSelect::of(select))).await;
        }
        let held = match &self.shared {
            Some(shared) => Arc::clone(&shared.held),
            None => Arc::new(self.node.budget.grant()),
        };
        let kind = snapshot.definition(&select.table)?.kind.clone();
        let tables = match (&self.shared, &kind) {
            (Some(shared), _) => shared.seen.clone(),
            (None, Kind::Queue(_)) => Seen::new(snapshot),
            (None, _) => {
                let own = self.own_tables_of(&select).await?;
                own.unwrap_or_else(|| Seen::new(snapshot))
            }
        };
        if options.scroll.is_some() && !matches!(kind, Kind::Search(_) | Kind::Distributed { .. }) {
            return Err(no_pages());
        }
        // Search tables bound their pages themselves: a look-up by ids has no bound.
        if matches!(kind, Kind::Percolate { .. } | Kind::Queue(_)) {
            select.limit = limit_within(&select, &options)?;
        }
        let (matching, table) = (select.matching.is_some(), select.table.clone());
        let (answer, search) = match kind {
            Kind::Search(_) | Kind::Distributed { .. } => {
                self.search(&tables, &select, &options, &held).await?
            }
            Kind::Percolate { .. } => {
                let (_search, interrupt) = self.switch(&select.table, &options);
                let control = self.control(interrupt, &options, &held);
                let fault = self.fault;
                let read = || read(fault, &tables, &select, &options, &control);
                let node = self.node;
                let answer = node.read(self.session, &control.interrupt, true, read);
                (answer.await?, None)
            }
            Kind::Queue(_) => (self.of_queue(select, &options, &held).await?, None),
        };
        let outcome = self.counted(answer, table, search, Some(held));
        if let Some(most) = options.rows_max(matching) {
            self.session.has_at_most(most);
        }
        Ok(outcome)
    }

    /// The rows of a queue.
    async fn of_queue(
        &mut self,
        select: Select,
        options: &Options,
        held: &Arc<Grant>,
    ) -> Result<Answer, Failure> {
        let table = select.table.clone();
        let select = Box::new(select);
        let command = match self.session.engine_has_part() {
            true => self.session.within(Command::Read { select }),
            false => Command::Read { select },
        };
        match self.submit(command).await? {
            Reply::Rows(answer) => Ok(answer),
            reply => {
                let (_search, interrupt) = self.switch(&table, options);
                let control = self.control(interrupt, options, held);
                Ok(self.node.rows_of(self.session, reply, &control).await?)
            }
        }
    }

    /// The published snapshot, to read a table, or several as one.
    ///
    /// # Errors
    /// `NOT_PERMITTED`; `RECOVERING`; `INVALID` for a temporary table among several.
    pub(super) fn to_read(&self, name: &str) -> Result<Arc<Snapshot>, Failure> {
        let is_temporary = |table: &&str| *table != name && self.session.temporary.has(table);
        if let Some(table) = tables_of(name).find(is_temporary) {
            return Err(Failure::refused(format!(
                "'{table}' is no search table: only these are searched as one, use JOIN or UNION ALL"
            )));
        }
        self.node
            .snapshot(self.session, Action(Deed::Read, Some(name)))
    }

    pub(super) fn counted(
        &mut self,
        answer: Answer,
        table: String,
        search: Option<Search>,
        held: Option<Arc<Grant>>,
    ) -> Outcome {
        self.session.found(&answer);
        Outcome::Rows(Box::new(FoundRows {
            answer,
            table,
            counted: true,
            search,
            held,
            is_costly: self.is_costly,
            members: Vec::new(),
        }))
    }

    /// Searches, on this thread while the search is short ([`crate::Node::read`]).
    async fn search(
        &mut self,
        tables: &Seen,
        select: &Select,
        options: &Options,
        held: &Arc<Grant>,
    ) -> Result<(Answer, Option<Search>), Failure> {
        let (own, interrupt) = self.switch(&select.table, options);
        let control = Control {
            on_damage: OnDamage::Skip,
            filters: Some(Arc::clone(&self.node.searches.filters)),
            ..self.control(interrupt, options, held)
        };
        let fault = self.fault;
        let read = || read(fault, tables, select, options, &control);
        // Compiling many words takes long even if the search itself is short. Without LIMIT a search gives few rows, or rows that
        // the statement names by id.
        let words = select.matching.as_ref().map_or(0, String::len);
        // A read that begins anew would note its steps twice.
        let is_long = self.is_large
            || self.profile.is_some()
            || evaluates_long(select)
            || words > MATCH_INLINE_BYTES
            || select.limit.is_some_and(|rows| rows > ROWS_INLINE_MAX)
            || self.fault == Some(ReadFault::Hold);
        let (node, session) = (self.node, &*self.session);
        let read = node.read(session, &control.interrupt, is_long, read);
        let mut answer = read.await?;
        if let Some(search) = &own {
            search.found();
        }
        if answer.partial == Some(Reason::Time) {
            let cut =
                "the answer is partial: max_query_time was over before every row was looked at";
            answer.warnings.push(cut.to_owned());
        }
        Ok((answer, own))
    }

    /// The switch of a read on `table`: that of the whole statement, or one of its own, listed as long as the search lives.
    fn switch(&mut self, table: &str, options: &Options) -> (Option<Search>, Arc<Interrupt>) {
        if let Some(shared) = &self.shared {
            return (None, Arc::clone(&shared.interrupt));
        }
        let own = self.begin_search(table, options);
        let interrupt = Arc::clone(&own.interrupt);
        (Some(own), interrupt)
    }

    /// Lists a search on `table` as running, with the time limit of its options.
    pub(super) fn begin_search(&mut self, table: &str, options: &Options) -> Search {
        let most_us = self.node.bounds().query_time_max;
        let most_us = most_us.map(|time| time.as_micros() as u64);
        let asked_us = (options.max_query_time_ms > 0)
            .then(|| options.max_query_time_ms.saturating_mul(1_000));
        let started_us = self.session.started_us;
        self.node.searches.begin(SearchRequest {
            until_us: least(most_us, asked_us).map(|us| started_us.saturating_add(us)),
            ..self.search_request(table)
        })
    }

    /// The bounds of a search: it refuses damage.
    pub(super) fn control(
        &self,
        interrupt: Arc<Interrupt>,
        options: &Options,
        held: &Arc<Grant>,
    ) -> Control {
        let threads = (options.threads > 0).then_some(options.threads as usize);
        Control {
            interrupt,
            pool: self.node.searches.pool.clone(),
            threads: least(self.node.bounds().threads_per_query_max, threads),
            memory: self.memory(held),
            profile: self.profile.clone(),
            ..Control::default()
        }
    }

    /// Memory for the rows that a SELECT finds, taken from the budget through `held`.
    pub(super) fn memory(&self, held: &Arc<Grant>) -> Arc<Memory> {
        let bytes_max = self.node.bounds().search_memory_bytes;
        Arc::new(held.for_rows(bytes_max))
    }

    /// The entry of this statement for SHOW THREADS and KILL, without a time limit. Without a text it is shown as `table`.
    pub(super) fn search_request(&mut self, table: &str) -> SearchRequest {
        SearchRequest {
            session: self.session.id.0,
            since_us: self.session.started_us,
            until_us: None,
            text: self.text.take().unwrap_or_else(|| table.into()),
            client: self.session.client.clone(),
        }
    }
}

/// Whether a SELECT works out expressions that may take long, over rows that it does not name by id, or that are long to prepare.
fn evaluates_long(select: &Select) -> bool {
    let condition = select.filter.as_ref();
    let compiles_long = |item: &Item| match item {
        Item::Value {
            what: Output::Expression(expression),
            ..
        } => expression.compiles_long(),
        Item::Value {
            what: Output::Weight | Output::Count,
            ..
        }
        | Item::Star
        | Item::TableStar(_) => false,
    };
    if condition.is_some_and(Expression::compiles_long) || select.items.iter().any(compiles_long) {
        return true;
    }
    if condition.is_some_and(|filter| Ids::of(filter).is_some()) {
        return false;
    }
    let is_long = |key: &OrderBy| match &key.key {
        Output::Expression(expression) => expression.may_take_long(),
        Output::Weight | Output::Count => false,
    };
    condition.is_some_and(Expression::may_take_long) || select.order.iter().any(is_long)
}

/// LIMIT, which ends at `max_matches` where that is written.
fn limit_within(select: &Select, options: &Options) -> Result<Option<u64>, Failure> {
    let Some(most) = options.max_matches else {
        return Ok(select.limit);
    };
    let limit = bind::within_matches(select.limit, select.offset, most);
    let refused = |error| join::refused(&[&*select.table], error);
    limit.map(Some).map_err(refused)
}

/// Reads a table, with the fault that a test asked for.
fn read(
    fault: Option<ReadFault>,
    tables: &Seen,
    select: &Select,
    options: &Options,
    control: &Control,
) -> Result<Answer, Failure> {
    let panics = fault == Some(ReadFault::Panic);
    assert!(!panics, "SEINE_FAULTS asked for a panic in this read");
    if fault == Some(ReadFault::Hold) {
        hold(&control.interrupt);
    }
    Ok(tables.select(select, options, control)?)
}

/// Whether a column of one row may take long.
pub(super) fn may_take_long(items: &[Item]) -> bool {
    items.iter().any(|item| match item {
        Item::Star | Item::TableStar(_) => false,
        Item::Value { what, .. } => match what {
            Output::Expression(expression) => expression.may_take_long(),
            Output::Weight | Output::Count => false,
        },
    })
}

/// The refusal of OPTION scroll where it would have no effect.
pub(super) fn no_pages() -> Failure {
    let message = "OPTION scroll is for the rows of search tables: not for joins, groups, UNION and other tables";
    Failure::refused(message.to_owned())
}

/// Waits until the search is stopped; for [`ReadFault::Hold`].
pub(super) fn hold(interrupt: &Interrupt) {
    while interrupt.reason().is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The smaller value, of those that are given.
fn least<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
