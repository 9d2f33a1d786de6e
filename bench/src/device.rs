//! Measures the disk below the server: a figure of durable writes means nothing without it.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use disk::{fdatasync_rate, file_system_kind};

use crate::runs::Run;

/// Speed of the disk for a bare program.
pub(crate) struct Device {
    path: PathBuf,
    file_system: String,
    /// Writes per second of 4 KiB with a sync each, one after the other; `None`: the directory cannot be written.
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

/// Measures the disk right before and right after a run: other users of the disk change its speed.
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

    /// Adds the bare rate, and the run's ratio to it, to the run's facts. Adds nothing if the disk cannot be measured.
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
