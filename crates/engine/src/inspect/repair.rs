//! Repair: a damaged data directory is made one that starts. Unreadable files are put aside and named, the rest is kept.
//!
//! In order, so that a repair that is cut short can be run again and loses nothing more: what is damaged is copied aside,
//! with the report; everything that could be read goes into new files; a manifest names them; only then the damaged journal
//! makes way for a new one that goes on behind it.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;

use disk::{Disk, Overlay, link_or_copy};
use journal::Position;

use super::keeping::Keeping;
use super::reading::Reading;
use super::{Fault, Loss};
use crate::backup::list_files;
use crate::engine::{Engine, JOURNAL_DIR, Options, lock};
use crate::error::Result;
use crate::failure;
use crate::jobs::Background;
use crate::manifest;
use crate::record::Record;

/// Where the journal that takes the damaged one's place is made.
const NEW_JOURNAL_DIR: &str = "journal.new";

/// A repair writes next to nothing into a journal: the server makes the larger files.
const SEGMENT_BYTES: u64 = 256 << 10;

/// Below the folder of what is damaged.
const REPORT: &str = "report.txt";

/// What a repair did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repaired {
    /// The folder that holds what was damaged, and the report, below the data directory.
    pub folder: String,
    /// What was put there, below the data directory.
    pub aside: Vec<String>,
    /// What was wrong.
    pub faults: Vec<Fault>,
    /// What could not be saved.
    pub losses: Vec<Loss>,
    /// Documents of damaged segments that were stored again.
    pub documents_saved: u64,
}

/// Repairs a directory that no server has; `None` for a sound one, of which not one byte is changed.
///
/// # Errors
/// `Locked`, `DiskFull`; where there is no data directory, a newer version wrote it, or the manifest cannot be read: then
/// only a backup helps.
pub fn repair(disk: &Arc<dyn Disk>, progress: &mut dyn FnMut(&str)) -> Result<Option<Repaired>> {
    let held = lock(&**disk)?;
    let over: Arc<dyn Disk> =
        Arc::new(Overlay::new(Arc::clone(disk)).map_err(|error| failure::of_file("", &error))?);
    let found = Reading::of(&over, progress)?;
    if found.faults.is_empty() {
        return Ok(None);
    }
    let repaired = put_aside(disk, &found)?;
    let is_journal_damaged = !found.journal.damages.is_empty();
    drop((found, over));

    let keeping = Arc::new(Keeping::new(Arc::clone(disk)));
    let kept: Arc<dyn Disk> = Arc::clone(&keeping) as Arc<dyn Disk>;
    let mut reading = Reading::of(&kept, &mut |_| {})?;
    keeping.let_go();
    let options = Options {
        background: Background::Inline,
        journal_segment_bytes: SEGMENT_BYTES,
        ..Options::new(Arc::clone(&kept))
    };
    if !is_journal_damaged {
        Engine::fold(options, held, reading.state, JOURNAL_DIR)?;
        return Ok(Some(repaired));
    }
    let failed = |error: io::Error| failure::of_file(NEW_JOURNAL_DIR, &error);
    disk.remove_dir(NEW_JOURNAL_DIR).map_err(failed)?;
    let last = Position(reading.state.position);
    // The new journal begins with the messages that no store has taken yet; the old one kept them.
    let kept = reading.state.collected.keep_at(last.next().0);
    let first = kept.map_or(Record::Many(Vec::new()), Record::Messages);
    let mut begins = Vec::new();
    first.encode(&mut begins);
    let segment_bytes = options.journal_segment_bytes;
    let begun = journal::begin_after(disk, NEW_JOURNAL_DIR, segment_bytes, last, &begins);
    begun.map_err(failure::of_journal)?;
    reading.state.position = last.next().0;
    Engine::fold(options, held, reading.state, NEW_JOURNAL_DIR)?;
    replace_journal(&**disk, &repaired.folder).map_err(failed)?;
    Ok(Some(repaired))
}

/// Copies what is damaged into a folder of its own, with the report. The originals stay.
fn put_aside(disk: &Arc<dyn Disk>, found: &Reading) -> Result<Repaired> {
    let failed = |error: io::Error| failure::of_file("", &error);
    let folder = new_folder(&**disk).map_err(failed)?;
    let mut files = BTreeSet::from([manifest::PATH.to_owned()]);
    let named = found.faults.iter().map(|fault| &fault.file);
    for path in named.chain(&found.left_out) {
        let mut below = Vec::new();
        match disk.list(path) {
            Ok(_) => list_files(&**disk, path, &mut below).map_err(failed)?,
            Err(_) if disk.exists(path).map_err(failed)? => below.push(path.clone()),
            Err(_) => {} // missing: that is the fault
        }
        files.extend(below);
    }
    for path in &files {
        let to = format!("{folder}/{path}");
        let copy = || {
            if let Some((parent, _)) = to.rsplit_once('/') {
                disk.create_dir(parent)?;
            }
            link_or_copy(disk, path, &**disk, &to)
        };
        copy().map_err(|error| failure::of_file(path, &error))?;
    }
    if !found
        .faults
        .iter()
        .any(|fault| fault.file == manifest::PATH)
    {
        files.remove(manifest::PATH); // it is there beside the others, undamaged
    }
    let repaired = Repaired {
        folder,
        aside: files.into_iter().collect(),
        faults: found.faults.clone(),
        losses: found.losses.clone(),
        documents_saved: found.documents_saved,
    };
    write_report(&**disk, &repaired).map_err(failed)?;
    Ok(repaired)
}

/// The first `damaged-<n>` that is not there.
fn new_folder(disk: &dyn Disk) -> io::Result<String> {
    let mut number = 1;
    loop {
        let folder = format!("damaged-{number}");
        if !disk.exists(&folder)? {
            disk.create_dir(&folder)?;
            return Ok(folder);
        }
        number += 1;
    }
}

fn write_report(disk: &dyn Disk, repaired: &Repaired) -> io::Result<()> {
    let mut text = String::from("What was damaged:\n");
    for fault in &repaired.faults {
        text += &format!("{fault}\n");
    }
    text += "\nWhat is lost:\n";
    for loss in &repaired.losses {
        text += &format!("{loss}\n");
    }
    let file = disk.create(&format!("{}/{REPORT}", repaired.folder))?;
    file.write_at(0, text.as_bytes())?;
    file.sync()?;
    let mut folders = vec![repaired.folder.clone()];
    let mut next = 0;
    while let Some(folder) = folders.get(next).cloned() {
        for name in disk.list(&folder)? {
            let path = format!("{folder}/{name}");
            if disk.list(&path).is_ok() {
                folders.push(path);
            }
        }
        disk.sync_dir(&folder)?;
        next += 1;
    }
    disk.sync_dir("")
}

/// The manifest has everything: the new journal takes the old one's place.
fn replace_journal(disk: &dyn Disk, folder: &str) -> io::Result<()> {
    let aside = format!("{folder}/whole-journal");
    if disk.exists(JOURNAL_DIR)? {
        disk.rename(JOURNAL_DIR, &aside)?;
        disk.sync_dir(folder)?;
        disk.sync_dir("")?;
    }
    disk.rename(NEW_JOURNAL_DIR, JOURNAL_DIR)?;
    disk.sync_dir("")
}
