//! INSERT of rows whose ids may be known: IGNORE, ON DUPLICATE KEY UPDATE, and REPLACE of single columns.
//!
//! # Example
//! `INSERT INTO hits (id, n) VALUES (1, 5), (2, 5), (2, 7) ON DUPLICATE KEY UPDATE n = n + VALUES(n)`; row 1 has n = 10.
//!
//! | row | id is | becomes | counts |
//! |---|---|---|---|
//! | (1, 5) | stored | row 1 with n = 15 | 2 |
//! | (2, 5) | new | a new row | 1 |
//! | (2, 7) | that of the row before | the new row, with n = 12 | 2 |
//!
//! The unit has the new rows as documents, and the values of row 1 as those of an UPDATE: no text is analysed again.

use language::meter::{Budget, Meter};
use relation::expression::Expression;
use relation::request::{Assignment, Insert, Known, UpdateOptions, inserted_name};
use relation::row::{counted_bytes, encode};
use relation::value::Value;
use rustc_hash::{FxHashMap, FxHashSet};

use super::insert::hits::Reached;
use super::insert::{Counted, insert as insert_rows, store_documents};
use super::rows::{Plan, absent_in_document};
use super::update::{Assignments, with_hits_behind};
use super::{Circumstances, Decision, Workspace, has_no_rows};
use crate::catalog::TableId;
use crate::command::{Definition, Kind, Reply};
use crate::error::{Error, Result};
use crate::failure;
use crate::record::{Document, Record, UpdatedRows};
use crate::state::State;

/// Most rows left out by IGNORE that the answer names.
const TOLD_MAX: usize = 1_024;

/// A row of the statement, in the table's columns.
struct Row {
    id: u64,
    values: Vec<Value>,
    state: RowState,
}

enum RowState {
    New,
    /// Stored before, and as it is.
    Same,
    /// Stored before, and changed.
    Changed,
}

/// Decides such an INSERT.
pub(crate) fn upsert(
    state: &mut State,
    work: &mut Workspace,
    around: Circumstances,
    insert: Insert,
    known: &Known,
) -> Result<Decision> {
    let table = state.catalog.find(&insert.table)?;
    let definition = state.catalog.named(&insert.table)?;
    match (&definition.kind, known) {
        (Kind::Distributed { locals }, _) => Err(has_no_rows(&definition.name, locals)),
        // A queue has no ids, and drops duplicates of unique_by= anyway.
        (Kind::Queue(_), Known::Ignore) => insert_rows(state, work, around, insert, None),
        (Kind::Search(_) | Kind::Percolate { .. }, Known::Ignore) => {
            ignoring(state, work, around, table, insert)
        }
        (Kind::Search(_), Known::Update(_) | Known::Keep) => {
            merged(state, work, around, (table, &definition), insert, known)
        }
        (Kind::Queue(_) | Kind::Percolate { .. }, _) => Err(Error::invalid(format!(
            "'{}' is no search table: only rows of those are changed in place",
            definition.name
        ))),
    }
}

/// IGNORE: the rows whose ids are new.
fn ignoring(
    state: &mut State,
    work: &mut Workspace,
    around: Circumstances,
    table: TableId,
    mut insert: Insert,
) -> Result<Decision> {
    let id_at = match &insert.columns {
        Some(columns) => {
            let mut columns = columns.iter();
            columns.position(|column| column.eq_ignore_ascii_case("id"))
        }
        None => Some(0),
    };
    let Some(id_at) = id_at else {
        return insert_rows(state, work, around, insert, None);
    };
    let mut seen = FxHashSet::default();
    let mut left_out = Vec::new();
    let mut kept = Vec::with_capacity(insert.rows.len());
    let mut is_kept = Vec::with_capacity(insert.rows.len());
    for row in std::mem::take(&mut insert.rows) {
        // Any other value is for the INSERT to refuse.
        let id = match row.get(id_at) {
            Some(Value::Int(id)) => u64::try_from(*id).ok().filter(|id| *id != 0),
            _ => None,
        };
        let is_known = match id {
            Some(id) => !seen.insert(id) || is_stored(state, table, id)?,
            None => false,
        };
        is_kept.push(!is_known);
        match (is_known, id) {
            (true, Some(id)) => left_out.push(id),
            _ => kept.push(row),
        }
    }
    insert.rows = kept;
    if let Some(made) = &mut work.made {
        made.keep(&is_kept);
    }
    let mut decision = insert_rows(state, work, around, insert, None)?;
    if let Reply::Done { warnings, .. } = &mut decision.reply {
        let duplicate = |id: &u64| format!("id {id} is known: the row was left out");
        warnings.extend(left_out.iter().take(TOLD_MAX).map(duplicate));
    }
    Ok(decision)
}

