//! DELETE: it finds the rows that the condition chooses, and the record names them by id.
//!
//! A short one is decided here, within a budget ([`Workspace::within_budget`]). The rows of any other are chosen by a reader:
//! [`super::planned`].

use std::sync::Arc;

use index::Control;
use percolate::StandingQuery;
use queue::{Queue, RowNumber, RowReader};
use relation::bind::{Condition, Ids};
use relation::expression::{BinaryOperator, Expression, Metered};
use relation::options::Options;
use relation::request::{Delete, Item, OrderBy, Output, Select};
use relation::row::counted_bytes;
use relation::rows::{Best, Order, Sorted};
use relation::schema::text_names;
use relation::value::Value;

use super::{Decision, check_between, has_no_rows};
use crate::catalog::TableId;
use crate::command::{Kind, Reply};
use crate::error::{Error, Result};
use crate::failure;
use crate::limits::{BYTES_A_UNIT, DELETED_ROWS_MAX, NAMED_IDS_MAX, ROW_UNITS, SCANNED_ROWS_MAX};
use crate::record::{QueueRecord, Record};
use crate::sessions::Owned;
use crate::state::State;
use crate::table::search::SearchTable;
use crate::table::standing::row;

/// Units of a row of a queue that is not read.
const PASSED_ROW_UNITS: u64 = 20;

