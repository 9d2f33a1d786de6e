//! Preparing segments before they are needed, and retiring trimmed ones.
//!
//! Preparing: write zeroes to `prepared.tmp`, sync it, rename it to the segment's name, sync the folder. Frames come after
//! that, so their syncs never wait for the file system to allocate blocks or to record a new length. Where there is a spare,
//! preparing only renames it: its stale frames carry another epoch and salt.
//!
//! Retiring: segments go lowest epoch first, each durably before the next. If 5 and 6 of the segments 5 to 7 are trimmed, a
//! crash leaves 5 to 7, or 6 and 7, or 7; never 5 and 7. So a gap in the epochs is always damage.

use std::collections::VecDeque;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use disk::Disk;

use crate::frame::SegmentId;
use crate::limits::SPARES_MAX;
use crate::segment::{FileName, Segment, path_in, segment_name, spare_name, temporary_name};
use crate::{Error, Position, Result};

/// Zeroes are written and synced in pieces of this, so that a sync of frames in between waits for one piece at most. Bytes.
const FILL_BYTES: usize = 2 << 20;

/// The thread that prepares and retires segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preparation {
    /// The caller's: for tests, whose calls to the device then always come in the same order.
    Inline,
    /// One of the journal's own, so that `append` rarely waits: [`crate::Status::stall_us`].
    Background,
}

/// Prepares and retires segments, on the thread that [`Preparation`] names.
pub(crate) struct Workshop {
    disk: Arc<dyn Disk>,
    dir: String,
    segment_bytes: u64,
    /// Names of spare files, each of exactly `segment_bytes`; at most [`SPARES_MAX`].
    spares: VecDeque<String>,
    /// Length of all spares, for [`Preparer::spare_bytes`] on the other thread. Bytes.
    spare_bytes: Arc<AtomicU64>,
}

impl Workshop {
    /// `spares`: names in the folder. Removes spares of another length, and those above [`SPARES_MAX`]. Error: `Io`.
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

    /// Makes a segment without frames; its name and its zeroes are durable. Errors: `Full`, after which nothing has changed;
    /// else `Poisoned`, because the names in the folder are unknown then.
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
            // Gives the room back at once. Where that fails, the next attempt or the next opening removes the file.
            let _ = self.disk.remove(&temporary);
        }
        filled.and_then(|()| self.disk.rename(&temporary, path))
    }

    fn fill_temporary(&self, temporary: &str) -> io::Result<()> {
        // While the device is nearly full this is tried often: without the check each try would fill the device.
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

    /// Renames trimmed segments to spares or removes them, in order, each durably. `segments`: lowest epoch first.
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

/// A random number that no client can guess: a record must not be able to imitate a frame.
pub(crate) fn draw_salt() -> u64 {
    RandomState::new().build_hasher().finish()
}

pub(crate) fn poisoned(path: &str, error: &io::Error) -> Error {
    Error::Poisoned {
        file: path.to_owned(),
        cause: error.to_string(),
    }
}

/// The journal's access to the workshop, which may be on another thread.
pub(crate) struct Preparer {
    worker: Worker,
    /// Segments that were requested and not yet taken.
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

    /// Requests a segment; `take` or `wait` returns it or the error. Requests are served in order.
    pub(crate) fn request(&mut self, epoch: u64) {
        self.outstanding += 1;
        match &mut self.worker {
            Worker::Inline { workshop, prepared } => prepared.push_back(workshop.prepare(epoch)),
            Worker::Background { jobs, .. } => send(jobs.as_ref(), Job::Prepare(epoch)),
        }
    }

    /// Segments that were requested and not yet taken.
    pub(crate) fn outstanding(&self) -> usize {
        self.outstanding
    }

    /// The next requested segment, if it is ready. Does not block.
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

    /// The next requested segment. Blocks until it is ready.
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

    /// Retires trimmed segments, lowest epoch first. An error on the background thread shows at the next `take` or `wait`.
    pub(crate) fn retire(&mut self, segments: Vec<Segment>) -> Result<()> {
        match &mut self.worker {
            Worker::Inline { workshop, .. } => workshop.retire(segments),
            Worker::Background { jobs, .. } => {
                send(jobs.as_ref(), Job::Retire(segments));
                Ok(())
            }
        }
    }

    /// Length of all spare files. Bytes.
    pub(crate) fn spare_bytes(&self) -> u64 {
        self.spare_bytes.load(Ordering::Relaxed)
    }
}

/// Sends a job. Where the thread has ended, `wait` reports it.
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
    /// Waits for the running job, so that no thread changes the folder after the journal is dropped.
    fn drop(&mut self) {
        if let Worker::Background { jobs, thread, .. } = &mut self.worker {
            drop(jobs.take());
            if let Some(thread) = thread.take() {
                let _ = thread.join();
            }
        }
    }
}

/// The segments and spares of a folder. Segments rise by epoch.
pub(crate) struct Listing {
    pub(crate) segments: Vec<SegmentId>,
    pub(crate) spares: Vec<String>,
}

/// Lists the folder, made where it is missing, and removes `prepared.tmp`. Syncs the folder and those above it, so that names
/// which an earlier process made and did not sync are durable too.
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
