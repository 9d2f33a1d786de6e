//! Work that needs no state: seals, folds, merges of segments and of standing queries, manifests, on a thread of their own or, in tests, on the engine's.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use crate::catalog::TableId;
use crate::error::{Error, Result};
use crate::failure;
use crate::mailbox::Waker;
use crate::manifest::{ManifestJob, WrittenManifest};
use crate::table::percolate::counts::CountsJob;
use crate::table::percolate::file::{QueryFile, QueryFileJob};
use crate::table::queue::{ChunkFile, FoldJob, MergeRowsJob};

/// One piece of work. `position`: the last record that the result covers.
pub(crate) struct Job {
    pub(crate) table: TableId,
    pub(crate) position: u64,
    pub(crate) work: Work,
}

pub(crate) enum Work {
    Seal(index::SealJob),
    Queries(QueryFileJob),
    Counts(CountsJob),
    /// With the number that the queue's next row got at the position.
    Rows(FoldJob, u64),
    /// Changes how queries lie in memory: nothing for a file.
    Merge(percolate::MergeJob),
    Manifest(ManifestJob),
    MergeRows(MergeRowsJob),
    MergeSegments(index::MergeJob),
    /// Files that the durable manifest does not name.
    Remove(index::Removal),
    /// Only to be freed.
    Discard(Vec<Garbage>),
}

/// Anything that is only to be freed.
pub(crate) type Garbage = Box<dyn std::any::Any + Send>;

/// Who takes the result in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// A seal or fold: for the manifest.
    Fold,
    /// Of standing queries in memory.
    Merge,
    Manifest,
    /// Of a queue's files.
    MergeRows,
    /// Of a search table's segments. A checkpoint does not wait for it: the old segments hold all of it.
    MergeSegments,
    Remove,
    Discard,
}

impl Task {
    fn is_awaited(self) -> bool {
        self != Task::MergeSegments
    }
}

impl Work {
    fn task(&self) -> Task {
        match self {
            Work::Seal(_) | Work::Queries(_) | Work::Counts(_) | Work::Rows(..) => Task::Fold,
            Work::Merge(_) => Task::Merge,
            Work::Manifest(_) => Task::Manifest,
            Work::MergeRows(_) => Task::MergeRows,
            Work::MergeSegments(_) => Task::MergeSegments,
            Work::Remove(_) => Task::Remove,
            Work::Discard(_) => Task::Discard,
        }
    }
}

/// What became of it.
pub(crate) struct Finished {
    pub(crate) table: TableId,
    pub(crate) position: u64,
    /// What it was, even where it failed.
    pub(crate) task: Task,
    pub(crate) made: Result<Made>,
}

pub(crate) enum Made {
    Segment(Box<index::Sealed>),
    Queries(QueryFile),
    /// Path of the new file, if it could be written.
    Counts(Result<String>),
    /// The new file, if there were rows to write; the number of the next row.
    Rows(Option<ChunkFile>, u64),
    MergedRows(Option<ChunkFile>),
    Merged(Box<percolate::Merged>),
    MergedSegments(Box<index::Merged>),
    /// What is left, and why.
    Removed(index::Removal, Result<()>),
    Manifest(Box<WrittenManifest>),
    Nothing,
}

impl Job {
    pub(crate) fn run(self) -> Finished {
        let task = self.work.task();
        let failed = |error| failure::of_index(&format!("{}", self.table), error);
        let made = match self.work {
            Work::Seal(job) => job.run().map(Box::new).map(Made::Segment).map_err(failed),
            Work::MergeSegments(job) => {
                let merged = job.run().map(Box::new);
                merged.map(Made::MergedSegments).map_err(failed)
            }
            Work::Remove(mut removal) => {
                let removed = removal.run().map_err(failed);
                Ok(Made::Removed(removal, removed))
            }
            Work::Queries(job) => job.run().map(Made::Queries),
            Work::Counts(job) => Ok(Made::Counts(job.run())),
            Work::Rows(job, next) => job.run().map(|file| Made::Rows(file, next)),
            Work::Merge(job) => Ok(Made::Merged(Box::new(job.run()))),
            Work::Manifest(job) => Ok(Made::Manifest(Box::new(job.run()))),
            Work::MergeRows(job) => job.run().map(Made::MergedRows),
            Work::Discard(garbage) => {
                drop(garbage);
                Ok(Made::Nothing)
            }
        };
        Finished {
            table: self.table,
            position: self.position,
            task,
            made,
        }
    }
}

