//! Decides on a call of `Log`, as Scribe does, before the journal has it.
//!
//! # Example
//! With `max_msg_per_second=100` and stores for `web` only, in one second:
//!
//! | call | decision |
//! |---|---|
//! | 40 of `web` | store: 40 messages |
//! | 50 of `web` | store: more come in this second than half the rate, so the call passes whatever came before |
//! | 61 of `web` | store, as above |
//! | 45 of `web` | store: 85 of the smaller calls |
//! | 20 of `web` | later: they would be 105 |
//! | 2 of `web`, 1 without category, 1 of `mail` | store: 2 messages; 1 blank, 1 bad, both dropped |
//!
//! # Tables
//! Messages of a store of a table become rows here, on the thread of the connection. While such a table is missing or does not
//! fit its store, calls with its categories are answered TRY_LATER, and the status says why: their senders keep the messages.
//!
//! # The queue throttle
//! Scribe answers TRY_LATER while any queue is longer than `max_queue_size`, because its queue is memory that a crash loses.
//! Here a queue goes to its spool, so only a queue counts that is longer *and* whose spool could not be written at the last
//! checkpoint, as on a full disk. The engine bounds the bytes that wait in memory over all lines.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use engine::{Feed, Messages, SyncMode};

use crate::config::TableConfig;

use crate::counters::{Counter, Counters};
use crate::message::{Incoming, Now};
use crate::route::{Router, is_clean};
use crate::table::{Shape, TableRows, Tables};

/// More live lines than this are not begun: a call that needs one is answered TRY_LATER.
pub const LINES_MAX: usize = 100_000;
/// A call has fewer categories than this.
pub const CATEGORIES_OF_CALL_MAX: usize = LINES_MAX;
/// Time between two lines in the log about categories without a store. Microseconds.
const WARN_US: u64 = 60_000_000;

/// The answer to a call.
#[derive(Debug, PartialEq)]
pub enum Decision {
    /// The client tries again later.
    TryLater,
    /// The call can never be taken, for this reason.
    Never(String),
    /// OK: no message has a store, or there is none.
    Nothing,
    /// OK after the journal has the messages, synced as said.
    Store {
        /// Those that have a store behind the journal.
        messages: Messages,
        /// Rows of those that have a store of a table, by store.
        feeds: Vec<Feed>,
        /// The strongest `sync=` of their stores; `None`: the server's setting.
        sync: Option<SyncMode>,
        /// To be counted once the journal has them.
        received: Received,
    },
}

/// Messages of a call by category and counter. All names that are refused count as [`REFUSED`].
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Received {
    counts: BTreeMap<Box<[u8]>, (Counter, u64)>,
    /// Rows that do not hold their messages as they came.
    kept: BTreeMap<(Box<[u8]>, Counter), u64>,
}

/// Stands for all names that are no clean path; no category has this name.
const REFUSED: &[u8] = b"\0";

/// Messages of small calls in one second.
#[derive(Debug, Default)]
struct Window {
    second: u64,
    count: u64,
}

/// What the connections share with the dispatcher.
#[derive(Default)]
pub(crate) struct Door {
    tables: OnceLock<Arc<dyn Tables>>,
    /// How messages fill tables, by the store's place in the configuration.
    shapes: Mutex<HashMap<usize, Arc<Shape>>>,
    router: Mutex<Arc<Router>>,
    window: Mutex<Window>,
    /// A category whose queue is too long and cannot go to a spool.
    full: Mutex<Option<Box<[u8]>>>,
    pub is_stopping: AtomicBool,
    pub line_count: AtomicUsize,
    warned_us: Mutex<Option<u64>>,
    table_warned_us: Mutex<Option<u64>>,
}

/// The stores of a category, as far as the door needs them.
#[derive(Clone, Copy)]
struct Verdict<'r> {
    /// The stores by their places in the configuration; none: nothing takes the category.
    indexes: &'r [usize],
    /// Some of them have lines.
    has_lines: bool,
    /// Some of them are tables.
    has_tables: bool,
    sync: Option<SyncMode>,
    /// All its lines end in files whose messages get a line feed each.
    ends_lines: bool,
}

/// The messages of a call, sorted into what their stores need.
struct Sorted<'a, 'r> {
    router: &'r Router,
    messages: Messages,
    filling: Filling,
    received: Received,
    /// The strongest `sync=` so far; the outer `None`: no message has a line.
    sync: Option<Option<SyncMode>>,
    /// The run under way: category, verdict, messages so far.
    run: Option<(&'a [u8], Verdict<'r>, u64)>,
}

