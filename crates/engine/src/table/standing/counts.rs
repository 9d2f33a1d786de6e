//! Files of hit counts: how often each standing query of a pq table was hit, and when last.
//!
//! Layout, of which the file holds two copies from version 2 on: 8 bytes of magic, format version `u32`, CRC-32C of the rest `u32`, then the number of entries and for each,
//! by rising id: difference of its id from the one before, documents, seconds since 1970-01-01 UTC. Numbers as in
//! records. Queries that were never hit are left out. docs/formats/data-directory.md.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use disk::{Bytes, Copies, Disk};
use percolate::StandingQuery;
use relation::codec::{Differences, Read, Reader, put_list, put_number};
use rustc_hash::FxHashMap;

use super::head::{FileKind, HEAD_BYTES};
use crate::error::{Error, Result};
use crate::failure;

const KIND: FileKind = FileKind {
    magic: b"SEINEHIT",
    version: 2,
    other: "not a file of hit counts",
};

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
            disk::make_dir(&*self.disk, &self.dir)?;
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
    let mut ids = Differences::default();
    put_list(&mut bytes, counted, |bytes, entry| {
        ids.put(bytes, entry.id);
        put_number(bytes, entry.documents);
        put_number(bytes, entry.last_s.cast_unsigned());
    });
    let (head, body) = bytes.split_at_mut(HEAD_BYTES);
    head.copy_from_slice(&KIND.head(crc32c::crc32c(body)));
    disk::in_two_copies(&bytes)
}

/// Reads one.
///
/// # Errors
/// `Corrupt` where no copy is sound; `NewerFormat`, `Internal`.
pub(crate) fn load(disk: &dyn Disk, path: &str) -> Result<Vec<Counted>> {
    let bytes = bytes_of(disk, path)?;
    Copies::of(&bytes).first_sound(|start, copy| read_copy(path, start, copy))
}

/// What is wrong with one; an error for each damaged copy.
pub(crate) fn damages(disk: &dyn Disk, path: &str) -> Vec<Error> {
    match bytes_of(disk, path) {
        Ok(bytes) => Copies::of(&bytes).damages(|start, copy| read_copy(path, start, copy)),
        Err(error) => vec![error],
    }
}

fn bytes_of(disk: &dyn Disk, path: &str) -> Result<Bytes> {
    let bytes = disk.open(path).and_then(|file| file.map());
    bytes.map_err(|error| failure::of_file(path, &error))
}

/// The counts of the copy that begins at `start` of the file.
fn read_copy(path: &str, start: usize, copy: &[u8]) -> Result<Vec<Counted>> {
    KIND.check(path, start, copy)?;
    let body = copy.get(HEAD_BYTES..).unwrap_or_default();
    read(body).map_err(|damage| failure::undecodable(path, start + HEAD_BYTES, &damage))
}

fn read(body: &[u8]) -> Read<Vec<Counted>> {
    let mut reader = Reader::new(body);
    let mut ids = Differences::default();
    let entries = reader.list(|reader| {
        Ok(Counted {
            id: ids.read(reader)?,
            documents: reader.number()?,
            last_s: reader.number()?.cast_signed(),
        })
    })?;
    reader.end()?;
    Ok(entries)
}
