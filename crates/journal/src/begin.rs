//! A new journal whose positions go on behind those of a damaged one: `seine repair`.

use std::sync::Arc;

use disk::Disk;

use crate::frame::{self, Origin};
use crate::prepare::{Workshop, poisoned};
use crate::{Error, Position, Result};

/// Makes a journal in a folder without one. `record` becomes its first record, at the position after `last`; it is durable on
/// return. An empty journal always begins at 1, so the caller gives a record that changes nothing.
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
    // Epoch 1 would say that the journal begins with record 1.
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
