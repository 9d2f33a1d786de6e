//! The writer's side of one search table.

mod held;
mod open;

use std::io;
use std::sync::Arc;

use disk::Disk;
use query::analysis::{Analyzer, Words};
use query::schema::{Column, ColumnType};
use query::value::Value;

use crate::error::{Error, Result};
use crate::files::Files;
use crate::part::{Part, Source};
use crate::seal::{Frozen, SealJob, Sealed, SegmentDeletions};
use crate::snapshot::Snapshot;
use held::{SealedPart, TailPart, install_tail};
use open::{highest_number, make_dir, next_number, open_segment, remove_orphans};

/// What a table is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct TableShape {
    /// Without `id`. Text columns are numbered in this order, for `FieldSet` and `Words`.
    pub columns: Vec<Column>,
    /// What the words of its rows, and of queries on it, are made with.
    pub analyzer: Analyzer,
}

/// The part of a table that is not in files yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TailStatus {
    /// Rows held in memory, deleted ones included, those of a running job not.
    pub rows: u64,
    /// Memory they take, roughly.
    pub bytes: u64,
}

/// Counts of a table, for SHOW TABLE STATUS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Rows that a SELECT finds.
    pub rows_live: u64,
    /// Rows held in memory, deleted ones and those of a running job included.
    pub rows_tail: u64,
    /// Memory they take, roughly.
    pub bytes_tail: u64,
    /// Segments.
    pub segments: u64,
    /// Their bytes in files.
    pub bytes_segments: u64,
    /// Deleted rows that segments still hold.
    pub tombstones: u64,
}

/// One search table, as its only writer sees it. Changes are visible to readers from the next [`Table::snapshot`] on.
pub struct Table {
    disk: Arc<dyn Disk>,
    dir: String,
    shape: Arc<TableShape>,
    /// Oldest first.
    segments: Vec<SealedPart>,
    /// A tail that a job turns into a segment, or will when the next one runs.
    frozen: Option<TailPart>,
    tail: TailPart,
    /// What the last job was given, until one of it succeeds.
    work: Option<Frozen>,
    is_job_running: bool,
    rows_live: u64,
    position: u64,
    /// Names are never used twice.
    next_number: u64,
    /// Files that the last `install` made useless.
    unused: Vec<String>,
    /// Memory that it made useless.
    discarded: Option<Discarded>,
}

/// The rows of a tail that are in a segment now. Freeing them takes ten milliseconds and more: whoever has a thread to
/// spare drops this there, after the last snapshot that shows them.
pub struct Discarded {
    _tail: Option<TailPart>,
    _work: Option<Frozen>,
}

/// Where a live row is.
enum Location {
    Tail,
    Frozen,
    Segment(usize, u32),
}

impl Table {
    /// Makes an empty table in a new directory. Errors: `Io`.
    pub fn create(disk: Arc<dyn Disk>, dir: &str, shape: TableShape) -> Result<Table> {
        make_dir(&*disk, dir).map_err(|error| Error::io(dir, error))?;
        Table::open(disk, dir, shape, &Files::default())
    }

    /// Opens the table that a manifest describes, and removes segments and files of deleted rows that it does not name. A
    /// missing directory is made. Records above `files.position` are to be applied next. Errors: `Io`, `Corrupt`, `NewerFormat`.
    pub fn open(disk: Arc<dyn Disk>, dir: &str, shape: TableShape, files: &Files) -> Result<Table> {
        let mut segments = Vec::with_capacity(files.segments.len());
        for listed in &files.segments {
            segments.push(open_segment(&disk, dir, listed)?);
        }
        remove_orphans(&*disk, dir, files)?;
        Ok(Table {
            disk,
            dir: dir.to_owned(),
            shape: Arc::new(shape),
            rows_live: segments.iter().map(|sealed| sealed.part.rows_live()).sum(),
            segments,
            frozen: None,
            tail: TailPart::new(),
            work: None,
            is_job_running: false,
            position: files.position,
            next_number: next_number(files),
            unused: Vec::new(),
            discarded: None,
        })
    }

    /// Gives no new file a name that is in the directory: files that are not part of the table any more may still be there.
    /// Errors: `Io`.
    pub fn reserve_names(&mut self) -> Result<()> {
        let highest = highest_number(&*self.disk, &self.dir);
        let highest = highest.map_err(|error| Error::io(self.dir.as_str(), error))?;
        self.next_number = self.next_number.max(highest + 1);
        Ok(())
    }

