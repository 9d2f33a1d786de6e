//! The folders that `BACKUP TO` may write to.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use disk::{Disk, RealDisk};
use engine::{Error, OpenBackup};

/// Opens the folder of a backup. It must be new or empty, below `within` if that is set, and outside the data directory.
pub(crate) fn door(within: Option<PathBuf>, data: PathBuf) -> OpenBackup {
    Arc::new(move |to| {
        let place = place(within.as_deref(), &data, to).map_err(|what| Error::Invalid {
            what: format!("BACKUP TO '{to}': {what}"),
        })?;
        let opened = RealDisk::open(&place).map_err(|error| Error::Invalid {
            what: format!("BACKUP TO '{to}': {error}"),
        })?;
        Ok(Arc::new(opened) as Arc<dyn Disk>)
    })
}

/// The path of the folder that `to` names. It does not exist yet, or is empty.
fn place(within: Option<&Path>, data: &Path, to: &str) -> Result<PathBuf, String> {
    let named = Path::new(to);
    if to.is_empty() || named.components().any(|part| part == Component::ParentDir) {
        return Err("the path of a new folder is needed, without '..'".to_owned());
    }
    let path = match within {
        Some(within) => within.join(named),
        None if named.is_absolute() => named.to_owned(),
        None => {
            return Err(
                "a path that begins with / is needed, or the setting backup.dir".to_owned(),
            );
        }
    };
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err("the path of a new folder is needed".to_owned());
    };
    // A link in the path may lead anywhere, so the real path is compared.
    let real = |path: &Path| {
        path.canonicalize()
            .map_err(|error| format!("{}: {error}", path.display()))
    };
    let place = real(parent)?.join(name);
    if let Some(within) = within {
        let within = real(within)?;
        if place == within || !place.starts_with(&within) {
            return Err(format!("backups go below {}", within.display()));
        }
    }
    if place.is_symlink() {
        return Err("a link leads elsewhere: the path of a new folder is needed".to_owned());
    }
    if place.starts_with(real(data)?) {
        return Err("a backup in the data directory would be lost with it".to_owned());
    }
    match std::fs::read_dir(&place).map(|mut held| held.next().is_some()) {
        Ok(true) => Err("there is something already".to_owned()),
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.to_string()),
        _ => Ok(place),
    }
}

#[cfg(test)]
mod tests;
