//! Rights: which client may do which deed to which table.
//!
//! Doors and statements reach tables only by [`Node::submit`](crate::Node::submit) and [`Node::snapshot`](crate::Node::snapshot).
//! Deeds without a table, such as KILL, ask [`Node::permit`](crate::Node::permit). All three call [`check`], so a right is
//! refused there or nowhere.

use engine::{Command, Definition, Kind, Write};

use crate::errors::{self, Failure};
use crate::session::Session;

/// Kind of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// Shows rows, or a table's definition and numbers.
    Read,
    /// Stores or deletes rows.
    Write,
    /// Takes, ends or returns rows of a queue.
    Take,
    /// Creates, alters or drops a table.
    Define,
    /// Writes files, pauses a queue, ends a connection.
    Maintain,
    /// Copies all tables to a folder that the client names.
    Backup,
}

/// A deed and its table's name, in any case of letters. `None`: the server itself, or all tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Action<'a>(pub Deed, pub Option<&'a str>);

/// Checks whether the client of a session may do this. Everybody may do everything but write a backup. That needs a client on
/// a unix socket, which could write to the folder itself, or `backups_are_open`.
///
/// # Errors
/// `NOT_PERMITTED`.
pub(crate) fn check(
    session: &Session,
    backups_are_open: bool,
    action: Action<'_>,
) -> Result<(), Failure> {
    let is_free = session.is_on_unix_socket || backups_are_open;
    if action.0 == Deed::Backup && !is_free {
        let message = "BACKUP TO any path is for clients on a unix socket: set backup.dir, or start the server with --insecure";
        return Err(Failure::new(errors::NOT_PERMITTED, message));
    }
    Ok(())
}

/// Calls `check` for every action of a command; stops at the first refusal. A session needs no right to end or return the row
/// that it owns: taking the row needed one. A client creates a table that reads other tables or writes into them only with those
/// rights of its own.
pub(crate) fn each(
    command: &Command,
    check: &mut dyn FnMut(Action<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    match command {
        Command::Within(inner) => each(inner, check),
        Command::Series(commands) => commands.iter().try_for_each(|one| each(one, check)),
        Command::Write(write) => check(Action(Deed::Write, Some(write.table()))),
        Command::Many(writes) => all(Deed::Write, writes.iter().map(Write::table), check),
        Command::CreateTable { definition, .. } => defines(definition, check),
        Command::AlterTable { table, .. } => check(Action(Deed::Define, Some(table))),
        Command::RenameTables { renames } => {
            let names = renames.iter().flat_map(|(from, to)| [from, to]);
            all(Deed::Define, names, check)
        }
        Command::AlterLocals { table, locals } => {
            check(Action(Deed::Define, Some(table)))?;
            all(Deed::Read, locals, check)
        }
        Command::DropTable { tables, .. } => all(Deed::Define, tables, check),
        Command::Truncate { table }
        | Command::Load { table, .. }
        | Command::QueuePurge { table } => check(Action(Deed::Write, Some(table))),
        Command::Look { tables, .. } => all(Deed::Read, tables, check),
        Command::Read { select } => check(Action(Deed::Read, Some(&select.table))),
        Command::QueueStats { table } | Command::Source { table } => {
            check(Action(Deed::Read, Some(table)))
        }
        Command::Transactions => check(Action(Deed::Read, None)),
        Command::QueueWait { sources, .. } => all(
            Deed::Take,
            sources.iter().map(|source| &source.table),
            check,
        ),
        Command::QueueNext(next) => {
            let done = next.done.iter().map(|receipt| &receipt.table);
            let sources = next.sources.iter().map(|source| &source.table);
            all(Deed::Take, done.chain(sources), check)
        }
        Command::QueueDone { receipts }
        | Command::QueueReturn { receipts, .. }
        | Command::QueueExtend { receipts, .. } => {
            let tables = receipts.iter().map(|receipt| &receipt.table);
            all(Deed::Take, tables, check)
        }
        Command::QueuePause { table, .. }
        | Command::QueueCompact { table }
        | Command::Optimize { table } => check(Action(Deed::Maintain, Some(table))),
        Command::Flush { tables } if !tables.is_empty() => all(Deed::Maintain, tables, check),
        Command::Flush { .. }
        | Command::Collected { .. }
        | Command::Checkpoint
        | Command::Shutdown => check(Action(Deed::Maintain, None)),
        Command::Collect { .. } => check(Action(Deed::Write, None)),
        Command::Backup { .. } => check(Action(Deed::Backup, None)),
        Command::QueueEnd
        | Command::QueueAbort
        | Command::QueueRowId
        | Command::QueueSetSource { .. }
        | Command::Commit
        | Command::Rollback
        | Command::EndWait
        | Command::SessionClosed => Ok(()),
    }
}

/// The actions of CREATE TABLE.
fn defines(
    definition: &Definition,
    check: &mut dyn FnMut(Action<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    check(Action(Deed::Define, Some(&definition.name)))?;
    match &definition.kind {
        Kind::Search(_) => Ok(()),
        Kind::Distributed { locals } => all(Deed::Read, locals, check),
        Kind::Percolate { on, into, .. } => {
            all(Deed::Read, on, check)?;
            all(Deed::Write, into, check)
        }
        Kind::Queue(options) => all(Deed::Write, &options.dead, check),
    }
}

fn all<'t>(
    deed: Deed,
    tables: impl IntoIterator<Item = &'t (impl AsRef<str> + ?Sized + 't)>,
    check: &mut dyn FnMut(Action<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut tables = tables.into_iter();
    tables.try_for_each(|table| check(Action(deed, Some(table.as_ref()))))
}

#[cfg(test)]
mod tests;
