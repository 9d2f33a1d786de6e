//! MIN and MAX.

use std::cmp::Ordering;

use language::meter::{Meter, Work};

use super::distinct::listed_once;
use super::{Pay, STATE_UNITS, States, paid_if_wide};
use crate::expression::AggregateKind;
use crate::rows::groups::index::Block;
use crate::value::{Value, compare_texts};

/// The least or the greatest value of each group; NULL before the first.
pub(in crate::rows::groups) struct Extremes {
    values: Vec<Value>,
    wanted: Ordering,
}

impl Extremes {
    pub(super) fn new(kind: &AggregateKind) -> Extremes {
        Extremes {
            values: Vec::new(),
            wanted: match *kind == AggregateKind::Min {
                true => Ordering::Less,
                false => Ordering::Greater,
            },
        }
    }

    fn add_whole(&mut self, group: u32, number: i64) {
        let (known, number) = (&mut self.values[group as usize], i128::from(number));
        let is_beyond = match *known {
            Value::Int(ref known) => number.cmp(known) == self.wanted,
            ref other => is_beyond(&Value::Int(number), other, self.wanted),
        };
        if is_beyond {
            *known = Value::Int(number);
        }
    }
}

impl States for Extremes {
    fn grow(&mut self) {
        self.values.push(Value::Null);
    }

    fn state_bytes(&self) -> usize {
        size_of::<Value>()
    }

    fn compares(&self) -> bool {
        true
    }

    fn add<E>(
        &mut self,
        group: u32,
        arguments: &[Value],
        _: &dyn Meter,
        pay: &mut Pay<'_, E>,
    ) -> Result<usize, E> {
        let value = arguments.first().unwrap_or(&Value::Null);
        let known = &mut self.values[group as usize];
        if !is_beyond(value, known, self.wanted) {
            return Ok(0);
        }
        let bytes = value.memory().saturating_sub(known.memory());
        let bytes = paid_if_wide(bytes, pay)?;
        put(known, value);
        Ok(bytes)
    }

    fn add_block<E>(
        &mut self,
        groups: &[u32],
        argument: Option<&Block>,
        meter: &dyn Meter,
        pay: &mut Pay<'_, E>,
    ) -> Result<Option<usize>, E> {
        let mut bytes = 0;
        match argument {
            Some(Block::Whole(numbers)) => {
                for (group, number) in groups.iter().zip(numbers) {
                    self.add_whole(*group, *number);
                }
            }
            Some(Block::Texts(texts)) => {
                for (group, text) in groups.iter().zip(texts.iter()) {
                    let text = String::from_utf8_lossy(text);
                    let known = &mut self.values[*group as usize];
                    bytes += add_text(known, &text, self.wanted, pay)?;
                }
            }
            Some(Block::Listed(places, texts)) => {
                for (group, place) in listed_once(groups, places, texts) {
                    bytes += self.add(group, &[texts.value(place as usize)], meter, pay)?;
                }
            }
            Some(Block::Real(_) | Block::Any(_)) | None => return Ok(None),
        }
        Ok(Some(bytes))
    }

    fn merge(&mut self, other: Extremes, places: &[u32], work: &Work<'_>) -> Option<usize> {
        for (at, value) in places.iter().zip(other.values) {
            let known = &mut self.values[*at as usize];
            work.begin(STATE_UNITS + value.memory().min(known.memory()) as u64)?;
            // The other state has paid for it.
            if value != Value::Null && is_beyond(&value, known, self.wanted) {
                *known = value;
            }
        }
        Some(0)
    }

    fn end(&mut self, _: usize) {}

    fn take(&mut self, _: &AggregateKind, group: usize) -> Value {
        std::mem::replace(&mut self.values[group], Value::Null)
    }
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
