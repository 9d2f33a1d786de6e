//! The real file system below one folder: `pread`, `pwrite`, `fdatasync`, `flock`.

mod lock;

use crate::namespace::{check, check_target, is_a_link};
use crate::{Bytes, Disk, File, Lock, Space, map};
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Rights of created files and folders, before the umask.
#[derive(Clone, Copy, Debug)]
struct Rights {
    file: u32,
    folder: u32,
}

/// The owner's alone, whatever the umask allows.
const OWNERS: Rights = Rights {
    file: 0o600,
    folder: 0o700,
};

/// As the umask allows.
const UMASKED: Rights = Rights {
    file: 0o666,
    folder: 0o777,
};

/// The flag of `open` that refuses a symbolic link as the last name of a path.
const NO_LINK: i32 = rustix::fs::OFlags::NOFOLLOW.bits() as i32;

/// A disk on a folder of the real file system.
#[derive(Clone, Debug)]
pub struct RealDisk {
    root: PathBuf,
    /// Whether the disk only reads.
    is_read_only: bool,
    /// Outside of this folder, files and folders are made as the umask allows; `None`: everywhere they are the owner's.
    owners: Option<PathBuf>,
}

impl RealDisk {
    /// Opens `root`, and creates it and its parents if they are missing. The names of folders created here are
    /// durable when this returns. After an error they are removed again as far as possible, so that the next call
    /// does not take them for durable ones. Errors: those of `mkdir`, and `NotADirectory`.
    pub fn open(root: &Path) -> io::Result<RealDisk> {
        let missing = missing_folders(&std::path::absolute(root)?, &|path| path.is_dir());
        if let Err(error) = make_folders(&missing, &sync_folder) {
            for folder in missing.iter().rev() {
                let _ = fs::remove_dir(folder); // the first error is returned
            }
            return Err(error);
        }
        // From here on a change of the process's working folder does not matter.
        Ok(RealDisk {
            root: root.canonicalize()?,
            is_read_only: false,
            owners: None,
        })
    }

    /// The whole file system. Created files and folders have the rights that the umask allows, since other programs read them;
    /// below `owners`, an absolute path, they are the owner's alone.
    pub fn whole(owners: &Path) -> RealDisk {
        RealDisk {
            root: PathBuf::from("/"),
            is_read_only: false,
            owners: Some(owners.to_owned()),
        }
    }

    fn rights(&self, path: &str) -> Rights {
        match &self.owners {
            Some(owners) if !self.root.join(path).starts_with(owners) => UMASKED,
            _ => OWNERS,
        }
    }

    /// Opens an existing `root` for reading: works on a device that takes no writes. Files are opened for reading.
    /// `lock` is shared with other readers and keeps out a writer; it makes no lock file. Error: `NotFound`.
    pub fn open_to_read(root: &Path) -> io::Result<RealDisk> {
        if !root.is_dir() {
            return Err(io::Error::new(
                ErrorKind::NotFound,
                format!("no folder {}", root.display()),
            ));
        }
        Ok(RealDisk {
            root: root.canonicalize()?,
            is_read_only: true,
            owners: None,
        })
    }

    fn path(&self, path: &str) -> io::Result<PathBuf> {
        check(path)?;
        Ok(if path.is_empty() {
            self.root.clone()
        } else {
            self.root.join(path)
        })
    }

    /// A path as errors show it: on the whole file system as people write it.
    fn shown(&self, path: &str) -> String {
        let is_whole = self.root == Path::new("/");
        format!("{}{path}", if is_whole { "/" } else { "" })
    }

    fn open_with(&self, path: &str, options: &OpenOptions) -> io::Result<Arc<dyn File>> {
        let at = self.path(path)?;
        Ok(Arc::new(RealFile(
            options
                .open(&at)
                .map_err(|error| named(error, &self.shown(path)))?,
        )))
    }
}

impl Disk for RealDisk {
    fn open(&self, path: &str) -> io::Result<Arc<dyn File>> {
        let options = &mut OpenOptions::new();
        self.open_with(path, options.read(true).write(!self.is_read_only))
    }

    fn open_no_link(&self, path: &str) -> io::Result<Arc<dyn File>> {
        let at = self.path(path)?;
        let options = &mut OpenOptions::new();
        let options = options.read(true).write(!self.is_read_only);
        match options.custom_flags(NO_LINK).open(&at) {
            Ok(file) => Ok(Arc::new(RealFile(file))),
            Err(error) if is_link(&error) => Err(is_a_link(&self.shown(path))),
            Err(error) => Err(named(error, &self.shown(path))),
        }
    }

    fn create(&self, path: &str) -> io::Result<Arc<dyn File>> {
        self.open_with(
            path,
            OpenOptions::new()
                .read(true)
                .write(true)
                .create_new(true)
                .mode(self.rights(path).file),
        )
    }

