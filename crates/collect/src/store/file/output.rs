//! The file that a store writes to: one write a call, and nothing of a write that failed.
//!
//! Invariants:
//! - `end` is the length of the file without what a failed write left, which is cut off before anything else is written.
//! - `is_dirty` as long as bytes were written that no sync has covered.
//! - At most [`OPEN_FILES_MAX`] files of the process stay open between two calls. Others are opened for the call.

use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use disk::{Disk, File};

/// Files of stores that stay open between two calls, over the whole process. 10,000 categories need no 10,000 descriptors.
pub(super) const OPEN_FILES_MAX: usize = 512;

static OPEN_FILES: AtomicUsize = AtomicUsize::new(0);

/// An open file; counted if it may stay open.
struct Handle {
    file: Arc<dyn File>,
    is_counted: bool,
}

impl Handle {
    fn new(file: Arc<dyn File>) -> Handle {
        let room = |open: usize| (open < OPEN_FILES_MAX).then_some(open + 1);
        let counted = OPEN_FILES.fetch_update(Ordering::Relaxed, Ordering::Relaxed, room);
        Handle {
            file,
            is_counted: counted.is_ok(),
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        if self.is_counted {
            OPEN_FILES.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// A file and its end. It is open or not; each call opens it if it has to.
pub(super) struct Output {
    path: String,
    handle: Option<Handle>,
    end: u64,
    /// A failed write may have left bytes behind `end`.
    is_torn: bool,
    is_dirty: bool,
}

impl Output {
    /// Opens or creates the file. Error: `InvalidInput` where it is a symbolic link.
    pub(super) fn open(disk: &dyn Disk, path: &str) -> io::Result<Output> {
        let file = match disk.open_no_link(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => disk.create(path)?,
            file => file?,
        };
        Ok(Output {
            path: path.to_owned(),
            end: file.len()?,
            handle: Some(Handle::new(file)),
            is_torn: false,
            is_dirty: false,
        })
    }

    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// Length of the file. Bytes.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    pub(super) fn is_dirty(&self) -> bool {
        self.is_dirty
    }

    /// Makes the file ready for a write: opens it, cuts off what a failed write left, and takes its length again, which another
    /// program may have changed. Errors: `NotFound` if it was moved away or removed, `InvalidInput` if a link stands there.
    pub(super) fn ready(&mut self, disk: &dyn Disk) -> io::Result<()> {
        if self.handle.is_some() && !disk.exists(&self.path)? {
            return Err(ErrorKind::NotFound.into());
        }
        let file = self.file(disk)?;
        let length = file.len()?;
        if self.is_torn && length > self.end {
            file.set_len(self.end)?;
        } else {
            self.end = length;
        }
        self.is_torn = false;
        Ok(())
    }

    /// Appends. After an error nothing of `bytes` is in the file, or `ready` has to cut it off.
    pub(super) fn write(&mut self, disk: &dyn Disk, bytes: &[u8]) -> io::Result<()> {
        let file = self.file(disk)?;
        let written = file.write_at(self.end, bytes);
        self.is_dirty = true;
        match written {
            Ok(()) => self.end += bytes.len() as u64,
            Err(_) => {
                self.is_torn = file.set_len(self.end).is_err();
                self.handle = None;
            }
        }
        written
    }

    /// Ends the last line of the file, unless it has ended.
    pub(super) fn end_line(&mut self, disk: &dyn Disk) -> io::Result<()> {
        let Some(last) = self.end.checked_sub(1) else {
            return Ok(());
        };
        let mut byte = [0];
        self.file(disk)?.read_at(last, &mut byte)?;
        match byte {
            [b'\n'] => Ok(()),
            _ => self.write(disk, b"\n"),
        }
    }

    /// Makes durable what was written. A file that is no longer open, and is gone or shorter now, is another one: an error, once.
    pub(super) fn sync(&mut self, disk: &dyn Disk) -> io::Result<()> {
        if !self.is_dirty {
            return Ok(());
        }
        if self.is_torn {
            self.ready(disk)?;
        }
        let file = match &self.handle {
            Some(handle) => Arc::clone(&handle.file),
            None => disk.open_no_link(&self.path).inspect_err(|error| {
                self.is_dirty = !is_elsewhere(error);
            })?,
        };
        self.is_dirty = false;
        if self.handle.is_none() && file.len()? < self.end {
            let message = format!("{:?} was replaced before its sync", self.path);
            return Err(io::Error::other(message));
        }
        file.sync()
    }

    /// Whether the path still leads to this file, as far as its length can tell.
    pub(super) fn is_in_place(&self, disk: &dyn Disk) -> io::Result<bool> {
        match disk.open_no_link(&self.path) {
            Err(error) if is_elsewhere(&error) => Ok(false),
            Err(error) => Err(error),
            Ok(file) => match &self.handle {
                Some(handle) => Ok(file.len()? == handle.file.len()?),
                None => Ok(true),
            },
        }
    }

    /// Closes the file until the next call. With `must`, also one that may stay open.
    pub(super) fn release(&mut self, must: bool) {
        self.handle.take_if(|handle| must || !handle.is_counted);
    }

    fn file(&mut self, disk: &dyn Disk) -> io::Result<Arc<dyn File>> {
        if let Some(handle) = &self.handle {
            return Ok(Arc::clone(&handle.file));
        }
        let file = disk.open_no_link(&self.path)?;
        self.handle = Some(Handle::new(Arc::clone(&file)));
        Ok(file)
    }
}

/// Whether the file is no longer at its path: nothing is there, or a symbolic link.
pub(super) fn is_elsewhere(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::InvalidInput)
}
