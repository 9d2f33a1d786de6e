//! Salvage: opening a data directory although files in it are damaged.
//!
//! An ordinary start refuses the first damaged byte. With a [`Salvage`], opening goes on: it notes the damage as a [`Fault`],
//! leaves the file out or reads its sound part, and notes each loss of stored rows. `seine check` prints the notes, `seine
//! repair` acts on them. Example: of a queue's two files the second has a wrong checksum. The queue opens with the rows of
//! the first; the notes are a fault, with file and byte, and the loss of the second file's rows.

use std::fmt;
use std::sync::Arc;

use disk::Disk;
use queue::{ChunkFile, MergeRowsJob, MergedPart};
use relation::value::Value;
use roaring::RoaringBitmap;

use crate::catalog::TableId;
use crate::error::{Error, Result};
use crate::failure;
use crate::state::table_dir;
use crate::table::standing::counts;
use crate::table::standing::file::Opened;

/// A format version further above the known one than this is damage.
const VERSIONS_AHEAD_MAX: u32 = 1_000;

/// Damage: bytes of a file that differ from those that were written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Below the data directory.
    pub file: String,
    /// Offset of the damage in the file. Bytes.
    pub offset: u64,
    /// What is wrong there.
    pub what: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}: {}", self.file, self.offset, self.what)
    }
}

impl Fault {
    /// The damage that an error tells of; `None` for an error with another cause, such as a full disk.
    pub(crate) fn of(error: &Error, file: &str) -> Option<Fault> {
        match error {
            Error::Corrupt { file, offset, why } => Some(Fault {
                file: file.clone(),
                offset: *offset,
                what: why.clone(),
            }),
            // No program is that many versions ahead: a bit of the number is wrong.
            Error::NewerFormat { found, known } if found - known > VERSIONS_AHEAD_MAX => {
                Some(Fault {
                    file: file.to_owned(),
                    offset: 0,
                    what: format!("format version {found}"),
                })
            }
            Error::Internal { what } => Some(Fault {
                file: file.to_owned(),
                offset: 0,
                what: what.clone(),
            }),
            _ => None,
        }
    }
}

/// Stored rows that cannot be read any more, although an OK was sent for them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Loss {
    /// The table's name; its number if the name is lost too; empty if the table is not known.
    pub table: String,
    /// The lost rows in words, by id or number as far as those are known.
    pub what: String,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.table.as_str() {
            "" => f.write_str(&self.what),
            table => write!(f, "{table}: {}", self.what),
        }
    }
}

/// The notes of one reading of a damaged directory: faults, losses, saved documents, files that are left out.
pub(crate) struct Salvage<'p> {
    pub(crate) faults: Vec<Fault>,
    pub(crate) losses: Vec<Loss>,
    /// Documents of damaged segments, to be stored again.
    pub(crate) documents: Vec<(TableId, u64, Vec<Value>)>,
    /// Ids of the documents of damaged segments that cannot be read, by table; rising.
    pub(crate) documents_lost: Vec<(TableId, Vec<u64>)>,
    /// Paths of files and of segments' folders that are not used, below the data directory. A segment is left out as a whole, even
    /// if only one of its files is damaged.
    pub(crate) left_out: Vec<String>,
    /// Called with the path of each file, or folder of a segment, before it is read.
    pub(crate) progress: &'p mut dyn FnMut(&str),
}

