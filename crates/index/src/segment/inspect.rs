//! Looking at a segment without trusting it: every block verified, and the rows that can still be read.

use std::collections::BTreeSet;
use std::sync::Arc;

use disk::Disk;
use query::value::Value;
use roaring::RoaringBitmap;

use super::checked::CheckedFile;
use super::commit::{Commit, Kind};
use super::{COMMIT, ROWS, Segment, read_deleted};
use crate::error::{Error, Result};
use crate::files::SegmentFiles;
use crate::row;

/// Everything that is wrong with the files of a segment, by file and offset; empty for a sound one. `dir` is the table's
/// directory. Cost: reads all of it.
pub fn verify(disk: &Arc<dyn Disk>, dir: &str, listed: &SegmentFiles) -> Vec<Error> {
    let path = format!("{dir}/{}", listed.directory);
    let mut found = Vec::new();
    if let Some(name) = &listed.deleted {
        found.extend(read_deleted(&**disk, &format!("{path}/{name}"), listed.rows).err());
    }
    let commit = match Commit::read(&**disk, &format!("{path}/{COMMIT}")) {
        Ok(commit) => commit,
        Err(error) => {
            found.push(error);
            return found;
        }
    };
    for (name, sums) in &commit.files {
        match CheckedFile::open(&**disk, format!("{path}/{name}"), sums.clone()) {
            Ok(file) => found.extend(file.damages()),
            Err(error) => found.push(error),
        }
    }
    if found.is_empty() {
        found.extend(Segment::open(disk, &path, listed.rows).err());
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
    let rows = Rows::open(&**disk, &path, listed.rows)?;
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
        match rows.columns(doc) {
            Some(columns) if seen.insert(id) => visit(id, columns),
            _ => saved.lost.push(id),
        }
    }
    Ok(saved)
}

/// The file of rows, without the index beside it.
struct Rows {
    file: CheckedFile,
    ids: usize,
    ends: usize,
    content: (usize, u64),
}

impl Rows {
    fn open(disk: &dyn Disk, path: &str, rows: u32) -> Result<Rows> {
        let commit_path = format!("{path}/{COMMIT}");
        let commit = Commit::read(disk, &commit_path)?;
        let corrupt = |what| Error::Corrupt {
            file: commit_path.clone(),
            offset: 0,
            what,
        };
        let sums = commit.files.iter().find(|(name, _)| name == ROWS);
        let (_, sums) = sums.ok_or_else(|| corrupt("a file is not listed"))?;
        let section = |kind| {
            let section = commit.section(kind);
            section.ok_or_else(|| corrupt("a section is missing"))
        };
        let content = section(Kind::Rows)?;
        if commit.rows != rows {
            return Err(corrupt("not as many rows as the manifest says"));
        }
        Ok(Rows {
            ids: section(Kind::Ids)?.start as usize,
            ends: section(Kind::RowEnds)?.start as usize,
            content: (content.start as usize, content.bytes),
            file: CheckedFile::open(disk, format!("{path}/{ROWS}"), sums.clone())?,
        })
    }

    fn id(&self, doc: u32) -> Result<u64> {
        self.file.number(self.ids, doc as usize)
    }

    fn columns(&self, doc: u32) -> Option<Vec<Value>> {
        let end_of = |doc: u32| self.file.number(self.ends, doc as usize).ok();
        let start = if doc == 0 { 0 } else { end_of(doc - 1)? };
        let end = end_of(doc)?;
        if start > end || end > self.content.1 {
            return None;
        }
        let base = self.content.0;
        let bytes = self
            .file
            .range(base + start as usize, base + end as usize)
            .ok()?;
        row::decode(bytes)
    }
}