    fn exists(&self, path: &str) -> io::Result<bool> {
        match self.path(path)?.symlink_metadata() {
            Ok(_) => Ok(true),
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                Ok(false)
            }
            Err(error) => Err(named(error, &self.shown(path))),
        }
    }

    fn list(&self, dir: &str) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in
            fs::read_dir(self.path(dir)?).map_err(|error| named(error, &self.shown(dir)))?
        {
            names.push(entry?.file_name().to_string_lossy().into_owned());
        }
        names.sort_unstable();
        Ok(names)
    }

    fn create_dir(&self, dir: &str) -> io::Result<()> {
        let made = fs::DirBuilder::new()
            .recursive(true)
            .mode(self.rights(dir).folder)
            .create(self.path(dir)?);
        made.map_err(|error| named(error, &self.shown(dir)))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.path(from)?, self.path(to)?)
            .map_err(|error| named(error, &self.shown(from)))
    }

    fn remove(&self, path: &str) -> io::Result<()> {
        fs::remove_file(self.path(path)?).map_err(|error| named(error, &self.shown(path)))
    }

    fn remove_dir(&self, dir: &str) -> io::Result<()> {
        match fs::remove_dir_all(self.path(dir)?) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            result => result.map_err(|error| named(error, &self.shown(dir))),
        }
    }

    fn symlink(&self, target: &str, link: &str) -> io::Result<()> {
        check_target(target)?;
        let (at, temporary) = (self.path(link)?, self.path(&format!("{link}.tmp"))?);
        let made = match std::os::unix::fs::symlink(target, &temporary) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => fs::remove_file(&temporary)
                .and_then(|()| std::os::unix::fs::symlink(target, &temporary)),
            made => made,
        };
        made.and_then(|()| {
            fs::rename(&temporary, at).inspect_err(|_| drop(fs::remove_file(&temporary)))
        })
        .map_err(|error| named(error, &self.shown(link)))
    }

    fn sync_dir(&self, dir: &str) -> io::Result<()> {
        sync_folder(&self.path(dir)?).map_err(|error| named(error, &self.shown(dir)))
    }

    fn space(&self) -> io::Result<Space> {
        let device = rustix::fs::statvfs(&self.root)?;
        Ok(Space {
            free_bytes: device.f_bavail.saturating_mul(device.f_frsize),
            total_bytes: device.f_blocks.saturating_mul(device.f_frsize),
        })
    }

    fn place(&self, path: &str) -> Option<PathBuf> {
        self.path(path).ok()
    }

    fn lock(&self, path: &str) -> io::Result<Box<dyn Lock>> {
        check(path)?;
        match self.is_read_only {
            true => lock::lock_to_read(&self.root, path),
            false => lock::lock(&self.root, path, self.rights(path).file),
        }
    }
}

struct RealFile(fs::File);

impl File for RealFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        self.0.read_exact_at(buf, offset)
    }

    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.write_all_at(data, offset).map_err(quota_is_space)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len).map_err(quota_is_space)
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn map(&self) -> io::Result<Bytes> {
        map::map(&self.0)
    }
}

/// The missing folders on the way to an absolute path, outermost first, the path itself last.
pub(crate) fn missing_folders(path: &Path, exists: &dyn Fn(&Path) -> bool) -> Vec<PathBuf> {
    let ancestors = path.ancestors().take_while(|folder| !exists(folder));
    let mut missing: Vec<PathBuf> = ancestors.map(Path::to_owned).collect();
    missing.reverse();
    missing
}

/// Creates folders for their owner alone, outermost first, and syncs the parent of each.
pub(crate) fn make_folders(
    folders: &[PathBuf],
    sync: &dyn Fn(&Path) -> io::Result<()>,
) -> io::Result<()> {
    for folder in folders {
        match fs::DirBuilder::new().mode(OWNERS.folder).create(folder) {
            // `a/../b` where `a` was missing: `a/..` came with it. Or another process made the folder meanwhile.
            Err(error) if error.kind() == ErrorKind::AlreadyExists && folder.is_dir() => {}
            made => made?,
        }
        if let Some(parent) = folder.parent() {
            sync(parent)?;
        }
    }
    Ok(())
}

/// Whether an open with [`NO_LINK`] failed because the name is a symbolic link.
fn is_link(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

fn sync_folder(folder: &Path) -> io::Result<()> {
    fs::File::open(folder)?.sync_all()
}

/// An exhausted quota counts as a full device.
fn quota_is_space(error: io::Error) -> io::Error {
    if error.kind() == ErrorKind::QuotaExceeded {
        return io::Error::new(ErrorKind::StorageFull, error);
    }
    error
}

/// Adds the path to an error of the kernel, which does not name it.
fn named(error: io::Error, path: &str) -> io::Error {
    let error = quota_is_space(error);
    io::Error::new(error.kind(), format!("{error}: {path:?}"))
}
