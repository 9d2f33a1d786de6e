//! `seine bench`: becomes the program `seine-bench`, which is built apart, so that the server's build has no benchmarks in it.
//!
//! The program is the path of this executable with `-bench` behind it: `seine-bench` beside `seine`, `seine-77-bench` beside
//! `seine-77`. Thus each of several builds in a folder has its own benchmarks. Without that file it is `seine-bench` on the PATH.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;

use clap::{Arg, ArgMatches, Command, value_parser};

use crate::output::{Exit, refuse};

/// Name of the program on the PATH.
const PROGRAM: &str = "seine-bench";

/// The verb's command line: whatever follows is the program's.
pub(crate) fn command() -> Command {
    Command::new("bench")
        .about("Measure, and check the answer: a figure is printed only for a right one. Starts seine-bench.")
        .disable_help_flag(true)
        .arg(
            Arg::new("arguments")
                .value_name("ARGUMENT")
                .num_args(0..)
                .trailing_var_arg(true)
                .allow_hyphen_values(true)
                .value_parser(value_parser!(OsString))
                .help("Arguments of seine-bench, among them --help."),
        )
}

/// Becomes the program, with its arguments; returns only if it cannot be started.
pub(crate) fn run(matches: &ArgMatches) -> Exit {
    let arguments = matches.get_many::<OsString>("arguments");
    let mut beside = std::env::current_exe()?.into_os_string();
    beside.push("-bench");
    let beside = PathBuf::from(beside);
    let program = match beside.exists() {
        true => beside.clone(),
        false => PathBuf::from(PROGRAM),
    };
    let mut command = std::process::Command::new(&program);
    let error = command.args(arguments.into_iter().flatten()).exec();
    if error.kind() != ErrorKind::NotFound {
        return Err(format!("cannot start {}: {error}", program.display()).into());
    }
    Ok(refuse(&format!(
        "the benchmarks are a program of their own: there is no {}, and no {PROGRAM} on the PATH; build it in the source's \
         folder with cargo build --release --manifest-path bench/Cargo.toml",
        beside.display()
    )))
}
