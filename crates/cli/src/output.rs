//! Text for the person who typed the command. `bench` has this file as a module, too.

use std::error::Error;
use std::fmt::Display;
use std::io::Write;
use std::process::ExitCode;

use clap::error::ErrorKind;

/// The exit status of a verb, or an error: the verb prints it and ends with 1.
pub(crate) type Exit = Result<ExitCode, Box<dyn Error>>;

/// The command line or a setting is wrong.
pub(crate) const EXIT_USAGE: u8 = 2;

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

/// Prints why the command line is refused, or the help that it asks for.
pub(crate) fn refuse_command_line(error: &clap::Error) -> ExitCode {
    match one_line(error) {
        Some(line) => refuse(&line),
        None => {
            // Print the help. A closed output is no error.
            let _ = error.print();
            ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(EXIT_USAGE))
        }
    }
}

/// Prints why nothing is done.
pub(crate) fn refuse(message: &str) -> ExitCode {
    print_error(message);
    ExitCode::from(EXIT_USAGE)
}

/// The error of a command line in one line: clap's message and its tip, without the usage text. `None`: help is asked for.
fn one_line(error: &clap::Error) -> Option<String> {
    if matches!(
        error.kind(),
        ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    ) {
        return None;
    }
    let text = error.render().to_string();
    let wanted = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let wanted =
        wanted.take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"));
    let parts: Vec<&str> = wanted
        .map(|line| line.trim_start_matches("error: "))
        .collect();
    Some(parts.join("; ").replace("tip: ", ""))
}