/// Decides a DELETE over the present state, whatever it costs.
pub(crate) fn whole(
    state: &mut State,
    control: &Control,
    (table, owner): (TableId, Option<&Owned>),
    delete: &Delete,
) -> Result<Decision> {
    if let Some(search) = state.searches.get_mut(&table) {
        return Ok(of_documents(table, documents(search, control, delete)?));
    }
    if let Some(pq) = state.percolates.get(&table) {
        if let Some(ids) = delete.filter.as_ref().and_then(named_ids) {
            let there = ids.into_iter().filter(|id| pq.contains(*id));
            let most = usize::try_from(delete.limit.unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
            return Ok(of_queries(table, there.take(most).collect()));
        }
        // Whether the condition holds for a query that cannot be read is not known.
        pq.lost.check(&pq.definition.name)?;
        let chosen = match delete.filter.as_ref().and_then(Ids::of) {
            Some(named) => {
                let named = named.ids.iter().filter_map(|id| pq.set.get(*id));
                queries(&delete.table, delete, named, delete.limit, control)?
            }
            None => queries(&delete.table, delete, pq.set.iter(), delete.limit, control)?,
        };
        let ids = chosen.iter().map(|query| query.id).collect();
        return Ok(of_queries(table, ids));
    }
    let Some(queue) = state.queues.get(&table) else {
        return Err(Error::NoSuchTable(delete.table.clone()));
    };
    check_owner(queue, owner)?;
    let visible = queue.visible_rows(owner.map(|owned| owned.rows_of(table)));
    let order = order_of(queue.rows(), delete)?;
    let mut rows = Vec::new();
    let mut best = Best::new(Arc::clone(&order), delete.limit);
    let limit = delete.limit.unwrap_or(u64::MAX);
    choose_rows(queue.rows(), delete, visible, control, &mut |row| {
        match order.is_empty() {
            true => rows.push(row.row),
            false => drop(best.offer(row, &*control.interrupt)),
        }
        Ok((rows.len() as u64) < limit)
    })?;
    let best = best.into_sorted(0, &*control.interrupt);
    control.check().map_err(failure::of_index)?;
    rows.extend(best.iter().flatten().map(|keyed| keyed.row));
    Ok(of_rows(table, rows))
}

/// Whether a DELETE may be decided on the engine's thread: it looks at few rows. What each costs only evaluation tells.
pub(crate) fn is_short(
    state: &State,
    (table, owner): (TableId, Option<&Owned>),
    delete: &Delete,
) -> bool {
    let named = delete.filter.as_ref().and_then(Ids::of);
    let names_few = named.is_some_and(|named| named.ids.len() <= NAMED_IDS_MAX);
    if let Some(search) = state.searches.get(&table) {
        let names_few = names_few && delete.matching.is_none();
        return names_few || search.table.rows_live() <= SCANNED_ROWS_MAX;
    }
    if let Some(pq) = state.percolates.get(&table) {
        return names_few || pq.set.len() as u64 <= SCANNED_ROWS_MAX;
    }
    let is_plain = delete.filter.is_none() && delete.order.is_empty();
    let takes_few = is_plain && delete.limit.is_some_and(|limit| limit <= SCANNED_ROWS_MAX);
    let queue = state.queues.get(&table);
    let rows = queue.map_or(0, |queue| queue.backlog.len());
    owner.is_some() || takes_few || rows <= SCANNED_ROWS_MAX
}

/// The decision that deletes documents.
pub(crate) fn of_documents(table: TableId, ids: Vec<u64>) -> Decision {
    let count = ids.len();
    giving_room(count, Record::DeleteDocuments { table, ids })
}

/// The decision that deletes standing queries.
pub(crate) fn of_queries(table: TableId, ids: Vec<u64>) -> Decision {
    let count = ids.len();
    giving_room(count, Record::DeleteQueries { table, ids })
}

/// The decision that removes rows of a queue, in any order.
pub(crate) fn of_rows(table: TableId, mut rows: Vec<RowNumber>) -> Decision {
    rows.sort_unstable();
    let count = rows.len();
    giving_room(
        count,
        Record::Queue(QueueRecord::RemoveRows { table, rows }),
    )
}

fn giving_room(count: usize, record: Record) -> Decision {
    let reply = Reply::affected(count as u64);
    match count {
        0 => Decision::nothing(reply),
        _ => Decision::giving_room(record, reply),
    }
}

/// Refuses what a DELETE may not have, or may not change, of a table of this kind.
pub(crate) fn check(kind: &Kind, delete: &Delete) -> Result<()> {
    if delete.matching.is_some() && !matches!(kind, Kind::Search(_) | Kind::Distributed { .. }) {
        return Err(Error::invalid("MATCH needs a search table"));
    }
    if !delete.order.is_empty() && !matches!(kind, Kind::Queue(_)) {
        return Err(Error::NotYet {
            what: "DELETE … ORDER BY of a table that is no queue".to_owned(),
        });
    }
    if let Kind::Distributed { locals } = kind {
        return Err(has_no_rows(&delete.table, locals));
    }
    Ok(())
}

/// Refuses a DELETE of a session that holds a row as a consumer group.
pub(crate) fn check_owner(queue: &Queue, owner: Option<&Owned>) -> Result<()> {
    if owner.is_some() && !queue.options().groups.is_empty() {
        return Err(Error::invalid(
            "DELETE of a row that a consumer group holds: queue_end() or QUEUE_DONE acknowledges it",
        ));
    }
    Ok(())
}

/// The ids that a condition names outright, rising: each of their rows is wanted, and no other.
fn named_ids(condition: &Expression) -> Option<Vec<u64>> {
    let named = Ids::of(condition)?;
    named.are_all_wanted.then_some(named.ids)
}

/// A SELECT of every id, rising.
pub(crate) fn ids_of(table: &str) -> Select {
    let id = Output::Expression(Expression::Column("id".to_owned()));
    Select {
        table: table.to_owned(),
        items: vec![Item::Value {
            what: id.clone(),
            name: "id".to_owned(),
        }],
        matching: None,
        filter: None,
        order: vec![OrderBy {
            key: id,
            descending: false,
        }],
        limit: None,
        offset: 0,
        options: Vec::new(),
    }
}

fn documents(search: &mut SearchTable, control: &Control, delete: &Delete) -> Result<Vec<u64>> {
    let failed = failure::of_index;
    // An id that is not found may stand in a segment that cannot be read.
    search.table.check_whole().map_err(failed)?;
    let named = delete.filter.as_ref().and_then(named_ids);
    if let (Some(ids), None) = (named, &delete.matching) {
        let limit = delete.limit.unwrap_or(u64::MAX);
        let mut there = Vec::with_capacity(ids.len());
        for id in ids {
            control.spend(ROW_UNITS).map_err(failed)?;
            if there.len() as u64 >= limit {
                break;
            }
            if search.table.can_delete(id).map_err(failed)? {
                there.push(id);
            }
        }
        return Ok(there);
    }
    Documents::of(search).chosen(delete, None, delete.limit, control)
}

/// A search table in one state.
pub(crate) struct Documents {
    pub(crate) definition: Arc<crate::command::Definition>,
    pub(crate) analyzer: Arc<language::analysis::Analyzer>,
    pub(crate) rows: Arc<index::Snapshot>,
}

impl Documents {
    /// The state of now. Cost: as `index::Table::snapshot`.
    pub(crate) fn of(search: &mut SearchTable) -> Documents {
        Documents {
            definition: Arc::clone(&search.definition),
            analyzer: Arc::clone(&search.analyzer),
            rows: search.table.snapshot(),
        }
    }

    /// The ids of a DELETE's rows, rising; the first `most` of them. `among`: only of these, rising.
    pub(crate) fn chosen(
        &self,
        delete: &Delete,
        among: Option<&[u64]>,
        most: Option<u64>,
        control: &Control,
    ) -> Result<Vec<u64>> {
        let name = &self.definition.name;
        let filter = match among {
            Some(ids) => Some(with_ids(delete.filter.clone(), ids)),
            None => delete.filter.clone(),
        };
        let select = Select {
            matching: delete.matching.clone(),
            filter,
            limit: most,
            ..ids_of(name)
        };
        let fields = text_names(&self.definition.columns);
        let query = match &delete.matching {
            Some(text) => {
                Some(language::parse(text, &fields, &self.analyzer).map_err(Error::Query)?)
            }
            None => None,
        };
        let bound = self.rows.bind(&select, &Options::default());
        let bound = bound.map_err(|error| failure::of_bind(name, error))?;
        let ids = self.rows.plan_removal(&bound, query.as_ref(), control);
        let ids = ids.map_err(failure::of_index)?;
        control.memory.take(8 * ids.len() as u64)?;
        Ok(ids)
    }
}

/// The first `most` of these standing queries that a DELETE chooses, in their order.
pub(crate) fn queries<'q>(
    table: &str,
    delete: &Delete,
    all: impl Iterator<Item = &'q Arc<StandingQuery>>,
    most: Option<u64>,
    control: &Control,
) -> Result<Vec<&'q Arc<StandingQuery>>> {
    let condition = delete.filter.as_ref();
    let condition = condition.map(|filter| row::Condition::new(table, filter));
    let condition = condition.transpose()?;
    let most = most.map_or(usize::MAX, |most| {
        usize::try_from(most).unwrap_or(usize::MAX)
    });
    let mut wanted = Vec::new();
    for query in all {
        if wanted.len() >= most {
            break;
        }
        control.spend(ROW_UNITS + query.text.len() as u64 / BYTES_A_UNIT)?;
        let accepts = |it: &row::Condition| it.accepts(query, &*control.interrupt);
        let is_wanted = condition.as_ref().is_none_or(accepts);
        // What a stopped evaluation gave is of no use.
        check_between(control)?;
        if is_wanted {
            wanted.push(query);
        }
    }
    Ok(wanted)
}

