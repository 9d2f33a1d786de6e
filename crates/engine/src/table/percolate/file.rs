//! Files of standing queries: all of a pq table's, written anew when enough of them changed.
//!
//! Layout: 8 bytes of magic, format version `u32`, CRC-32C of the rest `u32`, then the number of queries and for each
//! id, text, tags, filters and, from version 2 on, source. Numbers and lengths as in records. docs/formats/data-directory.md.

use std::sync::Arc;

use disk::Disk;
use percolate::StandingQuery;

use crate::codec::{Read, Reader, put_bytes, put_number};
use crate::error::{Error, Result};
use crate::failure;
use crate::record::QueryRow;
use crate::state::make_table_dir;

const MAGIC: &[u8; 8] = b"SEINEQRY";
const VERSION: u32 = 2;
const HEAD_BYTES: usize = 16;

/// The work of writing one; runs on any thread.
pub(crate) struct QueryFileJob {
    pub(crate) disk: Arc<dyn Disk>,
    /// Folder and name; whatever lies there from an attempt before is replaced.
    pub(crate) dir: String,
    pub(crate) name: String,
    /// By id.
    pub(crate) queries: Vec<Arc<StandingQuery>>,
}

impl QueryFileJob {
    /// Writes the file and makes it durable; gives its path.
    pub(crate) fn run(self) -> Result<String> {
        let path = format!("{}/{}", self.dir, self.name);
        let mut bytes = vec![0; HEAD_BYTES];
        put_number(&mut bytes, self.queries.len() as u64);
        for query in &self.queries {
            put_number(&mut bytes, query.id);
            put_bytes(&mut bytes, query.text.as_bytes());
            put_bytes(&mut bytes, query.tags.as_bytes());
            put_bytes(&mut bytes, query.filters.as_bytes());
            put_bytes(&mut bytes, query.source.as_bytes());
        }
        let (head, body) = bytes.split_at_mut(HEAD_BYTES);
        head[..8].copy_from_slice(MAGIC);
        head[8..12].copy_from_slice(&VERSION.to_le_bytes());
        head[12..].copy_from_slice(&crc32c::crc32c(body).to_le_bytes());
        let write = || {
            make_table_dir(&*self.disk, &self.dir)?;
            disk::replace_file(&*self.disk, &path, &bytes)
        };
        write().map_err(|error| failure::of_file(&path, &error))?;
        Ok(path)
    }
}

/// Reads one.
pub(crate) fn load(disk: &dyn Disk, path: &str) -> Result<Vec<QueryRow>> {
    let failed = |error| failure::of_file(path, &error);
    let bytes = disk
        .open(path)
        .and_then(|file| file.map())
        .map_err(failed)?;
    let head = bytes.first_chunk::<HEAD_BYTES>();
    let head = head.ok_or_else(|| failure::damaged(path, 0, "shorter than its head"))?;
    let number =
        |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    if &head[..8] != MAGIC {
        return Err(failure::damaged(path, 0, "not a file of standing queries"));
    }
    if number(8) > VERSION {
        return Err(Error::NewerFormat {
            found: number(8),
            known: VERSION,
        });
    }
    let body = bytes.get(HEAD_BYTES..).unwrap_or_default();
    if number(12) != crc32c::crc32c(body) {
        return Err(failure::damaged(path, HEAD_BYTES as u64, "checksum"));
    }
    read(body, number(8)).map_err(|damage| failure::undecodable(path, HEAD_BYTES, &damage))
}

fn read(body: &[u8], version: u32) -> Read<Vec<QueryRow>> {
    let mut reader = Reader::new(body);
    let count = reader.count()?;
    let mut rows = Vec::with_capacity(count);
    for _ in 0..count {
        rows.push(QueryRow {
            id: reader.number()?,
            query: reader.text()?.to_owned(),
            tags: reader.text()?.to_owned(),
            filters: reader.text()?.to_owned(),
            source: match version {
                0 | 1 => String::new(),
                _ => reader.text()?.to_owned(),
            },
        });
    }
    reader.end()?;
    Ok(rows)
}
