//! What keeps a row that is there from being handed out: it is held, it is not its time yet, an earlier row of its key is
//! still there, or its consumer group is done with it.

use std::collections::{BTreeMap, BTreeSet};

use roaring::RoaringTreemap;

use crate::error::Result;
use crate::ids::SessionId;
use crate::keys::Keys;
use crate::row_view::RowView;

/// What holds a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// A session in owner mode.
    Session(SessionId),
    /// A receipt, until a time on the steady clock, in microseconds.
    Lease {
        /// The time.
        until_us: u64,
    },
}

/// A row that is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// By whom.
    pub holder: Holder,
    /// Which delivery of the row it is, from 1.
    pub delivery: u32,
}

/// See the module's text.
#[derive(Default)]
pub(crate) struct Gate {
    pub(crate) held: BTreeMap<u64, Held>,
    pub(crate) delays: Delays,
    pub(crate) keys: Keys,
    /// Rows that are there for other groups only.
    pub(crate) acked: RoaringTreemap,
}

impl Gate {
    /// Whether a row may go out, met in the order of rows.
    pub(crate) fn lets(&mut self, row: u64, view: &dyn RowView) -> Result<bool> {
        if self.held.contains_key(&row) || self.acked.contains(row) {
            return Ok(false);
        }
        if let Some(key) = view.key(row)?
            && !self.keys.meet(row, key)
        {
            return Ok(false);
        }
        if self.delays.has(row) {
            return Ok(false);
        }
        match view.due_us(row)? {
            Some(due_us) if due_us > view.now_us() => {
                self.delays.set(row, due_us);
                Ok(false)
            }
            _ => Ok(true),
        }
    }

    /// Whether a row that was met may go out now.
    pub(crate) fn is_open(&self, row: u64) -> bool {
        !self.held.contains_key(&row)
            && !self.acked.contains(row)
            && !self.delays.has(row)
            && self.keys.is_first(row)
    }
}

/// Rows that wait for their time, in microseconds since 1970-01-01 UTC.
#[derive(Default)]
pub(crate) struct Delays {
    by_time: BTreeSet<(i64, u64)>,
    of: BTreeMap<u64, i64>,
}

impl Delays {
    pub(crate) fn has(&self, row: u64) -> bool {
        self.of.contains_key(&row)
    }

    pub(crate) fn len(&self) -> usize {
        self.of.len()
    }

    pub(crate) fn get(&self, row: u64) -> Option<i64> {
        self.of.get(&row).copied()
    }

    pub(crate) fn set(&mut self, row: u64, due_us: i64) {
        if let Some(before) = self.of.insert(row, due_us) {
            self.by_time.remove(&(before, row));
        }
        self.by_time.insert((due_us, row));
    }

    pub(crate) fn clear(&mut self, row: u64) {
        if let Some(due_us) = self.of.remove(&row) {
            self.by_time.remove(&(due_us, row));
        }
    }

    /// The rows, rising.
    pub(crate) fn rows(&self) -> impl Iterator<Item = u64> + '_ {
        self.of.keys().copied()
    }

    pub(crate) fn retain(&mut self, stays: impl Fn(u64) -> bool) {
        let goes: Vec<u64> = self.rows().filter(|row| !stays(*row)).collect();
        goes.into_iter().for_each(|row| self.clear(row));
    }

    pub(crate) fn first_row(&self) -> Option<u64> {
        self.of.first_key_value().map(|(row, _)| *row)
    }

    pub(crate) fn next_us(&self) -> Option<i64> {
        self.by_time.first().map(|(due_us, _)| *due_us)
    }

    /// A row whose time has come, once.
    pub(crate) fn take_due(&mut self, now_us: i64) -> Option<u64> {
        let (due_us, row) = *self.by_time.first()?;
        if due_us > now_us {
            return None;
        }
        self.clear(row);
        Some(row)
    }
}
