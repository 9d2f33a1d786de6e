//! Reading a file of standing queries: of version 4 with blocks, or of versions 1 to 3 with one checksum.

use std::ops::Range;

use disk::{Bytes, Disk, PAGE_BYTES};
use relation::codec::{Differences, Read, Reader};

use super::super::head::HEAD_BYTES;
use super::{HEAD_SUM_AT, KIND, VERSION_OF_ONE_SUM};
use crate::error::{Error, Result};
use crate::failure;
use crate::record::QueryRow;

#[cfg(test)]
mod tests;

/// Queries of a block of a file without blocks.
const OLD_BLOCK_QUERIES: usize = 1_024;

/// An opened file: its head and table are sound, its blocks are not looked at yet.
pub(crate) struct Opened {
    pub(crate) path: String,
    pub(crate) contents: Contents,
    /// Damage of a copy that was not needed.
    pub(crate) damages: Vec<Error>,
    bytes: Bytes,
    version: u32,
}

/// What a file holds.
#[derive(Default)]
pub(crate) struct Contents {
    /// Ids whose queries in earlier files are gone, rising.
    pub(crate) gone: Vec<u64>,
    /// Ids of its queries, rising.
    pub(crate) ids: Vec<u64>,
    /// In the order of their ids; together they hold all of them.
    pub(crate) blocks: Vec<Block>,
}

/// Queries that lie together.
pub(crate) struct Block {
    /// Where they lie in the file.
    bytes: Range<usize>,
    /// Their places in [`Contents::ids`].
    pub(crate) ids: Range<usize>,
    /// Checksum; `None`: the whole file was verified.
    sum: Option<u32>,
}

impl Block {
    /// Where it begins in the file. Bytes.
    pub(crate) fn offset(&self) -> u64 {
        self.bytes.start as u64
    }
}

impl Contents {
    /// The ids of a block's queries, rising.
    pub(crate) fn ids_of(&self, block: &Block) -> &[u64] {
        self.ids.get(block.ids.clone()).unwrap_or_default()
    }
}

impl Opened {
    /// Opens and maps a file; verifies its head and its table, of versions before 4 everything.
    ///
    /// # Errors
    /// `Corrupt` for a file that is missing, of another kind, or of which both heads or both tables are damaged;
    /// `NewerFormat`; `Internal`.
    pub(crate) fn new(disk: &dyn Disk, path: &str) -> Result<Opened> {
        let bytes = disk.open(path).and_then(|file| file.map());
        let bytes = bytes.map_err(|error| failure::of_file(path, &error))?;
        let first = bytes.get(..PAGE_BYTES).and_then(Head::read);
        if first.is_none()
            && let Ok(version) = KIND.check(path, 0, &bytes)
            && version <= VERSION_OF_ONE_SUM
        {
            return Opened::of_one_sum(path, bytes, version);
        }
        let mut damages = Vec::new();
        let last_at = bytes.len().saturating_sub(PAGE_BYTES);
        let last = bytes.get(last_at..).and_then(Head::read);
        for (head, at) in [(&first, 0), (&last, last_at)] {
            if head.is_none() {
                damages.push(failure::damaged(path, at as u64, "head"));
            }
        }
        let Some(head) = first.or(last) else {
            let whole = KIND.check(path, 0, &bytes).map(drop);
            return Err(whole.err().unwrap_or(damages.swap_remove(0)));
        };
        if head.version > KIND.version {
            return Err(Error::NewerFormat {
                found: head.version,
                known: KIND.version,
            });
        }
        if head.file_bytes != bytes.len() as u64 {
            return Err(failure::damaged(path, 0, "length"));
        }
        let (first, second) = head.tables();
        let tables = [first, second].map(|at| (at, head.table(&bytes, at)));
        for (at, table) in &tables {
            if table.is_none() {
                damages.push(failure::damaged(path, *at, "table of queries"));
            }
        }
        let Some((at, table)) = tables
            .into_iter()
            .find_map(|(at, table)| Some((at, table?)))
        else {
            return Err(failure::damaged(path, first, "table of queries"));
        };
        let wrong = |damage| failure::undecodable(path, at as usize, &damage);
        let contents = read_table(table, head.table_at).map_err(wrong)?;
        Ok(Opened {
            path: path.to_owned(),
            contents,
            damages,
            bytes,
            version: head.version,
        })
    }

    fn of_one_sum(path: &str, bytes: Bytes, version: u32) -> Result<Opened> {
        let body = bytes.get(HEAD_BYTES..).unwrap_or_default();
        let wrong = |damage| failure::undecodable(path, HEAD_BYTES, &damage);
        let contents = read_old(body, version).map_err(wrong)?;
        Ok(Opened {
            path: path.to_owned(),
            contents,
            damages: Vec::new(),
            bytes,
            version,
        })
    }

    /// Verifies a block.
    ///
    /// # Errors
    /// `Corrupt`, with the block's offset.
    pub(crate) fn verify(&self, block: &Block) -> Result<()> {
        let summed = crc32c::crc32c(self.bytes_of(block));
        match block.sum {
            Some(sum) if sum != summed => {
                let at = block.offset();
                Err(failure::damaged(&self.path, at, "a block of queries"))
            }
            _ => Ok(()),
        }
    }

