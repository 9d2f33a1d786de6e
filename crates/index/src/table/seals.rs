//! Seals of a table: freezes tails for a job, and installs its result.

use std::sync::Arc;

use super::parts::{Discarded, SealedPart, TailPart, install_tail};
use super::writer::Table;
use crate::error::{Error, Result};
use crate::files::Files;
use crate::seal::{Frozen, FrozenTail, SealJob, Sealed, SegmentEdits};

impl Table {
    /// Freezes the tails of all shards and the edits made so far, and returns the job that
    /// writes them. `position`: the last record applied; it must be synced.
    ///
    /// `None` while a job runs; if nothing has changed since the last one ([`Table::is_saved`]
    /// tells); and if a segment is damaged ([`Table::check_whole`]). After [`Table::thaw`] the job
    /// writes the same rows and edits for the same position again, without the rows that were deleted
    /// since: on a full disk deletes make room for it. Later changes wait for the next job. `position`
    /// must be synced then, too: a deletion that is lost would leave its row in no file.
    pub fn freeze(&mut self, position: u64) -> Option<SealJob> {
        if self.is_job_running || self.is_saved() || !self.damaged.is_empty() {
            return None;
        }
        let frozen = match self.work.take() {
            Some(again) => self.without_deleted(again),
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
            keyed: self.shape.keyed(),
            number,
            frozen,
        })
    }

    /// Work that is tried again, without the rows that were deleted since it failed.
    fn without_deleted(&self, mut again: Frozen) -> Frozen {
        for tail in &mut again.tails {
            if let Some(frozen) = &self.shards[usize::from(tail.shard)].frozen {
                tail.edits.deleted = Arc::clone(&frozen.part.deleted);
            }
        }
        again
    }

    /// Sets the tails aside, and collects the edits that files lack.
    fn freeze_at(&mut self, position: u64) -> Frozen {
        let mut tails = Vec::new();
        let keyed = self.shape.keyed();
        for (shard, held) in (0..).zip(&mut self.shards) {
            held.freeze(&keyed);
            let frozen = held.frozen.as_ref().and_then(TailPart::frozen);
            tails.extend(frozen.map(|(tail, edits)| FrozenTail { shard, tail, edits }));
        }
        let changed = self.segments.iter().filter(|sealed| sealed.is_changed());
        let edits = changed.map(|sealed| SegmentEdits {
            directory: sealed.files.directory.clone(),
            rows: sealed.files.rows,
            edits: sealed.part.edits(),
        });
        Frozen {
            position,
            edits: edits.collect(),
            tails,
        }
    }

    /// Whether the files of the last [`Table::install`] (or `open`) hold everything. The table's
    /// checkpoint may then move to any later position without a job.
    #[must_use]
    pub fn is_saved(&self) -> bool {
        let unchanged = !self.segments.iter().any(SealedPart::is_changed);
        let mut tails = self.shards.iter().flat_map(|shard| shard.tails());
        let is_whole = self.damaged.is_empty(); // an edit of a row of a damaged segment may have been skipped
        is_whole && unchanged && self.work.is_none() && tails.all(|tail| tail.status().rows == 0)
    }

    /// Installs the result of a job. From the next snapshot on its rows are in the segment, with the
    /// edits made while the job ran. Returns the files for the manifest. Errors,
    /// before anything changed: `Io` and `Corrupt` (the new segment cannot be read back),
    /// `Internal` (no job runs).
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
        for (directory, files, edits) in sealed.edits {
            let known = self
                .segments
                .iter_mut()
                .find(|known| known.files.directory == directory);
            if let Some(known) = known {
                let old = [
                    std::mem::replace(&mut known.files.deleted, files.deleted),
                    std::mem::replace(&mut known.files.changed, files.changed),
                ];
                known.saved = edits;
                let old = old.into_iter().flatten();
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

    /// Takes back the rows of a job that failed or was dropped; the next [`Table::freeze`] tries
    /// again.
    pub fn thaw(&mut self) {
        self.is_job_running = false;
    }
}