/// Why a whole call is not taken.
enum Refusal {
    Later,
    Never(String),
}

/// Rows of a call by the place of their store.
type Filling = BTreeMap<usize, (Arc<Shape>, TableRows)>;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Door {
    pub(crate) fn set_router(&self, router: Arc<Router>) {
        *lock(&self.router) = router;
        lock(&self.shapes).clear();
    }

    /// Once, before the first call.
    pub(crate) fn set_tables(&self, tables: Arc<dyn Tables>) {
        let _ = self.tables.set(tables);
    }

    /// After each checkpoint: a category whose queue is too long and cannot go to a spool, or none.
    pub(crate) fn set_full(&self, category: Option<Box<[u8]>>) {
        *lock(&self.full) = category;
    }

    pub(crate) fn router(&self) -> Arc<Router> {
        lock(&self.router).clone()
    }

    /// Decides on a call. `has_line` says whether a category's lines live; it is asked only near the bound of lines. Cost: a
    /// lock or two a call and a look-up a run of one category; each message is copied once.
    pub(crate) fn decide<'a, M: Into<Incoming<'a>>>(
        &self,
        entries: impl Iterator<Item = M> + Clone,
        now: Now,
        counters: &Counters,
        has_line: impl Fn(&[u8]) -> bool,
    ) -> Decision {
        if self.is_stopping.load(Ordering::Relaxed) {
            return Decision::TryLater;
        }
        let entries = entries.map(Into::into);
        let (count, bytes) = size(entries.clone());
        let router = self.router();
        if self.is_throttled(count, &router, now, counters) {
            return Decision::TryLater;
        }
        let mut call = Sorted::of(&router, bytes);
        for message in entries {
            let verdict = match &mut call.run {
                Some((name, verdict, count)) if *name == message.category => {
                    *count += 1;
                    *verdict
                }
                _ => match self.begin_run(&mut call, message.category, now, &has_line) {
                    Ok(verdict) => verdict,
                    Err(Refusal::Later) => return Decision::TryLater,
                    Err(Refusal::Never(why)) => return Decision::Never(why),
                },
            };
            if verdict.has_lines {
                let bare = message.body.strip_suffix(b"\n");
                let bare = bare.filter(|_| message.is_line && verdict.ends_lines);
                call.messages
                    .push(message.category, bare.unwrap_or(message.body));
            }
            if verdict.has_tables
                && let Err(why) = call.fill(verdict.indexes, &message)
            {
                return Decision::Never(why);
            }
        }
        let (run, received) = (call.run.take(), &mut call.received);
        received.add(run);
        self.warn(received, now);
        if call.messages.count() == 0 && call.filling.is_empty() {
            received.add_to(counters);
            return Decision::Nothing;
        }
        let feeds = call.filling.into_values();
        Decision::Store {
            messages: call.messages,
            feeds: feeds.map(|(shape, rows)| shape.feed(rows)).collect(),
            sync: call.sync.flatten(),
            received: call.received,
        }
    }

    /// A run of another category begins. Error: why the whole call is not taken.
    fn begin_run<'a, 'r>(
        &self,
        call: &mut Sorted<'a, 'r>,
        category: &'a [u8],
        now: Now,
        has_line: &impl Fn(&[u8]) -> bool,
    ) -> Result<Verdict<'r>, Refusal> {
        let verdict = verdict(call.router, category);
        call.received.add(call.run.replace((category, verdict, 1)));
        let categories = call.received.counts.len();
        if categories >= CATEGORIES_OF_CALL_MAX {
            let why = "a call has fewer than 100,000 categories";
            return Err(Refusal::Never(why.to_owned()));
        }
        if verdict.has_lines {
            // Each category of this call may need a line.
            let is_full = self.line_count.load(Ordering::Relaxed) + categories >= LINES_MAX;
            if is_full && !has_line(category) {
                return Err(Refusal::Later);
            }
            // `None` is the server's mode, of which every other is at most as strong.
            let weakest = call.sync.unwrap_or(verdict.sync);
            call.sync = Some(weakest.zip(verdict.sync).map(|(a, b)| a.min(b)));
        }
        if verdict.has_tables
            && let Err(why) = self.open_tables(call.router, verdict.indexes, &mut call.filling)
        {
            self.warn_of_table(&why, now);
            return Err(Refusal::Later);
        }
        Ok(verdict)
    }

    /// Whether a store takes this category.
    ///
    /// # Errors
    /// Why no category has this name.
    pub(crate) fn takes(&self, category: &[u8]) -> Result<bool, &'static str> {
        if !is_clean(category) {
            return Err(
                "a category is a path of at most 1,024 bytes, its parts of at most 220, without NUL, empty parts, . and ..",
            );
        }
        Ok(!self.router().indexes(category).is_empty())
    }

    /// Takes the shapes of the tables among these stores.
    fn open_tables(
        &self,
        router: &Router,
        indexes: &[usize],
        filling: &mut Filling,
    ) -> Result<(), String> {
        for index in indexes {
            if let Some(config) = router.table(*index)
                && !filling.contains_key(index)
            {
                let shape = self.shape(*index, config)?;
                filling.insert(*index, (shape, TableRows::default()));
            }
        }
        Ok(())
    }

    /// How messages fill a table now.
    fn shape(&self, index: usize, config: &TableConfig) -> Result<Arc<Shape>, String> {
        let definition = self
            .tables
            .get()
            .and_then(|all| all.definition(&config.table));
        let definition =
            definition.ok_or_else(|| format!("there is no table '{}'", config.table))?;
        let mut shapes = lock(&self.shapes);
        if let Some(shape) = shapes.get(&index).filter(|shape| shape.is_of(&definition)) {
            return Ok(Arc::clone(shape));
        }
        let shape = Arc::new(Shape::new(config, &definition)?);
        shapes.insert(index, Arc::clone(&shape));
        Ok(shape)
    }

    /// Why the first table that takes no messages takes none.
    pub(crate) fn trouble(&self) -> Option<String> {
        let router = self.router();
        let places = 0..router.configuration().stores.len();
        let mut tables = places.filter_map(|index| Some((index, router.table(index)?)));
        tables.find_map(|(index, config)| self.shape(index, config).err())
    }

    /// Memory of the rows of a call, at most, about, in bytes. Cost: one look-up a run of one category; nothing without stores of
    /// tables.
    pub(crate) fn row_bytes<'a>(&self, entries: impl Iterator<Item = Incoming<'a>>) -> usize {
        const ROW_BYTES: usize = 64;
        const VALUE_BYTES: usize = 40;
        let router = self.router();
        if !router.has_tables {
            return 0;
        }
        let mut bytes = 0;
        // Rows of a message of this category, and the values in them.
        let mut run: Option<(&[u8], usize, usize)> = None;
        for message in entries {
            if run.is_none_or(|(category, ..)| category != message.category) {
                let indexes = router.indexes(message.category).iter();
                let tables = indexes.filter_map(|index| router.table(*index));
                let (rows, values) = tables.fold((0, 0), |(rows, values), table| {
                    (rows + 1, values + table.columns().len())
                });
                run = Some((message.category, rows, values));
            }
            let (_, rows, values) = run.unwrap_or_default();
            let texts = message.body.len() + message.category.len() + message.host.len();
            bytes += rows * (ROW_BYTES + texts) + values * VALUE_BYTES;
        }
        bytes
    }

    /// Logs that a table takes no messages, unless a line told it within [`WARN_US`].
    fn warn_of_table(&self, why: &str, now: Now) {
        let mut warned = lock(&self.table_warned_us);
        if warned.is_none_or(|at| now.steady_us >= at + WARN_US) {
            *warned = Some(now.steady_us);
            tracing::warn!("messages are answered TRY_LATER: {why}");
        }
    }

    fn is_throttled(&self, count: u64, router: &Router, now: Now, counters: &Counters) -> bool {
        if self.is_above_rate(count, router.configuration().max_msg_per_second, now) {
            counters.add_overall(Counter::DeniedForRate, 1);
            return true;
        }
        let full = lock(&self.full);
        if let Some(category) = &*full {
            counters.add(category, Counter::DeniedForQueueSize, 1);
        }
        full.is_some()
    }

    /// Scribe's rule: the window is one second, and a call above half the rate passes, or it never would.
    fn is_above_rate(&self, count: u64, rate: u64, now: Now) -> bool {
        if rate == 0 || count > rate / 2 {
            return false;
        }
        let mut window = lock(&self.window);
        let second = now.steady_us / 1_000_000;
        if window.second != second {
            *window = Window { second, count: 0 };
        }
        if window.count + count > rate {
            return true;
        }
        window.count += count;
        false
    }

    /// Logs that messages are dropped, if this call has any and no line told it within [`WARN_US`].
    fn warn(&self, received: &Received, now: Now) {
        let mut counted = received.counts.iter();
        let bad = counted.find(|(_, (counter, _))| *counter == Counter::ReceivedBad);
        let Some((category, _)) = bad else { return };
        let mut warned = lock(&self.warned_us);
        if warned.is_some_and(|at| now.steady_us < at + WARN_US) {
            return;
        }
        *warned = Some(now.steady_us);
        let shown = category
            .get(..PART_SHOWN)
            .unwrap_or(category)
            .escape_ascii();
        tracing::warn!("messages are dropped: no store takes category \"{shown}\"");
    }
}

