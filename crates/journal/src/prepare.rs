//! Making segments before they are needed, and putting away those that are not needed any more.
//!
//! A segment is filled with zeroes and synced, then named, and the folder synced; only then is a frame written to it.
//! So a sync of frames never waits for the file system to allocate blocks or to record a new length. An emptied segment
//! is given a new name instead: its stale frames carry another epoch and salt, and mean nothing under that name.
//!
//! Emptied segments go lowest first, each durably before the next, so that a crash never leaves a hole between those
//! that remain: a hole is always damage.

use crate::frame::SegmentId;
use crate::limits::SPARES_MAX;
use crate::segment::{FileName, Segment, path_in, segment_name, spare_name, temporary_name};
use crate::{Error, Position, Result};
use disk::Disk;
use std::collections::VecDeque;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

/// Zeroes are written and synced in pieces of this size, so that the syncs of frames in between do not wait long.
const FILL_BYTES: usize = 2 << 20;

/// Who prepares the next segment while one is being written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preparation {
    /// The caller of `append`, when a segment is begun: for tests, which want the same order of calls every time.
    Inline,
    /// A thread of the journal's own, so that `append` does not wait.
    Background,
}

/// Does the work, on whichever thread.
pub(crate) struct Workshop {
    disk: Arc<dyn Disk>,
    dir: String,
    segment_bytes: u64,
    /// Names of files of exactly `segment_bytes` that are free to be renamed.
    spares: VecDeque<String>,
    spare_bytes: Arc<AtomicU64>,
}

impl Workshop {
    /// `spares` are names found in the folder; those that are of another length or too many are removed.
    pub(crate) fn new(
        disk: Arc<dyn Disk>,
        dir: &str,
        segment_bytes: u64,
        spares: Vec<String>,
    ) -> Result<Workshop> {
        let mut workshop = Workshop {
            disk,
            dir: dir.to_owned(),
            segment_bytes,
            spares: VecDeque::new(),
            spare_bytes: Arc::new(AtomicU64::new(0)),
        };
        for name in spares {
            let path = workshop.path(&name);
            let keep = workshop.disk.open(&path).and_then(|file| file.len());
            let keep = keep.map_err(|source| Error::Io {
                file: path.clone(),
                source,
            })? == segment_bytes;
            if keep && workshop.spares.len() < SPARES_MAX {
                workshop.spares.push_back(name);
            } else {
                workshop
                    .disk
                    .remove(&path)
                    .map_err(|source| Error::Io { file: path, source })?;
            }
        }
        workshop.count_spares();
        Ok(workshop)
    }

    /// A segment ready to be written, its name and content durable. Errors: `Full`, after which nothing has changed;
    /// `Poisoned` for all else, because the names in the folder are then unknown.
    pub(crate) fn prepare(&mut self, epoch: u64) -> Result<Segment> {
        let id = SegmentId {
            epoch,
            salt: draw_salt(),
        };
        let path = self.path(&segment_name(id));
        let prepared = self
            .rename_spare(&path)
            .and_then(|renamed| if renamed { Ok(()) } else { self.fill(&path) });
        match prepared {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::StorageFull => return Err(Error::Full),
            Err(error) => return Err(poisoned(&path, &error)),
        }
        let opened = self
            .disk
            .sync_dir(&self.dir)
            .and_then(|()| self.disk.open(&path));
        let file = opened.map_err(|error| poisoned(&path, &error))?;
        Ok(Segment {
            id,
            path,
            file,
            len: self.segment_bytes,
            first: Position(0),
            end: 0,
        })
    }

    fn rename_spare(&mut self, path: &str) -> io::Result<bool> {
        let Some(name) = self.spares.front() else {
            return Ok(false);
        };
        self.disk.rename(&self.path(name), path)?;
        self.spares.pop_front();
        self.count_spares();
        Ok(true)
    }