    /// Calls `take` with each query of a verified block. On any thread.
    ///
    /// # Errors
    /// Those of `take`; `Corrupt` for bytes that are no queries although their checksum is right.
    pub(crate) fn rows(
        &self,
        block: &Block,
        take: &mut dyn FnMut(QueryRow) -> Result<()>,
    ) -> Result<()> {
        let wrong = |damage| failure::undecodable(&self.path, block.bytes.start, &damage);
        let mut reader = Reader::new(self.bytes_of(block));
        for id in self.contents.ids_of(block) {
            let row = read_row(&mut reader, self.version).map_err(wrong)?;
            if row.id != *id {
                return Err(wrong(reader.damage("the id that the table has")));
            }
            take(row)?;
        }
        reader.end().map_err(wrong)
    }

    /// The bytes of a block. The table was checked: they are in the file.
    fn bytes_of(&self, block: &Block) -> &[u8] {
        self.bytes.get(block.bytes.clone()).unwrap_or_default()
    }
}

/// A head whose checksum is right.
struct Head {
    version: u32,
    table_sum: u32,
    file_bytes: u64,
    table_at: u64,
    table_bytes: u64,
}

impl Head {
    /// `None` for a page that is no head, or a damaged one.
    fn read(page: &[u8]) -> Option<Head> {
        let number = |at: usize| Some(u32::from_le_bytes(*page.get(at..)?.first_chunk()?));
        let wide = |at: usize| Some(u64::from_le_bytes(*page.get(at..)?.first_chunk()?));
        let summed = crc32c::crc32c(page.get(..HEAD_SUM_AT)?);
        if page.get(..8)? != KIND.magic || number(HEAD_SUM_AT)? != summed {
            return None;
        }
        // A file of one sum has any bytes here.
        let version = number(8).filter(|version| *version > VERSION_OF_ONE_SUM);
        Some(Head {
            version: version?,
            table_sum: number(12)?,
            file_bytes: wide(16)?,
            table_at: wide(24)?,
            table_bytes: wide(32)?,
        })
    }

    /// Where both tables begin.
    fn tables(&self) -> (u64, u64) {
        let pages = self.table_bytes.div_ceil(PAGE_BYTES as u64);
        let room = pages.saturating_mul(PAGE_BYTES as u64);
        (self.table_at, self.table_at.saturating_add(room))
    }

    /// The table that begins at `at`; `None` where it is damaged.
    fn table<'b>(&self, bytes: &'b [u8], at: u64) -> Option<&'b [u8]> {
        let start = usize::try_from(at).ok()?;
        let length = usize::try_from(self.table_bytes).ok()?;
        let table = bytes.get(start..start.checked_add(length)?)?;
        (crc32c::crc32c(table) == self.table_sum).then_some(table)
    }
}

/// Reads a table. `blocks_end`: the blocks lie between the first page and there.
fn read_table(table: &[u8], blocks_end: u64) -> Read<Contents> {
    let mut reader = Reader::new(table);
    let mut contents = Contents::default();
    let mut differences = Differences::default();
    contents.gone = reader.list(|reader| differences.read(reader))?;
    let mut differences = Differences::default();
    let mut start = PAGE_BYTES;
    for _ in 0..reader.count()? {
        let length = usize::try_from(reader.number()?).ok();
        let end = length.and_then(|length| start.checked_add(length));
        let end = end.filter(|end| *end as u64 <= blocks_end);
        let end = end.ok_or_else(|| reader.damage("a block of the file"))?;
        let sum = u32::from_le_bytes(reader.array()?);
        let first = contents.ids.len();
        for _ in 0..reader.count()? {
            let id = differences.read(&mut reader)?;
            if contents.ids.last().is_some_and(|last| *last >= id) {
                return Err(reader.damage("rising ids"));
            }
            contents.ids.push(id);
        }
        contents.blocks.push(Block {
            bytes: start..end,
            ids: first..contents.ids.len(),
            sum: Some(sum),
        });
        start = end;
    }
    reader.end()?;
    Ok(contents)
}

/// Finds the queries in the body of a file of versions 1 to 3.
fn read_old(body: &[u8], version: u32) -> Read<Contents> {
    let mut reader = Reader::new(body);
    let mut contents = Contents::default();
    if version > 2 {
        contents.gone = reader.list(Reader::number)?;
    }
    let rows = reader.count()?;
    let mut start = reader.offset();
    for row in 1..=rows {
        let id = reader.number()?;
        if contents.ids.last().is_some_and(|last| *last >= id) {
            return Err(reader.damage("rising ids"));
        }
        contents.ids.push(id);
        for _ in 0..texts(version) {
            reader.bytes()?;
        }
        if row % OLD_BLOCK_QUERIES == 0 || row == rows {
            let first = (row - 1) / OLD_BLOCK_QUERIES * OLD_BLOCK_QUERIES;
            contents.blocks.push(Block {
                bytes: HEAD_BYTES + start..HEAD_BYTES + reader.offset(),
                ids: first..row,
                sum: None,
            });
            start = reader.offset();
        }
    }
    reader.end()?;
    Ok(contents)
}

/// Texts of a row.
fn texts(version: u32) -> usize {
    if version < 2 { 3 } else { 4 }
}

fn read_row(reader: &mut Reader<'_>, version: u32) -> Read<QueryRow> {
    Ok(QueryRow {
        id: reader.number()?,
        query: reader.string()?,
        tags: reader.string()?,
        filters: reader.string()?,
        source: match texts(version) {
            3 => String::new(),
            _ => reader.string()?,
        },
    })
}
