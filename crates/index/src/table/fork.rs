//! A fork: a table as one transaction sees it.
//!
//! It has the committed rows of one moment, its *base*, and the transaction's own changes. No other session sees it. Example:
//!
//! ```text
//! base      segment {1, 2, 3}   tail {4}
//! own       delete 2, set n of 3, insert 9
//! fork      segment {1, -2, 3'} tail {4}   own tail {9}       a SELECT sees 1, 3', 4, 9
//!
//! others    insert 5, set m of 3, delete 4
//! rebase    segment {1, -2, 3'} tail {-4, 5}   own tail {9}   3' has the own n and the new m
//! ```
//!
//! Parts are shared with the base until the transaction changes them. So a fork costs a reference for each part, a change of it
//! what it costs in a table, and [`Fork::rebase`] a look at the parts that others have changed: bitmaps are joined, and pages of
//! changed values, of 512 rows, exchanged.
//!
//! Invariants:
//! - `table.segments` has the parts of `base`, in their order, with own edits; `table.shards` has own rows alone.
//! - `own` has each id that the transaction has inserted, changed or deleted. What others do to such a row is not seen: an own row
//!   hides theirs, and columns that were set keep their values. A row that others delete is gone, also where its columns were set.
//! - `removed` has the words of the rows of a part that the transaction has deleted, and of no other row.

use std::collections::BTreeMap;
use std::sync::Arc;

use language::analysis::Words;
use relation::value::Value;

use super::merging::Merging;
use super::parts::{SealedPart, Shard};
use super::writer::{Location, Table};
use crate::edits::Edits;
use crate::error::Result;
use crate::files::SegmentFiles;
use crate::part::Part;
use crate::planned::{PlannedChange, is_state_of};
use crate::removed::Removed;

/// Own rows up to which a rebase looks each of them up in a part that others have changed. With more it goes by the changed rows.
const LOOKED_UP_MAX: usize = 1_000;

/// Memory of an entry of `own`, in bytes, estimated.
const OWN_ROW_BYTES: u64 = 64;
const OWN_VALUE_BYTES: u64 = 8;

/// A table with the changes of one transaction.
pub struct Fork {
    /// To be read and searched as any table. Only [`Fork`] changes it, and nothing is sealed or merged.
    pub table: Table,
    base: Vec<Arc<Part>>,
    /// For each part of `base` the words of rows that were deleted in the fork.
    removed: Vec<Removed>,
    own: BTreeMap<u64, OwnRow>,
    /// Memory of the values in `own`.
    own_bytes: u64,
    /// Own rows that others may have changed since the last [`Fork::take_moved`].
    moved: Vec<u64>,
}

/// What the transaction has done to a row.
enum OwnRow {
    Deleted,
    /// It stands in the own tail.
    Stored,
    /// These values of columns were set, in the base's row.
    Changed(Vec<(u16, Value)>),
}

impl Fork {
    /// A fork of a table as it is, without own changes. Cost: as [`Table::snapshot`].
    pub fn of(table: &mut Table) -> Fork {
        let base = parts_of(table);
        let segments: Vec<SealedPart> = base.iter().map(sealed).collect();
        let keyed = table.shape.keyed();
        let shards = (0..table.shape.shards).map(|_| Shard::new(&keyed));
        let fork = Table {
            disk: Arc::clone(&table.disk),
            dir: String::new(),
            shape: Arc::clone(&table.shape),
            rows_live: segments.iter().map(|own| own.part.rows_live()).sum(),
            segments,
            damaged: table.damaged.clone(),
            shards: shards.collect(),
            work: None,
            is_job_running: false,
            position: table.position,
            next_number: table.next_number,
            merging: Merging::default(),
            unused: Vec::new(),
            discarded: Vec::new(),
        };
        Fork {
            table: fork,
            removed: base.iter().map(|_| Removed::default()).collect(),
            base,
            own: BTreeMap::new(),
            own_bytes: 0,
            moved: Vec::new(),
        }
    }

