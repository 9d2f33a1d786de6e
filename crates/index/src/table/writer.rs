//! One search table: rows come and go, snapshots are published.

use std::sync::Arc;

use disk::Disk;
use query::analysis::Words;
use query::value::Value;

use super::merging::Merging;
use super::open::{Opening, highest_number, make_dir, remove_orphans};
use super::parts::{Discarded, SealedPart, Shard, shard_of};
use super::status::{Status, TailStatus};
use crate::error::{Error, Result};
use crate::files::{Files, SegmentFiles};
use crate::seal::Frozen;
use crate::shape::TableShape;
use crate::snapshot::Snapshot;
use crate::warning::Warning;

/// One search table, as its only writer sees it. Changes are visible to readers from the next [`Table::snapshot`] on.
pub struct Table {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) dir: String,
    pub(super) shape: Arc<TableShape>,
    /// Oldest first.
    pub(super) segments: Vec<SealedPart>,
    /// Segments that could not be opened: the manifest goes on naming them, for a repair.
    pub(super) damaged: Vec<(SegmentFiles, Warning)>,
    /// A row's shard is that of its id, [`shard_of`].
    pub(super) shards: Vec<Shard>,
    /// What the last job was given, until one of it succeeds.
    pub(super) work: Option<Frozen>,
    pub(super) is_job_running: bool,
    pub(super) rows_live: u64,
    pub(super) position: u64,
    /// Names are never used twice.
    pub(super) next_number: u64,
    pub(super) merging: Merging,
    /// Files and folders that were made useless.
    pub(super) unused: Vec<String>,
    /// Memory that was made useless.
    pub(super) discarded: Vec<Discarded>,
}

/// Where a live row is.
enum Location {
    Tail(usize),
    Frozen(usize),
    Segment(usize, u32),
}

impl Table {
    /// Makes an empty table in a new directory, whose name is durable when this returns. What a creation that was refused
    /// left there is removed first: its name may never have been synced. Errors: `Io`.
    pub fn create(disk: Arc<dyn Disk>, dir: &str, shape: TableShape) -> Result<Table> {
        let made = disk.remove_dir(dir).and_then(|()| make_dir(&*disk, dir));
        made.map_err(|error| Error::io(dir, error))?;
        Table::open(disk, dir, shape, &Files::default())
    }

