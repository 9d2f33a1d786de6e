//! A segment's directory, opened.

use std::sync::Arc;

use disk::Disk;

use super::legacy::LegacySegment;
use super::reader::{Files, Segment};
use crate::error::{Error, Result};

/// A segment's directory as it was found.
pub(crate) enum Opened {
    Current(Box<Segment>),
    /// Of format 1: to be written again before it can be searched.
    Legacy(Box<LegacySegment>),
}

impl Opened {
    /// Opens a segment of so many rows. Errors: `Io`, `Corrupt`, `NewerFormat`.
    pub(crate) fn open(disk: &Arc<dyn Disk>, path: &str, rows: u32) -> Result<Opened> {
        let files = Files::read(disk, path)?;
        if files.commit.rows != rows || rows == 0 {
            return Err(files.corrupt("not as many rows as the manifest says"));
        }
        match files.commit.format {
            0 | 1 => LegacySegment::open(&files).map(|old| Opened::Legacy(Box::new(old))),
            _ => Segment::of_files(&files).map(|segment| Opened::Current(Box::new(segment))),
        }
    }
}

impl Segment {
    /// Opens a segment that this version of the program has written just now, and reads what the first search would read.
    /// Errors: `Io`, `Corrupt`.
    pub(crate) fn open(disk: &Arc<dyn Disk>, path: &str, rows: u32) -> Result<Segment> {
        match Opened::open(disk, path, rows)? {
            Opened::Current(segment) => {
                segment.common()?;
                Ok(*segment)
            }
            Opened::Legacy(_) => Err(Error::Internal {
                what: format!("{path} was written just now, in an old format"),
            }),
        }
    }
}
