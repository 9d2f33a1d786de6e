//! What conditions on attributes say of the rows of segments, kept from search to search.
//!
//! A segment never changes, so what a condition says of its rows stays true as long as it is there; which rows are deleted is no part
//! of it. It is kept as one set of rows a page, made when so many rows of the page were asked about that asking all of
//! them at once would have cost as much.
//!
//! Limits: [`Filters::new`] is told how many bytes all of it may take. A condition that is asked about a segment for the first time
//! takes only room that nobody uses; from the second time on it may push out what was asked least recently. A condition is known by its
//! text, of at most [`FILTER_TEXT_BYTES_MAX`]; a longer one is not kept.

use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use query::expression::Expression;
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::limits::FILTER_TEXT_BYTES_MAX;
use crate::postings::{Bitmap, PAGE_ROWS};
use crate::segment::SegmentNumber;

/// Rows of a page up to which they are kept as a list.
const FEW: usize = 1024;

/// Conditions asked once of which a mark is kept, at most: 32 KiB.
const MARKS: usize = 4096;

/// Memory of an entry beside its text and its pages: nodes of the two maps, and what the allocator adds.
const ENTRY_BYTES: u64 = 320;

/// A segment and the text of a condition.
type Key = (SegmentNumber, Arc<str>);

/// The rows of a page that a condition accepts, deleted ones included.
#[derive(Debug)]
pub(crate) enum Accepted {
    /// Rising.
    Few(Box<[u16]>),
    Many(Box<Bitmap>),
}

/// All that is kept. Shared by all searches of a process; see [`crate::Control`].
pub struct Filters {
    bytes_max: u64,
    bytes: Arc<AtomicU64>,
    pages_used: AtomicU64,
    pages_made: AtomicU64,
    kept: Mutex<Kept>,
}

struct Kept {
    entries: FxHashMap<Key, Entry>,
    /// The same, by when they were last asked for.
    by_turn: BTreeMap<u64, Key>,
    turn: u64,
    /// By their low bits: hashes of keys that were asked for and not kept.
    marks: Vec<u64>,
}

struct Entry {
    verdicts: Arc<Verdicts>,
    turn: u64,
}

/// What one condition says of one segment, as far as it is known.
pub(crate) struct Verdicts {
    pages: Box<[Page]>,
    /// It was asked for more than once: it may push out others.
    is_wanted: AtomicBool,
    /// Memory taken by it, counted in `all_bytes` too until it is dropped.
    bytes: AtomicU64,
    all_bytes: Arc<AtomicU64>,
}

#[derive(Default)]
struct Page {
    accepted: OnceLock<Accepted>,
    /// Rows asked about one by one.
    asked: AtomicU32,
}

/// The text that a condition is known by; `None` of one that is too long to be kept.
pub(crate) fn text_of(filter: &Expression) -> Option<Arc<str>> {
    struct Bounded(String);
    impl Write for Bounded {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            if self.0.len() + text.len() > FILTER_TEXT_BYTES_MAX {
                return Err(fmt::Error);
            }
            self.0.push_str(text);
            Ok(())
        }
    }
    // The derived form names everything that a tree holds, so two that differ have different texts.
    let mut text = Bounded(String::new());
    write!(text, "{filter:?}").ok()?;
    Some(text.0.into())
}

impl Accepted {
    /// The rows of a bitmap.
    pub(crate) fn new(bitmap: &Bitmap) -> Accepted {
        let count: u32 = bitmap.iter().map(|word| word.count_ones()).sum();
        if count as usize > FEW {
            return Accepted::Many(Box::new(*bitmap));
        }
        let mut lows = Vec::with_capacity(count as usize);
        for (at, word) in bitmap.iter().enumerate() {
            let mut word = *word;
            while word != 0 {
                lows.push((at as u32 * 64 + word.trailing_zeros()) as u16);
                word &= word - 1;
            }
        }
        Accepted::Few(lows.into())
    }

    fn bytes(&self) -> u64 {
        match self {
            Accepted::Few(lows) => size_of_val::<[u16]>(lows) as u64,
            Accepted::Many(_) => BITMAP_BYTES,
        }
    }
}

const BITMAP_BYTES: u64 = size_of::<Bitmap>() as u64;

impl Filters {
    /// Nothing is kept yet; so many bytes may be.
    #[must_use]
    pub fn new(bytes_max: u64) -> Filters {
        Filters {
            bytes_max,
            bytes: Arc::default(),
            pages_used: AtomicU64::new(0),
            pages_made: AtomicU64::new(0),
            kept: Mutex::new(Kept {
                entries: FxHashMap::default(),
                by_turn: BTreeMap::new(),
                turn: 0,
                marks: vec![0; MARKS],
            }),
        }
    }

    /// Memory taken now, in bytes; never more than it was made for.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Pages that were made and kept since the start.
    #[must_use]
    pub fn pages_made(&self) -> u64 {
        self.pages_made.load(Ordering::Relaxed)
    }

    /// Times that a kept page answered for its rows.
    #[must_use]
    pub fn pages_used(&self) -> u64 {
        self.pages_used.load(Ordering::Relaxed)
    }

