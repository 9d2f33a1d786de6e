//! `seine check`: verifies every file of a stopped data directory.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Arg, ArgMatches, Command};
use disk::{Disk, RealDisk};
use engine::inspect;
use rustix::process::geteuid;

use crate::output::{Exit, print};
use crate::progress::Progress;

/// The verb's command line.
pub(crate) fn command() -> Command {
    Command::new("check")
        .about("Verify every file of a data directory that no server has; change nothing.")
        .long_about(
            "Verify every file of a data directory, or of a backup, that no server has; change nothing.\n\n\
             Prints one line a kind of file, then one a fault, with file and byte.\n\
             Exit status 0: sound; 1: something is wrong.\n\n\
             With --scribe-config FILE, Scribe's configuration is checked instead, by the defaults of Scribe 2.2.",
        )
        .arg(directory().required(false).required_unless_present("scribe-config"))
        .arg(
            Arg::new("scribe-config")
                .long("scribe-config")
                .value_name("FILE")
                .conflicts_with("dir")
                .help("Check a configuration file of Scribe instead: print each mistake with its line."),
        )
}

/// Prints what is wrong in a configuration of Scribe.
fn check_scribe(path: &str) -> Exit {
    let checked = server::check_scribe(Path::new(path))?;
    for problem in &checked.problems {
        print(problem);
    }
    print(format_args!("{} stores", checked.stores));
    Ok(match checked.is_sound {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// The data directory, as an argument.
pub(crate) fn directory() -> Arg {
    Arg::new("dir")
        .value_name("DIR")
        .required(true)
        .help("The data directory.")
}

/// Checks the directory and prints the damage.
pub(crate) fn run(matches: &ArgMatches) -> Exit {
    if let Some(path) = matches.get_one::<String>("scribe-config") {
        return check_scribe(path);
    }
    let disk = open(matches)?;
    let mut progress = Progress::on_terminal();
    let checked = inspect::check(&disk, &mut |path| progress.show(path));
    progress.clear();
    let checked = checked?;
    for kind in &checked.kinds {
        print(format_args!(
            "{:<11} {:>6} files {:>15} bytes  {}",
            kind.name, kind.files, kind.bytes, kind.holds
        ));
    }
    for note in &checked.notes {
        print(format_args!("note: {note}"));
    }
    for fault in &checked.faults {
        print(format_args!("fault: {fault}"));
    }
    for loss in &checked.losses {
        print(format_args!("lost: {loss}"));
    }
    Ok(match checked.faults.len() {
        0 => {
            print("sound");
            ExitCode::SUCCESS
        }
        faults => {
            print(format_args!(
                "{faults} faults; seine repair puts aside what is damaged"
            ));
            ExitCode::FAILURE
        }
    })
}

/// Opens the directory read-only.
pub(crate) fn open(matches: &ArgMatches) -> Result<Arc<dyn Disk>, String> {
    let path = named(matches, "dir");
    readable(Path::new(path))?;
    match RealDisk::open_to_read(Path::new(path)) {
        Ok(disk) => Ok(Arc::new(disk)),
        Err(error) => Err(format!("{path}: {error}")),
    }
}

/// Refuses a directory of which this user may not read everything, by the first file or folder without the right. Links are not
/// followed. What is missing is for others to say.
pub(crate) fn readable(path: &Path) -> Result<(), String> {
    let refused = |path: &Path| {
        let owner = path.symlink_metadata().map(|it| it.uid());
        let owner = owner.map_or_else(|_| "its owner".to_owned(), |uid| format!("user {uid}"));
        format!(
            "{}: no right to read it as user {}: run this as {owner}, the user of the server",
            path.display(),
            geteuid()
        )
    };
    let is_refused = |error: &io::Error| error.kind() == io::ErrorKind::PermissionDenied;
    match path.symlink_metadata() {
        Err(error) if is_refused(&error) => return Err(refused(path)),
        Err(_) => return Ok(()),
        Ok(facts) if facts.is_file() => {
            return match fs::File::open(path) {
                Err(error) if is_refused(&error) => Err(refused(path)),
                Ok(_) | Err(_) => Ok(()),
            };
        }
        Ok(facts) if !facts.is_dir() => return Ok(()),
        Ok(_) => {}
    }
    match fs::read_dir(path) {
        Err(error) if is_refused(&error) => Err(refused(path)),
        Err(_) => Ok(()),
        Ok(entries) => entries
            .filter_map(io::Result::ok)
            .try_for_each(|entry| readable(&entry.path())),
    }
}

/// Value of a required argument.
pub(crate) fn named<'m>(matches: &'m ArgMatches, name: &str) -> &'m str {
    matches.get_one::<String>(name).map_or("", String::as_str)
}
