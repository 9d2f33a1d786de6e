//! Many inputs to one summary, on the threads that the caller allows.
//!
//! ```text
//! inputs → decoder → block 0, 1, 2, … (4 MiB, cut before a record)     one worker at a time
//!                      ↓ parse                                          N workers, each with a tally of its own
//!                    batch 0, 1, 2, … of queries                        counted by the caller's thread in this order
//! ```
//!
//! Tallies merge in any order, and the batches are counted in the order of the blocks. So the summary does not depend on the
//! number of threads. A worker takes an empty batch before it takes a block: the batches bound the memory.

mod blocks;

use std::collections::BTreeMap;
use std::io::Read;
use std::num::NonZeroUsize;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::frame::{Framed, Records};
use super::limits::{BLOCK_BYTES, THREADS_MAX};
use super::place::Place;
use super::queries::{Batch, QueryTable};
use super::summary::{Summary, SummaryOptions, Tally};
use blocks::Blocks;

/// A log to read: a file, a stream or bytes in memory.
pub struct Input {
    /// The name in the report, such as a path.
    pub name: String,
    /// The server that wrote it; [`server_of_path`] finds it.
    pub server: String,
    /// Its bytes: plain, gzip or zstd, which the first four tell.
    pub read: Box<dyn Read + Send>,
}

/// How a log was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputReport {
    /// As of [`Input`].
    pub name: String,
    /// As of [`Input`].
    pub server: String,
    /// Lines read.
    pub lines: u64,
    /// Bytes read, after the decoder.
    pub bytes: u64,
    /// Why the reading ended before the end, such as a `.gz` that is cut. What was read before counts.
    pub cut: Option<String>,
}

/// What has been read so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Lines that were parsed and counted.
    pub lines: u64,
    /// Bytes after the decoder.
    pub bytes: u64,
}

/// Where the name of a server comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerRule {
    /// The name of the file, without the endings of rotation and compression.
    FileName,
    /// The name of its directory.
    Directory,
    /// The same for each file.
    Given(String),
}

/// The name of the server that wrote the log at `path`: `a/web1-query.log.2.gz` is of `web1-query` by the file and of `a` by the
/// directory. A path without a directory has the name of the file.
pub fn server_of_path(path: &str, rule: &ServerRule) -> String {
    let mut parts = path.rsplit('/').filter(|part| !part.is_empty());
    let file = parts.next().unwrap_or(path);
    match rule {
        ServerRule::Given(name) => name.clone(),
        ServerRule::Directory => match parts.next().filter(|part| *part != "." && *part != "..") {
            Some(directory) => directory.to_owned(),
            None => without_endings(file).to_owned(),
        },
        ServerRule::FileName => without_endings(file).to_owned(),
    }
}

/// The name without `.gz`, `.zst`, `.log` and the numbers or dates of rotation.
fn without_endings(file: &str) -> &str {
    let mut name = file;
    while let Some((before, ending)) = name.rsplit_once(['.', '-']) {
        let is_number = ending.bytes().all(|byte| byte.is_ascii_digit()) && !ending.is_empty();
        if before.is_empty() || !(is_number || ["gz", "zst", "log"].contains(&ending)) {
            break;
        }
        name = before;
    }
    name
}

/// Reads all inputs on `threads` workers, at most [`THREADS_MAX`], beside the caller's thread, which counts queries and calls
/// `on_progress` after each block.
///
/// Nothing in the inputs is an error: the reports say which inputs ended early and the summary has the unknown lines.
///
/// Memory: for each worker a block, two batches of some 4 MiB and a tally; one table of queries for all.
pub fn read_logs(
    inputs: Vec<Input>,
    options: &SummaryOptions,
    threads: NonZeroUsize,
    on_progress: &mut dyn FnMut(Progress),
) -> (Summary, Vec<InputReport>) {
    let blocks = Blocks::new(inputs, BLOCK_BYTES);
    let (summary, blocks) = read_blocks(blocks, options, threads, on_progress);
    (summary, blocks.into_reports())
}

