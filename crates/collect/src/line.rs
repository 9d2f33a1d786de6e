//! A line: one live store, the messages that wait for it, and its spool while there is one.
//!
//! # Example
//! Messages of a line have numbers. Fourteen came; the store took ten, of which six are synced:
//!
//! ```text
//! 0 … 5   6 … 9      10 … 13
//! gone    kept       waiting         synced 6, delivered 10, tail 14
//! ```
//!
//! The store stalls, and a checkpoint makes the line independent of the journal: 6 … 13 go to the spool and leave the memory.
//!
//! Invariants:
//! - `synced` ≤ `delivered` ≤ `tail`.
//! - The spool holds `synced .. its end`; the memory (`kept`, then `waiting`) holds the rest up to `tail`.
//! - One worker serves a line at a time (`is_busy`). Only the worker locks the store, so no caller of another function waits
//!   for a disk or network of a store.
//! - A failed sync takes `delivered` back to `synced`: the store gets these messages again, in order.
//! - `marks` says what parts of the store have of the messages from `synced` on, as of the sync that `synced` is of. So all that
//!   it names is on their disks. It is noted in the spool before the journal notes the number.
//!
//! Locks: a worker holds the store's lock and takes the queue's for a moment. Nobody takes the store's while holding the queue's.

mod told;

use std::collections::VecDeque;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use disk::Disk;
use engine::Messages;

use crate::counters::{Counter, Counters};
use crate::message::{Message, Now};
use crate::spool::{Cursor, Read, Spool};
use crate::store::{Marks, Store};

use told::{News, Told};

/// Bytes after which a batch takes no more messages.
const BATCH_BYTES: usize = 1 << 20;
/// Bytes after which a record of a spool takes no more messages.
const RECORD_BYTES: u64 = 256 << 10;
/// Pause after a failure. Microseconds.
const PAUSE_US: u64 = 1_000_000;

/// When a line serves its store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pace {
    /// `target_write_size`. Bytes.
    pub target_bytes: u64,
    /// `max_write_interval`. Microseconds.
    pub interval_us: u64,
    /// `check_interval`. Microseconds.
    pub check_us: u64,
    /// `must_succeed`.
    pub must_succeed: bool,
}

/// Neighbouring messages of one category in one record of the journal.
#[derive(Clone)]
pub(crate) struct Entry {
    /// The record's position.
    pub position: u64,
    /// The messages of the record.
    pub messages: Arc<Messages>,
    /// Where the run begins in them.
    pub start: usize,
    /// Number of its messages.
    pub count: u32,
    /// Bytes of their encoded form.
    pub bytes: usize,
}

/// An entry in a queue, with the line's number of its first message.
#[derive(Clone)]
struct Queued {
    first: u64,
    entry: Entry,
}

impl Queued {
    fn end(&self) -> u64 {
        self.first + u64::from(self.entry.count)
    }

    /// The messages with numbers from `from` on.
    fn messages(&self, from: u64) -> impl Iterator<Item = Message<'_>> {
        let run = self.entry.messages.run_at(self.entry.start);
        let skip = usize::try_from(from.saturating_sub(self.first)).unwrap_or(usize::MAX);
        run.into_iter().flat_map(move |(run, _)| {
            let category = run.category;
            run.bodies()
                .skip(skip)
                .map(move |body| Message { category, body })
        })
    }
}

/// A store, and what tells whether marks are of a store like it.
pub(crate) struct Built {
    /// The worker that serves the line opens it.
    pub store: Box<dyn Store>,
    /// [`crate::store::shape`] of its configuration.
    pub shape: u64,
}

/// See the head of this file.
pub(crate) struct Line {
    /// Name in the journal's cursors.
    pub id: Box<[u8]>,
    /// A store in its tree talks to a network.
    pub has_network: AtomicBool,
    queue_bytes: Arc<AtomicU64>,
    store: Mutex<Built>,
    queue: Mutex<Queue>,
}

