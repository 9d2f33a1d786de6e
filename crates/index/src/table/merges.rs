//! Segments become fewer: which ones a job is given, and how its result comes into use.
//!
//! A merge leaves behind only rows that the files of deleted rows hold, hence rows deleted up to the position that all files
//! cover. Later deletions are carried over as tombstones: their unit may still be refused and taken back while the merge runs,
//! and a restart at that position has to find every row that was live there.

use std::collections::HashSet;
use std::sync::Arc;

use roaring::RoaringBitmap;

use super::open::number_of;
use super::parts::{Discarded, SealedPart};
use super::policy::{Candidate, MergeRequest, choose};
use super::status::SegmentInfo;
use super::writer::Table;
use crate::error::{Error, Result};
use crate::files::{Files, SegmentFiles};
use crate::merge::{MergeJob, Merged, MergedSource};
use crate::part::{Part, Source};
use crate::seal::{Frozen, SegmentDeletions, deleted_name, segment_name};
use crate::segment::{self, write_deleted};

/// Deleted rows of a merge's sources, by docs of the new segment.
struct CarriedOver {
    /// All of them.
    deleted: RoaringBitmap,
    /// Those that the files covered already.
    saved: RoaringBitmap,
    /// Those that a seal has frozen and will write when it is tried again, if there is such a seal.
    frozen: Option<RoaringBitmap>,
}

