//! One search table as its writer sees it: rows are inserted and deleted, snapshots published.
//!
//! A row is inserted into the tail of its shard. A freeze sets the tail aside, a seal writes it as
//! a segment, and merges join segments. Example, one shard; `{}` marks rows, `-` a deleted one:
//!
//! ```text
//!                tail      frozen      segments        a SELECT then sees
//! insert 1, 2    {1, 2}                                1, 2     (from the next `snapshot` on)
//! freeze                   {1, 2}                      1, 2
//! insert 3       {3}       {1, 2}                      1, 2, 3
//! delete 2       {3}       {1, -2}                     1, 3
//! install        {3}                   {1, -2}         1, 3     row 2 is in the segment, marked
//! freeze                   {3}         {1, -2}         1, 3     the job writes 2 into a `deleted-*`
//! ```
//!
//! Invariants:
//! - A live id is in exactly one part. [`Table::insert`] trusts its caller with that.
//! - The files of [`Table::files`] hold every record up to `position` and none after it. A restart
//!   replays the journal above it: a later record in the files would be applied twice, and an
//!   earlier record that they lack would be lost. Deletions of a tail's rows alone may be ahead, in a seal
//!   that is tried again: replayed, they find no row.
//! - A row's shard is a function of its id, fixed for good.
//! - Names of files are never used twice: a reader may still have the old file mapped.
//! - Snapshots share parts; the writer changes a part only by cloning it first.

use std::sync::Arc;

use disk::Disk;
use language::analysis::Words;
use relation::value::Value;

use super::merging::Merging;
use super::open::{Opening, highest_number, make_dir, remove_orphans};
use super::parts::{Discarded, SealedPart, Shard, shard_of};
use super::status::{Status, TailStatus};
use crate::error::{Error, Result};
use crate::files::{Files, SegmentFiles};
use crate::part::Part;
use crate::seal::Frozen;
use crate::shape::TableShape;
use crate::snapshot::Snapshot;
use crate::warning::Warning;

/// One search table, as its only writer sees it. Readers see changes from the next
/// [`Table::snapshot`] on.
pub struct Table {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) dir: String,
    pub(super) shape: Arc<TableShape>,
    /// Oldest first.
    pub(super) segments: Vec<SealedPart>,
    /// Segments that could not be opened. The manifest still names them, for a repair.
    pub(super) damaged: Vec<(SegmentFiles, Warning)>,
    /// By shard; [`shard_of`] gives the shard of an id.
    pub(super) shards: Vec<Shard>,
    /// The rows and deletions of the last seal, until a seal of them has succeeded.
    pub(super) work: Option<Frozen>,
    pub(super) is_job_running: bool,
    pub(super) rows_live: u64,
    pub(super) position: u64,
    /// Number for the next name; never reused.
    pub(super) next_number: u64,
    pub(super) merging: Merging,
    /// Files and directories that the table does not use any more.
    pub(super) unused: Vec<String>,
    /// Memory that the table does not use any more.
    pub(super) discarded: Vec<Discarded>,
}

/// A row that was found by its id, and the part that holds it.
pub struct StoredRow {
    part: Arc<Part>,
    doc: u32,
}

impl StoredRow {
    /// A column by its place in the table. Errors: `Io`, `Corrupt`.
    pub fn column(&self, column: usize) -> Result<Value> {
        self.part.column(self.doc, column)
    }
}

/// The place of a live row: its shard, or its segment's index and its doc.
pub(super) enum Location {
    Tail(usize),
    Frozen(usize),
    Segment(usize, u32),
}

impl Table {
    /// Makes an empty table in a new directory, whose name is durable on return. First removes
    /// whatever a refused creation left there: its name may never have been synced. Errors: `Io`.
    pub fn create(disk: Arc<dyn Disk>, dir: &str, shape: TableShape) -> Result<Table> {
        let made = disk.remove_dir(dir).and_then(|()| make_dir(&*disk, dir));
        made.map_err(|error| Error::io(dir, error))?;
        Table::open(disk, dir, shape, &Files::default())
    }

