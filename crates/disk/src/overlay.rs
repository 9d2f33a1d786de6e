//! A disk over another disk: reads come from below, changes stay in memory and vanish with the overlay.
//!
//! Recovery cuts, renames and prepares files before it shows anything. Over this disk it may do so to a directory of
//! which not one byte may change: a directory that a failed sync left, one on a full or read-only device, or a
//! backup.
//!
//! Example: a file of 10,000 bytes below.
//!
//! ```text
//! write 4 bytes at 5,000    pages {1: whole page}          shown from below: 10,000
//! set_len(6,000)            page 1 is zero from 6,000 on   shown from below: 6,000
//! set_len(9,000)            bytes 6,000 to 9,000 are 0     shown from below: 6,000
//! ```
//!
//! Invariants:
//! - No call writes to the disk below. `lock` is passed on to it.
//! - A page in `pages` is whole and replaces the bytes below. Other bytes before `below_bytes` come from below, the
//!   rest are zero.
//! - The names below are read once, when the overlay is made, so the directory must not change meanwhile.
//! - Pages of zeroes behind the end of a file take no memory.

use crate::memory::held;
use crate::namespace::{Change, Namespace};
use crate::{Bytes, Disk, File, Lock, PAGE_BYTES, Space};
use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::sync::{Arc, Mutex, MutexGuard};

/// Space that the overlay reports, in bytes: nothing written here reaches a device.
const FREE_BYTES: u64 = 1 << 40;

/// A disk over another disk: reads come from below, and all changes stay in memory. A clone is another handle of the
/// same overlay.
#[derive(Clone)]
pub struct Overlay {
    below: Arc<dyn Disk>,
    names: Arc<Mutex<Namespace<Arc<OverlayFile>>>>,
}

impl Overlay {
    /// Lays an overlay over a disk. Errors: those of listing its folders.
    pub fn new(below: Arc<dyn Disk>) -> io::Result<Overlay> {
        let mut names = Namespace::new();
        read_names(&*below, "", &mut names)?;
        Ok(Overlay {
            below,
            names: Arc::new(Mutex::new(names)),
        })
    }

    fn names(&self) -> MutexGuard<'_, Namespace<Arc<OverlayFile>>> {
        held(&self.names)
    }

    fn change(
        &self,
        plan: impl FnOnce(&mut Names) -> io::Result<Vec<Change<Arc<OverlayFile>>>>,
    ) -> io::Result<()> {
        let mut names = self.names();
        for step in plan(&mut names)? {
            names.apply(&step);
        }
        Ok(())
    }
}

type Names = Namespace<Arc<OverlayFile>>;

/// Reads the names in a folder below, and in the folders inside it.
fn read_names(below: &dyn Disk, dir: &str, names: &mut Names) -> io::Result<()> {
    for name in below.list(dir)? {
        let path = match dir {
            "" => name,
            dir => format!("{dir}/{name}"),
        };
        let is_folder = match below.list(&path) {
            Ok(_) => true,
            Err(error) if error.kind() == ErrorKind::NotADirectory => false,
            Err(error) => return Err(error),
        };
        if is_folder {
            for step in names.plan_create_dir(&path)? {
                names.apply(&step);
            }
            read_names(below, &path, names)?;
        } else {
            let file = Arc::new(OverlayFile::below(path.clone()));
            let step = names.plan_create(&path, file)?;
            names.apply(&step);
        }
    }
    Ok(())
}

impl Disk for Overlay {
    fn open(&self, path: &str) -> io::Result<Arc<dyn File>> {
        let file = self.names().file(path)?;
        file.ready(&*self.below)?;
        Ok(file)
    }

    fn open_no_link(&self, path: &str) -> io::Result<Arc<dyn File>> {
        let file = self.names().file_no_link(path)?;
        file.ready(&*self.below)?;
        Ok(file)
    }

    fn create(&self, path: &str) -> io::Result<Arc<dyn File>> {
        let file = Arc::new(OverlayFile::empty());
        self.change(|names| Ok(vec![names.plan_create(path, Arc::clone(&file))?]))?;
        Ok(file)
    }

    fn exists(&self, path: &str) -> io::Result<bool> {
        Ok(self.names().find(path)?.is_some())
    }

    fn list(&self, dir: &str) -> io::Result<Vec<String>> {
        self.names().names(dir)
    }

    fn create_dir(&self, dir: &str) -> io::Result<()> {
        self.change(|names| names.plan_create_dir(dir))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.change(|names| Ok(vec![names.plan_rename(from, to)?]))
    }

    fn remove(&self, path: &str) -> io::Result<()> {
        self.change(|names| Ok(vec![names.plan_remove(path)?]))
    }

    fn remove_dir(&self, dir: &str) -> io::Result<()> {
        self.change(|names| names.plan_remove_dir(dir))
    }

    fn symlink(&self, target: &str, link: &str) -> io::Result<()> {
        self.change(|names| Ok(vec![names.plan_symlink(target, link)?]))
    }

    fn sync_dir(&self, dir: &str) -> io::Result<()> {
        self.names().folder(dir).map(|_| ())
    }

