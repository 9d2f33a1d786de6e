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
//! - A file or folder of a spool is removed only after the journal has a cursor that does not need it, and not while a backup
//!   copies the files of older cursors.
//! - A cursor that no line of this configuration takes stays noted, and so does its spool.
//! - A cursor is noted under the name of its line. One that is found under an older name is noted under the new one and dropped
//!   under the old one in the same record.

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
use crate::line::{Built, Entry, Line, Pace, Settled};
use crate::message::{Message, Now};
use crate::route::{Router, Target, has_network, shown, split};
use crate::spool::{Cursor, Spool};
use crate::store::{Store, Surroundings, Written, shape};

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
    /// Lines whose cursor the journal has under an older name: that name, by the one of today.
    renamed: BTreeMap<Box<[u8]>, Box<[u8]>>,
    /// Folders to remove once the journal names them no more.
    retired: Vec<String>,
    /// A backup needed files that the noted cursors do not: they are to be removed.
    keeps_files: bool,
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
            renamed: BTreeMap::new(),
            retired: Vec::new(),
            keeps_files: false,
            next_folder: 0,
            dispatched: noted.0,
            collected: noted.0,
            fresh_bytes: 0,
            begun_us: 0,
            pending: None,
        };
        dispatcher.remove_unknown_folders()?;
        dispatcher.revive(&router)?;
        dispatcher.open_standing(&router);
        Ok(dispatcher)
    }

    /// Makes the lines that need no message: a worker opens their stores at once, so a path that cannot be made is told by the
    /// status before the first message. Beyond [`LINES_MAX`] lines, a line is made at its first message.
    fn open_standing(&self, router: &Router) {
        for target in router.standing() {
            let count = self.shared.lines().len();
            if count >= LINES_MAX {
                return;
            }
            if !self.shared.lines().contains_key(&target.id[..]) {
                let line = self.make_line(&target, router.configuration());
                self.shared.insert(line);
            }
        }
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

    /// Makes the lines that have a spool and that `router` still knows, and those whose spool goes to an heir.
    fn revive(&mut self, router: &Router) -> Result<(), String> {
        let ids: Vec<Box<[u8]>> = self.noted.keys().cloned().collect();
        for id in ids {
            if self.shared.lines().contains_key(&id) {
                continue;
            }
            let cursor = self.noted.get(&id).and_then(|bytes| Cursor::decode(bytes));
            let is_free = |target: &Target<'_>| {
                let has_line = self.shared.lines().contains_key(&target.id[..]);
                !has_line && !self.noted.contains_key(&target.id[..])
            };
            let exact = router.target_of(&id);
            let target = exact.or_else(|| router.heir(&id, is_free));
            let (Some(cursor), Some(target)) = (cursor, target) else {
                tracing::warn!(
                    "no store is the one that {} was: its spool stays in /{} until one takes the category alone",
                    shown(&id),
                    self.root
                );
                continue;
            };
            let line = self.revived(&target, router.configuration(), &cursor)?;
            if *target.id != *id {
                tracing::info!(
                    "the spool of {} goes on as that of {}",
                    shown(&id),
                    shown(&line.id)
                );
                self.noted.remove(&id);
                self.noted.insert(line.id.clone(), cursor.encode());
                let first = self.renamed.remove(&id).unwrap_or(id);
                self.renamed.insert(line.id.clone(), first);
            }
            self.shared.insert(line);
        }
        Ok(())
    }

    /// A line with the spool of a cursor.
    fn revived(
        &self,
        target: &Target<'_>,
        configuration: &Configuration,
        cursor: &Cursor,
    ) -> Result<Arc<Line>, String> {
        let line = self.make_line(target, configuration);
        let place = format!("/{}/{}", self.root, cursor.folder);
        match Spool::open(self.surroundings.disk.clone(), &self.root, cursor) {
            Ok(spool) => line.revive(spool, cursor),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let (name, count) = (shown(&line.id), cursor.count());
                tracing::error!("the spool of {name}, {place}, is gone: {count} messages are lost");
                let counters = &self.shared.counters;
                counters.add(&target.category, Counter::Lost, count);
            }
            Err(error) => {
                let name = shown(&line.id);
                return Err(format!("cannot open the spool of {name}, {place}: {error}"));
            }
        }
        Ok(line)
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
    ) -> Built {
        let mut surroundings = self.surroundings.clone();
        surroundings.queue_bytes = queue_bytes.clone();
        surroundings.max_queue_size = configuration.max_queue_size;
        surroundings.seed = surroundings
            .seed
            .wrapping_add(u64::from(crc32c::crc32c(&target.id)));
        let (config, copies) = (&target.store.store, usize::from(target.is_copy));
        let store = (self.factory)(config, &target.category, copies, &surroundings);
        Built {
            store: store.unwrap_or_else(|why| Box::new(Broken(why))),
            shape: shape(config, &target.category, copies),
        }
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
        if marks.is_empty() && self.dispatched <= self.collected && !self.keeps_files {
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
                    full = split(&line.id).map(|(category, _)| Box::from(category));
                }
            }
            if let Err(error) = spilled {
                let line = shown(&line.id);
                tracing::warn!("the spool of {line} in /{root} cannot be written: {error}");
            }
            let (cursor, retired) = line.cursor();
            self.retired.extend(retired);
            let bytes = cursor.as_ref().map(Cursor::encode);
            let earlier = self.renamed.get(&line.id);
            if earlier.is_some() || self.noted.get(&line.id) != bytes.as_ref() {
                changed.push((line.id.clone(), bytes));
            }
            changed.extend(earlier.map(|id| (id.clone(), None)));
            trims.extend(cursor.map(|cursor| (line.clone(), cursor)));
        }
        self.shared.door.set_full(full);
        let upto = upto.max(self.collected);
        if upto > self.collected || !changed.is_empty() {
            match self.positions.collected(upto, changed.clone()) {
                Ok(()) => {
                    self.after_note(upto, changed);
                    self.remove_files(trims);
                }
                Err(error) => tracing::warn!("the stores' positions are not noted now: {error}"),
            }
        } else if self.keeps_files {
            self.remove_files(trims);
        }
        self.remove_closed();
    }

    fn after_note(&mut self, upto: u64, changed: Changed) {
        self.collected = upto;
        for (id, cursor) in changed {
            self.renamed.remove(&id);
            match cursor {
                Some(cursor) => self.noted.insert(id, cursor),
                None => self.noted.remove(&id),
            };
        }
    }

    /// Removes the files of spools that the noted cursors do not need. A backup that runs may need them: they go after it.
    fn remove_files(&mut self, trims: Vec<(Arc<Line>, Cursor)>) {
        self.keeps_files = !self.positions.may_remove();
        if self.keeps_files {
            return;
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
        let mut router = Router::new(configuration);
        let old = self.shared.door.router();
        let lines: Vec<Arc<Line>> = self.shared.lines().values().cloned().collect();
        self.keep_changed(&old, &mut router, &lines);
        let router = Arc::new(router);
        self.revive(&router)?;
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
        self.open_standing(&router);
        let lines: Vec<Arc<Line>> = self.shared.lines().values().cloned().collect();
        for line in lines {
            self.shared.pools.plan(&line, now);
        }
        self.shared.door.set_router(router);
        Ok(())
    }

    /// A store that was changed in place, as to another server, gets the messages that wait for it: its line goes on. So a line
    /// keeps its name if the new configuration has an heir of it that the old one lacks, and its old store is gone.
    fn keep_changed(&self, old: &Router, router: &mut Router, lines: &[Arc<Line>]) {
        for line in lines {
            if router.target_of(&line.id).is_some() {
                continue;
            }
            let is_there = |before: Target<'_>| {
                let mut stores = router.configuration().stores.iter();
                stores.any(|store| {
                    store.store == before.store.store && store.categories == before.store.categories
                })
            };
            if old.target_of(&line.id).is_none_or(is_there) {
                continue;
            }
            let is_new = |target: &Target<'_>| {
                let has_line = self.shared.lines().contains_key(&target.id[..]);
                !has_line && old.target_of(&target.id).is_none()
            };
            if let Some(target) = router.heir(&line.id, is_new) {
                let id = target.id;
                router.keep_name(id, &line.id);
            }
        }
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
