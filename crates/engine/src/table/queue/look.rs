//! A queue's rows as its lanes look at them: conditions, keys and times.

use query::schema::{Column, ColumnType};
use query::value::Value;

use super::lane::Look;
use super::line::Predicate;
use super::{Backlog, Layouts};
use crate::codec::put_value;
use crate::error::Result;

/// A queue's rows as lanes look at them.
pub(super) struct Rows<'q> {
    pub(super) backlog: &'q Backlog,
    pub(super) layouts: &'q Layouts,
    pub(super) columns: &'q [Column],
    pub(super) order_by: Option<usize>,
    pub(super) deliver_at: Option<usize>,
    pub(super) now_us: i64,
}

impl Rows<'_> {
    fn value(&self, row: u64, slot: usize) -> Result<Value> {
        let values = self.layouts.values(self.backlog, self.columns, row)?;
        let value = values.and_then(|values| values.into_iter().nth(slot));
        Ok(value.unwrap_or(Value::Null))
    }
}

impl Look for Rows<'_> {
    fn accepts(&self, predicate: &Predicate, row: u64) -> Result<bool> {
        let values = self.layouts.values(self.backlog, self.columns, row)?;
        let values = values.unwrap_or_default();
        let value = |slot: usize| values.get(slot).cloned().unwrap_or(Value::Null);
        Ok(predicate.prepared.accepts(&value))
    }

    fn key(&self, row: u64) -> Result<Option<Vec<u8>>> {
        match self.order_by {
            None => Ok(None),
            Some(slot) => Ok(key_of(&self.value(row, slot)?)),
        }
    }

    fn due_us(&self, row: u64) -> Result<Option<i64>> {
        let Some(slot) = self.deliver_at else {
            return Ok(None);
        };
        let Value::Int(time) = self.value(row, slot)? else {
            return Ok(None); // NULL: at once
        };
        let kind = self.columns.get(slot).map(|column| column.kind);
        let us = match kind {
            Some(ColumnType::Timestamp) => time.saturating_mul(1_000_000),
            _ => time,
        };
        Ok(Some(i64::try_from(us).unwrap_or(i64::MAX)))
    }

    fn now_us(&self) -> i64 {
        self.now_us
    }
}

/// A value as a key; `None` for NULL, which has no like.
pub(crate) fn key_of(value: &Value) -> Option<Vec<u8>> {
    if *value == Value::Null {
        return None;
    }
    let mut key = Vec::new();
    put_value(&mut key, value);
    Some(key)
}
