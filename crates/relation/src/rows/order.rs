//! The order of an answer: ORDER BY, then rising id.

use std::cmp::Ordering;

use crate::expression::{ColumnValues, Prepared};
use crate::scroll::Position;
use crate::value::Value;

/// A row as orders compare it.
pub trait Sorted {
    /// Weight of the row; 0 where rows have none.
    fn weight(&self) -> i64;

    /// Its id, or its place where rows have no id. The last key of every order.
    fn id(&self) -> u64;

    /// The number of its table, where several tables are read as one and may repeat an id.
    fn table(&self) -> u32 {
        0
    }

    /// The values of computed keys, as [`Order::values`] gave them.
    fn keys(&self) -> &[Value];

    /// Memory of the row, in bytes.
    fn bytes(&self) -> u64;
}

impl Sorted for Position {
    fn weight(&self) -> i64 {
        self.weight
    }

    fn id(&self) -> u64 {
        self.id
    }

    fn keys(&self) -> &[Value] {
        &self.keys
    }

    fn bytes(&self) -> u64 {
        let keys: usize = self.keys.iter().map(Value::memory).sum();
        (size_of::<Position>() + keys) as u64
    }
}

/// The keys of ORDER BY, each with whether it falls. Rising id is the last key of every order.
#[derive(Clone, Debug)]
pub struct Order {
    keys: Vec<(Key, bool)>,
}

/// A key of ORDER BY.
#[derive(Clone, Debug)]
pub enum Key {
    /// `weight()`
    Weight,
    /// The id of the row, as an unsigned number.
    Id,
    /// An expression over the row.
    Computed(Prepared),
}

impl Order {
    /// An order by these keys, each with whether it falls.
    #[must_use]
    pub fn new(keys: Vec<(Key, bool)>) -> Order {
        Order { keys }
    }

    /// The order by rising id alone.
    #[must_use]
    pub fn by_id() -> Order {
        Order { keys: Vec::new() }
    }

    /// Number of values that [`Order::values`] gives.
    #[must_use]
    pub fn value_count(&self) -> usize {
        let is_computed = |(key, _): &&(Key, bool)| matches!(key, Key::Computed(_));
        self.keys.iter().filter(is_computed).count()
    }

    /// Whether there is no key, so that rows keep the order of their ids.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Whether the weight is a key.
    #[must_use]
    pub fn needs_weight(&self) -> bool {
        self.keys.iter().any(|(key, _)| match key {
            Key::Weight => true,
            Key::Id => false,
            Key::Computed(prepared) => prepared.needs_weight(),
        })
    }

    /// Whether the order is by weight, the highest first, and then by rising id.
    #[must_use]
    pub fn is_by_weight(&self) -> bool {
        matches!(
            &self.keys[..],
            [(Key::Weight, true)] | [(Key::Weight, true), (Key::Id, false)]
        )
    }

    /// Whether rows of equal weight are ordered by rising id alone.
    #[must_use]
    pub fn is_by_id(&self) -> bool {
        let mut others = self.keys.iter();
        let first = others.find(|(key, _)| !matches!(key, Key::Weight));
        matches!(first, None | Some((Key::Id, false)))
    }

    /// The slots that computed keys depend on.
    pub fn slots(&self) -> impl Iterator<Item = usize> {
        let computed = self.keys.iter().filter_map(|(key, _)| match key {
            Key::Computed(prepared) => Some(prepared.slots()),
            Key::Weight | Key::Id => None,
        });
        computed.flatten().copied()
    }

    /// The values of computed keys.
    pub fn values(&self, row: &dyn ColumnValues) -> Vec<Value> {
        self.values_from(0, row).collect()
    }

    /// The values of computed keys among those from place `from` on.
    fn values_from<'o>(
        &'o self,
        from: usize,
        row: &'o dyn ColumnValues,
    ) -> impl Iterator<Item = Value> + 'o {
        let computed = |(key, _): &'o (Key, bool)| match key {
            Key::Computed(prepared) => Some(prepared.evaluate(row)),
            Key::Weight | Key::Id => None,
        };
        self.keys.iter().skip(from).filter_map(computed)
    }

    /// The values of computed keys, each evaluated once; `None` for a row that stands behind `last` by the first key alone, of
    /// which no other key is evaluated.
    pub fn values_before<R: Sorted>(
        &self,
        row: &dyn ColumnValues,
        last: Option<&R>,
    ) -> Option<Vec<Value>> {
        let (Some((Key::Computed(first), falls)), Some([value, ..])) =
            (self.keys.first(), last.map(Sorted::keys))
        else {
            return Some(self.values(row));
        };
        let own = first.evaluate(row);
        let order = match falls {
            true => value.cmp_order(&own),
            false => own.cmp_order(value),
        };
        if order.is_gt() {
            return None;
        }
        let mut values = Vec::with_capacity(self.value_count());
        values.push(own);
        values.extend(self.values_from(1, row));
        Some(values)
    }

    /// The first key, and whether it falls; `None` for the order by rising id alone.
    #[must_use]
    pub fn first(&self) -> Option<(&Key, bool)> {
        self.keys.first().map(|(key, falls)| (key, *falls))
    }

    /// Whether computed keys with these values stand behind those of `after`.
    #[must_use]
    pub fn is_after(&self, keys: &[Value], after: &[Value]) -> bool {
        let falls = self.keys.iter().map(|(_, falls)| *falls);
        let orders = keys.iter().zip(after).zip(falls);
        let mut orders = orders.map(|((key, after), falls)| match falls {
            true => after.cmp_order(key),
            false => key.cmp_order(after),
        });
        orders
            .find(|order| order.is_ne())
            .is_some_and(Ordering::is_gt)
    }

    /// Which of two rows comes first.
    pub fn compare<R: Sorted>(&self, a: &R, b: &R) -> Ordering {
        self.compare_places(a, b)
            .then_with(|| a.table().cmp(&b.table()))
    }

    /// Compares two rows by the keys and the id alone. Only rows with the same id in different tables compare equal.
    pub fn compare_places<A: Sorted, B: Sorted>(&self, a: &A, b: &B) -> Ordering {
        let mut values = a.keys().iter().zip(b.keys());
        for (key, falls) in &self.keys {
            let order = match key {
                Key::Weight => a.weight().cmp(&b.weight()),
                Key::Id => a.id().cmp(&b.id()),
                Key::Computed(_) => values
                    .next()
                    .map_or(Ordering::Equal, |(a, b)| a.cmp_order(b)),
            };
            let order = if *falls { order.reverse() } else { order };
            if order.is_ne() {
                return order;
            }
        }
        a.id().cmp(&b.id())
    }
}
