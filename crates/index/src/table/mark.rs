//! Undoes the changes of a refused unit.
//!
//! A unit is a group of changes that is applied as a whole or not at all. Parts are immutable,
//! except that the writer replaces a part by a changed clone. So a [`Mark`] keeps references to the
//! parts, and [`Table::rewind`] puts them back.

use std::sync::Arc;

use super::parts::TailPart;
use super::writer::Table;
use crate::part::Part;

/// The parts of a table before a unit of changes. Memory: a reference for each part, and the old
/// bitmaps of deleted rows where the unit deletes.
pub struct Mark {
    segments: Vec<Arc<Part>>,
    /// For each shard the frozen tail, if there is one, and the tail.
    tails: Vec<(Option<Arc<Part>>, Arc<Part>)>,
    rows_live: u64,
}

impl Table {
    /// The table as it is, for [`Table::rewind`]. Cost: as [`Table::snapshot`].
    pub fn mark(&mut self) -> Mark {
        self.prepare_snapshot();
        let part = |tail: &TailPart| Arc::clone(&tail.part);
        let shards = self.shards.iter();
        Mark {
            segments: self
                .segments
                .iter()
                .map(|own| Arc::clone(&own.part))
                .collect(),
            tails: shards
                .map(|shard| (shard.frozen.as_ref().map(part), part(&shard.tail)))
                .collect(),
            rows_live: self.rows_live,
        }
    }

    /// Goes back to a mark. `ids`: every row that was inserted or deleted since. Nothing may have
    /// been frozen, sealed, merged or dropped since the mark.
    ///
    /// # Panics
    /// If the table has another number of segments than at the mark.
    pub fn rewind(&mut self, mark: Mark, ids: impl IntoIterator<Item = u64>) {
        assert_eq!(
            self.segments.len(),
            mark.segments.len(),
            "no segment comes or goes within a unit"
        );
        for (own, part) in self.segments.iter_mut().zip(mark.segments) {
            own.part = part;
        }
        for (shard, (frozen, tail)) in self.shards.iter_mut().zip(mark.tails) {
            if let (Some(own), Some(part)) = (&mut shard.frozen, frozen) {
                own.part = part;
            }
            shard.tail.rewind(tail);
        }
        for id in ids {
            let shard = self.shard_of(id);
            let shard = &mut self.shards[shard];
            for tail in shard.frozen.iter_mut().chain([&mut shard.tail]) {
                tail.find_again(id);
            }
        }
        self.rows_live = mark.rows_live;
    }
}
