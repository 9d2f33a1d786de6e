//! Opens the files of a table, and removes those that its manifest does not name.

use std::collections::HashSet;
use std::io;
use std::sync::Arc;

use disk::Disk;

use super::parts::{SealedPart, shard_of};
use crate::edits::{Edits, is_edit_file};
use crate::error::{Error, Result};
use crate::files::{Files, SegmentFiles};
use crate::part::{Part, Source};
use crate::seal::segment_name;
use crate::segment::{LegacySegment, Opened, Segment};
use crate::shape::TableShape;
use crate::warning::Warning;

/// Makes a directory and its missing parents. All their names are durable on return, also those
/// that an earlier call made and could not sync. Cost: a sync for each part of the path.
pub(super) fn make_dir(disk: &dyn Disk, dir: &str) -> io::Result<()> {
    disk.create_dir(dir)?;
    let ends = dir.match_indices('/').map(|(end, _)| end);
    for parent in std::iter::once("").chain(ends.filter_map(|end| dir.get(..end))) {
        disk.sync_dir(parent)?;
    }
    Ok(())
}

/// The segments of a table while it is opened.
pub(super) struct Opening<'a> {
    disk: &'a Arc<dyn Disk>,
    dir: &'a str,
    shape: &'a TableShape,
    pub(super) segments: Vec<SealedPart>,
    /// The segments that cannot be opened, and why.
    pub(super) damaged: Vec<(SegmentFiles, Warning)>,
    /// Directories of old-format segments that were written again.
    pub(super) unused: Vec<String>,
    pub(super) next_number: u64,
}

impl<'a> Opening<'a> {
    pub(super) fn new(
        disk: &'a Arc<dyn Disk>,
        dir: &'a str,
        shape: &'a TableShape,
        files: &Files,
    ) -> Opening<'a> {
        Opening {
            disk,
            dir,
            shape,
            segments: Vec::with_capacity(files.segments.len()),
            damaged: Vec::new(),
            unused: Vec::new(),
            next_number: next_number(files),
        }
    }

    /// Opens a segment, or notes that it is damaged. Errors: `Io`, `NewerFormat`.
    pub(super) fn segment(&mut self, listed: &SegmentFiles) -> Result<()> {
        let Err(error) = self.sound_segment(listed) else {
            return Ok(());
        };
        let damage = Warning::of_damage(&error).ok_or(error)?;
        self.damaged.push((listed.clone(), damage));
        Ok(())
    }

    /// Opens a segment. Errors: also `Corrupt`.
    fn sound_segment(&mut self, listed: &SegmentFiles) -> Result<()> {
        let path = format!("{}/{}", self.dir, listed.directory);
        let edits = Edits::read(&**self.disk, &path, listed)?;
        match Opened::open(self.disk, &path, listed.rows)? {
            Opened::Current(segment) => self.push(*segment, listed.clone(), edits),
            Opened::Legacy(old) => {
                self.rewrite(&old, &edits)?;
                self.unused.push(path);
                Ok(())
            }
        }
    }

    /// Adds an open segment with its edits.
    fn push(&mut self, segment: Segment, files: SegmentFiles, edits: Edits) -> Result<()> {
        let shard = shard_of(segment.id_range().0, self.shape.shards);
        let mut part = Part::new(Source::Segment(Arc::new(segment)));
        part.remove_all(&edits.deleted)?;
        part.changes = edits.changes.clone();
        self.segments.push(SealedPart {
            part: Arc::new(part),
            files,
            shard,
            saved: edits,
        });
        Ok(())
    }

    /// Writes a segment of an old format again as one of the present format, without its deleted
    /// rows, and adds that. No release could change values in segments of that format.
    fn rewrite(&mut self, old: &LegacySegment, edits: &Edits) -> Result<()> {
        let directory = segment_name(self.next_number);
        self.next_number += 1;
        let path = format!("{}/{directory}", self.dir);
        let rows = old.rewrite(self.disk, &path, self.shape, &edits.deleted)?;
        if rows == 0 {
            return Ok(());
        }
        self.disk
            .sync_dir(self.dir)
            .map_err(|error| Error::io(self.dir, error))?;
        let segment = Segment::open(self.disk, &path, rows)?;
        let files = SegmentFiles {
            directory,
            rows,
            deleted: None,
            changed: None,
        };
        self.push(segment, files, Edits::default())
    }
}

/// Removes what the manifest does not name: segments of jobs that were never installed, and old
/// files of deleted rows.
pub(super) fn remove_orphans(disk: &dyn Disk, dir: &str, files: &Files) -> Result<()> {
    let remove = || {
        if !disk.exists(dir)? {
            make_dir(disk, dir)?;
        }
        let known: HashSet<&str> = files
            .segments
            .iter()
            .map(|s| s.directory.as_str())
            .collect();
        for name in disk.list(dir)? {
            if name.starts_with("segment-") && !known.contains(name.as_str()) {
                disk.remove_dir(&format!("{dir}/{name}"))?;
            }
        }
        for segment in &files.segments {
            let path = format!("{dir}/{}", segment.directory);
            let listed = match disk.list(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue, // reported when it is opened
                listed => listed?,
            };
            for name in listed {
                let named = [&segment.deleted, &segment.changed];
                if is_edit_file(&name) && !named.contains(&&Some(name.clone())) {
                    disk.remove(&format!("{path}/{name}"))?;
                }
            }
        }
        Ok(())
    };
    remove().map_err(|error| Error::io(dir, error))
}

/// A number above all numbers in the manifest's names.
fn next_number(files: &Files) -> u64 {
    let names = files
        .segments
        .iter()
        .flat_map(|s| [Some(&s.directory), s.deleted.as_ref(), s.changed.as_ref()]);
    let numbers = names.flatten().filter_map(|name| number_of(name));
    numbers.max().unwrap_or(0) + 1
}

/// The number in the name of a segment's directory or file of edits.
pub(super) fn number_of(name: &str) -> Option<u64> {
    name.rsplit_once('-')?.1.parse().ok()
}

/// Highest number of any name in the table's directory, even of files that no manifest names.
pub(super) fn highest_number(disk: &dyn Disk, dir: &str) -> io::Result<u64> {
    let mut highest = 0;
    for name in disk.list(dir)? {
        highest = highest.max(number_of(&name).unwrap_or(0));
        if name.starts_with("segment-") {
            let below = disk.list(&format!("{dir}/{name}"))?;
            highest = below
                .iter()
                .filter_map(|name| number_of(name))
                .fold(highest, u64::max);
        }
    }
    Ok(highest)
}
