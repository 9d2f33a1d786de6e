//! The manifest: one small file that names every other, replaced as a whole. docs/formats/data-directory.md.
//!
//! Layout, of which the file holds two copies ([`disk::in_two_copies`]): 8 bytes of magic, format version of the data directory `u32`, length of the rest
//! `u32`, CRC-32C of the rest `u32`, little-endian; then, as in records: the last position, the highest table number, and every
//! table with its definition, its checkpoint and its files.
//!
//! # Example
//! The last record is 90. A manifest is written now:
//!
//! | table | files it names | checkpoint: records up to here are in the files |
//! |---|---|---|
//! | 1 `news`, a search table | two segments | 90 |
//! | 2 `alerts`, a pq table | `12.queries`, `19.hits` | queries 12, counts 19 |
//! | 3 `jobs`, a queue | `60.rows`, with marks of removed rows | 60 |
//!
//! The catalog's own checkpoint is 90. The lowest of all is 12, so the journal must keep record 13 and later. Five records
//! later the power goes. The start opens the files, and removes each file below `tables/` that the manifest does not name: a job
//! wrote it and its manifest never came. Then it replays records 13 to 95: `news` skips those up to 90, `jobs` those up to 60.
//!
//! # Invariants
//! - Everything that a manifest says is synced before it: its files, their folders, and the journal up to its last position.
//! - It is replaced by rename, so a crash leaves the old one or the new one. Two copies in it survive a damaged sector.
//! - Files of the durable manifest are removed only after another manifest that does not name them is durable.
//!
//! To change what is written: raise [`FORMAT_VERSION`], read the old one too, commit a fixture of it.

use std::sync::Arc;

use disk::{Copies, Disk};
use queue::{Backlog, ChunkFile, Queue, RowNumber};
use relation::codec::{Reader, put_bytes, put_list, put_number, put_text};
use roaring::RoaringBitmap;

use super::salvage::Salvage;
use crate::apply::collected::Collected;
use crate::catalog::TableId;
use crate::command::{Definition, Kind, QueueOptions};
use crate::error::{Error, Result};
use crate::failure;
use crate::limits::SPARE_BYTES;
use crate::record::{RECORD_VERSION, put_definition, read_definition};
use crate::state::{Loads, State, table_dir};
use crate::table::in_manifest::InManifest;
use crate::table::search::{SearchTable, shape};
use crate::table::standing::PercolateTable;

/// Path of the manifest below the data directory.
pub(crate) const PATH: &str = "manifest";
/// Zeroes that give way to a manifest on a full disk.
const SPARE_PATH: &str = "spare";
/// Version of the whole data directory.
///
/// 2: definitions as in records of version 2; a pq table has a file of hit counts.
/// 3: a pq table has several files of queries.
/// 4: definitions as in records of version 3; a queue keeps what it knows beside its rows; the manifest stands twice in
/// its file.
/// 5: definitions as in records of version 4; how far loads are; segments of format 2.
/// 6: definitions as in records of version 5.
/// 7: how far the collector is.
/// 8: units with collected messages in the journal; pq tables with `into=` and without `on=`.
/// 9: the journal has records of version 9, and segments have files of changed values.
/// 10: the second copy of the manifest begins on a page of its own, and other small files have two copies; files of queries have
/// blocks; files of queue rows have a second table.
pub(crate) const FORMAT_VERSION: u32 = 10;
const MAGIC: &[u8; 8] = b"SEINEDIR";
const HEAD_BYTES: usize = 20;
/// The manifest of a state whose every record is synced.
pub(crate) fn encode(state: &State) -> Vec<u8> {
    let mut body = Vec::new();
    put_number(&mut body, state.position);
    put_number(&mut body, state.catalog.highest.into());
    put_number(&mut body, state.catalog.len() as u64);
    for (table, definition) in state.catalog.iter() {
        put_number(&mut body, table.0.into());
        put_definition(&mut body, definition);
        put_view(&mut body, state, table);
    }
    state.loads.put(&mut body);
    state.collected.put(&mut body);
    let mut bytes = Vec::with_capacity(HEAD_BYTES + body.len());
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
    bytes.extend_from_slice(&(body.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&crc32c::crc32c(&body).to_le_bytes());
    bytes.extend_from_slice(&body);
    disk::in_two_copies(&bytes)
}

fn put_view(out: &mut Vec<u8>, state: &State, table: TableId) {
    if let Some(search) = state.searches.get(&table) {
        put_number(out, search.highest);
        let mut files = Vec::new();
        search.files.encode(&mut files);
        put_bytes(out, &files);
    }
    if let Some(pq) = state.percolates.get(&table) {
        put_number(out, pq.highest);
        put_number(out, pq.folded);
        put_list(out, &pq.files, |out, file| put_text(out, &file.path));
        put_number(out, pq.counted);
        let counts = pq.counts_file.as_deref().unwrap_or_default();
        put_text(out, counts);
    }
    if let Some(queue) = state.queues.get(&table) {
        put_number(out, queue.folded.position);
        put_number(out, queue.folded.next.0);
        put_number(out, queue.backlog.files().count() as u64);
        for (file, removed) in queue.backlog.files() {
            put_text(out, file.path());
            let mut removed = removed.clone();
            removed.optimize(); // rows go in order: a few runs
            let mut marks = Vec::with_capacity(removed.serialized_size());
            let written = removed.serialize_into(&mut marks);
            debug_assert!(written.is_ok(), "a Vec takes all that is written");
            put_bytes(out, &marks);
        }
        queue.put_kept(out);
    }
}

/// Replaces the manifest.
pub(crate) fn replace(disk: &dyn Disk, bytes: &[u8]) -> Result<()> {
    disk::replace_file(disk, PATH, bytes).map_err(|error| failure::of_file(PATH, &error))
}

/// Replaces the manifest and removes the files that it no longer names; runs on any thread.
pub(crate) struct ManifestJob {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) bytes: Vec<u8>,
    /// Files that this manifest does not name, and the one before does.
    pub(crate) files: Vec<String>,
    /// Folders of tables that are gone; for the engine's thread, which knows whether a new table took the number.
    pub(crate) folders: Vec<String>,
    /// The position below which the journal may forget, once the manifest is durable.
    pub(crate) lowest: u64,
}

