//! The dispatcher: hands the journal's messages to lines, and notes how far the journal is not needed any more.
//!
//! # Example of a checkpoint
//! The last record that was handed out is 90. `web` has delivered all, `mail` is stuck:
//!
//! | step | web | mail |
//! |---|---|---|
//! | begin | is asked to deliver and sync up to its mark | as web |
//! | advance, for as long as lines get on | a worker syncs it: done | its worker says that it is stuck |
//! | finish | nothing to do | the messages before the mark go to the spool |
//!
//! Then `Collected { upto: 90, cursors: [mail] }` goes to the journal. Messages go on being handed out all the time; they lie
//! behind the marks.
//!
//! Invariants:
//! - Every message at or below the noted position is synced by its store or lies before `write` of a noted cursor.
//! - A file or folder of a spool is removed only after the journal has a cursor that does not need it.
//! - A cursor that no line of this configuration takes stays noted, and so does its spool.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use disk::make_dir;
use engine::Batch;

use super::{Changed, Cursors, Factory, Positions, Shared};
use crate::config::{Configuration, TopStore};
use crate::counters::Counter;
use crate::door::LINES_MAX;
use crate::line::{Entry, Line, Pace, Settled};
use crate::message::{Message, Now};
use crate::route::{Router, Target, has_network};
use crate::spool::{Cursor, Spool};
use crate::store::{Store, Surroundings, Written};

/// Time between two checkpoints. Microseconds.
const CHECKPOINT_US: u64 = 2_000_000;
/// Bytes handed out after which a checkpoint begins at once.
const CHECKPOINT_BYTES: u64 = 32 << 20;
/// A checkpoint waits for lines as long as one is done within this time. Microseconds.
const PATIENCE_US: u64 = 1_000_000;
/// A checkpoint ends after this time, whatever the lines do. Microseconds.
const CHECKPOINT_US_MAX: u64 = 10_000_000;

/// See the head of this file.
pub(crate) struct Dispatcher {
    shared: Arc<Shared>,
    factory: Factory,
    positions: Arc<dyn Positions>,
    surroundings: Surroundings,
    /// Folder of all spools.
    root: String,
    routes: HashMap<Box<[u8]>, Arc<[Arc<Line>]>>,
    /// The stores before the last reload: a message that was taken under them has one.
    previous: Option<Arc<Router>>,
    /// Cursors that the journal has, by line.
    noted: BTreeMap<Box<[u8]>, Box<[u8]>>,
    /// Folders to remove once the journal names them no more.
    retired: Vec<String>,
    next_folder: u64,
    /// Position of the last record handed out.
    dispatched: u64,
    /// Position that the journal has noted, as far as is known.
    collected: u64,
    fresh_bytes: u64,
    begun_us: u64,
    pending: Option<Pending>,
}

/// A checkpoint that has begun.
struct Pending {
    position: u64,
    marks: Vec<(Arc<Line>, u64)>,
    trying: Vec<Arc<Line>>,
    progress_us: u64,
}

impl Dispatcher {
    /// Takes up the spools that the journal's cursors name, and removes all others.
    ///
    /// # Errors
    /// Those of the disk.
    pub(crate) fn new(
        configuration: Configuration,
        factory: Factory,
        surroundings: Surroundings,
        positions: Arc<dyn Positions>,
        noted: (u64, Cursors),
        shared: Arc<Shared>,
    ) -> Result<Dispatcher, String> {
        let root = surroundings.spools.clone();
        let made = make_dir(&*surroundings.disk, &root);
        made.map_err(|error| format!("cannot make the folder /{root}: {error}"))?;
        let router = Arc::new(Router::new(configuration));
        shared.door.set_router(router.clone());
        let mut dispatcher = Dispatcher {
            shared,
            factory,
            positions,
            surroundings,
            root,
            routes: HashMap::new(),
            previous: None,
            noted: noted.1.into_iter().collect(),
            retired: Vec::new(),
            next_folder: 0,
            dispatched: noted.0,
            collected: noted.0,
            fresh_bytes: 0,
            begun_us: 0,
            pending: None,
        };
        dispatcher.remove_unknown_folders()?;
        dispatcher.revive(&router)?;
        Ok(dispatcher)
    }

