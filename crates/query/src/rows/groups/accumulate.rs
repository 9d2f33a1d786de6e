//! The states of one aggregate, group by group.

use std::cmp::Ordering;

use super::exact::ExactSum;
use super::index::{Block, DistinctValues, Texts};
use crate::expression::AggregateKind;
use crate::meter::{Meter, WIDE_BYTES, Work};
use crate::value::{Number, Value, compare_texts};

/// Units of a state that is put into another one, without its texts and exact sums.
const STATE_UNITS: u64 = 10;

/// The states of an aggregate, one for each group.
pub(super) enum Accumulator {
    /// COUNT(*), and COUNT(x) of rows whose x is not NULL.
    Count(Vec<u64>),
    /// COUNT(DISTINCT …). `counts` is empty until the values are counted.
    Distinct {
        counts: Vec<u64>,
        values: DistinctValues,
    },
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
                values: DistinctValues::new(),
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
            Accumulator::Count(counts) => counts.push(0),
            Accumulator::Distinct { .. } => {}
            Accumulator::Sum(sums) => sums.push(Sum::default()),
            Accumulator::Extreme { values, .. } => values.push(Value::Null),
            Accumulator::Squares(squares) => squares.push(Squares::default()),
            Accumulator::Texts { joined, .. } => joined.push(None),
        }
    }

    /// Memory of a group in it, in bytes, with room to grow.
    pub(super) fn state_bytes(&self) -> usize {
        2 * match self {
            Accumulator::Count(_) | Accumulator::Distinct { .. } => size_of::<u64>(),
            Accumulator::Sum(_) => size_of::<Sum>(),
            Accumulator::Extreme { .. } => size_of::<Value>(),
            Accumulator::Squares(_) => size_of::<Squares>(),
            Accumulator::Texts { .. } => size_of::<Option<String>>(),
        }
    }

    /// Adds a row to a group. `arguments`: the aggregate's, none of them NULL. Gives the memory that this takes, in bytes; memory for
    /// a wide text is paid for by `pay`, before it is taken.
    ///
    /// # Errors
    /// Those of `pay`.
    pub(super) fn add<E>(
        &mut self,
        group: u32,
        arguments: &[Value],
        meter: &dyn Meter,
        pay: &mut Pay<'_, E>,
    ) -> Result<usize, E> {
        let place = group as usize;
        let first = arguments.first().unwrap_or(&Value::Null);
        Ok(match self {
            Accumulator::Count(counts) => {
                counts[place] += 1;
                0
            }
            Accumulator::Distinct { values, .. } => values.add(group, arguments, meter),
            Accumulator::Sum(sums) => first.number().map_or(0, |it| sums[place].add(it)),
            Accumulator::Extreme { values, wanted } => {
                let known = &mut values[place];
                if !is_beyond(first, known, *wanted) {
                    return Ok(0);
                }
                let bytes = first.memory().saturating_sub(known.memory());
                let bytes = paid_if_wide(bytes, pay)?;
                put(known, first);
                bytes
            }
            Accumulator::Squares(squares) => {
                let number = first.number().map(Number::real);
                number.map_or(0, |number| squares[place].add(number))
            }
            Accumulator::Texts { joined, separator } => {
                join(&mut joined[place], separator, arguments, pay)?
            }
        })
    }

    /// Adds rows to their groups. `arguments`: a block for each of the aggregate's. As [`Accumulator::add`].
    ///
    /// # Errors
    /// Those of `pay`.
    pub(super) fn add_block<E>(
        &mut self,
        groups: &[u32],
        arguments: &[&Block],
        meter: &dyn Meter,
        pay: &mut Pay<'_, E>,
    ) -> Result<usize, E> {
        if let Some(bytes) = self.add_numbers(groups, arguments) {
            return Ok(bytes);
        }
        let mut bytes = 0;
        match (self, arguments) {
            (Accumulator::Distinct { values, .. }, [Block::Texts(texts)]) => {
                for (group, text) in groups.iter().zip(texts.iter()) {
                    bytes += values.add_text(*group, text, meter);
                }
            }
            (Accumulator::Extreme { values, wanted }, [Block::Texts(texts)]) => {
                for (group, text) in groups.iter().zip(texts.iter()) {
                    let text = String::from_utf8_lossy(text);
                    bytes += add_text(&mut values[*group as usize], &text, *wanted, pay)?;
                }
            }
            (of, [Block::Any(values)]) => {
                let rows = groups.iter().zip(values);
                for (group, value) in rows.filter(|(_, value)| **value != Value::Null) {
                    bytes += of.add(*group, std::slice::from_ref(value), meter, pay)?;
                }
            }
            (
                of @ (Accumulator::Distinct { .. } | Accumulator::Extreme { .. }),
                [Block::Listed(places, texts)],
            ) => bytes += of.add_listed(groups, places, texts, meter, pay)?,
            (of, several) => {
                for (at, group) in groups.iter().enumerate() {
                    let values: Vec<Value> = several.iter().map(|block| block.value(at)).collect();
                    if !values.contains(&Value::Null) {
                        bytes += of.add(*group, &values, meter, pay)?;
                    }
                }
            }
        }
        Ok(bytes)
    }

    /// As [`Accumulator::add_block`] where no value is kept but a number. `None`: others are.
    fn add_numbers(&mut self, groups: &[u32], arguments: &[&Block]) -> Option<usize> {
        Some(match (self, arguments) {
            (
                Accumulator::Count(counts),
                [] | [Block::Whole(_) | Block::Real(_) | Block::Texts(_)],
            ) => {
                groups.iter().for_each(|group| counts[*group as usize] += 1);
                0
            }
            (Accumulator::Sum(sums), [Block::Whole(numbers)]) => {
                for (group, number) in groups.iter().zip(numbers) {
                    let sum = &mut sums[*group as usize];
                    sum.count += 1;
                    sum.whole += i128::from(*number);
                }
                0
            }
            (Accumulator::Sum(sums), [Block::Real(numbers)]) => {
                let rows = groups.iter().zip(numbers);
                rows.map(|(group, number)| sums[*group as usize].add(Number::Real(*number)))
                    .sum()
            }
            (Accumulator::Squares(squares), [Block::Real(numbers)]) => {
                let rows = groups.iter().zip(numbers);
                rows.map(|(group, number)| squares[*group as usize].add(*number))
                    .sum()
            }
            (Accumulator::Distinct { values, .. }, [Block::Whole(numbers)]) => {
                let rows = groups.iter().zip(numbers);
                rows.map(|(group, number)| values.add_whole(*group, *number))
                    .sum()
            }
            (Accumulator::Extreme { values, wanted }, [Block::Whole(numbers)]) => {
                for (group, number) in groups.iter().zip(numbers) {
                    let (known, number) = (&mut values[*group as usize], i128::from(*number));
                    let is_beyond = match *known {
                        Value::Int(ref known) => number.cmp(known) == *wanted,
                        ref other => is_beyond(&Value::Int(number), other, *wanted),
                    };
                    if is_beyond {
                        *known = Value::Int(number);
                    }
                }
                0
            }
            (Accumulator::Count(counts), [Block::Listed(places, texts)]) => {
                for (group, place) in groups.iter().zip(places) {
                    counts[*group as usize] += u64::from((*place as usize) < texts.count());
                }
                0
            }
            _ => return None,
        })
    }

    /// As [`Accumulator::add_block`] of COUNT(DISTINCT …), MIN and MAX: a text that comes again in its group changes nothing.
    fn add_listed<E>(
        &mut self,
        groups: &[u32],
        places: &[u32],
        texts: &Texts,
        meter: &dyn Meter,
        pay: &mut Pay<'_, E>,
    ) -> Result<usize, E> {
        let rows = groups.iter().copied().zip(places.iter().copied());
        let mut rows: Vec<(u32, u32)> = rows.collect();
        rows.sort_unstable();
        rows.dedup();
        let rows = rows.into_iter();
        let mut bytes = 0;
        for (group, place) in rows.filter(|(_, place)| (*place as usize) < texts.count()) {
            bytes += self.add(group, &[texts.value(place as usize)], meter, pay)?;
        }
        Ok(bytes)
    }

    /// Adds the groups of another state of the same aggregate, which is neither GROUP_CONCAT nor COUNT(DISTINCT …). `numbers`: for
    /// each of its groups the number here. Gives the memory that this takes, in bytes; `None`: the meter has stopped.
    pub(super) fn merge(
        &mut self,
        other: Accumulator,
        numbers: &[u32],
        work: &Work<'_>,
    ) -> Option<usize> {
        let places = numbers.iter().map(|number| *number as usize);
        let mut bytes = 0;
        match (self, other) {
            (Accumulator::Count(counts), Accumulator::Count(more)) => {
                for (at, more) in places.zip(more) {
                    work.begin(STATE_UNITS)?;
                    counts[at] += more;
                }
            }
            (Accumulator::Sum(sums), Accumulator::Sum(more)) => {
                for (at, more) in places.zip(more) {
                    work.begin(STATE_UNITS + more.units())?;
                    bytes += sums[at].merge(more);
                }
            }
            (
                Accumulator::Extreme { values, wanted },
                Accumulator::Extreme { values: more, .. },
            ) => {
                for (at, value) in places.zip(more) {
                    let known = &mut values[at];
                    work.begin(STATE_UNITS + value.memory().min(known.memory()) as u64)?;
                    // The other state has paid for it.
                    if value != Value::Null && is_beyond(&value, known, *wanted) {
                        *known = value;
                    }
                }
            }
            (Accumulator::Squares(squares), Accumulator::Squares(more)) => {
                for (at, more) in places.zip(more) {
                    work.begin(STATE_UNITS + more.sum.units() + more.squares.units())?;
                    bytes += squares[at].merge(&more);
                }
            }
            _ => {}
        }
        Some(bytes)
    }

    /// Counts the distinct values of `groups` groups, once all rows are added.
    pub(super) fn count_distinct(&mut self, groups: usize) {
        if let Accumulator::Distinct { counts, values } = self {
            counts.resize(groups, 0);
            for shard in &mut values.shards {
                shard.counts(|group, count| counts[group as usize] += count);
            }
        }
    }

    /// The value of a group. Texts leave the state, so it is asked once.
    pub(super) fn take(&mut self, kind: &AggregateKind, group: usize) -> Value {
        match self {
            Accumulator::Count(counts) | Accumulator::Distinct { counts, .. } => {
                Value::Int(counts[group].into())
            }
            Accumulator::Sum(sums) => match kind {
                AggregateKind::Average => sums[group].average(),
                _ => sums[group].value(),
            },
            Accumulator::Extreme { values, .. } => {
                std::mem::replace(&mut values[group], Value::Null)
            }
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

/// Takes that many bytes of memory.
pub(super) type Pay<'p, E> = dyn FnMut(u64) -> Result<(), E> + 'p;

/// Pays for the memory of a wide text before it is taken. Gives what is left to pay, in bytes.
fn paid_if_wide<E>(bytes: usize, pay: &mut Pay<'_, E>) -> Result<usize, E> {
    if bytes < WIDE_BYTES {
        return Ok(bytes);
    }
    pay(bytes as u64)?;
    Ok(0)
}

/// Sets a value. There are never three texts in memory.
fn put(known: &mut Value, value: &Value) {
    match (known, value) {
        (Value::Str(known), Value::Str(text)) => put_text(known, text),
        (known, value) => *known = value.clone(),
    }
}

/// Sets a text. Its memory is used again, or given back before more is taken.
fn put_text(known: &mut String, text: &str) {
    if known.capacity() < text.len() {
        *known = String::new();
        known.reserve_exact(text.len());
    }
    known.clear();
    known.push_str(text);
}

/// As [`Accumulator::add`] of MIN and MAX of a text.
fn add_text<E>(
    known: &mut Value,
    text: &str,
    wanted: Ordering,
    pay: &mut Pay<'_, E>,
) -> Result<usize, E> {
    let is_beyond = match &*known {
        Value::Null => true,
        Value::Str(known) => {
            let order = compare_texts(text, known);
            order == wanted || order.is_eq() && text < known.as_str()
        }
        known => is_beyond(&Value::Str(text.to_owned()), known, wanted),
    };
    if !is_beyond {
        return Ok(0);
    }
    let bytes = (size_of::<Value>() + text.len()).saturating_sub(known.memory());
    let bytes = paid_if_wide(bytes, pay)?;
    match known {
        Value::Str(known) => put_text(known, text),
        known => *known = Value::Str(text.to_owned()),
    }
    Ok(bytes)
}

/// Adds values to the text of GROUP_CONCAT. As [`Accumulator::add`].
fn join<E>(
    joined: &mut Option<String>,
    separator: &str,
    values: &[Value],
    pay: &mut Pay<'_, E>,
) -> Result<usize, E> {
    let before = joined.as_ref().map_or(0, String::capacity);
    let separator = joined.as_ref().map_or("", |_| separator);
    let text = joined.get_or_insert_default();
    let mut paid = 0;
    for part in std::iter::once(None).chain(values.iter().map(Some)) {
        let other;
        let part = match part {
            None => separator,
            Some(Value::Str(part)) => part,
            Some(part) => {
                other = part.to_string();
                &other
            }
        };
        let (has, needs) = (text.capacity(), text.len() + part.len());
        if needs > has && needs >= WIDE_BYTES {
            // A wide text does not grow by doubling.
            let room = needs + text.len() / 4;
            pay((room - has) as u64)?;
            text.reserve_exact(room - text.len());
            paid += text.capacity() - has;
        }
        text.push_str(part);
    }
    Ok((text.capacity() - before).saturating_sub(paid))
}

/// Whether a value takes the place of a known minimum or maximum. Of values that ORDER BY takes for equal, the one with the lowest
/// bytes is there, whatever the order of the rows.
fn is_beyond(value: &Value, known: &Value, wanted: Ordering) -> bool {
    let order = match known {
        Value::Null => return true,
        known => value.cmp_order(known),
    };
    let spelled = || match (value, known) {
        (Value::Str(value), Value::Str(known)) => value.cmp(known),
        (Value::Float(value), Value::Float(known)) => value.total_cmp(known),
        (Value::Int(_), Value::Float(_)) => Ordering::Less,
        _ => Ordering::Equal,
    };
    order == wanted || order.is_eq() && spelled().is_lt()
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

impl Squares {
    /// Adds a number. Gives the memory that this takes, in bytes.
    fn add(&mut self, number: f64) -> usize {
        let before = self.sum.bytes() + self.squares.bytes();
        self.count += 1;
        self.sum.add(number);
        self.squares.add_product(number, number);
        (self.sum.bytes() + self.squares.bytes()).saturating_sub(before)
    }

    fn merge(&mut self, other: &Squares) -> usize {
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
