//! The rows of a queue in insert order: chunks, in memory and in files.

mod merging;

use std::any::Any;
use std::collections::VecDeque;
use std::sync::Arc;

use relation::schema::Column;
use relation::value::Value;
use roaring::RoaringBitmap;

use crate::chunk::{CHUNK_ROWS_MAX, Chunk, Rows, StoredRow};
use crate::error::Result;
use crate::file::ChunkFile;
use crate::hits::HitBatch;
use crate::ids::RowNumber;

/// The rows that were inserted into a queue and not removed.
///
/// # Example
/// 8,192 rows came and were folded into a file, 5,000 more came, then rows 1 to 4,000 and row 9,000 were removed:
///
/// | chunk | rows | where | `removed`, by place | live |
/// |---|---|---|---|---|
/// | 0 | 1 to 8,192 | `Rows::File` | 0 to 3,999 | 4,192 |
/// | 1 | 8,193 to 12,288 | `Rows::Closed`, in memory | 807 | 4,095 |
/// | 2 | 12,289 to 13,192 | `Rows::Open`: it grows | | 904 |
///
/// `next` = 13,193, `len()` = 9,191. Row 9,000 is at place 807 = 9,000 − 8,193 of its chunk. When all rows of chunk 0 are
/// removed, `sweep` drops the chunk and lists its file as unused.
///
/// # Invariants
/// - Chunks rise by row and do not overlap. So the chunk of a row is found by binary search.
/// - Only the last chunk is open. A closed chunk never gets another row: a fold or a reader may share it.
/// - `live` is the sum of the chunks' `live`; each of these is the chunk's rows less its `removed`.
/// - `next` is above every row. The server gives a number again only where the insertion was undone before its record was
///   written, or where a crash has lost that record.
///
/// # How rows move
/// `push` adds to the open chunk; at 4,096 rows the next one is begun. A fold ([`Backlog::share`], [`FoldJob`],
/// [`Backlog::install`]) puts one file in the place of all chunks in memory. A merge ([`Backlog::begin_merge`],
/// [`MergeRowsJob`], [`Backlog::end_merge`]) puts one file in the place of neighbouring files. Both jobs run on other
/// threads; a row that is removed meanwhile is marked as removed in the new file.
///
/// [`FoldJob`]: crate::FoldJob
/// [`MergeRowsJob`]: crate::MergeRowsJob
#[derive(Default)]
pub struct Backlog {
    chunks: VecDeque<Chunk>,
    /// The number that the next row gets.
    next: RowNumber,
    /// Rows that are not removed.
    live: u64,
    /// Memory of the chunks that are not files. Bytes, estimated.
    memory_bytes: u64,
    /// Some chunk has lost its last row since the last sweep.
    has_empty_chunk: bool,
    /// Chunks that are files.
    file_count: u64,
    /// Memory and maps of dropped chunks. Another thread frees them, because freeing 32 MiB of rows takes milliseconds.
    discarded: Vec<Rows>,
    /// The chunks that the running fold writes; empty without a fold.
    folding: Vec<Part>,
    /// The files that the running merge reads; empty without a merge.
    merging: Vec<Part>,
    /// Chunks came or went, or a file has become sparse, since the last [`Backlog::begin_merge`].
    is_merge_due: bool,
    /// Paths of chunk files that hold no row. The engine removes them once no manifest names them.
    unused_files: Vec<String>,
}

impl Backlog {
    /// An empty backlog. Rows count from 1.
    pub fn new() -> Backlog {
        Backlog {
            next: RowNumber(1),
            ..Backlog::default()
        }
    }

