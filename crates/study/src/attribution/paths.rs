//! Different paths with their counts.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use super::amount::Amount;
use super::bounds::{list_bytes, table_bytes};
use super::channels::ChannelId;
use super::limits::{PATHS_MAX, PATHS_TOUCHES_MAX};

/// What a path led to. Counts of a file may have fractions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct PathCount {
    /// Orders, never negative.
    pub conversions: Amount,
    /// Their money, less refunds.
    pub value: Amount,
    /// Visitors that took the path and did not order, never negative.
    pub nulls: Amount,
}

/// Why a path is not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathsFull {
    /// More than [`PATHS_MAX`] different paths, or more than [`PATHS_TOUCHES_MAX`] touches of them.
    Paths,
    /// A sum of one path is above what an amount holds.
    Amount,
}

/// Different paths, each with its counts.
#[derive(Clone, Debug, Default)]
pub struct PathTable {
    touches: Vec<ChannelId>,
    entries: Vec<Entry>,
    by_touches: HashTable<Place>,
}

/// Where a path is among the entries, and a part of its hash: a table that grows does not look at the paths again.
#[derive(Clone, Copy, Debug)]
struct Place {
    part: u32,
    at: u32,
}

impl Place {
    /// The hash that the table works with, of the part that is kept. The table takes its bits from both ends.
    fn hash(part: u32) -> u64 {
        u64::from(part).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    begin: u32,
    length: u32,
    count: PathCount,
}

impl PathTable {
    /// Adds to the counts of a path.
    ///
    /// # Errors
    /// The table is full; it stays as it was.
    #[inline]
    pub fn add(&mut self, path: &[ChannelId], count: PathCount) -> Result<(), PathsFull> {
        let part = (FxBuildHasher.hash_one(path) >> 32) as u32;
        let hash = Place::hash(part);
        let (touches, entries) = (&self.touches, &self.entries);
        let found = self.by_touches.find(hash, |place| {
            place.part == part && path_of(touches, &entries[place.at as usize]) == path
        });
        if let Some(place) = found {
            let entry = &mut self.entries[place.at as usize];
            return entry.add(count).ok_or(PathsFull::Amount);
        }
        if self.entries.len() == PATHS_MAX || touches.len() + path.len() > PATHS_TOUCHES_MAX {
            return Err(PathsFull::Paths);
        }
        let at = self.entries.len() as u32;
        self.entries.push(Entry {
            begin: self.touches.len() as u32,
            length: path.len() as u32,
            count,
        });
        self.touches.extend_from_slice(path);
        let place = Place { part, at };
        (self.by_touches).insert_unique(hash, place, |place| Place::hash(place.part));
        Ok(())
    }

    /// Bytes that it holds while a path with `more_touches` touches is added.
    pub fn bytes(&self, more_touches: usize) -> usize {
        let paths = (self.by_touches.len(), self.by_touches.capacity());
        list_bytes(&self.touches, more_touches)
            + list_bytes(&self.entries, 1)
            + table_bytes::<Place>(self.by_touches.allocation_size(), paths, 1)
    }

    /// Number of different paths.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no path.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The paths in the order in which they were added first.
    pub fn iter(&self) -> impl Iterator<Item = (&[ChannelId], PathCount)> {
        let touches = &self.touches;
        let entries = self.entries.iter();
        entries.map(move |entry| (path_of(touches, entry), entry.count))
    }

    /// The same paths with other numbers for their channels.
    pub fn renumbered(mut self, ranks: &[ChannelId]) -> PathTable {
        for channel in &mut self.touches {
            *channel = ranks[usize::from(channel.0)];
        }
        // The numbers that were looked up are gone.
        self.by_touches = HashTable::new();
        self
    }
}

fn path_of<'a>(touches: &'a [ChannelId], entry: &Entry) -> &'a [ChannelId] {
    let begin = entry.begin as usize;
    &touches[begin..begin + entry.length as usize]
}

impl Entry {
    fn add(&mut self, more: PathCount) -> Option<()> {
        let add = |left: Amount, right: Amount| left.0.checked_add(right.0).map(Amount);
        self.count = PathCount {
            conversions: add(self.count.conversions, more.conversions)?,
            value: add(self.count.value, more.value)?,
            nulls: add(self.count.nulls, more.nulls)?,
        };
        Some(())
    }
}
