//! From a term to the row of what is filed under it.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::{rows::Row, term::TermId};

/// A list by term takes at most this many times the places of the anchors; else a table is smaller.
const LIST_PLACES_MAX: usize = 4;

/// Bits of the filter for each anchor, at least, unless it has one for each term.
const FILTER_BITS: usize = 16;

/// From a term to its row: a list over all terms where anchors are many, one step away; a table where they are few.
#[derive(Clone, Debug)]
enum Map {
    List(Box<[Row]>),
    Table(HashMap<TermId, Row, FxBuildHasher>),
}

/// The anchors of a level, with a filter before them that holds few bits of the terms that are none.
#[derive(Clone, Debug)]
pub(crate) struct Anchors {
    /// A power of two of words; a term's number is its own hash.
    filter: Box<[u64]>,
    map: Map,
}

impl Default for Anchors {
    fn default() -> Anchors {
        Anchors::of(&[])
    }
}

impl Anchors {
    /// From each anchor and its row, in rising order.
    pub(crate) fn of(anchors: &[(TermId, Row)]) -> Anchors {
        let places = anchors.last().map_or(0, |(last, _)| *last as usize + 1);
        let bits = places.min(anchors.len() * FILTER_BITS).max(1);
        let words = bits.div_ceil(64).next_power_of_two();
        let mut filter = vec![0; words];
        for (anchor, _) in anchors {
            filter[(*anchor as usize / 64) & (words - 1)] |= 1 << (anchor % 64);
        }
        let map = if places <= anchors.len() * LIST_PLACES_MAX {
            let mut list = vec![Row::default(); places];
            for (anchor, row) in anchors {
                list[*anchor as usize] = *row;
            }
            Map::List(list.into())
        } else {
            Map::Table(anchors.iter().copied().collect())
        };
        Anchors {
            filter: filter.into(),
            map,
        }
    }

    /// Bytes it takes.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.filter)
            + match &self.map {
                Map::List(list) => size_of_val(&**list),
                Map::Table(table) => table.allocation_size(),
            }
    }

    /// False for most terms that are no anchor.
    #[inline(always)]
    pub(crate) fn may_hold(&self, term: TermId) -> bool {
        let word = self.filter[(term as usize / 64) & (self.filter.len() - 1)];
        word >> (term % 64) & 1 == 1
    }

    /// The row of a term; empty if no entry is filed under it.
    #[inline(always)]
    pub(crate) fn row(&self, anchor: TermId) -> Row {
        match &self.map {
            Map::List(list) => list.get(anchor as usize).copied().unwrap_or_default(),
            Map::Table(table) => table.get(&anchor).copied().unwrap_or_default(),
        }
    }

    /// Every anchor and its row, in no order.
    pub(crate) fn each(&self, mut visit: impl FnMut(TermId, Row)) {
        match &self.map {
            Map::List(list) => {
                let numbered = list.iter().zip(0..).filter(|(row, _)| row.entries > 0);
                numbered.for_each(|(row, anchor)| visit(anchor, *row));
            }
            Map::Table(table) => table.iter().for_each(|(anchor, row)| visit(*anchor, *row)),
        }
    }
}
