//! Distinct rows: of equal rows only the first one is new.
//!
//! Example: of (1, 'a', NULL), (1.0, 'A', NULL) and (1, 'b', NULL), the first and the last are new. Of a DECIMAL column's 9.00 and the
//! number 9 the second is not new, nor is a DATETIME at midnight behind its DATE.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use language::meter::Meter;
use rustc_hash::FxBuildHasher;

use super::digest::{self, LONG_BYTES};
use crate::schema::ColumnType;
use crate::value::{Number, Value};

/// Rows of which no two are equal, in the order in which they came.
///
/// Two rows are equal if their values are, one by one. Numbers are equal by value, texts without regard to the case of ASCII
/// letters, NULL equals NULL, and a number equals no text. So equal rows have one text of bytes, in which long values are numbers.
#[derive(Debug, Default)]
pub struct DistinctRows {
    rows: Vec<Vec<Value>>,
    /// The hash of each row's text, and its place among the rows.
    places: HashTable<(u64, u32)>,
    /// The texts of two rows that are compared.
    texts: [Vec<u8>; 2],
    /// The types of the columns of the rows that begin at each place. Empty: none is known.
    kinds: Vec<(usize, Kinds)>,
}

/// The type of each column, if it is known.
type Kinds = Vec<Option<ColumnType>>;

impl DistinctRows {
    /// The types of the columns of the rows that are added next.
    pub fn begin(&mut self, kinds: Kinds) {
        self.kinds.pop_if(|(from, _)| *from == self.rows.len());
        self.kinds.push((self.rows.len(), kinds));
    }

    /// Adds a row, unless an equal one is there. Gives the bytes of memory that it takes beside its values; `None`: it is not new.
    /// Once the meter has stopped, the answer is of no use.
    pub fn add(&mut self, row: Vec<Value>, meter: &dyn Meter) -> Option<u64> {
        let [text, other] = &mut self.texts;
        text.clear();
        let kinds = self.kinds.last().map(|(_, kinds)| &**kinds);
        write_row(&row, kinds.unwrap_or_default(), text, meter);
        let hash = FxBuildHasher.hash_one(&text[..]);
        let is_equal = |(its_hash, place): &(u64, u32)| {
            *its_hash == hash && {
                other.clear();
                let place = *place as usize;
                let behind = self.kinds.partition_point(|(from, _)| *from <= place);
                let kinds = behind.checked_sub(1).map(|part| &*self.kinds[part].1);
                write_row(&self.rows[place], kinds.unwrap_or_default(), other, meter);
                text == other
            }
        };
        if self.places.find(hash, is_equal).is_some() {
            return None;
        }
        let place = (hash, self.rows.len() as u32);
        self.places.insert_unique(hash, place, |place| place.0);
        self.rows.push(row);
        Some(DISTINCT_ROW_BYTES)
    }

    /// The rows in the order in which they came.
    #[must_use]
    pub fn into_rows(self) -> Vec<Vec<Value>> {
        self.rows
    }
}

/// Memory of a row of [`DistinctRows`] beside its values: its vector and its place, in tables that grow.
const DISTINCT_ROW_BYTES: u64 = (2 * size_of::<Vec<Value>>() + 3 * size_of::<(u64, u32)>()) as u64;

/// Appends what is equal for equal rows. Columns behind the known types have none. A column whose type is not known may hold values
/// of several, as they are shown: `COALESCE(price, '-')`.
fn write_row(row: &[Value], kinds: &[Option<ColumnType>], key: &mut Vec<u8>, meter: &dyn Meter) {
    for (place, value) in row.iter().enumerate() {
        let distinct = kinds.get(place).and_then(|kind| match kind {
            Some(kind) => kind.distinct(value),
            None => ColumnType::shown_like(value)?.distinct(value),
        });
        write(distinct.as_ref().unwrap_or(value), key, meter);
    }
}

/// As [`write`] of a text.
#[inline]
pub(super) fn write_text(text: &[u8], key: &mut Vec<u8>, meter: &dyn Meter) {
    if text.len() >= LONG_BYTES {
        return write_long(1, text.len(), digest::of_text(text, meter), key);
    }
    key.push(1);
    key.extend_from_slice(&(text.len() as u64).to_le_bytes());
    let at = key.len();
    key.extend_from_slice(text);
    key[at..].make_ascii_lowercase();
}