struct Queue {
    pace: Pace,
    kept: VecDeque<Queued>,
    waiting: VecDeque<Queued>,
    synced: u64,
    delivered: u64,
    tail: u64,
    spool: Option<Spool>,
    /// Position of the last record whose messages are in the spool or synced. A record at or below it is a repetition: the
    /// journal may give it again when another line could not be spooled.
    covered: u64,
    /// Since when the oldest waiting message waits, or the last write, if that was later.
    since_us: u64,
    next_look_us: u64,
    paused_until_us: u64,
    /// A checkpoint wants everything before this number delivered and synced.
    wanted: Option<u64>,
    is_busy: bool,
    scheduled_us: Option<u64>,
    status: Option<String>,
    /// What the log has told of the status.
    told: Told,
    /// Numbers from `synced` on that are counted as lost. A failed sync gives them to the store again; they are not counted again.
    lost: Vec<Range<u64>>,
    replacement: Option<Built>,
    /// The marks of the store, as they are noted; nothing: no part has what the store has not.
    marks: Vec<u8>,
    /// The messages that come next are not those that the store knows of, or it may have lost some that it took.
    forgets: bool,
    is_ending: bool,
    is_closed: bool,
    /// Paths of spools that are empty, which the journal may still name.
    retired: Vec<String>,
}

/// Where a checkpoint finds a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Settled {
    /// The line does not need the journal before the mark.
    Yes,
    /// It needs the record at this position and those behind it.
    From(u64),
}

enum Batch {
    Memory(Vec<Queued>),
    Spool(Vec<Messages>),
}

