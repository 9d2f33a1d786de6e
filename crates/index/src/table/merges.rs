//! Merges of a table: chooses segments for a job, and installs its result. Also drops whole
//! segments.
//!
//! A merge writes its rows with the edits that files hold, hence those up to the position of all
//! files: it leaves behind deleted rows, and puts changed values into their rows. Later edits are
//! carried over to the new segment, for two reasons. Their unit may still be refused and undone. And a restart at that
//! position must find every row that was live there.
//!
//! Example, deletions of one source segment with rows 0 to 4:
//!
//! ```text
//! saved     {1}          in its file when the merge began: row 1 is left behind
//! deleted   {1, 3}       row 3 was deleted later: it is written, and marked
//! docs      [0, GONE, 1, 2, 3]
//! carried   {2}          the doc of old row 3 in the new segment
//! ```

use std::collections::HashSet;
use std::sync::Arc;

use super::open::number_of;
use super::parts::{Discarded, SealedPart};
use super::policy::{Candidate, MergeRequest, choose};
use super::status::RetainedSegment;
use super::writer::Table;
use crate::edits::{EditFiles, Edits};
use crate::error::{Error, Result};
use crate::files::{Files, SegmentFiles};
use crate::merge::{MergeJob, Merged, MergedSource};
use crate::part::{Part, Source};
use crate::seal::{Frozen, SegmentEdits, segment_name};
use crate::segment::{self, Segment};

/// Edits that a merge must carry over, by docs of the new segment.
struct CarriedOver {
    /// All that the merge did not write.
    all: Edits,
    /// Those of them that files of edits hold by now.
    saved: Edits,
    /// Those that a failed seal has frozen and will write when it is tried again; `None` without
    /// such a seal.
    frozen: Option<Edits>,
}

impl Table {
    /// The merge that is due; `None` if none is, if one runs, or if a segment is damaged.
    pub fn merge_job(&mut self, request: MergeRequest) -> Option<MergeJob> {
        if self.merging.runs || !self.damaged.is_empty() {
            return None;
        }
        let mut shards: Vec<u16> = (0..self.shards.len() as u16).collect();
        shards.sort_by_key(|shard| !self.is_wanted_whole(*shard));
        let choose = |shard| (shard, self.choose(shard, request));
        let mut chosen = shards.into_iter().map(choose);
        let Some((shard, chosen)) = chosen.find(|(_, chosen)| !chosen.is_empty()) else {
            self.merging.wholly.clear();
            return None;
        };
        let packs = self.is_wanted_whole(shard) || request.packs();
        let parts = chosen.iter().map(|at| &self.segments[*at]);
        let sources = parts.clone().filter_map(|sealed| {
            Some(segment::Source {
                segment: Arc::clone(sealed.segment()?),
                edits: sealed.saved.clone(),
            })
        });
        self.merging.runs = true;
        self.next_number += 1;
        Some(MergeJob {
            disk: Arc::clone(&self.disk),
            dir: self.dir.clone(),
            directory: segment_name(self.next_number - 1),
            shard,
            fields: self.fields(),
            keyed: self.shape.keyed(),
            position: self.position,
            directories: parts
                .clone()
                .map(|sealed| sealed.files.directory.clone())
                .collect(),
            sources: sources.collect(),
            like: self.largest_packed(),
            packs,
            keep_by: request.keep_by,
            stop: Arc::clone(&self.merging.stop),
        })
    }

    /// The largest segment whose rows are packed.
    fn largest_packed(&self) -> Option<Arc<Segment>> {
        let segments = self.segments.iter().filter_map(|sealed| sealed.segment());
        let packed = segments.filter(|segment| segment.is_packed());
        packed.max_by_key(|segment| segment.rows()).cloned()
    }

    /// Asks for one segment a shard, made of all its present segments without the deleted rows that
    /// files hold. [`Table::merge_job`] then gives the jobs. Rows of the tail and of later seals
    /// stay outside: a caller that wants the tail's rows in it seals first.
    pub fn optimize(&mut self) {
        let directories = self.segments.iter().map(|sealed| &sealed.files.directory);
        self.merging.wholly = directories.cloned().collect();
    }

    /// Takes [`Table::optimize`] back: merges follow the usual rules again.
    pub fn give_up_optimizing(&mut self) {
        self.merging.wholly.clear();
    }

    /// Whether [`Table::optimize`] still needs a job.
    #[must_use]
    pub fn is_optimizing(&self) -> bool {
        let mut shards = 0..self.shards.len() as u16;
        let request = MergeRequest::default(); // a whole merge does not look at it
        let is_due = |shard| self.is_wanted_whole(shard) && !self.choose(shard, request).is_empty();
        self.damaged.is_empty() && shards.any(is_due)
    }

    fn is_wanted_whole(&self, shard: u16) -> bool {
        let is_wanted = |sealed: &SealedPart| self.merging.wholly.contains(&sealed.files.directory);
        let mut segments = self.segments.iter();
        segments.any(|sealed| sealed.shard == shard && is_wanted(sealed))
    }