    /// Opens the table that a manifest describes, and removes segments and files of deleted rows that it does not name. A
    /// missing directory is made; that the name of one which is there is durable is up to the caller, who syncs the parent once
    /// for all its tables. Records above `files.position` are to be applied next. Segments of an old format are written
    /// again: then [`Table::files`] is not `files`, and a manifest is due.
    ///
    /// A segment of which a file is missing or found damaged is left out: see [`Table::check_whole`]. Errors: `Io`, `NewerFormat`.
    pub fn open(disk: Arc<dyn Disk>, dir: &str, shape: TableShape, files: &Files) -> Result<Table> {
        assert!(
            (1..=crate::limits::SHARDS_MAX).contains(&shape.shards),
            "a table has between one shard and the most there may be"
        );
        remove_orphans(&*disk, dir, files)?;
        let mut opening = Opening::new(&disk, dir, &shape, files);
        for listed in &files.segments {
            opening.segment(listed)?;
        }
        let Opening {
            segments,
            damaged,
            unused,
            next_number,
            ..
        } = opening;
        let shards = (0..shape.shards).map(|_| Shard::new()).collect();
        Ok(Table {
            disk,
            dir: dir.to_owned(),
            shape: Arc::new(shape),
            rows_live: segments.iter().map(|sealed| sealed.part.rows_live()).sum(),
            segments,
            damaged,
            shards,
            work: None,
            is_job_running: false,
            position: files.position,
            next_number,
            merging: Merging::default(),
            unused,
            discarded: Vec::new(),
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

    /// Whether every segment could be opened. If not, the others are searched, but nothing may be written: an id may be taken by a
    /// row that cannot be read. Nothing is sealed or merged either, so that the journal keeps what a repair needs. Errors:
    /// `Corrupt`, of the first that could not.
    pub fn check_whole(&self) -> Result<()> {
        let first = self.damaged.first();
        first.map_or(Ok(()), |(_, damage)| Err(damage.error()))
    }

    /// Whether a live row has that id. Errors: `Io`, `Corrupt`.
    pub fn contains(&self, id: u64) -> Result<bool> {
        Ok(self.locate(id)?.is_some())
    }

    /// Adds a row: its columns in table order and the words of its text columns. The caller has made sure that
    /// no live row has that id. Errors, before anything changed: `TextTooLong`, `TailFull`.
    pub fn insert(&mut self, id: u64, row: &[Value], words: &Words) -> Result<()> {
        let shard = self.shard_of(id);
        let tail = &mut self.shards[shard].tail;
        debug_assert!(
            tail.writer.ordinal(id).is_none(),
            "ids of live rows are unique"
        );
        tail.writer.insert(id, row, words)?;
        self.rows_live += 1;
        Ok(())
    }

    /// Removes a row; `false` where there is none of that id. Errors, before anything changed: `Io`, `Corrupt`.
    pub fn delete(&mut self, id: u64) -> Result<bool> {
        match self.locate(id)? {
            None => return Ok(false),
            Some(Location::Tail(shard)) => self.shards[shard].tail.delete(id)?,
            Some(Location::Frozen(shard)) => {
                if let Some(frozen) = &mut self.shards[shard].frozen {
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

    /// Does now what is most of the work of the next [`Table::snapshot`]: the chunk of what was inserted since the last. Readers
    /// see nothing of it before.
    pub fn prepare_snapshot(&mut self) {
        for shard in &mut self.shards {
            shard.tail.publish();
        }
    }

    /// Rows that were inserted since the last [`Table::snapshot`].
    #[must_use]
    pub fn rows_unpublished(&self) -> u64 {
        let rows = self.shards.iter().map(|shard| shard.tail.writer.rows());
        rows.map(u64::from).sum()
    }

    /// The table with everything applied so far. Call once a batch: each call with changes makes one chunk.
    pub fn snapshot(&mut self) -> Arc<Snapshot> {
        self.prepare_snapshot();
        let sealed = self.segments.iter().map(|sealed| &sealed.part);
        let tails = self.shards.iter().flat_map(Shard::tails);
        let tails = tails.map(|tail| &tail.part);
        let parts = sealed
            .chain(tails)
            .filter(|part| part.rows() > 0)
            .cloned()
            .collect();
        let damaged = self.damaged.iter().map(|(_, damage)| damage.clone());
        let shape = Arc::clone(&self.shape);
        Arc::new(Snapshot::new(shape, parts, damaged.collect()))
    }

    /// What a [`Table::freeze`] would take.
    #[must_use]
    pub fn tail(&self) -> TailStatus {
        let tails = self.shards.iter().map(|shard| shard.tail.status());
        tails.fold(TailStatus::default(), TailStatus::and)
    }

    /// Memory of the rows that are in no segment yet, those of a running or failed job included, roughly.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        let tails = self.shards.iter().flat_map(Shard::tails);
        tails.map(|tail| tail.status().bytes).sum()
    }

    /// What the last [`Table::install`] or [`Table::install_merged`] made useless, once.
    pub fn take_discarded(&mut self) -> Vec<Discarded> {
        std::mem::take(&mut self.discarded)
    }

    /// What the manifest is to keep, as of the last [`Table::install`] or `open`.
    #[must_use]
    pub fn files(&self) -> Files {
        let sound = self.segments.iter().map(|sealed| &sealed.files);
        let damaged = self.damaged.iter().map(|(files, _)| files);
        Files {
            position: self.position,
            segments: sound.chain(damaged).cloned().collect(),
        }
    }

    /// Counts for SHOW TABLE STATUS.
    #[must_use]
    pub fn status(&self) -> Status {
        let shards = self.shard_status();
        shards.iter().fold(Status::default(), Status::and)
    }

    /// The same of each shard.
    #[must_use]
    pub fn shard_status(&self) -> Vec<Status> {
        let mut all = Vec::with_capacity(self.shards.len());
        for shard in &self.shards {
            let mut status = Status::default();
            for tail in shard.tails() {
                let TailStatus { rows, bytes } = tail.status();
                status.rows_live += rows - tail.part.deleted.len();
                status.rows_tail += rows;
                status.bytes_tail += bytes;
            }
            all.push(status);
        }
        for sealed in &self.segments {
            let status = &mut all[usize::from(sealed.shard)];
            status.rows_live += sealed.part.rows_live();
            status.segments += 1;
            status.bytes_segments += sealed.segment().map_or(0, |segment| segment.bytes());
            status.tombstones += sealed.part.deleted.len();
        }
        all
    }

    pub(super) fn shard_of(&self, id: u64) -> usize {
        usize::from(shard_of(id, self.shape.shards))
    }

    /// Text columns: at most 64.
    pub(super) fn fields(&self) -> u8 {
        self.shape.text_columns() as u8
    }

    fn locate(&self, id: u64) -> Result<Option<Location>> {
        let at = self.shard_of(id);
        let shard = &self.shards[at];
        if shard.tail.writer.ordinal(id).is_some() {
            return Ok(Some(Location::Tail(at)));
        }
        let frozen = shard.frozen.as_ref();
        if frozen.is_some_and(|frozen| frozen.writer.ordinal(id).is_some()) {
            return Ok(Some(Location::Frozen(at)));
        }
        for (at, sealed) in self.segments.iter().enumerate().rev() {
            if let Some(segment) = sealed.segment()
                && let Some(doc) = segment.find(id)?
                && sealed.part.is_live(doc)
            {
                return Ok(Some(Location::Segment(at, doc)));
            }
        }
        Ok(None)
    }
}
