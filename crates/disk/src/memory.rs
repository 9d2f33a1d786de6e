//! A disk in memory. Every write is at once as durable as it will ever be.

use crate::namespace::{Change, Entry, Namespace};
use crate::{Bytes, Disk, File, Lock, Space};
use std::collections::BTreeSet;
use std::io::{self, ErrorKind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

/// Size that the disk reports, in bytes.
const TOTAL_BYTES: u64 = 1 << 40;

/// A disk in memory. A clone is another handle of the same disk.
#[derive(Clone)]
pub struct MemoryDisk {
    names: Arc<Mutex<Namespace<Arc<MemoryFile>>>>,
    locks: LockTable,
}

impl MemoryDisk {
    /// An empty disk.
    pub fn new() -> Self {
        Self::with_names(Namespace::new())
    }

    pub(crate) fn with_names(names: Namespace<Arc<MemoryFile>>) -> Self {
        MemoryDisk {
            names: Arc::new(Mutex::new(names)),
            locks: LockTable::default(),
        }
    }

    pub(crate) fn names(&self) -> MutexGuard<'_, Namespace<Arc<MemoryFile>>> {
        held(&self.names)
    }
}

impl Default for MemoryDisk {
    fn default() -> Self {
        Self::new()
    }
}

impl Disk for MemoryDisk {
    fn open(&self, path: &str) -> io::Result<Arc<dyn File>> {
        Ok(self.names().file(path)?)
    }

    fn open_no_link(&self, path: &str) -> io::Result<Arc<dyn File>> {
        Ok(self.names().file_no_link(path)?)
    }

    fn create(&self, path: &str) -> io::Result<Arc<dyn File>> {
        let file = Arc::new(MemoryFile::default());
        let mut names = self.names();
        let step = names.plan_create(path, Arc::clone(&file))?;
        names.apply(&step);
        Ok(file)
    }

    fn exists(&self, path: &str) -> io::Result<bool> {
        Ok(self.names().find(path)?.is_some())
    }

    fn list(&self, dir: &str) -> io::Result<Vec<String>> {
        self.names().names(dir)
    }

    fn create_dir(&self, dir: &str) -> io::Result<()> {
        let mut names = self.names();
        let steps = names.plan_create_dir(dir)?;
        apply_all(&mut names, &steps);
        Ok(())
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut names = self.names();
        let step = names.plan_rename(from, to)?;
        names.apply(&step);
        Ok(())
    }

    fn remove(&self, path: &str) -> io::Result<()> {
        let mut names = self.names();
        let step = names.plan_remove(path)?;
        names.apply(&step);
        Ok(())
    }

    fn remove_dir(&self, dir: &str) -> io::Result<()> {
        let mut names = self.names();
        let steps = names.plan_remove_dir(dir)?;
        apply_all(&mut names, &steps);
        Ok(())
    }

    fn symlink(&self, target: &str, link: &str) -> io::Result<()> {
        let mut names = self.names();
        let step = names.plan_symlink(target, link)?;
        names.apply(&step);
        Ok(())
    }

    fn sync_dir(&self, dir: &str) -> io::Result<()> {
        self.names().folder(dir).map(|_| ())
    }

    fn space(&self) -> io::Result<Space> {
        let used: u64 = self
            .names()
            .files()
            .iter()
            .map(|file| file.read().len() as u64)
            .sum();
        Ok(Space {
            free_bytes: TOTAL_BYTES.saturating_sub(used),
            total_bytes: TOTAL_BYTES,
        })
    }

    fn lock(&self, path: &str) -> io::Result<Box<dyn Lock>> {
        if let Some(Entry::Folder(_)) = self.names().find(path)? {
            return Err(ErrorKind::IsADirectory.into());
        }
        self.locks.take(path)
    }
}

fn apply_all<F: Clone>(names: &mut Namespace<F>, steps: &[Change<F>]) {
    for step in steps {
        names.apply(step);
    }
}

/// A file in memory: its bytes behind a lock that readers share.
#[derive(Debug, Default)]
pub(crate) struct MemoryFile(RwLock<Vec<u8>>);

impl MemoryFile {
    pub(crate) fn holding(content: Vec<u8>) -> Self {
        MemoryFile(RwLock::new(content))
    }

    pub(crate) fn read(&self) -> std::sync::RwLockReadGuard<'_, Vec<u8>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> std::sync::RwLockWriteGuard<'_, Vec<u8>> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl File for MemoryFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.read().len() as u64)
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        copy_out(&self.read(), offset, buf)
    }

    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        copy_in(&mut self.write(), offset, data)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.write().resize(in_memory(len)?, 0);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn map(&self) -> io::Result<Bytes> {
        Ok(Arc::new(self.read().clone()))
    }
}

/// Fills `buf` from `content[offset..]`. Error: `UnexpectedEof` if it is shorter.
pub(crate) fn copy_out(content: &[u8], offset: u64, buf: &mut [u8]) -> io::Result<()> {
    let start = in_memory(offset)?;
    let wanted = start
        .checked_add(buf.len())
        .and_then(|end| content.get(start..end));
    match wanted {
        Some(bytes) => {
            buf.copy_from_slice(bytes);
            Ok(())
        }
        None => Err(ErrorKind::UnexpectedEof.into()),
    }
}

/// Writes `data` over `content[offset..]`, which grows with zeroes if necessary.
pub(crate) fn copy_in(content: &mut Vec<u8>, offset: u64, data: &[u8]) -> io::Result<()> {
    let start = in_memory(offset)?;
    let end = start
        .checked_add(data.len())
        .ok_or(ErrorKind::InvalidInput)?;
    if content.len() < end && !data.is_empty() {
        content.resize(end, 0);
    }
    if let Some(target) = content.get_mut(start..end) {
        target.copy_from_slice(data);
    }
    Ok(())
}

pub(crate) fn in_memory(bytes: u64) -> io::Result<usize> {
    usize::try_from(bytes).map_err(|_| ErrorKind::InvalidInput.into())
}

pub(crate) fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The names of locks that are held on a disk of this process.
#[derive(Clone, Default)]
pub(crate) struct LockTable(Arc<Mutex<BTreeSet<String>>>);

impl LockTable {
    pub(crate) fn take(&self, path: &str) -> io::Result<Box<dyn Lock>> {
        if held(&self.0).insert(path.to_owned()) {
            return Ok(Box::new(HeldLock {
                table: self.clone(),
                path: path.to_owned(),
            }));
        }
        Err(in_use(path, &std::process::id().to_string()))
    }
}

/// The error for a lock that is held by `holder`: a process id as text, or empty if unknown.
pub(crate) fn in_use(path: &str, holder: &str) -> io::Error {
    let holder = if holder.is_empty() {
        "an unknown process".to_owned()
    } else {
        format!("process {holder}")
    };
    io::Error::new(ErrorKind::WouldBlock, format!("{path} is held by {holder}"))
}

struct HeldLock {
    table: LockTable,
    path: String,
}

impl Lock for HeldLock {}

impl Drop for HeldLock {
    fn drop(&mut self) {
        held(&self.table.0).remove(&self.path);
    }
}
