//! The writer's side of one search table.

use std::sync::Arc;

use disk::Disk;
use query::analysis::Words;
use query::schema::Column;
use query::value::Value;

use crate::error::Result;
use crate::files::Files;
use crate::seal::{SealJob, Sealed};
use crate::snapshot::Snapshot;

/// What a table is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct TableShape {
    /// Without `id`. Text columns are numbered in this order, for `FieldSet` and `Words`.
    pub columns: Vec<Column>,
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
    rows: u64,
    files: Files,
}

impl Table {
    /// Makes an empty table in a new directory. Errors: `Io`.
    pub fn create(disk: Arc<dyn Disk>, dir: &str, shape: TableShape) -> Result<Table> {
        let _ = (disk, dir, shape);
        Ok(Table {
            rows: 0,
            files: Files::default(),
        })
    }

    /// Opens the table that a manifest describes, and removes whatever else lies in its directory.
    /// Records above `files.position` are to be applied next. Errors: `Io`, `Corrupt`, `NewerFormat`.
    pub fn open(disk: Arc<dyn Disk>, dir: &str, shape: TableShape, files: &Files) -> Result<Table> {
        let _ = (disk, dir, shape);
        Ok(Table {
            rows: 0,
            files: files.clone(),
        })
    }

    /// Whether a live row has that id. Errors: `Io`, `Corrupt`.
    pub fn contains(&self, id: u64) -> Result<bool> {
        let _ = id;
        Ok(false)
    }

    /// Adds a row: its columns in table order and the words of its text columns. The caller has made sure that
    /// no live row has that id. Errors, before anything changed: `TextTooLong`, `TailFull`.
    pub fn insert(&mut self, id: u64, row: &[Value], words: &Words) -> Result<()> {
        let _ = (id, row, words);
        self.rows += 1;
        Ok(())
    }

    /// Removes a row; `false` where there is none of that id. Errors, before anything changed: `Io`, `Corrupt`.
    pub fn delete(&mut self, id: u64) -> Result<bool> {
        let _ = id;
        Ok(false)
    }

    /// The table with everything applied so far. Call once a batch: each call with changes makes one chunk.
    pub fn snapshot(&mut self) -> Arc<Snapshot> {
        Arc::new(Snapshot { rows: self.rows })
    }

    /// What a [`Table::freeze`] would take.
    #[must_use]
    pub fn tail(&self) -> TailStatus {
        TailStatus::default()
    }

    /// Freezes the tail and the deletions made so far, to be written by the job. `position`: the last record applied,
    /// which must be synced. `None` while a job runs, and where nothing has changed since the last one
    /// ([`Table::is_saved`] tells which).
    pub fn freeze(&mut self, position: u64) -> Option<SealJob> {
        let _ = position;
        None
    }

    /// Whether the files of the last [`Table::install`] (or `open`) hold everything: the table's checkpoint may then move
    /// to any later position without a job.
    #[must_use]
    pub fn is_saved(&self) -> bool {
        true
    }

    /// Takes over what a job made: the rows leave the tail and stand in the segment from the next snapshot on.
    /// Gives the files for the manifest. Errors: `Io`, `Corrupt` (the segment cannot be read back; the tail stays).
    pub fn install(&mut self, sealed: Sealed) -> Result<Files> {
        self.files.position = sealed.position;
        Ok(self.files.clone())
    }

    /// Takes back the rows of a job that failed or was dropped; the next [`Table::freeze`] tries them again.
    pub fn thaw(&mut self) {}

    /// Removes files that no manifest names any more. Call when the manifest with the last [`Table::install`]'s files is
    /// durable. Errors: `Io`.
    pub fn remove_unused(&mut self) -> Result<()> {
        Ok(())
    }

    /// Counts for SHOW TABLE STATUS.
    #[must_use]
    pub fn status(&self) -> Status {
        Status {
            rows_live: self.rows,
            ..Status::default()
        }
    }
}
