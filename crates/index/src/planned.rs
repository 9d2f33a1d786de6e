//! An UPDATE of many rows, worked out over a snapshot on a reader's thread. The writer then only exchanges pages.
//!
//! Example: `UPDATE t SET n = n + 1 WHERE n < 5` chooses 900,000 of a million rows in two segments.
//!
//! ```text
//! a reader   evaluates the condition and `n + 1` over its snapshot     0.5 s; writers go on
//!            makes the pages of column `n` that hold the new values
//! the writer asks which of these rows were changed or deleted since    a comparison of pointers, a page each
//!            takes in the pages; rows changed since keep their values  a pointer each
//!            decides the rows changed since again, one by one
//! ```
//!
//! Invariant: a row that was changed, deleted, replaced, sealed or merged since the snapshot is among [`Table::moved_since`].
//! Else the UPDATE would overwrite what another one has set, or set a row that no longer fits its condition.

use std::collections::BTreeSet;
use std::sync::Arc;

use language::tree::Query;
use relation::bind::BoundSelect;
use relation::value::Value;

use crate::changes::ChangedColumn;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::part::{Part, Source};
use crate::snapshot::Snapshot;
use crate::table::Table;

/// Values for the rows that an UPDATE chose. Holds its snapshot's parts alive.
pub struct PlannedChange {
    parts: Vec<PlannedPart>,
}

/// The chosen rows of one part.
struct PlannedPart {
    part: Arc<Part>,
    /// Rows by number in the part, rising, with their ids.
    rows: Vec<(u32, u64)>,
    /// The part's changed values with those of the UPDATE.
    columns: Vec<ChangedColumn>,
}

/// Units of a row that is changed, without what its expressions take.
const PLANNED_UNITS: u64 = 300;

/// The values of one row, for the expressions of an UPDATE.
pub type ReadColumn<'r> = dyn Fn(usize) -> Result<Value> + 'r;

