//! The files of the workspace, read once.

use std::fs;
use std::io;
use std::path::Path;

/// Folders with leftovers of builds and runs, which are not read.
const LEFT_OUT: [&str; 4] = ["target", ".git", "seine-data", "seine-demo"];

/// Every file, sorted by path.
pub(super) struct Tree {
    pub(super) files: Vec<File>,
}

pub(super) struct File {
    /// Path in the tree, with `/`.
    pub(super) path: String,
    /// `None` for a file that is not UTF-8.
    pub(super) text: Option<String>,
}

impl Tree {
    pub(super) fn read(root: &Path) -> io::Result<Tree> {
        let mut files = Vec::new();
        read_folder(root, "", &mut files)?;
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Tree { files })
    }

    pub(super) fn text(&self, path: &str) -> Option<&str> {
        self.files
            .iter()
            .find(|file| file.path == path)?
            .text
            .as_deref()
    }

    /// Path and text of the text files whose path ends with `end`.
    pub(super) fn ending<'a>(&'a self, end: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.texts().filter(move |(path, _)| path.ends_with(end))
    }

    /// Path and text of all text files.
    pub(super) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files
            .iter()
            .filter_map(|file| Some((file.path.as_str(), file.text.as_deref()?)))
    }
}

/// The crate of a file, by its folder, and the path in it; `None` for other files of the tree.
pub(super) fn in_crate(path: &str) -> Option<(&str, &str)> {
    match path.strip_prefix("crates/") {
        Some(path) => path.split_once('/'),
        None => path.strip_prefix("bench/").map(|inside| ("bench", inside)),
    }
}

fn read_folder(root: &Path, folder: &str, files: &mut Vec<File>) -> io::Result<()> {
    for entry in fs::read_dir(root.join(folder))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if folder.is_empty() {
            name.clone()
        } else {
            format!("{folder}/{name}")
        };
        if LEFT_OUT.contains(&name.as_str()) {
            continue; // also if it is a link to a folder elsewhere
        }
        if entry.file_type()?.is_dir() {
            read_folder(root, &path, files)?;
        } else {
            let text = String::from_utf8(fs::read(entry.path())?).ok();
            files.push(File { path, text });
        }
    }
    Ok(())
}
