//! The values of a row that a lane needs: whether a condition takes it, its `order_by=` key, its `deliver_at=` time.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};

use language::meter::{Budget, Meter};
use relation::codec::put_value;
use relation::expression::{Expression, Metered, Prepared};
use relation::schema::{Column, ColumnType};
use relation::value::Value;

use crate::backlog::Backlog;
use crate::error::{Error, Result};
use crate::ids::RowNumber;
use crate::layout::Layouts;

/// A condition of a line, and how far the line's search has come. Example and invariants: `line.rs`.
pub(crate) struct Predicate {
    pub(crate) expression: Expression,
    pub(crate) prepared: Prepared,
    /// The search has passed every row below.
    pub(crate) cursor: RowNumber,
    /// Rows below the cursor that the condition takes.
    pub(crate) ready: BTreeSet<RowNumber>,
    /// Rows below the cursor that became free when there were no units to ask them.
    pub(crate) unasked: BTreeSet<RowNumber>,
}

impl Predicate {
    pub(crate) fn new(expression: Expression, prepared: Prepared) -> Predicate {
        Predicate {
            expression,
            prepared,
            cursor: RowNumber::default(),
            ready: BTreeSet::new(),
            unasked: BTreeSet::new(),
        }
    }
}

/// What a lane asks about a row of the backlog. Each call may read the row from a file.
pub(crate) trait RowView {
    /// Whether a condition takes the row.
    fn accepts(&self, predicate: &Predicate, row: RowNumber) -> Result<bool>;

    /// Whether no row is to be asked now: the searches have used what they may for the moment.
    fn is_spent(&self) -> bool {
        false
    }

    /// The row's `order_by=` key; `None` where the queue has no such option or the value is NULL.
    fn key(&self, _row: RowNumber) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }

    /// The row's `deliver_at=` time in microseconds since 1970-01-01 UTC; `None`: at once.
    fn due_us(&self, _row: RowNumber) -> Result<Option<i64>> {
        Ok(None)
    }

    /// The time of the call, in microseconds since 1970-01-01 UTC.
    fn now_us(&self) -> i64 {
        0
    }
}

/// The rows of a queue as its lanes read them. `order_by`, `deliver_at`: places of the columns that the options name.
pub(crate) struct RowsNow<'q> {
    pub(crate) backlog: &'q Backlog,
    pub(crate) layouts: &'q Layouts,
    pub(crate) columns: &'q [Column],
    pub(crate) order_by: Option<usize>,
    pub(crate) deliver_at: Option<usize>,
    pub(crate) now_us: i64,
    /// Units that conditions may still spend, for now.
    pub(crate) units: &'q AtomicU64,
}

impl RowsNow<'_> {
    fn value(&self, row: RowNumber, slot: usize) -> Result<Value> {
        let values = self.layouts.values(self.backlog, self.columns, row)?;
        let value = values.and_then(|values| values.into_iter().nth(slot));
        Ok(value.unwrap_or(Value::Null))
    }
}

/// Most units of a condition on one row: 5 ms, in which nobody else gets a row.
const PREDICATE_UNITS_MAX: u64 = 5_000_000;

/// Units of a row that is asked, beside those of the condition.
const ASKED_UNITS: u64 = 300;

impl RowView for RowsNow<'_> {
    fn accepts(&self, predicate: &Predicate, row: RowNumber) -> Result<bool> {
        let values = self.layouts.values(self.backlog, self.columns, row)?;
        let values = values.unwrap_or_default();
        let budget = Budget::new(PREDICATE_UNITS_MAX);
        let value = |slot: usize| values.get(slot).cloned().unwrap_or(Value::Null);
        let is_accepted = predicate.prepared.accepts(&Metered::new(&budget, value));
        let used = ASKED_UNITS + PREDICATE_UNITS_MAX - budget.left();
        let left = self.units.load(Ordering::Relaxed); // of one thread at a time
        self.units
            .store(left.saturating_sub(used), Ordering::Relaxed);
        match budget.is_stopped() {
            true => Err(Error::Costly {
                max: PREDICATE_UNITS_MAX,
            }),
            false => Ok(is_accepted),
        }
    }

    fn is_spent(&self) -> bool {
        self.units.load(Ordering::Relaxed) == 0
    }

    fn key(&self, row: RowNumber) -> Result<Option<Vec<u8>>> {
        match self.order_by {
            None => Ok(None),
            Some(slot) => Ok(key_of(&self.value(row, slot)?)),
        }
    }

    fn due_us(&self, row: RowNumber) -> Result<Option<i64>> {
        let Some(slot) = self.deliver_at else {
            return Ok(None);
        };
        let Value::Int(time) = self.value(row, slot)? else {
            return Ok(None); // NULL: at once
        };
        let kind = self.columns.get(slot).map(|column| column.kind);
        let us = match kind == Some(ColumnType::Timestamp) {
            true => time.saturating_mul(1_000_000),
            false => time,
        };
        Ok(Some(i64::try_from(us).unwrap_or(i64::MAX)))
    }

    fn now_us(&self) -> i64 {
        self.now_us
    }
}

/// A value as the bytes of a key; `None` for NULL, which equals nothing.
pub(crate) fn key_of(value: &Value) -> Option<Vec<u8>> {
    if *value == Value::Null {
        return None;
    }
    let mut key = Vec::new();
    put_value(&mut key, value);
    Some(key)
}
