//! A journal that goes on after records which nobody can read any more.

use crate::frame::{self, Origin};
use crate::prepare::{Workshop, poisoned};
use crate::{Error, Position, Result};
use disk::Disk;
use std::sync::Arc;

/// Makes a journal in a folder that holds none, whose first record comes after `last`. It is durable when this returns.
/// A journal cannot be empty and begin elsewhere than at 1, so the first record is given: one that changes nothing.
///
/// Errors: `Corrupt` where the folder holds a journal; `Full`, `Io`, `Poisoned`, after which the folder may be removed.
pub fn begin_after(
    disk: &Arc<dyn Disk>,
    dir: &str,
    segment_bytes: u64,
    last: Position,
    record: &[u8],
) -> Result<()> {
    let listing = crate::prepare::list(&**disk, dir).map_err(|source| Error::Io {
        file: dir.to_owned(),
        source,
    })?;
    if !listing.segments.is_empty() {
        return Err(Error::Corrupt {
            file: dir.to_owned(),
            offset: 0,
            what: "there is a journal already",
        });
    }
    let mut workshop = Workshop::new(Arc::clone(disk), dir, segment_bytes, listing.spares)?;
    // The epoch 1 is that of a journal which begins with record 1.
    let segment = workshop.prepare(2)?;
    let origin = Origin {
        segment: segment.id,
        first: last.next(),
        synced: last,
        chain: 0,
    };
    let mut bytes = Vec::new();
    frame::encode(&origin, &[record], &mut bytes);
    let written = segment.file.write_at(0, &bytes);
    written
        .and_then(|()| segment.file.sync())
        .map_err(|error| poisoned(&segment.path, &error))
}
