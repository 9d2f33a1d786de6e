//! Chunk files: rows of a queue that a fold or a merge wrote. Written once, never changed; docs/formats/data-directory.md.
//!
//! Layout of version 2, all numbers little-endian. Head and table are pages of 4,096 bytes; the entries follow without gaps.
//!
//! | part | layout |
//! |---|---|
//! | head, 1 page | magic, version `u32`, rows `u32`, first row `u64`, last + 1 `u64`, file length `u64`, zeroes, CRC-32C |
//! | table, 1 page for 255 rows | slots of row number `u64` and offset of its entry `u64`, rising; zeroes, CRC-32C |
//! | entries | length `u32`, CRC-32C `u32`, bytes: a kind byte, then a row's values, a batch of hits, or places in a batch |
//!
//! Rows 8, 9 and 12 are in one file: 8 came by INSERT, 9 and 12 are hits of one command. Offsets are examples:
//!
//! | offset | bytes |
//! |---|---|
//! | 0 | head: 3 rows, first 8, last + 1 = 13 |
//! | 4,096 | table: (8, 8,192), (9, 8,430), (12, 8,443) |
//! | 8,192 | entry of row 8: kind 0, its values |
//! | 8,220 | entry of the batch: kind 1; it has no slot |
//! | 8,430 | entry of row 9: kind 2, batch at 8,220, document 0, query 0 |
//! | 8,443 | entry of row 12: kind 2, batch at 8,220, document 1, query 0 |
//!
//! Opening verifies the head, so it costs one page and not the rows. Where the numbers have gaps (here 10 and 11) it verifies
//! the table too: a damaged slot could hide a row there. Without gaps the place of a row says its number, and a damaged page
//! shows as an error when it is read. Entries are verified when they are read.
//!
//! Version 1 has the entries first, then the slots, then a foot. It is read, not written.

pub(crate) mod merge;
pub(crate) mod write;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use disk::{Bytes, Disk, PAGE_BYTES};
use query::codec::Reader;
use query::schema::Column;
use query::value::Value;

use crate::error::{Error, Result};
use crate::hits::HitBatch;
use crate::ids::RowNumber;

const MAGIC: &[u8; 8] = b"SEINEROW";
const VERSION: u32 = 2;
const ENTRY_HEAD_BYTES: usize = 8;
const SLOT_BYTES: usize = 16;
/// Offset of the checksum in a page.
const SUM_AT: usize = PAGE_BYTES - 4;
/// Slots in a page of the table.
const PAGE_SLOTS: usize = 255;

/// Version 1: head, entries, slots without gaps, foot.
const HEAD_1_BYTES: usize = 12;
const FOOT_1_BYTES: usize = 16;

/// Kind of an entry: the values of a row.
const OWN: u8 = 0;
/// Kind of an entry: a batch of hits.
const BATCH: u8 = 1;
/// Kind of an entry: a row that is a hit, as places in a batch.
const HIT: u8 = 2;

/// An open chunk file, mapped into memory.
pub struct ChunkFile {
    path: String,
    bytes: Bytes,
    table: Table,
    rows: u32,
    first: RowNumber,
    end: RowNumber,
    /// Offset and content of the batch read last: neighbouring rows share it.
    batch: Mutex<Option<(u64, Arc<HitBatch>)>>,
}

/// The table of slots, by format version.
enum Table {
    /// Version 1: the slots stand from this offset on, verified at opening.
    Flat(usize),
    /// Version 2: pages behind the head. Bit n is set once page n has been verified.
    Paged(Vec<AtomicU64>),
}

impl ChunkFile {
    /// Opens and maps a file; verifies its head, and the table where row numbers have gaps.
    ///
    /// Errors: `Corrupt` where the file is missing, or head, length or table are damaged; `NewerFormat`; `Internal`.
    pub fn open(disk: &dyn Disk, path: &str) -> Result<ChunkFile> {
        let file = disk
            .open(path)
            .map_err(|error| Error::of_file(path, &error))?;
        let bytes = file.map().map_err(|error| Error::of_file(path, &error))?;
        let damaged = |offset: usize, why: &str| Error::corrupt(path, offset as u64, why);
        let head = bytes
            .get(..HEAD_1_BYTES)
            .ok_or_else(|| damaged(0, "shorter than its head"))?;
        if head.get(..8) != Some(MAGIC.as_slice()) {
            return Err(damaged(0, "not a file of queue rows"));
        }
        match number_at(head, 8).unwrap_or(0) {
            0 | 1 => ChunkFile::of_version_1(path, bytes),
            VERSION => ChunkFile::of_version_2(path, bytes),
            found => Err(Error::NewerFormat {
                found,
                known: VERSION,
            }),
        }
    }

