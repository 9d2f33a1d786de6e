//! The window of the person at the terminal: its columns, and whether it shows colours.

use std::io::{IsTerminal, stdout};
use std::os::fd::AsFd;

use rustix::termios::tcgetwinsize;

/// Columns of the window behind this output; `None` without one.
pub(crate) fn columns(output: impl AsFd) -> Option<usize> {
    let size = tcgetwinsize(output).ok()?;
    (size.ws_col > 0).then_some(usize::from(size.ws_col))
}

/// Whether standard output may have colours: it is a terminal that has some, and NO_COLOR is empty or not set.
pub(crate) fn has_colour() -> bool {
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    let is_refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    stdout().is_terminal() && !is_dumb && !is_refused
}
