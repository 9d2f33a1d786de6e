//! ALTER TABLE: all rows of a table get other columns, at one journal position.
//!
//! Jobs write the rows of one segment after the other in the new columns ([`ReshapeJob`]). Their results are held aside while
//! rows go on being inserted, changed and deleted. [`Table::altered`] then makes what is left, and [`Table::install_altered`] puts
//! all of it in the place of the old parts. Example:
//!
//! ```text
//!                     old parts                          new segments
//! job on segment 3    3: {1, 2, 4}   tail: {9}           7: {1, 2, 4}
//! delete 2
//! UPDATE of row 4     3: {1, -2, 4'} tail: {9}           7: {1, 2, 4}
//! altered                                                7: {1, -2, -4}   8: {4', 9}
//! ```
//!
//! Invariants:
//! - After it the table has no row in a tail, and its files hold every record up to the position of the ALTER. A restart above it
//!   finds new columns only, and one below it old ones only.
//! - Without any job the result is the same table: `altered` runs the jobs that nobody has run.

use std::collections::BTreeMap;
use std::sync::Arc;

use roaring::RoaringBitmap;

use super::parts::{Discarded, SealedPart, Shard, TailPart};
use super::writer::Table;
use crate::edits::{EditFiles, Edits};
use crate::error::{Error, Result};
use crate::files::{Files, SegmentFiles};
use crate::part::{Part, Source};
use crate::reshape::{Reshape, ReshapeJob, Reshaped, Rows};
use crate::seal::segment_name;
use crate::segment::Segment;
use crate::shape::TableShape;

/// All rows of a table in other columns, for [`Table::install_altered`]. Its files are durable.
pub struct AlteredTable {
    segments: Vec<SealedPart>,
    shape: TableShape,
    position: u64,
    /// Directories that were made and are not used.
    unused: Vec<String>,
}

/// A row's id, and its values in the old columns.
type OldRow = (u64, Vec<relation::value::Value>);

impl Table {
    /// The job on a segment that has no result among `made`, by directory; `None` if each has one. `position`: the last record
    /// applied.
    pub fn reshape_job(
        &mut self,
        reshape: &Arc<Reshape>,
        made: &BTreeMap<String, Reshaped>,
        position: u64,
    ) -> Option<ReshapeJob> {
        let is_left = |sealed: &&SealedPart| !made.contains_key(&sealed.files.directory);
        let sealed = self.segments.iter().find(is_left)?;
        let (source, part) = (sealed.files.directory.clone(), Arc::clone(&sealed.part));
        self.next_number += 1;
        Some(ReshapeJob {
            disk: Arc::clone(&self.disk),
            dir: self.dir.clone(),
            directory: segment_name(self.next_number - 1),
            source,
            part,
            reshape: Arc::clone(reshape),
            position,
            stop: Arc::clone(&self.merging.stop),
        })
    }

