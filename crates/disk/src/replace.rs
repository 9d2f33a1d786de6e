//! Replacing a small file: a reader finds the old content or the new, never a mixture.

use crate::Disk;
use std::io::{self, ErrorKind};

/// Replaces or creates the file at `path`, so that it holds `bytes`. Four steps: write and sync a temporary file,
/// rename it over `path`, sync the folder. When this returns, the new content is durable. After an error or a crash,
/// `path` holds the old content or the new. Cost: two syncs. The temporary name is `path` with `.tmp` behind it; the
/// owner of the folder may remove such files when it opens.
pub fn replace_file(disk: &dyn Disk, path: &str, bytes: &[u8]) -> io::Result<()> {
    let temporary = format!("{path}.tmp");
    match disk.remove(&temporary) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let file = disk.create(&temporary)?;
    file.write_at(0, bytes)?;
    file.sync()?;
    disk.rename(&temporary, path)?;
    disk.sync_dir(parent(path))
}

/// Creates a folder unless it exists. Its name is durable when this returns, the names of its parents are not. Cost:
/// a sync.
pub fn make_dir(disk: &dyn Disk, dir: &str) -> io::Result<()> {
    disk.create_dir(dir)?;
    disk.sync_dir(parent(dir))
}

/// The folder of a path.
fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}
