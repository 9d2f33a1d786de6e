//! The rows of a queue, in insert order: chunks in memory and in files.

use std::collections::VecDeque;
use std::sync::Arc;

use query::schema::Column;
use query::value::Value;
use roaring::RoaringBitmap;

use super::batch::HitBatch;
use super::chunk::{CHUNK_ROWS_MAX, Chunk, Rows, StoredRow};
use super::file::ChunkFile;
use crate::error::Result;

/// See the module's text.
#[derive(Default)]
pub(crate) struct Backlog {
    /// By row; the ranges do not overlap.
    chunks: VecDeque<Chunk>,
    /// The number that the next row gets.
    next: u64,
    live: u64,
    memory_bytes: u64,
    /// Some chunk has lost its last row.
    has_empty_chunk: bool,
    /// Chunk files that no row needs any more; removed once no manifest names them.
    unused_files: Vec<String>,
}

impl Backlog {
    /// An empty queue. Rows count from 1.
    pub(crate) fn new() -> Backlog {
        Backlog {
            next: 1,
            ..Backlog::default()
        }
    }

    /// A queue as its files hold it, each with the places of its removed rows, by row.
    pub(crate) fn of_files(next: u64, files: Vec<(ChunkFile, RoaringBitmap)>) -> Backlog {
        let mut backlog = Backlog {
            next,
            ..Backlog::new()
        };
        for (file, removed) in files {
            let chunk = Chunk {
                first: file.first(),
                removed,
                rows: Rows::File(file),
                bytes: 0,
            };
            backlog.live += chunk.live();
            backlog.next = backlog.next.max(chunk.end());
            backlog.chunks.push_back(chunk);
        }
        backlog
    }

    /// The number that the next row gets.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Rows that are there, owned ones included.
    pub(crate) fn len(&self) -> u64 {
        self.live
    }