/// Bytes of a category's name that the log shows.
const PART_SHOWN: usize = 100;

fn verdict<'r>(router: &'r Router, category: &[u8]) -> Verdict<'r> {
    let mut verdict = Verdict {
        indexes: &[],
        has_lines: false,
        has_tables: false,
        sync: None,
        ends_lines: true,
    };
    if !is_clean(category) {
        return verdict;
    }
    verdict.indexes = router.indexes(category);
    for index in verdict.indexes {
        let Some(store) = router.configuration().stores.get(*index) else {
            continue;
        };
        if router.table(*index).is_some() {
            verdict.has_tables = true;
            continue;
        }
        let both = verdict.sync.zip(store.sync).map(|(a, b)| a.min(b));
        verdict.sync = if verdict.has_lines { both } else { store.sync };
        verdict.has_lines = true;
        verdict.ends_lines &= store.store.ends_lines();
    }
    verdict
}

impl<'a, 'r> Sorted<'a, 'r> {
    fn of(router: &'r Router, bytes: usize) -> Sorted<'a, 'r> {
        Sorted {
            router,
            messages: Messages::with_capacity(bytes),
            filling: Filling::new(),
            received: Received::default(),
            sync: None,
            run: None,
        }
    }

    /// Adds the rows of a message to the tables among these stores.
    fn fill(&mut self, indexes: &[usize], message: &Incoming<'_>) -> Result<(), String> {
        for index in indexes {
            let Some((shape, rows)) = self.filling.get_mut(index) else {
                continue;
            };
            let kept = shape.add(rows, message)?;
            for (happened, counter) in [
                (kept.whole, Counter::KeptWhole),
                (kept.replaced, Counter::NotUtf8),
            ] {
                if happened {
                    let counted = self.received.kept.entry((message.category.into(), counter));
                    *counted.or_default() += 1;
                }
            }
        }
        Ok(())
    }
}

