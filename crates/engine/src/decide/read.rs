//! SELECT on pq and queue tables. Only the engine's thread knows which rows of a queue are owned. Where a SELECT looks at
//! many rows, the engine hands out the state of the rows, and the reader's thread scans them.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use index::{Control, Interrupt, Memory, Reason};
use language::meter::Meter;
use percolate::StandingQuery;
use queue::{Queue, QueueSnapshot, RowNumber, RowReader};
use relation::bind::{BoundSelect, Ids, Scope};
use relation::expression::Expression;
use relation::options::Options;
use relation::request::{Item, Output, Select};
use relation::row::counted_bytes;
use relation::rows::{BoxedRows, Scan, scan};
use relation::source::{Asked, Copied, Shape, Source};
use relation::value::Value;

use super::check_between;
use crate::command::{Answer, Definition, Reading, Reply, Rows};
use crate::error::{Error, Result};
use crate::failure;
use crate::limits::{
    ANSWER_BYTES_HERE_MAX, ANSWER_BYTES_MAX, BYTES_A_UNIT, DECIDED_UNITS_MAX, ROW_UNITS,
    SCANNED_ROWS_MAX,
};
use crate::sessions::Owned;
use crate::state::State;
use crate::table::standing::lost::LostQueries;
use crate::table::standing::row::QueryColumns;

/// Answers a SELECT, or says how it is answered where that takes long. `owner`: the session is in owner mode.
///
/// # Errors
/// `NoSuchTable`, `UnknownColumn`; `Invalid` for MATCH or weight(); `SearchMemory`; `Corrupt`.
pub(crate) fn read(state: &State, owner: Option<&Owned>, select: &Select) -> Result<Reply> {
    let table = state.catalog.find(&select.table)?;
    if let Some(pq) = state.percolates.get(&table) {
        let queries = Queries {
            table: &pq.definition.name,
            lost: &pq.lost,
            control: &within(ANSWER_BYTES_MAX),
        };
        let (len, by_id) = (pq.set.len() as u64, |id| pq.set.get(id));
        let answer = queries.select(select, len, pq.set.iter(), by_id);
        return answer.map(Reply::Rows);
    }
    let Some(queue) = state.queues.get(&table) else {
        return Err(Error::internal("search tables are read from a snapshot"));
    };
    let here = Control {
        interrupt: Arc::new(Interrupt::with_units(DECIDED_UNITS_MAX)),
        ..within(ANSWER_BYTES_HERE_MAX)
    };
    let owned = owner.map(|owned| owned.rows_of(table));
    let count = seen(queue, owned);
    let is_short = rows_seen(select, count) <= SCANNED_ROWS_MAX && !is_costly(select);
    let answer = is_short.then(|| {
        let rows = queue.visible_rows(owned);
        queue_rows(queue.rows(), select, count, rows, &here)
    });
    or_there(answer, || {
        let (source, select) = (
            source_of(state, queue, &select.table, owned),
            select.clone(),
        );
        Reading::new(move |control| source?.select(&select, control))
    })
}

/// The rows of a queue that a session sees, for a reader on another thread. `owner`: as for [`read`].
///
/// # Errors
/// `NoSuchTable`; `Invalid` for a table of another type.
pub(crate) fn source(state: &State, owner: Option<&Owned>, table: &str) -> Result<QueueSource> {
    let id = state.catalog.find(table)?;
    let queue = state.queues.get(&id);
    let queue = queue.ok_or_else(|| Error::invalid(format!("'{table}' is no queue")))?;
    source_of(state, queue, table, owner.map(|owned| owned.rows_of(id)))
}

/// The rows that a session in owner mode owns, with the lane that it has them from.
type OwnRows<'a> = Option<(usize, &'a [RowNumber])>;

fn source_of(state: &State, queue: &Queue, name: &str, owned: OwnRows<'_>) -> Result<QueueSource> {
    Ok(QueueSource {
        definition: state.catalog.named(name)?,
        snapshot: queue.snapshot(),
        owned: owned.map(|owned| queue.visible_rows(Some(owned)).collect()),
        count: seen(queue, owned),
    })
}

/// How many rows of a queue a session sees.
fn seen(queue: &Queue, owned: OwnRows<'_>) -> u64 {
    match owned {
        Some(owned) => queue.visible_rows(Some(owned)).count() as u64,
        None => queue.backlog.len() - queue.held_live(),
    }
}

