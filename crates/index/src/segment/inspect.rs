//! Reads a segment that may be damaged: verifies every block, and saves the rows that can be read.

use std::collections::BTreeSet;
use std::sync::Arc;

use disk::Disk;
use relation::value::Value;
use roaring::RoaringBitmap;

use super::checked::CheckedFile;
use super::commit::{Commit, Kind};
use super::deleted::{damages_of_deleted, read_deleted};
use super::file_names::{COMMIT, POSITIONS, ROWS};
use super::opened::Opened;
use super::reader::Files;
use crate::changes::{Changes, damages_of_changes, read_changes};
use crate::error::{Error, Result};
use crate::files::SegmentFiles;

/// All damage of a segment's files, an error for each file and offset; empty for a sound segment.
/// `dir`: the table's directory. Cost: reads all files.
pub fn verify(disk: &Arc<dyn Disk>, dir: &str, listed: &SegmentFiles) -> Vec<Error> {
    let path = format!("{dir}/{}", listed.directory);
    let mut found = Vec::new();
    if let Some(name) = &listed.deleted {
        let path = format!("{path}/{name}");
        found.extend(damages_of_deleted(&**disk, &path, listed.rows));
    }
    if let Some(name) = &listed.changed {
        let path = format!("{path}/{name}");
        found.extend(damages_of_changes(&**disk, &path, listed.rows));
    }
    found.extend(Commit::damages(&**disk, &format!("{path}/{COMMIT}")));
    let files = match Files::read(disk, &path) {
        Ok(files) => files,
        Err(_) => return found, // the commit, whose damage is noted
    };
    for (name, _) in &files.commit.files {
        let damages = match name.as_str() {
            ROWS => files.rows().map(|rows| rows.damages()),
            POSITIONS => files
                .open(name)
                .map(|file| damages_of_positions(&files, &file)),
            _ => files.open(name).map(|file| file.damages()),
        };
        match damages {
            Ok(damages) => found.extend(damages),
            Err(error) => found.push(error),
        }
    }
    if found.is_empty() {
        found.extend(Opened::open(disk, &path, listed.rows).err());
    }
    found
}

/// The damage of the file `positions`. Damage of pairs alone is named so.
fn damages_of_positions(files: &Files<'_>, file: &CheckedFile) -> Vec<Error> {
    let pairs = files.commit.section(Kind::Pairs);
    let named = |error| match error {
        Error::Corrupt { file, offset, .. } if pairs.is_some_and(|pairs| pairs.start <= offset) => {
            Error::Corrupt {
                file,
                offset,
                what: "the rows of pairs of words are damaged; phrases read all places, and OPTIMIZE writes them again",
            }
        }
        other => other,
    };
    file.damages().into_iter().map(named).collect()
}

/// The result of [`saved_rows`]: the rows of a damaged segment that could not be read.
#[derive(Debug, Default)]
pub struct SavedRows {
    /// Ids of the rows whose content cannot be read, by rising doc. Rows without a readable id are
    /// in `unknown` only.
    pub lost: Vec<u64>,
    /// Number of rows whose id cannot be read.
    pub unknown: u32,
    /// Whether the file of deleted rows could not be read. Then deleted rows may be among those
    /// visited.
    pub deleted_unknown: bool,
    /// Whether the file of changed values could not be read. Then rows are visited as they were written.
    pub changes_unknown: bool,
}

/// Calls `visit` with the id and the columns of every readable row that is not deleted, by rising
/// id. `dir`: the table's directory.
///
/// # Errors
/// `Io`, `Corrupt` or `NewerFormat` where nothing can be read: the commit or the whole file of rows
/// is damaged.
pub fn saved_rows(
    disk: &Arc<dyn Disk>,
    dir: &str,
    listed: &SegmentFiles,
    visit: &mut dyn FnMut(u64, Vec<Value>),
) -> Result<SavedRows> {
    let path = format!("{dir}/{}", listed.directory);
    let files = Files::read(disk, &path)?;
    if files.commit.rows != listed.rows {
        return Err(files.corrupt("not as many rows as the manifest says"));
    }
    let rows = files.rows()?;
    let mut saved = SavedRows::default();
    let deleted = match &listed.deleted {
        None => RoaringBitmap::new(),
        Some(name) => match read_deleted(&**disk, &format!("{path}/{name}"), listed.rows) {
            Ok(deleted) => deleted,
            Err(_) => {
                saved.deleted_unknown = true;
                RoaringBitmap::new()
            }
        },
    };
    let changes = match &listed.changed {
        None => Changes::default(),
        Some(name) => match read_changes(&**disk, &format!("{path}/{name}"), listed.rows) {
            Ok(changes) => changes,
            Err(_) => {
                saved.changes_unknown = true;
                Changes::default()
            }
        },
    };
    let mut seen = BTreeSet::new();
    for doc in (0..listed.rows).filter(|doc| !deleted.contains(*doc)) {
        let Ok(id) = rows.id(doc) else {
            saved.unknown += 1;
            continue;
        };
        match rows.row(doc).and_then(|row| row.decode()).ok().flatten() {
            Some(mut columns) if seen.insert(id) => {
                changes.apply(doc, &mut columns);
                visit(id, columns);
            }
            _ => saved.lost.push(id),
        }
    }
    Ok(saved)
}