impl Line {
    pub(crate) fn new(
        id: Box<[u8]>,
        has_network: bool,
        store: Built,
        queue_bytes: Arc<AtomicU64>,
        pace: Pace,
    ) -> Line {
        let queue = Queue {
            pace,
            kept: VecDeque::new(),
            waiting: VecDeque::new(),
            synced: 0,
            delivered: 0,
            tail: 0,
            spool: None,
            covered: 0,
            since_us: 0,
            next_look_us: 0,
            paused_until_us: 0,
            wanted: None,
            is_busy: false,
            scheduled_us: None,
            status: None,
            told: Told::default(),
            lost: Vec::new(),
            replacement: None,
            marks: Vec::new(),
            forgets: false,
            is_ending: false,
            is_closed: false,
            retired: Vec::new(),
        };
        Line {
            id,
            has_network: AtomicBool::new(has_network),
            queue_bytes,
            store: Mutex::new(store),
            queue: Mutex::new(queue),
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a new line the spool that it had before the start, and its store the marks, unless another store had them.
    pub(crate) fn revive(&self, mut spool: Spool, cursor: &Cursor) {
        let marks = spool.marks(cursor.read);
        let mut built = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        let of_store = Marks::of_note(&marks, built.shape);
        let mut queue = self.queue();
        if let Some(of_store) = of_store {
            built.store.take_up(&of_store);
            queue.marks = marks;
        }
        (queue.synced, queue.delivered, queue.tail) = (cursor.read, cursor.read, spool.end());
        (queue.spool, queue.covered) = (Some(spool), cursor.covered);
    }

    /// Appends messages.
    pub(crate) fn push(&self, entry: Entry, now: Now) {
        let mut queue = self.queue();
        if entry.position <= queue.covered {
            return;
        }
        if queue.delivered == queue.tail {
            queue.since_us = now.steady_us;
        }
        let first = queue.tail;
        queue.tail += u64::from(entry.count);
        self.queue_bytes
            .fetch_add(entry.bytes as u64, Ordering::Relaxed);
        queue.waiting.push_back(Queued { first, entry });
    }

    /// The time of a new timer, if the line needs one: it is not served now, and no timer is as early.
    pub(crate) fn schedule(&self, now: Now) -> Option<u64> {
        let bytes = self.queue_bytes.load(Ordering::Relaxed);
        let mut queue = self.queue();
        let at = queue.next_us(bytes).filter(|_| !queue.is_busy)?;
        // A line that is due goes behind the lines that were due before.
        let at = at.max(now.steady_us);
        if queue.scheduled_us.is_some_and(|scheduled| scheduled <= at) {
            return None;
        }
        queue.scheduled_us = Some(at);
        Some(at)
    }

    /// Whether the timer of `at` still counts. The caller then serves the line.
    pub(crate) fn claim(&self, at: u64) -> bool {
        let mut queue = self.queue();
        if queue.is_busy || queue.scheduled_us != Some(at) {
            return false;
        }
        queue.scheduled_us = None;
        queue.is_busy = true;
        true
    }

    /// Looks, writes one batch, and syncs if a checkpoint wants it. Called after `claim`. Blocks as the store does.
    pub(crate) fn serve(&self, now: Now, counters: &Counters) {
        let mut built = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        let replacement = self.queue().replacement.take();
        if let Some(new) = replacement {
            let mut old = std::mem::replace(&mut *built, new).store;
            // No part of the new store has anything.
            self.after_sync(old.sync().map(|()| Vec::new()), now);
            old.close(now);
        }
        let Built { store, shape } = &mut *built;
        let next_look_us = self.queue().next_look_us;
        let opened = if next_look_us == 0 {
            store.open(now)
        } else {
            Ok(())
        };
        if next_look_us <= now.steady_us {
            store.look(now);
            let mut queue = self.queue();
            let check_us = queue.pace.check_us;
            let look_us = store.next_look_us().map_or(check_us, |us| us.min(check_us));
            queue.next_look_us = now.steady_us + look_us;
        }
        let batch = self.queue().take_batch(
            now,
            self.queue_bytes.load(Ordering::Relaxed),
            counters,
            &self.id,
        );
        if std::mem::take(&mut self.queue().forgets) {
            store.forget();
        }
        let failed = batch.and_then(|batch| self.write(&batch, &mut **store, now, counters));
        let (wants_sync, wanted) = {
            let queue = self.queue();
            (queue.wants_sync(), queue.wanted)
        };
        if wants_sync {
            let synced = store.sync();
            if synced.is_err() {
                store.forget();
            }
            let marks = synced.map(|()| store.marks().note(*shape));
            self.after_sync(marks, now);
            // A checkpoint that began meanwhile wants more than this sync covers.
            self.queue().wanted.take_if(|mark| Some(*mark) == wanted);
        }
        let mut queue = self.queue();
        let is_paused = queue.paused_until_us > now.steady_us;
        let before = queue.status.take().filter(|_| is_paused);
        let status = store
            .status()
            .or(failed)
            .or(opened.err())
            .or(before.clone());
        let check_us = queue.pace.check_us;
        let news = queue.told.hear(status.is_none(), now, check_us);
        self.tell(news, status.as_deref());
        queue.status = status;
        queue.is_busy = false;
        if queue.is_ending && queue.synced == queue.tail && queue.replacement.is_none() {
            queue.is_closed = true;
            drop(queue);
            store.close(now);
        }
    }

    /// Tells the log how the store is.
    fn tell(&self, news: Option<News>, why: Option<&str>) {
        let line = crate::route::shown(&self.id);
        match news {
            Some(News::Fails) => {
                tracing::warn!(%line, why, "a store fails: what it does not take waits for it")
            }
            Some(News::IsWell) => tracing::info!(%line, "a store is well again"),
            None => {}
        }
    }

    /// Gives the store a batch. Returns why it did not take all.
    fn write(
        &self,
        batch: &Batch,
        store: &mut dyn Store,
        now: Now,
        counters: &Counters,
    ) -> Option<String> {
        let delivered = self.queue().delivered;
        let messages: Vec<Message<'_>> = match batch {
            Batch::Memory(entries) => entries
                .iter()
                .flat_map(|entry| entry.messages(delivered))
                .collect(),
            Batch::Spool(records) => records
                .iter()
                .flat_map(Messages::runs)
                .flat_map(|run| {
                    run.bodies().map(move |body| Message {
                        category: run.category,
                        body,
                    })
                })
                .collect(),
        };
        let written = store.write(&messages, now);
        let rest = messages.get(written.taken..).unwrap_or_default();
        let must_succeed = self.queue().pace.must_succeed;
        let counter = if must_succeed {
            Counter::Requeue
        } else {
            Counter::Lost
        };
        let first = delivered + written.taken as u64;
        let mut queue = self.queue();
        let new = (first..).zip(rest);
        let new = new.filter(|(number, _)| must_succeed || !queue.is_lost(*number));
        let new: Vec<&Message<'_>> = new.map(|(_, message)| message).collect();
        for run in new.chunk_by(|a, b| a.category == b.category) {
            let category = run.first().map_or(&b""[..], |message| message.category);
            counters.add(category, counter, run.len() as u64);
        }
        if !must_succeed {
            queue.lose(first..first + rest.len() as u64);
        }
        drop(queue);
        if !must_succeed && !rest.is_empty() {
            store.forget();
        }
        let gone = if must_succeed {
            written.taken
        } else {
            messages.len()
        };
        let mut queue = self.queue();
        let freed = queue.deliver(gone as u64);
        queue.since_us = now.steady_us;
        if must_succeed && !rest.is_empty() {
            queue.paused_until_us = now.steady_us + PAUSE_US;
        }
        self.queue_bytes.fetch_sub(freed, Ordering::Relaxed);
        written.failed
    }

    /// `synced`: the marks of the store after its sync.
    fn after_sync(&self, synced: io::Result<Vec<u8>>, now: Now) {
        let mut queue = self.queue();
        if let Ok(marks) = synced {
            queue.synced = queue.delivered;
            queue.marks = marks;
            queue.kept.clear();
            let synced = queue.synced;
            queue.lost.retain(|numbers| numbers.end > synced);
            return;
        }
        queue.delivered = queue.synced;
        queue.paused_until_us = now.steady_us + PAUSE_US;
        let mut back = 0;
        while let Some(entry) = queue.kept.pop_back() {
            back += entry.entry.bytes as u64;
            queue.waiting.push_front(entry);
        }
        self.queue_bytes.fetch_add(back, Ordering::Relaxed);
    }

    /// The store panicked while a worker served it: it gets all since its last sync again, after a pause.
    pub(crate) fn after_panic(&self, now: Now) {
        self.after_sync(Err(io::ErrorKind::Other.into()), now);
        let mut queue = self.queue();
        queue.forgets = true;
        queue.wanted = None;
        queue.next_look_us = now.steady_us + PAUSE_US;
        queue.status = Some("the store panicked: the log says where".to_owned());
        queue.is_busy = false;
    }

    /// Begins a checkpoint: the line is to deliver and sync all that it has. Returns the mark, the number behind the last.
    pub(crate) fn want(&self) -> u64 {
        let mut queue = self.queue();
        let tail = queue.tail;
        if queue.synced < tail {
            queue.wanted = Some(tail);
        }
        tail
    }

    /// Whether the line still tries to do what `want` asked.
    pub(crate) fn is_trying(&self) -> bool {
        self.queue().wanted.is_some()
    }

    /// Ends a checkpoint: writes all before `mark` that is not synced to the spool. `folder` names a new spool.
    pub(crate) fn spill(
        &self,
        mark: u64,
        disk: &Arc<dyn Disk>,
        root: &str,
        folder: impl FnOnce() -> String,
    ) -> (Settled, io::Result<()>) {
        let mut queue = self.queue();
        queue.wanted = None;
        queue.retire_empty_spool();
        let from = queue.memory_start();
        if from >= mark {
            return (Settled::Yes, Ok(()));
        }
        let spilled = queue.append_to_spool(from..mark, disk, root, folder);
        if spilled.is_ok() {
            let before = queue.waiting_bytes();
            let memory = queue.kept.iter().chain(&queue.waiting);
            let spooled = memory.rev().find(|entry| entry.end() <= mark);
            queue.covered = spooled.map_or(queue.covered, |entry| entry.entry.position);
            queue.kept.retain(|entry| entry.end() > mark);
            queue.waiting.retain(|entry| entry.end() > mark);
            let freed = before - queue.waiting_bytes();
            self.queue_bytes.fetch_sub(freed, Ordering::Relaxed);
            return (Settled::Yes, Ok(()));
        }
        let mut memory = queue.kept.iter().chain(&queue.waiting);
        let first = memory.find(|entry| entry.end() > from);
        let position = first.map_or(0, |entry| entry.entry.position);
        (Settled::From(position), spilled)
    }

    /// What the journal is to note; `None`: no spool is needed. A spool that is empty is given up. The paths are those of spools
    /// that may go once the journal has noted this.
    pub(crate) fn cursor(&self) -> (Option<Cursor>, Vec<String>) {
        let mut queue = self.queue();
        queue.retire_empty_spool();
        let Queue {
            spool,
            synced,
            covered,
            marks,
            ..
        } = &mut *queue;
        let cursor = spool.as_mut().map(|spool| {
            if let Err(error) = spool.note_marks(*synced, marks) {
                let (line, path) = (crate::route::shown(&self.id), spool.path());
                tracing::warn!(%line, path, %error, "what parts of a store have is not noted now: a restart gives it again");
            }
            spool.cursor(*synced, *covered)
        });
        (cursor, std::mem::take(&mut queue.retired))
    }

    /// The journal has noted the cursor: files before it may go.
    ///
    /// # Errors
    /// Those of the disk; the next call tries again.
    pub(crate) fn trim(&self, noted: &Cursor) -> io::Result<()> {
        self.queue()
            .spool
            .as_mut()
            .map_or(Ok(()), |spool| spool.trim(noted))
    }

    /// The messages that wait go to a store of a new configuration.
    pub(crate) fn replace(&self, store: Built, pace: Pace) {
        let mut queue = self.queue();
        (queue.replacement, queue.pace) = (Some(store), pace);
        queue.next_look_us = 0;
    }

    /// No messages come any more: the line ends once it has delivered all.
    pub(crate) fn end(&self) {
        self.queue().is_ending = true;
    }

    /// Messages come again. Returns false if the line has ended.
    pub(crate) fn go_on(&self) -> bool {
        let mut queue = self.queue();
        queue.is_ending = false;
        !queue.is_closed
    }

    /// Whether no messages come any more.
    pub(crate) fn is_ending(&self) -> bool {
        self.queue().is_ending
    }

    /// Whether the old store of a reload may still be written to soon: it is to end or to be replaced, and is not stuck.
    pub(crate) fn is_changing(&self, now: Now) -> bool {
        let queue = self.queue();
        let ends = queue.is_ending && !queue.is_closed && queue.paused_until_us <= now.steady_us;
        ends || queue.replacement.is_some()
    }

    /// The line has ended, and its store with it.
    pub(crate) fn is_closed(&self) -> bool {
        self.queue().is_closed
    }

    /// Whether everything that came is delivered and synced.
    pub(crate) fn is_done(&self) -> bool {
        let queue = self.queue();
        queue.synced == queue.tail
    }

    /// The counter of bytes that wait in memory, for a store of this line.
    pub(crate) fn counter(&self) -> &Arc<AtomicU64> {
        &self.queue_bytes
    }

    /// Bytes that wait in memory.
    pub(crate) fn queue_bytes(&self) -> u64 {
        self.queue_bytes.load(Ordering::Relaxed)
    }

    /// What the store said of itself after it was last served.
    pub(crate) fn status(&self) -> Option<String> {
        self.queue().status.clone()
    }

    /// Ends the store, unless a worker is still in it.
    pub(crate) fn close(&self, now: Now) {
        if let Ok(mut built) = self.store.try_lock() {
            let was_closed = std::mem::replace(&mut self.queue().is_closed, true);
            if !was_closed {
                built.store.close(now);
            }
        }
    }
}

impl Queue {
    fn spool_end(&self) -> u64 {
        self.spool.as_ref().map_or(self.synced, Spool::end)
    }

