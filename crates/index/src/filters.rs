//! Filter pages: the rows of segments that a condition accepts, kept from search to search.
//!
//! A segment's rows change only by UPDATE, and the part's changes have a version for each column. So
//! the rows that a condition accepts stay the same for one segment and one version. Deleted rows are included; searches drop them apart. A page is made once as many of its
//! rows were evaluated one by one as the whole page would have cost. Example, `color = 'red'` on a
//! segment of 100,000 rows, whose page 0 has 65,536:
//!
//! ```text
//! search 1   evaluates 40,000 rows of page 0       asked: 40,000
//! search 2   would evaluate 40,000 more            80,000 are due: it evaluates and keeps all 65,536
//! search 3   intersects with the kept page         evaluates no row of page 0
//! ```
//!
//! Limits: [`Filters::new`] gets the bytes for everything. The first search with a condition takes
//! only free room for it. From the second on, the condition may push out the least recently used
//! entries that no search holds. A condition is known by its text of at most
//! [`FILTER_TEXT_BYTES_MAX`] bytes; a longer one is not kept.
//!
//! Invariants:
//! - `bytes` is the sum of all entries' bytes, and at most `bytes_max`: room is reserved under the
//!   lock before a page is made.
//! - Segment numbers and versions are never reused in a process, so an entry cannot be taken for
//!   another segment's, nor for an earlier state's.
//! - A page is set once and never changes.

use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use relation::expression::Expression;
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::limits::FILTER_TEXT_BYTES_MAX;
use crate::postings::{Bitmap, PAGE_ROWS};
use crate::segment::SegmentNumber;

/// Most rows of a page that are kept as a list; more are a bitmap.
const FEW: usize = 1024;

/// Marks for conditions that were asked about and not kept: 32 KiB.
const MARKS: usize = 4096;

/// Memory of an entry beside its text and its pages, in bytes: nodes of the two maps, and the
/// allocator's share.
const ENTRY_BYTES: u64 = 320;

/// A segment, and the version of the changes of the condition's columns; see [`crate::changes::Changes::version`].
pub(crate) type SegmentState = (SegmentNumber, u64);

/// A segment as it is, and the text of a condition.
type Key = (SegmentState, Arc<str>);

/// The rows of a page that a condition accepts, deleted ones included.
#[derive(Debug)]
pub(crate) enum Accepted {
    /// Rising.
    Few(Box<[u16]>),
    Many(Box<Bitmap>),
}

/// All kept pages. All searches of a process share it; see [`crate::Control`].
pub struct Filters {
    bytes_max: u64,
    bytes: Arc<AtomicU64>,
    pages_used: AtomicU64,
    pages_made: AtomicU64,
    kept: Mutex<Kept>,
}

struct Kept {
    entries: FxHashMap<Key, Entry>,
    /// The keys by the turn of their last use.
    by_turn: BTreeMap<u64, Key>,
    turn: u64,
    /// Hashes of keys that were asked about and not kept, each at the index of its low bits.
    marks: Vec<u64>,
}

struct Entry {
    verdicts: Arc<Verdicts>,
    turn: u64,
}

/// The kept pages of one condition and one segment.
pub(crate) struct Verdicts {
    pages: Box<[Page]>,
    /// Whether a second search asked for it: then it may push out other entries.
    is_wanted: AtomicBool,
    /// Its memory in bytes; also part of `all_bytes` until it is dropped.
    bytes: AtomicU64,
    all_bytes: Arc<AtomicU64>,
}

#[derive(Default)]
struct Page {
    accepted: OnceLock<Accepted>,
    /// Rows evaluated one by one so far.
    asked: AtomicU32,
}

/// The text that a condition is known by; `None` if it is too long.
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
    // The derived form names all fields of a tree, so two different trees have different texts.
    let mut text = Bounded(String::new());
    write!(text, "{filter:?}").ok()?;
    Some(text.0.into())
}

impl Accepted {
    /// The rows of a bitmap, as a list if they are few.
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
    /// Keeps pages in at most `bytes_max` bytes.
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

