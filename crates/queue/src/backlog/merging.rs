//! Which files of a backlog are merged: so that they stay few, and that one old row does not keep a large one.

use super::{Backlog, Chunk, Part, Rows};
use crate::file::ChunkFile;
use crate::file::merge::MergedPart;

/// Neighbouring files of at most a size that are merged once there are so many.
const FILES_MERGED_MIN: usize = 16;
/// The sizes, by what is left of a file. A row is written again at most once a size.
const SIZES: [u64; 3] = [1 << 20, 16 << 20, 256 << 20];
/// A merged file is not much larger than this.
const MERGED_BYTES_MAX: u64 = 512 << 20;

/// Files to be merged: neighbours, with the numbers of the first row and of the one behind the last.
pub struct Candidates {
    pub parts: Vec<MergedPart>,
    pub first: u64,
    pub end: u64,
}

impl Backlog {
    /// The files that are worth merging, if any; they are taken to be under way then. Cost: the chunks.
    pub fn begin_merge(&mut self) -> Option<Candidates> {
        if !self.merging.is_empty() || !std::mem::take(&mut self.is_merge_due) {
            return None;
        }
        let range = self.sparse().or_else(|| self.crowd())?;
        let chosen: Vec<&Chunk> = self.chunks.range(range).collect();
        let (first, end) = (chosen.first()?.first, chosen.last()?.end());
        let part = |chunk: &&Chunk| match &chunk.rows {
            Rows::File(file) => Some(MergedPart {
                path: file.path().to_owned(),
                removed: chunk.removed.clone(),
            }),
            Rows::Open(_) | Rows::Closed(_) => None,
        };
        let parts = chosen.iter().filter_map(part).collect();
        self.merging = chosen.iter().map(|chunk| Part::of(chunk)).collect();
        Some(Candidates { parts, first, end })
    }

    /// Puts the merged file in the place of those it was made of; `None`: no row of them was left.
    pub fn end_merge(&mut self, file: Option<ChunkFile>) {
        let parts = std::mem::take(&mut self.merging);
        if let Some(file) = file {
            self.replace(&parts, file);
        }
    }

    /// The merge came to nothing: the files stay as they are, until there is another reason to look.
    pub fn abandon_merge(&mut self) {
        self.merging.clear();
    }

    /// A file of which little is left.
    fn sparse(&self) -> Option<std::ops::Range<usize>> {
        let is_sparse = |chunk: &Chunk| chunk.live > 0 && chunk.is_sparse();
        let place = self.chunks.iter().position(is_sparse)?;
        Some(place..place + 1)
    }

    /// Many small neighbours.
    fn crowd(&self) -> Option<std::ops::Range<usize>> {
        SIZES.iter().find_map(|size| self.crowd_below(*size))
    }

    fn crowd_below(&self, size: u64) -> Option<std::ops::Range<usize>> {
        let (mut start, mut bytes) = (0, 0);
        for (place, chunk) in self.chunks.iter().enumerate() {
            let left = live_bytes(chunk).filter(|left| *left < size);
            let Some(left) = left else {
                (start, bytes) = (place + 1, 0);
                continue;
            };
            bytes += left;
            if bytes >= MERGED_BYTES_MAX || place + 1 - start >= FILES_MERGED_MIN {
                return Some(start..place + 1);
            }
        }
        None
    }
}

/// What the rows that are left take of a file; `None` for a chunk in memory.
fn live_bytes(chunk: &Chunk) -> Option<u64> {
    match &chunk.rows {
        Rows::File(file) => {
            let bytes = u128::from(file.bytes()) * u128::from(chunk.live);
            Some((bytes / u128::from(chunk.len().max(1))) as u64) // no more than the file
        }
        Rows::Open(_) | Rows::Closed(_) => None,
    }
}
