//! Reading a pq table's files: all cores decode, parse and compile queries, each into a part of the set.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

use disk::Disk;
use percolate::QueryBatch;
use rustc_hash::FxHashMap;

use super::file::{Block, Opened, QueryFile};
use super::{PercolateTable, Reading, counted, text_bytes};
use crate::error::{Error, Result};

/// Queries that a core takes at a time, or a few more.
const TAKEN_TOGETHER: usize = 1_024;

/// Cores that read at once, at most: each makes a level, and matchers look into every one.
const LANES_MAX: usize = 16;

impl PercolateTable {
    /// Stores in an empty table what a base and the files of changes above it hold, each at its path. The queries of damaged
    /// blocks are noted as lost.
    ///
    /// Gives all damage of the files, also where it costs no query.
    ///
    /// # Errors
    /// Those of files that cannot be opened, and of queries that are refused, the first by file and id.
    pub(crate) fn load(&mut self, disk: &dyn Disk, paths: &[&str]) -> Result<Vec<Error>> {
        let files = paths.iter().map(|path| Opened::new(disk, path));
        let files = files.collect::<Result<Vec<Opened>>>()?;
        let decided = decided(&files);
        let reading = self.reading();
        let queue = Queue {
            pieces: pieces(&files),
            next: AtomicUsize::new(0),
            decided: &decided,
            reading: &reading,
            counts: &self.loaded_counts,
        };
        let (mut parts, mut damaged) = (Vec::new(), Vec::new());
        for lane in queue.read(&|| Lane::new(self.set.part()))? {
            self.highest = self.highest.max(lane.highest);
            self.text_bytes += lane.text_bytes;
            self.refused += lane.refused;
            parts.push(lane.part);
            damaged.extend(lane.damaged);
        }
        self.set.load(parts);
        self.is_unpublished = true;
        let lost = Arc::make_mut(&mut self.lost);
        let spare = files.iter().flat_map(|opened| &opened.damages);
        let mut damages: Vec<Error> = spare.cloned().collect();
        for Damaged { file, block } in damaged {
            let opened = &files[file];
            damages.extend(opened.verify(block).err());
            let ids = opened.contents.ids_of(block).iter().copied();
            let ids = ids.filter(|id| is_last(&decided, *id, file));
            lost.add(&opened.path, block.offset(), ids);
        }
        for (number, opened) in files.iter().enumerate() {
            let contents = &opened.contents;
            self.files.push(QueryFile {
                path: opened.path.clone(),
                entries: contents.gone.len() as u64 + contents.ids.len() as u64,
                is_base: number == 0,
            });
        }
        Ok(damages)
    }
}

/// For each id in a file above the base, the number of the last file that has it.
type Decided = FxHashMap<u64, usize>;

/// The base is left out: it is large, and no file is below it.
fn decided(files: &[Opened]) -> Decided {
    let mut decided = Decided::default();
    for (number, opened) in files.iter().enumerate().skip(1) {
        let contents = &opened.contents;
        let ids = contents.ids.iter().chain(&contents.gone);
        decided.extend(ids.map(|id| (*id, number)));
    }
    decided
}

/// Whether no later file says what counts of an id in file `number`.
fn is_last(decided: &Decided, id: u64, number: usize) -> bool {
    decided.get(&id).is_none_or(|last| *last <= number)
}

/// Neighbouring blocks of a file.
struct Piece<'a> {
    /// Number of the file.
    file: usize,
    opened: &'a Opened,
    blocks: &'a [Block],
}

/// All blocks, in pieces of at least [`TAKEN_TOGETHER`] queries but for the last one of a file.
fn pieces(files: &[Opened]) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    for (file, opened) in files.iter().enumerate() {
        let mut blocks = opened.contents.blocks.as_slice();
        while let Some(first) = blocks.first() {
            let is_short = |block: &Block| block.ids.end - first.ids.start < TAKEN_TOGETHER;
            let short = blocks.iter().take_while(|block| is_short(block)).count();
            let (piece, rest) = blocks.split_at(blocks.len().min(short + 1));
            pieces.push(Piece {
                file,
                opened,
                blocks: piece,
            });
            blocks = rest;
        }
    }
    pieces
}

/// A damaged block, and the number of its file.
struct Damaged<'a> {
    file: usize,
    block: &'a Block,
}

/// What is to be read. Lanes take the pieces in order.
struct Queue<'a> {
    pieces: Vec<Piece<'a>>,
    next: AtomicUsize,
    decided: &'a Decided,
    reading: &'a Reading,
    counts: &'a FxHashMap<u64, (u64, i64)>,
}

/// The number of a piece, and what is wrong with it.
type Refused = (usize, Error);

impl<'a> Queue<'a> {
    /// Reads all of it on as many cores as there are.
    fn read(&self, lane: &(dyn Fn() -> Lane<'a> + Sync)) -> Result<Vec<Lane<'a>>> {
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
    fn fill(&self, mut lane: Lane<'a>) -> std::result::Result<Lane<'a>, Refused> {
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
struct Lane<'a> {
    part: QueryBatch,
    highest: u64,
    text_bytes: u64,
    refused: u64,
    damaged: Vec<Damaged<'a>>,
}

impl<'a> Lane<'a> {
    fn new(part: QueryBatch) -> Lane<'a> {
        Lane {
            part,
            highest: 0,
            text_bytes: 0,
            refused: 0,
            damaged: Vec::new(),
        }
    }

    fn read(&mut self, piece: &Piece<'a>, queue: &Queue<'a>) -> Result<()> {
        let file = piece.file;
        for block in piece.blocks {
            if piece.opened.verify(block).is_err() {
                self.damaged.push(Damaged { file, block });
                continue;
            }
            piece.opened.rows(block, &mut |row| {
                if !is_last(queue.decided, row.id, file) {
                    return Ok(());
                }
                let (query, compiled) = queue.reading.stored(row)?;
                counted(queue.counts, &query);
                self.highest = self.highest.max(query.id);
                self.text_bytes += text_bytes(&query);
                self.refused += u64::from(compiled.is_refused);
                self.part
                    .insert(Arc::new(query), &compiled.parsed.root, compiled.filter);
                Ok(())
            })?;
        }
        Ok(())
    }
}
