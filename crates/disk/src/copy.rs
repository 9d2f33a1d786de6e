//! Copying files from one disk to another.

use crate::{Disk, File};
use std::io;
use std::sync::Arc;

/// Bytes read and written at once; segments are copied this way.
const PIECE_BYTES: u64 = 2 << 20;

/// The way in which a file came to the other disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copied {
    /// By a second name of the same file.
    Linked,
    /// Byte by byte.
    Written,
}

/// Copies the first `bytes` of an open file to a new file. Its content is durable when this returns, its name is not.
/// Error: `AlreadyExists`.
pub fn copy_bytes(from: &dyn File, bytes: u64, to: &dyn Disk, path: &str) -> io::Result<()> {
    let target = to.create(path)?;
    let mut piece = Vec::new();
    let mut offset = 0;
    while offset < bytes {
        piece.resize(PIECE_BYTES.min(bytes - offset) as usize, 0);
        from.read_at(offset, &mut piece)?;
        target.write_at(offset, &piece)?;
        offset += piece.len() as u64;
    }
    target.sync()
}

/// Copies a file that is never written again to another disk: by a hard link if both lie on one device, else by its
/// bytes. A copy's content is durable as [`copy_bytes`] says.
pub fn link_or_copy(
    from: &Arc<dyn Disk>,
    path: &str,
    to: &dyn Disk,
    to_path: &str,
) -> io::Result<Copied> {
    if let (Some(source), Some(target)) = (from.place(path), to.place(to_path))
        && std::fs::hard_link(source, target).is_ok()
    {
        return Ok(Copied::Linked);
    }
    let file = from.open(path)?;
    copy_bytes(&*file, file.len()?, to, to_path)?;
    Ok(Copied::Written)
}
