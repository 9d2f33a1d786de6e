//! Chunk files: rows of a queue that a fold or a merge wrote. Written once, never changed; docs/formats/data-directory.md.
//!
//! Layout of version 3, all numbers little-endian. Head and table are pages of 4,096 bytes; the entries follow without gaps.
//!
//! | part | layout |
//! |---|---|
//! | head, 1 page | magic, version `u32`, rows `u32`, first row `u64`, last + 1 `u64`, file length `u64`, zeroes, CRC-32C |
//! | table, 1 page for 255 rows | slots of row number `u64` and offset of its entry `u64`, rising; zeroes, CRC-32C |
//! | entries | length `u32`, CRC-32C `u32`, bytes: a kind byte, then a row's values, a batch of hits, or places in a batch |
//! | table again | from a page on |
//! | head again, 1 page | |
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
//! Opening verifies a head, so it costs one page and not the rows. A damaged page of head or table is read from its second copy,
//! so one damaged page costs the entries on it and no others. Where the numbers have gaps (here 10 and 11) it verifies
//! the table too: a damaged slot could hide a row there. Without gaps the place of a row says its number, and a damaged page
//! shows as an error when it is read. Entries are verified when they are read.
//!
//! Version 2 has head and table once. Version 1 has the entries first, then the slots, then a foot. Both are read, not written.

pub(crate) mod merge;
pub(crate) mod write;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use disk::{Bytes, Disk, PAGE_BYTES};
use relation::codec::Reader;
use relation::schema::Column;
use relation::value::Value;

use crate::error::{Error, Result};
use crate::hits::HitBatch;
use crate::ids::RowNumber;

const MAGIC: &[u8; 8] = b"SEINEROW";
const VERSION: u32 = 3;
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
    /// Versions 2 and 3: pages behind the head. Bit n of `sound` is set once page n has been verified.
    Paged {
        sound: Vec<AtomicU64>,
        /// Where the second table begins; `None` in version 2.
        second: Option<usize>,
    },
}

impl ChunkFile {
    /// Opens and maps a file; verifies its head, and the table where row numbers have gaps.
    ///
    /// Errors: `Corrupt` where the file is missing, or the length, all copies of the head or of a page of the table are damaged;
    /// `NewerFormat`; `Internal`.
    pub fn open(disk: &dyn Disk, path: &str) -> Result<ChunkFile> {
        let file = disk
            .open(path)
            .map_err(|error| Error::of_file(path, &error))?;
        let bytes = file.map().map_err(|error| Error::of_file(path, &error))?;
        let damaged = |offset: usize, why: &str| Error::corrupt(path, offset as u64, why);
        let last = bytes.len().saturating_sub(PAGE_BYTES);
        let last = || bytes.get(last..).and_then(Head::read);
        let head = bytes.get(..PAGE_BYTES).and_then(Head::read);
        if let Some(head) = head.or_else(|| last().filter(|head| head.version > 2)) {
            return ChunkFile::of_pages(path, bytes, &head);
        }
        let head = bytes
            .get(..HEAD_1_BYTES)
            .ok_or_else(|| damaged(0, "shorter than its head"))?;
        if head.get(..8) != Some(MAGIC.as_slice()) {
            return Err(damaged(0, "not a file of queue rows"));
        }
        match number_at(head, 8).unwrap_or(0) {
            0 | 1 => ChunkFile::of_version_1(path, bytes),
            2 | VERSION => Err(damaged(0, "head")),
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

    /// A file of version 2 or 3 with this head.
    fn of_pages(path: &str, bytes: Bytes, head: &Head) -> Result<ChunkFile> {
        let damaged = |offset: usize, why: &str| Error::corrupt(path, offset as u64, why);
        if head.version > VERSION {
            return Err(Error::NewerFormat {
                found: head.version,
                known: VERSION,
            });
        }
        let span = head.end.checked_sub(head.first);
        let fits = head.rows > 0 && span.is_some_and(|span| span >= head.rows.into());
        if !fits || head.bytes != bytes.len() as u64 {
            return Err(damaged(0, "head or length"));
        }
        let pages = pages_of(head.rows);
        let file = ChunkFile {
            path: path.to_owned(),
            table: Table::Paged {
                sound: (0..pages.div_ceil(64)).map(|_| AtomicU64::new(0)).collect(),
                second: match head.version {
                    2 => None,
                    _ => bytes.len().checked_sub((1 + pages) * PAGE_BYTES),
                },
            },
            rows: head.rows,
            first: RowNumber(head.first),
            end: RowNumber(head.end),
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

    /// The damaged copies of head and table, also where the other copy is sound. Empty for a file of an earlier version. Cost:
    /// reads both tables.
    #[must_use]
    pub fn damages(&self) -> Vec<Error> {
        let Table::Paged {
            second: Some(second),
            ..
        } = &self.table
        else {
            return Vec::new();
        };
        let tables = [PAGE_BYTES, *second];
        let pages = 0..pages_of(self.rows);
        let heads = [0, self.bytes.len().saturating_sub(PAGE_BYTES)];
        let of_table = tables.map(|start| pages.clone().map(move |page| start + page * PAGE_BYTES));
        let all = heads.into_iter().chain(of_table.into_iter().flatten());
        let is_damaged = |at: &usize| !self.bytes.get(*at..*at + PAGE_BYTES).is_some_and(is_sound);
        let damage = |at: usize| Error::corrupt(&self.path, at as u64, "a copy of head or table");
        all.filter(is_damaged).map(damage).collect()
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
            Table::Paged { .. } => (
                self.page(place / PAGE_SLOTS)?,
                place % PAGE_SLOTS * SLOT_BYTES,
            ),
        };
        Some((RowNumber(wide_at(slots, at)?), wide_at(slots, at + 8)?))
    }

    /// A page of the table; verified at the first call for it. `None` where all its copies are damaged or it is behind the table.
    fn page(&self, page: usize) -> Option<&[u8]> {
        let Table::Paged { sound, second } = &self.table else {
            return None;
        };
        let at = |start: usize| {
            let start = start + page * PAGE_BYTES;
            self.bytes.get(start..start + PAGE_BYTES)
        };
        let bytes = at(PAGE_BYTES)?;
        let (word, bit) = (page / 64, 1u64 << (page % 64));
        let word = sound.get(word)?;
        if word.load(Ordering::Relaxed) & bit == 0 {
            if !is_sound(bytes) {
                return at((*second)?).filter(|copy| is_sound(copy));
            }
            word.fetch_or(bit, Ordering::Relaxed);
        }
        Some(bytes)
    }

    fn damaged(&self, offset: u64) -> Error {
        Error::corrupt(&self.path, offset, "queue row")
    }
}

/// A head of version 2 or above whose checksum is right.
struct Head {
    version: u32,
    rows: u32,
    first: u64,
    end: u64,
    /// Length of the file.
    bytes: u64,
}

impl Head {
    /// `None` for a page that is no such head, or a damaged one.
    fn read(page: &[u8]) -> Option<Head> {
        if page.get(..8)? != MAGIC || !is_sound(page) {
            return None;
        }
        Some(Head {
            version: number_at(page, 8).filter(|version| *version > 1)?,
            rows: number_at(page, 12)?,
            first: wide_at(page, 16)?,
            end: wide_at(page, 24)?,
            bytes: wide_at(page, 32)?,
        })
    }
}

/// Pages of the table of a file of some rows.
fn pages_of(rows: u32) -> usize {
    (rows as usize).div_ceil(PAGE_SLOTS)
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
