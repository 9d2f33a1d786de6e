//! Background jobs: seals, folds, merges, manifests, backups. The engine's thread starts a job with a copy of all that it needs,
//! goes on, and installs the result in a later turn. Each [`JobLine`] has a thread of its own; in tests the engine's thread
//! may do the work, or a test holds it back.

use std::collections::{BTreeMap, VecDeque};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use queue::{ChunkFile, FoldJob, MergeRowsJob};

use crate::catalog::TableId;
use crate::error::{Error, Result};
use crate::failure;
use crate::mailbox::Waker;
use crate::manifest::{ManifestJob, WrittenManifest};
use crate::table::standing::counts::CountsJob;
use crate::table::standing::file::{QueryFile, QueryFileJob};

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
    Rows(FoldJob),
    /// Joins levels of standing queries in memory. It writes no file.
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

    fn line(self) -> JobLine {
        match self {
            Task::MergeRows | Task::MergeSegments => JobLine::Merges,
            Task::Fold | Task::Merge | Task::Manifest | Task::Remove | Task::Discard => {
                JobLine::Folds
            }
        }
    }
}

impl Work {
    fn task(&self) -> Task {
        match self {
            Work::Seal(_) | Work::Queries(_) | Work::Counts(_) | Work::Rows(_) => Task::Fold,
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
    /// The new file, if there were rows to write.
    Rows(Option<ChunkFile>),
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
        let failed = failure::of_index;
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
            Work::Rows(job) => job.run().map(Made::Rows).map_err(Error::from),
            Work::Merge(job) => Ok(Made::Merged(Box::new(job.run()))),
            Work::Manifest(job) => Ok(Made::Manifest(Box::new(job.run()))),
            Work::MergeRows(job) => job.run().map(Made::MergedRows).map_err(Error::from),
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

/// Where work that needs no state is done: seals, folds, merges, manifests, backups.
#[derive(Clone)]
pub enum Background {
    /// On threads of their own.
    Threads,
    /// On the engine's thread, at once: for tests.
    Inline,
    /// Where and when a test says so.
    Held(HeldJobs),
}

/// Pieces of work that a test has done one by one, so that commands and crashes can fall before and after each.
///
/// Each [`JobLine`] keeps its order, as the thread in its place would. An engine that waits for work, such as a checkpoint, does
/// what is held itself.
#[derive(Clone, Default)]
pub struct HeldJobs(Arc<Mutex<Held>>);

/// What is done by one thread in the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum JobLine {
    /// Seals, folds, manifests, removals.
    Folds,
    /// Merges of queues' files and of segments.
    Merges,
    /// Copies of a backup.
    Backups,
}

#[derive(Default)]
struct Held {
    waiting: BTreeMap<JobLine, VecDeque<HeldWork>>,
    finished: Vec<Finished>,
}

enum HeldWork {
    Job(Job),
    Detached(Detached),
}

/// Work whose result nobody takes in.
pub(crate) type Detached = Box<dyn FnOnce() + Send>;

impl HeldJobs {
    /// Does the next piece of a line; false where there is none. The engine takes the result in with its next step.
    pub fn run(&self, line: JobLine) -> bool {
        let next = self
            .held()
            .waiting
            .get_mut(&line)
            .and_then(VecDeque::pop_front);
        match next {
            None => return false,
            Some(HeldWork::Job(job)) => {
                let finished = job.run();
                self.held().finished.push(finished);
            }
            Some(HeldWork::Detached(work)) => work(),
        }
        true
    }

    fn hold(&self, line: JobLine, work: HeldWork) {
        self.held().waiting.entry(line).or_default().push_back(work);
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Work under way.
pub(crate) struct Jobs {
    done_by: DoneBy,
    inline: Vec<Finished>,
    /// Pieces that a checkpoint waits for.
    running: usize,
}

enum DoneBy {
    Threads(Threads),
    Caller,
    Test(HeldJobs),
}

struct Threads {
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

impl Threads {
    /// Two, each of which does one piece after the other.
    fn start() -> Result<Threads> {
        let (done, finished) = channel();
        let waker = Arc::new(Mutex::new(None::<Waker>));
        Ok(Threads {
            first: Worker::start("seine-fold", done.clone(), Arc::clone(&waker))?,
            second: Worker::start("seine-merge", done, Arc::clone(&waker))?,
            finished,
            waker,
        })
    }
}

impl Jobs {
    /// Starts the threads, if there are to be some.
    pub(crate) fn new(background: &Background) -> Result<Jobs> {
        let done_by = match background {
            Background::Threads => DoneBy::Threads(Threads::start()?),
            Background::Inline => DoneBy::Caller,
            Background::Held(held) => DoneBy::Test(held.clone()),
        };
        Ok(Jobs {
            done_by,
            inline: Vec::new(),
            running: 0,
        })
    }

    /// Who is to be woken when a piece is finished.
    pub(crate) fn wake_by(&self, waker: Waker) {
        if let DoneBy::Threads(threads) = &self.done_by {
            *threads.waker.lock().unwrap_or_else(PoisonError::into_inner) = Some(waker);
        }
    }

    pub(crate) fn start(&mut self, job: Job) {
        let task = job.work.task();
        self.running += usize::from(task.is_awaited());
        let line = task.line();
        match &self.done_by {
            DoneBy::Caller => self.inline.push(job.run()),
            DoneBy::Test(held) => held.hold(line, HeldWork::Job(job)),
            DoneBy::Threads(threads) => {
                let worker = match line {
                    JobLine::Merges => &threads.second,
                    JobLine::Folds | JobLine::Backups => &threads.first,
                };
                let sent = match &worker.jobs {
                    Some(jobs) => jobs.send(job).map_err(|lost| lost.0),
                    None => Err(job),
                };
                if let Err(lost) = sent {
                    self.inline.push(lost.run()); // the thread is gone: do it here
                }
            }
        }
    }

    /// Does work on a thread of its own, whose result nobody takes in. Without a thread it is dropped.
    pub(crate) fn detach(&self, name: &str, work: Detached) {
        match &self.done_by {
            DoneBy::Caller => work(),
            DoneBy::Test(held) => held.hold(JobLine::Backups, HeldWork::Detached(work)),
            DoneBy::Threads(_) => {
                let thread = std::thread::Builder::new().name(name.to_owned());
                let _ = thread.spawn(work);
            }
        }
    }

    /// What is finished; with `wait`, at least one piece if any is under way that is waited for.
    pub(crate) fn finished(&mut self, wait: bool) -> Vec<Finished> {
        let mut finished = std::mem::take(&mut self.inline);
        match &self.done_by {
            DoneBy::Caller => {}
            DoneBy::Test(held) => {
                finished.append(&mut held.held().finished);
                let is_idle = || !held.run(JobLine::Folds) && !held.run(JobLine::Merges);
                if wait && finished.is_empty() && self.running > 0 && !is_idle() {
                    finished.append(&mut held.held().finished);
                }
            }
            DoneBy::Threads(threads) => {
                if wait && finished.is_empty() && self.running > 0 {
                    match threads.finished.recv() {
                        Ok(first) => finished.push(first),
                        Err(_) => self.running = 0, // the thread is gone, and what it had with it
                    }
                }
                finished.extend(threads.finished.try_iter());
            }
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