    /// A backlog of chunk files, rising by row, each with the places of its removed rows. `next`: the number that the next row
    /// gets, at least one above the files' last row.
    pub fn of_files(next: RowNumber, files: Vec<(ChunkFile, RoaringBitmap)>) -> Backlog {
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
    pub fn next(&self) -> RowNumber {
        self.next
    }

    /// Rows that are not removed, held ones included.
    pub fn len(&self) -> u64 {
        self.live
    }

    /// Whether every row has been removed.
    pub fn is_empty(&self) -> bool {
        self.live == 0
    }

    /// Memory of the rows that are in no file. Bytes, estimated.
    pub fn memory_bytes(&self) -> u64 {
        self.memory_bytes
    }

    /// (bytes of all rows in memory and in files, the part of them that removed rows take). The second is estimated from the
    /// number of removed rows, and never above the first. Cost: the chunks.
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

    /// The chunk files, rising by row, each with the places of its removed rows.
    pub fn files(&self) -> impl Iterator<Item = (&ChunkFile, &RoaringBitmap)> {
        self.chunks.iter().filter_map(|chunk| match &chunk.rows {
            Rows::File(file) => Some((&**file, &chunk.removed)),
            Rows::Open(_) | Rows::Closed(_) => None,
        })
    }

    /// The rows as they are now, for a reader on another thread. Cost: the chunks, the marks of removed rows, and a copy of
    /// the open chunk.
    pub(crate) fn snapshot(&self) -> Backlog {
        Backlog {
            chunks: self.chunks.iter().map(Chunk::snapshot).collect(),
            next: self.next,
            live: self.live,
            ..Backlog::default()
        }
    }

    /// Adds a row at the end; its number is `next`. `values`: in the order of the queue's columns.
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
        self.next = self.next.plus(1);
    }

    /// Adds rows that are hits. Each is a place of a document and a place of a query in the batch, which they share.
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

    /// Leaves out the numbers below `row`: `seine check` calls it where the rows between were lost. Nothing where `next` is not
    /// below.
    pub fn skip_to(&mut self, row: RowNumber) {
        self.next = self.next.max(row);
    }

    /// The chunk that the next row goes into; begins one where the last is full, closed, or ends below `next`.
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

    /// The first row at or above a number. Amortised cost: a binary search over the chunks.
    pub(crate) fn first_at_or_above(&self, row: RowNumber) -> Option<RowNumber> {
        self.rows_from(row).next()
    }

