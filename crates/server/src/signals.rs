//! The operating system's signals that the server obeys.

use std::io;

use tokio::signal::unix::{self, SignalKind};

/// Request of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// SIGTERM or SIGINT: finish the statements and end.
    Stop,
    /// SIGHUP: read the settings again, and open the query log again.
    Reload,
    /// SIGUSR1: open the query log again, as Sphinx and Manticore do.
    Reopen,
}

/// The stream of signals. Rust's runtime ignores SIGPIPE: a write to a vanished client fails instead.
pub(crate) struct Signals {
    terminate: unix::Signal,
    interrupt: unix::Signal,
    hang_up: unix::Signal,
    user: unix::Signal,
}

impl Signals {
    /// Handles the signals from now on.
    pub(crate) fn new() -> io::Result<Signals> {
        Ok(Signals {
            terminate: unix::signal(SignalKind::terminate())?,
            interrupt: unix::signal(SignalKind::interrupt())?,
            hang_up: unix::signal(SignalKind::hangup())?,
            user: unix::signal(SignalKind::user_defined1())?,
        })
    }

    /// Waits for the next signal.
    pub(crate) async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.terminate.recv() => Signal::Stop,
            _ = self.interrupt.recv() => Signal::Stop,
            _ = self.hang_up.recv() => Signal::Reload,
            _ = self.user.recv() => Signal::Reopen,
        }
    }
}