    fn fill(&self, path: &str) -> io::Result<()> {
        let temporary = self.path(&temporary_name());
        let filled = self.fill_temporary(&temporary);
        if filled.is_err() {
            // Give the room back at once; what cannot be removed now is removed by the next attempt or at the next open.
            let _ = self.disk.remove(&temporary);
        }
        filled.and_then(|()| self.disk.rename(&temporary, path))
    }

    fn fill_temporary(&self, temporary: &str) -> io::Result<()> {
        // A device that is nearly full is asked often: it should not be filled to the brim every time.
        if self.disk.space()?.free_bytes < self.segment_bytes {
            return Err(ErrorKind::StorageFull.into());
        }
        match self.disk.remove(temporary) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let file = self.disk.create(temporary)?;
        let zeroes = vec![0; FILL_BYTES.min(self.segment_bytes as usize)];
        let mut offset = 0;
        while offset < self.segment_bytes {
            let piece = zeroes.len().min((self.segment_bytes - offset) as usize);
            file.write_at(offset, &zeroes[..piece])?;
            file.sync()?;
            offset += piece as u64;
        }
        Ok(())
    }

    /// Puts emptied segments away, lowest first.
    pub(crate) fn retire(&mut self, segments: Vec<Segment>) -> Result<()> {
        for segment in segments {
            let retired = self
                .retire_one(&segment)
                .and_then(|()| self.disk.sync_dir(&self.dir));
            retired.map_err(|error| poisoned(&segment.path, &error))?;
        }
        self.count_spares();
        Ok(())
    }

    fn retire_one(&mut self, segment: &Segment) -> io::Result<()> {
        if segment.len != self.segment_bytes || self.spares.len() >= SPARES_MAX {
            return self.disk.remove(&segment.path);
        }
        let name = spare_name(segment.id);
        self.disk.rename(&segment.path, &self.path(&name))?;
        self.spares.push_back(name);
        Ok(())
    }

    fn count_spares(&self) {
        self.spare_bytes.store(
            self.spares.len() as u64 * self.segment_bytes,
            Ordering::Relaxed,
        );
    }

    fn path(&self, name: &str) -> String {
        path_in(&self.dir, name)
    }
}

/// A number that nobody outside the process can guess, seeded by the system.
pub(crate) fn draw_salt() -> u64 {
    RandomState::new().build_hasher().finish()
}

pub(crate) fn poisoned(path: &str, error: &io::Error) -> Error {
    Error::Poisoned {
        file: path.to_owned(),
        cause: error.to_string(),
    }
}

/// The journal's side of the workshop.
pub(crate) struct Preparer {
    worker: Worker,
    /// Segments asked for and not yet taken.
    outstanding: usize,
    spare_bytes: Arc<AtomicU64>,
}

enum Worker {
    Inline {
        workshop: Workshop,
        prepared: VecDeque<Result<Segment>>,
    },
    Background {
        jobs: Option<Sender<Job>>,
        prepared: Receiver<Result<Segment>>,
        thread: Option<JoinHandle<()>>,
    },
}

enum Job {
    Prepare(u64),
    Retire(Vec<Segment>),
}

impl Preparer {
    pub(crate) fn new(workshop: Workshop, preparation: Preparation) -> Result<Preparer> {
        let spare_bytes = Arc::clone(&workshop.spare_bytes);
        let worker = match preparation {
            Preparation::Inline => Worker::Inline {
                workshop,
                prepared: VecDeque::new(),
            },
            Preparation::Background => background(workshop)?,
        };
        Ok(Preparer {
            worker,
            outstanding: 0,
            spare_bytes,
        })
    }

    /// Asks for a segment; `take` returns it, or the error.
    pub(crate) fn request(&mut self, epoch: u64) {
        self.outstanding += 1;
        match &mut self.worker {
            Worker::Inline { workshop, prepared } => prepared.push_back(workshop.prepare(epoch)),
            Worker::Background { jobs, .. } => send(jobs.as_ref(), Job::Prepare(epoch)),
        }
    }

    /// Segments asked for and not yet taken.
    pub(crate) fn outstanding(&self) -> usize {
        self.outstanding
    }

