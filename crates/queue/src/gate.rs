//! The gate of a lane: the reasons why a row of the backlog may not go out.
//!
//! | reason | where | ends with |
//! |---|---|---|
//! | a worker holds the row | `held` | the end of the delivery |
//! | the row is due later: `deliver_at=`, or a worker asked for a delay | `delays` | its time |
//! | an earlier row has the same `order_by=` key | `keys` | the end of that row |
//! | the lane's consumer group has ended the row | `acked` | never; the row goes when all groups have ended it |
//!
//! A cursor that reaches a row for the first time calls `lets`, which notes the row's key and time. After that the row is
//! known here, and `is_open` answers without reading it.

use std::collections::{BTreeMap, BTreeSet};

use roaring::RoaringTreemap;

use crate::error::Result;
use crate::ids::{RowNumber, SessionId};
use crate::keys::Keys;
use crate::row_view::RowView;

/// The holder of a row. Holders are in memory only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// A session in owner mode, until it ends or aborts the row, or until the session ends.
    Session(SessionId),
    /// A receipt, for a time.
    Lease {
        /// The end of the lease on the steady clock. Microseconds.
        until_us: u64,
    },
}

/// A row that is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// The session or the lease.
    pub holder: Holder,
    /// Number of this delivery of the row in its lane, from 1. A receipt is good for this delivery only.
    pub delivery: u32,
}

/// The rows that one lane may not hand out, by reason.
///
/// Invariants, for a row that a cursor of the lane has passed and that is not in `acked`:
/// - `keys` knows its key, if it has one. Else `is_open` would let out a second row of the key.
/// - If it was due later then, `delays` had it until its time. Else `is_open` would let it out too early, at once or when the
///   row before it of its key ends.
#[derive(Default)]
pub(crate) struct Gate {
    pub(crate) held: BTreeMap<RowNumber, Held>,
    pub(crate) delays: Delays,
    pub(crate) keys: Keys,
    /// Rows that this lane's group has ended and another group has not.
    pub(crate) acked: RoaringTreemap,
}

impl Gate {
    /// Whether a row may go out. Called by cursors, in the order of rows; notes the row's key and its time.
    pub(crate) fn lets(&mut self, row: RowNumber, view: &dyn RowView) -> Result<bool> {
        if self.held.contains_key(&row) || self.acked.contains(row.0) {
            return Ok(false);
        }
        let is_first = match view.key(row)? {
            Some(key) => self.keys.meet(row, key),
            None => true,
        };
        // The time of a row behind another of its key is noted too: when its turn comes, nothing reads the row again.
        if !self.delays.has(row)
            && let Some(due_us) = view.due_us(row)?
            && due_us > view.now_us()
        {
            self.delays.set(row, due_us);
        }
        Ok(is_first && !self.delays.has(row))
    }

    /// Whether a row that a cursor has passed may go out now. Reads no row.
    pub(crate) fn is_open(&self, row: RowNumber) -> bool {
        !self.held.contains_key(&row)
            && !self.acked.contains(row.0)
            && !self.delays.has(row)
            && self.keys.is_first(row)
    }
}

/// Rows that are due later, with their times in microseconds since 1970-01-01 UTC. Both fields hold the same pairs.
#[derive(Default)]
pub(crate) struct Delays {
    by_time: BTreeSet<(i64, RowNumber)>,
    of: BTreeMap<RowNumber, i64>,
}

impl Delays {
    pub(crate) fn has(&self, row: RowNumber) -> bool {
        self.of.contains_key(&row)
    }

    pub(crate) fn len(&self) -> usize {
        self.of.len()
    }

    pub(crate) fn get(&self, row: RowNumber) -> Option<i64> {
        self.of.get(&row).copied()
    }

    pub(crate) fn set(&mut self, row: RowNumber, due_us: i64) {
        if let Some(before) = self.of.insert(row, due_us) {
            self.by_time.remove(&(before, row));
        }
        self.by_time.insert((due_us, row));
    }

    pub(crate) fn clear(&mut self, row: RowNumber) {
        if let Some(due_us) = self.of.remove(&row) {
            self.by_time.remove(&(due_us, row));
        }
    }

    /// The rows, rising.
    pub(crate) fn rows(&self) -> impl Iterator<Item = RowNumber> + '_ {
        self.of.keys().copied()
    }

    pub(crate) fn retain(&mut self, stays: impl Fn(RowNumber) -> bool) {
        let goes: Vec<RowNumber> = self.rows().filter(|row| !stays(*row)).collect();
        goes.into_iter().for_each(|row| self.clear(row));
    }

    pub(crate) fn first_row(&self) -> Option<RowNumber> {
        self.of.first_key_value().map(|(row, _)| *row)
    }

    pub(crate) fn next_us(&self) -> Option<i64> {
        self.by_time.first().map(|(due_us, _)| *due_us)
    }

    /// Removes and returns the row that is due first, if its time has come.
    pub(crate) fn take_due(&mut self, now_us: i64) -> Option<RowNumber> {
        let (due_us, row) = *self.by_time.first()?;
        if due_us > now_us {
            return None;
        }
        self.clear(row);
        Some(row)
    }
}
