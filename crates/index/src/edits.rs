//! Deleted rows and changed values of one segment, and their files.
//!
//! Both are written at a checkpoint, whole and under new names; the segment's own files never change. Example: a seal finds row 1
//! deleted and column 2 of row 3 changed. It writes `deleted-00000009` and `changed-00000009` into the segment's directory, and
//! the manifest then names them.

use std::sync::Arc;

use disk::Disk;
use roaring::RoaringBitmap;

use crate::changes::{Changes, read_changes, write_changes};
use crate::error::{Error, Result};
use crate::files::SegmentFiles;
use crate::segment::{read_deleted, write_deleted};

/// Deleted rows and changed values, by doc. Cloning shares what is large.
#[derive(Clone, Default)]
pub(crate) struct Edits {
    pub(crate) deleted: Arc<RoaringBitmap>,
    pub(crate) changes: Changes,
}

/// Names of the files of edits, inside the segment's directory; `None` where there is nothing to write.
#[derive(Clone, Debug, Default)]
pub(crate) struct EditFiles {
    pub(crate) deleted: Option<String>,
    pub(crate) changed: Option<String>,
}

/// Name of a file of deleted rows; `number` is never used twice in a table.
fn deleted_name(number: u64) -> String {
    format!("deleted-{number:08}")
}

/// Name of a file of changed values; `number` is never used twice in a table.
fn changed_name(number: u64) -> String {
    format!("changed-{number:08}")
}

/// Whether a file in a segment's directory holds edits. Such a file goes once no manifest names it.
pub(crate) fn is_edit_file(name: &str) -> bool {
    name.starts_with("deleted-") || name.starts_with("changed-")
}

impl Edits {
    /// The edits that came after `old`, in the rows of another segment. `docs`: by row the new row; rows deleted in `old` have
    /// none.
    pub(crate) fn since(&self, old: &Edits, docs: &[u32], out: &mut Edits) {
        let deleted = &*self.deleted - &*old.deleted;
        let new = deleted.iter().map(|doc| docs[doc as usize]);
        Arc::make_mut(&mut out.deleted).extend(new);
        self.changes.since(&old.changes, &mut |column, doc, value| {
            if !old.deleted.contains(doc) {
                out.changes.set(column, docs[doc as usize], value);
            }
        });
    }

    /// The files that [`Edits::write`] makes.
    pub(crate) fn files(&self, number: u64) -> EditFiles {
        EditFiles {
            deleted: (!self.deleted.is_empty()).then(|| deleted_name(number)),
            changed: (!self.changes.is_empty()).then(|| changed_name(number)),
        }
    }

    /// Writes the files into the directory of a segment of `rows` rows; all is durable on return. Errors: `Io`.
    pub(crate) fn write(
        &self,
        disk: &dyn Disk,
        path: &str,
        rows: u32,
        number: u64,
    ) -> Result<EditFiles> {
        let files = self.files(number);
        if let Some(name) = &files.deleted {
            write_deleted(disk, &format!("{path}/{name}"), rows, &self.deleted)?;
        }
        if let Some(name) = &files.changed {
            write_changes(disk, &format!("{path}/{name}"), rows, &self.changes)?;
        }
        if files.names().next().is_some() {
            let synced = disk.sync_dir(path);
            synced.map_err(|error| Error::io(path, error))?;
        }
        Ok(files)
    }

    /// Reads the files that a manifest names; `path`: the segment's directory. Errors: `Io`, `Corrupt`, `NewerFormat`.
    pub(crate) fn read(disk: &dyn Disk, path: &str, listed: &SegmentFiles) -> Result<Edits> {
        let mut edits = Edits::default();
        if let Some(name) = &listed.deleted {
            let deleted = read_deleted(disk, &format!("{path}/{name}"), listed.rows)?;
            edits.deleted = Arc::new(deleted);
        }
        if let Some(name) = &listed.changed {
            edits.changes = read_changes(disk, &format!("{path}/{name}"), listed.rows)?;
        }
        Ok(edits)
    }
}

impl EditFiles {
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.deleted
            .as_deref()
            .into_iter()
            .chain(self.changed.as_deref())
    }
}
