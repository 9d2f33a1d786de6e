//! Text for the person who typed the command.

use std::io::Write;

/// Text on standard output, at once. Whoever closed it does not want to know.
pub(crate) fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{text}").and_then(|()| out.flush());
}

/// One line on standard error, for the person who typed the command.
#[expect(
    clippy::print_stderr,
    reason = "the one place of this program that speaks to a person beside the log"
)]
pub(crate) fn print_error(message: &str) {
    eprintln!("seine: {message}");
}
