//! The binary `seine`: settings, doors, sessions, health, metrics. What another crate could hold is not here.

mod allocator;
mod auth;
mod backups;
mod bench_command;
mod budget;
mod bundle;
mod check_command;
mod cli;
mod clock;
mod demo;
mod dump_command;
mod errors;
mod faults;
mod http;
mod limits;
mod listen;
mod load_command;
mod logins;
mod logs;
mod match_command;
mod mysql;
mod node;
mod places;
mod repair_command;
mod restore_command;
mod searches;
mod serve;
mod settings;
mod signals;
mod sql_client;
mod statement;
mod status;
mod webhook;

use std::io::Write;
use std::process::ExitCode;

use clap::{ArgMatches, FromArgMatches};

/// The command line or a setting is wrong.
const EXIT_USAGE: u8 = 2;

fn main() -> ExitCode {
    let matches = match cli::command().try_get_matches() {
        Ok(matches) => matches,
        Err(error) => return refuse_command_line(&error),
    };
    match matches.subcommand() {
        Some(("serve", matches)) => serve(matches),
        Some(("config", matches)) => config(matches),
        Some(("sql", matches)) => sql_client::run(matches),
        Some(("load", matches)) => load_command::run(matches),
        Some(("match", matches)) => match_command::run(matches),
        Some(("bench", matches)) => bench_command::run(matches),
        Some(("check", matches)) => check_command::run(matches),
        Some(("dump", matches)) => dump_command::run(matches),
        Some(("repair", matches)) => repair_command::run(matches),
        Some(("restore", matches)) => restore_command::run(matches),
        Some(("demo", matches)) => match demo::Options::from_arg_matches(matches) {
            Ok(options) => demo::run(options),
            Err(error) => refuse_command_line(&error),
        },
        _ => ExitCode::from(EXIT_USAGE),
    }
}

fn serve(matches: &ArgMatches) -> ExitCode {
    match cli::settings(matches) {
        Ok(settings) => serve::serve(settings, &|| cli::settings(matches)),
        Err(error) => refuse(&error.to_string()),
    }
}

fn config(matches: &ArgMatches) -> ExitCode {
    match cli::settings(matches) {
        Ok(settings) => {
            say(&settings::lines(&settings).join("\n"));
            ExitCode::SUCCESS
        }
        Err(error) => refuse(&error.to_string()),
    }
}

fn refuse_command_line(error: &clap::Error) -> ExitCode {
    match cli::one_line(error) {
        Some(line) => refuse(&line),
        None => {
            // Help was asked for; a closed output is nobody's fault.
            let _ = error.print();
            ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(EXIT_USAGE))
        }
    }
}

fn refuse(message: &str) -> ExitCode {
    say_error(message);
    ExitCode::from(EXIT_USAGE)
}

/// Text on standard output, at once. Whoever closed it does not want to know.
fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{text}").and_then(|()| out.flush());
}

/// One line on standard error, for the person who typed the command.
#[expect(
    clippy::print_stderr,
    reason = "the one place of this program that speaks to a person beside the log"
)]
fn say_error(message: &str) {
    eprintln!("seine: {message}");
}