fn is_stored(state: &State, table: TableId, id: u64) -> Result<bool> {
    if let Some(search) = state.searches.get(&table) {
        return search.table.contains(id).map_err(failure::of_index);
    }
    let pq = state.percolates.get(&table);
    Ok(pq.is_some_and(|pq| pq.contains(id)))
}

/// The rows of the statement with those of the table that they meet.
fn merged(
    state: &mut State,
    work: &mut Workspace,
    around: Circumstances,
    (table, definition): (TableId, &Definition),
    insert: Insert,
    known: &Known,
) -> Result<Decision> {
    let mut next_id = state
        .searches
        .get(&table)
        .map_or(0, |search| search.highest.max(search.reserved));
    let named = insert.columns.as_deref();
    let plan = Plan::new(&definition.name, &definition.columns, true, named)?;
    let mut rows: Vec<Row> = Vec::with_capacity(insert.rows.len());
    let mut by_id: FxHashMap<u64, usize> = FxHashMap::default();
    let (mut affected, mut bytes) = (0, 0);
    let budget = Budget::new(SET_UNITS_MAX);
    for (place, mut given) in insert.rows.into_iter().enumerate() {
        let number = place + 1;
        let id = plan.id(&mut given, number)?;
        let met = met(state, (table, definition), id, &mut rows, &mut by_id)?;
        let made = plan.row(&definition.columns, &mut given, number, absent_in_document)?;
        bytes += counted_bytes(&made);
        around.check_memory(bytes)?;
        match (met, id) {
            (Some(at), _) => {
                let row = &mut rows[at];
                let is_changed = change(row, made, (&plan, definition), (known, &budget), number)?;
                affected += match known {
                    Known::Keep => 1,
                    _ => 2 * u64::from(is_changed),
                };
            }
            (None, Some(id)) if *known == Known::Keep => {
                return Err(Error::invalid(format!(
                    "REPLACE … SET: '{}' has no row with id {id}",
                    definition.name
                )));
            }
            (None, id) => {
                let id = match id {
                    Some(id) => id,
                    None => next_id.checked_add(1).ok_or(Error::Overloaded)?,
                };
                next_id = next_id.max(id);
                by_id.insert(id, rows.len());
                affected += 1;
                rows.push(Row {
                    id,
                    values: made,
                    state: RowState::New,
                });
            }
        }
    }
    stored_anew(
        state,
        work,
        around,
        (table, definition),
        rows,
        known,
        affected,
    )
}

/// Index in `rows` of the row that has an id: one of the statement, or one of the table, which is added. `None`: the id is new.
fn met(
    state: &mut State,
    of: (TableId, &Definition),
    id: Option<u64>,
    rows: &mut Vec<Row>,
    by_id: &mut FxHashMap<u64, usize>,
) -> Result<Option<usize>> {
    let Some(id) = id else {
        return Ok(None);
    };
    if let Some(at) = by_id.get(&id) {
        return Ok(Some(*at));
    }
    let Some(row) = stored(state, of, id)? else {
        return Ok(None);
    };
    by_id.insert(id, rows.len());
    rows.push(row);
    Ok(Some(rows.len() - 1))
}

/// A stored row; `None`: the id is new.
fn stored(
    state: &mut State,
    (table, definition): (TableId, &Definition),
    id: u64,
) -> Result<Option<Row>> {
    let Some(search) = state.searches.get_mut(&table) else {
        return Ok(None);
    };
    let Some(row) = search.table.row(id).map_err(failure::of_index)? else {
        return Ok(None);
    };
    let values = (0..definition.columns.len()).map(|column| row.column(column));
    let values: index::Result<Vec<Value>> = values.collect();
    Ok(Some(Row {
        id,
        values: values.map_err(failure::of_index)?,
        state: RowState::Same,
    }))
}

/// Most units of the expressions that change the rows of one statement: 20 ms, in which nobody else can write.
const SET_UNITS_MAX: u64 = 20_000_000;