/// An answer that was made here; or how its asker makes it, where none was, or it takes more memory or units than are spent here.
fn or_there(answer: Option<Result<Answer>>, there: impl FnOnce() -> Reading) -> Result<Reply> {
    match answer {
        None | Some(Err(Error::SearchMemory { .. } | Error::BudgetSpent)) => {
            Ok(Reply::Reading(there()))
        }
        Some(answer) => answer.map(Reply::Rows),
    }
}

/// Whether an expression of a SELECT may take a second a row, for which all writes would wait: it has a call, a condition on a
/// list or a path.
fn is_costly(select: &Select) -> bool {
    let items = select.items.iter().filter_map(|item| match item {
        Item::Value { what, .. } => Some(what),
        Item::Star | Item::TableStar(_) => None,
    });
    let outputs = items.chain(select.order.iter().map(|by| &by.key));
    let expressions = outputs.filter_map(|output| match output {
        Output::Expression(expression) => Some(expression),
        Output::Weight | Output::Count => None,
    });
    let mut all = expressions.chain(&select.filter);
    all.any(Expression::may_take_long)
}

fn is_count(item: &Item) -> bool {
    matches!(
        item,
        Item::Value {
            what: Output::Count,
            ..
        }
    )
}

/// How many rows of a queue a SELECT looks at.
fn rows_seen(select: &Select, rows: u64) -> u64 {
    if select.filter.is_some() || !select.order.is_empty() {
        return rows;
    }
    if select.items.iter().any(is_count) {
        return 0;
    }
    let wanted = select.limit.unwrap_or(u64::MAX);
    rows.min(wanted.saturating_add(select.offset))
}

/// Answers a SELECT on a queue. `rows`: those that are seen, in order; `count`: how many.
fn queue_rows(
    reader: RowReader<'_>,
    select: &Select,
    count: u64,
    rows: impl Iterator<Item = RowNumber>,
    control: &Control,
) -> Result<Answer> {
    let scope = reader.scope();
    let row = |row| {
        let values = reader.values(row)?.unwrap_or_default();
        control.spend(ROW_UNITS + counted_bytes(&values) / BYTES_A_UNIT)?;
        Ok(values)
    };
    let source = QueueRows { control };
    let rows = until_stopped(control, rows.map(row));
    answer(reader.name, select, &scope, &source, count, rows)
}

/// The rows of a queue that one session saw at one moment.
pub(crate) struct QueueSource {
    definition: Arc<Definition>,
    snapshot: QueueSnapshot,
    /// Those of a session in owner mode; `None`: those that nobody holds.
    owned: Option<Vec<RowNumber>>,
    count: u64,
}

impl QueueSource {
    /// Answers a SELECT on it alone.
    fn select(&self, select: &Select, control: &Control) -> Result<Answer> {
        let (reader, count) = (self.snapshot.rows(), self.count);
        match &self.owned {
            Some(rows) => queue_rows(reader, select, count, rows.iter().copied(), control),
            None => queue_rows(reader, select, count, self.snapshot.free_rows(), control),
        }
    }
}

impl Source for QueueSource {
    type Error = Error;
    type Control = Control;

    fn shape(&self) -> Shape {
        self.definition.shape()
    }

    fn count(&self) -> u64 {
        self.count
    }

    fn locate(&self, asked: &Asked<'_>, control: &Control) -> Result<BoxedRows<Error>> {
        let shape = self.shape();
        let answer = self.select(&asked.copying(&shape), control)?;
        let rows = answer.rows.collect::<Result<_>>()?;
        Ok(Arc::new(Copied::new(
            rows,
            shape.columns.len(),
            asked.needed,
        )))
    }
}

/// Rows of a queue, each its values.
struct QueueRows<'c> {
    control: &'c Control,
}

impl Scan<Vec<Value>> for QueueRows<'_> {
    type Error = Error;

    fn value(&self, row: &Vec<Value>, slot: usize) -> Value {
        row.get(slot).cloned().unwrap_or(Value::Null)
    }

    fn bytes(&self, row: &Vec<Value>) -> u64 {
        counted_bytes(row) + size_of_val(row.as_slice()) as u64
    }

    fn take(&self, bytes: u64) -> Result<()> {
        self.control.memory.take(bytes).map_err(failure::of_index)
    }

    fn check(&self) -> Result<()> {
        check_between(self.control)
    }

    fn meter(&self) -> &dyn Meter {
        &*self.control.interrupt
    }
}

