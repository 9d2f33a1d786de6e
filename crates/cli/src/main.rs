//! The binary `seine`: its command line and its verbs.

mod allocator;
mod attribution_command;
mod bench_command;
mod bundle;
mod cat_command;
mod check_command;
mod cli;
mod ctl_command;
mod demo;
mod dump_command;
mod files;
mod load_command;
mod log_command;
mod login;
mod marks;
mod match_command;
mod output;
mod progress;
mod queries;
mod repair_command;
mod report_output;
mod restore_command;
mod scribe_client;
mod sql_client;
mod tail_command;
mod window;

use std::process::ExitCode;

use clap::{ArgMatches, FromArgMatches};

use crate::output::{EXIT_USAGE, refuse, refuse_command_line};

fn main() -> ExitCode {
    let matches = match cli::command().try_get_matches() {
        Ok(matches) => matches,
        Err(error) => return refuse_command_line(&error),
    };
    let exit = match matches.subcommand() {
        Some(("serve", matches)) => Ok(serve(matches)),
        Some(("config", matches)) => Ok(config(matches)),
        Some(("sql", matches)) => sql_client::run(matches),
        Some(("load", matches)) => load_command::run(matches),
        Some(("attribution", matches)) => attribution_command::run(matches),
        Some(("log", matches)) => log_command::run(matches),
        Some(("match", matches)) => Ok(match_command::run(matches)),
        Some(("bench", matches)) => bench_command::run(matches),
        Some(("check", matches)) => check_command::run(matches),
        Some(("dump", matches)) => dump_command::run(matches),
        Some(("repair", matches)) => repair_command::run(matches),
        Some(("restore", matches)) => restore_command::run(matches),
        Some(("cat", matches)) => cat_command::run(matches),
        Some(("ctl", matches)) => ctl_command::run(matches),
        Some(("tail", matches)) => tail_command::run(matches),
        Some(("demo", matches)) => Ok(match demo::Options::from_arg_matches(matches) {
            Ok(options) => demo::run(options),
            Err(error) => refuse_command_line(&error),
        }),
        _ => Ok(ExitCode::from(EXIT_USAGE)),
    };
    exit.unwrap_or_else(|error| {
        output::print_error(error);
        ExitCode::FAILURE
    })
}

fn serve(matches: &ArgMatches) -> ExitCode {
    match cli::settings(matches) {
        Ok(settings) => match allocator::keep_to(settings.memory_bytes) {
            Ok(()) => server::serve(settings, &|| cli::settings(matches), &|line| {
                output::print(line)
            }),
            Err(error) => {
                output::print_error(format_args!("cannot start a thread: {error}"));
                ExitCode::FAILURE
            }
        },
        Err(error) => refuse(&error.to_string()),
    }
}

fn config(matches: &ArgMatches) -> ExitCode {
    match cli::settings(matches) {
        Ok(settings) => {
            output::print(server::settings::lines(&settings).join("\n"));
            ExitCode::SUCCESS
        }
        Err(error) => refuse(&error.to_string()),
    }
}
