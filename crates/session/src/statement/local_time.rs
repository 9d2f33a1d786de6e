//! Texts of dates and times beside `timestamp` columns, in a session with a time zone of its own.
//!
//! Example: `SET time_zone = '+05:00'; INSERT INTO z (ts) VALUES ('2024-01-02 00:00:00')` stores 19:00 of the day before in UTC, and
//! `WHERE ts = '2024-01-02'` finds the row. A text with a zone of its own is that moment. Only the table knows which columns hold
//! timestamps, so this is done with its definition, once the statement has its moment.

use std::sync::Arc;

use engine::{Definition, Kind};
use query::expression::{AggregateKind, Expression, Function, List, LocalTime};
use query::request::{
    Assignment, Insert, Item, JoinedSelect, JoinedTable, Known, Output, Select, inserted_column,
    tables_of,
};
use query::schema::{Column, ColumnType};
use query::value::Value;
use wire::sql::{Part, Statement, Union, each_of_join};

use super::Session;
use crate::node::Node;

/// Makes seconds of the texts of local time in a statement. `zone`: that of the session; UTC needs no call.
pub(super) fn localize(
    node: &Node,
    session: &Session,
    statement: &mut Statement,
    zone: &LocalTime,
) {
    let Ok(engine) = node.engine() else {
        return; // the statement is refused for it
    };
    let snapshot = engine.snapshot();
    let definition = |table: &str| match session.temporary.has(table) {
        true => None,
        false => snapshot.definition(table).ok(),
    };
    let local = Local {
        definition: &definition,
        zone,
    };
    local.statement(statement);
}

/// The tables of the server, and the zone of a session.
struct Local<'s> {
    definition: &'s dyn Fn(&str) -> Option<Arc<Definition>>,
    zone: &'s LocalTime,
}

/// The type of a column by its name; `None`: there is no such column.
type KindOf<'d> = dyn Fn(&str) -> Option<ColumnType> + 'd;

