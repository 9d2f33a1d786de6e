//! Files of hit counts: how often each standing query of a pq table was hit, and when last.
//!
//! Layout: 8 bytes of magic, format version `u32`, CRC-32C of the rest `u32`, then the number of entries and for each,
//! by rising id: difference of its id from the one before, documents, seconds since 1970-01-01 UTC. Numbers as in
//! records. Queries that were never hit are left out. docs/formats/data-directory.md.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use disk::Disk;
use percolate::StandingQuery;
use rustc_hash::FxHashMap;

use crate::error::{Error, Result};
use crate::failure;
use crate::state::make_table_dir;
use query::codec::{Read, Reader, put_number};

const MAGIC: &[u8; 8] = b"SEINEHIT";
const VERSION: u32 = 1;
const HEAD_BYTES: usize = 16;

/// What was counted of one query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counted {
    pub(crate) id: u64,
    pub(crate) documents: u64,
    pub(crate) last_s: i64,
}

/// Counts as they were at the position of a [`CountsJob`], of the queries that were hit since.
///
/// The matchers share the counts with the job, so the counts rise while the file is written. Example: at position 10 query
/// 7 has 3 hits; record 11 adds 2. The engine notes 3 before it adds, and the job writes 3, whether it comes to the query
/// before or after that. Without the note it could write 5, and a replay of record 11 would count its hits once more.
///
/// Both sides hold the lock: the engine while it notes and adds, the job while it reads [`QUERIES_AT_ONCE`] counts. A query is
/// known by its address: the job's snapshot keeps its queries, and one that takes the place of another has an address of its own.
#[derive(Clone, Default)]
pub(crate) struct CountsBefore(Arc<Mutex<FxHashMap<usize, (u64, i64)>>>);

/// Counts that a job reads before it lets the engine go on: some ten microseconds.
const QUERIES_AT_ONCE: usize = 256;

impl CountsBefore {
    /// Adds the numbers of documents to the counts of queries.
    pub(crate) fn add<'q>(
        &self,
        hits: impl Iterator<Item = (&'q Arc<StandingQuery>, u64)>,
        hit_at: i64,
    ) {
        let mut before = self.lock();
        for (query, documents) in hits {
            let address = Arc::as_ptr(query).addr();
            before.entry(address).or_insert_with(|| query.count.get());
            query.count.add(documents, hit_at);
        }
    }

    fn lock(&self) -> MutexGuard<'_, FxHashMap<usize, (u64, i64)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The work of writing one; runs on any thread.
pub(crate) struct CountsJob {
    pub(crate) disk: Arc<dyn Disk>,
    /// Folder and name; whatever lies there from an attempt before is replaced.
    pub(crate) dir: String,
    pub(crate) name: String,
    pub(crate) queries: Arc<percolate::Snapshot>,
    pub(crate) before: CountsBefore,
}

impl CountsJob {
    /// Writes the file and makes it durable; gives its path.
    pub(crate) fn run(self) -> Result<String> {
        let path = format!("{}/{}", self.dir, self.name);
        let bytes = encode(&self.counted());
        let write = || {
            make_table_dir(&*self.disk, &self.dir)?;
            disk::replace_file(&*self.disk, &path, &bytes)
        };
        write().map_err(|error| failure::of_file(&path, &error))?;
        Ok(path)
    }

    /// The counts as they were at the job's position, by rising id.
    fn counted(&self) -> Vec<Counted> {
        let mut all = Vec::new();
        let mut queries = self.queries.iter().peekable();
        while queries.peek().is_some() {
            let before = self.before.lock();
            for query in queries.by_ref().take(QUERIES_AT_ONCE) {
                let noted = before.get(&Arc::as_ptr(query).addr()).copied();
                let (documents, last_s) = noted.unwrap_or_else(|| query.count.get());
                let id = query.id;
                all.push(Counted {
                    id,
                    documents,
                    last_s,
                });
            }
        }
        all.retain(|counted| counted.documents > 0);
        all
    }
}

fn encode(counted: &[Counted]) -> Vec<u8> {
    let mut bytes = vec![0; HEAD_BYTES];
    put_number(&mut bytes, counted.len() as u64);
    let mut before = 0;
    for entry in counted {
        put_number(&mut bytes, entry.id.wrapping_sub(before));
        before = entry.id;
        put_number(&mut bytes, entry.documents);
        put_number(&mut bytes, u64::from_ne_bytes(entry.last_s.to_ne_bytes()));
    }
    let (head, body) = bytes.split_at_mut(HEAD_BYTES);
    head[..8].copy_from_slice(MAGIC);
    head[8..12].copy_from_slice(&VERSION.to_le_bytes());
    head[12..].copy_from_slice(&crc32c::crc32c(body).to_le_bytes());
    bytes
}

/// Reads one.
pub(crate) fn load(disk: &dyn Disk, path: &str) -> Result<Vec<Counted>> {
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
        return Err(failure::damaged(path, 0, "not a file of hit counts"));
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
    read(body).map_err(|damage| failure::undecodable(path, HEAD_BYTES, &damage))
}

fn read(body: &[u8]) -> Read<Vec<Counted>> {
    let mut reader = Reader::new(body);
    let count = reader.count()?;
    let mut entries = Vec::with_capacity(count);
    let mut id = 0u64;
    for _ in 0..count {
        id = id.wrapping_add(reader.number()?);
        entries.push(Counted {
            id,
            documents: reader.number()?,
            last_s: i64::from_ne_bytes(reader.number()?.to_ne_bytes()),
        });
    }
    reader.end()?;
    Ok(entries)
}