/// The order in which LIMIT takes the rows of a queue; empty: by their numbers.
pub(crate) fn order_of(reader: RowReader<'_>, delete: &Delete) -> Result<Arc<Order>> {
    let keys = Select {
        order: delete.order.clone(),
        ..ids_of(&delete.table)
    };
    let order = reader.scope().order(&keys);
    order
        .map(Arc::new)
        .map_err(|error| failure::of_bind(reader.name, error))
}

/// Gives `take` each of these rows of a queue that a DELETE chooses, in their order, until it answers `false`.
pub(crate) fn choose_rows(
    reader: RowReader<'_>,
    delete: &Delete,
    rows: impl Iterator<Item = RowNumber>,
    control: &Control,
    take: &mut dyn FnMut(Keyed) -> Result<bool>,
) -> Result<()> {
    if delete.limit == Some(0) {
        return Ok(());
    }
    let condition = delete.filter.as_ref();
    let condition = condition.map(|filter| reader.scope().condition(filter));
    let condition = condition.transpose();
    let condition = condition.map_err(|error| failure::of_bind(reader.name, error))?;
    let order = order_of(reader, delete)?;
    let reads = condition.is_some() || !order.is_empty();
    let units = if reads { ROW_UNITS } else { PASSED_ROW_UNITS };
    let mut count = 0;
    for row in rows {
        control.spend(units)?;
        let values = match reads {
            true => reader.values(row)?.unwrap_or_default(),
            false => Vec::new(),
        };
        control.spend(counted_bytes(&values) / BYTES_A_UNIT)?;
        let value = |slot: usize| values.get(slot).cloned().unwrap_or(Value::Null);
        let value = Metered::new(&*control.interrupt, value);
        let is_wanted = |it: &Condition<'_>| it.prepared.accepts(&value);
        let is_wanted = condition.as_ref().is_none_or(is_wanted);
        // What a stopped evaluation gave is of no use.
        check_between(control)?;
        if !is_wanted {
            continue;
        }
        count += 1;
        if count > DELETED_ROWS_MAX {
            return Err(Error::Limit {
                what: "rows of one DELETE (LIMIT makes pieces, TRUNCATE takes all)",
                max: DELETED_ROWS_MAX as u64,
            });
        }
        let keys = order.values(&value);
        if !take(Keyed { row, keys })? {
            break;
        }
    }
    Ok(())
}

/// A row of a queue with the values of its keys.
pub(crate) struct Keyed {
    pub(crate) row: RowNumber,
    pub(crate) keys: Vec<Value>,
}

impl Sorted for Keyed {
    fn weight(&self) -> i64 {
        0
    }

    fn id(&self) -> u64 {
        self.row.0
    }

    fn keys(&self) -> &[Value] {
        &self.keys
    }

    fn bytes(&self) -> u64 {
        0
    }
}

/// A condition, for these ids alone.
pub(crate) fn with_ids(filter: Option<Expression>, ids: &[u64]) -> Expression {
    let named = Expression::In {
        needle: Box::new(Expression::Column("id".to_owned())),
        negated: false,
        list: ids.iter().map(|id| Value::Int((*id).into())).collect(),
    };
    match filter {
        Some(filter) => Expression::Binary(BinaryOperator::And, Box::new(named), Box::new(filter)),
        None => named,
    }
}