    fn retire_empty_spool(&mut self) {
        let synced = self.synced;
        if let Some(empty) = self.spool.take_if(|spool| spool.end() <= synced) {
            self.retired.push(empty.path().to_owned());
        }
    }

    /// Number of the first message that only the memory holds.
    fn memory_start(&self) -> u64 {
        self.synced.max(self.spool_end())
    }

    fn waiting_bytes(&self) -> u64 {
        self.waiting
            .iter()
            .map(|entry| entry.entry.bytes as u64)
            .sum()
    }

    /// When a worker has something to do; `None`: never again.
    fn next_us(&self, bytes: u64) -> Option<u64> {
        if self.is_closed {
            return None;
        }
        let is_urgent = self.wanted.is_some() || self.replacement.is_some();
        let ends = self.is_ending && self.synced == self.tail;
        if is_urgent || ends {
            return Some(0);
        }
        let has_waiting = self.delivered < self.tail || self.is_ending;
        let write_us = has_waiting.then(|| self.write_us(bytes));
        Some(write_us.map_or(self.next_look_us, |at| at.min(self.next_look_us)))
    }

    /// When the batch that waits is written.
    fn write_us(&self, bytes: u64) -> u64 {
        let is_full = bytes >= self.pace.target_bytes || self.delivered < self.spool_end();
        if is_full || self.wanted.is_some() || self.is_ending {
            return self.paused_until_us;
        }
        self.paused_until_us
            .max(self.since_us + self.pace.interval_us)
    }

