//! The anchors of a level: from a term to the row of the entries that are filed under it.
//!
//! Example: entries are filed under the terms 5, 9 and 11.
//!
//! ```text
//! filter  12 bits in one 64-bit block: bits 5, 9 and 11 are set
//! list    12 places: 5, 9 and 11 hold a row, the others an empty one
//! ```
//!
//! `may_hold(9)` is true and `row(9)` is the row. `may_hold(7)` is false. `may_hold(69)` is true, because 69 falls on
//! the bit of 5; `row(69)` is then empty. With 12 in place of 11 the list would take 13 places, more than four for
//! each anchor, and a hash table takes its place.
//!
//! Invariants:
//! - `may_hold` is true for every anchor. A missing bit loses hits; a spare bit costs one look-up.
//! - The filter has a power of two of blocks, so a mask finds a term's block.
//! - A term that is no anchor has an empty row: `entries` is 0.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::{fetch::Fetch, rows::Row, term::TermId};

/// Places of a list for each anchor, at most. With fewer anchors a hash table is smaller.
const LIST_PLACES_MAX: usize = 4;

/// Bits of the filter for each anchor, at least, unless every term up to the last anchor has its own bit.
const FILTER_BITS: usize = 16;

/// The rows by term: a list where anchors are dense, which takes one read; a table where they are sparse.
#[derive(Clone, Debug)]
enum Map {
    List(Box<[Row]>),
    Table(HashMap<TermId, Row, FxBuildHasher>),
}

/// The anchors of a level, behind a filter that turns away most terms that are no anchor.
#[derive(Clone, Debug)]
pub(crate) struct Anchors {
    /// A power of two of 64-bit blocks. A term's number is its own hash.
    filter: Box<[u64]>,
    map: Map,
}

impl Default for Anchors {
    fn default() -> Anchors {
        Anchors::of(&[])
    }
}

impl Anchors {
    /// Builds the map from anchors in rising order, each once, with their rows.
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

    /// Memory of filter and map, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.filter)
            + match &self.map {
                Map::List(list) => size_of_val(&**list),
                Map::Table(table) => table.allocation_size(),
            }
    }

    /// False only for terms that are no anchor, and for most of those.
    #[inline(always)]
    pub(crate) fn may_hold(&self, term: TermId) -> bool {
        let word = self.filter[(term as usize / 64) & (self.filter.len() - 1)];
        word >> (term % 64) & 1 == 1
    }

    /// Prefetches the row of a term. It does so in a list only, which is the far larger form.
    #[inline(always)]
    pub(crate) fn fetch(&self, steps: impl Fetch, anchor: TermId) {
        if let Map::List(list) = &self.map {
            steps.fetch(list, anchor as usize);
        }
    }

    /// The row of a term; empty if no entry is filed under it.
    #[inline(always)]
    pub(crate) fn row(&self, anchor: TermId) -> Row {
        match &self.map {
            Map::List(list) => list.get(anchor as usize).copied().unwrap_or_default(),
            Map::Table(table) => table.get(&anchor).copied().unwrap_or_default(),
        }
    }

    /// Calls `visit` with every anchor and its row, in no order.
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
