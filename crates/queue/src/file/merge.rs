//! The job that writes one chunk file from several, or from a sparse one.

use std::sync::Arc;

use disk::Disk;
use relation::codec::Reader;
use roaring::RoaringBitmap;

use super::write::{Writer, make_file, put_hit};
use super::{ChunkFile, HIT};
use crate::error::{Error, Result};

/// A merge runs only where this many times its files' bytes are free on the device: the journal needs the room more.
const ROOM_PART: u64 = 3;

/// A file that goes into the new one.
#[derive(Clone, Debug)]
pub struct MergedPart {
    /// Path of the file, below the root of the disk.
    pub path: String,
    /// Places of removed rows: they are not copied.
    pub removed: RoaringBitmap,
}

/// A merge, for any thread. [`crate::Backlog::end_merge`] takes in its file.
pub struct MergeRowsJob {
    /// The disk of the old files and the new one.
    pub disk: Arc<dyn Disk>,
    /// Folder of the new file; made where it is missing.
    pub dir: String,
    /// Name of the new file in `dir`. A file of that name, left by a failed attempt, is replaced.
    pub name: String,
    /// The files to be merged: neighbours, rising by row.
    pub parts: Vec<MergedPart>,
}

impl MergeRowsJob {
    /// Writes the new file, syncs it and opens it; `None` where no row was left. Each entry is verified and copied; only the
    /// offset of a hit's batch changes.
    ///
    /// Errors: `Full` where less than three times the files' bytes are free or the device is full, `Corrupt`, `Internal`.
    pub fn run(self) -> Result<Option<ChunkFile>> {
        let open = |part: MergedPart| {
            let file = ChunkFile::open(&*self.disk, &part.path)?;
            Ok((file, part.removed))
        };
        let parts: Vec<(ChunkFile, RoaringBitmap)> =
            self.parts.into_iter().map(open).collect::<Result<_>>()?;
        let bytes: u64 = parts.iter().map(|(file, _)| file.bytes()).sum();
        let space = self.disk.space();
        if space.is_ok_and(|space| space.free_bytes < ROOM_PART * bytes) {
            return Err(Error::Full);
        }
        let live =
            |(file, removed): &(ChunkFile, RoaringBitmap)| u64::from(file.len()) - removed.len();
        let rows = parts.iter().map(live).sum();
        let write = |writer: &mut Writer| {
            parts
                .iter()
                .try_for_each(|(file, removed)| copy(file, removed, writer))
        };
        make_file(&self.disk, &self.dir, &self.name, rows, write)
    }
}

/// Copies the rows of a file that are not removed.
fn copy(file: &ChunkFile, removed: &RoaringBitmap, writer: &mut Writer) -> Result<()> {
    // Offsets of the last batch in the old file and in the new one. Rows of a batch are neighbours, so one is enough.
    let mut last: Option<(u64, u64)> = None;
    let mut bytes = Vec::new();
    for place in (0..file.len()).filter(|place| !removed.contains(*place)) {
        let (offset, entry) = file.entry_of(place)?;
        let damaged = |_| file.damaged(offset);
        let number = file.row(place).ok_or_else(|| file.damaged(offset))?;
        if entry.first() != Some(&HIT) {
            writer.row(number, entry)?;
            continue;
        }
        let mut reader = Reader::new(entry.get(1..).unwrap_or_default());
        let old = reader.number().map_err(damaged)?;
        let new = match last {
            Some((written, new)) if written == old => new,
            _ => writer.entry(file.entry(old)?)?,
        };
        last = Some((old, new));
        let document = reader.small().map_err(damaged)?;
        let query = reader.small().map_err(damaged)?;
        bytes.clear();
        put_hit(&mut bytes, new, document, query);
        writer.row(number, &bytes)?;
    }
    Ok(())
}
