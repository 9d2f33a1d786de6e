//! UPDATE: it finds the rows that the condition chooses and works out their new values. The record names both.
//!
//! # Example
//! `UPDATE news SET reads = reads + 1, seen = reads WHERE id IN (3, 4)`; row 3 has `reads` 7, row 4 does not exist.
//!
//! - [`Assignments::new`] resolves `reads` and `seen` to columns 2 and 3, and prepares the expressions.
//! - [`Assignments::values`] gives for row 3: column 2 is 8, column 3 is 8. As in MySQL, a later assignment sees the values of
//!   earlier ones.
//! - The record is `Record::Update` with the ids \[3\] and the values \[\[8\], \[8\]\]. Texts are not analysed: no text column can
//!   be set.
//!
//! A condition on other columns than `id` may choose a million rows. Then a reader's thread does all that is above over a
//! snapshot ([`PlannedUpdate`]), and [`planned`] only decides the rows again that were changed since.

use std::sync::Arc;

use index::Control;
use query::bind::Ids;
use query::expression::{Expression, Prepared};
use query::options::Options;
use query::request::{Item, Output, Select, Update};
use query::schema::{Column, ColumnType, text_names};
use query::value::Value;

use super::delete::ids_of;
use super::{Circumstances, Decision, has_no_rows};
use crate::catalog::TableId;
use crate::command::{Definition, Kind, Reply};
use crate::error::{Error, Result};
use crate::failure;
use crate::into::store;
use crate::limits::{MOVED_ROWS_MAX, UPDATED_ROWS_MAX};
use crate::planned::PlannedUpdate;
use crate::record::{Record, UpdatedRows};
use crate::state::{Prepared as Ready, State};

/// Slot of `id` in prepared expressions; column `n` of the table has slot `n + 1`.
const ID: usize = 0;

/// The assignments of an UPDATE, bound to a table.
pub(crate) struct Assignments {
    /// Place of the column, the column, and the expression of its value; in the order written.
    set: Vec<(usize, Column, Prepared)>,
}

impl Assignments {
    /// Binds the assignments.
    ///
    /// # Errors
    /// `UnknownColumn`; `Invalid` for `id`, a text column, and a column that is set twice.
    pub(crate) fn new(definition: &Definition, update: &Update) -> Result<Assignments> {
        let columns = &definition.columns;
        let table = &definition.name;
        let place = |name: &str| columns.iter().position(|column| column.name == name);
        let unknown = |name: &str| Error::UnknownColumn {
            column: name.to_owned(),
            table: table.clone(),
        };
        let mut set: Vec<(usize, Column, Prepared)> = Vec::with_capacity(update.set.len());
        for (name, expression) in &update.set {
            if name == "id" {
                return Err(Error::invalid(
                    "UPDATE cannot set 'id': INSERT the row under its new id and DELETE the old one",
                ));
            }
            let at = place(name).ok_or_else(|| unknown(name))?;
            let column = columns[at].clone();
            if column.kind == ColumnType::Text {
                return Err(Error::invalid(format!(
                    "UPDATE cannot set the text column '{name}', which is searched: REPLACE the row"
                )));
            }
            if set.iter().any(|(before, ..)| *before == at) {
                return Err(Error::invalid(format!("column '{name}' twice")));
            }
            let resolve = |name: &str| match name {
                "id" => Some((ID, ColumnType::Bigint)),
                name => place(name).map(|at| (at + 1, columns[at].kind)),
            };
            let prepared = Prepared::typed(expression, &resolve);
            let prepared = prepared.map_err(|column| unknown(&column.0))?;
            set.push((at, column, prepared));
        }
        Ok(Assignments { set })
    }

    /// Places of the columns that are set.
    pub(crate) fn columns(&self) -> Vec<u16> {
        let places = self.set.iter().map(|(at, ..)| *at as u16); // at most `COLUMNS_MAX`
        places.collect()
    }