impl Local<'_> {
    fn statement(&self, statement: &mut Statement) {
        match statement {
            Statement::Insert(insert) => self.rows(insert),
            Statement::Upsert { insert, known } => {
                self.rows(insert);
                if let Known::Update(set) = known {
                    self.assignments(&insert.table, set);
                }
            }
            Statement::Update(update) => {
                let table = update.table.clone();
                self.assignments(&table, &mut update.set);
                let is = |name: &str| self.kind_of(&table, name);
                update.each_expression(&mut |expression| self.beside(expression, &is));
            }
            Statement::Delete(delete) => {
                let is = |name: &str| self.kind_of(&delete.table, name);
                if let Some(filter) = &mut delete.filter {
                    self.beside(filter, &is);
                }
            }
            Statement::Select(select) | Statement::SelectWaiting { select, .. } => {
                self.select(select);
            }
            Statement::Joined(select) => self.joined(select),
            Statement::Union(union) => self.union(union),
            Statement::Faceted(faceted) => {
                let table = faceted.select.table.clone();
                let is = |name: &str| self.kind_of(&table, name);
                self.select(&mut faceted.select);
                let of_groups = &mut |expression: &mut Expression| self.beside(expression, &is);
                if let Some(grouping) = &mut faceted.grouping {
                    grouping.each_expression(of_groups);
                }
                for facet in &mut faceted.facets {
                    facet.each_expression(of_groups);
                }
            }
            Statement::Explain(select) => self.statement(select),
            Statement::CreateTemporary(create) => {
                if let Some(select) = &mut create.select {
                    self.statement(select);
                }
            }
            Statement::InsertSelect {
                insert,
                known,
                select,
            } => {
                if let Some(Known::Update(set)) = known {
                    self.assignments(&insert.table, set);
                }
                self.statement(select);
                self.inserted(insert, select);
            }
            _ => {} // no other compares or sets a column of a table
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
        let (table, items) = (select.table.clone(), select.items.clone());
        let is = |name: &str| self.kind_of(&table, name);
        let is = with_aliases(&items, &is);
        select.each_expression(&mut |expression| self.beside(expression, &is));
    }

    fn joined(&self, select: &mut JoinedSelect) {
        let (tables, items) = (select.tables.clone(), select.items.clone());
        let is = |name: &str| self.kind_in(&tables, name);
        let is = with_aliases(&items, &is);
        each_of_join(select, &mut |expression| self.beside(expression, &is));
    }

    /// The type of a column of a join, with its table's name before it or without.
    fn kind_in(&self, tables: &[JoinedTable], name: &str) -> Option<ColumnType> {
        let (of, column) = name.split_once('.').unwrap_or(("", name));
        let is_named = |name: &str| of.is_empty() || name.eq_ignore_ascii_case(of);
        let mut named = tables.iter().filter(|table| is_named(&table.name));
        named.find_map(|table| self.kind_of(&table.table, column))
    }

    /// The type of a table's column; of several tables, and of a distributed one, that of the first which has one of the name.
    fn kind_of(&self, table: &str, column: &str) -> Option<ColumnType> {
        tables_of(table).find_map(|table| {
            let of = (self.definition)(table)?;
            match &of.kind {
                Kind::Distributed { locals } => {
                    let mut locals = locals.iter();
                    locals.find_map(|local| self.kind_of(local, column))
                }
                Kind::Search(_) | Kind::Percolate { .. } | Kind::Queue(_) => {
                    let mut columns = of.columns.iter();
                    let column = columns.find(|it| it.name == column);
                    column.map(|column| column.kind)
                }
            }
        })
    }

    fn is_timestamp(&self, table: &str, column: &str) -> bool {
        self.kind_of(table, column) == Some(ColumnType::Timestamp)
    }

    fn assignments(&self, table: &str, set: &mut [Assignment]) {
        let is = |name: &str| self.kind_of(table, inserted_column(name).unwrap_or(name));
        for Assignment { column, value, .. } in set {
            if self.is_timestamp(table, column) {
                self.set(value, &is);
            }
        }
    }

    /// Columns of local dates that an INSERT … SELECT puts into timestamps. Of a SELECT with `*` none is, since nobody knows which
    /// column an item is for: its dates are refused or read in UTC, as INSERT reads a text.
    fn inserted(&self, insert: &Insert, select: &mut Statement) {
        let places = self.timestamps(insert);
        let set = |items: &mut [Item], is: &KindOf<'_>| {
            for place in &places {
                if let Some(Item::Value { what, .. }) = items.get_mut(*place)
                    && let Output::Expression(of) = what
                {
                    self.set(of, is);
                }
            }
        };
        match select {
            Statement::Select(select) | Statement::SelectWaiting { select, .. } => {
                let table = select.table.clone();
                set(&mut select.items, &|name| self.kind_of(&table, name));
            }
            Statement::Joined(select) => {
                let tables = select.tables.clone();
                set(&mut select.items, &|name| self.kind_in(&tables, name));
            }
            _ => {} // no other has items of its own
        }
    }

    /// The places of timestamps among the values of an INSERT.
    fn timestamps(&self, insert: &Insert) -> Vec<usize> {
        let Some(of) = (self.definition)(&insert.table) else {
            return Vec::new();
        };
        let has_id = !matches!(of.kind, Kind::Queue(_));
        match &insert.columns {
            Some(named) => (0..named.len())
                .filter(|at| self.is_timestamp(&insert.table, &named[*at].to_lowercase()))
                .collect(),
            None => {
                let columns = of.columns.iter().enumerate();
                let timestamps = columns.filter(|(_, column)| is_timestamp(column));
                timestamps.map(|(at, _)| at + usize::from(has_id)).collect()
            }
        }
    }

    /// The rows of an INSERT.
    fn rows(&self, insert: &mut Insert) {
        let places = self.timestamps(insert);
        for row in &mut insert.rows {
            for place in &places {
                if let Some(value) = row.get_mut(*place) {
                    self.seconds(value);
                }
            }
        }
    }

    /// The constants of an expression beside timestamps.
    fn beside(&self, expression: &mut Expression, is: &KindOf<'_>) {
        let is_beside = |of: &Expression| of.parts().iter().any(|part| is_moment(part, is));
        if expression.compares_parts() && is_beside(expression) {
            for part in expression.parts_mut() {
                self.compared(part, is);
            }
        }
        match expression {
            Expression::Binary(_, left, right) => {
                let (of_left, of_right) = (is_moment(left, is), is_moment(right, is));
                if of_right {
                    self.compared(left, is);
                }
                if of_left {
                    self.compared(right, is);
                }
            }
            Expression::Between {
                needle, low, high, ..
            } if is_moment(needle, is) => {
                self.compared(low, is);
                self.compared(high, is);
            }
            Expression::In { needle, list, .. } if is_moment(needle, is) => self.list(list),
            Expression::InRows {
                needles, columns, ..
            } => {
                let lists = needles.iter().zip(columns);
                let moments = lists.filter(|(needle, _)| is_moment(needle, is));
                moments.for_each(|(_, list)| self.list(list));
            }
            _ => {}
        }
        for part in expression.parts_mut() {
            self.beside(part, is);
        }
    }

    fn list(&self, list: &mut List) {
        if list.whole().is_some() {
            return;
        }
        let mut local: Vec<Value> = list.iter().collect();
        local.iter_mut().for_each(|value| self.seconds(value));
        *list = List::from_iter(local);
    }

    /// What is compared with a timestamp: as [`Local::local`], and a column of texts is local time where a text is a date.
    fn compared(&self, of: &mut Expression, is: &KindOf<'_>) {
        match is_of_texts(of, is) && !is_date(of, is) {
            true => self.set(of, is),
            false => self.local(of, is),
        }
    }

    /// What stands beside a timestamp: a constant, or a column of local dates, becomes seconds.
    fn local(&self, of: &mut Expression, is: &KindOf<'_>) {
        match is_date(of, is) {
            true => *of = self.zone.seconds_of(of.clone()),
            false => self.constant(of),
        }
    }

    /// What a timestamp is set to: as [`Local::local`], and texts that are dates become seconds. Other texts stay, to be read or refused
    /// by the column.
    fn set(&self, of: &mut Expression, is: &KindOf<'_>) {
        if is_date(of, is) || !may_be_text(of, is) {
            return self.local(of, is);
        }
        let local = vec![self.zone.seconds_of(of.clone()), of.clone()];
        *of = Expression::Call(Function::Coalesce, local);
    }

    fn constant(&self, of: &mut Expression) {
        if let Expression::Literal(value) = of {
            self.seconds(value);
        }
    }

    /// The seconds of a text that is a date or a time without a zone; any other value is unchanged.
    fn seconds(&self, value: &mut Value) {
        if let Value::Str(text) = value
            && let Some(seconds) = self.zone.seconds(text)
        {
            *value = Value::Int(seconds.into());
        }
    }
}

