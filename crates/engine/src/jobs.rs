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

/// One piece of background work, with a copy of all that it needs. `position`: the last record that the result covers.
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
    /// The rows of a segment in other columns.
    Reshape(index::ReshapeJob),
    /// Files that the durable manifest does not name.
    Remove(index::Removal),
    /// Memory that is freed on the job's thread, because that takes long.
    Discard(Vec<Garbage>),
}

/// A value that is only dropped.
pub(crate) type Garbage = Box<dyn std::any::Any + Send>;

/// The kind of a job: it tells which thread does it, and which function of the engine takes its result in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// A seal or fold. Its file comes into use with the next manifest.
    Fold,
    /// A merge of levels of standing queries in memory.
    Merge,
    Manifest,
    /// A merge of a queue's files.
    MergeRows,
    /// A merge of a search table's segments. A checkpoint does not wait for it: the old segments hold the same rows.
    MergeSegments,
    /// A segment of a table that is being altered. A checkpoint does not wait for it: no file is used before the ALTER is done.
    Reshape,
    Remove,
    Discard,
}

impl Task {
    /// Whether a checkpoint waits for such a job.
    fn is_awaited(self) -> bool {
        !matches!(self, Task::MergeSegments | Task::Reshape)
    }

    fn line(self) -> JobLine {
        match self {
            Task::MergeRows | Task::MergeSegments | Task::Reshape => JobLine::Merges,
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
            Work::Reshape(_) => Task::Reshape,
            Work::Remove(_) => Task::Remove,
            Work::Discard(_) => Task::Discard,
        }
    }
}

/// A job that has ended, well or badly.
pub(crate) struct Finished {
    pub(crate) table: TableId,
    pub(crate) position: u64,
    /// The kind of the job, also of one that failed.
    pub(crate) task: Task,
    pub(crate) made: Result<Made>,
}

pub(crate) enum Made {
    Segment(Box<index::Sealed>),
    Queries(QueryFile),
    /// Path of the new file, if it could be written.
    Counts(Result<String>),
    /// The new file; `None` if every row was removed meanwhile.
    Rows(Option<ChunkFile>),
    MergedRows(Option<ChunkFile>),
    Merged(Box<percolate::Merged>),
    MergedSegments(Box<index::Merged>),
    Reshaped(Box<index::Reshaped>),
    /// The files that could not be removed, with the error.
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
            Work::Reshape(job) => {
                let reshaped = job.run().map(Box::new);
                reshaped.map(Made::Reshaped).map_err(failed)
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

/// Which thread does background jobs: seals, folds, merges, manifests, backups. None of them reads the engine's state.
#[derive(Clone)]
pub enum Background {
    /// Three threads, one for [`JobLine::Folds`], one for [`JobLine::Merges`] and one that frees memory, and one more for each
    /// backup.
    Threads,
    /// The engine's thread, at once: for tests.
    Inline,
    /// The thread of a test, when it calls [`HeldJobs::run`].
    Held(HeldJobs),
}

/// Jobs that a test has done one by one, so that it can place commands and crashes before and after each.
///
/// Each [`JobLine`] keeps its order, as its thread in a server would. An engine that waits for jobs, as a checkpoint does, does
/// the held jobs itself, except backups.
#[derive(Clone, Default)]
pub struct HeldJobs(Arc<Mutex<Held>>);

/// Jobs that are done in order, one after the other, by one thread of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum JobLine {
    /// Seals, folds, merges of standing queries, manifests, removals of files, freeing of memory.
    Folds,
    /// Merges of queues' files and of segments.
    Merges,
    /// Copies of a backup: each has a thread of its own, and at most one backup runs.
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

/// Work without a result for the engine, such as a backup, which sends its own reply.
pub(crate) type Detached = Box<dyn FnOnce() + Send>;

impl HeldJobs {
    /// Does the oldest job of a line, on the calling thread; false if the line is empty. The engine takes the result in with its
    /// next [`crate::Engine::step`].
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

/// The jobs under way, and the threads that do them.
pub(crate) struct Jobs {
    done_by: DoneBy,
    /// Results of jobs that the engine's thread has done itself.
    inline: Vec<Finished>,
    /// Number of jobs under way that a checkpoint waits for.
    running: usize,
}

enum DoneBy {
    Threads(Threads),
    Caller,
    Test(HeldJobs),
}

struct Threads {
    /// Does the jobs of [`JobLine::Folds`].
    first: Worker,
    /// Does the jobs of [`JobLine::Merges`]: they take long, and no fold or manifest must stand behind them.
    second: Worker,
    /// Frees memory. Behind the seals of eight tables, what was freed already would stay in memory beside what is to be sealed.
    third: Worker,
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
    /// Starts the threads. Errors: `Internal`, if the system gives none.
    fn start() -> Result<Threads> {
        let (done, finished) = channel();
        let waker = Arc::new(Mutex::new(None::<Waker>));
        Ok(Threads {
            first: Worker::start("seine-fold", done.clone(), Arc::clone(&waker))?,
            second: Worker::start("seine-merge", done.clone(), Arc::clone(&waker))?,
            third: Worker::start("seine-discard", done, Arc::clone(&waker))?,
            finished,
            waker,
        })
    }
}

impl Jobs {
    /// Starts the threads of [`Background::Threads`]. Errors: `Internal`, if the system gives none.
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

    /// Sets the waker that a thread calls after each job.
    pub(crate) fn wake_by(&self, waker: Waker) {
        if let DoneBy::Threads(threads) = &self.done_by {
            *threads.waker.lock().unwrap_or_else(PoisonError::into_inner) = Some(waker);
        }
    }

    /// Hands a job to its thread. Inline, or if that thread is gone, does it at once.
    pub(crate) fn start(&mut self, job: Job) {
        let task = job.work.task();
        self.running += usize::from(task.is_awaited());
        let line = task.line();
        match &self.done_by {
            DoneBy::Caller => self.inline.push(job.run()),
            DoneBy::Test(held) => held.hold(line, HeldWork::Job(job)),
            DoneBy::Threads(threads) => {
                let worker = match (task, line) {
                    (Task::Discard, _) => &threads.third,
                    (_, JobLine::Merges) => &threads.second,
                    (_, JobLine::Folds | JobLine::Backups) => &threads.first,
                };
                let sent = match &worker.jobs {
                    Some(jobs) => jobs.send(job).map_err(|lost| lost.0),
                    None => Err(job),
                };
                if let Err(lost) = sent {
                    self.inline.push(lost.run()); // the thread is gone
                }
            }
        }
    }

    /// Does work on a thread of its own. If the system gives no thread, the work is dropped.
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

    /// Takes the results of jobs that have ended. `wait`: blocks until there is at least one, unless no job that a checkpoint
    /// waits for is under way.
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
                        Err(_) => self.running = 0, // the threads are gone, and their jobs with them
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