impl Table {
    /// What is due to be merged, one job at a time; `None` where nothing is, or one runs.
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
        let parts = chosen.iter().map(|at| &self.segments[*at]);
        let sources = parts.clone().filter_map(|sealed| {
            Some(segment::Source {
                segment: Arc::clone(sealed.segment()?),
                gone: Arc::clone(&sealed.saved),
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
            position: self.position,
            directories: parts
                .clone()
                .map(|sealed| sealed.files.directory.clone())
                .collect(),
            sources: sources.collect(),
            keep_by: request.keep_by,
            stop: Arc::clone(&self.merging.stop),
        })
    }

    /// Has all segments that each shard has now merged into one, without the deleted rows that files know of: [`Table::merge_job`]
    /// gives the jobs. Whoever wants the rows of the tail in it seals first; what is sealed later is not waited for.
    pub fn optimize(&mut self) {
        let directories = self.segments.iter().map(|sealed| &sealed.files.directory);
        self.merging.wholly = directories.cloned().collect();
    }

    /// Takes [`Table::optimize`] back: what is merged is again what is worth it.
    pub fn give_up_optimizing(&mut self) {
        self.merging.wholly.clear();
    }

    /// Whether jobs of [`Table::optimize`] are still to be done.
    #[must_use]
    pub fn is_optimizing(&self) -> bool {
        let mut shards = 0..self.shards.len() as u16;
        let request = MergeRequest::default(); // what it asks for does not matter to a whole merge
        let is_due = |shard| self.is_wanted_whole(shard) && !self.choose(shard, request).is_empty();
        self.damaged.is_empty() && shards.any(is_due)
    }

    fn is_wanted_whole(&self, shard: u16) -> bool {
        let is_wanted = |sealed: &SealedPart| self.merging.wholly.contains(&sealed.files.directory);
        let mut segments = self.segments.iter();
        segments.any(|sealed| sealed.shard == shard && is_wanted(sealed))
    }

    /// Whether [`Table::install_merged`] may be called now: not while a seal runs, whose result names the old segments.
    #[must_use]
    pub fn takes_merged(&self) -> bool {
        !self.is_job_running
    }

    /// Takes over what a merge made: its segments are one from the next snapshot on, in which rows that were deleted while it
    /// ran are tombstones. Gives the files for the manifest; the old ones go with [`Table::remove_unused`]. Writes a small file where a
    /// seal came in between and rows were deleted before that. Errors, before anything changed: `Io`, `Corrupt`, `Internal`
    /// (a seal or no merge runs).
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

    /// A merge failed or was dropped: its segments stay as they are.
    pub fn abandon_merge(&mut self) {
        self.merging.runs = false;
    }

    /// What retention chooses from; `newest` is of that column. Cost: the first call reads the column of every segment.
    /// Errors: `Io`, `Corrupt`.
    pub fn segments(&self, column: usize) -> Result<Vec<SegmentInfo>> {
        let mut all = Vec::with_capacity(self.segments.len());
        for sealed in &self.segments {
            let newest = match sealed.segment() {
                Some(segment) => segment.highest(column)?,
                None => None,
            };
            all.push(SegmentInfo {
                name: sealed.files.directory.clone(),
                rows_live: sealed.part.rows_live(),
                bytes: sealed.segment().map_or(0, |segment| segment.bytes()),
                newest,
            });
        }
        Ok(all)
    }

    /// The ids of the live rows of these segments, rising. Cost: reads them. Errors: `Io`, `Corrupt`.
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

    /// Removes the rows of these ids (rising), as [`Table::delete`] does one. A segment all of whose live rows are among them goes
    /// whole, as by [`Table::drop_segments`]: for that its ids are read, and no row's words. Gives the number of rows that went.
    /// Errors, with some rows removed: `Io`, `Corrupt`.
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

    /// Takes whole segments away, with every row in them. Gives the number of live rows that went; the files go with
    /// [`Table::remove_unused`], when a manifest does not name them any more. What a running merge makes of them is thrown away.
    /// Names that are not there are passed over, and never given to a new segment: this may be called again by a replay.
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
            let is_left = |deletions: &SegmentDeletions| !old.contains(&deletions.directory);
            work.deletions.retain(is_left);
        }
        self.discard_segments(gone);
        rows
    }

    /// The places of a shard's segments that are to be merged.
    fn choose(&self, shard: u16, request: MergeRequest) -> Vec<usize> {
        let mut places = Vec::new();
        let mut candidates = Vec::new();
        for (at, sealed) in self.segments.iter().enumerate() {
            if sealed.shard == shard {
                places.push(at);
                // Damage is told by whoever needs what is damaged.
                let newest = |by| sealed.segment()?.highest(by).ok().flatten();
                candidates.push(Candidate {
                    rows: u64::from(sealed.part.rows()),
                    gone: sealed.saved.len(),
                    newest: request.keep_by.and_then(newest),
                });
            }
        }
        let chosen = choose(&candidates, self.is_wanted_whole(shard), request);
        chosen.into_iter().map(|at| places[at]).collect()
    }

    /// Whether the merge was of use: its segments are all still there.
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
                part.remove_all(&over.deleted)?;
                let deleted = self.write_saved(&directory, rows, &over.saved)?;
                Some(SealedPart {
                    part: Arc::new(part),
                    files: SegmentFiles {
                        directory: directory.clone(),
                        rows,
                        deleted,
                    },
                    shard,
                    saved: Arc::new(over.saved),
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

    /// What was deleted from the sources beyond what was left behind; `None` where one of them is gone.
    fn carry_over(&self, sources: &[MergedSource]) -> Option<CarriedOver> {
        let mut over = CarriedOver {
            deleted: RoaringBitmap::new(),
            saved: RoaringBitmap::new(),
            frozen: self.work.as_ref().map(|_| RoaringBitmap::new()),
        };
        for source in sources {
            let mut known = self.segments.iter();
            let known = known.find(|known| known.files.directory == source.directory)?;
            let carried = |docs: &RoaringBitmap| -> Vec<u32> {
                let new = docs - &*source.gone;
                new.iter().map(|doc| source.docs[doc as usize]).collect()
            };
            over.deleted.extend(carried(&known.part.deleted));
            over.saved.extend(carried(&known.saved));
            if let (Some(frozen), Some(work)) = (&mut over.frozen, &self.work) {
                let mut listed = work.deletions.iter();
                let listed = listed.find(|listed| listed.directory == source.directory);
                frozen.extend(carried(
                    listed.map_or(&known.saved, |listed| &listed.deleted),
                ));
            }
        }
        Some(over)
    }

    /// Writes the file of deleted rows of a segment that is not in use yet, if there are such rows; gives its name.
    fn write_saved(
        &mut self,
        directory: &str,
        rows: u32,
        saved: &RoaringBitmap,
    ) -> Result<Option<String>> {
        if saved.is_empty() {
            return Ok(None);
        }
        let name = deleted_name(self.next_number);
        self.next_number += 1;
        let path = format!("{}/{directory}", self.dir);
        write_deleted(&*self.disk, &format!("{path}/{name}"), rows, saved)?;
        self.disk
            .sync_dir(&path)
            .map_err(|error| Error::io(path, error))?;
        Ok(Some(name))
    }

    fn take_segments(&mut self, directories: &HashSet<String>) -> Vec<SealedPart> {
        let all = std::mem::take(&mut self.segments).into_iter();
        let is_taken = |sealed: &SealedPart| directories.contains(&sealed.files.directory);
        let (taken, left) = all.partition(is_taken);
        self.segments = left;
        taken
    }

    fn discard_segments(&mut self, segments: Vec<SealedPart>) {
        let path = |sealed: &SealedPart| format!("{}/{}", self.dir, sealed.files.directory);
        self.unused.extend(segments.iter().map(path));
        self.discarded.push(Discarded {
            _tails: Vec::new(),
            _work: None,
            _segments: segments,
        });
    }
}

/// What a seal that is to be tried again writes of merged segments, it writes of the new one.
fn replace_frozen(
    work: &mut Frozen,
    old: &HashSet<String>,
    (directory, rows): (String, Option<u32>),
    deleted: Option<RoaringBitmap>,
) {
    work.deletions
        .retain(|deletions| !old.contains(&deletions.directory));
    if let (Some(rows), Some(deleted)) = (rows, deleted) {
        work.deletions.push(SegmentDeletions {
            directory,
            rows,
            deleted: Arc::new(deleted),
        });
    }
}
