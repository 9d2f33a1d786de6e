//! DELETE: which rows it chooses.

use std::cmp::Ordering;
use std::sync::Arc;

use percolate::StandingQuery;
use query::expression::{BinaryOperator, Expression, Prepared};
use query::request::{Item, OrderBy, Output, Select};
use query::schema::ColumnType;
use query::value::Value;

use super::Decision;
use super::has_no_rows;
use crate::catalog::TableId;
use crate::command::{Kind, Reply};
use crate::error::{Error, Result};
use crate::failure;
use crate::limits::DELETED_ROWS_MAX;
use crate::record::Record;
use crate::sessions::Owned;
use crate::state::State;
use crate::table::percolate::row::Condition;
use crate::table::search::text_names;

/// A DELETE, taken apart.
pub(crate) struct Delete {
    pub(crate) table: String,
    pub(crate) matching: Option<String>,
    pub(crate) filter: Option<Expression>,
    /// Only of queues; empty: queue order.
    pub(crate) order: Vec<OrderBy>,
    pub(crate) limit: Option<u64>,
}

/// Decides a DELETE. `owner`: the session is in owner mode.
pub(crate) fn delete(
    state: &mut State,
    owner: Option<&Owned>,
    delete: &Delete,
) -> Result<Decision> {
    let table = state.catalog.find(&delete.table)?;
    let kind = state
        .catalog
        .get(table)
        .map(|definition| definition.kind.clone());
    if delete.matching.is_some()
        && !matches!(kind, Some(Kind::Search(_) | Kind::Distributed { .. }))
    {
        return Err(Error::invalid("MATCH needs a search table"));
    }
    if !delete.order.is_empty() && !matches!(kind, None | Some(Kind::Queue(_))) {
        return Err(Error::NotYet {
            what: "DELETE … ORDER BY of a table that is no queue".to_owned(),
        });
    }
    let (ids, record): (_, fn(TableId, Vec<u64>) -> Record) = match kind {
        Some(Kind::Distributed { locals }) => return Err(has_no_rows(&delete.table, &locals)),
        Some(Kind::Search(_)) => (documents(state, table, delete)?, |table, ids| {
            Record::DeleteDocuments { table, ids }
        }),
        Some(Kind::Percolate { .. }) => (queries(state, table, delete)?, |table, ids| {
            Record::DeleteQueries { table, ids }
        }),
        Some(Kind::Queue(_)) => (queue_rows(state, table, owner, delete)?, |table, rows| {
            Record::RemoveRows { table, rows }
        }),
        None => return Err(Error::NoSuchTable(delete.table.clone())),
    };
    let reply = Reply::Done {
        affected: ids.len() as u64,
        last_id: 0,
        ids: Vec::new(),
        warnings: Vec::new(),
    };
    if ids.is_empty() {
        return Ok(Decision::nothing(reply));
    }
    let mut decision = Decision::of(record(table, ids), reply);
    decision.gives_room = true;
    Ok(decision)
}

/// The ids that a filter names outright, rising: `id = 7`, `id IN (7, 8)`. `None` for any other filter.
pub(crate) fn named_ids(filter: &Expression) -> Option<Vec<u64>> {
    let is_id =
        |expression: &Expression| matches!(expression, Expression::Column(name) if name == "id");
    let values: Vec<&Value> = match filter {
        Expression::Binary(BinaryOperator::Equal, left, right) => match (&**left, &**right) {
            (column, Expression::Literal(value)) if is_id(column) => vec![value],
            (Expression::Literal(value), column) if is_id(column) => vec![value],
            _ => return None,
        },
        Expression::In {
            needle,
            negated: false,
            list,
        } if is_id(needle) => list.iter().collect(),
        _ => return None,
    };
    let whole = |value: &Value| match value {
        Value::Int(number) => Some(u64::try_from(*number).ok()), // no row has an id outside
        _ => None,
    };
    let ids: Option<Vec<Option<u64>>> = values.into_iter().map(whole).collect();
    let mut ids: Vec<u64> = ids?.into_iter().flatten().collect();
    ids.sort_unstable();
    ids.dedup();
    Some(ids)
}

fn cut(mut ids: Vec<u64>, limit: Option<u64>) -> Vec<u64> {
    if let Some(limit) = limit {
        ids.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    }
    ids
}

fn documents(state: &mut State, table: TableId, delete: &Delete) -> Result<Vec<u64>> {
    let Some(search) = state.searches.get_mut(&table) else {
        return Err(Error::NoSuchTable(delete.table.clone()));
    };
    let name = &search.definition.name;
    let failed = |error| failure::of_index(name, error);
    let named = delete.filter.as_ref().and_then(named_ids);
    if let (Some(ids), None) = (named, &delete.matching) {
        let mut there = Vec::with_capacity(ids.len());
        for id in ids {
            if search.table.contains(id).map_err(failed)? {
                there.push(id);
            }
        }
        return Ok(cut(there, delete.limit));
    }
    let id = Output::Expression(Expression::Column("id".to_owned()));
    let select = Select {
        table: name.clone(),
        items: vec![Item::Value {
            what: id.clone(),
            name: "id".to_owned(),
        }],
        matching: delete.matching.clone(),
        filter: delete.filter.clone(),
        order: vec![OrderBy {
            key: id,
            descending: false,
        }],
        limit: delete.limit,
        offset: 0,
        options: Vec::new(),
    };
    let fields = text_names(&search.definition.columns);
    let query = match &delete.matching {
        Some(text) => Some(query::parse(text, &fields, &search.analyzer).map_err(Error::Query)?),
        None => None,
    };
    let answer = search
        .table
        .snapshot()
        .search(&select, query.as_ref(), &index::Control::default())
        .map_err(failed)?;
    let mut ids = Vec::new();
    for row in answer.rows {
        if let Some(Value::Int(id)) = row.map_err(failed)?.first() {
            ids.extend(u64::try_from(*id));
        }
    }
    Ok(ids)
}

