//! Writing chunk files.

use std::sync::Arc;

use disk::{Disk, PAGE_BYTES};
use relation::codec::put_number;

use super::{BATCH, ChunkFile, HIT, MAGIC, OWN, PAGE_SLOTS, SLOT_BYTES, SUM_AT, VERSION};
use crate::backlog::SharedChunk;
use crate::chunk::StoredRow;
use crate::error::{Error, Result};
use crate::hits::HitBatch;
use crate::ids::RowNumber;

/// Entries or pages of the table that are gathered for one write. Bytes.
const WRITE_BYTES: usize = 1 << 20;
/// The file is synced each time this much has been written: a sync of the journal waits behind it in the device. Bytes.
const SYNC_BYTES: u64 = 2 << 20;

/// A fold: moves a queue's rows from memory into a chunk file, on any thread. [`crate::Backlog::install`] takes in the file.
pub struct FoldJob {
    /// The disk of the new file.
    pub disk: Arc<dyn Disk>,
    /// Folder of the new file; made where it is missing.
    pub dir: String,
    /// Name of the new file in `dir`. A file of that name, left by a failed attempt, is replaced.
    pub name: String,
    /// The rows that [`crate::Backlog::share`] returned.
    pub chunks: Vec<SharedChunk>,
}

impl FoldJob {
    /// Writes the file, syncs it and its folder, and opens it; `None` where no row was left to write.
    ///
    /// Errors: `Full`, after which nothing of the file stays if it can be removed; `Internal`.
    pub fn run(self) -> Result<Option<ChunkFile>> {
        let rows = self.chunks.iter().map(SharedChunk::live_len).sum();
        let write = |writer: &mut Writer| {
            let mut last: Option<(*const HitBatch, u64)> = None;
            let mut bytes = Vec::new();
            for (number, row) in self.chunks.iter().flat_map(SharedChunk::live) {
                bytes.clear();
                put_row(writer, row, &mut last, &mut bytes)?;
                writer.row(number, &bytes)?;
            }
            Ok(())
        };
        make_file(&self.disk, &self.dir, &self.name, rows, write)
    }
}

/// Makes the entry of a row in `bytes`. Writes the entry of its batch before, unless the row before has the same batch.
fn put_row(
    writer: &mut Writer,
    row: &StoredRow,
    last: &mut Option<(*const HitBatch, u64)>,
    bytes: &mut Vec<u8>,
) -> Result<()> {
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
            let offset = match *last {
                Some((written, offset)) if written == Arc::as_ptr(batch) => offset,
                _ => writer.batch(batch)?,
            };
            *last = Some((Arc::as_ptr(batch), offset));
            put_hit(bytes, offset, *document, *query);
        }
    }
    Ok(())
}

/// Appends the entry of a row that is a hit. `batch`: offset of the batch's entry.
pub(super) fn put_hit(bytes: &mut Vec<u8>, batch: u64, document: u32, query: u32) {
    bytes.push(HIT);
    put_number(bytes, batch);
    put_number(bytes, document.into());
    put_number(bytes, query.into());
}

/// Makes a file of `rows` rows, syncs it and its folder, and opens it; `None` for 0 rows. Replaces a file of that name. Where
/// writing fails it removes the file again.
pub(super) fn make_file(
    disk: &Arc<dyn Disk>,
    dir: &str,
    name: &str,
    rows: u64,
    write: impl FnOnce(&mut Writer) -> Result<()>,
) -> Result<Option<ChunkFile>> {
    let path = format!("{dir}/{name}");
    let failed = |error| Error::of_file(&path, &error);
    if rows == 0 {
        return Ok(None);
    }
    disk::make_dir(&**disk, dir).map_err(failed)?;
    if disk.exists(&path).map_err(failed)? {
        disk.remove(&path).map_err(failed)?;
    }
    let mut writer = Writer::new(&path, disk.create(&path).map_err(failed)?, rows);
    let written = write(&mut writer).and_then(|()| writer.finish());
    if let Err(error) = written {
        let _ = disk.remove(&path); // gives the room back; a file that stays is removed by the next start
        return Err(error);
    }
    disk.sync_dir(dir).map_err(failed)?;
    ChunkFile::open(&**disk, &path).map(Some)
}

/// Writes a chunk file in one pass: entries and table grow side by side, each at its own offset, and the head comes last. So
/// the number of rows must be known before.
pub(super) struct Writer {
    path: String,
    file: Arc<dyn disk::File>,
    /// Offset in the file of the bytes in `entries`.
    entries_at: u64,
    entries: Vec<u8>,
    /// Offset in the file of the bytes in `table`.
    table_at: u64,
    table: Vec<u8>,
    /// Slots in the last page of `table`, which has no checksum yet; below [`PAGE_SLOTS`].
    slots: usize,
    rows: u64,
    first: RowNumber,
    end: RowNumber,
    unsynced_bytes: u64,
}

