//! Statements on temporary tables. They never reach the engine.

use engine::{Error, Temporary};
use relation::expression::Kept;
use relation::request::{Delete, Insert, Known};
use relation::schema::{Column, ColumnType};
use relation::value::Value;
use wire::sql::{CreateTemporary, Statement};

use super::insert_select::{Copied, Selected};
use super::{Execution, Outcome, local_time, translate, unexpected};
use crate::errors::Failure;
use crate::node::guarded;

/// The table that a statement changes, in lower case. A temporary table of that name is meant first.
pub(super) fn table_of(statement: &Statement) -> Option<&str> {
    match statement {
        Statement::Insert(insert) | Statement::Upsert { insert, .. } => Some(&insert.table),
        Statement::Delete(delete) => Some(&delete.table),
        Statement::Update(update) => Some(&update.table),
        Statement::Truncate { table } | Statement::AlterTable { table, .. } => Some(table),
        Statement::Empty
        | Statement::Select(_)
        | Statement::Joined(_)
        | Statement::Union(_)
        | Statement::Faceted(_)
        | Statement::SelectConstants(_)
        | Statement::Queue { .. }
        | Statement::SelectWaiting { .. }
        | Statement::QueueNext(_)
        | Statement::QueueDone
        | Statement::QueuePause { .. }
        | Statement::QueuePurge { .. }
        | Statement::CreateTable(_)
        | Statement::CreateLike { .. }
        | Statement::InsertSelect { .. }
        | Statement::Timed { .. }
        | Statement::RenameTables(_)
        | Statement::AlterLocals { .. }
        | Statement::Installed
        | Statement::CreateTemporary(_)
        | Statement::DropTable { .. }
        | Statement::CallPq { .. }
        | Statement::CallAttribution(_)
        | Statement::PqBackfill { .. }
        | Statement::Backup { .. }
        | Statement::Flush { .. }
        | Statement::Optimize { .. }
        | Statement::Show(_)
        | Statement::Explain(_)
        | Statement::ExplainQuery { .. }
        | Statement::Begin
        | Statement::Commit
        | Statement::Rollback
        | Statement::Set(_)
        | Statement::Use(_)
        | Statement::Kill { .. } => None,
    }
}

impl Execution<'_> {
    /// CREATE TEMPORARY TABLE. The rows of its SELECT are those of one snapshot.
    pub(super) async fn create_temporary(
        &mut self,
        create: CreateTemporary,
    ) -> Result<Outcome, Failure> {
        if self.session.temporary.has(&create.name) && create.if_not_exists {
            return Ok(Outcome::NOTHING);
        }
        let mut columns = create.columns;
        let (mut names, mut rows) = (Vec::new(), Vec::new());
        let mut _held = None;
        if let Some(select) = create.select {
            let selected = self.all_rows(*select, Copied::TEMPORARY).await?;
            names = selected.names();
            add_selected(&mut columns, &names, &selected);
            rows = selected.rows;
            _held = Some(selected.held);
        }
        let mut unique = create.unique;
        unique.sort();
        unique.dedup();
        let is_list = |column: &&usize| {
            let column = columns.get(**column);
            column.is_some_and(|column| !column.kind.family().is_single())
        };
        if let Some(column) = unique.iter().flatten().find(is_list) {
            let name = &columns[*column].name;
            return Err(Failure::refused(format!(
                "column '{name}' of its type cannot be a key"
            )));
        }
        let table = Temporary::new(create.name.clone(), columns, unique)?;
        let memory = &self.node.table_memory;
        self.session
            .temporary
            .add(memory, create.name.clone(), table)?;
        let affected = rows.len() as u64;
        let mut insert = Insert {
            table: create.name.clone(),
            columns: Some(names),
            rows,
            replace: false,
        };
        local_time::localize_rows(self.node, self.session, &mut insert);
        if let Err(failure) = self.insert_temporary(insert, false).await {
            self.session.temporary.remove(&create.name);
            return Err(failure);
        }
        Ok(Outcome::Done {
            affected,
            last_id: 0,
        })
    }

    /// DROP TABLE: temporary tables of these names, else the tables that all sessions see.
    pub(super) async fn drop_tables(&mut self, drop: Statement) -> Result<Outcome, Failure> {
        let Statement::DropTable {
            tables,
            temporary,
            if_exists,
        } = drop
        else {
            return Err(unexpected());
        };
        let has = |name: &String| self.session.temporary.has(name);
        let (own, others): (Vec<String>, Vec<String>) = tables.into_iter().partition(has);
        match others.first() {
            None => {}
            Some(missing) if temporary && !if_exists => {
                return Err(Error::NoSuchTable(missing.clone()).into());
            }
            Some(_) if temporary => {}
            Some(_) => {
                let tables = others;
                let drop = Statement::DropTable {
                    tables,
                    temporary,
                    if_exists,
                };
                let command = translate::define(self.node, self.session, drop)?;
                self.write(command).await?;
            }
        }
        for name in own {
            self.session.temporary.remove(&name);
        }
        Ok(Outcome::NOTHING)
    }

    /// A statement on the temporary table that [`table_of`] names.
    pub(super) async fn of_temporary(&mut self, statement: Statement) -> Result<Outcome, Failure> {
        match statement {
            Statement::Insert(insert) => self.insert_temporary(insert, false).await,
            Statement::Upsert {
                insert,
                known: Known::Ignore,
            } => self.insert_temporary(insert, true).await,
            Statement::Upsert { .. } => Err(translate::not_yet(
                "ON DUPLICATE KEY UPDATE on a temporary table",
            )),
            Statement::Delete(delete) => self.delete_temporary(delete).await,
            Statement::Truncate { table } => {
                let truncate = |it: &mut Temporary| {
                    it.truncate();
                    Ok(())
                };
                self.change(&table, 0, truncate).await?;
                Ok(Outcome::NOTHING)
            }
            Statement::Update(_) => Err(translate::not_yet("UPDATE of a temporary table")),
            _ => Err(translate::not_yet("this statement on a temporary table")),
        }
    }

    pub(super) async fn insert_temporary(
        &mut self,
        insert: Insert,
        ignores: bool,
    ) -> Result<Outcome, Failure> {
        let table = insert.table.to_lowercase();
        let more = self.session.temporary.get(&table)?.memory_of(&insert.rows);
        let insert = |it: &mut Temporary| it.insert(insert, ignores);
        let inserted = self.change(&table, more, insert).await?;
        self.session
            .wrote(inserted.affected, Vec::new(), inserted.warnings);
        Ok(Outcome::Done {
            affected: inserted.affected,
            last_id: 0,
        })
    }

    async fn delete_temporary(&mut self, delete: Delete) -> Result<Outcome, Failure> {
        check_delete(&delete)?;
        let table = self.session.temporary.get(&delete.table)?;
        let condition = delete.filter.as_ref();
        let search = self.node.searches.begin(self.search_request(&delete.table));
        self.node.long_within(self.session, &search.interrupt).await;
        let find = || Ok(table.find(condition, &search.interrupt)?);
        let found = guarded(self.node, find)?;
        let mut rows = found.into_numbers();
        drop(table);
        let limit = usize::try_from(delete.limit.unwrap_or(u64::MAX));
        rows.truncate(limit.unwrap_or(usize::MAX));
        let remove = |it: &mut Temporary| {
            it.delete(&rows);
            Ok(())
        };
        self.change(&delete.table, 0, remove).await?;
        let affected = rows.len() as u64;
        self.session.wrote(affected, Vec::new(), Vec::new());
        Ok(Outcome::Done {
            affected,
            last_id: 0,
        })
    }

    /// Changes a temporary table; much of it at a time in a turn.
    async fn change<T>(
        &mut self,
        table: &str,
        more: usize,
        change: impl FnOnce(&mut Temporary) -> Result<T, Error>,
    ) -> Result<T, Failure> {
        let is_within = self.session.is_in_transaction();
        let node = self.node;
        if more > crate::limits::GRANT_FREE_BYTES {
            node.long(self.session).await;
        }
        let tables = &mut self.session.temporary;
        let change = || tables.change(&node.table_memory, table, more, is_within, change);
        guarded(node, change)
    }
}

