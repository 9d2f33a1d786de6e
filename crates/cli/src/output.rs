//! Text for the person who typed the command.

use std::error::Error;
use std::fmt::Display;
use std::io::Write;
use std::process::ExitCode;

/// The exit status of a verb, or an error: the verb prints it and ends with 1.
pub(crate) type Exit = Result<ExitCode, Box<dyn Error>>;

/// Prints text on standard output and flushes it. Ignores a closed output.
pub(crate) fn print(text: impl Display) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{text}").and_then(|()| out.flush());
}

/// Prints a line on standard error, for the person who typed the command.
#[expect(
    clippy::print_stderr,
    reason = "the one place of this program that speaks to a person beside the log"
)]
pub(crate) fn print_error(message: impl Display) {
    eprintln!("seine: {message}");
}
