//! STDDEV and VARIANCE.

use language::meter::{Meter, Work};

use super::{Pay, STATE_UNITS, States, finite};
use crate::expression::AggregateKind;
use crate::rows::groups::exact::ExactSum;
use crate::rows::groups::index::Block;
use crate::value::{Number, Value};

/// The sums of each group.
#[derive(Default)]
pub(in crate::rows::groups) struct Squares(Vec<Square>);

/// The sums of numbers and of their squares.
#[derive(Default)]
struct Square {
    count: u64,
    sum: ExactSum,
    squares: ExactSum,
}

impl States for Squares {
    fn grow(&mut self) {
        self.0.push(Square::default());
    }

    fn state_bytes(&self) -> usize {
        size_of::<Square>()
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
        let number = arguments.first().and_then(Value::number).map(Number::real);
        Ok(number.map_or(0, |number| self.0[group as usize].add(number)))
    }

    fn add_block<E>(
        &mut self,
        groups: &[u32],
        argument: Option<&Block>,
        _: &dyn Meter,
        _: &mut Pay<'_, E>,
    ) -> Result<Option<usize>, E> {
        let Some(Block::Real(numbers)) = argument else {
            return Ok(None);
        };
        let rows = groups.iter().zip(numbers);
        let bytes = rows.map(|(group, number)| self.0[*group as usize].add(*number));
        Ok(Some(bytes.sum()))
    }

    fn merge(&mut self, other: Squares, places: &[u32], work: &Work<'_>) -> Option<usize> {
        let mut bytes = 0;
        for (at, more) in places.iter().zip(other.0) {
            work.begin(STATE_UNITS + more.sum.units() + more.squares.units())?;
            bytes += self.0[*at as usize].merge(&more);
        }
        Some(bytes)
    }

    fn end(&mut self, _: usize) {}

    fn take(&mut self, kind: &AggregateKind, group: usize) -> Value {
        self.0[group].variance().map_or(Value::Null, |variance| {
            match *kind == AggregateKind::Variance {
                true => finite(variance),
                false => finite(variance.sqrt()),
            }
        })
    }
}

impl Square {
    /// Adds a number. Gives the memory that this takes, in bytes.
    fn add(&mut self, number: f64) -> usize {
        let before = self.sum.bytes() + self.squares.bytes();
        self.count += 1;
        self.sum.add(number);
        self.squares.add_product(number, number);
        (self.sum.bytes() + self.squares.bytes()).saturating_sub(before)
    }

    fn merge(&mut self, other: &Square) -> usize {
        let before = self.sum.bytes() + self.squares.bytes();
        self.count += other.count;
        self.sum.merge(&other.sum);
        self.squares.merge(&other.squares);
        (self.sum.bytes() + self.squares.bytes()).saturating_sub(before)
    }

    /// (n·Σx² − (Σx)²) / n², where what stands in brackets is exact, so that equal numbers have the variance 0. NaN where a square is
    /// too large for a double.
    fn variance(&self) -> Option<f64> {
        if self.count == 0 {
            return None;
        }
        let count = self.count as f64;
        let (Some(squares), Some(sum)) = (self.squares.parts(), self.sum.parts()) else {
            return Some(f64::NAN);
        };
        let mut distances = ExactSum::default();
        for part in squares {
            distances.add_product(count, *part);
        }
        for part in sum {
            for other in sum {
                distances.add_product(-part, *other);
            }
        }
        Some(distances.value() / count / count)
    }
}
