//! A run of queue rows, in memory or in a file.

use std::sync::Arc;

use query::codec::{Reader, put_row};
use query::schema::Column;
use query::value::Value;
use roaring::RoaringBitmap;

use crate::error::{Error, Result};
use crate::file::ChunkFile;
use crate::hits::HitBatch;

/// Rows of a chunk in memory; then the next one is begun.
pub(super) const CHUNK_ROWS_MAX: usize = 4096;

/// A file of which no more than this part is left is written again, if it had so many rows.
const SPARSE_PART: u64 = 16;
const SPARSE_ROWS_MIN: u64 = 1024;

/// Memory that a hit takes in its queue beside the batch it shares, in bytes.
pub const HIT_ROW_BYTES: u64 = size_of::<StoredRow>() as u64;

/// A row that is not in a file yet.
#[derive(Clone, Debug)]
pub(crate) enum StoredRow {
    /// Inserted: its values, encoded.
    Own(Box<[u8]>),
    /// A hit: places in a batch that its neighbours share.
    Hit {
        batch: Arc<HitBatch>,
        document: u32,
        query: u32,
    },
}

impl StoredRow {
    pub(crate) fn own(values: &[Value]) -> StoredRow {
        let mut bytes = Vec::new();
        put_row(&mut bytes, values);
        StoredRow::Own(bytes.into_boxed_slice())
    }

    /// Memory of the row alone, roughly; a batch is counted where it comes in.
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

/// Rows in insert order. A row's place is its index here; its number is dense in memory and rises with gaps in a file.
pub(super) struct Chunk {
    /// Number of the first row.
    pub(super) first: u64,
    /// Places of removed rows.
    pub(super) removed: RoaringBitmap,
    /// Rows that are still there.
    pub(super) live: u64,
    pub(super) rows: Rows,
    /// Memory charged to it.
    pub(super) bytes: u64,
}

/// Where a chunk's rows are.
pub(crate) enum Rows {
    /// Still growing.
    Open(Vec<StoredRow>),
    /// Complete, or being written to a file.
    Closed(Arc<Vec<StoredRow>>),
    /// In a file of their own.
    File(Arc<ChunkFile>),
}

impl Chunk {
    pub(super) fn open(first: u64) -> Chunk {
        Chunk {
            first,
            removed: RoaringBitmap::new(),
            live: 0,
            rows: Rows::Open(Vec::new()),
            bytes: 0,
        }
    }

    /// The rows of a file but for those at these places.
    pub(super) fn of_file(file: ChunkFile, removed: RoaringBitmap) -> Chunk {
        Chunk {
            first: file.first(),
            live: u64::from(file.len()).saturating_sub(removed.len()),
            removed,
            rows: Rows::File(Arc::new(file)),
            bytes: 0,
        }
    }

    /// The chunk as it is now, for a reader: rows in memory that are complete, and files, are shared.
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

    /// So few of a file's rows are left that they are worth a file of their own.
    pub(super) fn is_sparse(&self) -> bool {
        let is_file = matches!(self.rows, Rows::File(_));
        is_file && self.live * SPARSE_PART <= self.len() && self.len() >= SPARSE_ROWS_MIN
    }

    /// Rows, removed ones included.
    pub(super) fn len(&self) -> u64 {
        match &self.rows {
            Rows::Open(rows) => rows.len() as u64,
            Rows::Closed(rows) => rows.len() as u64,
            Rows::File(file) => file.len().into(),
        }
    }

    /// One above the number of its last row.
    pub(super) fn end(&self) -> u64 {
        match &self.rows {
            Rows::Open(_) | Rows::Closed(_) => self.first + self.len(),
            Rows::File(file) => file.end(),
        }
    }

    /// Bytes that its rows take where they are.
    pub(super) fn stored_bytes(&self) -> u64 {
        match &self.rows {
            Rows::Open(_) | Rows::Closed(_) => self.bytes,
            Rows::File(file) => file.bytes(),
        }
    }

    /// The place of a row that it holds; removed ones too.
    pub(super) fn place(&self, row: u64) -> Option<u32> {
        if let Rows::File(file) = &self.rows {
            let place = file.first_at_or_above(row);
            return (file.row(place) == Some(row)).then_some(place);
        }
        let place = row.checked_sub(self.first)?;
        (place < self.len()).then_some(place as u32) // a chunk in memory is small
    }

    /// The place of a row that is still there.
    pub(super) fn live_place(&self, row: u64) -> Option<u32> {
        self.place(row)
            .filter(|place| !self.removed.contains(*place))
    }

    /// The numbers of the rows from `row` on that are still there, rising.
    pub(super) fn live_rows(&self, row: u64) -> impl Iterator<Item = u64> + '_ {
        let start = match &self.rows {
            Rows::Open(_) | Rows::Closed(_) => row.saturating_sub(self.first) as u32,
            Rows::File(file) => file.first_at_or_above(row),
        };
        (start..self.len() as u32)
            .filter(|place| !self.removed.contains(*place))
            .filter_map(|place| self.number(place))
    }

    /// The number of the row at a place.
    pub(super) fn number(&self, place: u32) -> Option<u64> {
        match &self.rows {
            Rows::Open(_) | Rows::Closed(_) => Some(self.first + u64::from(place)),
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

    /// No more rows go in, so that a fold may share them.
    pub(super) fn close(&mut self) {
        if let Rows::Open(rows) = &mut self.rows {
            self.rows = Rows::Closed(Arc::new(std::mem::take(rows)));
        }
    }

    /// Takes the rows from a place on out again: they were added by the command that is being undone.
    pub(super) fn truncate(&mut self, place: u32) {
        let rows = match &mut self.rows {
            Rows::Open(rows) => rows,
            Rows::Closed(rows) => Arc::make_mut(rows),
            Rows::File(_) => return, // a file holds only what was acknowledged
        };
        let gone = rows.split_off((place as usize).min(rows.len()));
        self.bytes -= gone.iter().map(StoredRow::bytes).sum::<u64>();
        self.removed.remove_range(place..);
        self.live = self.len() - self.removed.len();
    }
}
