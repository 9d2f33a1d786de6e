//! Copies of files from one disk to another.

use crate::{Disk, File};
use std::io;
use std::sync::Arc;

/// Read and written at once, as segments are. Bytes.
const PIECE_BYTES: u64 = 2 << 20;

/// How a file came to the other disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copied {
    /// As a second name of the same file.
    Linked,
    /// Byte by byte.
    Written,
}

/// Copies the first `bytes` of an open file to a new one; its content is durable when this returns, its name is not.
/// Error `AlreadyExists` where `to` holds something of that name.
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

/// Gives a file that is never written again to another disk: a link where both lie on one device, else a copy. Durable as
/// [`copy_bytes`] says.
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
