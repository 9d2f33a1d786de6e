//! The rows of a queue, in insert order: chunks in memory and in files.

mod merging;

use std::any::Any;
use std::collections::VecDeque;
use std::sync::Arc;

use query::schema::Column;
use query::value::Value;
use roaring::RoaringBitmap;

use crate::chunk::{CHUNK_ROWS_MAX, Chunk, Rows, StoredRow};
use crate::error::Result;
use crate::file::ChunkFile;
use crate::hits::HitBatch;

/// See the module's text.
#[derive(Default)]
pub struct Backlog {
    /// By row; the ranges do not overlap.
    chunks: VecDeque<Chunk>,
    /// The number that the next row gets.
    next: u64,
    live: u64,
    memory_bytes: u64,
    /// Chunks that have lost their last row.
    has_empty_chunk: bool,
    /// Chunks that are files.
    file_count: u64,
    /// Memory and maps that nobody needs any more: freeing them takes time, and is for another thread.
    discarded: Vec<Rows>,
    /// The chunks that a fold writes to a file.
    folding: Vec<Part>,
    /// The files that are being merged.
    merging: Vec<Part>,
    /// Files came, or one has become sparse, since the last look for some to merge.
    is_merge_due: bool,
    /// Chunk files that no row needs any more; removed once no manifest names them.
    unused_files: Vec<String>,
}

impl Backlog {
    /// An empty queue. Rows count from 1.
    pub fn new() -> Backlog {
        Backlog {
            next: 1,
            ..Backlog::default()
        }
    }

    /// A queue as its files hold it, each with the places of its removed rows, by row.
    pub fn of_files(next: u64, files: Vec<(ChunkFile, RoaringBitmap)>) -> Backlog {
        let mut backlog = Backlog {
            next,
            ..Backlog::new()
        };
        for (file, removed) in files {
            let chunk = Chunk::of_file(file, removed);
            backlog.live += chunk.live;
            backlog.next = backlog.next.max(chunk.end());
            backlog.chunks.push_back(chunk);
        }
        backlog.chunks_changed();
        backlog
    }

    /// The number that the next row gets.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Rows that are there, owned ones included.
    pub fn len(&self) -> u64 {
        self.live
    }

    /// No row is there.
    pub fn is_empty(&self) -> bool {
        self.live == 0
    }

    /// Memory of the rows that are in no file, roughly.
    pub fn memory_bytes(&self) -> u64 {
        self.memory_bytes
    }