/// Reads all inputs in their order, a record at a time, and gives each to `visit` with the server and the place, until it answers
/// `false`. Memory: one block.
pub fn read_records(
    inputs: Vec<Input>,
    visit: &mut dyn FnMut(&str, Place, Framed<'_>) -> bool,
) -> Vec<InputReport> {
    let mut blocks = Blocks::new(inputs, BLOCK_BYTES);
    let mut bytes = Vec::new();
    while let Some(block) = blocks.next_block(&mut bytes) {
        for record in Records::new(&bytes[..block.bytes]) {
            let place = Place {
                line: block.first.line + record.lines_before,
                ..block.first
            };
            if !visit(&block.server, place, record.framed) {
                return blocks.into_reports();
            }
        }
    }
    blocks.into_reports()
}

/// The queries of one block.
struct Parsed {
    sequence: u64,
    progress: Progress,
    batch: Batch,
}

/// What a worker tells the counting thread.
enum Message {
    Parsed(Parsed),
    /// The worker panicked; the batch of its block will not come.
    Stopped,
}

/// Tells that a worker panicked, so that nobody waits for its batch.
struct Farewell(Sender<Message>);

impl Drop for Farewell {
    fn drop(&mut self) {
        if thread::panicking() {
            // The counting thread may have gone already.
            let _ = self.0.send(Message::Stopped);
        }
    }
}

fn read_blocks(
    blocks: Blocks,
    options: &SummaryOptions,
    threads: NonZeroUsize,
    on_progress: &mut dyn FnMut(Progress),
) -> (Summary, Blocks) {
    let threads = threads.get().min(THREADS_MAX);
    let blocks = Mutex::new(blocks);
    let (free, taken) = channel();
    let taken = Mutex::new(taken);
    let (done, parsed) = channel();
    // A send fails only where the receiver is gone, and it is here.
    (0..2 * threads).for_each(|_| drop(free.send(Batch::default())));
    let mut queries = QueryTable::of_options(options.queries_max);
    let tally = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|_| {
                let farewell = Farewell(done.clone());
                scope.spawn(|| {
                    work(
                        &blocks,
                        &taken,
                        farewell,
                        Tally::new(options.filter.clone()),
                    )
                })
            })
            .collect();
        drop(done);
        count_in_order(&parsed, free, &mut queries, on_progress);
        let mut all = Tally::new(options.filter.clone());
        for worker in workers {
            match worker.join() {
                Ok(tally) => all.merge(tally),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    });
    let blocks = blocks.into_inner().unwrap_or_else(PoisonError::into_inner);
    (Summary::of_parts(tally, queries), blocks)
}

/// Parses blocks until there are none.
fn work(
    blocks: &Mutex<Blocks>,
    taken: &Mutex<Receiver<Batch>>,
    farewell: Farewell,
    mut tally: Tally,
) -> Tally {
    let mut bytes = Vec::new();
    loop {
        // A worker that panicked left the other's data whole: it only reads blocks and receives under these locks.
        let batch = taken.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(mut batch) = batch else {
            return tally;
        };
        let block = blocks
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .next_block(&mut bytes);
        let Some(block) = block else {
            return tally;
        };
        tally.set_server(&block.server);
        batch.clear();
        tally.add_block(block.first, &bytes[..block.bytes], &mut batch);
        let parsed = Parsed {
            sequence: block.sequence,
            progress: Progress {
                lines: block.lines,
                bytes: block.bytes as u64,
            },
            batch,
        };
        if farewell.0.send(Message::Parsed(parsed)).is_err() {
            return tally;
        }
    }
}

/// Counts the batches in the order of their blocks and gives each back. Returns when all workers are done, or one panicked.
fn count_in_order(
    parsed: &Receiver<Message>,
    free: Sender<Batch>,
    queries: &mut QueryTable,
    on_progress: &mut dyn FnMut(Progress),
) {
    let mut waiting = BTreeMap::new();
    let mut next = 0;
    let mut progress = Progress::default();
    while let Ok(Message::Parsed(block)) = parsed.recv() {
        waiting.insert(block.sequence, block);
        while let Some(block) = waiting.remove(&next) {
            next += 1;
            queries.add_batch(&block.batch);
            progress.lines += block.progress.lines;
            progress.bytes += block.progress.bytes;
            on_progress(progress);
            // A worker that found no further block no longer receives.
            let _ = free.send(block.batch);
        }
    }
}

#[cfg(test)]
mod tests;
