//! The expressions of a statement, to give them the time.

use relation::expression::Expression;
use relation::request::{Item, Known, Output, each_expression};

use super::{Constant, JoinedSelect, Part, Statement, Union};

/// Called with each expression.
type Visit<'v> = dyn FnMut(&mut Expression) + 'v;

impl Statement {
    /// Calls `visit` with each expression that the statement works out itself. Conditions of queues and filters of standing
    /// queries are not among them: they outlive the statement.
    pub fn each_expression(&mut self, visit: &mut Visit<'_>) {
        match self {
            Statement::Select(select) | Statement::SelectWaiting { select, .. } => {
                select.each_expression(visit);
            }
            Statement::Joined(select) => each_of_join(select, visit),
            Statement::Union(union) => of_union(union, visit),
            Statement::Faceted(faceted) => {
                faceted.select.each_expression(visit);
                let grouping = faceted.grouping.iter_mut();
                grouping.for_each(|grouping| grouping.each_expression(visit));
                let facets = faceted.facets.iter_mut();
                facets.for_each(|facet| facet.each_expression(visit));
            }
            Statement::SelectConstants(items) => of_constants(items, visit),
            Statement::InsertSelect { known, select, .. } => {
                known.iter_mut().for_each(|known| of_known(known, visit));
                select.each_expression(visit);
            }
            Statement::Timed { statement, timed } => {
                timed.iter_mut().for_each(|timed| visit(&mut timed.value));
                statement.each_expression(visit);
            }
            Statement::Explain(select) => select.each_expression(visit),
            Statement::CreateTemporary(create) => {
                let select = create.select.iter_mut();
                select.for_each(|select| select.each_expression(visit));
            }
            Statement::Upsert { known, .. } => of_known(known, visit),
            Statement::CallPq { options, .. } => options.only.iter_mut().for_each(visit),
            Statement::Show(show) => show.filter.iter_mut().for_each(visit),
            Statement::Update(update) => update.each_expression(visit),
            Statement::Delete(delete) => {
                each_expression(&mut [], &mut delete.filter, &mut delete.order, visit);
            }
            Statement::Empty
            | Statement::Queue { .. }
            | Statement::QueueNext(_)
            | Statement::QueueDone
            | Statement::QueuePause { .. }
            | Statement::QueuePurge { .. }
            | Statement::Insert(_)
            | Statement::CreateTable(_)
            | Statement::CreateLike { .. }
            | Statement::AlterTable { .. }
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
            | Statement::ExplainQuery { .. }
            | Statement::Begin
            | Statement::Commit
            | Statement::Rollback
            | Statement::Set(_)
            | Statement::Use(_)
            | Statement::Kill { .. } => {}
        }
    }
}

impl Statement {
    /// Calls `visit` with the name of each table of a FROM.
    pub fn each_table<'s>(&'s self, visit: &mut dyn FnMut(&'s str)) {
        match self {
            Statement::Select(select) => visit(&select.table),
            Statement::Faceted(faceted) => visit(&faceted.select.table),
            Statement::Joined(select) => select.tables.iter().for_each(|of| visit(&of.table)),
            Statement::Union(union) => each_table_of_union(union, visit),
            Statement::InsertSelect { select, .. }
            | Statement::Explain(select)
            | Statement::Timed {
                statement: select, ..
            } => select.each_table(visit),
            Statement::CreateTemporary(create) => {
                let select = create.select.iter();
                select.for_each(|select| select.each_table(visit));
            }
            _ => {}
        }
    }

    /// Calls `visit` with each item of a SELECT, those of a UNION and of sub-selects among them.
    pub fn each_item(&mut self, visit: &mut Visit<'_>) {
        if let Statement::Select(select) = self {
            items(&mut select.items, visit);
        } else if let Statement::Joined(select) = self {
            items(&mut select.items, visit);
        } else if let Statement::SelectConstants(items) = self {
            of_constants(items, visit);
        } else if let Statement::Union(union) = self {
            items_of_union(union, visit);
        }
    }
}

fn each_table_of_union<'s>(union: &'s Union, visit: &mut dyn FnMut(&'s str)) {
    for part in &union.parts {
        match part {
            Part::Select(select) | Part::Each { select, .. } => visit(&select.table),
            Part::Joined(select) => select.tables.iter().for_each(|of| visit(&of.table)),
            Part::Constants(_) => {}
            Part::Union(union) => each_table_of_union(union, visit),
        }
    }
}

fn items_of_union(union: &mut Union, visit: &mut Visit<'_>) {
    for part in &mut union.parts {
        match part {
            Part::Select(select) | Part::Each { select, .. } => items(&mut select.items, visit),
            Part::Joined(select) => items(&mut select.items, visit),
            Part::Constants(items) => of_constants(items, visit),
            Part::Union(union) => items_of_union(union, visit),
        }
    }
}

fn items(items: &mut [Item], visit: &mut Visit<'_>) {
    for item in items {
        if let Item::Value {
            what: Output::Expression(expression),
            ..
        } = item
        {
            visit(expression);
        }
    }
}

fn of_union(union: &mut Union, visit: &mut Visit<'_>) {
    for part in &mut union.parts {
        match part {
            Part::Select(select) | Part::Each { select, .. } => select.each_expression(visit),
            Part::Joined(select) => each_of_join(select, visit),
            Part::Constants(items) => of_constants(items, visit),
            Part::Union(union) => of_union(union, visit),
        }
    }
}

/// Calls `visit` with each expression of a join.
pub fn each_of_join(select: &mut JoinedSelect, visit: &mut Visit<'_>) {
    for on in select
        .tables
        .iter_mut()
        .filter_map(|table| table.on.as_mut())
    {
        visit(on);
    }
    let JoinedSelect {
        items,
        filter,
        grouping,
        order,
        ..
    } = select;
    each_expression(items, filter, order, visit);
    if let Some(grouping) = grouping {
        grouping.each_expression(visit);
    }
}

fn of_constants(items: &mut [(String, Constant)], visit: &mut Visit<'_>) {
    for (_, constant) in items {
        if let Constant::Expression(expression) = constant {
            visit(expression);
        }
    }
}

fn of_known(known: &mut Known, visit: &mut Visit<'_>) {
    if let Known::Update(assignments) = known {
        assignments.iter_mut().for_each(|set| visit(&mut set.value));
    }
}
