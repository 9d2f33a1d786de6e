//! The log that an engine writes to or follows.

use journal::{LocalLog, Log};

/// Where the journal is.
pub enum Journal {
    /// In files on a device of this machine: it may be full, and a backup copies its files.
    Local(Box<dyn LocalLog>),
    /// Elsewhere. Room there is not this engine's concern.
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
