//! Which chunk files are merged. A sparse file is rewritten without its removed rows, so that one old row does not keep a
//! large file. Small neighbours become one file, so that files stay few.
//!
//! A file's size here is what its remaining rows take. Seventeen neighbouring files of 0.5 MiB each are there: the first 16
//! are below 1 MiB, so they are merged into one of 8 MiB. That file is above 1 MiB and waits until 15 neighbours below
//! 16 MiB lie beside it. So a row is written again at most once for each of the three sizes, beside sparse files.
//!
//! One merge runs at a time for each queue.

use super::{Backlog, Chunk, Part, Rows};
use crate::file::ChunkFile;
use crate::file::merge::MergedPart;
use crate::ids::RowNumber;

/// The number of small neighbours that are merged. Files.
const FILES_MERGED_MIN: usize = 16;
/// A run of files that are all below one of these sizes is merged. Bytes of the remaining rows.
const SIZES: [u64; 3] = [1 << 20, 16 << 20, 256 << 20];
/// Fewer files are merged where they reach this together. The last one may exceed it, by at most the largest size. Bytes.
const MERGED_BYTES_MAX: u64 = 512 << 20;

/// Neighbouring files to be merged: `first` is the number of their first row, `end` one above that of their last.
pub struct Candidates {
    pub parts: Vec<MergedPart>,
    pub first: RowNumber,
    pub end: RowNumber,
}

impl Backlog {
    /// Begins a merge: the files to be merged, or `None` where a merge runs or nothing is worth merging. The caller must end
    /// it by `end_merge` or `abandon_merge`. Cost: the chunks.
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

    /// Ends a merge: its file takes the place of the files that it was made of. `None`: no row was left to write.
    pub fn end_merge(&mut self, file: Option<ChunkFile>) {
        let parts = std::mem::take(&mut self.merging);
        if let Some(file) = file {
            self.replace(&parts, file);
        }
    }

    /// Ends a merge that failed: the files stay. They are looked at again when chunks come or go, or a file becomes sparse.
    pub fn abandon_merge(&mut self) {
        self.merging.clear();
    }

    /// The first sparse file.
    fn sparse(&self) -> Option<std::ops::Range<usize>> {
        let is_sparse = |chunk: &Chunk| chunk.live > 0 && chunk.is_sparse();
        let place = self.chunks.iter().position(is_sparse)?;
        Some(place..place + 1)
    }

    /// The first run of small neighbours, of the smallest size that has one.
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

/// Bytes of a file that its remaining rows take, estimated by their number; `None` for a chunk in memory.
fn live_bytes(chunk: &Chunk) -> Option<u64> {
    match &chunk.rows {
        Rows::File(file) => {
            let bytes = u128::from(file.bytes()) * u128::from(chunk.live);
            Some((bytes / u128::from(chunk.len().max(1))) as u64) // no more than the file
        }
        Rows::Open(_) | Rows::Closed(_) => None,
    }
}