/// Refuses what a DELETE of a temporary table may not have.
pub(super) fn check_delete(delete: &Delete) -> Result<(), Failure> {
    if delete.matching.is_some() {
        return Err(Failure::refused("MATCH needs a search table".to_owned()));
    }
    match delete.order.is_empty() {
        true => Ok(()),
        false => Err(translate::not_yet("DELETE … ORDER BY of a temporary table")),
    }
}

/// Adds the columns of a SELECT that the statement does not define itself.
fn add_selected(columns: &mut Vec<Column>, names: &[String], selected: &Selected) {
    for (at, (name, known)) in names.iter().zip(&selected.known).enumerate() {
        if columns.iter().any(|column| column.name == *name) {
            continue;
        }
        let values = selected.rows.iter().filter_map(|row| row.get(at));
        columns.push(Column {
            name: name.clone(),
            kind: type_of(*known, selected.columns[at].1, values),
            nullable: true,
            default: None,
            keyed: false,
        });
    }
}

/// The type of a column with these values. `shown`: that of the SELECT's column, if it has one.
fn type_of<'v>(
    known: Kept,
    shown: Option<ColumnType>,
    values: impl Iterator<Item = &'v Value>,
) -> ColumnType {
    let (mut some, mut none, mut whole, mut numbers, mut sets) = (false, false, true, true, true);
    for value in values {
        if *value == Value::Null {
            none = true;
            continue;
        }
        some = true;
        whole &= matches!(value, Value::Int(_));
        numbers &= matches!(value, Value::Int(_) | Value::Float(_));
        sets &= matches!(value, Value::Set(_));
    }
    match known {
        Kept::Of(kind) if shown.is_some() => kind,
        Kept::Of(ColumnType::Double) if some && whole => ColumnType::Bigint,
        // An expression that gives texts may give a number that is one of its arguments.
        Kept::Of(ColumnType::String) if some && whole => ColumnType::Bigint,
        Kept::Of(ColumnType::String) if some && numbers => ColumnType::Double,
        Kept::Of(kind) => kind,
        Kept::Null | Kept::Unknown if whole => ColumnType::Bigint,
        Kept::Null | Kept::Unknown if numbers => ColumnType::Double,
        // A set is never NULL.
        Kept::Null | Kept::Unknown if sets && !none => ColumnType::Multi { wide: true },
        Kept::Null | Kept::Unknown => ColumnType::String,
    }
}
