//! Sends documents through callers and checks the counts of every pass.

use std::{
    ops::Range,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread,
    time::Instant,
};

use super::{
    Prepared,
    caller::{Caller, Counts},
};
use crate::{
    batch::{Batch, Sizes},
    error::{Error, Result},
    latency::Latencies,
    runs::{Effort, Run},
};

/// A caller with the sizes and times of its calls.
struct Worker<'c> {
    caller: Box<dyn Caller + 'c>,
    sizes: Sizes,
    latencies: Latencies,
}

/// Makes passes over all documents until the time is up. Every pass must give the workload's count of pairs, or with
/// `own_count` the count of the first pass.
pub(super) fn drive(
    callers: Vec<Box<dyn Caller + '_>>,
    prepared: &Prepared,
    batch: Batch,
    effort: Effort,
    own_count: bool,
    tick: &mut dyn FnMut(),
) -> Result<Run> {
    let mut workers: Vec<Worker<'_>> = callers
        .into_iter()
        .map(|caller| Worker {
            caller,
            sizes: Sizes::new(batch),
            latencies: Latencies::default(),
        })
        .collect();
    let documents = prepared.posts.len();
    let begun = Instant::now();
    let mut passes = 0;
    let mut expected = (!own_count).then_some(prepared.matches);
    while passes == 0 || begun.elapsed() < effort.run_time() {
        pass(documents, &mut workers)?;
        passes += 1;
        let pairs = workers.iter().map(|each| each.caller.counts().pairs).sum();
        let expected = *expected.get_or_insert(pairs);
        Error::unless_equal("pairs after a pass", expected * passes, pairs)?;
        tick();
    }
    let elapsed = begun.elapsed();
    let mut latencies = Latencies::default();
    for worker in &workers {
        latencies.merge(&worker.latencies);
    }
    let elements = passes * documents as u64;
    let facts = facts(&workers, elements);
    Ok(Run {
        elements,
        elapsed,
        latencies,
        facts,
    })
}

/// The counts, divided by the documents.
fn facts(workers: &[Worker<'_>], elements: u64) -> Vec<(&'static str, f64)> {
    let sum = |count: fn(&Counts) -> u64| {
        workers
            .iter()
            .map(|worker| count(&worker.caller.counts()))
            .sum::<u64>()
    };
    let counts = [
        ("candidates/doc", sum(|counts| counts.candidates)),
        ("visits/doc", sum(|counts| counts.visits)),
        ("matches/doc", sum(|counts| counts.pairs)),
        ("rows/doc", sum(|counts| counts.rows)),
    ];
    let seen = counts
        .into_iter()
        .filter(|(name, count)| *count > 0 || *name == "matches/doc");
    seen.map(|(name, count)| (name, count as f64 / elements.max(1) as f64))
        .collect()
}

/// Documents that a worker takes from the common counter at a time, at least. With one document a call, workers that took
/// each by itself would wait for the counter, as no two matchers do.
const TAKEN_MIN: usize = 64;

/// Makes a pass: each document once. A worker takes the next batches when it is free, with [`TAKEN_MIN`] or more
/// documents. The first failure ends all workers.
fn pass(documents: usize, workers: &mut [Worker<'_>]) -> Result<()> {
    let next = AtomicUsize::new(0);
    let failed = Mutex::new(None);
    let work = |worker: &mut Worker<'_>| {
        loop {
            let size = worker.sizes.next();
            let taken = size * TAKEN_MIN.div_ceil(size);
            let start = next.fetch_add(taken, Relaxed);
            if start >= documents {
                return;
            }
            let end = documents.min(start + taken);
            let calls = (start..end).step_by(size);
            for call in calls.map(|from| from..end.min(from + size)) {
                if let Err(error) = worker.take(call) {
                    next.store(documents, Relaxed);
                    *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                    return;
                }
            }
        }
    };
    match workers {
        [single] => work(single),
        several => thread::scope(|scope| {
            for worker in several {
                scope.spawn(|| work(worker));
            }
        }),
    }
    let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    failed.map_or(Ok(()), Err)
}

impl Worker<'_> {
    fn take(&mut self, documents: Range<usize>) -> Result<()> {
        let count = documents.len();
        let begun = Instant::now();
        self.caller.call(documents)?;
        let time = begun.elapsed();
        self.latencies.add(time);
        self.sizes.took(count, time);
        Ok(())
    }
}
