//! Names and folders of the disks in memory: a tree of entries, changed in small steps.
//!
//! A change of names is first planned, which checks it against the tree, and then applied. The faulty disk keeps the
//! planned steps, so that a crash can leave some of them out.
//!
//! Example: `create_dir("x/y")` on an empty tree plans `Link (0, "x") → folder 1` and `Link (1, "y") → folder 2`. If
//! a crash loses the first step and keeps the second, folder 1 holds `y`, but no path leads to it.
//!
//! Invariants:
//! - A folder's number is never used twice, so a step that was left out cannot change another folder.
//! - `apply` succeeds whichever steps were left out before it: it creates the folders that it needs.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};

/// A folder's number. 0 is the root.
pub(crate) type FolderId = u64;

/// A name and the folder that holds it.
pub(crate) type FolderEntry = (FolderId, String);

/// The file, folder or link of a name.
#[derive(Clone, Debug)]
pub(crate) enum Entry<F> {
    Folder(FolderId),
    File(F),
    /// A symbolic link to this name in the same folder.
    Link(String),
}

/// Links that are followed on the way to a file, as Linux does.
const LINKS_MAX: usize = 40;

/// A step that changes names.
#[derive(Clone, Debug)]
pub(crate) enum Change<F> {
    Link {
        at: FolderEntry,
        entry: Entry<F>,
    },
    Unlink {
        at: FolderEntry,
    },
    Move {
        from: FolderEntry,
        to: FolderEntry,
        entry: Entry<F>,
    },
}

impl<F> Change<F> {
    /// The folders that must be synced to make the step durable.
    pub(crate) fn folders(&self) -> Vec<FolderId> {
        match self {
            Change::Link { at, .. } | Change::Unlink { at } => vec![at.0],
            Change::Move { from, to, .. } if from.0 == to.0 => vec![from.0],
            Change::Move { from, to, .. } => vec![from.0, to.0],
        }
    }
}

/// A visitor of names: gets the folder, the name, and its entry.
type Visitor<'a, F> = dyn FnMut((FolderId, &str), &Entry<F>) + 'a;

/// The tree of names. `F` is a cheap handle of a file.
#[derive(Clone, Debug)]
pub(crate) struct Namespace<F> {
    folders: BTreeMap<FolderId, BTreeMap<String, Entry<F>>>,
    folder_next: FolderId,
}

const ROOT: FolderId = 0;

impl<F: Clone> Namespace<F> {
    pub(crate) fn new() -> Self {
        Namespace {
            folders: BTreeMap::from([(ROOT, BTreeMap::new())]),
            folder_next: ROOT + 1,
        }
    }

    /// The entry of a path, if there is one.
    pub(crate) fn find(&self, path: &str) -> io::Result<Option<Entry<F>>> {
        let mut entry = Entry::Folder(ROOT);
        for name in components(path)? {
            let Entry::Folder(id) = entry else {
                return Ok(None);
            };
            match self.folders.get(&id).and_then(|folder| folder.get(name)) {
                Some(next) => entry = next.clone(),
                None => return Ok(None),
            }
        }
        Ok(Some(entry))
    }

    /// The file of a path; links are followed.
    pub(crate) fn file(&self, path: &str) -> io::Result<F> {
        let mut at = path.to_owned();
        for _ in 0..=LINKS_MAX {
            match self.find(&at)? {
                Some(Entry::File(file)) => return Ok(file),
                Some(Entry::Folder(_)) => return Err(refusal(ErrorKind::IsADirectory, path)),
                Some(Entry::Link(target)) => {
                    at = at
                        .rsplit_once('/')
                        .map_or(target.clone(), |(folder, _)| format!("{folder}/{target}"));
                }
                None => return Err(refusal(ErrorKind::NotFound, path)),
            }
        }
        Err(io::Error::other(format!("a circle of links: {path:?}")))
    }

    /// The file of a path whose last name is no link.
    pub(crate) fn file_no_link(&self, path: &str) -> io::Result<F> {
        match self.find(path)? {
            Some(Entry::Link(_)) => Err(is_a_link(path)),
            _ => self.file(path),
        }
    }