    /// Opens the table that a manifest describes, and removes segments and files of deleted rows
    /// that it does not name. The caller then applies the journal's records above `files.position`.
    ///
    /// A missing directory is made. The name of an existing one is for the caller to sync, once for
    /// all its tables. Segments of an old format are written again: then [`Table::files`] differs
    /// from `files`, and the caller must write a manifest.
    ///
    /// A segment with a missing or damaged file is left out: see [`Table::check_whole`]. Errors:
    /// `Io`, `NewerFormat`.
    ///
    /// # Panics
    /// If `shape.shards` is 0 or above [`crate::limits::SHARDS_MAX`].
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
        let keyed = shape.keyed();
        let shards = (0..shape.shards).map(|_| Shard::new(&keyed)).collect();
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

    /// Lets no new file take a name that is in the directory: files that the table does not use any
    /// more may still be there. Errors: `Io`.
    pub fn reserve_names(&mut self) -> Result<()> {
        let highest = highest_number(&*self.disk, &self.dir);
        let highest = highest.map_err(|error| Error::io(self.dir.as_str(), error))?;
        self.next_number = self.next_number.max(highest + 1);
        Ok(())
    }

    /// Fails if a segment could not be opened. The other segments are still searched, but nothing
    /// may be written: an unreadable row may have the id. Nothing is sealed or merged either, so
    /// that the journal keeps what a repair needs. Errors: `Corrupt`, of the first damaged segment.
    pub fn check_whole(&self) -> Result<()> {
        let first = self.damaged.first();
        first.map_or(Ok(()), |(_, damage)| Err(damage.error()))
    }

    /// Whether a live row has this id. Errors: `Io`, `Corrupt`.
    pub fn contains(&self, id: u64) -> Result<bool> {
        Ok(self.locate(id)?.is_some())
    }

    /// As [`Table::contains`]. Also reads what [`Table::delete`] needs of the row, so that a deletion fails where it is decided and
    /// not where it is applied.
    pub fn can_delete(&self, id: u64) -> Result<bool> {
        let found = self.locate(id)?;
        if let Some(Location::Segment(at, doc)) = found {
            self.segments[at].part.check_forward(doc)?;
        }
        Ok(found.is_some())
    }

    /// Adds a row: its columns in table order, as [`relation::row::encode`] gives them, and the words of its text columns. No live
    /// row may have the id. Errors, before anything changed: `TextTooLong`, `TailFull`.
    pub fn insert(&mut self, id: u64, row: Arc<[u8]>, words: &Words) -> Result<()> {
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

    /// Deletes a row; `false` if no live row has the id. Errors, before anything changed: `Io`,
    /// `Corrupt`.
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

    /// The live row with an id, as of the last change; `None` if there is none. Readers do not see it yet. Cost: as
    /// [`Table::prepare_snapshot`]. Errors: `Io`, `Corrupt`.
    pub fn row(&mut self, id: u64) -> Result<Option<StoredRow>> {
        self.prepare_snapshot();
        let Some(location) = self.locate(id)? else {
            return Ok(None);
        };
        let at = |part: &Arc<Part>, doc: Option<u32>| {
            doc.map(|doc| StoredRow {
                part: Arc::clone(part),
                doc,
            })
        };
        Ok(match location {
            Location::Segment(segment, doc) => at(&self.segments[segment].part, Some(doc)),
            Location::Tail(shard) => {
                let tail = &self.shards[shard].tail;
                at(&tail.part, tail.writer.ordinal(id))
            }
            Location::Frozen(shard) => {
                let frozen = self.shards[shard].frozen.as_ref();
                frozen.and_then(|frozen| at(&frozen.part, frozen.writer.ordinal(id)))
            }
        })
    }

    /// Sets values of a row's columns, by their place in the table; `false` if no live row has the id. No text column may be
    /// among them. Errors, before anything changed: `Io`, `Corrupt`.
    pub fn change(
        &mut self,
        id: u64,
        values: impl IntoIterator<Item = (u16, Value)>,
    ) -> Result<bool> {
        let Some(location) = self.locate(id)? else {
            return Ok(false);
        };
        let (part, doc) = match location {
            Location::Segment(at, doc) => (Some(&mut self.segments[at].part), Some(doc)),
            Location::Tail(shard) => {
                let tail = &mut self.shards[shard].tail;
                (Some(&mut tail.part), tail.writer.ordinal(id))
            }
            Location::Frozen(shard) => match &mut self.shards[shard].frozen {
                Some(frozen) => (Some(&mut frozen.part), frozen.writer.ordinal(id)),
                None => (None, None),
            },
        };
        if let (Some(part), Some(doc)) = (part, doc) {
            let part = Arc::make_mut(part);
            for (column, value) in values {
                part.changes.set(column, doc, value);
            }
        }
        Ok(true)
    }

    /// Does most of the work of the next [`Table::snapshot`] now: makes the chunk of the rows
    /// inserted since the last. Readers do not see it yet.
    pub fn prepare_snapshot(&mut self) {
        for shard in &mut self.shards {
            shard.tail.publish();
        }
    }

    /// Rows inserted since the last [`Table::snapshot`] or [`Table::prepare_snapshot`].
    #[must_use]
    pub fn rows_unpublished(&self) -> u64 {
        let rows = self.shards.iter().map(|shard| shard.tail.writer.rows());
        rows.map(u64::from).sum()
    }

    /// The table with everything applied so far. Call it once a batch: each call after an insert
    /// makes a chunk. Cost: that chunk, and a reference for each part.
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

    /// Rows and memory that a [`Table::freeze`] would set aside.
    #[must_use]
    pub fn tail(&self) -> TailStatus {
        let tails = self.shards.iter().map(|shard| shard.tail.status());
        tails.fold(TailStatus::default(), TailStatus::and)
    }

    /// Memory of the rows that are in no segment yet, in bytes, estimated; includes the rows of a
    /// running or failed job. Also that of changed values, until a merge writes them into their rows.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        let tails = self.shards.iter().flat_map(Shard::tails);
        let rows: u64 = tails.map(|tail| tail.status().bytes).sum();
        rows + self.change_bytes()
    }