    fn remove_unknown_folders(&mut self) -> Result<(), String> {
        let known = self
            .noted
            .values()
            .filter_map(|cursor| Cursor::decode(cursor));
        let known: BTreeSet<String> = known.map(|cursor| cursor.folder).collect();
        let failed = |error| format!("cannot read the folder /{}: {error}", self.root);
        let disk = &*self.surroundings.disk;
        for folder in disk.list(&self.root).map_err(failed)? {
            let number = folder
                .split('-')
                .next()
                .and_then(|number| number.parse::<u64>().ok());
            self.next_folder = self.next_folder.max(number.map_or(0, |number| number + 1));
            if !known.contains(&folder) {
                disk.remove_dir(&format!("{}/{folder}", self.root))
                    .map_err(failed)?;
            }
        }
        Ok(())
    }

    /// Makes the lines that have a spool and that `router` still knows.
    fn revive(&mut self, router: &Router) -> Result<(), String> {
        for (id, bytes) in &self.noted {
            let name = id.escape_ascii().to_string();
            if self.shared.lines().contains_key(id) {
                continue;
            }
            let (Some(cursor), Some(target)) = (Cursor::decode(bytes), router.target_of(id)) else {
                tracing::warn!(
                    "no store of this name any more: the spool of {name} stays in /{}",
                    self.root
                );
                continue;
            };
            let line = self.make_line(&target, router.configuration());
            match Spool::open(self.surroundings.disk.clone(), &self.root, &cursor) {
                Ok(spool) => line.revive(spool, &cursor),
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    let count = cursor.count();
                    tracing::error!(
                        "the spool of {name}, /{}/{}, is gone: {count} messages are lost",
                        self.root,
                        cursor.folder
                    );
                    self.shared
                        .counters
                        .add(&target.category, Counter::Lost, count);
                }
                Err(error) => {
                    return Err(format!(
                        "cannot open the spool of {name}, /{}/{}: {error}",
                        self.root, cursor.folder
                    ));
                }
            }
            self.shared.insert(line);
        }
        Ok(())
    }

    fn make_line(&self, target: &Target<'_>, configuration: &Configuration) -> Arc<Line> {
        let queue_bytes = Arc::new(AtomicU64::new(0));
        let store = self.make_store(target, configuration, &queue_bytes);
        let has_network = has_network(&target.store.store);
        let pace = pace(target.store, configuration);
        Arc::new(Line::new(
            target.id.clone().into(),
            has_network,
            store,
            queue_bytes,
            pace,
        ))
    }

    fn make_store(
        &self,
        target: &Target<'_>,
        configuration: &Configuration,
        queue_bytes: &Arc<AtomicU64>,
    ) -> Box<dyn Store> {
        let mut surroundings = self.surroundings.clone();
        surroundings.queue_bytes = queue_bytes.clone();
        surroundings.max_queue_size = configuration.max_queue_size;
        surroundings.seed = surroundings
            .seed
            .wrapping_add(u64::from(crc32c::crc32c(&target.id)));
        (self.factory)(
            &target.store.store,
            &target.category,
            target.is_copy,
            &surroundings,
        )
        .unwrap_or_else(|why| Box::new(Broken(why)))
    }

    /// Hands out a record's messages.
    pub(crate) fn dispatch(&mut self, batch: &Batch, now: Now) {
        let mut start = 0;
        while let Some((run, end)) = batch.messages.run_at(start) {
            let entry = Entry {
                position: batch.position,
                messages: batch.messages.clone(),
                start,
                count: run.count,
                bytes: end - start,
            };
            for line in self
                .lines_of(run.category, u64::from(run.count), now)
                .iter()
            {
                line.push(entry.clone(), now);
                self.shared.pools.plan(line, now);
            }
            start = end;
        }
        self.dispatched = batch.position;
        self.fresh_bytes += batch.messages.bytes();
    }

    /// The lines of a category, made if they do not live.
    fn lines_of(&mut self, category: &[u8], count: u64, now: Now) -> Arc<[Arc<Line>]> {
        if let Some(lines) = self.routes.get(category) {
            return lines.clone();
        }
        let router = self.shared.door.router();
        let lines = self.lines_by(&router, category);
        if !lines.is_empty() {
            let lines: Arc<[Arc<Line>]> = lines.into();
            // The names are strangers', and a line may serve any number of them.
            if self.routes.len() >= LINES_MAX {
                self.routes.clear();
            }
            self.routes.insert(category.into(), lines.clone());
            return lines;
        }
        let lines = self
            .previous
            .clone()
            .map(|router| self.lines_by(&router, category));
        let lines = lines.unwrap_or_default();
        for line in &lines {
            line.end();
            self.shared.pools.plan(line, now);
        }
        if lines.is_empty() {
            self.shared.counters.add(category, Counter::Lost, count);
            tracing::warn!(
                "{count} messages that were taken have no store any more: they are lost"
            );
        }
        lines.into()
    }

    fn lines_by(&self, router: &Router, category: &[u8]) -> Vec<Arc<Line>> {
        let line = |target: Target<'_>| {
            let known = self.shared.lines().get(&target.id[..]).cloned();
            known.filter(|line| !line.is_closed()).unwrap_or_else(|| {
                let line = self.make_line(&target, router.configuration());
                self.shared.insert(line.clone());
                line
            })
        };
        router.targets(category).map(line).collect()
    }

    /// Begins a checkpoint when one is due, and ends it when the lines are done or slow. Returns whether one is under way.
    pub(crate) fn checkpoint(&mut self, now: Now) -> bool {
        match &mut self.pending {
            None => {
                let is_due = now.steady_us >= self.begun_us + CHECKPOINT_US
                    || self.fresh_bytes >= CHECKPOINT_BYTES;
                if is_due {
                    self.begin(now);
                }
            }
            Some(pending) => {
                let before = pending.trying.len();
                pending.trying.retain(|line| line.is_trying());
                if pending.trying.len() < before {
                    pending.progress_us = now.steady_us;
                }
                let is_slow = now.steady_us >= pending.progress_us + PATIENCE_US
                    || now.steady_us >= self.begun_us + CHECKPOINT_US_MAX;
                if pending.trying.is_empty() || is_slow {
                    self.finish();
                }
            }
        }
        self.pending.is_some()
    }

    /// Asks all lines to deliver and sync what they have.
    pub(crate) fn begin(&mut self, now: Now) {
        self.begun_us = now.steady_us;
        self.fresh_bytes = 0;
        let lines: Vec<Arc<Line>> = self.shared.lines().values().cloned().collect();
        let marks: Vec<(Arc<Line>, u64)> = lines
            .into_iter()
            .filter(|line| !line.is_done() || self.noted.contains_key(&line.id))
            .map(|line| {
                let mark = line.want();
                self.shared.pools.plan(&line, now);
                (line, mark)
            })
            .collect();
        if marks.is_empty() && self.dispatched <= self.collected {
            return;
        }
        self.pending = Some(Pending {
            position: self.dispatched,
            trying: marks.iter().map(|(line, _)| line.clone()).collect(),
            marks,
            progress_us: now.steady_us,
        });
    }

    /// Whether a line still tries to deliver and sync what the checkpoint wants.
    pub(crate) fn is_waiting(&self) -> bool {
        let mut trying = self.pending.iter().flat_map(|pending| &pending.trying);
        trying.any(|line| line.is_trying())
    }

    /// Spools what lines have not synced, and notes position and cursors in the journal.
    pub(crate) fn finish(&mut self) {
        let Some(pending) = self.pending.take() else {
            return;
        };
        let mut upto = pending.position;
        let mut full = None;
        let max_queue_size = self.shared.door.router().configuration().max_queue_size;
        let mut changed: Changed = Vec::new();
        let mut trims = Vec::new();
        for (line, mark) in &pending.marks {
            let (root, next) = (&self.root, &mut self.next_folder);
            let (settled, spilled) = line.spill(*mark, &self.surroundings.disk, root, || {
                folder_name(next, &line.id)
            });
            if let Settled::From(position) = settled {
                upto = upto.min(position.saturating_sub(1));
                if line.queue_bytes() > max_queue_size {
                    // The name of its store, a colon and the category, which may have colons too.
                    let category = line.id.splitn(2, |byte| *byte == b':').last();
                    full = category.map(Box::from);
                }
            }
            if let Err(error) = spilled {
                let line = line.id.escape_ascii();
                tracing::warn!("the spool of {line} in /{root} cannot be written: {error}");
            }
            let (cursor, retired) = line.cursor();
            self.retired.extend(retired);
            let bytes = cursor.as_ref().map(Cursor::encode);
            if self.noted.get(&line.id) != bytes.as_ref() {
                changed.push((line.id.clone(), bytes));
            }
            trims.extend(cursor.map(|cursor| (line.clone(), cursor)));
        }
        self.shared.door.set_full(full);
        let upto = upto.max(self.collected);
        if upto > self.collected || !changed.is_empty() {
            match self.positions.collected(upto, changed.clone()) {
                Ok(()) => self.after_note(upto, changed, trims),
                Err(error) => tracing::warn!("the stores' positions are not noted now: {error}"),
            }
        }
        self.remove_closed();
    }

    fn after_note(&mut self, upto: u64, changed: Changed, trims: Vec<(Arc<Line>, Cursor)>) {
        self.collected = upto;
        for (id, cursor) in changed {
            match cursor {
                Some(cursor) => self.noted.insert(id, cursor),
                None => self.noted.remove(&id),
            };
        }
        let disk = &*self.surroundings.disk;
        // A folder that stays is removed at the next start.
        let folders = self.retired.drain(..).map(|path| disk.remove_dir(&path));
        let files = trims.iter().map(|(line, cursor)| line.trim(cursor));
        for error in folders.chain(files).filter_map(Result::err) {
            tracing::warn!(
                "a spool's old files in /{} cannot be removed: {error}",
                self.root
            );
        }
    }

    /// Forgets lines that have ended and that the journal does not name.
    fn remove_closed(&mut self) {
        let noted = &self.noted;
        self.shared
            .retain(|line| !line.is_closed() || noted.contains_key(&line.id));
    }

    /// Goes over to another configuration. A line whose store stays the same goes on; a store that changed gets the line's
    /// messages that wait; a line without a store ends once it has delivered what it has.
    ///
    /// # Errors
    /// A spool of a store that comes back cannot be opened; the old configuration stays.
    pub(crate) fn reload(&mut self, configuration: Configuration, now: Now) -> Result<(), String> {
        let router = Arc::new(Router::new(configuration));
        self.revive(&router)?;
        let old = self.shared.door.router();
        let lines: Vec<Arc<Line>> = self.shared.lines().values().cloned().collect();
        for line in lines {
            let Some(target) = router.target_of(&line.id) else {
                line.end();
                self.shared.pools.plan(&line, now);
                continue;
            };
            let was_ending = line.is_ending();
            if !line.go_on() {
                continue;
            }
            let same = |old: Target<'_>| old.store == target.store && !was_ending;
            let same_globals = pace(target.store, old.configuration())
                == pace(target.store, router.configuration())
                && old.configuration().max_queue_size == router.configuration().max_queue_size;
            if !old.target_of(&line.id).is_some_and(same) || !same_globals {
                let store = self.make_store(&target, router.configuration(), line.counter());
                line.replace(store, pace(target.store, router.configuration()));
                line.has_network
                    .store(has_network(&target.store.store), Ordering::Relaxed);
            }
            self.shared.pools.plan(&line, now);
        }
        self.routes.clear();
        self.previous = Some(old);
        self.shared.door.set_router(router);
        Ok(())
    }

    /// Whether an old store may still write, so that a new one for the same files has to wait.
    pub(crate) fn is_changing(&self, now: Now) -> bool {
        self.shared
            .lines()
            .values()
            .any(|line| line.is_changing(now))
    }
}

