//! Replacing a small file so that a reader finds the old content or the new, never a mixture.

use crate::Disk;
use std::io::{self, ErrorKind};

/// Replaces (or creates) the file at `path` with one that holds `bytes`: written under a temporary name, synced, renamed
/// over `path`, and the folder synced. When it returns, the new content is durable; after an error, or a crash before,
/// `path` holds the old content or the new. Cost: two syncs. The temporary name is `path` with `.tmp` behind it;
/// the owner of the folder may remove such files when it opens.
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

/// Makes a folder where it is missing; its name is durable when this returns, the names of its parents are not. Cost: a sync.
pub fn make_dir(disk: &dyn Disk, dir: &str) -> io::Result<()> {
    disk.create_dir(dir)?;
    disk.sync_dir(parent(dir))
}

/// The folder that a path lies in.
fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}