    /// Memory in use, in bytes; at most the bytes given to [`Filters::new`].
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Number of pages made and kept since the start.
    #[must_use]
    pub fn pages_made(&self) -> u64 {
        self.pages_made.load(Ordering::Relaxed)
    }

    /// Number of times that a kept page was used.
    #[must_use]
    pub fn pages_used(&self) -> u64 {
        self.pages_used.load(Ordering::Relaxed)
    }

    /// The entry of a condition and a segment of `rows` rows, made if there is room; else `None`. A
    /// search calls this once for each segment.
    pub(crate) fn verdicts(
        &self,
        segment: SegmentState,
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

    /// The accepted rows of a page; `None` if the page is not kept.
    pub(crate) fn page<'v>(&self, verdicts: &'v Verdicts, page: usize) -> Option<&'v Accepted> {
        let accepted = verdicts.pages[page].accepted.get()?;
        self.pages_used.fetch_add(1, Ordering::Relaxed);
        Some(accepted)
    }

    /// Reserves room for a page; `false` if there is none. The caller then calls [`Filters::keep`]
    /// or [`Filters::give_back`].
    pub(crate) fn reserve(&self, verdicts: &Verdicts) -> bool {
        let is_wanted = verdicts.is_wanted.load(Ordering::Relaxed);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let is_room = self.makes_room(&mut kept, BITMAP_BYTES, is_wanted);
        if is_room {
            verdicts.bytes.fetch_add(BITMAP_BYTES, Ordering::Relaxed);
        }
        is_room
    }

    /// Keeps a page in reserved room.
    pub(crate) fn keep(&self, verdicts: &Verdicts, page: usize, accepted: Accepted) {
        let bytes = accepted.bytes();
        match verdicts.pages[page].accepted.set(accepted) {
            Ok(()) => {
                self.pages_made.fetch_add(1, Ordering::Relaxed);
                verdicts.release(BITMAP_BYTES - bytes);
            }
            // Another search has kept the page first.
            Err(_) => verdicts.release(BITMAP_BYTES),
        }
    }

    /// Returns the room of a page that could not be made. It is tried again after as many rows.
    pub(crate) fn give_back(&self, verdicts: &Verdicts, page: usize) {
        verdicts.pages[page].asked.store(0, Ordering::Relaxed);
        verdicts.release(BITMAP_BYTES);
    }

    /// Takes `bytes` if they fit; with `pushes`, also drops entries that were used less recently.
    fn makes_room(&self, kept: &mut Kept, bytes: u64, pushes: bool) -> bool {
        // Bytes are taken under the lock and returned without it.
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
    /// The entry of a key, which becomes the most recently used.
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

    /// Whether the key was asked about before, as far as marks tell; marks it. A wrong yes lets a
    /// condition push out an entry too early.
    fn was_asked(&mut self, key: &Key) -> bool {
        let hash = FxBuildHasher.hash_one(key);
        let mark = &mut self.marks[hash as usize % MARKS];
        std::mem::replace(mark, hash) == hash
    }

    /// Drops the least recently used entry that no search holds; `false` if there is none.
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
    /// Adds `rows` to the rows of the page that were evaluated one by one; returns whether they
    /// have reached `whole`.
    pub(crate) fn is_due(&self, page: usize, rows: u32, whole: u32) -> bool {
        let asked = &self.pages[page].asked;
        let before = asked.load(Ordering::Relaxed);
        let after = before.saturating_add(rows);
        // Another search's addition may be lost; the page is then made a little later.
        asked.store(after, Ordering::Relaxed);
        after >= whole
    }

    /// Estimate of the rows that a scan looks at: those of pages that are not kept, and accepted ones.
    pub(crate) fn rows_looked_at(&self) -> u64 {
        let of_page = |page: &Page| match page.accepted.get() {
            Some(Accepted::Few(lows)) => lows.len() as u64,
            Some(Accepted::Many(_)) | None => u64::from(PAGE_ROWS),
        };
        self.pages.iter().map(of_page).sum()
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