    fn of_version_1(path: &str, bytes: Bytes) -> Result<ChunkFile> {
        let damaged = |offset: usize, why: &str| Error::corrupt(path, offset as u64, why);
        let foot = bytes.len().saturating_sub(FOOT_1_BYTES);
        let rows = number_at(&bytes, foot + 8).unwrap_or(0);
        let table = wide_at(&bytes, foot).and_then(|table| usize::try_from(table).ok());
        let slots = table.and_then(|table| bytes.get(table..foot));
        let (Some(table), Some(slots)) = (table, slots) else {
            return Err(damaged(foot, "foot"));
        };
        if slots.len() != rows as usize * SLOT_BYTES || rows == 0 {
            return Err(damaged(foot, "foot"));
        }
        if number_at(&bytes, foot + 12) != Some(crc32c::crc32c(slots)) {
            return Err(damaged(table, "table of rows"));
        }
        let first = wide_at(slots, 0).unwrap_or(0);
        let last = wide_at(slots, slots.len() - SLOT_BYTES).unwrap_or(0);
        Ok(ChunkFile {
            path: path.to_owned(),
            table: Table::Flat(table),
            rows,
            first: RowNumber(first),
            end: RowNumber(last.saturating_add(1)),
            bytes,
            batch: Mutex::default(),
        })
    }

    fn of_version_2(path: &str, bytes: Bytes) -> Result<ChunkFile> {
        let damaged = |offset: usize, why: &str| Error::corrupt(path, offset as u64, why);
        let head = bytes.get(..PAGE_BYTES).filter(|head| is_sound(head));
        let head = head.ok_or_else(|| damaged(0, "head"))?;
        let rows = number_at(head, 12).unwrap_or(0);
        let (first, end) = (wide_at(head, 16), wide_at(head, 24));
        let (first, end) = (first.unwrap_or(0), end.unwrap_or(0));
        let fits = rows > 0
            && end
                .checked_sub(first)
                .is_some_and(|span| span >= rows.into());
        if !fits || wide_at(head, 32) != Some(bytes.len() as u64) {
            return Err(damaged(0, "head or length"));
        }
        let pages = (rows as usize).div_ceil(PAGE_SLOTS);
        let file = ChunkFile {
            path: path.to_owned(),
            table: Table::Paged((0..pages.div_ceil(64)).map(|_| AtomicU64::new(0)).collect()),
            rows,
            first: RowNumber(first),
            end: RowNumber(end),
            bytes,
            batch: Mutex::default(),
        };
        if !file.is_dense()
            && let Some(page) = (0..pages).find(|page| file.page(*page).is_none())
        {
            return Err(damaged((1 + page) * PAGE_BYTES, "table of rows"));
        }
        Ok(file)
    }

    /// Path below the root of the disk.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Length of the file. Bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Number of rows in the file, at least 1.
    pub(crate) fn len(&self) -> u32 {
        self.rows
    }

    /// Number of the first row.
    pub(crate) fn first(&self) -> RowNumber {
        self.first
    }

    /// One above the number of the last row.
    pub(crate) fn end(&self) -> RowNumber {
        self.end
    }

    /// Whether the row numbers have no gaps: number = `first` + place.
    fn is_dense(&self) -> bool {
        self.end == self.first.plus(self.rows.into())
    }

    /// The row number at a place; `None` behind the last row or where the table is damaged.
    pub(crate) fn row(&self, place: u32) -> Option<RowNumber> {
        if place >= self.rows {
            return None;
        }
        if self.is_dense() {
            return Some(self.first.plus(place.into()));
        }
        self.slot(place).map(|(row, _)| row)
    }

    /// The place of the first row at or above a number; `len` where there is none. Numbers rise by at least 1 a place, so the
    /// place lies in `rows − (end − row) ..= row − first`. Cost: a binary search there, none where there are no gaps.
    pub(crate) fn first_at_or_above(&self, row: RowNumber) -> u32 {
        if row <= self.first {
            return 0;
        }
        if row >= self.end {
            return self.rows;
        }
        let rows = u64::from(self.rows);
        let mut low = rows.saturating_sub(self.end.0 - row.0) as u32;
        let mut high = rows.min(row.0 - self.first.0) as u32;
        while low < high {
            let middle = low + (high - low) / 2;
            match self.row(middle) {
                Some(found) if found < row => low = middle + 1,
                _ => high = middle,
            }
        }
        low
    }

