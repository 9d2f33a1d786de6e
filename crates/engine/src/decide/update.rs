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
//! `j.size.w = 5` sets a value in a JSON document: the column's new value is the whole document ([`Json::with`]).
//!
//! A condition on other columns than `id` may choose a million rows. Then a reader's thread does all that is above:
//! [`super::planned`].

mod heard;

use std::cell::RefCell;
use std::sync::Arc;

use index::{Control, PlannedChange, ReadColumn};
use language::meter::Meter;
use relation::bind::{Condition, Ids, Scope};
use relation::expression::{Expression, Metered, Prepared, as_set};
use relation::json::{Json, JsonEditError, JsonStep};
use relation::options::Options;
use relation::request::{Assignment, Select, Update, UpdateOptions};
use relation::schema::{Column, ColumnType, text_names};
use relation::value::Value;

pub(crate) use self::heard::{with_hits, with_hits_behind};
use super::delete::{Documents, ids_of};
use super::{Circumstances, Decision, check_between, has_no_rows};
use crate::catalog::TableId;
use crate::command::{Definition, Kind, Reply};
use crate::error::{Error, Result, Why};
use crate::failure;
use crate::into::store_within;
use crate::limits::{NAMED_IDS_MAX, ROW_UNITS, SCANNED_ROWS_MAX, UPDATED_ROWS_MAX};
use crate::record::{Record, UpdatedRows};
use crate::state::State;

/// Slot of `id` in prepared expressions; column `n` of the table has slot `n + 1`.
const ID: usize = 0;

/// Memory of an updated row beside its values, in bytes: its id, its place, and its entry in a page.
const UPDATED_ROW_BYTES: u64 = 34;

/// The columns that an UPDATE may name.
fn scope(definition: &Definition) -> Scope<'_> {
    Scope {
        columns: &definition.columns,
        has_id: true,
        starred: definition.columns.len(),
        is_searched: true,
        is_standing: false,
    }
}

/// The old values of a row, for expressions, which cannot fail half-way: a read that fails gives NULL and keeps the first error.
struct OldValues<'r> {
    id: u64,
    read: &'r ReadColumn<'r>,
    failed: RefCell<Option<index::Error>>,
}

impl<'r> OldValues<'r> {
    fn new(id: u64, read: &'r ReadColumn<'r>) -> OldValues<'r> {
        OldValues {
            id,
            read,
            failed: RefCell::new(None),
        }
    }

    fn value(&self, slot: usize) -> Value {
        match slot {
            ID => Value::Int(self.id.into()),
            slot => (self.read)(slot - 1).unwrap_or_else(|error| {
                self.failed.borrow_mut().get_or_insert(error);
                Value::Null
            }),
        }
    }

    /// The first error of a read since the last call.
    fn check(&self) -> Result<()> {
        match self.failed.take() {
            Some(error) => Err(failure::of_index(error)),
            None => Ok(()),
        }
    }
}

/// One assignment, bound to a table.
struct Bound {
    /// Number of its column in [`Assignments::columns`].
    to: usize,
    /// The path of the value in the column's document; empty: the column is set.
    path: Vec<JsonStep>,
    value: Prepared,
}

/// The assignments of an UPDATE, bound to a table.
pub(crate) struct Assignments {
    /// The columns that are set, in the order of their first assignment, each with its place in the table.
    columns: Vec<(usize, Column)>,
    /// In the order written.
    set: Vec<Bound>,
    options: UpdateOptions,
}

impl Assignments {
    /// Binds the assignments.
    ///
    /// # Errors
    /// `UnknownColumn`; `Invalid` for `id`, a text column, a column that is set twice as a whole, and a path in a column without
    /// documents.
    pub(crate) fn new(definition: &Definition, update: &Update) -> Result<Assignments> {
        Assignments::of(definition, &update.set, update.options)
    }

