//! Reading a pq table's files: queries are parsed on all cores and stored in order.

use std::ops::Range;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use disk::Disk;
use rustc_hash::FxHashSet;

use super::PercolateTable;
use super::file::{Opened, QueryFile};
use crate::error::{Error, Result};

/// Queries that a core parses at a time.
const PARSED_TOGETHER: usize = 1_024;

/// Pieces that may wait for a core, and for being stored after it.
const WAITING: usize = 4;

impl PercolateTable {
    /// Stores what a base and the files of changes above it hold, each at its path.
    ///
    /// # Errors
    /// Those of files that cannot be read, and of queries that are refused, the first by file and id.
    pub(crate) fn load(&mut self, disk: &dyn Disk, paths: &[&str]) -> Result<()> {
        let opened: Vec<Opened> = paths
            .iter()
            .map(|path| Opened::new(disk, path))
            .collect::<Result<_>>()?;
        // What a later file says of a query counts. Those above the base are small: their ids are gathered first.
        let mut decided = vec![FxHashSet::default(); opened.len()];
        for number in (1..opened.len()).rev() {
            let mut ids: FxHashSet<u64> = decided[number].clone();
            let mut pieces = Vec::new();
            let each = |piece| {
                pieces.push(piece);
                Ok(())
            };
            let gone = |id| {
                ids.insert(id);
            };
            opened[number].scan(gone, PARSED_TOGETHER, each, false)?;
            for piece in pieces {
                ids.extend(opened[number].rows(piece)?.iter().map(|row| row.id));
            }
            decided[number - 1] = ids;
        }
        for (number, (file, decided)) in opened.iter().zip(&decided).enumerate() {
            let read = self.load_one(file, decided, number == 0)?;
            self.files.push(read);
        }
        Ok(())
    }

    /// Stores the queries of one file that are not `decided` by a later one.
    fn load_one(
        &mut self,
        file: &Opened,
        decided: &FxHashSet<u64>,
        is_base: bool,
    ) -> Result<QueryFile> {
        let reading = self.reading();
        let parse = |piece: Range<usize>| {
            let rows = file.rows(piece)?.into_iter();
            let rows = rows.filter(|row| !decided.contains(&row.id));
            rows.map(|row| reading.stored(row)).collect()
        };
        let mut store = |parsed: Result<Vec<_>>| {
            for stored in parsed? {
                self.put_loaded(stored);
            }
            Ok(())
        };
        in_order(parse, &mut store, |give| {
            file.scan(|_| {}, PARSED_TOGETHER, give, is_base)
        })
    }
}

/// A core's two ends: what it is given, and what it has done, in the same order.
type Lane<T, R> = (SyncSender<T>, Receiver<R>);

/// Has all cores `work` on what `feed` gives, and hands the results to `take`, in the order they were given in.
///
/// # Errors
/// The first of `feed` or `take`; `Internal` if a thread cannot be had or panics.
fn in_order<T: Send, R: Send, F>(
    work: impl Fn(T) -> R + Sync,
    take: &mut dyn FnMut(R) -> Result<()>,
    feed: impl FnOnce(&mut dyn FnMut(T) -> Result<()>) -> Result<F>,
) -> Result<F> {
    let lost = || Error::internal("a thread that reads queries is gone");
    let cores = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let mut lanes: Vec<Lane<T, R>> = Vec::with_capacity(cores);
        for _ in 0..cores {
            let (give, given) = sync_channel::<T>(WAITING);
            let (done, results) = sync_channel::<R>(WAITING);
            let work = &work;
            let run = move || given.iter().map(work).try_for_each(|made| done.send(made));
            let spawned = thread::Builder::new().spawn_scoped(scope, run);
            spawned.map_err(|error| Error::internal(format!("no thread: {error}")))?;
            lanes.push((give, results));
        }
        let (mut given, mut taken) = (0, 0);
        let mut take_next = |taken: &mut usize, lanes: &[Lane<T, R>]| {
            let (_, results) = &lanes[*taken % cores];
            *taken += 1;
            take(results.recv().map_err(|_| lost())?)
        };
        let fed = feed(&mut |item| {
            if given - taken == cores * WAITING {
                take_next(&mut taken, &lanes)?;
            }
            let (give, _) = &lanes[given % cores];
            given += 1;
            give.send(item).map_err(|_| lost())
        })?;
        while taken < given {
            take_next(&mut taken, &lanes)?;
        }
        Ok(fed)
    })
}