    /// Memory of the own rows and changes, in bytes, estimated.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        let base: u64 = self.base.iter().map(|part| part.changes.size().1).sum();
        let tails = self.table.tail().bytes;
        let changes: u64 = self.table.parts().map(|part| part.changes.size().1).sum();
        let own = OWN_ROW_BYTES * self.own.len() as u64 + self.own_bytes;
        tails + changes.saturating_sub(base) + own
    }

    /// As [`Table::insert`]. A live row of that id, which another session has inserted, is no longer seen.
    pub fn insert(&mut self, id: u64, row: Arc<[u8]>, words: &Words) -> Result<()> {
        self.delete(id)?;
        self.table.insert(id, row, words)?;
        self.own.insert(id, OwnRow::Stored);
        Ok(())
    }

    /// As [`Table::delete`].
    pub fn delete(&mut self, id: u64) -> Result<bool> {
        if let Some(Location::Segment(at, doc)) = self.table.locate(id)? {
            let words = self.table.segments[at].part.forward(doc)?;
            self.removed[at].add(&words);
        }
        let is_deleted = self.table.delete(id)?;
        if is_deleted {
            self.own.insert(id, OwnRow::Deleted);
        }
        Ok(is_deleted)
    }

    /// As [`Table::change`].
    pub fn change(
        &mut self,
        id: u64,
        values: impl IntoIterator<Item = (u16, Value)>,
    ) -> Result<bool> {
        let values: Vec<(u16, Value)> = values.into_iter().collect();
        if !self.table.change(id, values.iter().cloned())? {
            return Ok(false);
        }
        self.note_changed(id, values);
        Ok(true)
    }

    /// As [`Table::take_planned`]. `rows`: those of the plan that have not moved, with their values.
    pub fn take_planned(
        &mut self,
        plan: &PlannedChange,
        rows: impl Iterator<Item = (u64, Vec<(u16, Value)>)>,
    ) -> Result<()> {
        self.table.take_planned(plan)?;
        for (id, values) in rows {
            self.note_changed(id, values);
        }
        Ok(())
    }

    fn note_changed(&mut self, id: u64, values: Vec<(u16, Value)>) {
        let own = self.own.entry(id).or_insert(OwnRow::Changed(Vec::new()));
        let OwnRow::Changed(known) = own else {
            return; // its row is in the own tail
        };
        for (column, value) in values {
            self.own_bytes += OWN_VALUE_BYTES + value.memory() as u64;
            match known.iter_mut().find(|(other, _)| *other == column) {
                Some((_, old)) => {
                    self.own_bytes -= OWN_VALUE_BYTES + old.memory() as u64;
                    *old = value;
                }
                None => known.push((column, value)),
            }
        }
    }

    /// Takes in what others have changed in the table since the fork was made or last rebased. Errors: `Io`, `Corrupt`; the fork
    /// is then as it was.
    pub fn rebase(&mut self, table: &mut Table) -> Result<()> {
        let now = parts_of(table);
        let is_same = |(own, other): (&Arc<Part>, &Arc<Part>)| Arc::ptr_eq(own, other);
        if now.len() == self.base.len() && now.iter().zip(&self.base).all(is_same) {
            return Ok(());
        }
        let ids: Vec<u64> = self.own.keys().copied().collect();
        let (mut segments, mut removed, mut moved) = (Vec::new(), Vec::new(), Vec::new());
        for part in &now {
            let twin = self
                .base
                .iter()
                .position(|before| is_state_of(part, before));
            let (own, words) = self.rebased(part, twin, &ids, &mut moved)?;
            segments.push(sealed(&own));
            removed.push(words);
        }
        self.table.segments = segments;
        self.table.damaged = table.damaged.clone();
        self.table.prepare_snapshot(); // rows are counted in published parts only
        self.table.rows_live = self.table.parts().map(|part| part.rows_live()).sum();
        (self.base, self.removed) = (now, removed);
        self.moved.append(&mut moved);
        Ok(())
    }

    /// The ids of own rows that others may have changed since the last call, in any order, and of other own rows.
    pub fn take_moved(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.moved)
    }

    /// A part with the own changes, and the words of its rows that are deleted by the transaction. `twin`: the same tail or segment
    /// in `base`. `ids`: those of `own`.
    fn rebased(
        &self,
        part: &Arc<Part>,
        twin: Option<usize>,
        ids: &[u64],
        moved: &mut Vec<u64>,
    ) -> Result<(Arc<Part>, Removed)> {
        let (mut own, mut words) = (Arc::clone(part), Removed::default());
        if let Some(at) = twin {
            let (before, mine) = (&self.base[at], &self.table.segments[at].part);
            if Arc::ptr_eq(before, part) {
                return Ok((Arc::clone(mine), self.removed[at].clone()));
            }
            if !Arc::ptr_eq(before, mine) {
                let merged = Arc::make_mut(&mut own);
                let gone = &*mine.deleted - &*before.deleted;
                let others = &gone & &*part.deleted;
                if others.is_empty() {
                    words = self.removed[at].clone();
                    merged.remove_with(&gone, &words);
                } else {
                    for doc in &gone - &others {
                        words.add(&part.forward(doc)?);
                    }
                    merged.remove_with(&(&gone - &others), &words);
                }
                for column in mine.changes.columns() {
                    let base = before.changed(usize::from(column.column()));
                    merged.changes.take(base, column);
                }
            }
        }
        for (doc, id) in self.touched(&own, twin, ids)? {
            match self.own.get(&id) {
                None => {}
                Some(OwnRow::Deleted | OwnRow::Stored) => {
                    let row = own.forward(doc)?;
                    words.add(&row);
                    Arc::make_mut(&mut own).remove(doc, &row);
                }
                Some(OwnRow::Changed(values)) => {
                    moved.push(id);
                    for (column, value) in values {
                        let changes = &mut Arc::make_mut(&mut own).changes;
                        changes.set(*column, doc, value.clone());
                    }
                }
            }
        }
        Ok((own, words))
    }

    /// The live rows of a part that others have added or changed since the twin in `base`, and that have own ids: all of them, and
    /// others. With their ids.
    fn touched(&self, part: &Part, twin: Option<usize>, ids: &[u64]) -> Result<Vec<(u32, u64)>> {
        let before = twin.map(|at| &self.base[at]);
        let docs = match before {
            Some(before) if ids.len() > LOOKED_UP_MAX => {
                let mut docs: Vec<u32> = (before.rows()..part.rows()).collect();
                part.changes
                    .since(&before.changes, &mut |_, doc, _| docs.push(doc));
                docs.sort_unstable();
                docs.dedup();
                docs.retain(|doc| part.is_live(*doc));
                docs
            }
            _ => part.find_all(ids)?,
        };
        let mut touched = Vec::new();
        for doc in docs {
            touched.push((doc, part.id(doc)?));
        }
        Ok(touched)
    }
}

/// The parts of a table that have rows, with everything applied so far.
fn parts_of(table: &mut Table) -> Vec<Arc<Part>> {
    table.prepare_snapshot();
    let parts = table.parts().filter(|part| part.rows() > 0);
    parts.cloned().collect()
}

/// A part of a fork, which is never written.
fn sealed(part: &Arc<Part>) -> SealedPart {
    SealedPart {
        part: Arc::clone(part),
        files: SegmentFiles {
            directory: String::new(),
            rows: part.rows(),
            deleted: None,
            changed: None,
        },
        shard: 0,
        saved: Edits::default(),
    }
}
