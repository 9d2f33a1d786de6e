//! SELECT on tables: on which thread it runs, its time limit, and how it is listed for KILL.

use std::sync::Arc;
use std::time::Duration;

use engine::{Answer, Command, Control, Interrupt, Kind, Memory, OnDamage, Reason, Seen, Snapshot};
use query::options::Options;
use query::request::Select;

use super::{Execution, FoundRows, Outcome, guarded, owned_row};
use crate::budget::Grant;
use crate::errors::Failure;
use crate::faults::ReadFault;
use crate::limits::{MATCH_INLINE_BYTES, ROWS_INLINE_MAX, SHOWN_STATEMENT_BYTES};
use crate::rights::{Action, Deed};
use crate::searches::{Search, SearchRequest};

/// The tables that a SELECT reads.
enum Tables {
    /// As every session sees them.
    Published(Arc<Snapshot>),
    /// With what the session's transaction has written.
    Own(Seen),
}

/// The beginning of a statement, for SHOW THREADS.
pub(super) fn shown(text: &[u8]) -> Arc<str> {
    let text = &text[..text.len().min(SHOWN_STATEMENT_BYTES)];
    String::from_utf8_lossy(text).trim().into()
}

impl Execution<'_> {
    /// Does a SELECT. Search and pq tables are read here, from a snapshot. A queue is read by the engine, because the rows
    /// that a connection sees depend on the rows that it owns.
    pub(super) async fn select(&mut self, select: Select) -> Result<Outcome, Failure> {
        let options = Options::parse(&select.options);
        let options = options.map_err(|error| Failure::refused(error.to_string()))?;
        let reads = Action(Deed::Read, Some(&select.table));
        let snapshot = self.node.snapshot(self.session, reads)?;
        let upheavals = self.node.engine()?.upheavals();
        if let Some(answer) = owned_row::answer(&self.session.owned_row, &select, upheavals) {
            return Ok(self.counted(answer, select.table, None, None));
        }
        let held = Arc::new(self.node.budget.grant());
        let kind = snapshot.definition(&select.table)?.kind.clone();
        let tables = match &kind {
            Kind::Queue(_) => None,
            _ => self.own_tables(&select.table).await?,
        };
        let tables = tables.map_or(Tables::Published(snapshot), Tables::Own);
        let (answer, search) = match kind {
            Kind::Search(_) | Kind::Distributed { .. } => {
                // Without LIMIT a search gives few rows, or rows that the statement names by id.
                let rows = select.limit.map_or(0, |rows| rows as usize);
                let _turn = self.node.turn(Some(rows)).await;
                let (answer, search) = self.search(&tables, &select, &options, &held)?;
                (answer, Some(search))
            }
            Kind::Percolate { .. } => {
                let control = Control {
                    memory: self.memory(&held),
                    ..Control::default()
                };
                let _turn = self.node.turn(select.limit.map(|rows| rows as usize)).await;
                let read = || self.read(&tables, &select, &options, &control);
                (tokio::task::block_in_place(read)?, None)
            }
            Kind::Queue(_) => {
                let table = select.table.clone();
                let select = Box::new(select);
                let command = match self.session.engine_has_part() {
                    true => self.session.within(Command::Read { select }),
                    false => Command::Read { select },
                };
                let reply = self.submit(command).await?;
                let memory = self.memory(&held);
                let answer = self.node.rows_of(reply, &memory).await?;
                return Ok(self.counted(answer, table, None, Some(held)));
            }
        };
        let matching = select.matching.is_some();
        let outcome = self.counted(answer, select.table, search, Some(held));
        if let Some(most) = options.rows_max(matching) {
            self.session.has_at_most(most);
        }
        Ok(outcome)
    }

    fn counted(
        &mut self,
        answer: Answer,
        table: String,
        search: Option<Search>,
        held: Option<Arc<Grant>>,
    ) -> Outcome {
        self.session.found(&answer);
        Outcome::Rows(FoundRows {
            answer,
            table,
            counted: true,
            search,
            held,
        })
    }

    /// Searches on this thread, which also serves sockets: most searches end before another thread would have begun. A
    /// search that takes longer calls [`Control::long`]; tokio then moves the sockets to another thread.
    fn search(
        &mut self,
        tables: &Tables,
        select: &Select,
        options: &Options,
        held: &Arc<Grant>,
    ) -> Result<(Answer, Search), Failure> {
        let bounds = self.node.bounds();
        let started_us = self.session.started_us;
        let time_us = bounds.query_time_max.map(|time| time.as_micros() as u64);
        let asked_us = (options.max_query_time_ms > 0)
            .then(|| options.max_query_time_ms.saturating_mul(1_000));
        let search = self.node.searches.begin(SearchRequest {
            until_us: least(time_us, asked_us).map(|us| started_us.saturating_add(us)),
            ..self.search_request(&select.table)
        });
        let threads = (options.threads > 0).then_some(options.threads as usize);
        let control = Control {
            interrupt: Arc::clone(&search.interrupt),
            pool: self.node.searches.pool.clone(),
            threads: least(bounds.threads_per_query_max, threads),
            long: |work| tokio::task::block_in_place(work),
            on_damage: OnDamage::Skip,
            memory: self.memory(held),
            filters: Some(Arc::clone(&self.node.searches.filters)),
            ..Control::default()
        };
        let read = || self.read(tables, select, options, &control);
        // Compiling many words, or gathering and sorting many rows, takes long even if the search itself is short.
        let words = select.matching.as_ref().map_or(0, String::len);
        let is_long = self.is_large
            || words > MATCH_INLINE_BYTES
            || select.limit.is_some_and(|rows| rows > ROWS_INLINE_MAX);
        let mut answer = match is_long {
            true => tokio::task::block_in_place(read)?,
            false => read()?,
        };
        search.found();
        if answer.partial == Some(Reason::Time) {
            let cut =
                "the answer is partial: max_query_time was over before every row was looked at";
            answer.warnings.push(cut.to_owned());
        }
        Ok((answer, search))
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

    fn read(
        &self,
        tables: &Tables,
        select: &Select,
        options: &Options,
        control: &Control,
    ) -> Result<Answer, Failure> {
        guarded(self.node, || {
            let panics = self.fault == Some(ReadFault::Panic);
            assert!(!panics, "SEINE_FAULTS asked for a panic in this read");
            if self.fault == Some(ReadFault::Hold) {
                (control.long)(&mut || hold(&control.interrupt));
            }
            Ok(match tables {
                Tables::Published(snapshot) => snapshot.select(select, options, control)?,
                Tables::Own(seen) => seen.select(select, options, control)?,
            })
        })
    }
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
