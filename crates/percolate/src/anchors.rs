//! Where the entries of each anchor lie.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::dictionary::TermId;

/// Entries filed under one anchor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Run {
    /// Index of the first.
    pub(crate) start: u32,
    /// How many.
    pub(crate) len: u32,
}

/// A list by term takes at most this many times the places of the entries; else a table is smaller.
const LIST_PLACES_MAX: usize = 4;

/// From a term to its run: a list over all terms where entries are many, one step away; a table where they are few.
#[derive(Clone, Debug)]
pub(crate) enum Anchors {
    List(Box<[Run]>),
    Table(HashMap<TermId, Run, FxBuildHasher>),
}

impl Default for Anchors {
    fn default() -> Anchors {
        Anchors::List(Box::default())
    }
}

impl Anchors {
    /// From the anchor of each entry, in rising order.
    pub(crate) fn of(anchors: impl ExactSizeIterator<Item = TermId> + Clone) -> Anchors {
        let places = anchors.clone().last().map_or(0, |last| last as usize + 1);
        if places <= anchors.len() * LIST_PLACES_MAX {
            let mut list = vec![Run::default(); places];
            for (anchor, index) in anchors.zip(0..) {
                list[anchor as usize].add(index);
            }
            return Anchors::List(list.into());
        }
        let mut table: HashMap<TermId, Run, FxBuildHasher> = HashMap::default();
        for (anchor, index) in anchors.zip(0..) {
            table.entry(anchor).or_default().add(index);
        }
        Anchors::Table(table)
    }

    /// The run of a term; empty if no entry is filed under it.
    #[inline]
    pub(crate) fn run(&self, anchor: TermId) -> Run {
        match self {
            Anchors::List(list) => list.get(anchor as usize).copied().unwrap_or_default(),
            Anchors::Table(table) => table.get(&anchor).copied().unwrap_or_default(),
        }
    }
}

impl Run {
    fn add(&mut self, index: u32) {
        if self.len == 0 {
            self.start = index;
        }
        self.len += 1;
    }
}
