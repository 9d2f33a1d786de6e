//! EXPLAIN: what the steps of a SELECT cost.
//!
//! Example: `EXPLAIN SELECT title FROM posts WHERE MATCH('red fox') AND author = 7`, with a KEY on `author`:
//!
//! ```text
//! table  step     rows  time_ms  detail
//! posts  parse          0.021    AND(AND(KEYWORD(red, querypos=1)), AND(KEYWORD(fox, querypos=2)))
//! posts  words    2     0.012    1840 postings
//! posts  look-up  31    0.009    rows by id or KEY
//! posts  search   3     0.034    2 parts, about 31 postings and rows, condition on whole columns
//!        rows     3     0.015    read, not sent
//!        total    3     0.121
//! ```
//!
//! EXPLAIN does the SELECT, with its limits, and throws the rows away. Of an UPDATE or DELETE it does the SELECT of the ids and values
//! that the change would read, and changes nothing. What the change would refuse, it refuses with the same error. After
//! `SET profiling=1` each SELECT is profiled, for SHOW PLAN and SHOW PROFILE.

use std::sync::Arc;

use engine::{Kind, Profile};
use relation::expression::Expression;
use relation::request::{Delete, Item, OrderBy, Output, Select, Update};
use relation::schema::ColumnType;
use relation::value::Value;
use wire::sql::Statement;

use super::union::{ALL_ROWS, every_match};
use super::{Execution, FoundRows, Outcome, temporary, translate};
use crate::errors::Failure;
use crate::node::{Node, guarded};
use crate::profiled::Profiled;
use crate::rights::{Action, Deed};
use crate::session::Session;

/// A profile for a statement, if it is to have one.
pub(super) fn profile_of(
    node: &Node,
    session: &Session,
    statement: &Statement,
) -> Option<Arc<Profile>> {
    let is_profiling = || {
        let profiling = session.variables.get("profiling");
        profiling.is_some_and(|value| value.as_bool() == Some(true))
    };
    let is_wanted =
        matches!(statement, Statement::Explain(_)) || statement.is_select() && is_profiling();
    let clock = node.clock;
    is_wanted.then(|| Arc::new(Profile::new(Box::new(move || clock.steady_us()))))
}

impl Execution<'_> {
    /// Keeps the profile of the statement that is done, for SHOW PLAN and SHOW PROFILE.
    pub(super) fn keep_profile(&mut self) {
        if let Some(profile) = self.profile.take() {
            let (from_us, now_us) = (self.session.started_us, self.node.clock.steady_us());
            self.session.profiled = Some(Profiled::new(profile, from_us, now_us));
        }
    }

    /// EXPLAIN: does a SELECT and tells its steps.
    pub(super) async fn explain(&mut self, explained: Statement) -> Result<Outcome, Failure> {
        let select = if let Statement::Update(update) = explained {
            Statement::Select(self.read_by_update(update).await?)
        } else if let Statement::Delete(delete) = explained {
            Statement::Select(self.read_by_delete(delete)?)
        } else {
            explained
        };
        let outcome = self.read_rows(select).await?;
        let sets = match outcome {
            Outcome::Rows(found) => vec![*found],
            Outcome::Several(sets) => sets,
            Outcome::Done { .. } | Outcome::Pq(_) => Vec::new(),
        };
        let Some(profile) = self.profile.clone() else {
            return Err(super::unexpected());
        };
        profile.reads("");
        let read = || guarded(self.node, || read(sets));
        self.node.long(self.session).await;
        let rows = profile.step("rows", read, |rows| {
            let rows = rows.as_ref().ok().copied();
            (rows, "read, not sent".to_owned())
        })?;
        let us = self
            .node
            .clock
            .steady_us()
            .saturating_sub(self.session.started_us);
        let mut shown: Vec<Vec<Value>> = Vec::new();
        let mut add = |table: &str, step: &str, rows: Option<u64>, us: u64, detail: String| {
            shown.push(vec![
                Value::Str(table.to_owned()),
                Value::Str(step.to_owned()),
                rows.map_or(Value::Null, |rows| Value::Int(rows.into())),
                Value::Float(us as f64 / 1e3),
                Value::Str(detail),
            ]);
        };
        for step in profile.steps() {
            add(&step.table, step.name, step.rows, step.us, step.detail);
        }
        add("", "total", Some(rows), us, String::new());
        let kinds = [
            ("table", ColumnType::String),
            ("step", ColumnType::String),
            ("rows", ColumnType::Bigint),
            ("time_ms", ColumnType::Double),
            ("detail", ColumnType::String),
        ];
        let columns = kinds.map(|(name, kind)| (name.to_owned(), Some(kind)));
        Ok(Outcome::shown(columns.to_vec(), shown))
    }
}

impl Execution<'_> {
    /// The SELECT of what an UPDATE reads: the ids, and the values that are set.
    async fn read_by_update(&mut self, update: Update) -> Result<Select, Failure> {
        if self.session.temporary.has(&update.table) {
            return Err(translate::not_yet("UPDATE of a temporary table"));
        }
        let profile = self.profile.clone().ok_or_else(super::unexpected)?;
        profile.reads(&update.table);
        let told = |_: &_| (None, "worked out, not written".to_owned());
        self.node.long(self.session).await;
        profile.step("values", || self.check_update(&update), told)?;
        let values = update.set.into_iter().map(|set| item(set.value));
        Ok(Select {
            matching: update.matching,
            filter: update.filter,
            order: by_id_unless(update.order),
            limit: update.limit.or(Some(ALL_ROWS)),
            options: vec![every_match()],
            ..Select::new(
                update.table,
                std::iter::once(item(id())).chain(values).collect(),
            )
        })
    }

    /// The SELECT of what a DELETE reads: the ids, or of a table without ids the rows.
    fn read_by_delete(&self, delete: Delete) -> Result<Select, Failure> {
        let table = &delete.table;
        let is_temporary = self.session.temporary.has(table);
        match is_temporary {
            true => temporary::check_delete(&delete)?,
            false => translate::check_delete(&delete)?,
        }
        let has_ids = !is_temporary && {
            let writes = Action(Deed::Write, Some(table));
            let snapshot = self.node.snapshot(self.session, writes)?;
            snapshot.check_delete(&delete)?;
            !matches!(snapshot.definition(table)?.kind, Kind::Queue(_))
        };
        let (items, order, options) = match has_ids {
            true => (item(id()), by_id_unless(delete.order), vec![every_match()]),
            false => (Item::Star, delete.order, Vec::new()),
        };
        Ok(Select {
            matching: delete.matching,
            filter: delete.filter,
            order,
            limit: delete.limit.or(Some(ALL_ROWS)),
            options,
            ..Select::new(delete.table, vec![items])
        })
    }
}

fn id() -> Expression {
    Expression::Column("id".to_owned())
}

fn item(of: Expression) -> Item {
    Item::Value {
        what: Output::Expression(of),
        name: String::new(),
    }
}

/// The order, or if there is none that of rising ids.
fn by_id_unless(order: Vec<OrderBy>) -> Vec<OrderBy> {
    match order.is_empty() {
        false => order,
        true => vec![OrderBy {
            key: Output::Expression(id()),
            descending: false,
        }],
    }
}

/// Reads the rows of all sets as a door does; gives their number.
fn read(sets: Vec<FoundRows>) -> Result<u64, Failure> {
    let mut rows = 0;
    for found in sets {
        for row in found.answer.rows {
            row?;
            rows += 1;
        }
    }
    Ok(rows)
}
