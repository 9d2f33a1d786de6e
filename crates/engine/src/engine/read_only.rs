//! A directory that is only read: recovery happens in memory, over the files as they are, and no command changes anything.

use std::sync::Arc;

use disk::{Disk, Overlay};

use crate::command::{Command, Reply};
use crate::error::{Error, Result};
use crate::failure;

/// The disk for an engine that writes nothing: whatever it would change stays in memory.
pub(super) fn over(disk: Arc<dyn Disk>) -> Result<Arc<dyn Disk>> {
    let overlay = Overlay::new(disk).map_err(|error| failure::of_file("", &error))?;
    Ok(Arc::new(overlay))
}

/// What a command comes to without being done; `None`: it only reads, and is done as ever. Queues are only looked into:
/// a wait would take a row from the view of others, and nothing could let go of it for good.
pub(super) fn refused(command: &Command) -> Option<Result<Reply>> {
    match command {
        Command::Read { .. }
        | Command::QueueStats { .. }
        | Command::QueueAbort
        | Command::QueueRowId
        | Command::SessionClosed
        | Command::Shutdown => None,
        _ => Some(Err(Error::ReadOnly)),
    }
}