/// Changes a row by one of the statement that has its id. Returns whether it has other values now.
fn change(
    row: &mut Row,
    given: Vec<Value>,
    (plan, definition): (&Plan, &Definition),
    (known, budget): (&Known, &Budget),
    number: usize,
) -> Result<bool> {
    let mut values = row.values.clone();
    match known {
        Known::Update(set) => {
            let set: Vec<Assignment> = set
                .iter()
                .map(|assignment| with_values(assignment, definition, &given))
                .collect();
            let assignments = Assignments::of(definition, &set, UpdateOptions::default())?;
            let read = |column: usize| Ok(row.values.get(column).cloned().unwrap_or(Value::Null));
            let mut new = Vec::new();
            assignments.values(row.id, &read, number, budget, &mut new)?;
            if budget.is_stopped() {
                return Err(Error::Limit {
                    what: "units of work of what ON DUPLICATE KEY UPDATE sets",
                    max: SET_UNITS_MAX,
                });
            }
            for (column, value) in assignments.columns().into_iter().zip(new) {
                values[usize::from(column)] = value;
            }
        }
        Known::Ignore | Known::Keep => {
            for (column, value) in given.into_iter().enumerate() {
                if plan.is_given(column) {
                    values[column] = value;
                }
            }
        }
    }
    let is_changed = values != row.values;
    if is_changed && matches!(row.state, RowState::Same) {
        row.state = RowState::Changed;
    }
    row.values = values;
    Ok(is_changed)
}

/// An assignment whose `VALUES(column)` are the values that were to be inserted.
fn with_values(assignment: &Assignment, definition: &Definition, given: &[Value]) -> Assignment {
    let value = assignment.value.clone().map_columns(&mut |of| {
        let Expression::Column(name) = &of else {
            return of;
        };
        let columns = definition.columns.iter().zip(given);
        let mut named = columns.filter(|(column, _)| inserted_name(&column.name) == *name);
        match named.next() {
            Some((_, value)) => Expression::Literal(value.clone()),
            None => of,
        }
    });
    Assignment {
        value,
        ..assignment.clone()
    }
}

/// The unit: new rows and rows of REPLACE as documents, changed ones as an UPDATE.
fn stored_anew(
    state: &mut State,
    work: &mut Workspace,
    around: Circumstances,
    (table, definition): (TableId, &Definition),
    rows: Vec<Row>,
    known: &Known,
    affected: u64,
) -> Result<Decision> {
    let mut documents = Vec::new();
    let mut updated = match known {
        Known::Update(set) => {
            let assignments = Assignments::of(
                definition,
                set_alone(set).as_slice(),
                UpdateOptions::default(),
            )?;
            UpdatedRows::new(assignments.columns())
        }
        Known::Ignore | Known::Keep => UpdatedRows::new(Vec::new()),
    };
    for Row { id, values, state } in rows {
        let replaces = match state {
            RowState::Same => continue,
            RowState::New => false,
            RowState::Changed if *known == Known::Keep => true,
            RowState::Changed => {
                let columns = updated.columns.iter();
                let mut new: Vec<Value> = columns
                    .map(|column| values[usize::from(*column)].clone())
                    .collect();
                updated.push(id, &mut new);
                continue;
            }
        };
        documents.push(Document {
            id,
            replaces,
            row: encode(&values),
        });
    }
    if let Some(search) = state.searches.get(&table) {
        for document in documents.iter().filter(|document| document.replaces) {
            let found = search.table.can_delete(document.id);
            found.map_err(failure::of_index)?;
        }
    }
    around.check_memory(updated.memory())?;
    let reply = Reply::affected(affected);
    // Hits of the new rows come first in queues and tables, as the new rows do in the unit.
    let mut reached = Reached::default();
    let given = (table, Counted::new(documents), None);
    let mut decision = match given.1.documents.is_empty() {
        true => Decision::nothing(reply),
        false => store_documents(state, work, around, given, &mut reached)?,
    };
    if let Reply::Done { affected: told, .. } = &mut decision.reply {
        *told = affected;
    }
    if updated.ids.is_empty() {
        return Ok(decision);
    }
    let rows = updated;
    let update = Decision::of(Record::Update { table, rows }, Reply::done());
    let update = with_hits_behind(state, work, around, table, update, &mut reached)?;
    decision.record = Record::unit(decision.record.into_iter().chain(update.record));
    let counting = [decision.prepared.counting, update.prepared.counting];
    decision.prepared.counting = Some(counting.into_iter().flatten().flatten().collect());
    Ok(decision)
}

/// The assignments without their values, which name columns of a row that is not there.
fn set_alone(set: &[Assignment]) -> Vec<Assignment> {
    let value = Expression::Literal(Value::Null);
    let alone = |each: &Assignment| Assignment {
        value: value.clone(),
        ..each.clone()
    };
    set.iter().map(alone).collect()
}