    /// Bytes that its rows take, in memory and in files, and how many of them are of removed rows: by number of rows.
    pub fn stored_bytes(&self) -> (u64, u64) {
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
    pub fn files(&self) -> impl Iterator<Item = (&ChunkFile, &RoaringBitmap)> {
        self.chunks.iter().filter_map(|chunk| match &chunk.rows {
            Rows::File(file) => Some((&**file, &chunk.removed)),
            Rows::Open(_) | Rows::Closed(_) => None,
        })
    }

    /// The rows as they are now, for a reader beside the engine's thread. Cost: the chunks, the marks of removed rows, and
    /// the rows of the chunk that grows.
    pub(crate) fn snapshot(&self) -> Backlog {
        Backlog {
            chunks: self.chunks.iter().map(Chunk::snapshot).collect(),
            next: self.next,
            live: self.live,
            ..Backlog::default()
        }
    }

    /// Adds a row with these values at the end.
    pub fn push(&mut self, values: &[Value]) {
        self.push_stored(StoredRow::own(values));
    }

    fn push_stored(&mut self, row: StoredRow) {
        let bytes = row.bytes();
        self.memory_bytes += bytes;
        self.live += 1;
        let chunk = self.open_chunk();
        chunk.bytes += bytes;
        chunk.live += 1;
        if let Rows::Open(rows) = &mut chunk.rows {
            rows.push(row);
        }
        self.next += 1;
    }

    /// Adds the rows of a batch of hits: places of document and query.
    pub fn push_hits(&mut self, batch: HitBatch, rows: &[(u32, u32)]) {
        if rows.is_empty() {
            return;
        }
        let bytes = batch.bytes();
        let batch = Arc::new(batch);
        self.memory_bytes += bytes;
        self.open_chunk().bytes += bytes;
        for &(document, query) in rows {
            let batch = Arc::clone(&batch);
            self.push_stored(StoredRow::Hit {
                batch,
                document,
                query,
            });
        }
    }

    /// The next row gets this number, if it is above the one due: those between were lost.
    pub fn skip_to(&mut self, row: u64) {
        self.next = self.next.max(row);
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
        self.rows_from(row).next()
    }

    /// Every row of that number or above that is there, in order.
    pub(crate) fn rows_from(&self, row: u64) -> impl Iterator<Item = u64> + '_ {
        let chunks = self.chunks.range(self.chunk_index(row)..);
        chunks.flat_map(move |chunk| chunk.live_rows(row))
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
        chunk.live -= 1;
        self.has_empty_chunk |= chunk.live == 0;
        self.is_merge_due |= chunk.is_sparse();
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
            chunk.live = 0;
        }
        for row in &kept {
            let index = self.chunk_index(*row);
            if let Some(chunk) = self.chunks.get_mut(index)
                && let Some(place) = chunk.place(*row)
            {
                chunk.live += u64::from(chunk.removed.remove(place));
            }
        }
        self.live = kept.len() as u64;
        self.has_empty_chunk = true;
        self.is_merge_due = true;
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
            chunk.live += 1;
            self.live += 1;
        }
    }

    /// Undoes the insertions of this batch from row `next` on; the numbers are free again.
    pub(crate) fn truncate(&mut self, next: u64) {
        while let Some(chunk) = self.chunks.back_mut() {
            if chunk.end() <= next {
                break;
            }
            let (live, bytes) = (chunk.live, chunk.bytes);
            chunk.truncate(next.saturating_sub(chunk.first) as u32);
            self.live -= live - chunk.live;
            self.memory_bytes -= bytes - chunk.bytes;
            if chunk.len() > 0 {
                break;
            }
            self.memory_bytes -= chunk.bytes;
            self.chunks.pop_back();
        }
        self.next = next;
    }

    /// Drops the chunks that hold no row any more: mostly from the front, without a look at the others.
    pub fn sweep(&mut self) {
        if !std::mem::take(&mut self.has_empty_chunk) {
            return;
        }
        while self.chunks.front().is_some_and(|chunk| chunk.live == 0) {
            if let Some(chunk) = self.chunks.pop_front() {
                self.discard(chunk);
            }
        }
        if self.chunks.iter().any(|chunk| chunk.live == 0) {
            self.take_out(|chunk| chunk.live == 0);
        }
        self.chunks_changed();
    }

    /// Nothing to sweep and no files to merge.
    pub fn is_tidy(&self) -> bool {
        let wants_merge = self.is_merge_due && self.merging.is_empty();
        !self.has_empty_chunk && !wants_merge
    }

    /// Takes chunks out and discards them.
    fn take_out(&mut self, is_out: impl Fn(&Chunk) -> bool) {
        for chunk in std::mem::take(&mut self.chunks) {
            if is_out(&chunk) {
                self.discard(chunk);
            } else {
                self.chunks.push_back(chunk);
            }
        }
    }

    fn discard(&mut self, chunk: Chunk) {
        self.memory_bytes -= chunk.bytes;
        if let Rows::File(file) = &chunk.rows {
            self.unused_files.push(file.path().to_owned());
        }
        self.discarded.push(chunk.rows);
    }

    /// Chunks came or went.
    fn chunks_changed(&mut self) {
        self.file_count = self.files().count() as u64;
        self.is_merge_due = true;
    }

    /// Files that it has.
    pub fn file_count(&self) -> u64 {
        self.file_count
    }

    /// What is only to be freed, once; `None`: nothing.
    pub fn take_discarded(&mut self) -> Option<Box<dyn Any + Send>> {
        let discarded = std::mem::take(&mut self.discarded);
        (!discarded.is_empty()).then(|| Box::new(discarded) as Box<dyn Any + Send>)
    }

    /// Files that no row needs any more, once.
    pub fn take_unused_files(&mut self) -> Vec<String> {
        std::mem::take(&mut self.unused_files)
    }

    /// Every row that is there, in order.
    pub fn rows(&self) -> impl Iterator<Item = u64> + '_ {
        self.rows_from(0)
    }

    /// Whether a row is there.
    pub fn contains(&self, row: u64) -> bool {
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
    pub fn share(&mut self) -> Vec<SharedChunk> {
        let mut shared = Vec::new();
        self.folding.clear();
        for chunk in &mut self.chunks {
            chunk.close();
            if let Rows::Closed(rows) = &chunk.rows {
                shared.push(SharedChunk {
                    first: chunk.first,
                    rows: Arc::clone(rows),
                    removed: chunk.removed.clone(),
                });
                self.folding.push(Part::of(chunk));
            }
        }
        shared
    }

    /// Puts a fold's file in the place of the chunks that it was made of. Rows removed meanwhile stay removed.
    pub fn install(&mut self, file: ChunkFile) {
        let parts = std::mem::take(&mut self.folding);
        self.replace(&parts, file);
    }

    /// The fold came to nothing: its rows stay in memory.
    pub fn abandon_fold(&mut self) {
        self.folding.clear();
    }

    /// Puts a file in the place of the chunks that it was made of. Cost: the chunks, and the rows removed meanwhile.
    fn replace(&mut self, parts: &[Part], file: ChunkFile) {
        let Some(first) = parts.first() else {
            self.unused_files.push(file.path().to_owned()); // its rows have been replaced by others
            return;
        };
        let removed = self.removed_since(parts, &file);
        self.take_out(|chunk| parts.iter().any(|part| part.is(chunk)));
        let place = self
            .chunks
            .partition_point(|chunk| chunk.first < first.first);
        let chunk = Chunk::of_file(file, removed);
        self.has_empty_chunk |= chunk.live == 0;
        self.chunks.insert(place, chunk);
        self.chunks_changed();
        self.sweep();
    }

    /// The places in a new file of rows that were removed since it was begun.
    fn removed_since(&self, parts: &[Part], file: &ChunkFile) -> RoaringBitmap {
        let mut removed = RoaringBitmap::new();
        for part in parts {
            let chunk = self.chunks.get(self.chunk_index(part.first));
            let Some(chunk) = chunk.filter(|chunk| part.is(chunk)) else {
                let gone = file.first_at_or_above(part.first)..file.first_at_or_above(part.end);
                removed.insert_range(gone);
                continue;
            };
            for place in &chunk.removed - &part.removed {
                let row = chunk.number(place);
                removed.extend(row.map(|row| file.first_at_or_above(row)));
            }
        }
        removed
    }

    /// The first chunk that ends above a row.
    fn chunk_index(&self, row: u64) -> usize {
        self.chunks.partition_point(|chunk| chunk.end() <= row)
    }
}

/// A chunk as it was when work on it began.
struct Part {
    first: u64,
    end: u64,
    /// Places of rows that were removed by then.
    removed: RoaringBitmap,
}

impl Part {
    fn of(chunk: &Chunk) -> Part {
        Part {
            first: chunk.first,
            end: chunk.end(),
            removed: chunk.removed.clone(),
        }
    }

    /// Whether it was this chunk.
    fn is(&self, chunk: &Chunk) -> bool {
        self.first == chunk.first && self.end == chunk.end()
    }
}

/// A chunk's rows as a fold sees them.
pub struct SharedChunk {
    first: u64,
    rows: Arc<Vec<StoredRow>>,
    removed: RoaringBitmap,
}

impl SharedChunk {
    /// How many rows were there.
    pub(super) fn live_len(&self) -> u64 {
        self.rows.len() as u64 - self.removed.len()
    }

    /// Number and content of the rows that were there.
    pub(super) fn live(&self) -> impl Iterator<Item = (u64, &StoredRow)> {
        self.rows
            .iter()
            .enumerate()
            .filter(|(place, _)| !self.removed.contains(*place as u32))
            .map(|(place, row)| (self.first + place as u64, row))
    }
}
