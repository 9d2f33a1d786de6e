//! The journal as the engine sees it: files of its own, or a log that another machine keeps.

use journal::{LocalLog, Log};

/// The log that an engine writes to or follows, by the place where it is stored.
pub enum Journal {
    /// In files on a device of this machine. The device may be full, and a backup copies the files.
    Local(Box<dyn LocalLog>),
    /// Not in files of this machine. The engine holds back no room for it, and makes no backups.
    Remote(Box<dyn Log>),
}

impl Journal {
    pub(super) fn log(&self) -> &dyn Log {
        match self {
            Journal::Local(log) => &**log,
            Journal::Remote(log) => &**log,
        }
    }

    pub(super) fn log_mut(&mut self) -> &mut dyn Log {
        match self {
            Journal::Local(log) => &mut **log,
            Journal::Remote(log) => &mut **log,
        }
    }

    pub(super) fn local(&self) -> Option<&dyn LocalLog> {
        match self {
            Journal::Local(log) => Some(&**log),
            Journal::Remote(_) => None,
        }
    }
}
