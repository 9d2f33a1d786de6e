//! The session's time zone reaches a statement here: texts and dates beside `timestamp` columns, in a session with a zone of its own.
//!
//! Example: `SET time_zone = '+05:00'; INSERT INTO z (ts) VALUES ('2024-01-02 00:00:00')` stores 19:00 of the day before in UTC, and
//! `WHERE ts = '2024-01-02'` finds the row. A text with a zone of its own is that moment. Only the table knows which columns hold
//! timestamps, so this is done with its definition or the temporary table, once the statement has its moment.
//! [`relation::expression::LocalTime`] changes the expressions; the rows of an INSERT … SELECT are read once they are there.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::{Kind, Snapshot};
use relation::bind::spelled_out;
use relation::expression::{Expression, Gives, GivesOf, LocalTime};
use relation::request::{
    Assignment, Change, Insert, Item, JoinedSelect, JoinedTable, Known, Output, Select, Update,
    inserted_column, tables_of,
};
use relation::schema::{Column, ColumnType};
use relation::value::Value;
use wire::sql::{CreateTemporary, Faceted, Part, Statement, Union, each_of_join};

use super::Session;
use crate::node::Node;

/// Makes seconds of the texts of local time in a statement.
pub(super) fn localize(node: &Node, session: &Session, statement: &mut Statement) {
    within(node, session, |local| local.statement(statement));
}

/// As [`localize`], of the rows that a SELECT gave an INSERT: their texts and dates are local moments, as constants are.
pub(super) fn localize_rows(node: &Node, session: &Session, insert: &mut Insert) {
    within(node, session, |local| local.rows(insert));
}

/// Does it in the session's time zone. UTC, in which texts are read anyway, needs nothing done.
fn within(node: &Node, session: &Session, change: impl FnOnce(Local<'_>)) {
    let Some(zone) = session.variables.get("time_zone").map(Value::to_string) else {
        return;
    };
    let zone = LocalTime::named(&zone).filter(|_| zone != "UTC");
    // Without an engine the statement is refused.
    if let (Some(zone), Ok(engine)) = (zone, node.engine()) {
        change(Local {
            snapshot: engine.snapshot(),
            session,
            zone,
        });
    }
}

/// The tables that a session sees, and its zone.
struct Local<'s> {
    snapshot: Arc<Snapshot>,
    session: &'s Session,
    zone: LocalTime,
}

