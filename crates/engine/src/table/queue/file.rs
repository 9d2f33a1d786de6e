//! Chunk files: rows of a queue that a checkpoint moved out of memory. Written once; docs/formats/data-directory.md.
//!
//! Layout: head (8 bytes of magic, format version `u32`), entries, table, foot. An entry is its length `u32`, its
//! CRC-32C `u32` and its bytes: a row's values, a batch of hits, or a row's places in a batch. The table holds
//! (row number `u64`, offset of its entry `u64`) a row, rising. The foot is the table's offset `u64`, rows `u32`,
//! CRC-32C of the table `u32`. All little-endian. Opening verifies the table; each row is verified when it is read.

use std::cell::RefCell;
use std::sync::Arc;

use disk::{Bytes, Disk};
use query::schema::Column;
use query::value::Value;

use super::backlog::SharedChunk;
use super::batch::HitBatch;
use super::chunk::StoredRow;
use crate::codec::{Reader, put_number};
use crate::error::{Error, Result};
use crate::failure;
use crate::state::make_table_dir;

const MAGIC: &[u8; 8] = b"SEINEROW";
const VERSION: u32 = 1;
const HEAD_BYTES: usize = 12;
const ENTRY_HEAD_BYTES: usize = 8;
const SLOT_BYTES: usize = 16;
const FOOT_BYTES: usize = 16;
/// Written at once.
const WRITE_BYTES: usize = 1 << 20;

const OWN: u8 = 0;
const BATCH: u8 = 1;
const HIT: u8 = 2;

/// An open chunk file.
pub(crate) struct ChunkFile {
    path: String,
    bytes: Bytes,
    table: usize,
    rows: u32,
    /// The batch of the row read last: neighbours share it.
    batch: RefCell<Option<(u64, Arc<HitBatch>)>>,
}

impl ChunkFile {
    /// Opens and verifies the table of rows.
    pub(crate) fn open(disk: &dyn Disk, path: &str) -> Result<ChunkFile> {
        let file = disk
            .open(path)
            .map_err(|error| failure::of_file(path, &error))?;
        let bytes = file.map().map_err(|error| failure::of_file(path, &error))?;
        let damaged = |offset: usize, why: &str| failure::damaged(path, offset as u64, why);
        let head = bytes
            .get(..HEAD_BYTES)
            .ok_or_else(|| damaged(0, "shorter than its head"))?;
        if head.get(..8) != Some(MAGIC.as_slice()) {
            return Err(damaged(0, "not a file of queue rows"));
        }
        let version = number_at(head, 8).unwrap_or(0);
        if version > VERSION {
            return Err(Error::NewerFormat {
                found: version,
                known: VERSION,
            });
        }
        let foot = bytes.len().saturating_sub(FOOT_BYTES);
        let rows = number_at(&bytes, foot + 8).unwrap_or(0);
        let table = wide_at(&bytes, foot).and_then(|table| usize::try_from(table).ok());
        let slots = table.and_then(|table| bytes.get(table..foot));
        match (table, slots) {
            (Some(table), Some(slots)) if slots.len() == rows as usize * SLOT_BYTES && rows > 0 => {
                if number_at(&bytes, foot + 12) != Some(crc32c::crc32c(slots)) {
                    return Err(damaged(table, "table of rows"));
                }
                Ok(ChunkFile {
                    path: path.to_owned(),
                    bytes,
                    table,
                    rows,
                    batch: RefCell::default(),
                })
            }
            _ => Err(damaged(foot, "foot")),
        }
    }

    pub(crate) fn path(&self) -> &str {
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
        self.row(0).unwrap_or(0)
    }

    /// One above the number of the last row.
    pub(crate) fn end(&self) -> u64 {
        self.row(self.rows - 1).map_or(0, |row| row + 1)
    }

    /// The row number at a place.
    pub(crate) fn row(&self, place: u32) -> Option<u64> {
        (place < self.rows)
            .then(|| self.slot(place))
            .flatten()
            .map(|(row, _)| row)
    }

    /// The place of the first row of that number or above; `len` where there is none.
    pub(crate) fn first_at_or_above(&self, row: u64) -> u32 {
        let (mut low, mut high) = (0, self.rows);
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
        let (_, offset) = self
            .slot(place)
            .ok_or_else(|| self.damaged(self.table as u64))?;
        let entry = self.entry(offset)?;
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
        if let Some((at, batch)) = &*self.batch.borrow()
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
        *self.batch.borrow_mut() = Some((offset, Arc::clone(&batch)));
        Ok(batch)
    }

    /// The verified bytes of an entry.
    fn entry(&self, offset: u64) -> Result<&[u8]> {
        let at = usize::try_from(offset).map_err(|_| self.damaged(offset))?;
        let length = number_at(&self.bytes, at).unwrap_or(u32::MAX) as usize;
        let start = at + ENTRY_HEAD_BYTES;
        let entry = self.bytes.get(start..start.saturating_add(length));
        let entry = entry.ok_or_else(|| self.damaged(offset))?;
        if number_at(&self.bytes, at + 4) != Some(crc32c::crc32c(entry)) {
            return Err(self.damaged(offset));
        }
        Ok(entry)
    }