    /// The new values of a row, one for each assignment; `false`: the row has them already. `read` gives a column's old value.
    /// `row`: number of the row among those chosen, from 1, for errors.
    ///
    /// # Errors
    /// `BadValue` and `OutOfRange`, as an INSERT of the value; those of `read`.
    pub(crate) fn values(
        &self,
        id: u64,
        read: &dyn Fn(usize) -> index::Result<Value>,
        row: usize,
        out: &mut Vec<Value>,
    ) -> Result<bool> {
        let mut is_changed = false;
        for (at, column, prepared) in &self.set {
            let failed = std::cell::RefCell::new(None);
            let value = |slot: usize| match slot {
                ID => Value::Int(id.into()),
                slot => {
                    let earlier = self.set.iter().position(|(set, ..)| *set + 1 == slot);
                    if let Some(value) = earlier.and_then(|earlier| out.get(earlier)) {
                        return value.clone();
                    }
                    read(slot - 1).unwrap_or_else(|error| {
                        failed.borrow_mut().get_or_insert(error);
                        Value::Null
                    })
                }
            };
            let new = prepared.evaluate(&value);
            if let Some(error) = failed.into_inner() {
                return Err(failure::of_index(error));
            }
            let new = match new {
                Value::Null => super::rows::absent_in_document(column, true, row)?,
                value => store(column, value, row)?,
            };
            is_changed |= read(*at).map_err(failure::of_index)? != new;
            out.push(new);
        }
        Ok(is_changed)
    }
}

/// Decides an UPDATE on the engine's thread.
///
/// # Errors
/// `NoSuchTable`, `UnknownColumn`, `Query`; `Invalid` for another kind of table; `BadValue`, `OutOfRange`; `Limit`; `Overloaded`.
pub(crate) fn update(
    state: &mut State,
    around: Circumstances,
    update: &Update,
) -> Result<Decision> {
    let table = updated_table(state, update)?;
    let rows = chosen(state, table, update)?;
    decided(table, rows, around)
}

/// Decides an UPDATE that a reader has planned. Rows that were changed since are decided again.
///
/// # Errors
/// Those of [`update`].
///
/// The answer is [`Reply::Moved`], and nothing is changed, if too many rows were changed since: the caller plans it again.
pub(crate) fn planned(
    state: &mut State,
    around: Circumstances,
    update: &Update,
    plan: &PlannedUpdate,
) -> Result<Decision> {
    let table = updated_table(state, update)?;
    let Some(search) = state.searches.get(&table) else {
        return Err(Error::NoSuchTable(update.table.clone()));
    };
    if !Arc::ptr_eq(&search.definition, plan.definition()) {
        return Ok(Decision::nothing(Reply::Moved));
    }
    let moved = search.table.moved_since(plan.change());
    if moved.len() > MOVED_ROWS_MAX {
        return Ok(Decision::nothing(Reply::Moved));
    }
    let mut rows = plan.rows().without(&moved);
    let taken = rows.ids.len();
    if !moved.is_empty() {
        let again = Expression::In {
            needle: Box::new(Expression::Column("id".to_owned())),
            negated: false,
            list: moved.iter().map(|id| Value::Int((*id).into())).collect(),
        };
        let filter = match update.filter.clone() {
            Some(filter) => and(filter, again),
            None => again,
        };
        let again = Update {
            filter: Some(filter),
            ..update.clone()
        };
        rows.append(chosen(state, table, &again)?);
    }
    let mut decision = decided(table, rows, around)?;
    decision.prepared = Ready {
        planned: Some((plan.clone(), taken)),
        ..Ready::default()
    };
    Ok(decision)
}

fn and(left: Expression, right: Expression) -> Expression {
    let operator = query::expression::BinaryOperator::And;
    Expression::Binary(operator, Box::new(left), Box::new(right))
}

fn decided(table: TableId, rows: UpdatedRows, around: Circumstances) -> Result<Decision> {
    let count = rows.ids.len();
    let reply = Reply::affected(count as u64);
    if count == 0 {
        return Ok(Decision::nothing(reply));
    }
    around.check_memory(rows.memory())?;
    Ok(Decision::of(Record::Update { table, rows }, reply))
}

/// The search table that an UPDATE names.
fn updated_table(state: &State, update: &Update) -> Result<TableId> {
    let table = state.catalog.find(&update.table)?;
    let definition = state.catalog.get(table);
    match definition.map(|definition| &definition.kind) {
        Some(Kind::Search(_)) => Ok(table),
        Some(Kind::Distributed { locals }) => Err(has_no_rows(&update.table, locals)),
        Some(Kind::Percolate { .. }) => Err(Error::invalid(format!(
            "'{}' holds standing queries: REPLACE stores one again",
            update.table
        ))),
        Some(Kind::Queue(_)) => Err(Error::invalid(format!(
            "'{}' is a queue: its rows are inserted, taken and deleted, not updated",
            update.table
        ))),
        None => Err(Error::NoSuchTable(update.table.clone())),
    }
}