impl Local<'_> {
    fn statement(&self, statement: &mut Statement) {
        match statement {
            Statement::Insert(insert) => self.rows(insert),
            Statement::Upsert { insert, known } => {
                self.rows(insert);
                self.known(&insert.table, known);
            }
            Statement::Update(update) => self.update(update),
            Statement::Delete(delete) => self.condition(&delete.table, &mut delete.filter),
            Statement::CallPq { table, options, .. } => self.condition(table, &mut options.only),
            Statement::Select(select) | Statement::SelectWaiting { select, .. } => {
                self.select(select);
            }
            Statement::Joined(select) => self.joined(select),
            Statement::Union(union) => self.union(union),
            Statement::Faceted(faceted) => self.faceted(faceted),
            Statement::Explain(select) => self.statement(select),
            Statement::CreateTable(create) => self.defaults(&mut create.columns),
            Statement::AlterTable {
                of_queue,
                of_documents,
                ..
            } => {
                let changes = [of_queue, of_documents].into_iter().flatten();
                changes.flatten().for_each(|change| self.change(change));
            }
            Statement::CreateTemporary(create) => self.temporary(create),
            Statement::InsertSelect {
                insert,
                known,
                select,
            } => {
                let known = known.iter_mut();
                known.for_each(|known| self.known(&insert.table, known));
                self.statement(select);
            }
            // They compare and set no column of a table.
            Statement::Empty
            | Statement::SelectConstants(_)
            | Statement::Queue { .. }
            | Statement::QueueNext(_)
            | Statement::QueueDone
            | Statement::QueuePause { .. }
            | Statement::QueuePurge { .. }
            | Statement::CreateLike { .. }
            | Statement::Timed { .. }
            | Statement::RenameTables(_)
            | Statement::AlterLocals { .. }
            | Statement::Installed
            | Statement::DropTable { .. }
            | Statement::CallAttribution(_)
            | Statement::PqBackfill { .. }
            | Statement::Backup { .. }
            | Statement::Flush { .. }
            | Statement::Optimize { .. }
            | Statement::Truncate { .. }
            | Statement::Show(_)
            | Statement::ExplainQuery { .. }
            | Statement::Begin
            | Statement::Commit
            | Statement::Rollback
            | Statement::Set(_)
            | Statement::Use(_)
            | Statement::Kill { .. } => {}
        }
    }

    fn temporary(&self, create: &mut CreateTemporary) {
        self.defaults(&mut create.columns);
        if let Some(select) = &mut create.select {
            self.statement(select);
        }
    }

    fn update(&self, update: &mut Update) {
        let table = update.table.clone();
        self.assignments(&table, &mut update.set);
        let gives = |name: &str| self.gives(&table, name);
        update.each_expression(&mut |of| self.zone.compare(of, &gives));
    }

    /// The condition on the rows of a table.
    fn condition(&self, table: &str, filter: &mut Option<Expression>) {
        let gives = |name: &str| self.gives(table, name);
        let filter = filter.iter_mut();
        filter.for_each(|filter| self.zone.compare(filter, &gives));
    }

    fn faceted(&self, faceted: &mut Faceted) {
        let table = faceted.select.table.clone();
        let gives = |name: &str| self.gives(&table, name);
        self.select(&mut faceted.select);
        let of_groups = &mut |of: &mut Expression| self.zone.compare(of, &gives);
        if let Some(grouping) = &mut faceted.grouping {
            grouping.each_expression(of_groups);
        }
        for facet in &mut faceted.facets {
            facet.each_expression(of_groups);
        }
    }

    fn union(&self, union: &mut Union) {
        for part in &mut union.parts {
            match part {
                Part::Select(select) | Part::Each { select, .. } => self.select(select),
                Part::Joined(select) => self.joined(select),
                Part::Constants(_) => {}
                Part::Union(union) => self.union(union),
            }
        }
    }

    fn select(&self, select: &mut Select) {
        let table = select.table.clone();
        let of_column = |name: &str| self.gives(&table, name);
        let aliases = Aliases::of(&select.items, &of_column);
        aliases.spell_out(&mut select.filter, &select.items, &of_column);
        let gives = |name: &str| of_column(name).or_else(|| aliases.gives(name));
        select.each_expression(&mut |of| self.zone.compare(of, &gives));
    }

    fn joined(&self, select: &mut JoinedSelect) {
        let tables = select.tables.clone();
        let of_column = |name: &str| self.gives_in(&tables, name);
        let aliases = Aliases::of(&select.items, &of_column);
        aliases.spell_out(&mut select.filter, &select.items, &of_column);
        let gives = |name: &str| of_column(name).or_else(|| aliases.gives(name));
        each_of_join(select, &mut |of| self.zone.compare(of, &gives));
    }

    /// What a column of a join gives, with its table's name before it or without.
    fn gives_in(&self, tables: &[JoinedTable], name: &str) -> Option<Gives> {
        let (of, column) = name.split_once('.').unwrap_or(("", name));
        let is_named = |name: &str| of.is_empty() || name.eq_ignore_ascii_case(of);
        let mut named = tables.iter().filter(|table| is_named(&table.name));
        named.find_map(|table| self.gives(&table.table, column))
    }

    fn gives(&self, table: &str, column: &str) -> Option<Gives> {
        self.kind_of(table, column).map(Gives::of)
    }

    /// The type of a table's column; of several tables, and of a distributed one, that of the first which has one of the name.
    fn kind_of(&self, table: &str, column: &str) -> Option<ColumnType> {
        let kind_in = |columns: &[Column]| {
            let mut columns = columns.iter();
            let column = columns.find(|it| it.name == column);
            column.map(|column| column.kind)
        };
        tables_of(table).find_map(|table| {
            if self.session.temporary.has(table) {
                return kind_in(self.session.temporary.get(table).ok()?.columns());
            }
            let of = self.snapshot.definition(table).ok()?;
            match &of.kind {
                Kind::Distributed { locals } => {
                    let mut locals = locals.iter();
                    locals.find_map(|local| self.kind_of(local, column))
                }
                // Its columns are those of documents, which no statement on it names.
                Kind::Percolate { .. } => (column == "last_hit").then_some(ColumnType::Timestamp),
                Kind::Search(_) | Kind::Queue(_) => kind_in(&of.columns),
            }
        })
    }

    fn is_timestamp(&self, table: &str, column: &str) -> bool {
        self.kind_of(table, column) == Some(ColumnType::Timestamp)
    }

    fn assignments(&self, table: &str, set: &mut [Assignment]) {
        let gives = |name: &str| self.gives(table, inserted_column(name).unwrap_or(name));
        for Assignment { column, value, .. } in set {
            if self.is_timestamp(table, column) {
                self.zone.set(value, &gives);
            }
        }
    }

    /// What becomes of rows that are known: their new values may compare.
    fn known(&self, table: &str, known: &mut Known) {
        let Known::Update(set) = known else {
            return;
        };
        self.assignments(table, set);
        let gives = |name: &str| self.gives(table, inserted_column(name).unwrap_or(name));
        for Assignment { value, .. } in set {
            self.zone.compare(value, &gives);
        }
    }

    /// The column of a change of ALTER TABLE.
    fn change(&self, change: &mut Change) {
        match change {
            Change::Add { column, .. } | Change::Modify { column } => {
                self.defaults(std::slice::from_mut(column));
            }
            Change::Drop { .. } | Change::Rename { .. } | Change::Key { .. } => {}
        }
    }

    /// The DEFAULTs of new columns.
    fn defaults(&self, columns: &mut [Column]) {
        let timestamps = columns.iter_mut();
        let timestamps = timestamps.filter(|of| of.kind == ColumnType::Timestamp);
        let defaults = timestamps.filter_map(|of| of.default.as_mut());
        defaults.for_each(|default| self.zone.read(default));
    }

    /// The places of timestamps among the values of an INSERT.
    fn timestamps(&self, insert: &Insert) -> Vec<usize> {
        let table = insert.table.to_lowercase();
        if let Some(named) = &insert.columns {
            let is_timestamp = |at: &usize| self.is_timestamp(&table, &named[*at].to_lowercase());
            return (0..named.len()).filter(is_timestamp).collect();
        }
        let places = |columns: &[Column], ids: usize| {
            let columns = columns.iter().enumerate();
            let timestamps = columns.filter(|(_, of)| of.kind == ColumnType::Timestamp);
            timestamps.map(|(at, _)| at + ids).collect()
        };
        if let Ok(temporary) = self.session.temporary.get(&table) {
            return places(temporary.columns(), 0);
        }
        match self.snapshot.definition(&table) {
            Ok(of) => places(&of.columns, usize::from(!matches!(of.kind, Kind::Queue(_)))),
            Err(_) => Vec::new(), // the statement is refused for it
        }
    }

    /// The rows of an INSERT.
    fn rows(&self, insert: &mut Insert) {
        let places = self.timestamps(insert);
        for row in &mut insert.rows {
            for place in &places {
                if let Some(value) = row.get_mut(*place) {
                    self.zone.read(value);
                }
            }
        }
    }
}

