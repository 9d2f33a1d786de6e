//! The states of one aggregate, group by group. A file for each way to count.

mod concat;
mod count;
mod distinct;
mod extreme;
mod squares;
mod sum;
#[cfg(test)]
mod tests;

use concat::Joined;
use count::Counts;

use super::index::Block;
use crate::expression::AggregateKind;
use crate::value::Value;
pub(super) use distinct::Distinct;
use extreme::Extremes;
use language::meter::{Meter, WIDE_BYTES, Work};
use squares::Squares;
use sum::Sums;

/// Units of a state that is put into another one, without its texts and exact sums.
const STATE_UNITS: u64 = 10;

/// Takes that many bytes of memory.
pub(super) type Pay<'p, E> = dyn FnMut(u64) -> Result<(), E> + 'p;

/// How an aggregate is counted. Nothing has a default: an aggregate says each.
pub(super) trait States: Sized {
    /// Makes room for one more group.
    fn grow(&mut self);

    /// Memory of a group without its texts and exact sums, in bytes.
    fn state_bytes(&self) -> usize;

    /// Whether it keeps the first or the last value by ORDER BY. Among values of several kinds the order of the rows decides which that
    /// is, since 0 equals `'a'` and `'b'`.
    fn compares(&self) -> bool;

    /// Adds a row to a group. `arguments`: the aggregate's, none of them NULL. Gives the memory that this takes, in bytes; memory for
    /// a wide text is paid for by `pay`, before it is taken.
    ///
    /// # Errors
    /// Those of `pay`.
    fn add<E>(
        &mut self,
        group: u32,
        arguments: &[Value],
        meter: &dyn Meter,
        pay: &mut Pay<'_, E>,
    ) -> Result<usize, E>;

    /// As [`States::add`] of many rows, `argument` being their values of the only one, if it has one. `None`: such values are to be
    /// added one by one.
    ///
    /// # Errors
    /// Those of `pay`.
    fn add_block<E>(
        &mut self,
        groups: &[u32],
        argument: Option<&Block>,
        meter: &dyn Meter,
        pay: &mut Pay<'_, E>,
    ) -> Result<Option<usize>, E>;

    /// Adds the groups of another thread's states. `places`: for each of its groups the number here. Gives the memory that this takes,
    /// in bytes; `None`: the meter has stopped.
    fn merge(&mut self, other: Self, places: &[u32], work: &Work<'_>) -> Option<usize>;

    /// Ends the counting of `groups` groups, once all rows are added.
    fn end(&mut self, groups: usize);

    /// The value of a group. Texts leave the state, so it is asked once.
    fn take(&mut self, kind: &AggregateKind, group: usize) -> Value;
}

macro_rules! accumulators {
    ($($(#[$doc:meta])* $way:ident($states:ty): $kinds:pat => $new:expr;)*) => {
        /// The states of an aggregate, one for each group.
        pub(super) enum Accumulator { $($(#[$doc])* $way($states),)* }

        impl Accumulator {
            pub(super) fn new(kind: &AggregateKind) -> Accumulator {
                match kind { $($kinds => Accumulator::$way($new(kind)),)* }
            }
        }

        impl States for Accumulator {
            fn grow(&mut self) {
                match self { $(Accumulator::$way(of) => of.grow(),)* }
            }

            fn state_bytes(&self) -> usize {
                match self { $(Accumulator::$way(of) => 2 * of.state_bytes(),)* } // with room to grow
            }

            fn compares(&self) -> bool {
                match self { $(Accumulator::$way(of) => of.compares(),)* }
            }

            fn add<E>(&mut self, group: u32, arguments: &[Value], meter: &dyn Meter, pay: &mut Pay<'_, E>) -> Result<usize, E> {
                match self { $(Accumulator::$way(of) => of.add(group, arguments, meter, pay),)* }
            }

            fn add_block<E>(&mut self, groups: &[u32], argument: Option<&Block>, meter: &dyn Meter, pay: &mut Pay<'_, E>) -> Result<Option<usize>, E> {
                match self { $(Accumulator::$way(of) => of.add_block(groups, argument, meter, pay),)* }
            }

            fn merge(&mut self, other: Accumulator, places: &[u32], work: &Work<'_>) -> Option<usize> {
                match other {
                    $(Accumulator::$way(other) => {
                        let Accumulator::$way(of) = self else {
                            unreachable!("all threads count the aggregates of one statement");
                        };
                        of.merge(other, places, work)
                    })*
                }
            }

            fn end(&mut self, groups: usize) {
                match self { $(Accumulator::$way(of) => of.end(groups),)* }
            }

            fn take(&mut self, kind: &AggregateKind, group: usize) -> Value {
                match self { $(Accumulator::$way(of) => of.take(kind, group),)* }
            }
        }
    };
}

accumulators! {
    /// COUNT(*), and COUNT(x) of rows whose x is not NULL.
    Count(Counts): AggregateKind::Rows | AggregateKind::Count => |_| Counts::default();
    /// COUNT(DISTINCT …).
    Distinct(Distinct): AggregateKind::CountDistinct => |_| Distinct::new();
    /// SUM and AVG.
    Sum(Sums): AggregateKind::Sum | AggregateKind::Average => |_| Sums::default();
    /// MIN and MAX.
    Extreme(Extremes): AggregateKind::Min | AggregateKind::Max => Extremes::new;
    /// STDDEV and VARIANCE.
    Squares(Squares): AggregateKind::Deviation | AggregateKind::Variance => |_| Squares::default();
    /// GROUP_CONCAT.
    Concat(Joined): AggregateKind::Concat(_) => Joined::new;
}

impl Accumulator {
    /// Adds rows to their groups. `arguments`: a block for each of the aggregate's. As [`States::add`].
    ///
    /// # Errors
    /// Those of `pay`.
    pub(super) fn add_rows<E>(
        &mut self,
        groups: &[u32],
        arguments: &[&Block],
        meter: &dyn Meter,
        pay: &mut Pay<'_, E>,
    ) -> Result<usize, E> {
        if let [] | [_] = arguments
            && let Some(bytes) = self.add_block(groups, arguments.first().copied(), meter, pay)?
        {
            return Ok(bytes);
        }
        let mut bytes = 0;
        if let [Block::Any(values)] = arguments {
            let rows = groups.iter().zip(values);
            for (group, value) in rows.filter(|(_, value)| **value != Value::Null) {
                bytes += self.add(*group, std::slice::from_ref(value), meter, pay)?;
            }
            return Ok(bytes);
        }
        for (at, group) in groups.iter().enumerate() {
            let values: Vec<Value> = arguments.iter().map(|block| block.value(at)).collect();
            if !values.contains(&Value::Null) {
                bytes += self.add(*group, &values, meter, pay)?;
            }
        }
        Ok(bytes)
    }
}

/// Pays for the memory of a wide text before it is taken. Gives what is left to pay, in bytes.
fn paid_if_wide<E>(bytes: usize, pay: &mut Pay<'_, E>) -> Result<usize, E> {
    if bytes < WIDE_BYTES {
        return Ok(bytes);
    }
    pay(bytes as u64)?;
    Ok(0)
}

fn finite(number: f64) -> Value {
    match number.is_finite() {
        true => Value::Float(number),
        false => Value::Null,
    }
}