    /// As [`Assignments::new`].
    pub(crate) fn of(
        definition: &Definition,
        set: &[Assignment],
        options: UpdateOptions,
    ) -> Result<Assignments> {
        let table = &definition.name;
        let mut bound = Assignments {
            columns: Vec::new(),
            set: Vec::with_capacity(set.len()),
            options,
        };
        for assignment in set {
            let (at, column) = match set_column(definition, assignment) {
                Err(Error::UnknownColumn { .. }) if options.leaves_unknown_columns => {
                    continue;
                }
                found => found?,
            };
            let known = bound.columns.iter().position(|(known, _)| *known == at);
            let to = known.unwrap_or(bound.columns.len());
            if known.is_none() {
                bound.columns.push((at, column.clone()));
            }
            let path = assignment.path.clone();
            let is_whole = |before: &Bound| before.to == to && before.path.is_empty();
            if path.is_empty() && bound.set.iter().any(is_whole) {
                return Err(Error::invalid(format!("column '{}' twice", column.name)));
            }
            let written = as_set(&assignment.value, column.kind, !path.is_empty());
            let value = scope(definition).prepare(&written);
            let mut value = value.map_err(|error| failure::of_bind(table, error))?;
            if column.kind == ColumnType::Json {
                value = value.set_inside(&written).stored();
            } else {
                value = value.set_to(&written, column.kind).stored();
            }
            bound.set.push(Bound { to, path, value });
        }
        Ok(bound)
    }

    /// Places of the columns that are set.
    pub(crate) fn columns(&self) -> Vec<u16> {
        let places = self.columns.iter().map(|(at, _)| *at as u16); // at most `COLUMNS_MAX`
        places.collect()
    }

