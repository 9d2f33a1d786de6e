//! A disk on which nothing is removed for a while: what a reading leaves out must stay until what replaces it is durable.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use disk::{Disk, File, Lock, Space};

/// A disk over another one. It keeps files that the engine removes, and hands all other calls on.
pub(super) struct Keeping {
    disk: Arc<dyn Disk>,
    keeps: AtomicBool,
}

impl Keeping {
    pub(super) fn new(disk: Arc<dyn Disk>) -> Keeping {
        Keeping {
            disk,
            keeps: AtomicBool::new(true),
        }
    }

    /// From here on removals are done.
    pub(super) fn let_go(&self) {
        self.keeps.store(false, Ordering::Relaxed);
    }

    fn keeps(&self) -> bool {
        self.keeps.load(Ordering::Relaxed)
    }
}

impl Disk for Keeping {
    fn open(&self, path: &str) -> io::Result<Arc<dyn File>> {
        self.disk.open(path)
    }

    fn open_no_link(&self, path: &str) -> io::Result<Arc<dyn File>> {
        self.disk.open_no_link(path)
    }

    fn create(&self, path: &str) -> io::Result<Arc<dyn File>> {
        self.disk.create(path)
    }

    fn exists(&self, path: &str) -> io::Result<bool> {
        self.disk.exists(path)
    }

    fn list(&self, dir: &str) -> io::Result<Vec<String>> {
        self.disk.list(dir)
    }

    fn create_dir(&self, dir: &str) -> io::Result<()> {
        self.disk.create_dir(dir)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.disk.rename(from, to)
    }

    fn remove(&self, path: &str) -> io::Result<()> {
        if self.keeps() {
            return Ok(());
        }
        self.disk.remove(path)
    }

    fn remove_dir(&self, dir: &str) -> io::Result<()> {
        if self.keeps() {
            return Ok(());
        }
        self.disk.remove_dir(dir)
    }

    fn symlink(&self, target: &str, link: &str) -> io::Result<()> {
        self.disk.symlink(target, link)
    }

    fn sync_dir(&self, dir: &str) -> io::Result<()> {
        self.disk.sync_dir(dir)
    }

    fn space(&self) -> io::Result<Space> {
        self.disk.space()
    }

    fn lock(&self, path: &str) -> io::Result<Box<dyn Lock>> {
        self.disk.lock(path)
    }

    fn place(&self, path: &str) -> Option<PathBuf> {
        self.disk.place(path)
    }
}
