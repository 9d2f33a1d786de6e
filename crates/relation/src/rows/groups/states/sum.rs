//! SUM and AVG.

use language::meter::{Meter, Work};

use super::{Pay, STATE_UNITS, States, finite};
use crate::expression::AggregateKind;
use crate::rows::groups::exact::ExactSum;
use crate::rows::groups::index::Block;
use crate::value::{Number, Value};

/// The sum of each group.
#[derive(Default)]
pub(in crate::rows::groups) struct Sums(Vec<Sum>);

/// The sum of numbers, and how many they are.
#[derive(Default)]
struct Sum {
    count: u64,
    /// Of the whole numbers of 64 bits. Fewer than 2^64 of them cannot overflow it.
    whole: i128,
    /// Of all others.
    real: Option<Box<ExactSum>>,
}

impl States for Sums {
    fn grow(&mut self) {
        self.0.push(Sum::default());
    }

    fn state_bytes(&self) -> usize {
        size_of::<Sum>()
    }

    fn compares(&self) -> bool {
        false
    }

    fn add<E>(
        &mut self,
        group: u32,
        arguments: &[Value],
        _: &dyn Meter,
        _: &mut Pay<'_, E>,
    ) -> Result<usize, E> {
        let number = arguments.first().and_then(Value::number);
        Ok(number.map_or(0, |number| self.0[group as usize].add(number)))
    }

    fn add_block<E>(
        &mut self,
        groups: &[u32],
        argument: Option<&Block>,
        _: &dyn Meter,
        _: &mut Pay<'_, E>,
    ) -> Result<Option<usize>, E> {
        Ok(match argument {
            Some(Block::Whole(numbers)) => {
                for (group, number) in groups.iter().zip(numbers) {
                    let sum = &mut self.0[*group as usize];
                    sum.count += 1;
                    sum.whole += i128::from(*number);
                }
                Some(0)
            }
            Some(Block::Real(numbers)) => {
                let rows = groups.iter().zip(numbers);
                let bytes =
                    rows.map(|(group, number)| self.0[*group as usize].add(Number::Real(*number)));
                Some(bytes.sum())
            }
            Some(Block::Texts(_) | Block::Listed(..) | Block::Any(_)) | None => None,
        })
    }

    fn merge(&mut self, other: Sums, places: &[u32], work: &Work<'_>) -> Option<usize> {
        let mut bytes = 0;
        for (at, more) in places.iter().zip(other.0) {
            work.begin(STATE_UNITS + more.units())?;
            bytes += self.0[*at as usize].merge(more);
        }
        Some(bytes)
    }

    fn end(&mut self, _: usize) {}

    fn take(&mut self, kind: &AggregateKind, group: usize) -> Value {
        let sum = &self.0[group];
        match *kind == AggregateKind::Average {
            true => sum.average(),
            false => sum.value(),
        }
    }
}

impl Sum {
    /// Adds a number. Gives the memory that this takes, in bytes.
    fn add(&mut self, number: Number) -> usize {
        self.count += 1;
        if let Number::Whole(number) = number
            && i64::try_from(number).is_ok()
        {
            self.whole += number;
            return 0;
        }
        let before = self.real.as_ref().map_or(0, |real| real.bytes());
        let real = self.real.get_or_insert_default();
        match number {
            Number::Whole(number) => real.add_whole(number),
            Number::Real(number) => real.add(number),
        }
        real.bytes().saturating_sub(before)
    }

    fn merge(&mut self, other: Sum) -> usize {
        self.count += other.count;
        self.whole += other.whole;
        let Some(more) = other.real else { return 0 };
        let real = self.real.get_or_insert_default();
        let before = real.bytes();
        real.merge(&more);
        real.bytes().saturating_sub(before)
    }

    /// Units of [`Sum::merge`] with it.
    fn units(&self) -> u64 {
        self.real.as_ref().map_or(0, |real| real.units())
    }

    /// The sum of all numbers, rounded once.
    fn total(&self) -> f64 {
        let mut all = self.real.as_deref().cloned().unwrap_or_default();
        all.add_whole(self.whole);
        all.value()
    }

    /// NULL without a number; whole if all numbers are.
    fn value(&self) -> Value {
        match (self.count, &self.real) {
            (0, _) => Value::Null,
            (_, None) => Value::Int(self.whole),
            (_, Some(_)) => finite(self.total()),
        }
    }

    fn average(&self) -> Value {
        match self.count {
            0 => Value::Null,
            count => finite(self.total() / count as f64),
        }
    }
}