    /// The new values of a row, one for each column that is set; `false`: the row has them already. `read` gives a column's old
    /// value. `row`: what errors call the row: its number in an INSERT, its id in an UPDATE. If the meter has stopped, the answer is
    /// of no use.
    ///
    /// # Errors
    /// `BadValue` and `OutOfRange`, as an INSERT of the value; `Invalid` for a path that leads nowhere; those of `read`.
    pub(crate) fn values(
        &self,
        id: u64,
        read: &ReadColumn<'_>,
        row: usize,
        meter: &dyn Meter,
        out: &mut Vec<Value>,
    ) -> Result<bool> {
        let old = OldValues::new(id, read);
        for Bound { to, path, value } in &self.set {
            let now = |slot: usize| {
                let earlier = self.columns.iter().position(|(at, _)| *at + 1 == slot);
                let earlier = earlier.and_then(|earlier| out.get(earlier));
                earlier.cloned().unwrap_or_else(|| old.value(slot))
            };
            let (at, column) = &self.columns[*to];
            let new = value.evaluate(&Metered::new(meter, now));
            let document = (!path.is_empty()).then(|| now(at + 1));
            old.check()?;
            // Each read of a document copies it.
            meter.spend(document.as_ref().map_or(0, Value::memory) as u64 / 2);
            let new = match (document, new) {
                (Some(document), new) => {
                    match within(column, &document, (path, row), &new, meter) {
                        Err(Error::Invalid { .. }) if self.options.leaves_missing_paths => document,
                        set => set?,
                    }
                }
                (None, Value::Null) => super::rows::absent_in_document(column, true, row)?,
                (None, new) => store_within(column, new, row, meter)?,
            };
            match out.get_mut(*to) {
                Some(value) => *value = new,
                None => out.push(new), // columns stand in the order of their first assignment
            }
        }
        for ((at, _), new) in self.columns.iter().zip(&*out) {
            if read(*at).map_err(failure::of_index)? != *new {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The column that an assignment sets, and its place in the table.
fn set_column<'d>(
    definition: &'d Definition,
    Assignment { column, path, .. }: &Assignment,
) -> Result<(usize, &'d Column)> {
    if column == "id" {
        return Err(Error::invalid(
            "UPDATE cannot set 'id': INSERT the row under its new id and DELETE the old one",
        ));
    }
    let mut columns = definition.columns.iter().enumerate();
    let found = columns.find(|(_, found)| found.name == *column);
    let (at, found) = found.ok_or_else(|| Error::UnknownColumn {
        column: column.clone(),
        table: definition.name.clone(),
    })?;
    if found.kind == ColumnType::Text {
        return Err(Error::invalid(format!(
            "UPDATE cannot set the text column '{column}', which is searched: REPLACE the row"
        )));
    }
    if !path.is_empty() && found.kind != ColumnType::Json {
        return Err(Error::invalid(format!(
            "UPDATE cannot set {}: '{column}' is no JSON column",
            spelled(column, path)
        )));
    }
    Ok((at, found))
}

/// A path as it is written in a statement.
fn spelled(column: &str, path: &[JsonStep]) -> String {
    let (column, steps) = (column.to_owned(), path.to_vec());
    match steps.is_empty() {
        true => Expression::Column(column).to_string(),
        false => Expression::Path { column, steps }.to_string(),
    }
}

/// A document with a value at a path. NULL counts as an empty object. If the meter has stopped, the answer is of no use. Errors:
/// `Invalid`: the path leads nowhere; `BadValue`: the document becomes too long or too deep.
fn within(
    column: &Column,
    document: &Value,
    (path, row): (&[JsonStep], usize),
    new: &Value,
    meter: &dyn Meter,
) -> Result<Value> {
    let document = match document {
        Value::Json(document) => document.clone(),
        _ => Json::empty(),
    };
    let leads = |steps: usize| spelled(&column.name, path.get(..steps).unwrap_or_default());
    let why = match document.with(path, &new.to_json(), meter) {
        Ok(document) => return Ok(Value::Json(document)),
        // Of no use to the caller.
        Err(JsonEditError::Stopped) => return Ok(Value::Null),
        Err(JsonEditError::Depth) => Err(Why::TooDeep),
        Err(JsonEditError::Length) => Err(Why::TooLong),
        Err(JsonEditError::Nothing(steps)) => Ok(format!("there is no {}", leads(steps))),
        Err(JsonEditError::NoObject(steps)) => Ok(format!("{} is no object", leads(steps))),
        Err(JsonEditError::NoArray(steps)) => Ok(format!("{} is no array", leads(steps))),
        Err(JsonEditError::Short(steps)) => Ok(format!("{} has fewer items", leads(steps))),
    };
    Err(match why {
        Ok(why) => Error::invalid(format!(
            "cannot set {} at row {row}: {why}",
            leads(path.len())
        )),
        Err(why) => Error::BadValue {
            column: column.name.clone(),
            row,
            why,
        },
    })
}

/// Whether an UPDATE may be decided on the engine's thread: it looks at few rows. What each costs only evaluation tells.
pub(crate) fn is_short(state: &State, table: TableId, update: &Update) -> bool {
    let named = update.filter.as_ref().and_then(Ids::of);
    let names_few = named.is_some_and(|named| named.ids.len() <= NAMED_IDS_MAX);
    let search = state.searches.get(&table);
    let rows = search.map_or(0, |search| search.table.rows_live());
    names_few && update.matching.is_none() || rows <= SCANNED_ROWS_MAX
}

/// The decision that gives rows their new values.
pub(crate) fn decided(
    table: TableId,
    rows: UpdatedRows,
    around: Circumstances,
) -> Result<Decision> {
    let count = rows.ids.len();
    let reply = Reply::affected(count as u64);
    if count == 0 {
        return Ok(Decision::nothing(reply));
    }
    around.check_memory(rows.memory())?;
    Ok(Decision::of(Record::Update { table, rows }, reply))
}

/// The search table that an UPDATE names.
pub(crate) fn updated_table(state: &State, update: &Update) -> Result<TableId> {
    let table = state.catalog.find(&update.table)?;
    match state.catalog.get(table) {
        Some(definition) => check_kind(definition, &update.table).map(|()| table),
        None => Err(Error::NoSuchTable(update.table.clone())),
    }
}

/// Refuses the kinds of tables that UPDATE does not change. `name`: what the statement calls the table.
pub(crate) fn check_kind(definition: &Definition, name: &str) -> Result<()> {
    match &definition.kind {
        Kind::Search(_) => Ok(()),
        Kind::Distributed { locals } => Err(has_no_rows(name, locals)),
        Kind::Percolate { .. } => Err(Error::invalid(format!(
            "'{name}' holds standing queries: REPLACE stores one again"
        ))),
        Kind::Queue(_) => Err(Error::invalid("UPDATE of a queue")),
    }
}

/// The SELECT that finds the rows of an UPDATE.
fn rows_of(update: &Update) -> Select {
    Select {
        matching: update.matching.clone(),
        filter: update.filter.clone(),
        limit: update.limit,
        order: update.order.clone(),
        ..ids_of(&update.table)
    }
}

/// The rows with their new values over a state of the table, those left out that have them already; also as pages for the table.
///
/// # Errors
/// Those of [`Assignments`] and of a SELECT of the rows; `Limit` of rows.
pub(crate) fn work_out(
    over: &Documents,
    update: &Update,
    control: &Control,
) -> Result<(PlannedChange, UpdatedRows)> {
    let Documents {
        definition,
        analyzer,
        rows,
    } = over;
    let assignments = Assignments::new(definition, update)?;
    let columns = assignments.columns();
    let mut updated = UpdatedRows::new(columns.clone());
    let select = rows_of(update);
    let bound = rows.bind(&select, &Options::default());
    let bound = bound.map_err(|error| failure::of_bind(&definition.name, error))?;
    let fields = text_names(&definition.columns);
    let query = match &update.matching {
        Some(text) => Some(language::parse(text, &fields, analyzer).map_err(Error::Query)?),
        None => None,
    };
    let (mut values, mut refused) = (Vec::new(), Refused::default());
    let mut set = |id: u64, read: &ReadColumn<'_>, out: &mut Vec<(u16, Value)>| {
        values.clear();
        if updated.ids.len() >= UPDATED_ROWS_MAX {
            return Err(Error::Limit {
                what: "rows of one UPDATE",
                max: UPDATED_ROWS_MAX as u64,
            });
        }
        let meter = &*control.interrupt;
        let set = assignments.values(id, read, id as usize, meter, &mut values);
        check_between(control)?;
        if refused.note(id, set)? {
            let bytes: usize = values.iter().map(Value::memory).sum();
            control.memory.take(bytes as u64 + UPDATED_ROW_BYTES)?;
            out.extend(columns.iter().copied().zip(values.iter().cloned()));
            updated.push(id, &mut values);
        }
        Ok::<(), Error>(())
    };
    let change = rows.plan_change(&bound, query.as_ref(), control, &mut set)?;
    refused.check()?;
    Ok((change, updated))
}

/// The refusal of the row with the lowest id. So the answer does not depend on where rows lie.
#[derive(Default)]
struct Refused(Option<(u64, Error)>);

impl Refused {
    /// Notes a refusal of the row's values; such a row gets none. Errors: all others.
    fn note(&mut self, id: u64, outcome: Result<bool>) -> Result<bool> {
        match outcome {
            Err(
                error @ (Error::BadValue { .. } | Error::OutOfRange { .. } | Error::Invalid { .. }),
            ) => {
                if self.0.as_ref().is_none_or(|(lowest, _)| id < *lowest) {
                    self.0 = Some((id, error));
                }
                Ok(false)
            }
            other => other,
        }
    }

    fn check(self) -> Result<()> {
        self.0.map_or(Ok(()), |(_, error)| Err(error))
    }
}

/// The rows with their new values, decided on the engine's thread. Rows that the condition names by id are looked up one by one.
///
/// # Errors
/// Those of [`work_out`].
pub(crate) fn chosen(
    state: &mut State,
    control: &Control,
    table: TableId,
    update: &Update,
) -> Result<UpdatedRows> {
    let Some(search) = state.searches.get_mut(&table) else {
        return Err(Error::NoSuchTable(update.table.clone()));
    };
    // An id that is not found may stand in a segment that cannot be read.
    search.table.check_whole().map_err(failure::of_index)?;
    let definition = Arc::clone(&search.definition);
    let is_plain = update.matching.is_none() && update.limit.is_none() && update.order.is_empty();
    let condition = update.filter.as_ref().filter(|_| is_plain);
    let condition = condition.map(|filter| scope(&definition).condition(filter));
    let condition = condition.transpose();
    let condition = condition.map_err(|error| failure::of_bind(&definition.name, error))?;
    let Some(Condition {
        prepared,
        ids: Some(named),
        ..
    }) = condition
    else {
        return work_out(&Documents::of(search), update, control).map(|(_, rows)| rows);
    };
    let assignments = Assignments::new(&definition, update)?;
    let mut rows = UpdatedRows::new(assignments.columns());
    let (mut values, mut refused) = (Vec::new(), Refused::default());
    for id in named.ids {
        control.spend(ROW_UNITS).map_err(failure::of_index)?;
        let row = search.table.row(id).map_err(failure::of_index)?;
        let Some(row) = row else { continue };
        let read = |column| row.column(column);
        if !named.are_all_wanted {
            let old = OldValues::new(id, &read);
            let accepted =
                prepared.accepts(&Metered::new(&*control.interrupt, |slot| old.value(slot)));
            old.check()?;
            check_between(control)?;
            if !accepted {
                continue;
            }
        }
        values.clear();
        let meter = &*control.interrupt;
        let set = assignments.values(id, &read, id as usize, meter, &mut values);
        check_between(control)?;
        if refused.note(id, set)? {
            rows.push(id, &mut values);
        }
    }
    refused.check()?;
    Ok(rows)
}