    fn slot(&self, place: u32) -> Option<(u64, u64)> {
        let at = self.table + place as usize * SLOT_BYTES;
        Some((wide_at(&self.bytes, at)?, wide_at(&self.bytes, at + 8)?))
    }

    fn damaged(&self, offset: u64) -> Error {
        failure::damaged(&self.path, offset, "queue row")
    }
}

fn number_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn wide_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// The work of moving a queue's rows into a file; runs on any thread.
pub(crate) struct FoldJob {
    pub(crate) disk: Arc<dyn Disk>,
    /// Folder and name; whatever lies there from an attempt before is replaced.
    pub(crate) dir: String,
    pub(crate) name: String,
    pub(crate) chunks: Vec<SharedChunk>,
}

impl FoldJob {
    /// Writes the file and makes it durable; gives its path, or `None` where no row was left to write.
    pub(crate) fn run(self) -> Result<Option<String>> {
        let path = format!("{}/{}", self.dir, self.name);
        let failed = |error| failure::of_file(&path, &error);
        make_table_dir(&*self.disk, &self.dir).map_err(failed)?;
        if self.disk.exists(&path).map_err(failed)? {
            self.disk.remove(&path).map_err(failed)?;
        }
        let mut writer = Writer::new(self.disk.create(&path).map_err(failed)?);
        let written = self.write(&mut writer);
        match written {
            Ok(true) => {
                self.disk.sync_dir(&self.dir).map_err(failed)?;
                Ok(Some(path))
            }
            Ok(false) => {
                self.disk.remove(&path).map_err(failed)?;
                Ok(None)
            }
            Err(error) => {
                let _ = self.disk.remove(&path); // room for deletes; what stays is an orphan that the next open removes
                Err(failed(error))
            }
        }
    }

    fn write(&self, writer: &mut Writer) -> std::io::Result<bool> {
        writer.buffer.extend_from_slice(MAGIC);
        writer.buffer.extend_from_slice(&VERSION.to_le_bytes());
        let mut table = Vec::new();
        let mut rows = 0u32;
        let mut last: Option<(*const HitBatch, u64)> = None;
        for (number, row) in self.chunks.iter().flat_map(SharedChunk::live) {
            let mut bytes = Vec::new();
            match row {
                StoredRow::Own(values) => {
                    bytes.push(OWN);
                    bytes.extend_from_slice(values);
                }
                StoredRow::Hit {
                    batch,
                    document,
                    query,
                } => {
                    let offset = match last {
                        Some((written, offset)) if written == Arc::as_ptr(batch) => offset,
                        _ => writer.batch(batch)?,
                    };
                    last = Some((Arc::as_ptr(batch), offset));
                    bytes.push(HIT);
                    put_number(&mut bytes, offset);
                    put_number(&mut bytes, (*document).into());
                    put_number(&mut bytes, (*query).into());
                }
            }
            table.extend_from_slice(&number.to_le_bytes());
            table.extend_from_slice(&writer.entry(&bytes)?.to_le_bytes());
            rows += 1;
        }
        if rows > 0 {
            writer.finish(&table, rows)?;
        }
        Ok(rows > 0)
    }
}

/// Appends to one file, a megabyte at a time.
struct Writer {
    file: Arc<dyn disk::File>,
    written: u64,
    buffer: Vec<u8>,
}

impl Writer {
    fn new(file: Arc<dyn disk::File>) -> Writer {
        Writer {
            file,
            written: 0,
            buffer: Vec::new(),
        }
    }

    /// Appends an entry; gives its offset.
    fn entry(&mut self, bytes: &[u8]) -> std::io::Result<u64> {
        let offset = self.written + self.buffer.len() as u64;
        self.buffer
            .extend_from_slice(&(bytes.len() as u32).to_le_bytes());
        self.buffer
            .extend_from_slice(&crc32c::crc32c(bytes).to_le_bytes());
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= WRITE_BYTES {
            self.flush()?;
        }
        Ok(offset)
    }

    fn batch(&mut self, batch: &HitBatch) -> std::io::Result<u64> {
        let mut bytes = vec![BATCH];
        batch.encode(&mut bytes);
        self.entry(&bytes)
    }

    fn finish(&mut self, table: &[u8], rows: u32) -> std::io::Result<()> {
        let offset = self.written + self.buffer.len() as u64;
        self.buffer.extend_from_slice(table);
        self.buffer.extend_from_slice(&offset.to_le_bytes());
        self.buffer.extend_from_slice(&rows.to_le_bytes());
        self.buffer
            .extend_from_slice(&crc32c::crc32c(table).to_le_bytes());
        self.flush()?;
        self.file.sync()
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.write_at(self.written, &self.buffer)?;
        self.written += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }
}