/// What the items of a SELECT list give, by the names that it gives them.
struct Aliases(BTreeMap<String, Gives>);

impl Aliases {
    /// An item may use the names of the items before it.
    fn of(items: &[Item], columns: &GivesOf<'_>) -> Aliases {
        let mut aliases = Aliases(BTreeMap::new());
        for item in items {
            if let Item::Value { what, name } = item
                && let Output::Expression(of) = what
            {
                let gives = Gives::by(of, &|name| columns(name).or_else(|| aliases.gives(name)));
                aliases.0.insert(name.to_lowercase(), gives);
            }
        }
        aliases
    }

    fn gives(&self, name: &str) -> Option<Gives> {
        self.0.get(name).copied()
    }

    /// Puts the expressions of `items` in the place of their names, where one of these has values of several kinds: each value is
    /// local time by its own kind. What becomes too large is left for the binder to refuse.
    fn spell_out(&self, filter: &mut Option<Expression>, items: &[Item], columns: &GivesOf<'_>) {
        let is_column = |name: &str| name == "id" || columns(name).is_some();
        let is_mixed = |name: &str| {
            !is_column(name)
                && self
                    .gives(&name.to_lowercase())
                    .is_some_and(Gives::are_mixed)
        };
        if let Some(filter) = filter
            && filter.has(&mut |part| part.column().is_some_and(is_mixed))
            && let Ok(spelled) = spelled_out(items, &is_column, filter)
        {
            *filter = spelled;
        }
    }
}
