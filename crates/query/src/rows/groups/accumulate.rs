//! The states of one aggregate, group by group.

use std::cmp::Ordering;

use super::super::distinct::Distinct;
use super::exact::ExactSum;
use crate::expression::AggregateKind;
use crate::value::{Number, Value};

/// The states of an aggregate, one for each group.
pub(super) enum Accumulator {
    /// COUNT(*), and COUNT(x) of rows whose x is not NULL.
    Count(Vec<u64>),
    /// COUNT(DISTINCT …): `seen` has each group with each of its values.
    Distinct { counts: Vec<u64>, seen: Distinct },
    /// SUM and AVG.
    Sum(Vec<Sum>),
    /// MIN and MAX; NULL before the first value.
    Extreme {
        values: Vec<Value>,
        wanted: Ordering,
    },
    /// STDDEV and VARIANCE.
    Squares(Vec<Squares>),
    /// GROUP_CONCAT; `None` before the first text.
    Texts {
        joined: Vec<Option<String>>,
        separator: String,
    },
}

/// The sum of numbers, and how many they are.
#[derive(Default)]
pub(super) struct Sum {
    count: u64,
    /// Of the whole numbers of 64 bits. Fewer than 2^64 of them cannot overflow it.
    whole: i128,
    /// Of all others.
    real: Option<Box<ExactSum>>,
}

/// The sums of numbers and of their squares.
#[derive(Default)]
pub(super) struct Squares {
    count: u64,
    sum: ExactSum,
    squares: ExactSum,
}

impl Accumulator {
    pub(super) fn new(kind: &AggregateKind) -> Accumulator {
        let extreme = |wanted| Accumulator::Extreme {
            values: Vec::new(),
            wanted,
        };
        match kind {
            AggregateKind::Rows | AggregateKind::Count => Accumulator::Count(Vec::new()),
            AggregateKind::CountDistinct => Accumulator::Distinct {
                counts: Vec::new(),
                seen: Distinct::default(),
            },
            AggregateKind::Sum | AggregateKind::Average => Accumulator::Sum(Vec::new()),
            AggregateKind::Min => extreme(Ordering::Less),
            AggregateKind::Max => extreme(Ordering::Greater),
            AggregateKind::Deviation | AggregateKind::Variance => Accumulator::Squares(Vec::new()),
            AggregateKind::Concat(separator) => Accumulator::Texts {
                joined: Vec::new(),
                separator: separator.clone(),
            },
        }
    }

    /// Makes room for one more group.
    pub(super) fn grow(&mut self) {
        match self {
            Accumulator::Count(counts) | Accumulator::Distinct { counts, .. } => counts.push(0),
            Accumulator::Sum(sums) => sums.push(Sum::default()),
            Accumulator::Extreme { values, .. } => values.push(Value::Null),
            Accumulator::Squares(squares) => squares.push(Squares::default()),
            Accumulator::Texts { joined, .. } => joined.push(None),
        }
    }

    /// Adds a row to a group. `arguments`: the aggregate's, none of them NULL. Gives the memory that this takes, in bytes.
    pub(super) fn add(&mut self, group: u32, arguments: &[Value]) -> usize {
        let place = group as usize;
        let first = arguments.first().unwrap_or(&Value::Null);
        match self {
            Accumulator::Count(counts) => {
                counts[place] += 1;
                0
            }
            Accumulator::Distinct { counts, seen } => {
                let (more, bytes) = distinct(seen, group, arguments);
                counts[place] += more;
                bytes as usize
            }
            Accumulator::Sum(sums) => first.number().map_or(0, |it| sums[place].add(it)),
            Accumulator::Extreme { values, wanted } => {
                let known = &mut values[place];
                if *known != Value::Null && first.cmp_order(known) != *wanted {
                    return 0;
                }
                let bytes = first.memory().saturating_sub(known.memory());
                known.clone_from(first);
                bytes
            }
            Accumulator::Squares(squares) => {
                let number = first.number().map(Number::real);
                number.map_or(0, |number| squares[place].add(number))
            }
            Accumulator::Texts { joined, separator } => {
                let text = joined[place].take();
                let before = text.as_ref().map_or(0, String::capacity);
                let mut text = match text {
                    Some(text) => text + separator,
                    None => String::new(),
                };
                arguments.iter().for_each(|part| text += &part.to_string());
                let bytes = text.capacity() - before;
                joined[place] = Some(text);
                bytes
            }
        }
    }

    /// The value of a group.
    pub(super) fn value(&mut self, kind: &AggregateKind, group: usize) -> Value {
        match self {
            Accumulator::Count(counts) | Accumulator::Distinct { counts, .. } => {
                Value::Int(counts[group].into())
            }
            Accumulator::Sum(sums) => match kind {
                AggregateKind::Average => sums[group].average(),
                _ => sums[group].value(),
            },
            Accumulator::Extreme { values, .. } => values[group].clone(),
            Accumulator::Squares(squares) => match (squares[group].variance(), kind) {
                (None, _) => Value::Null,
                (Some(variance), AggregateKind::Variance) => finite(variance),
                (Some(variance), _) => finite(variance.sqrt()),
            },
            Accumulator::Texts { joined, .. } => {
                joined[group].take().map_or(Value::Null, Value::Str)
            }
        }
    }
}

/// How many values of a row are new in its group, and the memory of these, in bytes. Each number of a set counts, as in Sphinx.
fn distinct(seen: &mut Distinct, group: u32, arguments: &[Value]) -> (u64, u64) {
    let rows: Vec<Vec<Value>> = match arguments {
        [Value::Set(numbers)] => {
            let numbers = numbers.iter().map(|number| Value::Int((*number).into()));
            numbers.map(|number| vec![number]).collect()
        }
        several => vec![several.to_vec()],
    };
    let (mut count, mut bytes) = (0, 0);
    for mut row in rows {
        row.push(Value::Int(group.into()));
        let (is_new, more) = seen.is_new(&row);
        count += u64::from(is_new);
        bytes += more;
    }
    (count, bytes)
}

fn finite(number: f64) -> Value {
    match number.is_finite() {
        true => Value::Float(number),
        false => Value::Null,
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

impl Squares {
    /// Adds a number. Gives the memory that this takes, in bytes.
    fn add(&mut self, number: f64) -> usize {
        let before = self.sum.bytes() + self.squares.bytes();
        self.count += 1;
        self.sum.add(number);
        self.squares.add_product(number, number);
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