    /// A segment that is ready, if one is.
    pub(crate) fn take(&mut self) -> Option<Result<Segment>> {
        let taken = match &mut self.worker {
            Worker::Inline { prepared, .. } => prepared.pop_front(),
            Worker::Background { prepared, .. } => prepared.try_recv().ok(),
        };
        self.outstanding = self
            .outstanding
            .saturating_sub(usize::from(taken.is_some()));
        taken
    }

    /// The next segment that was asked for. Blocks until it is ready.
    pub(crate) fn wait(&mut self) -> Result<Segment> {
        self.outstanding = self.outstanding.saturating_sub(1);
        let gone = || Error::Poisoned {
            file: String::new(),
            cause: "the preparing thread is gone".to_owned(),
        };
        match &mut self.worker {
            Worker::Inline { prepared, .. } => prepared.pop_front().ok_or_else(gone)?,
            Worker::Background { prepared, .. } => prepared.recv().map_err(|_| gone())?,
        }
    }

    /// Puts emptied segments away, lowest first. A background thread reports what fails at the next `take` or `wait`.
    pub(crate) fn retire(&mut self, segments: Vec<Segment>) -> Result<()> {
        match &mut self.worker {
            Worker::Inline { workshop, .. } => workshop.retire(segments),
            Worker::Background { jobs, .. } => {
                send(jobs.as_ref(), Job::Retire(segments));
                Ok(())
            }
        }
    }

    /// Room that spare files take. Bytes.
    pub(crate) fn spare_bytes(&self) -> u64 {
        self.spare_bytes.load(Ordering::Relaxed)
    }
}

/// A thread that is gone shows when its results are waited for.
fn send(jobs: Option<&Sender<Job>>, job: Job) {
    if let Some(jobs) = jobs {
        let _ = jobs.send(job);
    }
}

fn background(mut workshop: Workshop) -> Result<Worker> {
    let (jobs, incoming) = channel();
    let (outgoing, prepared) = channel();
    let dir = workshop.dir.clone();
    let work = move || {
        for job in incoming {
            let result = match job {
                Job::Prepare(epoch) => Some(workshop.prepare(epoch)),
                Job::Retire(segments) => workshop.retire(segments).err().map(Err),
            };
            if result.is_some_and(|result| outgoing.send(result).is_err()) {
                return;
            }
        }
    };
    let thread = std::thread::Builder::new()
        .name("journal-prepare".to_owned())
        .spawn(work);
    let thread = thread.map_err(|source| Error::Io { file: dir, source })?;
    Ok(Worker::Background {
        jobs: Some(jobs),
        prepared,
        thread: Some(thread),
    })
}

impl Drop for Preparer {
    /// Waits for the job in hand, so that the folder is still when the journal is gone.
    fn drop(&mut self) {
        if let Worker::Background { jobs, thread, .. } = &mut self.worker {
            drop(jobs.take());
            if let Some(thread) = thread.take() {
                let _ = thread.join();
            }
        }
    }
}

/// What the folder holds, sorted by epoch.
pub(crate) struct Listing {
    pub(crate) segments: Vec<SegmentId>,
    pub(crate) spares: Vec<String>,
}

/// Lists the folder, making it where it is missing, and removes what an interrupted preparation left. All names are
/// durable when it returns: also those that an earlier process made and had no time to sync.
pub(crate) fn list(disk: &dyn Disk, dir: &str) -> io::Result<Listing> {
    disk.create_dir(dir)?;
    let mut listing = Listing {
        segments: Vec::new(),
        spares: Vec::new(),
    };
    for name in disk.list(dir)? {
        match FileName::parse(&name) {
            FileName::Segment(id) => listing.segments.push(id),
            FileName::Spare => listing.spares.push(name),
            FileName::Temporary => disk.remove(&path_in(dir, &name))?,
            FileName::Other => {}
        }
    }
    let mut folder = dir;
    loop {
        disk.sync_dir(folder)?;
        if folder.is_empty() {
            break;
        }
        folder = folder.rsplit_once('/').map_or("", |(parent, _)| parent);
    }
    listing.segments.sort_unstable();
    Ok(listing)
}
