//! Refused rows, kept in a file of their own as they were written, so that a person can correct and load them.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The file of refused rows. The first row creates it.
pub(super) struct Rejected {
    /// Path of the file; `None`: refused rows are only reported.
    path: Option<PathBuf>,
    /// First line of a file of that format; may be empty.
    head: Vec<u8>,
    /// Whether to append: a continued load adds to the rows that it has kept before.
    goes_on: bool,
    file: Option<File>,
}

impl Rejected {
    pub(super) fn new(path: Option<&Path>, head: &[u8], goes_on: bool) -> Rejected {
        Rejected {
            path: path.map(Path::to_owned),
            head: head.to_vec(),
            goes_on,
            file: None,
        }
    }

    /// Path of the file; `None`: no row was kept.
    pub(super) fn path(&self) -> Option<&Path> {
        self.file.as_ref().and(self.path.as_deref())
    }

    pub(super) fn keep(&mut self, row: &[u8]) -> Result<(), String> {
        let Some(path) = &self.path else {
            return Ok(());
        };
        let failed = |error: std::io::Error| format!("{}: {error}", path.display());
        let file = match &mut self.file {
            Some(file) => file,
            none => {
                let mut how = OpenOptions::new();
                let how = how.create(true).write(true);
                let how = how.append(self.goes_on).truncate(!self.goes_on);
                let mut made = how.open(path).map_err(failed)?;
                if !self.head.is_empty() && made.metadata().map_err(failed)?.len() == 0 {
                    line(&mut made, &self.head).map_err(failed)?;
                }
                none.insert(made)
            }
        };
        line(file, row).map_err(failed)
    }
}

fn line(file: &mut File, bytes: &[u8]) -> std::io::Result<()> {
    let mut whole = bytes.to_vec();
    whole.push(b'\n');
    file.write_all(&whole)
}