impl Salvage<'_> {
    pub(crate) fn new(progress: &mut dyn FnMut(&str)) -> Salvage<'_> {
        Salvage {
            faults: Vec::new(),
            losses: Vec::new(),
            documents: Vec::new(),
            documents_lost: Vec::new(),
            left_out: Vec::new(),
            progress,
        }
    }

    /// Notes an error that tells of damage, in `file` unless the error names the file. Returns any other error.
    pub(crate) fn note(&mut self, error: Error, file: &str) -> Result<()> {
        match Fault::of(&error, file) {
            Some(fault) => {
                self.faults.push(fault);
                Ok(())
            }
            None => Err(error),
        }
    }

    pub(crate) fn lost(&mut self, table: &str, what: impl Into<String>) {
        self.losses.push(Loss {
            table: table.to_owned(),
            what: what.into(),
        });
    }

    /// One of the manifest's copies is damaged.
    pub(crate) fn manifest(&mut self, path: &str, error: &Error) {
        let fault = Fault::of(error, path).unwrap_or(Fault {
            file: path.to_owned(),
            offset: 0,
            what: error.to_string(),
        });
        self.faults.push(fault);
    }

    /// Verifies every segment of a search table. Takes a damaged segment out of `files`, and collects the documents that can
    /// still be read from it. Cost: reads every byte of the segments.
    pub(crate) fn segments(
        &mut self,
        disk: &Arc<dyn Disk>,
        table: TableId,
        name: &str,
        files: &mut index::Files,
    ) -> Result<()> {
        let dir = table_dir(table);
        for listed in std::mem::take(&mut files.segments) {
            let path = format!("{dir}/{}", listed.directory);
            (self.progress)(&path);
            let errors = index::verify(disk, &dir, &listed);
            if errors.is_empty() {
                files.segments.push(listed);
                continue;
            }
            for error in errors {
                self.note(failure::of_index(error), &path)?;
            }
            let mut documents = Vec::new();
            let saved = index::saved_rows(disk, &dir, &listed, &mut |id, row| {
                documents.push((table, id, row));
            });
            self.documents.append(&mut documents);
            self.left_out.push(path.clone());
            let Ok(saved) = saved else {
                let what = format!("{} documents of {path}, ids unknown", listed.rows);
                self.lost(name, what);
                continue;
            };
            self.documents_lost.push((table, saved.lost));
            if saved.unknown > 0 {
                let what = format!("{} documents of {path}, ids unknown", saved.unknown);
                self.lost(name, what);
            }
            if saved.changes_unknown {
                let what = format!("changes in {path}: documents may have earlier values");
                self.lost(name, what);
            }
            if saved.deleted_unknown {
                let what = format!("deletions in {path}: deleted documents may be back");
                self.lost(name, what);
            }
        }
        Ok(())
    }

    /// The paths of the files of standing queries that can be opened, in their order. The others are noted as faults and losses.
    pub(crate) fn queries<'f>(
        &mut self,
        disk: &dyn Disk,
        name: &str,
        paths: Vec<&'f str>,
    ) -> Result<Vec<&'f str>> {
        let mut sound = Vec::new();
        for path in paths {
            (self.progress)(path);
            match Opened::new(disk, path) {
                Ok(_) => sound.push(path),
                Err(error) => {
                    self.note(error, path)?;
                    self.left_out.push(path.to_owned());
                    self.lost(name, format!("standing queries of {path}, ids unknown"));
                }
            }
        }
        Ok(sound)
    }

    /// Whether a file of hit counts can be read. If not, the counts begin at 0. Notes the fault of each damaged copy.
    pub(crate) fn counts(&mut self, disk: &dyn Disk, name: &str, path: &str) -> Result<bool> {
        (self.progress)(path);
        for error in counts::damages(disk, path) {
            self.note(error, path)?;
        }
        if counts::load(disk, path).is_ok() {
            return Ok(true);
        }
        self.left_out.push(path.to_owned());
        self.lost(name, "hit counts of standing queries: they begin at 0");
        Ok(false)
    }

    /// Notes a file of queue rows of which a copy of head or table is damaged, and writes it anew under another name. Gives the new
    /// file; the old one where a row cannot be read, `None` where no row was left. `removed`: the places of removed rows.
    pub(crate) fn mended_rows(
        &mut self,
        disk: &Arc<dyn Disk>,
        table: TableId,
        (file, removed): (ChunkFile, RoaringBitmap),
        position: u64,
    ) -> Result<Option<(ChunkFile, RoaringBitmap)>> {
        for error in file.damages() {
            self.note(error.into(), file.path())?;
        }
        let dir = table_dir(table);
        let names = (2..).map(|further| format!("{position}-{further}.rows"));
        let mut name = String::new();
        for free in names {
            let exists = disk.exists(&format!("{dir}/{free}"));
            if !exists.map_err(|error| failure::of_file(&dir, &error))? {
                name = free;
                break;
            }
        }
        let job = MergeRowsJob {
            disk: Arc::clone(disk),
            dir,
            name,
            parts: vec![MergedPart {
                path: file.path().to_owned(),
                removed: removed.clone(),
            }],
        };
        match job.run() {
            Ok(mended) => Ok(mended.map(|mended| (mended, RoaringBitmap::new()))),
            Err(queue::Error::Corrupt { .. }) => Ok(Some((file, removed))),
            Err(other) => Err(other.into()),
        }
    }

    /// Notes a file of queue rows that cannot be opened, and the loss of its rows.
    pub(crate) fn rows(&mut self, name: &str, path: &str, error: Error) -> Result<()> {
        self.note(error, path)?;
        self.left_out.push(path.to_owned());
        self.lost(name, format!("queue rows of {path}, numbers unknown"));
        Ok(())
    }
}
