//! Files that a verb reads: named ones, standard input and pipes, with what is known of their size.
//!
//! Every name is checked before the first line is read, so that a mistake in the last of many costs no time.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read, stdin};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use report::visible;

use crate::check_command::readable;
use crate::output::print_error;

/// Bytes that are read at a time behind the length that a file had, to end its last line.
const REST_BYTES: usize = 4 << 10;

/// Files to read, and what is known of their size.
pub(crate) struct Opened {
    pub(crate) files: Vec<OpenFile>,
    /// Bytes of all files, packed as they are; `None` if one of them does not tell.
    pub(crate) total: Option<u64>,
    /// Count of those bytes that were read.
    pub(crate) read: Arc<AtomicU64>,
}

/// A file to read.
pub(crate) struct OpenFile {
    /// As it was named; `-` is standard input.
    pub(crate) path: PathBuf,
    pub(crate) read: Box<dyn Read + Send>,
}

impl OpenFile {
    /// The name for a report.
    pub(crate) fn name(&self) -> String {
        match self.path == Path::new("-") {
            true => "standard input".to_owned(),
            false => self.path.to_string_lossy().into_owned(),
        }
    }
}

/// Opens files by their names; `-` is standard input. A file that has two of the names is read once.
///
/// # Errors
/// A message with the first name that cannot be read.
pub(crate) fn open(paths: &[PathBuf]) -> Result<Opened, String> {
    let mut opened = Opened {
        files: Vec::new(),
        total: Some(0),
        read: Arc::default(),
    };
    let mut known: HashMap<(u64, u64), &Path> = HashMap::new();
    for path in paths {
        let (source, about) = match path == Path::new("-") {
            true => standard_input()?,
            false => named(path)?,
        };
        if about.is_file()
            && let Some(first) = known.insert((about.dev(), about.ino()), path)
        {
            print_error(format_args!(
                "{} is the same file as {}: it is read once",
                shown(path),
                shown(first)
            ));
            continue;
        }
        let length = about.is_file().then_some(about.len());
        opened.total = opened.total.zip(length).map(|(all, more)| all + more);
        let read = Arc::clone(&opened.read);
        opened.files.push(OpenFile {
            path: path.clone(),
            read: Box::new(Counted { source, read }),
        });
    }
    Ok(opened)
}

/// A path for a message: characters that a terminal would obey are escapes.
pub(crate) fn shown(path: &Path) -> String {
    visible(&path.to_string_lossy())
}

fn standard_input() -> Result<(Source, fs::Metadata), String> {
    let failed = |error: io::Error| format!("standard input: {error}");
    // A file of its own, since the shared handle reads only 8 KiB at a time.
    let file = File::from(stdin().as_fd().try_clone_to_owned().map_err(failed)?);
    let about = file.metadata().map_err(failed)?;
    let source = match about.is_file() {
        true => Source::Regular(Snapshot::new(file).map_err(failed)?),
        false => Source::Stream(file),
    };
    Ok((source, about))
}

fn named(path: &Path) -> Result<(Source, fs::Metadata), String> {
    let failed = |error: io::Error| format!("{}: {error}", shown(path));
    let about = fs::metadata(path).map_err(failed)?;
    if about.is_dir() {
        return Err(format!(
            "{0} is a directory: name its files, such as {0}/*",
            shown(path)
        ));
    }
    readable(path).map_err(|message| visible(&message))?;
    let file = File::open(path).map_err(failed)?;
    let source = match about.is_file() {
        true => Source::Waiting(path.to_owned()),
        // A pipe can be opened only once.
        false => Source::Stream(file),
    };
    Ok((source, about))
}

/// Where the bytes come from.
enum Source {
    /// A regular file, opened when its turn comes: more can be named than may be open at once.
    Waiting(PathBuf),
    Regular(Snapshot),
    /// A pipe or a device.
    Stream(File),
}

impl Source {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        if let Source::Waiting(path) = self {
            *self = Source::Regular(Snapshot::new(File::open(path)?)?);
        }
        match self {
            Source::Regular(snapshot) => snapshot.read(room),
            Source::Stream(file) => file.read(room),
            Source::Waiting(_) => Ok(0),
        }
    }
}

/// The lines that a file had when it was opened. A server may append lines faster than they are read, and the end that moves
/// would never be reached.
struct Snapshot {
    file: File,
    /// Bytes of the file's length that are not read yet.
    left: u64,
    last: u8,
}

impl Snapshot {
    /// # Errors
    /// The file does not tell its length.
    fn new(file: File) -> io::Result<Snapshot> {
        let left = file.metadata()?.len();
        Ok(Snapshot {
            file,
            left,
            last: b'\n',
        })
    }

    /// Reads to the length at the opening, then to the end of the line that the server was writing.
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 && self.last == b'\n' {
            return Ok(0);
        }
        let most = match self.left {
            0 => REST_BYTES,
            left => usize::try_from(left).unwrap_or(usize::MAX),
        };
        let most = most.min(room.len());
        let mut count = self.file.read(&mut room[..most])?;
        if self.left == 0 {
            let end = room[..count].iter().position(|byte| *byte == b'\n');
            count = end.map_or(count, |end| end + 1);
        }
        self.left = self.left.saturating_sub(count as u64);
        self.last = room[..count].last().copied().unwrap_or(self.last);
        Ok(count)
    }
}

/// A source that counts the bytes read.
struct Counted {
    source: Source,
    read: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(room)?;
        self.read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

#[cfg(test)]
mod tests;