/// The queries of a pq table, as one SELECT reads them.
pub(crate) struct Queries<'a> {
    pub(crate) table: &'a str,
    pub(crate) lost: &'a LostQueries,
    pub(crate) control: &'a Control,
}

impl Queries<'_> {
    /// Answers a SELECT. `len`: how many there are; `all`: those, by id; `by_id`: one of them.
    ///
    /// # Errors
    /// `UnknownColumn`; `Invalid` for MATCH or weight(); `NotYet` for tags in another comparison than `=` and IN; `SearchMemory`,
    /// `Overloaded`; `Corrupt` for a count or a look-up by id
    /// that a query which cannot be read belongs to. Any other answer names the damaged files.
    pub(crate) fn select<'q>(
        &self,
        select: &Select,
        len: u64,
        all: impl Iterator<Item = &'q Arc<StandingQuery>>,
        by_id: impl Fn(u64) -> Option<&'q Arc<StandingQuery>>,
    ) -> Result<Answer> {
        let (columns, select) = QueryColumns::of_select(select);
        let select = &*select;
        let source = QueryRows {
            columns: &columns,
            control: self.control,
        };
        let scope = columns.scope();
        if select.items.iter().any(is_count) {
            self.lost.check(self.table)?;
        }
        match select.filter.as_ref().and_then(Ids::of) {
            Some(named) => {
                self.lost.check_ids(self.table, &named.ids)?;
                let named = named.ids.iter().filter_map(|id| by_id(*id)).map(Ok);
                let named = until_stopped(self.control, named);
                answer(self.table, select, &scope, &source, len, named)
            }
            None => {
                let all = until_stopped(self.control, all.map(Ok));
                let answer = answer(self.table, select, &scope, &source, len, all)?;
                Ok(self.lacking(answer))
            }
        }
    }
}

impl Queries<'_> {
    /// The answer, which says that queries are missing, if any are.
    fn lacking(&self, answer: Answer) -> Answer {
        if self.lost.is_empty() {
            return answer;
        }
        Answer {
            rows: answer.rows.noting(self.lost.damaged(self.table)),
            partial: answer.partial.or(Some(Reason::Damage)),
            ..answer
        }
    }
}

struct QueryRows<'a> {
    columns: &'a QueryColumns,
    control: &'a Control,
}

impl<'q> Scan<&'q Arc<StandingQuery>> for QueryRows<'_> {
    type Error = Error;

    fn value(&self, query: &&'q Arc<StandingQuery>, slot: usize) -> Value {
        self.columns.value(query, slot)
    }

    fn bytes(&self, _: &&'q Arc<StandingQuery>) -> u64 {
        size_of::<usize>() as u64
    }

    fn take(&self, bytes: u64) -> Result<()> {
        self.control.memory.take(bytes).map_err(failure::of_index)
    }

    fn check(&self) -> Result<()> {
        check_between(self.control)
    }

    fn meter(&self) -> &dyn Meter {
        &*self.control.interrupt
    }
}

/// The bounds of a read on the engine's thread.
fn within(bytes_max: u64) -> Control {
    Control {
        memory: Arc::new(Memory::new(bytes_max)),
        ..Control::default()
    }
}

/// The rows, with an error once the read is stopped: a condition may take a second a row.
fn until_stopped<R>(
    control: &Control,
    rows: impl Iterator<Item = Result<R>>,
) -> impl Iterator<Item = Result<R>> {
    rows.map(|row| {
        check_between(control)?;
        row
    })
}

/// Answers a SELECT on rows that are not searched.
fn answer<R, S: Scan<R, Error = Error>>(
    table: &str,
    select: &Select,
    scope: &Scope<'_>,
    source: &S,
    count: u64,
    rows: impl Iterator<Item = Result<R>>,
) -> Result<Answer> {
    let bound = BoundSelect::new(select, &Options::default(), scope);
    let bound = bound.map_err(|error| failure::of_bind(table, error))?;
    let found = scan(&bound, source, count, rows)?;
    Ok(Answer {
        columns: bound.headers,
        kept: bound.kept,
        rows: Rows::ready(found.rows),
        total_found: found.total,
        keywords: Vec::new(),
        warnings: Vec::new(),
        partial: None,
        scroll: None,
    })
}