    fn space(&self) -> io::Result<Space> {
        Ok(Space {
            free_bytes: FREE_BYTES,
            total_bytes: FREE_BYTES,
        })
    }

    fn lock(&self, path: &str) -> io::Result<Box<dyn Lock>> {
        self.below.lock(path)
    }
}

/// A file of the overlay: a path below, and the pages written here.
struct OverlayFile {
    /// Its path below, if it exists there. A rename here does not change it.
    path: Option<String>,
    content: Mutex<Content>,
}

#[derive(Default)]
struct Content {
    below: Option<Arc<dyn File>>,
    /// Bytes of the file below that still show.
    below_bytes: u64,
    bytes: u64,
    /// By number, the whole pages that were written here.
    pages: BTreeMap<u64, Box<[u8]>>,
}

impl OverlayFile {
    fn empty() -> OverlayFile {
        OverlayFile {
            path: None,
            content: Mutex::default(),
        }
    }

    fn below(path: String) -> OverlayFile {
        OverlayFile {
            path: Some(path),
            content: Mutex::default(),
        }
    }

    fn content(&self) -> MutexGuard<'_, Content> {
        held(&self.content)
    }

    /// Opens the file below, unless it is open.
    fn ready(&self, below: &dyn Disk) -> io::Result<()> {
        let mut content = self.content();
        if let (None, Some(path)) = (&content.below, &self.path) {
            let file = below.open(path)?;
            content.bytes = file.len()?;
            content.below_bytes = content.bytes;
            content.below = Some(file);
        }
        Ok(())
    }
}

impl Content {
    /// Fills `out` from `offset`. The caller has checked the length.
    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        out.fill(0);
        let shown = self
            .below_bytes
            .saturating_sub(offset)
            .min(out.len() as u64) as usize;
        if let (Some(file), true) = (&self.below, shown > 0) {
            file.read_at(offset, &mut out[..shown])?;
        }
        let end = offset + out.len() as u64;
        let page_bytes = PAGE_BYTES as u64;
        let pages = offset / page_bytes..end.div_ceil(page_bytes);
        for (number, page) in self.pages.range(pages) {
            let start = number * page_bytes;
            let from = offset.max(start);
            let to = end.min(start + page_bytes);
            out[(from - offset) as usize..(to - offset) as usize]
                .copy_from_slice(&page[(from - start) as usize..(to - start) as usize]);
        }
        Ok(())
    }

    fn write(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
        let page_bytes = PAGE_BYTES as u64;
        let end = offset
            .checked_add(data.len() as u64)
            .ok_or(ErrorKind::InvalidInput)?;
        let mut at = offset;
        while at < end {
            let number = at / page_bytes;
            let start = number * page_bytes;
            let piece_end = end.min(start + page_bytes);
            let piece = &data[(at - offset) as usize..(piece_end - offset) as usize];
            let is_nothing = start >= self.below_bytes && !self.pages.contains_key(&number);
            if !(is_nothing && piece.iter().all(|byte| *byte == 0)) {
                self.page(number)?[(at - start) as usize..(piece_end - start) as usize]
                    .copy_from_slice(piece);
            }
            at = piece_end;
        }
        if !data.is_empty() {
            self.bytes = self.bytes.max(end);
        }
        Ok(())
    }

    /// A page for writing: a copy of the shown bytes, if it is new.
    fn page(&mut self, number: u64) -> io::Result<&mut Box<[u8]>> {
        if !self.pages.contains_key(&number) {
            let mut page = vec![0; PAGE_BYTES].into_boxed_slice();
            self.read(number * PAGE_BYTES as u64, &mut page)?;
            self.pages.insert(number, page);
        }
        self.pages
            .get_mut(&number)
            .ok_or_else(|| ErrorKind::NotFound.into())
    }

    fn set_len(&mut self, bytes: u64) -> io::Result<()> {
        if bytes < self.bytes {
            let last = bytes / PAGE_BYTES as u64;
            let keep = (bytes % PAGE_BYTES as u64) as usize;
            self.pages.split_off(&(last + 1));
            if keep > 0 {
                self.page(last)?[keep..].fill(0);
            } else {
                self.pages.remove(&last);
            }
            self.below_bytes = self.below_bytes.min(bytes);
        }
        self.bytes = bytes;
        Ok(())
    }
}

impl File for OverlayFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.content().bytes)
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        let content = self.content();
        match offset.checked_add(buf.len() as u64) {
            Some(end) if end <= content.bytes => content.read(offset, buf),
            _ => Err(ErrorKind::UnexpectedEof.into()),
        }
    }

    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.content().write(offset, data)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.content().set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn map(&self) -> io::Result<Bytes> {
        let content = self.content();
        if let Some(file) = &content.below
            && content.pages.is_empty()
            && content.below_bytes == content.bytes
            && file.len()? == content.bytes
        {
            return file.map();
        }
        let bytes = usize::try_from(content.bytes).map_err(|_| ErrorKind::InvalidInput)?;
        let mut whole = vec![0; bytes];
        content.read(0, &mut whole)?;
        Ok(Arc::new(whole))
    }
}
