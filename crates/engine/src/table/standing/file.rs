//! Files of standing queries: a base with all of a pq table's, and files of what changed since, each above the one
//! before. The files of changes and the base become a new base when they have grown to a part of it.
//!
//! Layout: 8 bytes of magic, format version `u32`, CRC-32C of the rest `u32`, then the number of ids whose queries in
//! earlier files are gone and those ids, then the number of queries and for each, by id: id, text, tags, filters, source.
//! Numbers and lengths as in records. Versions 1 and 2 have no ids, version 1 no sources. docs/formats/data-directory.md.

use std::ops::Range;
use std::sync::Arc;

use disk::{Bytes, Disk, File};
use percolate::{Snapshot, StandingQuery};
use query::codec::{Read, Reader, put_list, put_number, put_text};

use super::head::{FileKind, HEAD_BYTES};
use crate::error::Result;
use crate::failure;
use crate::record::QueryRow;

const KIND: FileKind = FileKind {
    magic: b"SEINEQRY",
    version: 3,
    other: "not a file of standing queries",
};

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
                put_number(&mut writer.buffer, 0);
                writer.put(self.queries.len() as u64, self.queries.iter())?;
                self.queries.len()
            }
            Some(changed) => {
                let found = changed.iter().map(|id| (id, self.queries.get(*id)));
                let (there, gone): (Vec<_>, Vec<_>) = found.partition(|(_, query)| query.is_some());
                put_list(&mut writer.buffer, &gone, |out, (id, _)| {
                    put_number(out, **id)
                });
                let queries = there.iter().filter_map(|(_, query)| *query);
                writer.put(there.len() as u64, queries)?;
                changed.len()
            }
        };
        writer.end()?;
        self.disk.sync_dir(&self.dir)?;
        Ok(entries as u64)
    }
}

/// Writes the body piece by piece, and the head last.
struct Writer {
    file: Arc<dyn File>,
    buffer: Vec<u8>,
    offset: u64,
    sum: u32,
}

impl Writer {
    fn new(file: Arc<dyn File>) -> Writer {
        Writer {
            file,
            buffer: Vec::with_capacity(WRITE_BYTES),
            offset: HEAD_BYTES as u64,
            sum: 0,
        }
    }

    fn put<'q>(
        &mut self,
        count: u64,
        queries: impl Iterator<Item = &'q Arc<StandingQuery>>,
    ) -> std::io::Result<()> {
        put_number(&mut self.buffer, count);
        for query in queries {
            put_number(&mut self.buffer, query.id);
            put_text(&mut self.buffer, &query.text);
            put_text(&mut self.buffer, &query.tags);
            put_text(&mut self.buffer, &query.filters);
            put_text(&mut self.buffer, &query.source);
            if self.buffer.len() >= WRITE_BYTES {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.write_at(self.offset, &self.buffer)?;
        self.sum = crc32c::crc32c_append(self.sum, &self.buffer);
        self.offset += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    fn end(mut self) -> std::io::Result<()> {
        self.flush()?;
        self.file.write_at(0, &KIND.head(self.sum))?;
        self.file.sync()
    }
}

/// A file that was opened and verified.
pub(crate) struct Opened {
    pub(crate) path: String,
    bytes: Bytes,
    version: u32,
}

/// What a file holds.
#[derive(Default)]
pub(crate) struct Contents {
    /// Ids whose queries in earlier files are gone.
    pub(crate) gone: Vec<u64>,
    /// Ids of its queries, rising.
    pub(crate) ids: Vec<u64>,
    /// Where queries lie.
    pub(crate) pieces: Vec<Range<usize>>,
}

impl Opened {
    pub(crate) fn new(disk: &dyn Disk, path: &str) -> Result<Opened> {
        let (bytes, version) = KIND.open(disk, path)?;
        Ok(Opened {
            path: path.to_owned(),
            bytes,
            version,
        })
    }

    /// Ids that a damaged file seems to hold, as far as it can be read: for a message, nothing else.
    pub(crate) fn unproven_ids(disk: &dyn Disk, path: &str) -> Vec<u64> {
        let Ok(bytes) = disk.open(path).and_then(|file| file.map()) else {
            return Vec::new();
        };
        let mut reader = Reader::new(bytes.get(HEAD_BYTES..).unwrap_or_default());
        let mut read = || -> Read<Vec<u64>> {
            reader.list(Reader::number)?;
            let mut ids = Vec::new();
            for _ in 0..reader.count()? {
                match read_row(&mut reader, KIND.version) {
                    Ok(row) => ids.push(row.id),
                    Err(_) => break,
                }
            }
            Ok(ids)
        };
        read().unwrap_or_default()
    }

    /// What it holds, and where queries lie, at most `together` at a time, in order.
    pub(crate) fn contents(&self, together: usize) -> Result<Contents> {
        let wrong = |damage| failure::undecodable(&self.path, HEAD_BYTES, &damage);
        self.read_contents(together).map_err(wrong)
    }

    fn read_contents(&self, together: usize) -> Read<Contents> {
        let mut reader = Reader::new(self.body());
        let mut contents = Contents::default();
        if self.version > 2 {
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
            for _ in 0..texts(self.version) {
                reader.bytes()?;
            }
            if row % together == 0 || row == rows {
                contents.pieces.push(start..reader.offset());
                start = reader.offset();
            }
        }
        reader.end()?;
        Ok(contents)
    }

    /// Calls `take` with each query that lies there. On any thread.
    pub(crate) fn rows(
        &self,
        piece: Range<usize>,
        take: &mut dyn FnMut(QueryRow) -> Result<()>,
    ) -> Result<()> {
        let wrong = |damage| failure::undecodable(&self.path, HEAD_BYTES + piece.start, &damage);
        let mut reader = Reader::new(self.body().get(piece.clone()).unwrap_or_default());
        while reader.end().is_err() {
            take(read_row(&mut reader, self.version).map_err(wrong)?)?;
        }
        Ok(())
    }

    fn body(&self) -> &[u8] {
        self.bytes.get(HEAD_BYTES..).unwrap_or_default()
    }
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