/// Whether the value is that of a column of dates, moved, given back or the least or greatest of a group.
fn is_date(of: &Expression, is: &KindOf<'_>) -> bool {
    match of {
        Expression::Column(name) => matches!(
            is(name),
            Some(ColumnType::Date | ColumnType::DateTime { .. })
        ),
        Expression::Call(Function::DateAdd | Function::DateSub, arguments)
        | Expression::Aggregate(AggregateKind::Min | AggregateKind::Max, arguments) => {
            arguments.first().is_some_and(|of| is_date(of, is))
        }
        of => of.gives_back().into_iter().any(|of| is_date(of, is)),
    }
}

/// Whether the value may be a text that only rows give: that of a column, or of a function of texts.
fn may_be_text(of: &Expression, is: &KindOf<'_>) -> bool {
    match of {
        Expression::Aggregate(AggregateKind::Concat(_), _) => true,
        Expression::Call(function, _) if function.gives_text() => true,
        of if is_of_texts(of, is) => true,
        of => of.gives_back().into_iter().any(|of| match of {
            Expression::Literal(value) => matches!(value, Value::Str(_)),
            of => may_be_text(of, is),
        }),
    }
}

/// Whether the value may be that of a column of texts, given back or the least or greatest of a group.
fn is_of_texts(of: &Expression, is: &KindOf<'_>) -> bool {
    match of {
        Expression::Column(name) => matches!(
            is(name),
            Some(
                ColumnType::Text
                    | ColumnType::String
                    | ColumnType::Char { .. }
                    | ColumnType::LongText { .. }
            )
        ),
        Expression::Aggregate(AggregateKind::Min | AggregateKind::Max, of) => {
            of.first().is_some_and(|of| is_of_texts(of, is))
        }
        of => of.gives_back().into_iter().any(|of| is_of_texts(of, is)),
    }
}

fn is_timestamp(column: &Column) -> bool {
    column.kind == ColumnType::Timestamp
}

/// The names of timestamps, and of items of a SELECT list that are timestamps.
fn with_aliases<'d>(
    items: &'d [Item],
    is: &'d KindOf<'_>,
) -> impl Fn(&str) -> Option<ColumnType> + 'd {
    |name| {
        let is_moment = |item: &Item| match item {
            Item::Value {
                what: Output::Expression(of),
                name: alias,
            } => alias.eq_ignore_ascii_case(name) && of.column() != Some(name) && is_moment(of, is),
            _ => false,
        };
        is(name).or_else(|| items.iter().any(is_moment).then_some(ColumnType::Timestamp))
    }
}

/// Whether the value is that of a timestamp, moved, given back or the least or greatest of a group.
fn is_moment(of: &Expression, is: &KindOf<'_>) -> bool {
    match of {
        Expression::Column(name) => is(name) == Some(ColumnType::Timestamp),
        Expression::Call(Function::DateAdd | Function::DateSub, arguments)
        | Expression::Aggregate(AggregateKind::Min | AggregateKind::Max, arguments) => {
            arguments.first().is_some_and(|of| is_moment(of, is))
        }
        of => of.gives_back().into_iter().any(|of| is_moment(of, is)),
    }
}