    /// Memory of the rows that are in no file, roughly.
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.memory_bytes
    }

    /// Bytes that its rows take, in memory and in files, and how many of them are of removed rows: by number of rows.
    pub(crate) fn stored_bytes(&self) -> (u64, u64) {
        let mut stored = (0, 0);
        for chunk in &self.chunks {
            let bytes = chunk.stored_bytes();
            let removed = u128::from(bytes) * u128::from(chunk.removed.len());
            stored.0 += bytes;
            stored.1 += (removed / u128::from(chunk.len().max(1))) as u64; // no more than `bytes`
        }
        stored
    }

    /// Its files, each with the places of removed rows.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&ChunkFile, &RoaringBitmap)> {
        self.chunks.iter().filter_map(|chunk| match &chunk.rows {
            Rows::File(file) => Some((file, &chunk.removed)),
            Rows::Open(_) | Rows::Closed(_) => None,
        })
    }

    /// Adds a row at the end.
    pub(crate) fn push(&mut self, row: StoredRow) {
        let bytes = row.bytes();
        self.memory_bytes += bytes;
        self.live += 1;
        let chunk = self.open_chunk();
        chunk.bytes += bytes;
        if let Rows::Open(rows) = &mut chunk.rows {
            rows.push(row);
        }
        self.next += 1;
    }

    /// Adds the rows of a batch of hits: places of document and query.
    pub(crate) fn push_hits(&mut self, batch: HitBatch, rows: &[(u32, u32)]) {
        if rows.is_empty() {
            return;
        }
        let bytes = batch.bytes();
        let batch = Arc::new(batch);
        self.memory_bytes += bytes;
        self.open_chunk().bytes += bytes;
        for &(document, query) in rows {
            let batch = Arc::clone(&batch);
            self.push(StoredRow::Hit {
                batch,
                document,
                query,
            });
        }
    }

    /// The chunk that the next row goes into.
    fn open_chunk(&mut self) -> &mut Chunk {
        let takes_more = |chunk: &Chunk| match &chunk.rows {
            Rows::Open(rows) => rows.len() < CHUNK_ROWS_MAX && chunk.end() == self.next,
            Rows::Closed(_) | Rows::File(_) => false,
        };
        if !self.chunks.back().is_some_and(takes_more) {
            if let Some(last) = self.chunks.back_mut() {
                last.close();
            }
            self.chunks.push_back(Chunk::open(self.next));
        }
        let last = self.chunks.len() - 1;
        &mut self.chunks[last]
    }

    /// The first row of that number or above that is there.
    pub(crate) fn first_at_or_above(&self, row: u64) -> Option<u64> {
        let index = self.chunk_index(row);
        let chunks = self.chunks.range(index..);
        chunks.flat_map(|chunk| chunk.live_rows(row)).next()
    }

    /// Removes a row; false where there is none. Empty chunks go with the next [`Backlog::sweep`].
    pub(crate) fn remove(&mut self, row: u64) -> bool {
        let index = self.chunk_index(row);
        let Some(chunk) = self.chunks.get_mut(index) else {
            return false;
        };
        let Some(place) = chunk.live_place(row) else {
            return false;
        };
        chunk.removed.insert(place);
        self.has_empty_chunk |= chunk.live() == 0;
        self.live -= 1;
        true
    }

    /// Removes every row but these.
    pub(crate) fn clear(&mut self, kept: &[u64]) {
        let kept: Vec<u64> = kept
            .iter()
            .copied()
            .filter(|row| self.contains(*row))
            .collect();
        for chunk in &mut self.chunks {
            chunk.removed.insert_range(0..chunk.len() as u32);
        }
        for row in &kept {
            let index = self.chunk_index(*row);
            if let Some(chunk) = self.chunks.get_mut(index)
                && let Some(place) = chunk.place(*row)
            {
                chunk.removed.remove(place);
            }
        }
        self.live = kept.len() as u64;
        self.has_empty_chunk = true;
    }

    /// Undoes a [`Backlog::remove`] of this batch.
    pub(crate) fn restore(&mut self, row: u64) {
        let index = self.chunk_index(row);
        let Some(chunk) = self.chunks.get_mut(index) else {
            return;
        };
        if chunk
            .place(row)
            .is_some_and(|place| chunk.removed.remove(place))
        {
            self.live += 1;
        }
    }

    /// Undoes the insertions of this batch from row `next` on; the numbers are free again.
    pub(crate) fn truncate(&mut self, next: u64) {
        while let Some(chunk) = self.chunks.back_mut() {
            if chunk.end() <= next {
                break;
            }
            let (live, bytes) = (chunk.live(), chunk.bytes);
            chunk.truncate(next.saturating_sub(chunk.first) as u32);
            self.live -= live - chunk.live();
            self.memory_bytes -= bytes - chunk.bytes;
            if chunk.len() > 0 {
                break;
            }
            self.memory_bytes -= chunk.bytes;
            self.chunks.pop_back();
        }
        self.next = next;
    }

    /// Drops the chunks that hold no row any more.
    pub(crate) fn sweep(&mut self) {
        if !std::mem::take(&mut self.has_empty_chunk) {
            return;
        }
        let (memory_bytes, unused_files) = (&mut self.memory_bytes, &mut self.unused_files);
        self.chunks.retain(|chunk| {
            if chunk.live() > 0 {
                return true;
            }
            *memory_bytes -= chunk.bytes;
            if let Rows::File(file) = &chunk.rows {
                unused_files.push(file.path().to_owned());
            }
            false
        });
    }

    /// Files that no row needs any more, once.
    pub(crate) fn take_unused_files(&mut self) -> Vec<String> {
        std::mem::take(&mut self.unused_files)
    }

    /// Every row that is there, in order.
    pub(crate) fn rows(&self) -> impl Iterator<Item = u64> + '_ {
        self.chunks.iter().flat_map(|chunk| chunk.live_rows(0))
    }

    /// Whether a row is there.
    pub(crate) fn contains(&self, row: u64) -> bool {
        let chunk = self.chunks.get(self.chunk_index(row));
        chunk.is_some_and(|chunk| chunk.live_place(row).is_some())
    }

    /// The values of a row; `None` where there is none of that number.
    pub(crate) fn values(&self, row: u64, columns: &[Column]) -> Result<Option<Vec<Value>>> {
        let chunk = self.chunks.get(self.chunk_index(row));
        match chunk.and_then(|chunk| Some((chunk, chunk.live_place(row)?))) {
            Some((chunk, place)) => chunk.values(place, columns).map(Some),
            None => Ok(None),
        }
    }

    /// Closes the chunks in memory and shares the rows that are still there with a fold, by row.
    pub(crate) fn share(&mut self) -> Vec<SharedChunk> {
        let mut shared = Vec::new();
        for chunk in &mut self.chunks {
            chunk.close();
            if let Rows::Closed(rows) = &chunk.rows {
                shared.push(SharedChunk {
                    first: chunk.first,
                    rows: Arc::clone(rows),
                    removed: chunk.removed.clone(),
                });
            }
        }
        shared
    }

    /// Puts a fold's file in the place of the chunks that it was made of: those in memory below its end. Rows removed
    /// meanwhile stay removed.
    pub(crate) fn install(&mut self, file: ChunkFile) {
        let mut removed = RoaringBitmap::new();
        for place in 0..file.len() {
            if !file.row(place).is_some_and(|row| self.contains(row)) {
                removed.insert(place);
            }
        }
        let (end, memory_bytes) = (file.end(), &mut self.memory_bytes);
        self.chunks.retain(|chunk| {
            let stays = chunk.first >= end || matches!(chunk.rows, Rows::File(_));
            if !stays {
                *memory_bytes -= chunk.bytes;
            }
            stays
        });
        let chunk = Chunk {
            first: file.first(),
            removed,
            rows: Rows::File(file),
            bytes: 0,
        };
        self.has_empty_chunk |= chunk.live() == 0;
        let place = self
            .chunks
            .partition_point(|other| other.first < chunk.first);
        self.chunks.insert(place, chunk);
        self.sweep();
    }

    /// The first chunk that ends above a row.
    fn chunk_index(&self, row: u64) -> usize {
        self.chunks.partition_point(|chunk| chunk.end() <= row)
    }
}

/// A chunk's rows as a fold sees them.
pub(crate) struct SharedChunk {
    first: u64,
    rows: Arc<Vec<StoredRow>>,
    removed: RoaringBitmap,
}

impl SharedChunk {
    /// Number and content of the rows that were there.
    pub(super) fn live(&self) -> impl Iterator<Item = (u64, &StoredRow)> {
        self.rows
            .iter()
            .enumerate()
            .filter(|(place, _)| !self.removed.contains(*place as u32))
            .map(|(place, row)| (self.first + place as u64, row))
    }
}
