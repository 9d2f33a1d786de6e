//! The demo's directory, and its device.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use super::{Failure, Result, failed};

/// File that marks a directory as made by a demo. A running demo locks it.
const MARKER: &str = "made-by-seine-demo";

/// The demo's directory: the marker, the server's data, its log and its empty settings file.
pub(super) struct Home {
    dir: PathBuf,
    shown: String,
    _running: File,
}

/// Device of the directory.
pub(super) struct Device {
    pub(super) file_system: String,
    /// Writes per second of 4 KiB into prepared space, each with an `fdatasync`, by one thread.
    pub(super) syncs_per_second: u64,
}

impl Device {
    /// Whether the directory is in memory only.
    pub(super) fn is_memory(&self) -> bool {
        matches!(self.file_system.as_str(), "tmpfs" | "ramfs")
    }
}

impl Home {
    /// Creates the directory, or empties one that a demo made. Errors: a directory with anything else in it.
    /// `configuration`: of Scribe, for the server.
    pub(super) fn prepare(dir: &Path, configuration: Option<&str>) -> Result<Home> {
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
        // An empty settings file keeps the person's settings away from the demo's server.
        let mut settings = "# the demo's server runs with the defaults\n".to_owned();
        if let Some(configuration) = configuration {
            let path = home.dir.join("scribe.conf");
            fs::write(&path, configuration).map_err(failed(path.display()))?;
            settings += &format!("scribe_config = {:?}\n", path.display().to_string());
        }
        fs::write(home.settings(), settings).map_err(failed(home.settings().display()))?;
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

    /// Measures the device, in a fraction of a second.
    pub(super) fn device(&self) -> Result<Device> {
        let doing = "measuring the disk";
        let syncs_per_second = disk::fdatasync_rate(&self.dir).map_err(failed(doing))?;
        Ok(Device {
            file_system: disk::file_system_kind(&self.dir),
            syncs_per_second: syncs_per_second as u64,
        })
    }
}
