//! Where the demo lives on disk, and what kind of disk that is.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use super::{Failure, Result, failed};

/// In a directory that a demo made, and locked while one runs there.
const MARKER: &str = "made-by-seine-demo";

/// The demo's directory: the marker, the server's data, its log and its (empty) settings.
pub(super) struct Home {
    dir: PathBuf,
    shown: String,
    _running: File,
}

/// What it lies on.
pub(super) struct Device {
    pub(super) file_system: String,
    /// Writes of 4 KiB into prepared space, each followed by `fdatasync`, in one loop.
    pub(super) syncs_per_second: u64,
}

impl Device {
    /// Whether nothing is ever written to a device.
    pub(super) fn is_memory(&self) -> bool {
        matches!(self.file_system.as_str(), "tmpfs" | "ramfs")
    }
}

impl Home {
    /// Makes the directory, or empties the one that an earlier demo made. One with anything else in it is refused.
    pub(super) fn prepare(dir: &Path) -> Result<Home> {
        let doing = || dir.display().to_string();
        fs::create_dir_all(dir).map_err(failed(doing()))?;
        let marker = dir.join(MARKER);
        let is_empty = fs::read_dir(dir).map_err(failed(doing()))?.next().is_none();
        if !is_empty && !marker.exists() {
            return Err(Failure(format!(
                "{} is not empty and no demo made it; name another with --data",
                dir.display()
            )));
        }
        let running = File::create(&marker).map_err(failed(doing()))?;
        match running.try_lock() {
            Err(TryLockError::WouldBlock) => {
                return Err(Failure(format!("another demo runs in {}", dir.display())));
            }
            Err(TryLockError::Error(error)) => return Err(failed(doing())(error)),
            Ok(()) => {}
        }
        let dir = dir.canonicalize().map_err(failed(doing()))?;
        let home = Home {
            shown: doing(),
            dir,
            _running: running,
        };
        match fs::remove_dir_all(home.data()) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(failed(home.data().display())(error));
            }
            _ => {}
        }
        fs::create_dir_all(home.data()).map_err(failed(home.data().display()))?;
        // A file of its own, so that no settings of the person's apply to the demo's server.
        fs::write(
            home.settings(),
            "# the demo's server runs with the defaults\n",
        )
        .map_err(failed(home.settings().display()))?;
        fs::write(home.log(), "").map_err(failed(home.log().display()))?;
        Ok(home)
    }

    /// The directory as the person named it.
    pub(super) fn shown(&self) -> &str {
        &self.shown
    }

    pub(super) fn data(&self) -> PathBuf {
        self.dir.join("data")
    }

    pub(super) fn settings(&self) -> PathBuf {
        self.dir.join("seine.toml")
    }

    pub(super) fn log(&self) -> PathBuf {
        self.dir.join("server.log")
    }

    /// Looks at the device. Takes a fraction of a second.
    pub(super) fn device(&self) -> Result<Device> {
        let doing = "measuring the disk";
        let syncs_per_second = disk::fdatasync_rate(&self.dir).map_err(failed(doing))?;
        Ok(Device {
            file_system: disk::file_system_kind(&self.dir),
            syncs_per_second: syncs_per_second as u64,
        })
    }
}