/// The result of a [`ManifestJob`].
pub(crate) struct WrittenManifest {
    pub(crate) replaced: Result<()>,
    /// The error of the last file that could not be removed.
    pub(crate) removed: Result<()>,
    pub(crate) files_left: Vec<String>,
    pub(crate) folders: Vec<String>,
    pub(crate) lowest: u64,
}

impl ManifestJob {
    pub(crate) fn run(self) -> WrittenManifest {
        let disk = &*self.disk;
        let mut written = WrittenManifest {
            replaced: replace(disk, &self.bytes),
            removed: Ok(()),
            files_left: self.files,
            folders: self.folders,
            lowest: self.lowest,
        };
        let gives_room = !written.files_left.is_empty() || !written.folders.is_empty();
        if written.replaced == Err(Error::DiskFull) && gives_room {
            give_spare(disk);
            written.replaced = replace(disk, &self.bytes);
        }
        if written.replaced.is_err() {
            return written;
        }
        for path in std::mem::take(&mut written.files_left) {
            match disk.remove(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    written.removed = Err(failure::of_file(&path, &error));
                    written.files_left.push(path);
                }
                _ => {}
            }
        }
        keep_spare(disk);
        written
    }
}

/// Holds room back: makes the file of spare room where it is missing. Without room for it it stays away until the
/// next call; it is whole or not there.
pub(crate) fn keep_spare(disk: &dyn Disk) {
    if disk.exists(SPARE_PATH).unwrap_or(true) {
        return;
    }
    let made = disk.create(SPARE_PATH).and_then(|file| {
        file.write_at(0, &vec![0; SPARE_BYTES])?;
        file.sync()
    });
    if made.is_err() {
        give_spare(disk);
    }
}

/// Gives the spare room up, for a write after which there is more.
pub(crate) fn give_spare(disk: &dyn Disk) {
    let _ = disk.remove(SPARE_PATH); // not there: nothing to give
}

/// Reads the manifest and opens everything that it names; `None` in a directory without one. The state then holds
/// what was folded; the journal's records above are to be applied.
pub(crate) fn open(disk: &Arc<dyn Disk>) -> Result<Option<State>> {
    open_with(disk, None)
}