    /// The rows at or above a number, rising.
    pub fn rows_from(&self, row: RowNumber) -> impl Iterator<Item = RowNumber> + '_ {
        let chunks = self.chunks.range(self.chunk_index(row)..);
        chunks.flat_map(move |chunk| chunk.live_rows(row))
    }

    /// Removes a row; false where it is not there. Its chunk keeps the bytes; [`Backlog::sweep`] drops chunks without rows.
    pub(crate) fn remove(&mut self, row: RowNumber) -> bool {
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

    /// Removes every row but those in `kept`. Cost: the chunks, and `kept`.
    pub(crate) fn clear(&mut self, kept: &[RowNumber]) {
        let kept: Vec<RowNumber> = kept
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

    /// Undoes a [`Backlog::remove`] since the last [`Backlog::sweep`].
    pub(crate) fn restore(&mut self, row: RowNumber) {
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

    /// Undoes the insertions from row `next` on: their numbers are given again. These rows must be in memory.
    pub(crate) fn truncate(&mut self, next: RowNumber) {
        while let Some(chunk) = self.chunks.back_mut() {
            if chunk.end() <= next {
                break;
            }
            let (live, bytes) = (chunk.live, chunk.bytes);
            chunk.truncate(next.0.saturating_sub(chunk.first.0) as u32);
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

    /// Drops the chunks without rows. Cost: constant where there is none; else the chunks.
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

    /// Whether there is nothing to sweep and no merge to look for.
    pub fn is_tidy(&self) -> bool {
        let wants_merge = self.is_merge_due && self.merging.is_empty();
        !self.has_empty_chunk && !wants_merge
    }

    /// Drops the chunks that `is_out` names.
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

    /// To be called when chunks came or went.
    fn chunks_changed(&mut self) {
        self.file_count = self.files().count() as u64;
        self.is_merge_due = true;
    }

    /// Number of chunk files.
    pub fn file_count(&self) -> u64 {
        self.file_count
    }

    /// Hands over the memory and maps of dropped chunks, to be freed on another thread. `None` where there is nothing.
    pub fn take_discarded(&mut self) -> Option<Box<dyn Any + Send>> {
        let discarded = std::mem::take(&mut self.discarded);
        (!discarded.is_empty()).then(|| Box::new(discarded) as Box<dyn Any + Send>)
    }

    /// Hands over the paths of chunk files that hold no row. The caller removes them once no manifest names them.
    pub fn take_unused_files(&mut self) -> Vec<String> {
        std::mem::take(&mut self.unused_files)
    }

    /// Every row, rising.
    pub fn rows(&self) -> impl Iterator<Item = RowNumber> + '_ {
        self.rows_from(RowNumber(0))
    }

    /// Whether a row was inserted and not removed. Cost: a binary search over the chunks, and one in a file with gaps.
    pub fn contains(&self, row: RowNumber) -> bool {
        let chunk = self.chunks.get(self.chunk_index(row));
        chunk.is_some_and(|chunk| chunk.live_place(row).is_some())
    }

    /// The values of a row as it was stored, in the columns of that time; `None` where it is not there.
    pub(crate) fn values(&self, row: RowNumber, columns: &[Column]) -> Result<Option<Vec<Value>>> {
        let chunk = self.chunks.get(self.chunk_index(row));
        match chunk.and_then(|chunk| Some((chunk, chunk.live_place(row)?))) {
            Some((chunk, place)) => chunk.values(place, columns).map(Some),
            None => Ok(None),
        }
    }

    /// Begins a fold: closes the chunks in memory and shares them, rising by row. Empty where all rows are in files.
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

    /// Ends a fold: its file takes the place of the chunks that it was made of. Rows removed meanwhile stay removed.
    pub fn install(&mut self, file: ChunkFile) {
        let parts = std::mem::take(&mut self.folding);
        self.replace(&parts, file);
    }

    /// Ends a fold without a file: its rows stay in memory.
    pub fn abandon_fold(&mut self) {
        self.folding.clear();
    }

    /// Puts a file in the place of the chunks `parts`. Cost: the chunks, and the rows removed since the work began.
    fn replace(&mut self, parts: &[Part], file: ChunkFile) {
        let Some(first) = parts.first() else {
            self.unused_files.push(file.path().to_owned()); // the work was abandoned meanwhile
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

    /// Places in a new file of the rows that were removed while it was written. A chunk that is gone has lost all its rows.
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

    /// Index of the first chunk that ends above a row; the number of chunks where there is none.
    fn chunk_index(&self, row: RowNumber) -> usize {
        self.chunks.partition_point(|chunk| chunk.end() <= row)
    }
}

/// A chunk as it was when a fold or merge of it began.
struct Part {
    first: RowNumber,
    end: RowNumber,
    /// Places of the rows that were removed by then, and so are not in the new file.
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

    /// Whether `chunk` is the one that it was made of. Ranges do not overlap, so a range names its chunk.
    fn is(&self, chunk: &Chunk) -> bool {
        self.first == chunk.first && self.end == chunk.end()
    }
}

/// The rows of a closed chunk, shared with the thread of a fold.
pub struct SharedChunk {
    first: RowNumber,
    rows: Arc<Vec<StoredRow>>,
    removed: RoaringBitmap,
}

impl SharedChunk {
    /// Number of rows that were not removed when the fold began.
    pub(super) fn live_len(&self) -> u64 {
        self.rows.len() as u64 - self.removed.len()
    }

    /// The rows that were not removed when the fold began, rising, with their numbers.
    pub(super) fn live(&self) -> impl Iterator<Item = (RowNumber, &StoredRow)> {
        self.rows
            .iter()
            .enumerate()
            .filter(|(place, _)| !self.removed.contains(*place as u32))
            .map(|(place, row)| (self.first.plus(place as u64), row))
    }
}
