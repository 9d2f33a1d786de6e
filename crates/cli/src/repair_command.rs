//! `seine repair`: a damaged data directory becomes one that starts, and what is lost is named.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{ArgMatches, Command};
use disk::{Disk, RealDisk};
use engine::inspect;

use crate::check_command::{Progress, directory, named, trouble};

/// Its part of the command line.
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

/// Repairs, and says what was done.
pub(crate) fn run(matches: &ArgMatches) -> ExitCode {
    let path = named(matches, "dir");
    // Looked at first, so that a wrong name makes no folder.
    let opened =
        RealDisk::open_to_read(Path::new(path)).and_then(|_| RealDisk::open(Path::new(path)));
    let disk: Arc<dyn Disk> = match opened {
        Ok(disk) => Arc::new(disk),
        Err(error) => return trouble(&format!("{path}: {error}")),
    };
    let mut progress = Progress::new();
    let repaired = inspect::repair(&disk, &mut |path| progress.show(path));
    progress.clear();
    let repaired = match repaired {
        Ok(Some(repaired)) => repaired,
        Ok(None) => {
            crate::output::print("sound: nothing was changed");
            return ExitCode::SUCCESS;
        }
        Err(error) => return trouble(&error.to_string()),
    };
    for fault in &repaired.faults {
        crate::output::print(&format!("fault: {fault}"));
    }
    for aside in &repaired.aside {
        crate::output::print(&format!("aside: {}/{aside}", repaired.folder));
    }
    if repaired.documents_saved > 0 {
        let saved = repaired.documents_saved;
        crate::output::print(&format!("saved: {saved} documents of damaged segments"));
    }
    for loss in &repaired.losses {
        crate::output::print(&format!("lost: {loss}"));
    }
    if repaired.losses.is_empty() {
        crate::output::print("lost: nothing");
    }
    crate::output::print(&format!(
        "repaired; {}/report.txt says the same",
        repaired.folder
    ));
    ExitCode::SUCCESS
}