/// As [`open`]; with a salvage, every byte of the files is verified, and what cannot be used is noted and left out.
pub(crate) fn open_with(
    disk: &Arc<dyn Disk>,
    mut salvage: Option<&mut Salvage<'_>>,
) -> Result<Option<State>> {
    let failed = |error| failure::of_file(PATH, &error);
    if !disk.exists(PATH).map_err(failed)? {
        return Ok(None);
    }
    let bytes = disk
        .open(PATH)
        .and_then(|file| file.map())
        .map_err(failed)?;
    let ((version, body), damaged) = checked(&bytes)?;
    if let (Some(salvage), Some(error)) = (salvage.as_deref_mut(), damaged) {
        salvage.manifest(PATH, &error);
    }
    let mut state = State::new(Arc::clone(disk));
    let mut reader = Reader::new(body);
    let wrong = |damage| failure::undecodable(PATH, HEAD_BYTES, &damage);
    state.position = reader.number().map_err(wrong)?;
    state.catalog_folded = state.position;
    state.catalog.highest = reader.small().map_err(wrong)?;
    let count = reader.count().map_err(wrong)?;
    for _ in 0..count {
        let table = TableId(reader.small().map_err(wrong)?);
        let definition =
            Arc::new(read_definition(&mut reader, definition_version(version)).map_err(wrong)?);
        state.catalog.insert(table, Arc::clone(&definition));
        match &definition.kind {
            Kind::Distributed { .. } => {}
            Kind::Search(_) => open_search(
                &mut state,
                table,
                definition,
                &mut reader,
                version,
                salvage.as_deref_mut(),
            )?,
            Kind::Percolate { .. } => open_percolate(
                &mut state,
                table,
                definition,
                &mut reader,
                version,
                salvage.as_deref_mut(),
            )?,
            Kind::Queue(options) => open_queue(
                &mut state,
                table,
                (&definition, options),
                &mut reader,
                version,
                salvage.as_deref_mut(),
            )?,
        }
    }
    if version > 4 {
        state.loads = Loads::read(&mut reader).map_err(wrong)?;
    }
    if version > 6 {
        state.collected = Collected::read(&mut reader).map_err(wrong)?;
    }
    reader.end().map_err(wrong)?;
    state.connect()?;
    Ok(Some(state))
}

/// A verified copy: its version and body.
type Copy<'a> = (u32, &'a [u8]);

/// The first copy that is sound, and what is wrong with one that is not.
fn checked(bytes: &[u8]) -> Result<(Copy<'_>, Option<Error>)> {
    let copies = Copies::of(bytes);
    let check = |start: usize, bytes| copy(bytes, start);
    if let Ok(sound) = copies.first_sound(check) {
        return Ok((sound, copies.damages(check).pop()));
    }
    // Versions 4 to 9: the second copy stands right behind the first.
    let half = bytes.len() / 2;
    let (first, second) = bytes.split_at(half);
    match (copy(first, 0), copy(second, half)) {
        (Ok(sound), damaged) => Ok((sound, damaged.err())),
        (Err(damaged), Ok(sound)) => Ok((sound, Some(damaged))),
        (Err(damaged), Err(_)) => Err(damaged),
    }
}

/// One copy, which begins at `start` of the file. The version is looked at before the checksum: a newer program may sum
/// other bytes.
fn copy(bytes: &[u8], start: usize) -> Result<Copy<'_>> {
    let number = |at: usize| {
        bytes
            .get(at..at + 4)
            .and_then(|four| four.try_into().ok())
            .map(u32::from_le_bytes)
    };
    let damaged = |at: usize, why: &str| failure::damaged(PATH, (start + at) as u64, why);
    if bytes.get(..8) != Some(MAGIC.as_slice()) {
        return Err(damaged(0, "not a manifest"));
    }
    let found = number(8).ok_or_else(|| damaged(8, "shorter than its head"))?;
    if found > FORMAT_VERSION {
        return Err(Error::NewerFormat {
            found,
            known: FORMAT_VERSION,
        });
    }
    let body = bytes.get(HEAD_BYTES..).unwrap_or_default();
    if number(12) != u32::try_from(body.len()).ok() || number(16) != Some(crc32c::crc32c(body)) {
        return Err(damaged(HEAD_BYTES, "length or checksum"));
    }
    Ok((found, body))
}

/// The record version whose definitions a manifest holds.
fn definition_version(found: u32) -> u8 {
    match found {
        0 | 1 => 1,
        2 | 3 => 2,
        4 => 3,
        5 => 4,
        6..=8 => 8,
        _ => RECORD_VERSION,
    }
}