/// Puts the new values of a row, given its id and its old values, into the last argument: places of columns with values.
pub type SetColumns<'s, E> =
    dyn FnMut(u64, &ReadColumn<'_>, &mut Vec<(u16, Value)>) -> std::result::Result<(), E> + 's;

impl Snapshot {
    /// Finds the ids of the rows of a SELECT, in its order. Reads what [`Table::delete`] needs of each, so that a deletion fails
    /// here and not where it is applied. Errors: as [`Snapshot::search`]; `Interrupted` also with `Reason::Time`.
    pub fn plan_removal(
        self: &Arc<Self>,
        select: &BoundSelect<'_>,
        query: Option<&Query>,
        control: &Control,
    ) -> Result<Vec<u64>> {
        let found = self.places(select, query, control)?;
        let mut ids = Vec::with_capacity(found.len());
        for (part, doc, id) in found {
            control.check()?;
            self.parts[part as usize].check_forward(doc)?;
            ids.push(id);
        }
        Ok(ids)
    }

    /// The rows of a SELECT: part, number in it, id. A part of them would look like all of them, so time that is over is an error.
    fn places(
        self: &Arc<Self>,
        select: &BoundSelect<'_>,
        query: Option<&Query>,
        control: &Control,
    ) -> Result<Vec<(u32, u32, u64)>> {
        let answer = self.search(select, query, control)?;
        match answer.partial {
            None => Ok(answer.rows.into_places()),
            Some(reason) => Err(Error::Interrupted { reason }),
        }
    }

    /// Finds the rows of a SELECT and asks `set` for each one's new values. No text column may be among them. Errors: as
    /// [`Snapshot::search`]; those of `set`.
    pub fn plan_change<E: From<crate::Error>>(
        self: &Arc<Self>,
        select: &BoundSelect<'_>,
        query: Option<&Query>,
        control: &Control,
        set: &mut SetColumns<'_, E>,
    ) -> std::result::Result<PlannedChange, E> {
        let mut found = self.places(select, query, control)?;
        found.sort_unstable();
        let mut parts: Vec<PlannedPart> = Vec::new();
        let mut values = Vec::new();
        for of_part in found.chunk_by(|a, b| a.0 == b.0) {
            let part = &self.parts[of_part[0].0 as usize];
            let mut planned = PlannedPart {
                part: Arc::clone(part),
                rows: Vec::with_capacity(of_part.len()),
                columns: Vec::new(),
            };
            for (_, doc, id) in of_part {
                control.spend(PLANNED_UNITS)?;
                values.clear();
                set(*id, &|column| part.column(*doc, column), &mut values)?;
                // What a stopped evaluation gave is of no use.
                control.check()?;
                planned.rows.push((*doc, *id));
                for (column, value) in values.drain(..) {
                    planned.column(column).set(*doc, value);
                }
            }
            parts.push(planned);
        }
        Ok(PlannedChange { parts })
    }
}

impl PlannedChange {
    /// The ids of the chosen rows, in the order in which `set` was asked.
    pub fn ids(&self) -> impl Iterator<Item = u64> {
        let rows = self.parts.iter().flat_map(|part| &part.rows);
        rows.map(|(_, id)| *id)
    }
}

impl PlannedPart {
    fn column(&mut self, column: u16) -> &mut ChangedColumn {
        let known = self
            .columns
            .iter()
            .position(|known| known.column() == column);
        let at = known.unwrap_or_else(|| {
            let written = self.part.changed(usize::from(column));
            let new = written
                .cloned()
                .unwrap_or_else(|| ChangedColumn::new(column));
            self.columns.push(new);
            self.columns.len() - 1
        });
        &mut self.columns[at]
    }

    /// The rows that `now`, a later state of the part, has deleted or changed, rising.
    fn moved(&self, now: &Part) -> BTreeSet<u32> {
        let mut moved = BTreeSet::new();
        let mut note = |doc: u32| {
            if self.rows.binary_search_by_key(&doc, |row| row.0).is_ok() {
                moved.insert(doc);
            }
        };
        if now.deleted.len() != self.part.deleted.len() {
            (&*now.deleted - &*self.part.deleted)
                .iter()
                .for_each(&mut note);
        }
        let changes = &now.changes;
        changes.since(&self.part.changes, &mut |_, doc, _| note(doc));
        moved
    }
}

/// Whether two parts are states of one tail or segment.
pub(crate) fn is_state_of(now: &Part, before: &Part) -> bool {
    match (&now.source, &before.source) {
        (Source::Segment(now), Source::Segment(before)) => Arc::ptr_eq(now, before),
        (Source::Tail(now), Source::Tail(before)) => {
            Arc::ptr_eq(&now.dictionary, &before.dictionary)
        }
        _ => false,
    }
}

impl Table {
    /// The chosen rows that are no longer as the plan's snapshot has them, rising: their values must be decided again.
    #[must_use]
    pub fn moved_since(&self, plan: &PlannedChange) -> BTreeSet<u64> {
        let mut moved = BTreeSet::new();
        for planned in &plan.parts {
            match self.parts().find(|part| is_state_of(part, &planned.part)) {
                None => moved.extend(planned.rows.iter().map(|(_, id)| *id)),
                Some(now) => {
                    let docs = planned.moved(now);
                    let rows = planned.rows.iter();
                    let rows = rows.filter(|(doc, _)| docs.contains(doc));
                    moved.extend(rows.map(|(_, id)| *id));
                }
            }
        }
        moved
    }

    /// Takes in the values of a plan, but for the rows of [`Table::moved_since`], which stay as they are. Cost: a step for each
    /// page of 512 rows. Errors: `Io`, `Corrupt` of a moved row.
    pub fn take_planned(&mut self, plan: &PlannedChange) -> Result<()> {
        for planned in &plan.parts {
            let mut parts = self.parts_mut();
            let Some(part) = parts.find(|part| is_state_of(part, &planned.part)) else {
                continue;
            };
            let mut kept = Vec::new();
            for doc in planned.moved(part) {
                for column in planned.columns.iter().map(ChangedColumn::column) {
                    kept.push((column, doc, part.column(doc, usize::from(column))?));
                }
            }
            let part = Arc::make_mut(part);
            for column in &planned.columns {
                let base = planned.part.changed(usize::from(column.column()));
                part.changes.take(base, column);
            }
            for (column, doc, value) in kept {
                part.changes.set(column, doc, value);
            }
        }
        Ok(())
    }
}