/// Appends a long value by its number.
#[cold]
fn write_long(tag: u8, bytes: usize, number: [u8; 16], key: &mut Vec<u8>) {
    key.push(LONG | tag);
    key.extend_from_slice(&(bytes as u64).to_le_bytes());
    key.extend_from_slice(&number);
}

/// Flag in the tag of a long value.
const LONG: u8 = 0x80;

/// Appends a tag and the value, with its length where that may differ: the same bytes for equal values. A value of [`LONG_BYTES`] or
/// more stands there by its number. Once the meter has stopped, what is appended is of no use.
pub(super) fn write(value: &Value, key: &mut Vec<u8>, meter: &dyn Meter) {
    let mut sized = |tag: u8, bytes: &[u8]| {
        if bytes.len() >= LONG_BYTES {
            return write_long(tag, bytes.len(), digest::of_bytes(bytes, meter), key);
        }
        key.push(tag);
        key.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        key.extend_from_slice(bytes);
    };
    match value {
        Value::Null => key.push(0),
        Value::Str(text) => write_text(text.as_bytes(), key, meter),
        Value::Bytes(bytes) => sized(2, bytes),
        Value::Set(numbers) if size_of_val::<[i64]>(numbers) >= LONG_BYTES => {
            write_long(3, numbers.len(), digest::of_set(numbers, meter), key);
        }
        Value::Set(numbers) => {
            key.push(3);
            key.extend_from_slice(&(numbers.len() as u64).to_le_bytes());
            key.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        }
        Value::Json(document) => sized(4, document.bytes()),
        Value::Int(_) | Value::Float(_) => match value.number().map(Number::normal) {
            Some(Number::Whole(number)) => {
                key.push(5);
                key.extend_from_slice(&number.to_le_bytes());
            }
            Some(Number::Real(number)) => {
                key.push(6);
                key.extend_from_slice(&number.to_bits().to_le_bytes());
            }
            None => key.push(0),
        },
    }
}

#[cfg(test)]
mod tests {
    use language::meter::Unmetered;

    use super::*;

    #[test]
    fn rows_of_equal_values_are_one() {
        let text = |text: &str| Value::Str(text.to_owned());
        let mut rows = DistinctRows::default();
        let mut is_new = |row: &[Value]| rows.add(row.to_vec(), &Unmetered).is_some();
        assert!(is_new(&[Value::Int(1), text("a"), Value::Null]));
        assert!(!is_new(&[Value::Float(1.0), text("A"), Value::Null]));
        assert!(is_new(&[Value::Int(1), text("b"), Value::Null]));
        assert!(is_new(&[text("1"), text("b"), Value::Null]));
        // Values do not run into each other.
        assert!(is_new(&[text("ab"), text("c")]));
        assert!(is_new(&[text("a"), text("bc")]));
        assert!(is_new(&[Value::Set([1, 2].into())]));
        assert!(is_new(&[Value::Set([1].into())]));
        assert!(!is_new(&[Value::Set([1, 2].into())]));
        assert_eq!(rows.into_rows().len(), 7);
    }

    #[test]
    fn long_values_are_distinct_by_kind_and_by_their_last_byte() {
        let mut rows = DistinctRows::default();
        let mut is_new = |value: Value| rows.add(vec![value], &Unmetered).is_some();
        for bytes in [LONG_BYTES - 1, LONG_BYTES, 5 * LONG_BYTES] {
            let text = |first: &str, last: &str| first.repeat(bytes - 1) + last;
            assert!(is_new(Value::Str(text("a", "a"))), "{bytes}");
            assert!(!is_new(Value::Str(text("A", "a"))), "{bytes}");
            assert!(is_new(Value::Str(text("a", "b"))), "{bytes}");
            assert!(is_new(Value::Bytes(text("a", "a").into())), "{bytes}");
            assert!(is_new(Value::Bytes(text("A", "a").into())), "{bytes}");
            let set = |last: i64| Value::Set((0..bytes as i64 / 8).chain([last]).collect());
            assert!(is_new(set(1 << 40)), "{bytes}");
            assert!(!is_new(set(1 << 40)), "{bytes}");
            assert!(is_new(set(1 << 41)), "{bytes}");
        }
    }
}
