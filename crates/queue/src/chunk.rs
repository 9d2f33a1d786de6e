//! A run of queue rows, in memory or in a file.

use std::sync::Arc;

use relation::codec::{Reader, put_row};
use relation::schema::Column;
use relation::value::Value;
use roaring::RoaringBitmap;

use crate::error::{Error, Result};
use crate::file::ChunkFile;
use crate::hits::HitBatch;
use crate::ids::RowNumber;

/// The most rows of a chunk in memory. Rows.
pub(super) const CHUNK_ROWS_MAX: usize = 4096;

/// A file is sparse when at most one of this many of its rows is left.
const SPARSE_PART: u64 = 16;
/// Files with fewer rows are never sparse. Rows, removed ones included.
const SPARSE_ROWS_MIN: u64 = 1024;

/// Memory of a row that is a hit, beside the batch that it shares. Bytes.
pub const HIT_ROW_BYTES: u64 = size_of::<StoredRow>() as u64;

/// A row in memory.
#[derive(Clone, Debug)]
pub(crate) enum StoredRow {
    /// A row of an INSERT: its values, encoded.
    Own(Box<[u8]>),
    /// A row that is a hit: places of its document and query in a batch that neighbouring rows share.
    Hit {
        batch: Arc<HitBatch>,
        document: u32,
        query: u32,
    },
}

impl StoredRow {
    /// The record of the INSERT has the same bytes, in a buffer that the next batch uses again: the row needs its own.
    pub(crate) fn own(values: &[Value]) -> StoredRow {
        let mut bytes = Vec::new();
        put_row(&mut bytes, values);
        StoredRow::Own(bytes.into_boxed_slice())
    }

    /// Memory of the row without its batch, which `Backlog::push_hits` counts. Bytes, estimated.
    pub(super) fn bytes(&self) -> u64 {
        let own = match self {
            StoredRow::Own(bytes) => bytes.len() + 16,
            StoredRow::Hit { .. } => 0,
        };
        (own + size_of::<StoredRow>()) as u64
    }

    pub(super) fn values(&self, columns: &[Column]) -> Result<Vec<Value>> {
        let damaged = || Error::Internal("a queue row in memory does not decode".to_owned());
        match self {
            StoredRow::Own(bytes) => Reader::new(bytes).row(columns.len()).map_err(|_| damaged()),
            StoredRow::Hit {
                batch,
                document,
                query,
            } => batch.values(*document, *query, columns).ok_or_else(damaged),
        }
    }
}

/// A run of rows, rising by number. A row's place is its index in the run, removed rows included. In memory the numbers have
/// no gaps, so place = number − `first`. A file has gaps where rows were removed before it was written; its table maps them.
pub(super) struct Chunk {
    /// Number of the first row.
    pub(super) first: RowNumber,
    /// Places of removed rows.
    pub(super) removed: RoaringBitmap,
    /// Rows that are not removed.
    pub(super) live: u64,
    pub(super) rows: Rows,
    /// Its share of `Backlog::memory_bytes`; 0 for a file. Bytes.
    pub(super) bytes: u64,
}

/// The rows of a chunk, by where they are.
pub(crate) enum Rows {
    /// In memory, and the next row goes here.
    Open(Vec<StoredRow>),
    /// In memory, complete: readers and folds share them.
    Closed(Arc<Vec<StoredRow>>),
    /// In a chunk file.
    File(Arc<ChunkFile>),
}

impl Chunk {
    pub(super) fn open(first: RowNumber) -> Chunk {
        Chunk {
            first,
            removed: RoaringBitmap::new(),
            live: 0,
            rows: Rows::Open(Vec::new()),
            bytes: 0,
        }
    }

    /// A chunk of a file; the rows at the places `removed` are removed.
    pub(super) fn of_file(file: ChunkFile, removed: RoaringBitmap) -> Chunk {
        Chunk {
            first: file.first(),
            live: u64::from(file.len()).saturating_sub(removed.len()),
            removed,
            rows: Rows::File(Arc::new(file)),
            bytes: 0,
        }
    }

