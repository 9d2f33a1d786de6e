//! A page or a workbook on disk. It is written beside its place and renamed, so a reader sees the old file or the new one, whole.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::files::shown;

/// Refuses a place where no file can be written.
///
/// # Errors
/// A message with the path.
pub(super) fn check(path: &Path) -> Result<(), String> {
    if path.is_dir() {
        return Err(format!("{} is a directory: name a file", shown(path)));
    }
    let tried = match beside(path) {
        Some((_, new)) => File::create(&new).and_then(|_| fs::remove_file(&new)),
        None => Ok(()),
    };
    tried.map_err(|error| failed(path, &error))
}

/// Writes the file.
///
/// # Errors
/// A message with the path; the old file stays.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let written = match beside(path) {
        Some((place, new)) => {
            let written = write_all(&new, bytes).and_then(|()| fs::rename(&new, &place));
            if written.is_err() {
                // The message below is about the first failure.
                let _ = fs::remove_file(&new);
            }
            written
        }
        None => fs::write(path, bytes),
    };
    written.map_err(|error| failed(path, &error))
}

fn write_all(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn failed(path: &Path, error: &io::Error) -> String {
    format!("cannot write {}: {error}", shown(path))
}

/// The place of the file behind links, and the path beside it that gets the new file. `None`: the path is a device or a pipe,
/// which no rename may replace.
fn beside(path: &Path) -> Option<(PathBuf, PathBuf)> {
    let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if place.metadata().is_ok_and(|about| !about.is_file()) {
        return None;
    }
    let name = place.file_name()?.to_string_lossy().into_owned();
    let new = place.with_file_name(format!(".{name}.{}.new", std::process::id()));
    Some((place, new))
}