    pub(crate) fn folder(&self, path: &str) -> io::Result<FolderId> {
        match self.find(path)? {
            Some(Entry::Folder(id)) => Ok(id),
            Some(Entry::File(_) | Entry::Link(_)) => Err(refusal(ErrorKind::NotADirectory, path)),
            None => Err(refusal(ErrorKind::NotFound, path)),
        }
    }

    /// Names in a folder, sorted.
    pub(crate) fn names(&self, path: &str) -> io::Result<Vec<String>> {
        let id = self.folder(path)?;
        Ok(self
            .folders
            .get(&id)
            .map(|folder| folder.keys().cloned().collect())
            .unwrap_or_default())
    }

    /// All files that a path leads to.
    pub(crate) fn files(&self) -> Vec<F> {
        let mut files = Vec::new();
        self.visit(ROOT, &mut |_, entry| {
            if let Entry::File(file) = entry {
                files.push(file.clone());
            }
        });
        files
    }

    /// A copy of the tree over other files.
    pub(crate) fn map<G: Clone>(&self, convert: &mut dyn FnMut(&F) -> G) -> Namespace<G> {
        let mut folders = BTreeMap::from([(ROOT, BTreeMap::new())]);
        self.visit(ROOT, &mut |(folder, name), entry| {
            let converted = match entry {
                Entry::Folder(id) => {
                    folders.entry(*id).or_insert_with(BTreeMap::new);
                    Entry::Folder(*id)
                }
                Entry::File(file) => Entry::File(convert(file)),
                Entry::Link(target) => Entry::Link(target.clone()),
            };
            folders
                .entry(folder)
                .or_insert_with(BTreeMap::new)
                .insert(name.to_owned(), converted);
        });
        Namespace {
            folders,
            folder_next: self.folder_next,
        }
    }

    fn visit(&self, id: FolderId, visit: &mut Visitor<'_, F>) {
        for (name, entry) in self.folders.get(&id).into_iter().flatten() {
            visit((id, name), entry);
            if let Entry::Folder(child) = entry {
                self.visit(*child, visit);
            }
        }
    }

    pub(crate) fn plan_create(&self, path: &str, file: F) -> io::Result<Change<F>> {
        let at = self.place(path)?;
        if self.find(path)?.is_some() {
            return Err(refusal(ErrorKind::AlreadyExists, path));
        }
        Ok(Change::Link {
            at,
            entry: Entry::File(file),
        })
    }

    /// Plans a link in place of a file or link, if there is one.
    pub(crate) fn plan_symlink(&self, target: &str, path: &str) -> io::Result<Change<F>> {
        check_target(target)?;
        if let Some(Entry::Folder(_)) = self.find(path)? {
            return Err(refusal(ErrorKind::IsADirectory, path));
        }
        Ok(Change::Link {
            at: self.place(path)?,
            entry: Entry::Link(target.to_owned()),
        })
    }

    /// Plans the missing folders on the way to `path`, outermost first.
    pub(crate) fn plan_create_dir(&mut self, path: &str) -> io::Result<Vec<Change<F>>> {
        let (mut steps, mut parent, mut missing) = (Vec::new(), ROOT, false);
        for name in components(path)? {
            let known = self
                .folders
                .get(&parent)
                .filter(|_| !missing)
                .and_then(|folder| folder.get(name));
            parent = match known {
                Some(Entry::Folder(id)) => *id,
                Some(Entry::File(_) | Entry::Link(_)) => {
                    return Err(refusal(ErrorKind::NotADirectory, path));
                }
                None => {
                    missing = true;
                    let id = self.folder_next;
                    self.folder_next += 1;
                    steps.push(Change::Link {
                        at: (parent, name.to_owned()),
                        entry: Entry::Folder(id),
                    });
                    id
                }
            };
        }
        Ok(steps)
    }

    pub(crate) fn plan_rename(&self, from: &str, to: &str) -> io::Result<Change<F>> {
        let entry = self
            .find(from)?
            .ok_or_else(|| refusal(ErrorKind::NotFound, from))?;
        match (&entry, self.find(to)?) {
            (Entry::File(_) | Entry::Link(_), Some(Entry::Folder(_))) => {
                return Err(refusal(ErrorKind::IsADirectory, to));
            }
            (Entry::Folder(_), Some(Entry::File(_) | Entry::Link(_))) => {
                return Err(refusal(ErrorKind::NotADirectory, to));
            }
            (Entry::Folder(_), Some(Entry::Folder(id)))
                if self
                    .folders
                    .get(&id)
                    .is_some_and(|folder| !folder.is_empty()) =>
            {
                return Err(refusal(ErrorKind::DirectoryNotEmpty, to));
            }
            _ => {}
        }
        Ok(Change::Move {
            from: self.place(from)?,
            to: self.place(to)?,
            entry,
        })
    }