impl Writer {
    fn new(path: &str, file: Arc<dyn disk::File>, rows: u64) -> Writer {
        let pages = rows.div_ceil(PAGE_SLOTS as u64);
        Writer {
            path: path.to_owned(),
            file,
            entries_at: (1 + pages) * PAGE_BYTES as u64,
            entries: Vec::new(),
            table_at: PAGE_BYTES as u64,
            table: Vec::new(),
            slots: 0,
            rows: 0,
            first: RowNumber::default(),
            end: RowNumber::default(),
            unsynced_bytes: 0,
        }
    }

    /// Appends a row: its entry and its slot. Numbers must rise from call to call.
    pub(super) fn row(&mut self, number: RowNumber, bytes: &[u8]) -> Result<()> {
        let offset = self.entry(bytes)?;
        if self.rows == 0 {
            self.first = number;
        }
        self.rows += 1;
        self.end = number.plus(1);
        self.table.extend_from_slice(&number.0.to_le_bytes());
        self.table.extend_from_slice(&offset.to_le_bytes());
        self.slots += 1;
        if self.slots == PAGE_SLOTS {
            self.close_page();
            if self.table.len() >= WRITE_BYTES {
                self.flush_table()?;
            }
        }
        Ok(())
    }

    /// Appends an entry; returns its offset in the file.
    pub(super) fn entry(&mut self, bytes: &[u8]) -> Result<u64> {
        let offset = self.entries_at + self.entries.len() as u64;
        self.entries
            .extend_from_slice(&(bytes.len() as u32).to_le_bytes());
        self.entries
            .extend_from_slice(&crc32c::crc32c(bytes).to_le_bytes());
        self.entries.extend_from_slice(bytes);
        if self.entries.len() >= WRITE_BYTES {
            self.flush_entries()?;
        }
        Ok(offset)
    }

    fn batch(&mut self, batch: &HitBatch) -> Result<u64> {
        let mut bytes = vec![BATCH];
        batch.encode(&mut bytes);
        self.entry(&bytes)
    }

    /// Fills the last page of the table with zeroes and adds its checksum.
    fn close_page(&mut self) {
        let start = self.table.len() - self.slots * SLOT_BYTES;
        self.table.resize(start + SUM_AT, 0);
        let sum = crc32c::crc32c(self.table.get(start..).unwrap_or_default());
        self.table.extend_from_slice(&sum.to_le_bytes());
        self.slots = 0;
    }

    fn finish(mut self) -> Result<()> {
        if self.slots > 0 {
            self.close_page();
        }
        self.flush_table()?;
        self.flush_entries()?;
        let second = self.entries_at.next_multiple_of(PAGE_BYTES as u64);
        let last = self.copy_table(second)?;
        let mut head = Vec::with_capacity(PAGE_BYTES);
        head.extend_from_slice(MAGIC);
        head.extend_from_slice(&VERSION.to_le_bytes());
        head.extend_from_slice(&(self.rows as u32).to_le_bytes());
        head.extend_from_slice(&self.first.0.to_le_bytes());
        head.extend_from_slice(&self.end.0.to_le_bytes());
        head.extend_from_slice(&(last + PAGE_BYTES as u64).to_le_bytes()); // the length of the file
        head.resize(SUM_AT, 0);
        head.extend_from_slice(&crc32c::crc32c(&head).to_le_bytes());
        self.write_at(last, &head)?;
        self.write_at(0, &head)?;
        self.sync()
    }

    /// Writes the table again from offset `second` on; gives the offset behind it. The table is read from the file, because it may
    /// be larger than what is to be kept in memory.
    fn copy_table(&self, second: u64) -> Result<u64> {
        let (mut from, mut to) = (PAGE_BYTES as u64, second);
        while from < self.table_at {
            let mut piece = vec![0; (self.table_at - from).min(WRITE_BYTES as u64) as usize];
            let read = self.file.read_at(from, &mut piece);
            read.map_err(|error| Error::of_file(&self.path, &error))?;
            self.write_at(to, &piece)?;
            from += piece.len() as u64;
            to += piece.len() as u64;
        }
        Ok(to)
    }

    fn flush_table(&mut self) -> Result<()> {
        self.write_at(self.table_at, &self.table)?;
        self.table_at += self.table.len() as u64;
        self.table.clear();
        Ok(())
    }

    fn flush_entries(&mut self) -> Result<()> {
        self.write_at(self.entries_at, &self.entries)?;
        let written = self.entries.len() as u64;
        self.entries_at += written;
        self.entries.clear();
        self.unsynced_bytes += written;
        if self.unsynced_bytes >= SYNC_BYTES {
            self.sync()?;
            self.unsynced_bytes = 0;
        }
        Ok(())
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        let written = self.file.write_at(offset, bytes);
        written.map_err(|error| Error::of_file(&self.path, &error))
    }

    fn sync(&self) -> Result<()> {
        let synced = self.file.sync();
        synced.map_err(|error| Error::of_file(&self.path, &error))
    }
}
