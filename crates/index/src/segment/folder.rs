//! tantivy's view of a segment's directory.
//!
//! Three of tantivy's files are kept: `terms`, `postings` and `positions`. Whatever else it wants to see (its own list of
//! files, its document store, its norms and columns) holds nothing of ours and lives in memory while a segment is written
//! or opened.

use std::collections::HashMap;
use std::fmt;
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use disk::Disk;
use tantivy::HasLen;
use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    AntiCallToken, Directory, DirectoryLock, FileHandle, Lock, OwnedBytes, TerminatingWrite,
    WatchCallback, WatchHandle, WritePtr,
};

use super::checked::{CheckedFile, SummedWriter, Sums};
use crate::error::Error;

/// Our name and tantivy's extension of each file that is kept.
pub(super) const KEPT: [(&str, &str); 3] =
    [("terms", "term"), ("postings", "idx"), ("positions", "pos")];

/// A directory for one segment, either being written or open for reading.
#[derive(Clone)]
pub(super) struct Folder {
    disk: Arc<dyn Disk>,
    path: String,
    contents: Arc<Mutex<Contents>>,
}

#[derive(Default)]
struct Contents {
    memory: HashMap<PathBuf, Arc<Vec<u8>>>,
    /// Sealed files, by our name.
    sealed: HashMap<&'static str, Arc<CheckedFile>>,
    /// Files written to the end, by our name.
    written: Vec<(&'static str, Sums)>,
}

impl Folder {
    /// A directory that a segment is to be written into; it exists.
    pub(super) fn for_writing(disk: Arc<dyn Disk>, path: String) -> Folder {
        Folder {
            disk,
            path,
            contents: Arc::default(),
        }
    }

    /// A directory with the kept files of a segment, by our names.
    pub(super) fn for_reading(
        disk: Arc<dyn Disk>,
        path: String,
        sealed: HashMap<&'static str, Arc<CheckedFile>>,
    ) -> Folder {
        let contents = Contents {
            sealed,
            ..Contents::default()
        };
        Folder {
            disk,
            path,
            contents: Arc::new(Mutex::new(contents)),
        }
    }

    /// The kept files that were written, durable but for their names.
    pub(super) fn take_written(&self) -> Vec<(&'static str, Sums)> {
        std::mem::take(&mut self.contents().written)
    }

    fn contents(&self) -> MutexGuard<'_, Contents> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Folder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Folder").field(&self.path).finish()
    }
}

/// Our name for a file of tantivy's, if it is kept.
fn kept(path: &Path) -> Option<&'static str> {
    let extension = path.extension()?;
    KEPT.iter()
        .find(|(_, theirs)| extension == *theirs)
        .map(|(ours, _)| *ours)
}

impl Directory for Folder {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        let contents = self.contents();
        if let Some(file) = kept(path).and_then(|name| contents.sealed.get(name)) {
            return Ok(Arc::new(SealedHandle(Arc::clone(file))));
        }
        match contents.memory.get(path) {
            Some(bytes) => Ok(Arc::new(OwnedBytes::new(bytes.to_vec()))),
            None => Err(OpenReadError::FileDoesNotExist(path.to_owned())),
        }
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        match self.contents().memory.remove(path) {
            Some(_) => Ok(()),
            None => Err(DeleteError::FileDoesNotExist(path.to_owned())),
        }
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        let contents = self.contents();
        let sealed = kept(path).is_some_and(|name| contents.sealed.contains_key(name));
        Ok(sealed || contents.memory.contains_key(path))
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        let folder = self.clone();
        let writer: Box<dyn TerminatingWrite + Send + Sync> = match kept(path) {
            None => Box::new(MemoryWriter {
                folder,
                path: path.to_owned(),
                bytes: Vec::new(),
            }),
            Some(name) => {
                let file = format!("{}/{name}", self.path);
                let writer = SummedWriter::create(&*self.disk, &file)
                    .map_err(|error| OpenWriteError::wrap_io_error(error, path.to_owned()))?;
                Box::new(KeptWriter {
                    folder,
                    name,
                    writer,
                })
            }
        };
        Ok(WritePtr::new(writer))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        match self.contents().memory.get(path) {
            Some(bytes) => Ok(bytes.to_vec()),
            None => Err(OpenReadError::FileDoesNotExist(path.to_owned())),
        }
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        self.contents()
            .memory
            .insert(path.to_owned(), Arc::new(data.to_vec()));
        Ok(())
    }

    /// Nothing: the seal syncs the folder when every file stands in it.
    fn sync_directory(&self) -> io::Result<()> {
        Ok(())
    }

    /// Nothing to lock: a segment is written by one job and never again.
    fn acquire_lock(&self, _: &Lock) -> Result<DirectoryLock, LockError> {
        Ok(DirectoryLock::from(Box::new(())))
    }

    fn watch(&self, _: WatchCallback) -> tantivy::Result<WatchHandle> {
        Ok(WatchHandle::empty())
    }
}

/// A kept file, read by tantivy. Bytes are verified, then copied: tantivy wants to own them, and to lend it the map would
/// take `unsafe`. What it reads is one word's postings at a time, and its dictionary once.
struct SealedHandle(Arc<CheckedFile>);

impl fmt::Debug for SealedHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SealedHandle").field(&self.0.path()).finish()
    }
}

impl HasLen for SealedHandle {
    fn len(&self) -> usize {
        self.0.len()
    }
}

impl FileHandle for SealedHandle {
    fn read_bytes(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        match self.0.range(range.start, range.end) {
            Ok(bytes) => Ok(OwnedBytes::new(bytes.to_vec())),
            Err(error) => Err(io::Error::new(io::ErrorKind::InvalidData, error)),
        }
    }
}

/// Takes our error out of what tantivy made of it.
pub(super) fn unwrap_error(file: &str, error: &io::Error) -> Error {
    match error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<Error>())
    {
        Some(Error::Corrupt { file, offset, what }) => Error::Corrupt {
            file: file.clone(),
            offset: *offset,
            what,
        },
        _ => Error::io(file, io::Error::new(error.kind(), error.to_string())),
    }
}

/// As [`unwrap_error`], for what tantivy's own functions return.
pub(super) fn unwrap_tantivy(file: &str, error: &tantivy::TantivyError) -> Error {
    use tantivy::TantivyError;
    match error {
        TantivyError::IoError(error) => unwrap_error(file, error),
        TantivyError::OpenReadError(OpenReadError::IoError { io_error, .. })
        | TantivyError::OpenWriteError(OpenWriteError::IoError { io_error, .. }) => {
            unwrap_error(file, io_error)
        }
        other => Error::Internal {
            what: format!("{file}: {other}"),
        },
    }
}

/// A kept file being written.
struct KeptWriter {
    folder: Folder,
    name: &'static str,
    writer: SummedWriter,
}

impl Write for KeptWriter {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.writer.write(data)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

impl TerminatingWrite for KeptWriter {
    fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
        let sums = self.writer.finish()?;
        self.folder.contents().written.push((self.name, sums));
        Ok(())
    }
}

/// A file that is not kept.
struct MemoryWriter {
    folder: Folder,
    path: PathBuf,
    bytes: Vec<u8>,
}

impl Write for MemoryWriter {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.bytes.extend_from_slice(data);
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl TerminatingWrite for MemoryWriter {
    fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
        let bytes = Arc::new(std::mem::take(&mut self.bytes));
        self.folder
            .contents()
            .memory
            .insert(self.path.clone(), bytes);
        Ok(())
    }
}
