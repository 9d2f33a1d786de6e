//! DELETE: it finds the rows that the condition chooses, and the record names them by id.

use std::sync::Arc;

use index::Control;
use percolate::StandingQuery;
use query::bind::{Condition, Ids};
use query::expression::Expression;
use query::options::Options;
use query::request::{Delete, Item, OrderBy, Output, Select};
use query::rows::{Best, Sorted};
use query::schema::text_names;
use query::value::Value;
use queue::RowNumber;

use super::{Decision, check_between, has_no_rows};
use crate::catalog::TableId;
use crate::command::{Kind, Reply};
use crate::error::{Error, Result};
use crate::failure;
use crate::limits::DELETED_ROWS_MAX;
use crate::record::Record;
use crate::sessions::Owned;
use crate::state::State;
use crate::table::standing::row;

/// Decides a DELETE. `owner`: the session is in owner mode.
pub(crate) fn delete(
    state: &mut State,
    control: &Control,
    owner: Option<&Owned>,
    delete: &Delete,
) -> Result<Decision> {
    let table = state.catalog.find(&delete.table)?;
    let kind = state
        .catalog
        .get(table)
        .map(|definition| definition.kind.clone());
    if let Some(kind) = &kind {
        check(kind, delete)?;
    }
    let (count, record) = match kind {
        Some(Kind::Distributed { locals }) => return Err(has_no_rows(&delete.table, &locals)),
        Some(Kind::Search(_)) => {
            let ids = documents(state, control, table, delete)?;
            (ids.len(), Record::DeleteDocuments { table, ids })
        }
        Some(Kind::Percolate { .. }) => {
            let ids = queries(state, control, table, delete)?;
            (ids.len(), Record::DeleteQueries { table, ids })
        }
        Some(Kind::Queue(_)) => {
            let rows = queue_rows(state, control, (table, owner), delete)?;
            (rows.len(), Record::RemoveRows { table, rows })
        }
        None => return Err(Error::NoSuchTable(delete.table.clone())),
    };
    let reply = Reply::affected(count as u64);
    if count == 0 {
        return Ok(Decision::nothing(reply));
    }
    Ok(Decision::giving_room(record, reply))
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
    match kind {
        Kind::Distributed { locals } => Err(has_no_rows(&delete.table, locals)),
        _ => Ok(()),
    }
}

/// The ids that a condition names outright, rising: each of their rows is wanted, and no other.
fn named_ids(condition: &Expression) -> Option<Vec<u64>> {
    let named = Ids::of(condition)?;
    named.are_all_wanted.then_some(named.ids)
}

