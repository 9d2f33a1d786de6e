//! Opens a segment's directory, of the present format or of format 1.

use std::sync::Arc;

use disk::Disk;

use super::legacy::LegacySegment;
use super::reader::{Files, Segment};
use crate::error::{Error, Result};

/// An opened segment.
pub(crate) enum Opened {
    /// Of the present format, ready to be searched.
    Current(Box<Segment>),
    /// Of format 1: it must be written again before it can be searched.
    Legacy(Box<LegacySegment>),
}

impl Opened {
    /// Opens the segment in `path`, which has `rows` rows by the manifest. Errors: `Io`, `Corrupt`,
    /// `NewerFormat`.
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
    /// Opens a segment that this process has just written, and reads its common words, which the
    /// first search would read otherwise. Errors: `Io`, `Corrupt`.
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
