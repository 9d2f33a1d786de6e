//! Writing chunk files.

use std::sync::Arc;

use disk::{Disk, PAGE_BYTES};
use query::codec::put_number;

use super::{BATCH, ChunkFile, HIT, MAGIC, OWN, PAGE_SLOTS, SLOT_BYTES, SUM_AT, VERSION};
use crate::backlog::SharedChunk;
use crate::chunk::StoredRow;
use crate::error::{Error, Result};
use crate::hits::HitBatch;

/// Written at once.
const WRITE_BYTES: usize = 1 << 20;
/// Synced at once: the journal's syncs wait in the same line of the device.
const SYNC_BYTES: u64 = 2 << 20;

/// The work of moving a queue's rows into a file; runs on any thread.
pub struct FoldJob {
    /// Where the file goes.
    pub disk: Arc<dyn Disk>,
    /// Folder and name; whatever lies there from an attempt before is replaced.
    pub dir: String,
    /// See `dir`.
    pub name: String,
    /// The rows, of [`crate::Backlog::share`].
    pub chunks: Vec<SharedChunk>,
}

impl FoldJob {
    /// Writes the file, makes it durable and opens it; `None` where no row was left to write.
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

/// The entry of a row; that of its batch is written before, once for all its neighbours.
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

/// The bytes of a hit's entry.
pub(super) fn put_hit(bytes: &mut Vec<u8>, batch: u64, document: u32, query: u32) {
    bytes.push(HIT);
    put_number(bytes, batch);
    put_number(bytes, document.into());
    put_number(bytes, query.into());
}

/// Makes a file of so many rows, makes it durable and opens it; `None` where there are none. Whatever lies there from
/// an attempt before is replaced; what a failed attempt has written is removed.
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
        let _ = disk.remove(&path); // room for deletes; what stays is an orphan that the next open removes
        return Err(error);
    }
    disk.sync_dir(dir).map_err(failed)?;
    ChunkFile::open(&**disk, &path).map(Some)
}

/// Writes head, table and entries, each in its place, a megabyte at a time.
pub(super) struct Writer {
    path: String,
    file: Arc<dyn disk::File>,
    /// Where the entries in `entries` go.
    entries_at: u64,
    entries: Vec<u8>,
    /// Where the pages in `table` go; the last one is not full.
    table_at: u64,
    table: Vec<u8>,
    /// Slots in the last page of the table.
    slots: usize,
    rows: u64,
    first: u64,
    end: u64,
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
            first: 0,
            end: 0,
            unsynced_bytes: 0,
        }
    }

    /// Appends a row: its entry, and its slot.
    pub(super) fn row(&mut self, number: u64, bytes: &[u8]) -> Result<()> {
        let offset = self.entry(bytes)?;
        if self.rows == 0 {
            self.first = number;
        }
        self.rows += 1;
        self.end = number + 1;
        self.table.extend_from_slice(&number.to_le_bytes());
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

    /// Appends an entry; gives its offset.
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

    /// The last page of the table gets its checksum.
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
        let mut head = Vec::with_capacity(PAGE_BYTES);
        head.extend_from_slice(MAGIC);
        head.extend_from_slice(&VERSION.to_le_bytes());
        head.extend_from_slice(&(self.rows as u32).to_le_bytes());
        head.extend_from_slice(&self.first.to_le_bytes());
        head.extend_from_slice(&self.end.to_le_bytes());
        head.extend_from_slice(&self.entries_at.to_le_bytes()); // all is written: where the next one would go
        head.resize(SUM_AT, 0);
        head.extend_from_slice(&crc32c::crc32c(&head).to_le_bytes());
        self.write_at(0, &head)?;
        self.sync()
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