fn cut(mut ids: Vec<u64>, limit: Option<u64>) -> Vec<u64> {
    if let Some(limit) = limit {
        ids.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    }
    ids
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

fn documents(
    state: &mut State,
    control: &Control,
    table: TableId,
    delete: &Delete,
) -> Result<Vec<u64>> {
    let Some(search) = state.searches.get_mut(&table) else {
        return Err(Error::NoSuchTable(delete.table.clone()));
    };
    let name = &search.definition.name;
    let failed = failure::of_index;
    // An id that is not found may stand in a segment that cannot be read.
    search.table.check_whole().map_err(failed)?;
    let named = delete.filter.as_ref().and_then(named_ids);
    if let (Some(ids), None) = (named, &delete.matching) {
        let mut there = Vec::with_capacity(ids.len());
        for id in ids {
            if search.table.can_delete(id).map_err(failed)? {
                there.push(id);
            }
        }
        return Ok(cut(there, delete.limit));
    }
    let select = Select {
        matching: delete.matching.clone(),
        filter: delete.filter.clone(),
        limit: delete.limit,
        ..ids_of(name)
    };
    let fields = text_names(&search.definition.columns);
    let query = match &delete.matching {
        Some(text) => Some(query::parse(text, &fields, &search.analyzer).map_err(Error::Query)?),
        None => None,
    };
    let snapshot = search.table.snapshot();
    let bound = snapshot.bind(&select, &Options::default());
    let bound = bound.map_err(|error| failure::of_bind(name, error))?;
    let answer = snapshot.search(&bound, query.as_ref(), control);
    let answer = answer.map_err(failed)?;
    let mut ids = Vec::new();
    for row in answer.rows {
        if let Some(Value::Int(id)) = row.map_err(failed)?.first() {
            ids.extend(u64::try_from(*id));
        }
    }
    for id in &ids {
        search.table.can_delete(*id).map_err(failed)?;
    }
    Ok(ids)
}

fn queries(state: &State, control: &Control, table: TableId, delete: &Delete) -> Result<Vec<u64>> {
    let Some(pq) = state.percolates.get(&table) else {
        return Err(Error::NoSuchTable(delete.table.clone()));
    };
    if let Some(ids) = delete.filter.as_ref().and_then(named_ids) {
        let there = ids.into_iter().filter(|id| pq.set.get(*id).is_some());
        return Ok(cut(there.collect(), delete.limit));
    }
    let condition = delete.filter.as_ref();
    let condition = condition.map(|filter| row::Condition::new(&pq.definition.name, filter));
    let condition = condition.transpose()?;
    let is_wanted = |query: &&Arc<StandingQuery>| {
        condition
            .as_ref()
            .is_none_or(|condition| condition.accepts(query))
    };
    let mut wanted = Vec::new();
    for query in pq.set.iter() {
        check_between(control)?;
        if is_wanted(&query) {
            wanted.push(query.id);
        }
    }
    Ok(cut(wanted, delete.limit))
}

fn queue_rows(
    state: &State,
    control: &Control,
    (table, owner): (TableId, Option<&Owned>),
    delete: &Delete,
) -> Result<Vec<RowNumber>> {
    let Some(queue) = state.queues.get(&table) else {
        return Err(Error::NoSuchTable(delete.table.clone()));
    };
    if owner.is_some() && !queue.options().groups.is_empty() {
        return Err(Error::invalid(
            "DELETE of a row that a consumer group holds: queue_end() or QUEUE_DONE acknowledges it",
        ));
    }
    let failed = |error| failure::of_bind(queue.name(), error);
    let scope = queue.rows().scope();
    let condition = delete.filter.as_ref();
    let condition = condition.map(|filter| scope.condition(filter));
    let condition = condition.transpose().map_err(failed)?;
    let keys = Select {
        order: delete.order.clone(),
        ..ids_of(&delete.table)
    };
    let order = Arc::new(scope.order(&keys).map_err(failed)?);
    let mut rows = Vec::new();
    let mut best = Best::new(Arc::clone(&order), delete.limit);
    let mut keyed = 0;
    let visible = queue.visible_rows(owner.map(|owned| owned.rows_of(table)));
    for row in visible {
        check_between(control)?;
        if delete.limit.is_some_and(|limit| rows.len() as u64 >= limit) {
            break;
        }
        let values = match condition.is_some() || !order.is_empty() {
            true => queue.values(row)?.unwrap_or_default(),
            false => Vec::new(),
        };
        let value = |slot: usize| values.get(slot).cloned().unwrap_or(Value::Null);
        let is_wanted = |it: &Condition<'_>| it.prepared.accepts(&value);
        if !condition.as_ref().is_none_or(is_wanted) {
            continue;
        }
        match order.is_empty() {
            true => rows.push(row),
            false => {
                let keys = order.values(&value);
                best.offer(Keyed { row, keys });
                keyed += 1;
            }
        }
        if rows.len() + keyed > DELETED_ROWS_MAX {
            return Err(Error::Limit {
                what: "rows of one DELETE (LIMIT makes pieces, TRUNCATE takes all)",
                max: DELETED_ROWS_MAX as u64,
            });
        }
    }
    rows.extend(best.into_sorted(0).iter().map(|keyed| keyed.row));
    rows.sort_unstable();
    Ok(rows)
}

/// A row of a queue with the values of its keys.
struct Keyed {
    row: RowNumber,
    keys: Vec<Value>,
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
