//! The copy of the tree into which bugs are planted.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A copy of the tree, with a target folder of its own beside it.
pub(super) struct Copy {
    /// The copied tree.
    pub(super) tree: PathBuf,
    /// Cargo's target folder for it.
    pub(super) target: PathBuf,
}

impl Copy {
    /// Brings the copy to the state of the checkout. Leaves equal files alone, so that cargo builds only changed ones.
    pub(super) fn make(root: &Path) -> io::Result<Copy> {
        let root = root.canonicalize()?;
        let target =
            std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
        let place = root.join(target).join("mutate");
        let copy = Copy {
            tree: place.join("tree"),
            target: place.join("target"),
        };
        fs::create_dir_all(&copy.tree)?;
        let files = files_of(&root)?;
        remove_others(&copy.tree, "", &files)?;
        for file in &files {
            let bytes = fs::read(root.join(file))?;
            let path = copy.tree.join(file);
            if fs::read(&path).is_ok_and(|is| is == bytes) {
                continue;
            }
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            fs::copy(root.join(file), &path)?;
        }
        Ok(copy)
    }

    pub(super) fn read(&self, file: &str) -> io::Result<String> {
        fs::read_to_string(self.tree.join(file))
    }

    pub(super) fn write(&self, file: &str, text: &str) -> io::Result<()> {
        fs::write(self.tree.join(file), text)
    }
}

/// Paths of the checkout's files that git knows or would add.
fn files_of(root: &Path) -> io::Result<BTreeSet<String>> {
    let asked = [
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ];
    let listed = Command::new("git").args(asked).current_dir(root).output()?;
    if !listed.status.success() {
        let why = String::from_utf8_lossy(&listed.stderr).into_owned();
        return Err(io::Error::other(format!("git ls-files: {why}")));
    }
    let names = String::from_utf8_lossy(&listed.stdout).into_owned();
    let names = names.split('\0').filter(|name| root.join(name).is_file());
    Ok(names.map(str::to_owned).collect())
}

/// Removes files that are not in `files`: they are of an earlier checkout, or a test has left them.
fn remove_others(tree: &Path, folder: &str, files: &BTreeSet<String>) -> io::Result<()> {
    for entry in fs::read_dir(tree.join(folder))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{folder}{name}");
        if entry.file_type()?.is_dir() {
            remove_others(tree, &format!("{path}/"), files)?;
        } else if !files.contains(&path) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}
