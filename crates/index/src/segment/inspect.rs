//! Looking at a segment without trusting it: every block verified, and the rows that can still be read.

use std::collections::BTreeSet;
use std::sync::Arc;

use disk::Disk;
use query::row;
use query::value::Value;
use roaring::RoaringBitmap;

use super::deleted::read_deleted;
use super::opened::Opened;
use super::reader::Files;
use crate::error::{Error, Result};
use crate::files::SegmentFiles;

/// Everything that is wrong with the files of a segment, by file and offset; empty for a sound one. `dir` is the table's
/// directory. Cost: reads all of it.
pub fn verify(disk: &Arc<dyn Disk>, dir: &str, listed: &SegmentFiles) -> Vec<Error> {
    let path = format!("{dir}/{}", listed.directory);
    let mut found = Vec::new();
    if let Some(name) = &listed.deleted {
        found.extend(read_deleted(&**disk, &format!("{path}/{name}"), listed.rows).err());
    }
    let files = match Files::read(disk, &path) {
        Ok(files) => files,
        Err(error) => {
            found.push(error);
            return found;
        }
    };
    for (name, _) in &files.commit.files {
        match files.open(name) {
            Ok(file) => found.extend(file.damages()),
            Err(error) => found.push(error),
        }
    }
    if found.is_empty() {
        found.extend(Opened::open(disk, &path, listed.rows).err());
    }
    found
}

/// What is left of a damaged segment.
#[derive(Debug, Default)]
pub struct SavedRows {
    /// Ids that cannot be read any more are among neither; the rows whose content cannot be read are here, by id.
    pub lost: Vec<u64>,
    /// Rows of which not even the id can be read.
    pub unknown: u32,
    /// Whether the file of deleted rows could not be read, so that deleted rows may be among those shown.
    pub deleted_unknown: bool,
}

/// Shows every row of a damaged segment that can be read, with its id and columns, by rising id.
///
/// # Errors
/// Where nothing can be read: the commit or the file of rows is damaged as a whole.
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
    let mut seen = BTreeSet::new();
    for doc in (0..listed.rows).filter(|doc| !deleted.contains(*doc)) {
        let Ok(id) = rows.id(doc) else {
            saved.unknown += 1;
            continue;
        };
        match rows.row(doc).ok().and_then(row::decode) {
            Some(columns) if seen.insert(id) => visit(id, columns),
            _ => saved.lost.push(id),
        }
    }
    Ok(saved)
}
