//! The disk below the server: no durable figure means anything without it.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use disk::{fdatasync_rate, file_system_kind};

use crate::runs::Run;

/// What a bare program gets from the disk.
pub(crate) struct Device {
    path: PathBuf,
    file_system: String,
    /// 4 KiB writes with a sync each, one after the other, a second; none if the directory cannot be written.
    syncs_a_second: Option<f64>,
}

impl Device {
    pub(crate) fn measure(path: &Path) -> Device {
        Device {
            path: path.to_owned(),
            file_system: file_system_kind(path),
            syncs_a_second: fdatasync_rate(path).ok(),
        }
    }
}

/// The bare loop just before a run and just after it: a disk that others use too is not the same for long.
pub(crate) struct Paired<'a> {
    path: Option<&'a Path>,
    before: Option<f64>,
}

impl<'a> Paired<'a> {
    pub(crate) fn begin(path: Option<&'a Path>) -> Paired<'a> {
        Paired {
            path,
            before: path.and_then(|path| fdatasync_rate(path).ok()),
        }
    }

    /// Tells the bare rate, and the run's against it. Nothing where it cannot be measured.
    pub(crate) fn end(&self, run: &mut Run) {
        let after = self.path.and_then(|path| fdatasync_rate(path).ok());
        if let (Some(before), Some(after)) = (self.before, after) {
            let bare = f64::midpoint(before, after);
            run.facts.push(("bare sync/s", bare));
            run.facts.push(("x bare sync", run.rate() / bare));
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on {}: ", self.path.display(), self.file_system)?;
        match self.syncs_a_second {
            Some(rate) => write!(f, "{rate:.0} bare 4 KiB writes + fdatasync a second")?,
            None => f.write_str("its syncs could not be measured")?,
        }
        if self.file_system == "tmpfs" {
            f.write_str(" (WARNING: memory, not a disk; nothing here is durable)")?;
        }
        Ok(())
    }
}