    fn take_batch(
        &mut self,
        now: Now,
        bytes: u64,
        counters: &Counters,
        id: &[u8],
    ) -> Option<Batch> {
        if self.delivered == self.tail || self.write_us(bytes) > now.steady_us {
            return None;
        }
        let delivered = self.delivered;
        if delivered >= self.spool_end() {
            let mut taken = 0;
            let entries = self.waiting.iter().take_while(|entry| {
                let before = taken;
                taken += entry.entry.bytes;
                before < BATCH_BYTES
            });
            return Some(Batch::Memory(entries.cloned().collect()));
        }
        let read = self.spool.as_mut()?.read(delivered, BATCH_BYTES);
        match read {
            Ok(Read::Messages(records)) => return Some(Batch::Spool(records)),
            Ok(Read::Damaged { next }) => {
                let count = next - delivered;
                counters.add_overall(Counter::Lost, count);
                let path = self.spool.as_ref().map(Spool::path);
                let line = crate::route::shown(id);
                tracing::error!(%line, path, count, "a spool is damaged: messages are lost");
                self.deliver(count);
                self.forgets = true;
            }
            Err(error) => {
                self.paused_until_us = now.steady_us + PAUSE_US;
                tracing::warn!(%error, "a spool cannot be read now");
            }
        }
        None
    }