    /// All parts, segments first.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &Arc<Part>> {
        let tails = self.shards.iter().flat_map(Shard::tails);
        let segments = self.segments.iter().map(|sealed| &sealed.part);
        segments.chain(tails.map(|tail| &tail.part))
    }

    /// As [`Table::parts`], to be replaced.
    pub(crate) fn parts_mut(&mut self) -> impl Iterator<Item = &mut Arc<Part>> {
        let tails = self.shards.iter_mut();
        let tails = tails.flat_map(|shard| shard.frozen.iter_mut().chain([&mut shard.tail]));
        let segments = self.segments.iter_mut().map(|sealed| &mut sealed.part);
        segments.chain(tails.map(|tail| &mut tail.part))
    }

    /// Memory of the changed values of all rows, in bytes, estimated.
    fn change_bytes(&self) -> u64 {
        self.parts().map(|part| part.changes.size().1).sum()
    }

    /// The memory that installs and dropped segments have made useless since the last call.
    pub fn take_discarded(&mut self) -> Vec<Discarded> {
        std::mem::take(&mut self.discarded)
    }

    /// The files for the manifest, as of the last [`Table::install`], [`Table::install_merged`] or
    /// `open`.
    #[must_use]
    pub fn files(&self) -> Files {
        let sound = self.segments.iter().map(|sealed| &sealed.files);
        let damaged = self.damaged.iter().map(|(files, _)| files);
        Files {
            position: self.position,
            segments: sound.chain(damaged).cloned().collect(),
        }
    }

    /// Number of live rows.
    #[must_use]
    pub fn rows_live(&self) -> u64 {
        self.rows_live
    }

    /// Counts for SHOW TABLE STATUS.
    #[must_use]
    pub fn status(&self) -> Status {
        let shards = self.shard_status();
        shards.iter().fold(Status::default(), Status::and)
    }

    /// Counts of each shard, by its number.
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

    /// Number of text columns; at most 64.
    pub(super) fn fields(&self) -> u8 {
        self.shape.text_columns() as u8
    }

    /// The place of the live row with an id. Errors: `Io`, `Corrupt`.
    pub(super) fn locate(&self, id: u64) -> Result<Option<Location>> {
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
            let found = match sealed.segment() {
                Some(segment) => segment.find(id)?.filter(|doc| sealed.part.is_live(*doc)),
                None => sealed.part.find_all(&[id])?.first().copied(), // a tail below a fork
            };
            if let Some(doc) = found {
                return Ok(Some(Location::Segment(at, doc)));
            }
        }
        Ok(None)
    }
}