/// Work under way.
pub(crate) struct Jobs {
    background: Option<Background>,
    inline: Vec<Finished>,
    /// Pieces that a checkpoint waits for.
    running: usize,
}

struct Background {
    /// For most, one after the other.
    first: Worker,
    /// For merges of queues' files and of segments, which take long and which nobody waits for.
    second: Worker,
    finished: Receiver<Finished>,
    waker: Arc<Mutex<Option<Waker>>>,
}

/// A thread with its queue of jobs.
struct Worker {
    jobs: Option<Sender<Job>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Worker {
    fn start(
        name: &str,
        done: Sender<Finished>,
        waker: Arc<Mutex<Option<Waker>>>,
    ) -> Result<Worker> {
        let (jobs, queue) = channel::<Job>();
        let work = move || {
            for job in queue {
                let (table, position) = (job.table, job.position);
                let task = job.work.task();
                let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| job.run()));
                let made = Err(Error::internal("panic in background work"));
                let outcome = outcome.unwrap_or(Finished {
                    table,
                    position,
                    task,
                    made,
                });
                if done.send(outcome).is_err() {
                    break;
                }
                if let Some(waker) = &*waker.lock().unwrap_or_else(PoisonError::into_inner) {
                    waker.wake();
                }
            }
        };
        let thread = std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(work);
        let thread =
            thread.map_err(|error| Error::internal(format!("no background thread: {error}")))?;
        Ok(Worker {
            jobs: Some(jobs),
            thread: Some(thread),
        })
    }
}

impl Jobs {
    /// Work done at once, on the caller's thread.
    pub(crate) fn inline() -> Jobs {
        Jobs {
            background: None,
            inline: Vec::new(),
            running: 0,
        }
    }

    /// Work done by new threads, each one piece after the other.
    pub(crate) fn background() -> Result<Jobs> {
        let (done, finished) = channel();
        let waker = Arc::new(Mutex::new(None::<Waker>));
        let background = Background {
            first: Worker::start("seine-fold", done.clone(), Arc::clone(&waker))?,
            second: Worker::start("seine-merge", done, Arc::clone(&waker))?,
            finished,
            waker,
        };
        Ok(Jobs {
            background: Some(background),
            inline: Vec::new(),
            running: 0,
        })
    }

    /// Who is to be woken when a piece is finished.
    pub(crate) fn wake_by(&self, waker: Waker) {
        if let Some(background) = &self.background {
            *background
                .waker
                .lock()
                .unwrap_or_else(PoisonError::into_inner) = Some(waker);
        }
    }

    pub(crate) fn start(&mut self, job: Job) {
        let task = job.work.task();
        self.running += usize::from(task.is_awaited());
        let is_long = matches!(task, Task::MergeRows | Task::MergeSegments);
        let worker = self.background.as_ref().map(|background| match is_long {
            true => &background.second,
            false => &background.first,
        });
        match worker.and_then(|worker| worker.jobs.as_ref()) {
            None => self.inline.push(job.run()),
            Some(jobs) => {
                if let Err(lost) = jobs.send(job) {
                    self.inline.push(lost.0.run()); // the thread is gone: do it here
                }
            }
        }
    }

    /// What is finished; with `wait`, at least one piece if any is under way that is waited for.
    pub(crate) fn finished(&mut self, wait: bool) -> Vec<Finished> {
        let mut finished = std::mem::take(&mut self.inline);
        if let Some(background) = &self.background {
            if wait && finished.is_empty() && self.running > 0 {
                match background.finished.recv() {
                    Ok(first) => finished.push(first),
                    Err(_) => self.running = 0, // the thread is gone, and what it had with it
                }
            }
            finished.extend(background.finished.try_iter());
        }
        let awaited = finished.iter().filter(|done| done.task.is_awaited());
        self.running = self.running.saturating_sub(awaited.count());
        finished
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.jobs = None; // the thread's queue ends
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // it catches its own panics
        }
    }
}