    pub(crate) fn plan_remove(&self, path: &str) -> io::Result<Change<F>> {
        match self.find(path)? {
            Some(Entry::File(_) | Entry::Link(_)) => {}
            Some(Entry::Folder(_)) => return Err(refusal(ErrorKind::IsADirectory, path)),
            None => return Err(refusal(ErrorKind::NotFound, path)),
        }
        Ok(Change::Unlink {
            at: self.place(path)?,
        })
    }

    /// Plans the removal of a folder and its content, innermost first; no step if it does not exist.
    pub(crate) fn plan_remove_dir(&self, path: &str) -> io::Result<Vec<Change<F>>> {
        let id = match self.find(path)? {
            Some(Entry::Folder(id)) => id,
            Some(Entry::File(_) | Entry::Link(_)) => {
                return Err(refusal(ErrorKind::NotADirectory, path));
            }
            None => return Ok(Vec::new()),
        };
        let mut steps = vec![Change::Unlink {
            at: self.place(path)?,
        }];
        self.visit(id, &mut |(folder, name), _| {
            steps.push(Change::Unlink {
                at: (folder, name.to_owned()),
            })
        });
        steps.reverse();
        Ok(steps)
    }

    /// Applies a step. Earlier steps may have been left out: it creates folders that it does not find.
    pub(crate) fn apply(&mut self, change: &Change<F>) {
        match change {
            Change::Link { at, entry } => self.link(at, entry),
            Change::Unlink { at } => {
                self.entries(at.0).remove(&at.1);
            }
            Change::Move { from, to, entry } => {
                self.entries(from.0).remove(&from.1);
                self.link(to, entry);
            }
        }
    }

    fn link(&mut self, at: &FolderEntry, entry: &Entry<F>) {
        if let Entry::Folder(id) = entry {
            self.entries(*id);
            self.folder_next = self.folder_next.max(id + 1);
        }
        self.entries(at.0).insert(at.1.clone(), entry.clone());
    }

    fn entries(&mut self, id: FolderId) -> &mut BTreeMap<String, Entry<F>> {
        self.folders.entry(id).or_default()
    }

    fn place(&self, path: &str) -> io::Result<FolderEntry> {
        check(path)?;
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
        if name.is_empty() {
            return Err(refusal(ErrorKind::InvalidInput, path));
        }
        Ok((self.folder(parent)?, name.to_owned()))
    }
}

/// Refuses a path that leads outside the root, or that has two spellings.
pub(crate) fn check(path: &str) -> io::Result<()> {
    let is_well_formed = path.is_empty()
        || path
            .split('/')
            .all(|name| !matches!(name, "" | "." | "..") && !name.contains('\0'));
    if is_well_formed {
        Ok(())
    } else {
        Err(refusal(ErrorKind::InvalidInput, path))
    }
}

/// Refuses a link's target that is not the name of a file beside the link.
pub(crate) fn check_target(target: &str) -> io::Result<()> {
    if target.is_empty() || target.contains('/') {
        return Err(refusal(ErrorKind::InvalidInput, target));
    }
    check(target)
}

/// The names of a path, outermost first; none for the root.
fn components(path: &str) -> io::Result<impl Iterator<Item = &str>> {
    check(path)?;
    Ok(path.split('/').filter(|name| !name.is_empty()))
}

/// The error for a path that is a symbolic link where a file is wanted.
pub(crate) fn is_a_link(path: &str) -> io::Error {
    let message = format!("{path:?} is a symbolic link: a file is needed, remove the link");
    io::Error::new(ErrorKind::InvalidInput, message)
}

fn refusal(kind: ErrorKind, path: &str) -> io::Error {
    io::Error::new(kind, format!("{kind}: {path:?}"))
}
