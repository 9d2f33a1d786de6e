//! Files of standing queries: a base with all of a pq table's, and files of what changed since, each above the one
//! before. The files of changes and the base become a new base when they have grown to a part of it.
//!
//! Layout of version 4, numbers little-endian, "page" is 4,096 bytes. docs/formats/data-directory.md has every field.
//!
//! | part | content |
//! |---|---|
//! | head, 1 page | magic, version, lengths, place and checksum of the table; checksum of the page |
//! | blocks | queries by id, without gaps; a block ends with the query that takes it to 4,096 bytes |
//! | table, from a page on | ids whose queries in earlier files are gone; of each block its length, its checksum and its ids |
//! | table again, from a page on | |
//! | head again, 1 page | |
//!
//! Example: queries 1 to 100 with texts of 60 bytes. Block 0 holds queries 1 to 62, block 1 the others. One byte of block 0
//! turns: the checksum of that block is wrong, the table says that queries 1 to 62 were there, and 63 to 100 are read.
//!
//! # Invariants
//! - Every byte that matters lies under a checksum: a block's in the table, the table's in the head, the head's in itself.
//! - Head and table stand twice, on different pages. So one damaged page costs the blocks on it, and their ids are known.
//! - The head is written last: a file without one is of no use, and no manifest names it.
//!
//! Versions 1 to 3 have one checksum over everything; they are read and not written.

mod opened;

use std::sync::Arc;

use disk::{Disk, File, PAGE_BYTES};
use percolate::{Snapshot, StandingQuery};
use relation::codec::{Differences, put_list, put_number, put_text};

use super::head::FileKind;
use crate::error::Result;
use crate::failure;

pub(crate) use opened::{Block, Opened};

/// Versions up to 3 have this kind's frame, version 4 its magic number and version only.
const KIND: FileKind = FileKind {
    magic: b"SEINEQRY",
    version: 4,
    other: "not a file of standing queries",
};

/// The last version with one checksum over everything.
const VERSION_OF_ONE_SUM: u32 = 3;

/// Offset of the checksum in a head.
const HEAD_SUM_AT: usize = PAGE_BYTES - 4;

/// A block ends with the query that takes it to this length. Damage of one byte costs the queries of one block. Bytes.
const BLOCK_BYTES: usize = PAGE_BYTES;

/// Bytes that are written at a time.
const WRITE_BYTES: usize = 1 << 20;

/// A file that a table's queries lie in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct QueryFile {
    pub(crate) path: String,
    /// Queries and ids in it.
    pub(crate) entries: u64,
    /// Nothing of earlier files counts beside it.
    pub(crate) is_base: bool,
}

/// The work of writing one; runs on any thread.
pub(crate) struct QueryFileJob {
    pub(crate) disk: Arc<dyn Disk>,
    /// Folder and name; whatever lies there from an attempt before is replaced.
    pub(crate) dir: String,
    pub(crate) name: String,
    /// All queries as they are now.
    pub(crate) queries: Arc<Snapshot>,
    /// Ids of those stored or deleted since the last file, ascending; none: a base is written.
    pub(crate) changed: Option<Vec<u64>>,
}

impl QueryFileJob {
    /// Writes the file and makes it durable.
    pub(crate) fn run(self) -> Result<QueryFile> {
        let path = format!("{}/{}", self.dir, self.name);
        let written = self.write(&path);
        let entries = written.map_err(|error| failure::of_file(&path, &error))?;
        Ok(QueryFile {
            path,
            entries,
            is_base: self.changed.is_none(),
        })
    }

    fn write(&self, path: &str) -> std::io::Result<u64> {
        disk::make_dir(&*self.disk, &self.dir)?;
        if self.disk.exists(path)? {
            self.disk.remove(path)?;
        }
        let mut writer = Writer::new(self.disk.create(path)?);
        let entries = match &self.changed {
            None => {
                writer.put(self.queries.iter())?;
                writer.end(&[])?;
                self.queries.len()
            }
            Some(changed) => {
                let there = changed.iter().filter_map(|id| self.queries.get(*id));
                writer.put(there)?;
                let is_gone = |id: &u64| self.queries.get(*id).is_none();
                let gone: Vec<u64> = changed.iter().copied().filter(is_gone).collect();
                writer.end(&gone)?;
                changed.len()
            }
        };
        self.disk.sync_dir(&self.dir)?;
        Ok(entries as u64)
    }
}