    /// Whether [`Table::install_merged`] may be called: not while a seal runs, whose result names
    /// the old segments.
    #[must_use]
    pub fn takes_merged(&self) -> bool {
        !self.is_job_running
    }

    /// Installs the result of a merge: from the next snapshot on its sources are one segment, in
    /// which rows deleted meanwhile are marked. Returns the files for the manifest. The old files
    /// go with [`Table::remove_unused`]. Writes a small file of deleted rows where a seal was
    /// installed meanwhile and had deletions of the sources. Errors, before anything changed: `Io`,
    /// `Corrupt`, `Internal` (a seal runs, or no merge).
    pub fn install_merged(&mut self, merged: Merged) -> Result<Files> {
        if self.is_job_running || !self.merging.runs {
            return Err(Error::Internal {
                what: "a merge was installed at the wrong time".into(),
            });
        }
        self.merging.runs = false;
        let directory = merged.directory.clone();
        let made = self.take_merged(merged);
        if !matches!(made, Ok(true)) {
            self.unused.push(format!("{}/{directory}", self.dir));
        }
        made.map(|_| self.files())
    }

    /// Notes that a merge failed or was dropped; its segments stay as they are.
    pub fn abandon_merge(&mut self) {
        self.merging.runs = false;
    }

    /// The segments, for retention; `newest` is of this column. Cost: reads the column of every
    /// segment. Errors: `Io`, `Corrupt`.
    pub fn segments_by_age(&self, column: usize) -> Result<Vec<RetainedSegment>> {
        let mut all = Vec::with_capacity(self.segments.len());
        for sealed in &self.segments {
            let written = match sealed.segment() {
                Some(segment) => segment.highest(column)?,
                None => None,
            };
            let changed = sealed
                .part
                .changed(column)
                .and_then(|changed| changed.highest());
            let newest =
                written.map(|written| changed.map_or(written, |changed| written.max(changed)));
            all.push(RetainedSegment {
                name: sealed.files.directory.clone(),
                rows_live: sealed.part.rows_live(),
                bytes: sealed.segment().map_or(0, |segment| segment.bytes()),
                newest,
            });
        }
        Ok(all)
    }

    /// The ids of the live rows of the segments with these names, rising. Cost: reads them. Errors:
    /// `Io`, `Corrupt`.
    pub fn ids(&self, names: &[String]) -> Result<Vec<u64>> {
        let mut ids = Vec::new();
        for sealed in &self.segments {
            if let Some(segment) = sealed.segment()
                && names.contains(&sealed.files.directory)
            {
                for doc in sealed.part.live_docs() {
                    ids.push(segment.id(doc)?);
                }
            }
        }
        ids.sort_unstable();
        Ok(ids)
    }

    /// Deletes the rows of these ids (rising), as [`Table::delete`] does one. A segment all of
    /// whose live rows are among them goes whole, as by [`Table::drop_segments`]: only its ids are
    /// read, and no forward lists. Returns the number of rows deleted. Errors, with some rows
    /// deleted: `Io`, `Corrupt`.
    pub fn delete_all(&mut self, ids: &[u64]) -> Result<u64> {
        let mut is_left = vec![true; ids.len()];
        let mut whole = HashSet::new();
        for sealed in &self.segments {
            if let Some(places) = sealed.places_of_all(ids)? {
                places.into_iter().for_each(|place| is_left[place] = false);
                whole.insert(sealed.files.directory.clone());
            }
        }
        let mut gone = self.drop_directories(&whole);
        for (id, _) in ids.iter().zip(is_left).filter(|(_, is_left)| *is_left) {
            gone += u64::from(self.delete(*id)?);
        }
        Ok(gone)
    }

    /// Drops whole segments with all their rows. Returns the number of live rows dropped. The files
    /// go with [`Table::remove_unused`], once no manifest names them. The result of a running merge
    /// of them will be thrown away. Unknown names are skipped, and never given to a new segment, so
    /// that a replay may call this again.
    pub fn drop_segments(&mut self, names: &[String]) -> u64 {
        let numbers = names.iter().filter_map(|name| number_of(name));
        let highest = numbers.max().unwrap_or(0);
        self.next_number = self.next_number.max(highest + 1);
        let old: HashSet<String> = names.iter().cloned().collect();
        let sound = |(files, _): &(SegmentFiles, _)| !old.contains(&files.directory);
        self.damaged.retain(sound);
        self.drop_directories(&old)
    }

    fn drop_directories(&mut self, old: &HashSet<String>) -> u64 {
        let gone = self.take_segments(old);
        let rows = gone.iter().map(|sealed| sealed.part.rows_live()).sum();
        self.rows_live -= rows;
        if let Some(work) = &mut self.work {
            let is_left = |edits: &SegmentEdits| !old.contains(&edits.directory);
            work.edits.retain(is_left);
        }
        self.discard_segments(gone);
        rows
    }