fn pace(store: &TopStore, configuration: &Configuration) -> Pace {
    Pace {
        target_bytes: store.target_write_size,
        interval_us: store.max_write_interval_s.max(1).saturating_mul(1_000_000),
        check_us: configuration
            .check_interval_s
            .max(1)
            .saturating_mul(1_000_000),
        must_succeed: store.must_succeed,
    }
}

/// A new folder's name: a number that no other has, and the line's name as far as a person needs it.
fn folder_name(next: &mut u64, id: &[u8]) -> String {
    let number = *next;
    *next += 1;
    let plain = |byte: &u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'.' => char::from(*byte),
        _ => '-',
    };
    let name: String = id.iter().take(80).map(plain).collect();
    format!("{number:08}-{name}")
}

/// Stands for a store that cannot be built: its messages wait in the spool.
struct Broken(String);

impl Store for Broken {
    fn open(&mut self, _: Now) -> Result<(), String> {
        Err(self.0.clone())
    }

    fn write(&mut self, _: &[Message<'_>], _: Now) -> Written {
        Written {
            taken: 0,
            failed: Some(self.0.clone()),
        }
    }

    fn look(&mut self, _: Now) {}

    fn sync(&mut self) -> std::io::Result<()> {
        Ok(())
    }

    fn status(&self) -> Option<String> {
        Some(self.0.clone())
    }

    fn close(&mut self, _: Now) {}
}
