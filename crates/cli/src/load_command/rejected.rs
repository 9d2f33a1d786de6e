//! Rows that were refused, kept aside as they stand in the file, so that they can be mended and loaded again.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// A file that is made with the first row.
pub(super) struct Rejected {
    /// `None`: rows are only told.
    path: Option<PathBuf>,
    /// What a file of that kind begins with.
    head: Vec<u8>,
    /// A load that goes on adds to what it has put aside before.
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

    /// Where they are, if there are any.
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
