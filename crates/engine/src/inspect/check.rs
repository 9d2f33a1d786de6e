//! `seine check`: counts every file of a data directory, and verifies every checksum.

use std::collections::BTreeSet;
use std::sync::Arc;

use disk::{Disk, Overlay};

use super::reading::Reading;
use super::{Fault, Loss};
use crate::backup::list_files;
use crate::engine::{JOURNAL_DIR, lock};
use crate::error::Result;
use crate::failure;
use crate::manifest;
use crate::state::{State, TABLES_DIR, table_dir};

/// The files of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KindOfFile {
    /// Name of the kind, as docs/formats calls it.
    pub name: &'static str,
    /// Number of files of this kind.
    pub files: u64,
    /// Bytes of these files together.
    pub bytes: u64,
    /// Their content in words, such as numbers of rows.
    pub holds: String,
}

/// The result of [`check`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// Every kind of file, also a kind without a file here.
    pub kinds: Vec<KindOfFile>,
    /// The damage that was found. Empty: a server starts on the directory and finds everything.
    pub faults: Vec<Fault>,
    /// Rows that a repair could not bring back.
    pub losses: Vec<Loss>,
    /// Unusual facts that harm nothing.
    pub notes: Vec<String>,
}

/// Reads every file of a directory that no server has, and verifies every checksum. Changes nothing.
///
/// # Errors
/// `Locked`; where there is no data directory, a newer version wrote it, or the manifest cannot be read at all.
pub fn check(disk: &Arc<dyn Disk>, progress: &mut dyn FnMut(&str)) -> Result<Checked> {
    let _lock = lock(&**disk)?;
    let over: Arc<dyn Disk> =
        Arc::new(Overlay::new(Arc::clone(disk)).map_err(|error| failure::of_file("", &error))?);
    let all = all_files(&*over)?;
    let reading = Reading::of(&over, progress)?;
    let kinds = kinds(&over, &reading, &all);
    Ok(Checked {
        notes: notes(&reading, &all, &kinds),
        kinds: kinds.into_iter().map(|(kind, _)| kind).collect(),
        faults: reading.faults,
        losses: reading.losses,
    })
}

/// The paths of all files. Called before the reading, which may remove files that the manifest does not name.
fn all_files(disk: &dyn Disk) -> Result<BTreeSet<String>> {
    let mut files = Vec::new();
    list_files(disk, "", &mut files).map_err(|error| failure::of_file("", &error))?;
    Ok(files.into_iter().collect())
}

/// Each kind with the paths of its files.
fn kinds(
    disk: &Arc<dyn Disk>,
    reading: &Reading,
    all: &BTreeSet<String>,
) -> Vec<(KindOfFile, BTreeSet<String>)> {
    let state = &reading.state;
    let named = state.named_files();
    let with = |suffix: &str| -> BTreeSet<String> {
        let of = named.iter().filter(|path| path.ends_with(suffix));
        of.cloned().collect()
    };
    let below = |dir: &str| -> BTreeSet<String> {
        let of = all.iter().filter(|path| path.starts_with(dir));
        of.cloned().collect()
    };
    let queries = with(".queries");
    let counts = with(".hits");
    let rows: BTreeSet<String> = named
        .iter()
        .filter(|path| !queries.contains(*path) && !counts.contains(*path))
        .cloned()
        .collect();
    let tables = state.catalog.len();
    let position = state.position;
    let journal = &reading.journal;
    let held = [
        (
            "manifest",
            BTreeSet::from([manifest::PATH.to_owned()]),
            format!("{tables} tables, record {position} the last"),
        ),
        (
            "journal",
            below(&format!("{JOURNAL_DIR}/")),
            format!(
                "{} frames, {} records, {} spare files",
                journal.frames, journal.records, journal.spares
            ),
        ),
        ("segments", segment_files(state), documents(state)),
        ("queries", queries, {
            let stored = state.percolates.values().map(|pq| pq.set.len() as u64);
            format!("{} standing queries", stored.sum::<u64>())
        }),
        ("hit counts", counts, "counts of hits".to_owned()),
        ("queue rows", rows, {
            let rows = state.queues.values().map(|queue| queue.backlog.len());
            format!("{} rows, those of the journal with them", rows.sum::<u64>())
        }),
    ];
    let kind = |(name, files, holds): (&'static str, BTreeSet<String>, String)| {
        let bytes = files.iter().map(|path| bytes_of(&**disk, path)).sum();
        let kind = KindOfFile {
            name,
            files: files.len() as u64,
            bytes,
            holds,
        };
        (kind, files)
    };
    held.into_iter().map(kind).collect()
}

fn bytes_of(disk: &dyn Disk, path: &str) -> u64 {
    let length = disk.open(path).and_then(|file| file.len());
    length.unwrap_or(0) // missing: that is among the faults
}

fn segment_files(state: &State) -> BTreeSet<String> {
    let of = state.searches.iter().flat_map(|(table, search)| {
        let dir = table_dir(*table);
        search
            .table
            .files()
            .paths()
            .map(|path| format!("{dir}/{path}"))
            .collect::<Vec<_>>()
    });
    of.collect()
}

fn documents(state: &State) -> String {
    let status = state.searches.values().map(|search| search.table.status());
    let (segments, rows, deleted) = status.fold((0, 0, 0), |sum, status| {
        (
            sum.0 + status.segments,
            sum.1 + status.rows_live,
            sum.2 + status.tombstones,
        )
    });
    format!(
        "{segments} segments, {rows} documents (those of the journal with them), {deleted} deleted ones"
    )
}

fn notes(
    reading: &Reading,
    all: &BTreeSet<String>,
    kinds: &[(KindOfFile, BTreeSet<String>)],
) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(torn) = &reading.journal.torn {
        notes.push(format!(
            "{} at byte {}: {} bytes of a torn end, acknowledged to nobody; the next start cuts them",
            torn.file, torn.offset, torn.bytes
        ));
    }
    let is_damaged = |path: &String| reading.left_out.iter().any(|out| path.starts_with(out));
    let unnamed = all.iter().filter(|path| {
        path.starts_with(&format!("{TABLES_DIR}/"))
            && !kinds.iter().any(|(_, files)| files.contains(*path))
            && !is_damaged(path)
    });
    let unnamed = unnamed.count();
    if unnamed > 0 {
        notes.push(format!(
            "{unnamed} files below {TABLES_DIR} that nothing names; the next start removes them"
        ));
    }
    if reading.documents_saved > 0 {
        notes.push(format!(
            "{} documents of damaged segments can be read; seine repair stores them again",
            reading.documents_saved
        ));
    }
    notes
}