/// Writes blocks as they are filled, then both tables, and the first head last.
struct Writer {
    file: Arc<dyn File>,
    buffer: Vec<u8>,
    /// Where `buffer` goes in the file.
    offset: u64,
    /// Where the current block begins in `buffer`.
    block: usize,
    /// Ids of the current block's queries, rising.
    ids: Vec<u64>,
    /// The entries of the blocks before, for the table.
    entries: Vec<u8>,
    blocks: u64,
    differences: Differences,
}

impl Writer {
    fn new(file: Arc<dyn File>) -> Writer {
        Writer {
            file,
            buffer: Vec::with_capacity(WRITE_BYTES),
            offset: PAGE_BYTES as u64,
            block: 0,
            ids: Vec::new(),
            entries: Vec::new(),
            blocks: 0,
            differences: Differences::default(),
        }
    }

    /// Appends queries, by rising id.
    fn put<'q>(
        &mut self,
        queries: impl Iterator<Item = &'q Arc<StandingQuery>>,
    ) -> std::io::Result<()> {
        for query in queries {
            self.ids.push(query.id);
            put_number(&mut self.buffer, query.id);
            put_text(&mut self.buffer, &query.text);
            put_text(&mut self.buffer, &query.tags);
            put_text(&mut self.buffer, &query.filters);
            put_text(&mut self.buffer, &query.source);
            if self.buffer.len() - self.block >= BLOCK_BYTES {
                self.end_block();
                if self.buffer.len() >= WRITE_BYTES {
                    self.flush()?;
                }
            }
        }
        Ok(())
    }

    fn end_block(&mut self) {
        let block = self.buffer.get(self.block..).unwrap_or_default();
        put_number(&mut self.entries, block.len() as u64);
        let sum = crc32c::crc32c(block);
        self.entries.extend_from_slice(&sum.to_le_bytes());
        let differences = &mut self.differences;
        put_list(&mut self.entries, &self.ids, |out, id| {
            differences.put(out, *id);
        });
        self.blocks += 1;
        self.ids.clear();
        self.block = self.buffer.len();
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.write_at(self.offset, &self.buffer)?;
        self.offset += self.buffer.len() as u64;
        self.buffer.clear();
        self.block = 0;
        Ok(())
    }

    /// Ends and syncs the file. `gone`: ids whose queries in earlier files are gone, rising.
    fn end(mut self, gone: &[u64]) -> std::io::Result<()> {
        if !self.ids.is_empty() {
            self.end_block();
        }
        self.flush()?;
        let mut table = Vec::with_capacity(self.entries.len());
        let mut differences = Differences::default();
        put_list(&mut table, gone, |out, id| differences.put(out, *id));
        put_number(&mut table, self.blocks);
        table.extend_from_slice(&self.entries);
        let table_at = self.offset.next_multiple_of(PAGE_BYTES as u64);
        let mut tail = disk::in_two_copies(&table);
        tail.resize(tail.len().next_multiple_of(PAGE_BYTES), 0);
        let head = head(table_at, &table, tail.len());
        tail.extend_from_slice(&head);
        self.file.write_at(table_at, &tail)?;
        self.file.write_at(0, &head)?;
        self.file.sync()
    }
}

/// The head of a file whose table begins at `table_at`. `tables_bytes`: of both tables, with what fills their pages.
fn head(table_at: u64, table: &[u8], tables_bytes: usize) -> Vec<u8> {
    let file_bytes = table_at + (tables_bytes + PAGE_BYTES) as u64;
    let mut head = Vec::with_capacity(PAGE_BYTES);
    head.extend_from_slice(KIND.magic);
    head.extend_from_slice(&KIND.version.to_le_bytes());
    head.extend_from_slice(&crc32c::crc32c(table).to_le_bytes());
    head.extend_from_slice(&file_bytes.to_le_bytes());
    head.extend_from_slice(&table_at.to_le_bytes());
    head.extend_from_slice(&(table.len() as u64).to_le_bytes());
    head.resize(HEAD_SUM_AT, 0);
    head.extend_from_slice(&crc32c::crc32c(&head).to_le_bytes());
    head
}