    /// Whether a live row has that id. Errors: `Io`, `Corrupt`.
    pub fn contains(&self, id: u64) -> Result<bool> {
        Ok(self.locate(id)?.is_some())
    }

    /// Adds a row: its columns in table order and the words of its text columns. The caller has made sure that
    /// no live row has that id. Errors, before anything changed: `TextTooLong`, `TailFull`.
    pub fn insert(&mut self, id: u64, row: &[Value], words: &Words) -> Result<()> {
        debug_assert!(
            self.tail.writer.ordinal(id).is_none(),
            "ids of live rows are unique"
        );
        self.tail.writer.insert(id, row, words)?;
        self.rows_live += 1;
        Ok(())
    }

    /// Removes a row; `false` where there is none of that id. Errors, before anything changed: `Io`, `Corrupt`.
    pub fn delete(&mut self, id: u64) -> Result<bool> {
        match self.locate(id)? {
            None => return Ok(false),
            Some(Location::Tail) => self.tail.delete(id)?,
            Some(Location::Frozen) => {
                if let Some(frozen) = &mut self.frozen {
                    frozen.delete(id)?;
                }
            }
            Some(Location::Segment(at, doc)) => {
                let part = &mut self.segments[at].part;
                let words = part.forward(doc)?;
                Arc::make_mut(part).remove(doc, &words);
            }
        }
        self.rows_live -= 1;
        Ok(true)
    }

    /// The table with everything applied so far. Call once a batch: each call with changes makes one chunk.
    pub fn snapshot(&mut self) -> Arc<Snapshot> {
        self.tail.publish();
        let sealed = self.segments.iter().map(|sealed| &sealed.part);
        let tails = self
            .frozen
            .iter()
            .chain([&self.tail])
            .map(|tail| &tail.part);
        let parts = sealed
            .chain(tails)
            .filter(|part| part.rows() > 0)
            .cloned()
            .collect();
        Arc::new(Snapshot::new(Arc::clone(&self.shape), parts))
    }

    /// What a [`Table::freeze`] would take.
    #[must_use]
    pub fn tail(&self) -> TailStatus {
        self.tail.status()
    }

