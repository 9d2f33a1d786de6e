//! Opening the files of a table, and removing what is none of them.

use std::collections::HashSet;
use std::io;
use std::sync::Arc;

use disk::Disk;

use super::held::SealedPart;
use crate::error::{Error, Result};
use crate::files::{Files, SegmentFiles};
use crate::part::{Part, Source};
use crate::segment::{Segment, read_deleted};

/// Makes a folder whose name is durable, and its parents.
pub(super) fn make_dir(disk: &dyn Disk, dir: &str) -> io::Result<()> {
    if disk.exists(dir)? {
        return Ok(());
    }
    let parent = dir.rsplit_once('/').map_or("", |(parent, _)| parent);
    if !parent.is_empty() {
        make_dir(disk, parent)?;
    }
    disk.create_dir(dir)?;
    disk.sync_dir(parent)
}

pub(super) fn open_segment(
    disk: &Arc<dyn Disk>,
    dir: &str,
    listed: &SegmentFiles,
) -> Result<SealedPart> {
    let path = format!("{dir}/{}", listed.directory);
    let segment = Segment::open(disk, &path, listed.rows)?;
    let mut part = Part::new(Source::Segment(Arc::new(segment)));
    if let Some(name) = &listed.deleted {
        for doc in read_deleted(&**disk, &format!("{path}/{name}"), listed.rows)? {
            let words = part.forward(doc)?;
            part.remove(doc, &words);
        }
    }
    let deleted_saved = part.deleted.len();
    Ok(SealedPart {
        part: Arc::new(part),
        files: listed.clone(),
        deleted_saved,
    })
}

/// Removes what the manifest does not name: segments of jobs that were not installed, and old files of deleted rows.
pub(super) fn remove_orphans(disk: &dyn Disk, dir: &str, files: &Files) -> Result<()> {
    let remove = || {
        make_dir(disk, dir)?;
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
            for name in disk.list(&path)? {
                if name.starts_with("deleted-") && segment.deleted.as_ref() != Some(&name) {
                    disk.remove(&format!("{path}/{name}"))?;
                }
            }
        }
        Ok(())
    };
    remove().map_err(|error| Error::io(dir, error))
}

/// A number above every one that a name in use carries.
pub(super) fn next_number(files: &Files) -> u64 {
    let names = files
        .segments
        .iter()
        .flat_map(|s| [Some(&s.directory), s.deleted.as_ref()]);
    let number = |name: &String| name.rsplit_once('-')?.1.parse::<u64>().ok();
    names.flatten().filter_map(number).max().unwrap_or(0) + 1
}

/// The highest number that a name in the table's directory carries, whosever it is.
pub(super) fn highest_number(disk: &dyn Disk, dir: &str) -> io::Result<u64> {
    let number = |name: &str| name.rsplit_once('-')?.1.parse::<u64>().ok();
    let mut highest = 0;
    for name in disk.list(dir)? {
        highest = highest.max(number(&name).unwrap_or(0));
        if name.starts_with("segment-") {
            let below = disk.list(&format!("{dir}/{name}"))?;
            highest = below
                .iter()
                .filter_map(|name| number(name))
                .fold(highest, u64::max);
        }
    }
    Ok(highest)
}