/// The SELECT that finds the rows of an UPDATE.
pub(crate) fn rows_of(update: &Update) -> Select {
    Select {
        matching: update.matching.clone(),
        filter: update.filter.clone(),
        limit: update.limit,
        order: update.order.clone(),
        items: vec![Item::Value {
            what: Output::Expression(Expression::Column("id".to_owned())),
            name: "id".to_owned(),
        }],
        ..ids_of(&update.table)
    }
}

/// Refuses an UPDATE of too many rows.
pub(crate) fn check_count(rows: usize) -> Result<()> {
    match rows > UPDATED_ROWS_MAX {
        true => Err(Error::Limit {
            what: "rows of one UPDATE",
            max: UPDATED_ROWS_MAX as u64,
        }),
        false => Ok(()),
    }
}

/// The rows with their new values, those left out that have them already.
fn chosen(state: &mut State, table: TableId, update: &Update) -> Result<UpdatedRows> {
    let Some(search) = state.searches.get_mut(&table) else {
        return Err(Error::NoSuchTable(update.table.clone()));
    };
    let definition = Arc::clone(&search.definition);
    let assignments = Assignments::new(&definition, update)?;
    let mut rows = UpdatedRows::new(assignments.columns());
    let mut values = Vec::new();
    let ids = update.filter.as_ref().and_then(Ids::of);
    if let (Some(named), None, None, true) =
        (ids, &update.matching, update.limit, update.order.is_empty())
    {
        let condition = match named.are_all_wanted {
            true => None,
            false => Some(condition(&definition, update)?),
        };
        for id in named.ids {
            let row = search.table.row(id).map_err(failure::of_index)?;
            let Some(row) = row else { continue };
            let read = |column| row.column(column);
            if let Some(condition) = &condition
                && !accepts(condition, id, &read)?
            {
                continue;
            }
            values.clear();
            if assignments.values(id, &read, rows.ids.len() + 1, &mut values)? {
                rows.push(id, &mut values);
            }
        }
        return Ok(rows);
    }
    let name = &definition.name;
    let select = rows_of(update);
    let fields = text_names(&definition.columns);
    let query = match &update.matching {
        Some(text) => Some(query::parse(text, &fields, &search.analyzer).map_err(Error::Query)?),
        None => None,
    };
    let snapshot = search.table.snapshot();
    let bound = snapshot.bind(&select, &Options::default());
    let bound = bound.map_err(|error| failure::of_bind(name, error))?;
    let mut set = |id, read: &index::ReadColumn<'_>, _: &mut Vec<(u16, Value)>| {
        values.clear();
        check_count(rows.ids.len())?;
        if assignments.values(id, &read, rows.ids.len() + 1, &mut values)? {
            rows.push(id, &mut values);
        }
        Ok::<(), Error>(())
    };
    snapshot.plan_change(&bound, query.as_ref(), &Control::default(), &mut set)?;
    Ok(rows)
}

/// The condition without MATCH, over the slots of a row.
fn condition(definition: &Definition, update: &Update) -> Result<Prepared> {
    let columns = &definition.columns;
    let resolve = |name: &str| match name {
        "id" => Some((ID, ColumnType::Bigint)),
        name => {
            let place = columns.iter().position(|column| column.name == name);
            place.map(|at| (at + 1, columns[at].kind))
        }
    };
    let always = Expression::Literal(Value::Int(1));
    let written = update.filter.as_ref().unwrap_or(&always);
    Prepared::typed(written, &resolve).map_err(|column| Error::UnknownColumn {
        column: column.0,
        table: definition.name.clone(),
    })
}

fn accepts(
    condition: &Prepared,
    id: u64,
    read: &dyn Fn(usize) -> index::Result<Value>,
) -> Result<bool> {
    let failed = std::cell::RefCell::new(None);
    let accepted = condition.accepts(&|slot| match slot {
        ID => Value::Int(id.into()),
        slot => read(slot - 1).unwrap_or_else(|error| {
            failed.borrow_mut().get_or_insert(error);
            Value::Null
        }),
    });
    match failed.into_inner() {
        Some(error) => Err(failure::of_index(error)),
        None => Ok(accepted),
    }
}