    /// Memory of the rows that are in no segment yet, those of a running or failed job included, roughly.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        let frozen = self.frozen.as_ref();
        self.tail.status().bytes + frozen.map_or(0, |frozen| frozen.status().bytes)
    }

    /// Freezes the tail and the deletions made so far, to be written by the job. `position`: the last record applied,
    /// which must be synced. `None` while a job runs, and where nothing has changed since the last one
    /// ([`Table::is_saved`] tells which). After [`Table::thaw`] the new job writes what the old one should have, for its
    /// position: what came later waits for the next.
    pub fn freeze(&mut self, position: u64) -> Option<SealJob> {
        if self.is_job_running || self.is_saved() {
            return None;
        }
        let frozen = match self.work.take() {
            Some(again) => again,
            None => self.freeze_at(position),
        };
        self.work = Some(frozen.clone());
        self.is_job_running = true;
        self.next_number += 1;
        let (disk, dir) = (Arc::clone(&self.disk), self.dir.clone());
        Some(SealJob {
            disk,
            dir,
            number: self.next_number - 1,
            frozen,
        })
    }

    /// Whether the files of the last [`Table::install`] (or `open`) hold everything: the table's checkpoint may then move
    /// to any later position without a job.
    #[must_use]
    pub fn is_saved(&self) -> bool {
        let unchanged = !self.segments.iter().any(SealedPart::is_changed);
        self.frozen.is_none() && self.tail.status().rows == 0 && unchanged
    }

    /// Takes over what a job made: the rows leave the tail and stand in the segment from the next snapshot on; those that
    /// were deleted while the job ran are tombstones there. Gives the files for the manifest.
    /// Errors, before anything changed: `Io`, `Corrupt` (the new segment cannot be read back), `Internal` (no job runs).
    pub fn install(&mut self, sealed: Sealed) -> Result<Files> {
        let Some(work) = self.work.as_ref().filter(|_| self.is_job_running) else {
            return Err(Error::Internal {
                what: "a job was installed that was taken back".into(),
            });
        };
        let has_tail = work.tail.is_some();
        let part = match (sealed.segment, &self.frozen) {
            (Some(segment), Some(frozen)) => Some(install_tail(segment, &frozen.part)?),
            _ => None,
        };
        for (directory, name, rows) in sealed.deletions {
            let known = self
                .segments
                .iter_mut()
                .find(|known| known.files.directory == directory);
            if let Some(known) = known {
                let old = known.files.deleted.replace(name);
                known.deleted_saved = rows;
                self.unused
                    .extend(old.map(|old| format!("{}/{directory}/{old}", self.dir)));
            }
        }
        self.segments.extend(part);
        self.discarded = Some(Discarded {
            _tail: if has_tail { self.frozen.take() } else { None },
            _work: self.work.take(),
        });
        self.is_job_running = false;
        self.position = sealed.position;
        Ok(self.files())
    }

    /// What the last [`Table::install`] made useless, once.
    pub fn take_discarded(&mut self) -> Option<Discarded> {
        self.discarded.take()
    }

    /// Takes back the rows of a job that failed or was dropped; the next [`Table::freeze`] tries them again.
    pub fn thaw(&mut self) {
        self.is_job_running = false;
    }

    /// Removes files that no manifest names any more. Call when the manifest with the last [`Table::install`]'s files is
    /// durable. Errors: `Io`.
    pub fn remove_unused(&mut self) -> Result<()> {
        while let Some(path) = self.unused.last() {
            match self.disk.remove(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(Error::io(path.as_str(), error));
                }
                _ => {}
            }
            self.unused.pop();
        }
        Ok(())
    }

    /// What the manifest is to keep, as of the last [`Table::install`] or `open`.
    #[must_use]
    pub fn files(&self) -> Files {
        let segments = self
            .segments
            .iter()
            .map(|sealed| sealed.files.clone())
            .collect();
        Files {
            position: self.position,
            segments,
        }
    }

    /// Counts for SHOW TABLE STATUS.
    #[must_use]
    pub fn status(&self) -> Status {
        let frozen = self
            .frozen
            .as_ref()
            .map_or(TailStatus::default(), TailPart::status);
        let tail = self.tail.status();
        let segments = self.segments.iter().map(|sealed| &sealed.part);
        let bytes = |part: &Arc<Part>| match &part.source {
            Source::Segment(segment) => segment.bytes(),
            Source::Tail(_) => 0,
        };
        Status {
            rows_live: self.rows_live,
            rows_tail: frozen.rows + tail.rows,
            bytes_tail: frozen.bytes + tail.bytes,
            segments: self.segments.len() as u64,
            bytes_segments: segments.clone().map(bytes).sum(),
            tombstones: segments.map(|part| part.deleted.len()).sum(),
        }
    }

    fn freeze_at(&mut self, position: u64) -> Frozen {
        self.tail.publish();
        if self.tail.status().rows > 0 {
            self.frozen = Some(std::mem::replace(&mut self.tail, TailPart::new()));
        }
        let changed = self.segments.iter().filter(|sealed| sealed.is_changed());
        let deletions = changed.map(|sealed| SegmentDeletions {
            directory: sealed.files.directory.clone(),
            rows: sealed.files.rows,
            deleted: Arc::clone(&sealed.part.deleted),
        });
        Frozen {
            position,
            deletions: deletions.collect(),
            tail: self.frozen.as_ref().and_then(TailPart::frozen),
        }
    }

    fn locate(&self, id: u64) -> Result<Option<Location>> {
        if self.tail.writer.ordinal(id).is_some() {
            return Ok(Some(Location::Tail));
        }
        let frozen = self.frozen.as_ref();
        if frozen.is_some_and(|frozen| frozen.writer.ordinal(id).is_some()) {
            return Ok(Some(Location::Frozen));
        }
        for (at, sealed) in self.segments.iter().enumerate().rev() {
            if let Source::Segment(segment) = &sealed.part.source
                && let Some(doc) = segment.find(id)?
                && sealed.part.is_live(doc)
            {
                return Ok(Some(Location::Segment(at, doc)));
            }
        }
        Ok(None)
    }
}

impl TableShape {
    /// Places of the text columns, in the order in which their fields are numbered.
    pub(crate) fn texts(&self) -> impl Iterator<Item = usize> {
        let numbered = self.columns.iter().enumerate();
        numbered
            .filter(|(_, column)| column.kind == ColumnType::Text)
            .map(|(place, _)| place)
    }

    /// How many text columns there are.
    pub(crate) fn text_columns(&self) -> usize {
        self.texts().count()
    }
}