    /// Whether the store is to sync: a checkpoint wants it and the line is at the mark, behind by more than a batch, or stuck.
    fn wants_sync(&self) -> bool {
        if self.is_ending && self.delivered == self.tail {
            return true;
        }
        self.wanted.is_some_and(|mark| {
            let is_stuck = self.paused_until_us > self.since_us;
            self.delivered >= mark || self.delivered < self.spool_end() || is_stuck
        })
    }

    fn is_lost(&self, number: u64) -> bool {
        self.lost.iter().any(|numbers| numbers.contains(&number))
    }

    /// Notes that these numbers are counted as lost.
    fn lose(&mut self, numbers: Range<u64>) {
        if numbers.is_empty() || numbers.clone().all(|number| self.is_lost(number)) {
            return;
        }
        match self.lost.last_mut() {
            Some(last) if last.end >= numbers.start && last.start <= numbers.start => {
                last.end = last.end.max(numbers.end);
            }
            _ => self.lost.push(numbers),
        }
    }

    /// Counts messages as delivered. Returns the bytes that no longer wait in memory.
    fn deliver(&mut self, count: u64) -> u64 {
        self.delivered += count;
        let (delivered, spooled) = (self.delivered, self.memory_start());
        let mut freed = 0;
        while let Some(entry) = self.waiting.pop_front_if(|entry| entry.end() <= delivered) {
            freed += entry.entry.bytes as u64;
            if entry.end() > spooled {
                self.kept.push_back(entry);
            }
        }
        freed
    }

    fn append_to_spool(
        &mut self,
        numbers: Range<u64>,
        disk: &Arc<dyn Disk>,
        root: &str,
        folder: impl FnOnce() -> String,
    ) -> io::Result<()> {
        let mut spool = match self.spool.take() {
            Some(spool) => spool,
            None => Spool::create(disk.clone(), root, &folder(), self.synced)?,
        };
        let entries = self.kept.iter().chain(&self.waiting);
        let entries =
            entries.filter(|entry| entry.first < numbers.end && entry.end() > numbers.start);
        let mut record = Messages::default();
        let append = || {
            for entry in entries {
                for message in entry.messages(numbers.start) {
                    record.push(message.category, message.body);
                    if record.bytes() >= RECORD_BYTES {
                        spool.append(&record)?;
                        record = Messages::default();
                    }
                }
            }
            if record.count() > 0 {
                spool.append(&record)?;
            }
            spool.sync()
        };
        let appended = append();
        if appended.is_err() {
            spool.give_up_unsynced();
        }
        self.spool = Some(spool);
        appended
    }
}
