//! An engine with [`crate::Options::read_only`]: recovery happens in memory, over the files as they are, and commands that would
//! change something are refused.

use std::sync::Arc;

use disk::{Disk, Overlay};

use crate::command::{Command, Reply};
use crate::error::{Error, Result};
use crate::failure;

/// A disk whose writes stay in memory, over the files of `disk`.
pub(super) fn over(disk: Arc<dyn Disk>) -> Result<Arc<dyn Disk>> {
    let overlay = Overlay::new(disk).map_err(|error| failure::of_file("", &error))?;
    Ok(Arc::new(overlay))
}

/// The refusal of a command on a read-only directory or a follower; `None` for a command that may be done, since it changes no
/// row. A wait is refused: its session would own a row and could never end it.
pub(super) fn refused(command: &Command) -> Option<Result<Reply>> {
    match command {
        Command::Read { .. }
        | Command::Source { .. }
        | Command::QueueStats { .. }
        | Command::Transactions
        | Command::QueueAbort
        | Command::QueueRowId
        | Command::EndWait
        | Command::SessionClosed
        | Command::Commit
        | Command::Rollback
        | Command::Shutdown => None,
        Command::Series(members) => members.iter().find_map(refused),
        Command::Within(inner) => match **inner {
            Command::Look { .. } => None,
            ref inner => refused(inner),
        },
        Command::CreateTable { .. }
        | Command::DropTable { .. }
        | Command::Write(_)
        | Command::Look { .. }
        | Command::Many(_)
        | Command::QueueWait { .. }
        | Command::QueueNext(_)
        | Command::QueueDone { .. }
        | Command::QueueReturn { .. }
        | Command::QueueExtend { .. }
        | Command::QueueEnd
        | Command::QueueSetSource { .. }
        | Command::QueueCompact { .. }
        | Command::QueuePause { .. }
        | Command::QueuePurge { .. }
        | Command::Truncate { .. }
        | Command::AlterTable { .. }
        | Command::RenameTables { .. }
        | Command::AlterLocals { .. }
        | Command::Collect { .. }
        | Command::Collected { .. }
        | Command::Backup { .. }
        | Command::Load { .. }
        | Command::Flush { .. }
        | Command::Optimize { .. }
        | Command::Checkpoint => Some(Err(Error::ReadOnly)),
    }
}
