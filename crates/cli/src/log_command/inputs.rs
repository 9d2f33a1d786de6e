//! Names on the command line as inputs of a study.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use study::log::sizes::{Sizes, parse_sizes};
use study::log::source::{Input, ServerRule, server_of_path};

use crate::files::{self, OpenFile, shown};

/// Inputs, and what is known of their size.
pub(super) struct Opened {
    pub(super) inputs: Vec<Input>,
    /// Bytes of all inputs, packed as they are; `None` if one of them does not tell.
    pub(super) total: Option<u64>,
    /// Count of those bytes that were read.
    pub(super) read: Arc<AtomicU64>,
}

/// Opens logs by their names; `-` is standard input. A file that has two of the names is read once.
///
/// # Errors
/// A message with the first name that cannot be read.
pub(super) fn open(paths: &[PathBuf], rule: &ServerRule) -> Result<Opened, String> {
    let opened = files::open(paths)?;
    let inputs = opened.files.into_iter().map(|file| {
        let (name, server) = names(&file, rule);
        Input {
            name,
            server,
            read: file.read,
        }
    });
    Ok(Opened {
        inputs: inputs.collect(),
        total: opened.total,
        read: opened.read,
    })
}

/// The name of an input in the report, and that of its server.
fn names(file: &OpenFile, rule: &ServerRule) -> (String, String) {
    let name = file.name();
    let is_standard = file.path == Path::new("-");
    match (is_standard, rule) {
        (true, ServerRule::Given(server)) => (name, server.clone()),
        (true, ServerRule::FileName | ServerRule::Directory) => (name, "stdin".to_owned()),
        (false, rule) => {
            let server = server_of_path(&name, rule);
            (name, server)
        }
    }
}

/// The files of a directory, by name, without hidden ones and without folders.
///
/// # Errors
/// A directory that cannot be read, or has no files.
pub(super) fn files_of(directory: &Path) -> Result<Vec<PathBuf>, String> {
    let failed = |error: io::Error| format!("{}: {error}", shown(directory));
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let path = entry.path();
        if !entry.file_name().as_encoded_bytes().starts_with(b".") && path.is_file() {
            files.push(path);
        }
    }
    if files.is_empty() {
        return Err(format!("{}: the directory has no files", shown(directory)));
    }
    files.sort();
    Ok(files)
}

/// Reads a file of sizes.
///
/// # Errors
/// A message with the name, and the line that has another form.
pub(super) fn read_sizes(path: &Path) -> Result<Sizes, String> {
    let name = shown(path);
    let bytes = fs::read(path).map_err(|error| format!("{name}: {error}"))?;
    parse_sizes(&String::from_utf8_lossy(&bytes)).map_err(|line| {
        format!("{name}:{line}: a line is the name of an index and its size, such as: posts 12 MB")
    })
}