    /// The chunk as it is now, for a reader. Closed rows and files are shared; open rows are copied.
    pub(super) fn snapshot(&self) -> Chunk {
        let rows = match &self.rows {
            Rows::Open(rows) => Rows::Closed(Arc::new(rows.clone())),
            Rows::Closed(rows) => Rows::Closed(Arc::clone(rows)),
            Rows::File(file) => Rows::File(Arc::clone(file)),
        };
        Chunk {
            first: self.first,
            removed: self.removed.clone(),
            live: self.live,
            rows,
            bytes: 0,
        }
    }

    /// Whether the chunk is a file worth rewriting: at most one of [`SPARSE_PART`] of its rows is left.
    pub(super) fn is_sparse(&self) -> bool {
        let is_file = matches!(self.rows, Rows::File(_));
        is_file && self.live * SPARSE_PART <= self.len() && self.len() >= SPARSE_ROWS_MIN
    }

    /// Number of rows, removed ones included.
    pub(super) fn len(&self) -> u64 {
        match &self.rows {
            Rows::Open(rows) => rows.len() as u64,
            Rows::Closed(rows) => rows.len() as u64,
            Rows::File(file) => file.len().into(),
        }
    }

    /// One above the number of its last row.
    pub(super) fn end(&self) -> RowNumber {
        match &self.rows {
            Rows::Open(_) | Rows::Closed(_) => self.first.plus(self.len()),
            Rows::File(file) => file.end(),
        }
    }

    /// Bytes of its rows in memory, or the length of its file.
    pub(super) fn stored_bytes(&self) -> u64 {
        match &self.rows {
            Rows::Open(_) | Rows::Closed(_) => self.bytes,
            Rows::File(file) => file.bytes(),
        }
    }

    /// The place of a row, also of a removed one; `None` where the chunk has no such row.
    pub(super) fn place(&self, row: RowNumber) -> Option<u32> {
        if let Rows::File(file) = &self.rows {
            let place = file.first_at_or_above(row);
            return (file.row(place) == Some(row)).then_some(place);
        }
        let place = row.0.checked_sub(self.first.0)?;
        (place < self.len()).then_some(place as u32) // a chunk in memory is small
    }

    /// The place of a row that is not removed.
    pub(super) fn live_place(&self, row: RowNumber) -> Option<u32> {
        self.place(row)
            .filter(|place| !self.removed.contains(*place))
    }

    /// The numbers of the rows from `row` on that are not removed, rising.
    pub(super) fn live_rows(&self, row: RowNumber) -> impl Iterator<Item = RowNumber> + '_ {
        let start = match &self.rows {
            Rows::Open(_) | Rows::Closed(_) => row.0.saturating_sub(self.first.0) as u32,
            Rows::File(file) => file.first_at_or_above(row),
        };
        (start..self.len() as u32)
            .filter(|place| !self.removed.contains(*place))
            .filter_map(|place| self.number(place))
    }

    /// The number of the row at a place.
    pub(super) fn number(&self, place: u32) -> Option<RowNumber> {
        match &self.rows {
            Rows::Open(_) | Rows::Closed(_) => Some(self.first.plus(place.into())),
            Rows::File(file) => file.row(place),
        }
    }

    pub(super) fn values(&self, place: u32, columns: &[Column]) -> Result<Vec<Value>> {
        let missing = || Error::Internal("a queue row is missing from its chunk".to_owned());
        match &self.rows {
            Rows::Open(rows) => rows
                .get(place as usize)
                .ok_or_else(missing)?
                .values(columns),
            Rows::Closed(rows) => rows
                .get(place as usize)
                .ok_or_else(missing)?
                .values(columns),
            Rows::File(file) => file.values(place, columns),
        }
    }

    /// Closes an open chunk, so that a fold may share its rows.
    pub(super) fn close(&mut self) {
        if let Rows::Open(rows) = &mut self.rows {
            self.rows = Rows::Closed(Arc::new(std::mem::take(rows)));
        }
    }

    /// Takes out the rows from a place on, which the unit that is taken back had added. Nothing for a file.
    pub(super) fn truncate(&mut self, place: u32) {
        let rows = match &mut self.rows {
            Rows::Open(rows) => rows,
            Rows::Closed(rows) => Arc::make_mut(rows),
            Rows::File(_) => return, // a file holds only rows of records, which no undo reaches
        };
        let gone = rows.split_off((place as usize).min(rows.len()));
        self.bytes -= gone.iter().map(StoredRow::bytes).sum::<u64>();
        self.removed.remove_range(place..);
        self.live = self.len() - self.removed.len();
    }
}