fn open_search(
    state: &mut State,
    table: TableId,
    definition: Arc<Definition>,
    reader: &mut Reader<'_>,
    version: u32,
    salvage: Option<&mut Salvage<'_>>,
) -> Result<()> {
    let wrong = |damage| failure::undecodable(PATH, HEAD_BYTES, &damage);
    let highest = reader.number().map_err(wrong)?;
    let mut encoded = reader.bytes().map_err(wrong)?;
    let files = index::Files::decode(&mut encoded, version > 8).filter(|_| encoded.is_empty());
    let mut files = files.ok_or_else(|| wrong(reader.damage("the files of a search table")))?;
    let is_saving = salvage.is_some();
    if let Some(salvage) = salvage {
        salvage.segments(&state.disk, table, &definition.name, &mut files)?;
    }
    let dir = table_dir(table);
    let opened = index::Table::open(Arc::clone(&state.disk), &dir, shape(&definition), &files);
    let mut opened = opened.map_err(failure::of_index)?;
    if is_saving {
        let reserved = opened.reserve_names();
        reserved.map_err(failure::of_index)?;
    }
    let named = files;
    let files = opened.files();
    let is_rewritten = files != named;
    let mut search = SearchTable::new(definition, opened, named, highest);
    search.opened();
    if is_rewritten {
        search.files = files;
        search.file_changes += 1;
    }
    state.searches.insert(table, search);
    Ok(())
}

fn open_percolate(
    state: &mut State,
    table: TableId,
    definition: Arc<Definition>,
    reader: &mut Reader<'_>,
    version: u32,
    mut salvage: Option<&mut Salvage<'_>>,
) -> Result<()> {
    let wrong = |damage| failure::undecodable(PATH, HEAD_BYTES, &damage);
    let highest = reader.number().map_err(wrong)?;
    let mut pq = PercolateTable::new(definition, reader.number().map_err(wrong)?);
    let mut paths = Vec::new();
    if version < 3 {
        let path = reader.text().map_err(wrong)?;
        paths.extend((!path.is_empty()).then_some(path));
    } else {
        paths = reader.list(Reader::text).map_err(wrong)?;
    }
    if version > 1 {
        pq.counted = reader.number().map_err(wrong)?;
        let counts = reader.text().map_err(wrong)?;
        let name = &pq.definition.name;
        let is_readable = match salvage.as_deref_mut() {
            Some(salvage) if !counts.is_empty() => {
                let faults = salvage.faults.len();
                let is_readable = salvage.counts(&*state.disk, name, counts)?;
                pq.counts_changed = salvage.faults.len() > faults; // so that a repair writes them again
                is_readable
            }
            _ => true,
        };
        if !counts.is_empty() && is_readable {
            pq.load_counts(&*state.disk, counts)?;
        }
    }
    if let Some(salvage) = salvage.as_deref_mut() {
        paths = salvage.queries(&*state.disk, &pq.definition.name, paths)?;
    }
    let damages = pq.load(&*state.disk, &paths)?;
    pq.highest = highest;
    pq.changed.clear();
    if let Some(salvage) = salvage
        && !damages.is_empty()
    {
        for damage in damages {
            salvage.note(damage, "")?;
        }
        pq.mend();
    }
    pq.manifests = InManifest::of(pq.folded);
    state.percolates.insert(table, pq);
    Ok(())
}

fn open_queue(
    state: &mut State,
    table: TableId,
    (definition, options): (&Definition, &QueueOptions),
    reader: &mut Reader<'_>,
    version: u32,
    mut salvage: Option<&mut Salvage<'_>>,
) -> Result<()> {
    let wrong = |damage| failure::undecodable(PATH, HEAD_BYTES, &damage);
    let folded = reader.number().map_err(wrong)?;
    let next = reader.number().map_err(wrong)?;
    let count = reader.count().map_err(wrong)?;
    let mut files = Vec::new();
    for _ in 0..count {
        let path = reader.text().map_err(wrong)?;
        let marks = reader.bytes().map_err(wrong)?;
        let removed = RoaringBitmap::deserialize_from(marks);
        let removed = removed.map_err(|_| wrong(reader.damage("marks of removed rows")))?;
        match (ChunkFile::open(&*state.disk, path), salvage.as_deref_mut()) {
            (Ok(file), Some(salvage)) if !file.damages().is_empty() => {
                let mended = salvage.mended_rows(&state.disk, table, (file, removed), folded)?;
                files.extend(mended);
            }
            (Ok(file), _) => files.push((file, removed)),
            (Err(error), Some(salvage)) => salvage.rows(&definition.name, path, error.into())?,
            (Err(error), None) => return Err(error.into()),
        }
    }
    let backlog = Backlog::of_files(RowNumber(next), files);
    let (name, columns) = (&definition.name, &definition.columns);
    let mut queue = Queue::new(name, columns, options, backlog, folded);
    if version > 3 {
        queue.read_kept(reader).map_err(wrong)?;
    }
    state.queues.insert(table, queue, InManifest::of(folded));
    Ok(())
}
