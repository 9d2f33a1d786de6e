//! `seine ctl`: asks a Scribe server for its state, or has it stop or read its configuration again.

use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgMatches, Command};
use wire::scribe::{Call, Reply};

use crate::check_command::named;
use crate::output::{Exit, print};
use crate::scribe_client::{addr, connect};

/// The words of the command line, with the calls of fb303 that they stand for.
const CALLS: [(&str, Call<'static>); 7] = [
    ("status", Call::GetStatus),
    ("counters", Call::GetCounters),
    ("version", Call::GetVersion),
    ("name", Call::GetName),
    ("alive", Call::AliveSince),
    ("reload", Call::Reinitialize),
    ("stop", Call::Shutdown),
];

/// The verb's command line.
pub(crate) fn command() -> Command {
    Command::new("ctl")
        .about("Ask a Scribe server for status, counters, version, name or alive; or reload or stop it.")
        .long_about(
            "Ask a Scribe server, Seine or another, over fb303.\n\n\
             reload and stop are obeyed for clients on the server's machine and for addresses of scribe_admin; the server \
             does not answer them. Exit status 1: no answer; 2: wrong usage.",
        )
        .disable_help_flag(true)
        .arg(Arg::new("help").long("help").action(ArgAction::Help).help("Print help."))
        .arg(addr())
        .arg(
            Arg::new("what")
                .value_name("WHAT")
                .required(true)
                .value_parser(CALLS.map(|(word, _)| word))
                .help("What to ask for."),
        )
        .arg(Arg::new("port").value_name("PORT").help("Port on this machine, as in scribe_ctrl."))
}

/// Sends the call and prints the answer.
pub(crate) fn run(matches: &ArgMatches) -> Exit {
    let address = match matches.get_one::<String>("port") {
        Some(port) => format!("127.0.0.1:{port}"),
        None => named(matches, "addr").to_owned(),
    };
    let mut client = connect(&address)?;
    let word = named(matches, "what");
    let call = CALLS
        .iter()
        .find(|(name, _)| *name == word)
        .map_or(Call::GetStatus, |(_, call)| *call);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut is_status = false;
    match client.call(&call)? {
        Reply::Status(status) => {
            print(status.name());
            is_status = true;
        }
        Reply::Text(answer) => print(text(answer)),
        Reply::Number(number) => print(number),
        Reply::Counters(mut counters) => {
            counters.sort_unstable();
            for (name, count) in counters {
                print(format_args!("{}: {count}", text(name)));
            }
        }
        Reply::Done => {}
        Reply::Exception(exception) => return Err(format!("{address}: {exception}").into()),
        other => return Err(format!("{address}: an unexpected answer: {other:?}").into()),
    }
    if is_status
        && let Reply::Text(details) = client.call(&Call::GetStatusDetails)?
        && !details.is_empty()
    {
        print(text(details));
    }
    Ok(ExitCode::SUCCESS)
}
