//! Tails become segments: what a job is given, and how its result comes into use.

use std::sync::Arc;

use super::parts::{Discarded, SealedPart, TailPart, install_tail};
use super::writer::Table;
use crate::error::{Error, Result};
use crate::files::Files;
use crate::seal::{Frozen, FrozenTail, SealJob, Sealed, SegmentDeletions};

impl Table {
    /// Freezes the tails of all shards and the deletions made so far, to be written by the job. `position`: the last record
    /// applied, which must be synced. `None` while a job runs, and where nothing has changed since the last one
    /// ([`Table::is_saved`] tells which). After [`Table::thaw`] the new job writes what the old one should have, for its
    /// position: what came later waits for the next. `None` also where a segment is damaged ([`Table::check_whole`]).
    pub fn freeze(&mut self, position: u64) -> Option<SealJob> {
        if self.is_job_running || self.is_saved() || !self.damaged.is_empty() {
            return None;
        }
        let frozen = match self.work.take() {
            Some(again) => again,
            None => self.freeze_at(position),
        };
        self.work = Some(frozen.clone());
        self.is_job_running = true;
        let number = self.next_number;
        self.next_number += frozen.tails.len().max(1) as u64;
        let (disk, dir) = (Arc::clone(&self.disk), self.dir.clone());
        Some(SealJob {
            disk,
            dir,
            fields: self.fields(),
            number,
            frozen,
        })
    }

    fn freeze_at(&mut self, position: u64) -> Frozen {
        let mut tails = Vec::new();
        for (shard, held) in (0..).zip(&mut self.shards) {
            held.freeze();
            let frozen = held.frozen.as_ref().and_then(TailPart::frozen);
            tails.extend(frozen.map(|(tail, gone)| FrozenTail { shard, tail, gone }));
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
            tails,
        }
    }

    /// Whether the files of the last [`Table::install`] (or `open`) hold everything: the table's checkpoint may then move
    /// to any later position without a job.
    #[must_use]
    pub fn is_saved(&self) -> bool {
        let unchanged = !self.segments.iter().any(SealedPart::is_changed);
        let mut tails = self.shards.iter().flat_map(|shard| shard.tails());
        let is_whole = self.damaged.is_empty(); // a deletion of one of its rows may have been passed over
        is_whole && unchanged && self.work.is_none() && tails.all(|tail| tail.status().rows == 0)
    }

    /// Takes over what a job made: the rows leave the tail and stand in the segment from the next snapshot on; those that
    /// were deleted while the job ran are tombstones there. Gives the files for the manifest.
    /// Errors, before anything changed: `Io`, `Corrupt` (the new segment cannot be read back), `Internal` (no job runs).
    pub fn install(&mut self, sealed: Sealed) -> Result<Files> {
        if self.work.is_none() || !self.is_job_running {
            return Err(Error::Internal {
                what: "a job was installed that was taken back".into(),
            });
        }
        let mut parts = Vec::with_capacity(sealed.segments.len());
        for segment in sealed.segments {
            let shard = usize::from(segment.shard);
            if let Some(frozen) = &self.shards[shard].frozen {
                parts.push(install_tail(segment, &frozen.part)?);
            }
        }
        for (directory, name, deleted) in sealed.deletions {
            let known = self
                .segments
                .iter_mut()
                .find(|known| known.files.directory == directory);
            if let Some(known) = known {
                let old = known.files.deleted.replace(name);
                known.saved = deleted;
                let old = old.map(|old| format!("{}/{directory}/{old}", self.dir));
                self.unused.extend(old);
            }
        }
        self.segments.extend(parts);
        let work = self.work.take();
        let frozen = work.iter().flat_map(|work| &work.tails);
        let tails = frozen.filter_map(|tail| self.shards[usize::from(tail.shard)].frozen.take());
        let tails = tails.collect();
        self.discarded.push(Discarded {
            _tails: tails,
            _work: work,
            _segments: Vec::new(),
        });
        self.is_job_running = false;
        self.position = sealed.position;
        Ok(self.files())
    }

    /// Takes back the rows of a job that failed or was dropped; the next [`Table::freeze`] tries them again.
    pub fn thaw(&mut self) {
        self.is_job_running = false;
    }
}
