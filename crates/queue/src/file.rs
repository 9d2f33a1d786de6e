//! Chunk files: rows of a queue that a checkpoint moved out of memory. Written once; docs/formats/data-directory.md.
//!
//! Layout of version 2, in pages of 4,096 bytes, all little-endian: a head, the table, the entries. Head and each page
//! of the table end with the CRC-32C of the rest of the page. The head: 8 bytes of magic, format version `u32`, rows
//! `u32`, number of the first row `u64`, one above that of the last `u64`, length of the file `u64`. A page of the table
//! holds 255 slots: row number `u64`, offset of its entry `u64`, rising. An entry is its length `u32`, its CRC-32C `u32`
//! and its bytes: a row's values, a batch of hits, or a row's places in a batch.
//!
//! Opening reads the head; where the rows have gaps in their numbers, the table too. Everything else is verified when it
//! is used, so that opening costs a file and not its rows. Version 1 has entries, table and a foot, and is read as well.

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

const MAGIC: &[u8; 8] = b"SEINEROW";
const VERSION: u32 = 2;
const ENTRY_HEAD_BYTES: usize = 8;
const SLOT_BYTES: usize = 16;
/// Where a page's checksum stands.
const SUM_AT: usize = PAGE_BYTES - 4;
const PAGE_SLOTS: usize = 255;

/// Version 1: head, entries, slots without gaps, foot.
const HEAD_1_BYTES: usize = 12;
const FOOT_1_BYTES: usize = 16;

const OWN: u8 = 0;
const BATCH: u8 = 1;
const HIT: u8 = 2;

/// An open chunk file.
pub struct ChunkFile {
    path: String,
    bytes: Bytes,
    table: Table,
    rows: u32,
    first: u64,
    end: u64,
    /// The batch of the row read last: neighbours share it.
    batch: Mutex<Option<(u64, Arc<HitBatch>)>>,
}

/// Where the slots are.
enum Table {
    /// Version 1: one after the other from here, verified.
    Flat(usize),
    /// Version 2: in pages behind the head. A bit a page that was found sound.
    Paged(Vec<AtomicU64>),
}

impl ChunkFile {
    /// Opens it; see the module's text for what that verifies.
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
            first,
            end: last.saturating_add(1),
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
            first,
            end,
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

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Its length.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Rows that were written.
    pub(crate) fn len(&self) -> u32 {
        self.rows
    }

    /// Number of the first row.
    pub(crate) fn first(&self) -> u64 {
        self.first
    }

    /// One above the number of the last row.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// The numbers have no gaps, so that a place says the number.
    fn is_dense(&self) -> bool {
        self.end - self.first == u64::from(self.rows)
    }

    /// The row number at a place.
    pub(crate) fn row(&self, place: u32) -> Option<u64> {
        if place >= self.rows {
            return None;
        }
        if self.is_dense() {
            return Some(self.first + u64::from(place));
        }
        self.slot(place).map(|(row, _)| row)
    }

    /// The place of the first row of that number or above; `len` where there is none. Numbers rise by at least one a
    /// place, so only as many places are possible as there are gaps.
    pub(crate) fn first_at_or_above(&self, row: u64) -> u32 {
        if row <= self.first {
            return 0;
        }
        if row >= self.end {
            return self.rows;
        }
        let rows = u64::from(self.rows);
        let mut low = rows.saturating_sub(self.end - row) as u32;
        let mut high = rows.min(row - self.first) as u32;
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

    /// The verified bytes of an entry.
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

    fn slot(&self, place: u32) -> Option<(u64, u64)> {
        let place = place as usize;
        let (slots, at) = match &self.table {
            Table::Flat(table) => (self.bytes.get(*table..)?, place * SLOT_BYTES),
            Table::Paged(_) => (
                self.page(place / PAGE_SLOTS)?,
                place % PAGE_SLOTS * SLOT_BYTES,
            ),
        };
        Some((wide_at(slots, at)?, wide_at(slots, at + 8)?))
    }

    /// A page of the table, verified once.
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