    /// Indexes of the shard's segments that are to be merged.
    fn choose(&self, shard: u16, request: MergeRequest) -> Vec<usize> {
        let mut places = Vec::new();
        let mut candidates = Vec::new();
        for (at, sealed) in self.segments.iter().enumerate() {
            if sealed.shard == shard {
                places.push(at);
                // A damaged column is reported by the caller that needs its values.
                let newest = |by| sealed.segment()?.highest(by).ok().flatten();
                candidates.push(Candidate {
                    rows: u64::from(sealed.part.rows()),
                    gone: sealed.saved.deleted.len(),
                    is_changed: !sealed.saved.changes.is_empty(),
                    is_worn: sealed.is_worn(),
                    is_packed: sealed.segment().is_some_and(|segment| segment.is_packed()),
                    newest: request.keep_by.and_then(newest),
                });
            }
        }
        let chosen = choose(&candidates, self.is_wanted_whole(shard), request);
        chosen.into_iter().map(|at| places[at]).collect()
    }

    /// Puts the merged segment in the place of its sources; `false` if one of them is gone, or no
    /// row was left.
    fn take_merged(&mut self, merged: Merged) -> Result<bool> {
        let Merged {
            shard,
            directory,
            segment,
            sources,
        } = merged;
        let Some(over) = self.carry_over(&sources) else {
            return Ok(false);
        };
        let made = match segment {
            None => None,
            Some(segment) => {
                let rows = segment.rows();
                let mut part = Part::new(Source::Segment(Arc::new(segment)));
                part.remove_all(&over.all.deleted)?;
                part.changes = over.all.changes;
                let EditFiles { deleted, changed } =
                    self.write_saved(&directory, rows, &over.saved)?;
                Some(SealedPart {
                    part: Arc::new(part),
                    files: SegmentFiles {
                        directory: directory.clone(),
                        rows,
                        deleted,
                        changed,
                    },
                    shard,
                    saved: over.saved,
                })
            }
        };
        let old = sources.into_iter().map(|source| source.directory).collect();
        if let Some(work) = &mut self.work {
            let rows = made.as_ref().map(|sealed| sealed.files.rows);
            replace_frozen(work, &old, (directory, rows), over.frozen);
        }
        let is_useful = made.is_some();
        let gone = self.take_segments(&old);
        self.segments.extend(made);
        self.discard_segments(gone);
        Ok(is_useful)
    }

    /// Edits of the sources beyond those that the merge wrote; `None` if a source is gone.
    fn carry_over(&self, sources: &[MergedSource]) -> Option<CarriedOver> {
        let mut over = CarriedOver {
            all: Edits::default(),
            saved: Edits::default(),
            frozen: self.work.as_ref().map(|_| Edits::default()),
        };
        for source in sources {
            let mut known = self.segments.iter();
            let known = known.find(|known| known.files.directory == source.directory)?;
            let carry = |edits: &Edits, out| edits.since(&source.written, &source.docs, out);
            carry(&known.part.edits(), &mut over.all);
            carry(&known.saved, &mut over.saved);
            if let (Some(frozen), Some(work)) = (&mut over.frozen, &self.work) {
                let mut listed = work.edits.iter();
                let listed = listed.find(|listed| listed.directory == source.directory);
                carry(listed.map_or(&known.saved, |listed| &listed.edits), frozen);
            }
        }
        Some(over)
    }

    /// Writes the files of edits of a segment that is not in use yet. Returns their names.
    pub(super) fn write_saved(
        &mut self,
        directory: &str,
        rows: u32,
        saved: &Edits,
    ) -> Result<EditFiles> {
        let number = self.next_number;
        self.next_number += 1;
        let path = format!("{}/{directory}", self.dir);
        saved.write(&*self.disk, &path, rows, number)
    }

    /// Takes the segments with these directories out of the table.
    fn take_segments(&mut self, directories: &HashSet<String>) -> Vec<SealedPart> {
        let all = std::mem::take(&mut self.segments).into_iter();
        let is_taken = |sealed: &SealedPart| directories.contains(&sealed.files.directory);
        let (taken, left) = all.partition(is_taken);
        self.segments = left;
        taken
    }

    /// Leaves the files and the memory of segments to be removed and freed.
    pub(super) fn discard_segments(&mut self, segments: Vec<SealedPart>) {
        let path = |sealed: &SealedPart| format!("{}/{}", self.dir, sealed.files.directory);
        self.unused.extend(segments.iter().map(path));
        self.discarded.push(Discarded {
            _tails: Vec::new(),
            _work: None,
            _segments: segments,
        });
    }
}

/// Lets a failed seal, when it is tried again, write the edits of the new segment instead of
/// those of its sources.
fn replace_frozen(
    work: &mut Frozen,
    old: &HashSet<String>,
    (directory, rows): (String, Option<u32>),
    edits: Option<Edits>,
) {
    work.edits.retain(|edits| !old.contains(&edits.directory));
    if let (Some(rows), Some(edits)) = (rows, edits) {
        work.edits.push(SegmentEdits {
            directory,
            rows,
            edits,
        });
    }
}
