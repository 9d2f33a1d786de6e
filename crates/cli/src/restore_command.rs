//! `seine restore`: makes a data directory from a backup.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Arg, ArgMatches, Command};
use disk::{Disk, RealDisk};
use engine::inspect;

use crate::check_command::{directory, named, readable};
use crate::output::{Exit, print};
use crate::progress::Progress;

/// The verb's command line.
pub(crate) fn command() -> Command {
    Command::new("restore")
        .about("Copy a backup into a new data directory and verify it.")
        .long_about(
            "Copy a backup into a new data directory and verify it.\n\n\
             The backup is verified first and never changed; the directory must be empty or missing.\n\
             Exit status 0: a server may start on it; 1: something is wrong.",
        )
        .arg(
            Arg::new("backup")
                .value_name("BACKUP")
                .required(true)
                .help("What BACKUP TO has made."),
        )
        .arg(directory())
}

/// Restores the backup and prints the count of files.
pub(crate) fn run(matches: &ArgMatches) -> Exit {
    let files = restore(named(matches, "backup"), named(matches, "dir"))?;
    print(format_args!("restored {files} files, and verified them"));
    Ok(ExitCode::SUCCESS)
}

fn restore(backup: &str, dir: &str) -> Result<u64, String> {
    readable(Path::new(backup))?;
    let from = RealDisk::open_to_read(Path::new(backup));
    let from: Arc<dyn Disk> = Arc::new(from.map_err(|error| format!("{backup}: {error}"))?);
    sound(backup, &from)?;
    let to = RealDisk::open(Path::new(dir)).map_err(|error| format!("{dir}: {error}"))?;
    let to: Arc<dyn Disk> = Arc::new(to);
    let files = engine::restore(&from, &to).map_err(|error| format!("{dir}: {error}"))?;
    sound(dir, &to)?;
    Ok(files)
}

fn sound(name: &str, disk: &Arc<dyn Disk>) -> Result<(), String> {
    let mut progress = Progress::on_terminal();
    let checked = inspect::check(disk, &mut |path| progress.show(path));
    progress.clear();
    let checked = checked.map_err(|error| format!("{name}: {error}"))?;
    match checked.faults.first() {
        Some(fault) => Err(format!("{name} is damaged: {fault}")),
        None => Ok(()),
    }
}