/// Number of messages, and bytes of their encoded form, about.
fn size<'a>(entries: impl Iterator<Item = Incoming<'a>>) -> (u64, usize) {
    let (mut count, mut bytes) = (0, 0);
    let mut last = None;
    for Incoming { category, body, .. } in entries {
        count += 1;
        bytes += body.len() + 4;
        if last != Some(category) {
            bytes += category.len() + 8;
            last = Some(category);
        }
    }
    (count, bytes)
}

impl Received {
    fn add(&mut self, run: Option<(&[u8], Verdict<'_>, u64)>) {
        let Some((category, verdict, messages)) = run else {
            return;
        };
        let (name, counter) = match !verdict.indexes.is_empty() {
            true => (category, Counter::ReceivedGood),
            false if category.is_empty() => (category, Counter::ReceivedBlankCategory),
            // A stranger's names must not fill the memory.
            false if is_clean(category) => (category, Counter::ReceivedBad),
            false => (REFUSED, Counter::ReceivedBad),
        };
        match self.counts.get_mut(name) {
            Some((_, count)) => *count += messages,
            None => drop(self.counts.insert(name.into(), (counter, messages))),
        }
    }

    pub(crate) fn add_to(&self, counters: &Counters) {
        for ((category, counter), count) in &self.kept {
            counters.add(category, *counter, *count);
        }
        for (category, (counter, count)) in &self.counts {
            match &category[..] {
                b"" | REFUSED => counters.add_overall(*counter, *count),
                category => counters.add(category, *counter, *count),
            }
        }
    }
}

#[cfg(test)]
mod tests;