    pub(super) fn values(&self, place: u32, columns: &[Column]) -> Result<Vec<Value>> {
        let (offset, entry) = self.entry_of(place)?;
        let mut reader = Reader::new(entry);
        let damaged = |_| self.damaged(offset);
        match reader.byte().map_err(damaged)? {
            OWN => reader.row(columns.len()).map_err(damaged),
            HIT => {
                let batch = self.batch(reader.number().map_err(damaged)?)?;
                let document = reader.small().map_err(damaged)?;
                let query = reader.small().map_err(damaged)?;
                batch
                    .values(document, query, columns)
                    .ok_or_else(|| self.damaged(offset))
            }
            _ => Err(self.damaged(offset)),
        }
    }

    fn batch(&self, offset: u64) -> Result<Arc<HitBatch>> {
        let mut last = self.batch.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, batch)) = &*last
            && *at == offset
        {
            return Ok(Arc::clone(batch));
        }
        let mut reader = Reader::new(self.entry(offset)?);
        let damaged = |_| self.damaged(offset);
        if reader.byte().map_err(damaged)? != BATCH {
            return Err(self.damaged(offset));
        }
        let batch = Arc::new(HitBatch::decode(&mut reader).map_err(damaged)?);
        *last = Some((offset, Arc::clone(&batch)));
        Ok(batch)
    }

    /// Offset and verified bytes of the entry at a place.
    fn entry_of(&self, place: u32) -> Result<(u64, &[u8])> {
        let slot = (place < self.rows).then(|| self.slot(place)).flatten();
        let expected = self.row(place);
        match slot {
            Some((row, offset)) if Some(row) == expected => Ok((offset, self.entry(offset)?)),
            _ => Err(self.damaged((1 + place as usize / PAGE_SLOTS) as u64 * PAGE_BYTES as u64)),
        }
    }

    /// The verified bytes of the entry at an offset. The length is checked against the file before it is used.
    fn entry(&self, offset: u64) -> Result<&[u8]> {
        let at = usize::try_from(offset).map_err(|_| self.damaged(offset))?;
        let length = number_at(&self.bytes, at).unwrap_or(u32::MAX) as usize;
        let start = at.saturating_add(ENTRY_HEAD_BYTES);
        let entry = self.bytes.get(start..start.saturating_add(length));
        let entry = entry.ok_or_else(|| self.damaged(offset))?;
        if number_at(&self.bytes, at + 4) != Some(crc32c::crc32c(entry)) {
            return Err(self.damaged(offset));
        }
        Ok(entry)
    }

    fn slot(&self, place: u32) -> Option<(RowNumber, u64)> {
        let place = place as usize;
        let (slots, at) = match &self.table {
            Table::Flat(table) => (self.bytes.get(*table..)?, place * SLOT_BYTES),
            Table::Paged(_) => (
                self.page(place / PAGE_SLOTS)?,
                place % PAGE_SLOTS * SLOT_BYTES,
            ),
        };
        Some((RowNumber(wide_at(slots, at)?), wide_at(slots, at + 8)?))
    }

    /// A page of the table; verified at the first call for it. `None` where it is damaged or behind the table.
    fn page(&self, page: usize) -> Option<&[u8]> {
        let Table::Paged(sound) = &self.table else {
            return None;
        };
        let at = (1 + page) * PAGE_BYTES;
        let bytes = self.bytes.get(at..at + PAGE_BYTES)?;
        let (word, bit) = (page / 64, 1u64 << (page % 64));
        let word = sound.get(word)?;
        if word.load(Ordering::Relaxed) & bit == 0 {
            if !is_sound(bytes) {
                return None;
            }
            word.fetch_or(bit, Ordering::Relaxed);
        }
        Some(bytes)
    }

    fn damaged(&self, offset: u64) -> Error {
        Error::corrupt(&self.path, offset, "queue row")
    }
}

/// Whether a page's checksum is that of its bytes.
fn is_sound(page: &[u8]) -> bool {
    let summed = page.get(..SUM_AT).map(crc32c::crc32c);
    summed.is_some() && number_at(page, SUM_AT) == summed
}

fn number_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn wide_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}
