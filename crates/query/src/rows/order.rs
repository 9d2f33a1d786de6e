//! The order of an answer.

use std::cmp::Ordering;

use crate::expression::Prepared;
use crate::value::Value;

/// A row as an order compares it.
pub trait Sorted {
    /// Its weight; 0 where rows have none.
    fn weight(&self) -> i64;

    /// Its id, or its place where rows have no id: the last key of every order.
    fn id(&self) -> u64;

    /// Its table's place among tables that are read as one, in which two rows may have one id.
    fn table(&self) -> u32 {
        0
    }

    /// Values of the keys that are expressions, in their order: [`Order::values`].
    fn keys(&self) -> &[Value];

    /// Memory that it takes.
    fn bytes(&self) -> u64;
}

/// The keys of ORDER BY, each with whether it falls. The id, rising, is the last key of every order.
#[derive(Clone, Debug)]
pub struct Order {
    keys: Vec<(Key, bool)>,
}

/// A key of ORDER BY.
#[derive(Clone, Debug)]
pub enum Key {
    /// `weight()`
    Weight,
    /// The id.
    Id,
    /// An expression over the row.
    Computed(Prepared),
}

impl Order {
    /// By these keys, each with whether it falls.
    #[must_use]
    pub fn new(keys: Vec<(Key, bool)>) -> Order {
        Order { keys }
    }

    /// By rising id alone.
    #[must_use]
    pub fn by_id() -> Order {
        Order { keys: Vec::new() }
    }

    /// Whether rows are left in the order of their ids because nothing else is asked for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Whether a weight is among the keys.
    #[must_use]
    pub fn needs_weight(&self) -> bool {
        self.keys.iter().any(|(key, _)| matches!(key, Key::Weight))
    }

    /// Whether the order is by weight, the highest first, and then by rising id.
    #[must_use]
    pub fn is_by_weight(&self) -> bool {
        matches!(
            &self.keys[..],
            [(Key::Weight, true)] | [(Key::Weight, true), (Key::Id, false)]
        )
    }

    /// Whether rows of one weight come by rising id.
    #[must_use]
    pub fn is_by_id(&self) -> bool {
        let mut others = self.keys.iter();
        let first = others.find(|(key, _)| !matches!(key, Key::Weight));
        matches!(first, None | Some((Key::Id, false)))
    }

    /// The values of the keys that are expressions; `value` gives a column's by its slot.
    pub fn values(&self, value: &dyn Fn(usize) -> Value) -> Vec<Value> {
        let computed = |(key, _): &(Key, bool)| match key {
            Key::Computed(prepared) => Some(prepared.evaluate(value)),
            Key::Weight | Key::Id => None,
        };
        self.keys.iter().filter_map(computed).collect()
    }

    /// Which of two rows comes first.
    pub fn compare<R: Sorted>(&self, a: &R, b: &R) -> Ordering {
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
        a.id().cmp(&b.id()).then_with(|| a.table().cmp(&b.table()))
    }
}