    /// What a condition says of a segment of so many rows; `None` where there is no room for it. A search asks once.
    pub(crate) fn verdicts(
        &self,
        segment: SegmentNumber,
        rows: u32,
        text: &Arc<str>,
    ) -> Option<Arc<Verdicts>> {
        let key = (segment, Arc::clone(text));
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(verdicts) = kept.touch(&key) {
            verdicts.is_wanted.store(true, Ordering::Relaxed);
            return Some(verdicts);
        }
        let is_wanted = kept.was_asked(&key);
        let pages = rows.div_ceil(PAGE_ROWS) as usize;
        let bytes = ENTRY_BYTES + text.len() as u64 + (pages * size_of::<Page>()) as u64;
        if !self.makes_room(&mut kept, bytes, is_wanted) {
            return None;
        }
        let verdicts = Arc::new(Verdicts {
            pages: (0..pages).map(|_| Page::default()).collect(),
            is_wanted: AtomicBool::new(is_wanted),
            bytes: AtomicU64::new(bytes),
            all_bytes: Arc::clone(&self.bytes),
        });
        kept.insert(key, Arc::clone(&verdicts));
        Some(verdicts)
    }

    /// What is kept of a page.
    pub(crate) fn page<'v>(&self, verdicts: &'v Verdicts, page: usize) -> Option<&'v Accepted> {
        let accepted = verdicts.pages[page].accepted.get()?;
        self.pages_used.fetch_add(1, Ordering::Relaxed);
        Some(accepted)
    }

    /// Takes room for a page, to be used by [`Filters::keep`] or given back by [`Filters::give_back`].
    pub(crate) fn reserve(&self, verdicts: &Verdicts) -> bool {
        let is_wanted = verdicts.is_wanted.load(Ordering::Relaxed);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let is_room = self.makes_room(&mut kept, BITMAP_BYTES, is_wanted);
        if is_room {
            verdicts.bytes.fetch_add(BITMAP_BYTES, Ordering::Relaxed);
        }
        is_room
    }

    /// Keeps a page, in room that was reserved.
    pub(crate) fn keep(&self, verdicts: &Verdicts, page: usize, accepted: Accepted) {
        let bytes = accepted.bytes();
        match verdicts.pages[page].accepted.set(accepted) {
            Ok(()) => {
                self.pages_made.fetch_add(1, Ordering::Relaxed);
                verdicts.release(BITMAP_BYTES - bytes);
            }
            // Another search was first.
            Err(_) => verdicts.release(BITMAP_BYTES),
        }
    }

    /// A page could not be made: that is tried again when as many rows as before were asked about.
    pub(crate) fn give_back(&self, verdicts: &Verdicts, page: usize) {
        verdicts.pages[page].asked.store(0, Ordering::Relaxed);
        verdicts.release(BITMAP_BYTES);
    }

    /// Counts so many bytes as taken, if they fit, or others, asked for less recently, may be pushed out for them.
    fn makes_room(&self, kept: &mut Kept, bytes: u64, pushes: bool) -> bool {
        // Whoever takes holds the lock; bytes are given back without it.
        while self.bytes() + bytes > self.bytes_max {
            if !pushes || !kept.push_out() {
                return false;
            }
        }
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        true
    }
}

impl Kept {
    /// An entry that is there, now the last one asked for.
    fn touch(&mut self, key: &Key) -> Option<Arc<Verdicts>> {
        let entry = self.entries.get_mut(key)?;
        self.turn += 1;
        let own = self.by_turn.remove(&entry.turn);
        entry.turn = self.turn;
        self.by_turn.extend(own.map(|key| (self.turn, key)));
        Some(Arc::clone(&entry.verdicts))
    }

    fn insert(&mut self, key: Key, verdicts: Arc<Verdicts>) {
        self.turn += 1;
        let turn = self.turn;
        self.by_turn.insert(turn, key.clone());
        self.entries.insert(key, Entry { verdicts, turn });
    }

    /// Whether a key that is not there was asked for before, as far as marks tell. A wrong yes costs an entry that somebody else
    /// could have had.
    fn was_asked(&mut self, key: &Key) -> bool {
        let hash = FxBuildHasher.hash_one(key);
        let mark = &mut self.marks[hash as usize % MARKS];
        std::mem::replace(mark, hash) == hash
    }

    /// Drops what was asked for least recently, unless a search uses it; false where there is no such.
    fn push_out(&mut self) -> bool {
        let is_idle = |key: &Key| {
            let entry = self.entries.get(key);
            entry.is_none_or(|entry| Arc::strong_count(&entry.verdicts) == 1)
        };
        let idle = self.by_turn.iter().find(|(_, key)| is_idle(key));
        let Some(turn) = idle.map(|(turn, _)| *turn) else {
            return false;
        };
        let key = self.by_turn.remove(&turn);
        key.is_some_and(|key| self.entries.remove(&key).is_some())
    }
}

impl Verdicts {
    /// Takes note that so many rows of a page are asked about, one by one; whether with them as many were as `whole`.
    pub(crate) fn is_due(&self, page: usize, rows: u32, whole: u32) -> bool {
        let asked = &self.pages[page].asked;
        let before = asked.load(Ordering::Relaxed);
        let after = before.saturating_add(rows);
        // A count that another search adds meanwhile may be lost: the page is made a little later.
        asked.store(after, Ordering::Relaxed);
        after >= whole
    }

    fn release(&self, bytes: u64) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.all_bytes.fetch_sub(bytes, Ordering::Relaxed);
    }
}

impl Drop for Verdicts {
    fn drop(&mut self) {
        self.all_bytes
            .fetch_sub(*self.bytes.get_mut(), Ordering::Relaxed);
    }
}

impl fmt::Debug for Filters {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Filters");
        shown.field("bytes", &self.bytes());
        shown.field("bytes_max", &self.bytes_max);
        shown.finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
