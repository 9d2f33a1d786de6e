//! `seine cat`: standard input into a category of a Scribe server.

use std::io::{BufRead, BufReader, Read};
use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgMatches, Command};
use wire::scribe::ResultCode;

use crate::check_command::named;
use crate::output::{Exit, print_error};
use crate::scribe_client::{addr, connect};

/// The server answered TRY_LATER; the exit status of Scribe's own tool.
const EXIT_TRY_LATER: u8 = 84;

/// Lines and bytes of one call, at most. A call ends earlier where standing input pauses.
const CALL_LINES: usize = 1_000;
const CALL_BYTES: usize = 256 << 10;

/// Longest line and longest standard input with `--whole`, in bytes: less than the longest message of the door.
const MESSAGE_BYTES_MAX: u64 = 100 << 20;

/// The verb's command line.
pub(crate) fn command() -> Command {
    Command::new("cat")
        .about("Send standard input to a category of a Scribe server, a line a message.")
        .long_about(
            "Send standard input to a category of a Scribe server. Each line is a message, with its line feed.\n\n\
             Exit status 0: the server has all of it; 84: it answered TRY_LATER; 1: another failure. The error says how many \
             lines the server has.",
        )
        .disable_help_flag(true)
        .arg(Arg::new("help").long("help").action(ArgAction::Help).help("Print help."))
        .arg(addr())
        .arg(Arg::new("whole").long("whole").action(ArgAction::SetTrue).help("Send all of standard input as one message."))
        .arg(Arg::new("category").value_name("CATEGORY").required(true).help("The category."))
}

/// Sends standard input.
pub(crate) fn run(matches: &ArgMatches) -> Exit {
    let mut client = connect(named(matches, "addr"))?;
    let category = named(matches, "category").as_bytes();
    let mut input = BufReader::with_capacity(CALL_BYTES, std::io::stdin());
    let unread = |error: std::io::Error| format!("standard input: {error}");
    if matches.get_flag("whole") {
        let mut whole = Vec::new();
        let bytes = (&mut input)
            .take(MESSAGE_BYTES_MAX + 1)
            .read_to_end(&mut whole)
            .map_err(unread)?;
        if bytes as u64 > MESSAGE_BYTES_MAX {
            return Err(format!(
                "standard input has more than {MESSAGE_BYTES_MAX} bytes: send it in parts"
            )
            .into());
        }
        return Ok(ended(client.log_lines([(category, &whole[..])])?, 0));
    }
    let (mut sent, mut text, mut ends) = (0, Vec::new(), Vec::new());
    loop {
        let bytes = (&mut input)
            .take(MESSAGE_BYTES_MAX + 1)
            .read_until(b'\n', &mut text)
            .map_err(unread)?;
        if bytes as u64 > MESSAGE_BYTES_MAX {
            return Err(format!(
                "line {} has more than {MESSAGE_BYTES_MAX} bytes",
                sent + ends.len() + 1
            )
            .into());
        }
        if bytes > 0 {
            ends.push(text.len());
        }
        let is_full = ends.len() >= CALL_LINES || text.len() >= CALL_BYTES;
        let is_paused = input.buffer().is_empty();
        if (bytes == 0 || is_full || is_paused) && !ends.is_empty() {
            let starts = std::iter::once(0).chain(ends.iter().copied());
            let lines = starts
                .zip(&ends)
                .filter_map(|(start, end)| text.get(start..*end));
            let code = client
                .log_lines(lines.map(|line| (category, line)))
                .map_err(|error| format!("{error}; the server has {sent} lines"))?;
            if code != ResultCode::Ok {
                return Ok(ended(code, sent));
            }
            sent += ends.len();
            text.clear();
            ends.clear();
        }
        if bytes == 0 {
            return Ok(ExitCode::SUCCESS);
        }
    }
}

fn ended(code: ResultCode, sent: usize) -> ExitCode {
    match code {
        ResultCode::Ok => ExitCode::SUCCESS,
        ResultCode::TryLater => {
            print_error(format_args!("TRY_LATER; the server has {sent} lines"));
            ExitCode::from(EXIT_TRY_LATER)
        }
    }
}
