//! The first rows of an order.

use std::cmp::{Ordering, Reverse};
use std::sync::Arc;

use query::expression::{Expression, Prepared};
use query::request::{Item, OrderBy, Output, Select};
use query::value::Value;

use super::values::{self, RowValues};
use crate::error::{Error, Result};
use crate::table::TableShape;

/// A row that was found, and what it is ordered by.
pub(super) struct Found {
    pub(super) part: u32,
    pub(super) doc: u32,
    pub(super) id: u64,
    pub(super) weight: i64,
    /// Values of the keys that are expressions, in their order.
    pub(super) keys: Vec<Value>,
}

impl Found {
    /// What a row goes by where only weights are asked for: as [`Order::compare`] has it, in three numbers.
    fn by_weight(&self) -> (Reverse<i64>, u64, u32) {
        (Reverse(self.weight), self.id, self.part)
    }

    /// Memory that it takes.
    fn bytes(&self) -> u64 {
        let key = |key: &Value| match key {
            Value::Str(text) => size_of::<Value>() + text.len(),
            Value::Bytes(bytes) => size_of::<Value>() + bytes.len(),
            _ => size_of::<Value>(),
        };
        (size_of::<Found>() + self.keys.iter().map(key).sum::<usize>()) as u64
    }
}

/// The keys of ORDER BY. The document id, rising, is the last key of every order.
pub(super) struct Order {
    keys: Vec<(Key, bool)>,
}

enum Key {
    Weight,
    Id,
    Expression(Prepared),
}

/// The first rows of those offered, as many as asked for.
pub(super) struct Best {
    order: Arc<Order>,
    keep: Option<usize>,
    /// At most a quarter and a few more than are kept; then the worst go.
    found: Vec<Found>,
    /// Whether the last of `found[..keep]` is the worst of them and rows behind it are not wanted.
    is_cut: bool,
    /// Most rows that were held at a time.
    peak: usize,
}

impl Order {
    /// Errors: `UnknownColumn`, `Unsupported`.
    pub(super) fn new(select: &Select, matching: bool, shape: &TableShape) -> Result<Order> {
        let mut keys = Vec::with_capacity(select.order.len());
        for OrderBy { key, descending } in &select.order {
            let key = match aliased(key, &select.items) {
                Output::Weight => Key::Weight,
                Output::Count => {
                    return Err(Error::Unsupported {
                        what: "count(*) cannot be a key of ORDER BY",
                    });
                }
                Output::Expression(Expression::Column(name)) if name == "id" => Key::Id,
                Output::Expression(expression) => {
                    Key::Expression(values::prepare(expression, shape)?)
                }
            };
            keys.push((key, *descending));
        }
        if select.order.is_empty() && matching {
            keys.push((Key::Weight, true));
        }
        Ok(Order { keys })
    }

    /// By rising id alone.
    pub(super) fn by_id() -> Order {
        Order { keys: Vec::new() }
    }

    pub(super) fn needs_weight(&self) -> bool {
        self.keys.iter().any(|(key, _)| matches!(key, Key::Weight))
    }

    /// Whether the order is by weight, the highest first, and then by rising id.
    pub(super) fn is_by_weight(&self) -> bool {
        matches!(
            &self.keys[..],
            [(Key::Weight, true)] | [(Key::Weight, true), (Key::Id, false)]
        )
    }

    /// Whether rows of one weight come by rising id.
    pub(super) fn is_by_id(&self) -> bool {
        let first = self
            .keys
            .iter()
            .find(|(key, _)| !matches!(key, Key::Weight));
        matches!(first, None | Some((Key::Id, false)))
    }

    /// The values of the keys that are expressions.
    pub(super) fn values(&self, row: &RowValues<'_>) -> Vec<Value> {
        let value = |(key, _): &(Key, bool)| match key {
            Key::Expression(prepared) => Some(prepared.evaluate(&|slot| row.value(slot))),
            Key::Weight | Key::Id => None,
        };
        self.keys.iter().filter_map(value).collect()
    }

    fn compare(&self, a: &Found, b: &Found) -> Ordering {
        let mut values = a.keys.iter().zip(&b.keys);
        for (key, descending) in &self.keys {
            let order = match key {
                Key::Weight => a.weight.cmp(&b.weight),
                Key::Id => a.id.cmp(&b.id),
                Key::Expression(_) => values
                    .next()
                    .map_or(Ordering::Equal, |(a, b)| a.cmp_order(b)),
            };
            let order = if *descending { order.reverse() } else { order };
            if order.is_ne() {
                return order;
            }
        }
        // Two rows have one id only where tables are joined; the parts stand in the order of their tables.
        a.id.cmp(&b.id).then_with(|| a.part.cmp(&b.part))
    }
}

/// What a key means: a name that the SELECT list gives to something stands for that.
fn aliased<'a>(key: &'a Output, items: &'a [Item]) -> &'a Output {
    let Output::Expression(Expression::Column(column)) = key else {
        return key;
    };
    let named = items.iter().find_map(|item| match item {
        Item::Value { what, name } if name.eq_ignore_ascii_case(column) => Some(what),
        _ => None,
    });
    named.unwrap_or(key)
}

impl Best {
    /// `keep`: rows wanted, `None` for all.
    pub(super) fn new(order: Arc<Order>, keep: Option<u64>) -> Best {
        let keep = keep.map(|keep| usize::try_from(keep).unwrap_or(usize::MAX));
        Best {
            order,
            keep,
            found: Vec::new(),
            is_cut: false,
            peak: 0,
        }
    }

    /// The weight and id of the last row kept, where as many are kept as are wanted: no row behind it is.
    pub(super) fn last(&self) -> Option<(i64, u64)> {
        let last = self.found.get(self.keep?.checked_sub(1)?)?;
        self.is_cut.then_some((last.weight, last.id))
    }

    /// Takes a row, or leaves it where it is not wanted. Gives the memory that it took beyond what was held before.
    pub(super) fn offer(&mut self, found: Found) -> u64 {
        let keep = self.keep.unwrap_or(usize::MAX);
        if self.is_cut && self.order.compare(&found, &self.found[keep - 1]).is_gt() {
            return 0;
        }
        let mut bytes = 0;
        if self.found.len() >= self.peak {
            self.peak += 1;
            bytes = found.bytes();
        }
        self.found.push(found);
        if self.found.len() >= keep.saturating_add(keep / 4 + 8) {
            self.cut(keep);
        }
        bytes
    }

    /// Leaves the first `keep` rows, the last of them at its place.
    fn cut(&mut self, keep: usize) {
        match self.order.is_by_weight() {
            true => self
                .found
                .select_nth_unstable_by_key(keep - 1, Found::by_weight),
            false => self
                .found
                .select_nth_unstable_by(keep - 1, |a, b| self.order.compare(a, b)),
        };
        self.found.truncate(keep);
        self.is_cut = true;
    }

    /// The rows kept, in no order, and a few that are not wanted.
    pub(super) fn into_found(self) -> Vec<Found> {
        self.found
    }

    /// The rows in order, without the first `offset`.
    pub(super) fn into_sorted(self, offset: u64) -> Vec<Found> {
        let Best {
            order,
            keep,
            mut found,
            ..
        } = self;
        match order.is_by_weight() {
            true => found.sort_unstable_by_key(Found::by_weight),
            false => found.sort_unstable_by(|a, b| order.compare(a, b)),
        }
        found.truncate(keep.unwrap_or(usize::MAX));
        let offset = usize::try_from(offset)
            .unwrap_or(usize::MAX)
            .min(found.len());
        found.drain(..offset);
        found
    }
}
