//! `seine repair`: changes a damaged data directory so that a server starts on it, and names the losses.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{ArgMatches, Command};
use disk::{Disk, RealDisk};
use engine::inspect;

use crate::check_command::{directory, named, readable};
use crate::output::{Exit, print};
use crate::progress::Progress;

/// The verb's command line.
pub(crate) fn command() -> Command {
    Command::new("repair")
        .about("Put aside what is damaged in a data directory that no server has, and say what is lost.")
        .long_about(
            "Put aside what is damaged in a data directory that no server has, and say what is lost.\n\n\
             Asks nothing and changes nothing in a sound directory. Damaged files go to DIR/damaged-<n>, with a report; what\n\
             can be read is kept; the next start works.\n\
             Exit status 0: sound, or repaired; 1: neither.",
        )
        .arg(directory())
}

/// Repairs the directory and prints the changes.
pub(crate) fn run(matches: &ArgMatches) -> Exit {
    let path = named(matches, "dir");
    readable(Path::new(path))?;
    // Open it read-only first, so that a wrong name creates no folder.
    let opened =
        RealDisk::open_to_read(Path::new(path)).and_then(|_| RealDisk::open(Path::new(path)));
    let disk: Arc<dyn Disk> = Arc::new(opened.map_err(|error| format!("{path}: {error}"))?);
    let mut progress = Progress::on_terminal();
    let repaired = inspect::repair(&disk, &mut |path| progress.show(path));
    progress.clear();
    let Some(repaired) = repaired? else {
        print("sound: nothing was changed");
        return Ok(ExitCode::SUCCESS);
    };
    for fault in &repaired.faults {
        print(format_args!("fault: {fault}"));
    }
    for aside in &repaired.aside {
        print(format_args!("aside: {}/{aside}", repaired.folder));
    }
    if repaired.documents_saved > 0 {
        let saved = repaired.documents_saved;
        print(format_args!("saved: {saved} documents of damaged segments"));
    }
    for loss in &repaired.losses {
        print(format_args!("lost: {loss}"));
    }
    if repaired.losses.is_empty() {
        print("lost: nothing");
    }
    print(format_args!(
        "repaired; {}/report.txt says the same",
        repaired.folder
    ));
    Ok(ExitCode::SUCCESS)
}