fn queries(state: &State, table: TableId, delete: &Delete) -> Result<Vec<u64>> {
    let Some(pq) = state.percolates.get(&table) else {
        return Err(Error::NoSuchTable(delete.table.clone()));
    };
    if let Some(ids) = delete.filter.as_ref().and_then(named_ids) {
        let there = ids.into_iter().filter(|id| pq.set.get(*id).is_some());
        return Ok(cut(there.collect(), delete.limit));
    }
    let condition = delete.filter.as_ref();
    let condition = condition.map(|filter| Condition::new(&pq.definition.name, filter));
    let condition = condition.transpose()?;
    let is_wanted = |query: &&Arc<StandingQuery>| {
        condition
            .as_ref()
            .is_none_or(|condition| condition.accepts(query))
    };
    let wanted = pq.set.iter().filter(is_wanted);
    Ok(cut(wanted.map(|query| query.id).collect(), delete.limit))
}

fn queue_rows(
    state: &State,
    table: TableId,
    owner: Option<&Owned>,
    delete: &Delete,
) -> Result<Vec<u64>> {
    let Some(queue) = state.queues.get(&table) else {
        return Err(Error::NoSuchTable(delete.table.clone()));
    };
    if owner.is_some() && !queue.options().groups.is_empty() {
        return Err(Error::invalid(
            "DELETE of a row that a consumer group holds: queue_end() or QUEUE_DONE acknowledges it",
        ));
    }
    let columns: Vec<(&str, ColumnType)> = queue
        .columns()
        .iter()
        .map(|column| (column.name.as_str(), column.kind))
        .collect();
    let filter = prepare(&queue.definition.name, &columns, delete.filter.as_ref())?;
    let order = Order::new(&queue.definition.name, &columns, &delete.order)?;
    let mut rows = Vec::new();
    let mut keyed = Vec::new();
    for row in queue.visible_rows(table, owner) {
        if delete.limit.is_some_and(|limit| rows.len() as u64 >= limit) {
            break;
        }
        let wanted = match &filter {
            None => true,
            Some(filter) => {
                let values = queue.values(row)?.unwrap_or_default();
                filter.accepts(&|slot| values.get(slot).cloned().unwrap_or(Value::Null))
            }
        };
        if wanted && order.keys.is_empty() {
            rows.push(row);
        } else if wanted {
            let values = queue.values(row)?.unwrap_or_default();
            keyed.push((order.of(&values), row));
        }
        if rows.len() + keyed.len() > DELETED_ROWS_MAX {
            return Err(Error::Limit {
                what: "rows of one DELETE (LIMIT makes pieces, TRUNCATE takes all)",
                max: DELETED_ROWS_MAX as u64,
            });
        }
    }
    if !order.keys.is_empty() {
        keyed.sort_by(|(a, row_a), (b, row_b)| order.compare(a, b).then(row_a.cmp(row_b)));
        rows = cut(
            keyed.into_iter().map(|(_, row)| row).collect(),
            delete.limit,
        );
        rows.sort_unstable();
    }
    Ok(rows)
}

/// The keys of ORDER BY, ready for rows.
struct Order {
    keys: Vec<(Prepared, bool)>,
}

impl Order {
    fn new(table: &str, columns: &[(&str, ColumnType)], order: &[OrderBy]) -> Result<Order> {
        let mut keys = Vec::with_capacity(order.len());
        for OrderBy { key, descending } in order {
            let Output::Expression(key) = key else {
                return Err(Error::invalid(
                    "a queue's rows have neither weight nor count",
                ));
            };
            if let Some(prepared) = prepare(table, columns, Some(key))? {
                keys.push((prepared, *descending));
            }
        }
        Ok(Order { keys })
    }

    /// A row's keys.
    fn of(&self, values: &[Value]) -> Vec<Value> {
        let value = |slot: usize| values.get(slot).cloned().unwrap_or(Value::Null);
        let keys = self.keys.iter();
        keys.map(|(key, _)| key.evaluate(&value)).collect()
    }

    fn compare(&self, a: &[Value], b: &[Value]) -> Ordering {
        let pairs = a.iter().zip(b).zip(&self.keys);
        let ordered = pairs.map(|((a, b), (_, descending))| match descending {
            true => b.cmp_order(a),
            false => a.cmp_order(b),
        });
        ordered.fold(Ordering::Equal, Ordering::then)
    }
}

/// A filter over those columns.
pub(crate) fn prepare(
    table: &str,
    columns: &[(&str, ColumnType)],
    filter: Option<&Expression>,
) -> Result<Option<Prepared>> {
    let unknown = |column| Error::UnknownColumn {
        column,
        table: table.to_owned(),
    };
    match filter {
        None => Ok(None),
        Some(filter) => Prepared::typed(filter, columns)
            .map(Some)
            .map_err(|error| unknown(error.0)),
    }
}