    /// Leaves the files of results that will not be used to be removed.
    pub fn forget_reshaped<'r>(&mut self, made: impl IntoIterator<Item = &'r Reshaped>) {
        let dir = &self.dir;
        let paths = made.into_iter();
        let paths = paths.map(|made| format!("{dir}/{}", made.directory));
        self.unused.extend(paths);
    }

    /// Makes the table in the new columns. `made`: the results of jobs, by source; `position`: that of the ALTER's record. Cost: a
    /// segment for the rows that `made` lacks, and the jobs that were not run. Errors, with nothing changed: `Io`, `Corrupt`, `Unfit`.
    pub fn altered(
        &mut self,
        reshape: &Arc<Reshape>,
        mut made: BTreeMap<String, Reshaped>,
        position: u64,
    ) -> Result<AlteredTable> {
        let mut altered = AlteredTable {
            segments: Vec::new(),
            shape: reshape.shape.clone(),
            position,
            unused: Vec::new(),
        };
        let outcome = self.make_altered(reshape, &mut made, &mut altered);
        self.forget_reshaped(made.values()); // their segments are gone, or the ALTER is
        match outcome {
            Ok(()) => Ok(altered),
            Err(error) => {
                self.forget_altered(altered);
                Err(error)
            }
        }
    }

    /// Leaves the files of an altered table that will not be installed to be removed.
    pub fn forget_altered(&mut self, altered: AlteredTable) {
        let dir = &self.dir;
        let segments = altered.segments.iter();
        let paths = segments.map(|sealed| format!("{dir}/{}", sealed.files.directory));
        self.unused.extend(paths.chain(altered.unused));
    }

    /// Puts the table that [`Table::altered`] made in the place of this one. Nothing may have changed since. The results of a seal
    /// or a merge that runs are thrown away.
    pub fn install_altered(&mut self, altered: AlteredTable) -> Files {
        let AlteredTable {
            segments,
            shape,
            position,
            unused,
        } = altered;
        let keyed = shape.keyed();
        let empty = (0..shape.shards).map(|_| Shard::new(&keyed)).collect();
        let shards: Vec<Shard> = std::mem::replace(&mut self.shards, empty);
        let tails = |shard: Shard| shard.frozen.into_iter().chain([shard.tail]);
        let tails: Vec<TailPart> = shards.into_iter().flat_map(tails).collect();
        self.discarded.push(Discarded {
            _tails: tails,
            _work: self.work.take(),
            _segments: Vec::new(),
        });
        let old = std::mem::replace(&mut self.segments, segments);
        self.discard_segments(old);
        self.unused.extend(unused);
        self.merging.wholly.clear();
        self.shape = Arc::new(shape);
        self.position = position;
        self.files()
    }

    /// Gives the columns other names, types of the same values, or other keys. The rows stay as they are.
    pub fn set_shape(&mut self, shape: TableShape) {
        self.shape = Arc::new(shape);
    }

    fn make_altered(
        &mut self,
        reshape: &Arc<Reshape>,
        made: &mut BTreeMap<String, Reshaped>,
        altered: &mut AlteredTable,
    ) -> Result<()> {
        self.check_whole()?;
        let mut rest: Vec<OldRow> = Vec::new();
        while let Some(job) = self.reshape_job(reshape, made, altered.position) {
            let reshaped = job.run()?;
            made.insert(reshaped.source.clone(), reshaped);
        }
        for at in 0..self.segments.len() {
            let sealed = &self.segments[at];
            let (part, shard) = (Arc::clone(&sealed.part), sealed.shard);
            let Some(reshaped) = made.remove(&sealed.files.directory) else {
                return Err(Error::Internal {
                    what: "a segment was not written in its new columns".into(),
                });
            };
            if let Some(taken) = self.take_reshaped(&part, reshaped, shard, &mut rest, altered)? {
                altered.segments.push(taken);
            }
        }
        for shard in &mut self.shards {
            shard.tail.publish();
            for tail in shard.tails() {
                for doc in tail.part.live_docs() {
                    rest.push((tail.part.id(doc)?, tail.part.columns(doc)?));
                }
            }
        }
        self.write_rest(reshape, rest, altered)
    }

    /// The part of a new segment, without the rows that were deleted or changed since its job began. Changed ones go to `rest`.
    fn take_reshaped(
        &mut self,
        part: &Part,
        reshaped: Reshaped,
        shard: u16,
        rest: &mut Vec<OldRow>,
        altered: &mut AlteredTable,
    ) -> Result<Option<SealedPart>> {
        let Reshaped {
            directory,
            segment,
            written,
            docs,
            ..
        } = reshaped;
        let edits = part.edits();
        let mut gone = &*edits.deleted - &*written.deleted;
        let mut changed = RoaringBitmap::new();
        edits.changes.since(&written.changes, &mut |_, doc, _| {
            if !edits.deleted.contains(doc) {
                changed.insert(doc);
            }
        });
        for doc in &changed {
            rest.push((part.id(doc)?, part.columns(doc)?));
        }
        gone |= changed;
        let deleted: RoaringBitmap = gone.iter().map(|doc| docs[doc as usize]).collect();
        let path = format!("{}/{directory}", self.dir);
        let Some(segment) = segment else {
            return Ok(None);
        };
        altered.unused.push(path); // until its part is there
        let rows = segment.rows();
        if deleted.len() == u64::from(rows) {
            return Ok(None);
        }
        let mut part = Part::new(Source::Segment(Arc::new(segment)));
        part.remove_all(&deleted)?;
        let saved = Edits {
            deleted: Arc::new(deleted),
            ..Edits::default()
        };
        let EditFiles { deleted, changed } = self.write_saved(&directory, rows, &saved)?;
        altered.unused.pop();
        Ok(Some(SealedPart {
            part: Arc::new(part),
            files: SegmentFiles {
                directory,
                rows,
                deleted,
                changed,
            },
            shard,
            saved,
        }))
    }

    /// Writes rows that no new segment has, one segment a shard.
    fn write_rest(
        &mut self,
        reshape: &Reshape,
        rest: Vec<OldRow>,
        altered: &mut AlteredTable,
    ) -> Result<()> {
        let mut by_shard: BTreeMap<u16, Rows<'_>> = BTreeMap::new();
        for (id, values) in rest {
            let shard = self.shard_of(id) as u16; // at most `SHARDS_MAX`
            let rows = by_shard.entry(shard).or_insert_with(|| Rows::new(reshape));
            rows.push(id, values)?;
        }
        for (shard, rows) in by_shard {
            let directory = segment_name(self.next_number);
            self.next_number += 1;
            let path = format!("{}/{directory}", self.dir);
            altered.unused.push(path.clone()); // until its part is there
            let rows = rows.write(&self.disk, &path, altered.position)?;
            let synced = self.disk.sync_dir(&self.dir);
            synced.map_err(|error| Error::io(self.dir.as_str(), error))?;
            let segment = Segment::open(&self.disk, &path, rows)?;
            altered.unused.pop();
            altered.segments.push(SealedPart {
                part: Arc::new(Part::new(Source::Segment(Arc::new(segment)))),
                files: SegmentFiles {
                    directory,
                    rows,
                    deleted: None,
                    changed: None,
                },
                shard,
                saved: Edits::default(),
            });
        }
        Ok(())
    }
}
