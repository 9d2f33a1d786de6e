//! The program `seine-bench`, which `seine bench` becomes: the command lines of the library `bench`.

#[path = "../../../../crates/cli/src/bundle.rs"]
mod bundle;
mod commands;
#[path = "../../../../crates/cli/src/login.rs"]
mod login;
#[path = "../../../../crates/cli/src/output.rs"]
mod output;

use std::process::ExitCode;

use mimalloc::MiMalloc;

/// The allocator of `seine`, so that work in this process costs what it costs in the server.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    let matches = match commands::command().try_get_matches() {
        Ok(matches) => matches,
        Err(error) => return output::refuse_command_line(&error),
    };
    commands::run(&matches).unwrap_or_else(|error| {
        output::print_error(error);
        ExitCode::FAILURE
    })
}
