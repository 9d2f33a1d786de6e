//! Reading a pq table's files: all cores decode, parse and compile queries, each into a part of the set.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

use disk::Disk;
use percolate::QueryBatch;
use rustc_hash::{FxHashMap, FxHashSet};

use super::file::{Contents, Opened, QueryFile};
use super::{PercolateTable, Reading, counted, text_bytes};
use crate::error::{Error, Result};

/// Queries that a core takes at a time.
const TAKEN_TOGETHER: usize = 1_024;

/// Cores that read at once, at most: each makes a level, and matchers look into every one.
const LANES_MAX: usize = 16;

impl PercolateTable {
    /// Stores in an empty table what a base and the files of changes above it hold, each at its path.
    ///
    /// # Errors
    /// Those of files that cannot be read, and of queries that are refused, the first by file and id.
    pub(crate) fn load(&mut self, disk: &dyn Disk, paths: &[&str]) -> Result<()> {
        let mut files = Vec::with_capacity(paths.len());
        for path in paths {
            let opened = Opened::new(disk, path)?;
            let contents = opened.contents(TAKEN_TOGETHER)?;
            files.push((opened, contents));
        }
        let decided = decided(&files);
        let mut pieces = Vec::new();
        for ((opened, contents), decided) in files.iter().zip(&decided) {
            let each = contents.pieces.iter().cloned();
            pieces.extend(each.map(|range| Piece {
                opened,
                range,
                decided,
            }));
        }
        let reading = self.reading();
        let queue = Queue {
            pieces,
            next: AtomicUsize::new(0),
            reading: &reading,
            counts: &self.loaded_counts,
        };
        let mut parts = Vec::new();
        for lane in queue.read(&|| Lane::new(self.set.part()))? {
            self.highest = self.highest.max(lane.highest);
            self.text_bytes += lane.text_bytes;
            parts.push(lane.part);
        }
        self.set.load(parts);
        self.is_unpublished = true;
        for (number, (opened, contents)) in files.iter().enumerate() {
            self.files.push(QueryFile {
                path: opened.path.clone(),
                entries: contents.gone.len() as u64 + contents.ids.len() as u64,
                is_base: number == 0,
            });
        }
        Ok(())
    }
}

/// For each file, the ids of which a later one says what counts. Those above the base are small.
fn decided(files: &[(Opened, Contents)]) -> Vec<FxHashSet<u64>> {
    let mut decided = vec![FxHashSet::default(); files.len()];
    for number in (1..files.len()).rev() {
        let (_, contents) = &files[number];
        let mut ids: FxHashSet<u64> = decided[number].clone();
        ids.extend(contents.ids.iter().chain(&contents.gone));
        decided[number - 1] = ids;
    }
    decided
}

/// Some queries of a file.
struct Piece<'a> {
    opened: &'a Opened,
    range: Range<usize>,
    /// Not these: a later file has them.
    decided: &'a FxHashSet<u64>,
}

/// What is to be read. Lanes take the pieces in order.
struct Queue<'a> {
    pieces: Vec<Piece<'a>>,
    next: AtomicUsize,
    reading: &'a Reading,
    counts: &'a FxHashMap<u64, (u64, i64)>,
}

/// The number of a piece, and what is wrong with it.
type Refused = (usize, Error);

impl Queue<'_> {
    /// Reads all of it on as many cores as there are.
    fn read(&self, lane: &(dyn Fn() -> Lane + Sync)) -> Result<Vec<Lane>> {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let lanes = cores.min(LANES_MAX).min(self.pieces.len());
        let run = || self.fill(lane());
        let run = &run;
        let ended = thread::scope(|scope| {
            let spawn = |_| thread::Builder::new().spawn_scoped(scope, run);
            // Threads that cannot be had are done without.
            let spawned: Vec<_> = (1..lanes).filter_map(|lane| spawn(lane).ok()).collect();
            let mut ended = vec![run()];
            for thread in spawned {
                let lost = |_| {
                    (
                        usize::MAX,
                        Error::internal("a thread that reads queries is gone"),
                    )
                };
                ended.push(thread.join().map_err(lost).and_then(|lane| lane));
            }
            ended
        });
        let (mut lanes, mut refused) = (Vec::new(), Vec::new());
        for ended in ended {
            match ended {
                Ok(lane) => lanes.push(lane),
                Err(error) => refused.push(error),
            }
        }
        match refused.into_iter().min_by_key(|(piece, _)| *piece) {
            Some((_, error)) => Err(error),
            None => Ok(lanes),
        }
    }

    /// Reads pieces until none is left. Pieces before a refused one are read to their end by those who took them, so the
    /// first by number is known.
    fn fill(&self, mut lane: Lane) -> std::result::Result<Lane, Refused> {
        loop {
            let number = self.next.fetch_add(1, Relaxed);
            let Some(piece) = self.pieces.get(number) else {
                return Ok(lane);
            };
            if let Err(error) = lane.read(piece, self) {
                self.next.store(self.pieces.len(), Relaxed);
                return Err((number, error));
            }
        }
    }
}

/// What one core has read.
struct Lane {
    part: QueryBatch,
    highest: u64,
    text_bytes: u64,
}

impl Lane {
    fn new(part: QueryBatch) -> Lane {
        Lane {
            part,
            highest: 0,
            text_bytes: 0,
        }
    }

    fn read(&mut self, piece: &Piece<'_>, queue: &Queue<'_>) -> Result<()> {
        piece.opened.rows(piece.range.clone(), &mut |row| {
            if piece.decided.contains(&row.id) {
                return Ok(());
            }
            let (query, compiled) = queue.reading.stored(row)?;
            counted(queue.counts, &query);
            self.highest = self.highest.max(query.id);
            self.text_bytes += text_bytes(&query);
            self.part
                .insert(Arc::new(query), &compiled.parsed.root, compiled.filter);
            Ok(())
        })
    }
}
