//! Rows in the order of their ids, of which a bit of each is known: however many they are, they take no memory until they are read.
//!
//! Example: rows 0 and 2 of part 0 with the ids 10 and 30, and row 1 of part 1 with the id 20.
//!
//! ```text
//! heads            next
//! 10/0 20/1        10: part 0 gives its next row
//! 20/1 30/0        20
//! 30/0             30
//! ```
//!
//! Ids rise in a segment. Those of a tail do not, and are sorted first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use super::collect::{FoundRow, Marks, WEIGHT_WITHOUT_MATCH};
use crate::control::Control;
use crate::error::{Error, Reason, Result};
use crate::snapshot::{PartIndex, Snapshot};

/// Units of a row that is passed over.
const PASSED_UNITS: u64 = 20;

/// The rows of a part that are left.
enum Docs {
    /// Of a segment.
    Rising(roaring::bitmap::IntoIter),
    /// Of a tail, with their ids.
    Listed(std::vec::IntoIter<(u64, u32)>),
}

/// See the head of this file.
pub(super) struct Walk {
    snapshot: Arc<Snapshot>,
    parts: Vec<Docs>,
    /// Id, part and number of the next row of each part that has one left. Equal ids, of several tables, are in the order of the
    /// tables.
    heads: BinaryHeap<Reverse<(u64, PartIndex, u32)>>,
    /// Rows that LIMIT leaves.
    left: u64,
    /// What is to be told before further rows.
    damage: Option<Error>,
}

impl Walk {
    /// The rows behind the first `offset` ones, `limit` at most. Errors: `Io`, `Corrupt`; `SearchMemory`, `NoMemory` for the ids of a
    /// tail; `Interrupted`.
    pub(super) fn new(
        snapshot: &Arc<Snapshot>,
        marks: Marks,
        (offset, limit): (u64, u64),
        control: &Control,
    ) -> Result<Walk> {
        let left = marks.total.saturating_sub(offset).min(limit);
        let mut walk = Walk {
            snapshot: Arc::clone(snapshot),
            parts: Vec::with_capacity(marks.parts.len()),
            heads: BinaryHeap::with_capacity(marks.parts.len()),
            left,
            damage: None,
        };
        for (at, rows) in (0..).zip(marks.parts) {
            let part = snapshot.part(PartIndex(at));
            walk.parts.push(match part.is_sorted() {
                true => Docs::Rising(rows.into_iter()),
                false => {
                    control
                        .memory
                        .take(rows.len() * size_of::<(u64, u32)>() as u64)?;
                    let ids = rows.into_iter().map(|doc| Ok((part.id(doc)?, doc)));
                    let mut ids = ids.collect::<Result<Vec<_>>>()?;
                    ids.sort_unstable();
                    Docs::Listed(ids.into_iter())
                }
            });
            walk.follow(PartIndex(at));
        }
        if left > 0 {
            // Where its time is over, the rows that were found are sent all the same.
            let stops = || {
                let reason = control.interrupt.reason();
                reason.is_some_and(|reason| reason != Reason::Time)
            };
            for _ in 0..offset {
                control.interrupt.spend(PASSED_UNITS);
                if stops() {
                    control.check()?;
                }
                walk.pass();
            }
        }
        Ok(walk)
    }

    /// Puts the next row of a part among the heads. Where its id cannot be read, the part has no further rows.
    fn follow(&mut self, at: PartIndex) {
        let next = match &mut self.parts[at.at()] {
            Docs::Listed(rows) => rows.next(),
            Docs::Rising(rows) => rows.next().and_then(|doc| {
                let id = self.snapshot.part(at).id(doc);
                let id = id.map_err(|error| self.damage.get_or_insert(error));
                id.ok().map(|id| (id, doc))
            }),
        };
        let head = next.map(|(id, doc)| Reverse((id, at, doc)));
        self.heads.extend(head);
    }

    /// Takes the first row, whatever LIMIT says.
    fn pass(&mut self) -> Option<(u64, PartIndex, u32)> {
        let Reverse(first) = self.heads.pop()?;
        self.follow(first.1);
        Some(first)
    }

    /// Rows that are left.
    pub(super) fn len(&self) -> usize {
        usize::try_from(self.left).unwrap_or(usize::MAX)
    }

    /// The next rows, `most` of them at most. Errors: `Io`, `Corrupt` of an id: its part has no further rows, those of others follow.
    pub(super) fn take(&mut self, most: usize) -> Result<Vec<FoundRow>> {
        if let Some(damage) = self.damage.take() {
            return Err(damage);
        }
        let most = most.min(self.len());
        let mut rows = Vec::with_capacity(most);
        while rows.len() < most
            && let Some((id, part, doc)) = self.pass()
        {
            rows.push(FoundRow {
                part,
                doc,
                id,
                weight: WEIGHT_WITHOUT_MATCH,
                keys: Vec::new(),
            });
        }
        self.left -= rows.len() as u64;
        if rows.len() < most {
            self.left = 0; // damage took the others
        }
        Ok(rows)
    }
}
