//! Distinct rows: of equal rows only the first one is new.
//!
//! Example: of (1, 'a', NULL), (1.0, 'A', NULL) and (1, 'b', NULL), the first and the last are new.

use rustc_hash::FxHashSet;

use crate::value::{Number, Value, without_case};

/// The rows seen so far, each as a text of bytes that equal rows share.
///
/// Two rows are equal if their values are, one by one. Numbers are equal by value, texts without regard to the case of ASCII
/// letters, NULL equals NULL, and a number equals no text.
#[derive(Debug, Default)]
pub struct Distinct {
    seen: FxHashSet<Box<[u8]>>,
}

impl Distinct {
    /// Whether no equal row was seen. Gives the bytes of memory that the row takes here; 0 for a known one.
    pub fn is_new(&mut self, row: &[Value]) -> (bool, u64) {
        let mut key = Vec::new();
        row.iter().for_each(|value| write(value, &mut key));
        let bytes = key.len() + 2 * size_of::<Box<[u8]>>();
        match self.seen.insert(key.into()) {
            true => (true, bytes as u64),
            false => (false, 0),
        }
    }
}

/// Appends a tag and the value, with its length where that may differ: the same bytes for equal values.
pub(super) fn write(value: &Value, key: &mut Vec<u8>) {
    let mut sized = |tag: u8, bytes: &mut dyn Iterator<Item = u8>| {
        key.push(tag);
        let at = key.len();
        key.extend_from_slice(&[0; 8]);
        key.extend(bytes);
        let length = (key.len() - at - 8) as u64;
        key[at..at + 8].copy_from_slice(&length.to_le_bytes());
    };
    match value {
        Value::Null => key.push(0),
        Value::Str(text) => sized(1, &mut without_case(text)),
        Value::Bytes(bytes) => sized(2, &mut bytes.iter().copied()),
        Value::Set(numbers) => sized(
            3,
            &mut numbers.iter().flat_map(|number| number.to_le_bytes()),
        ),
        Value::Json(document) => sized(4, &mut document.bytes().iter().copied()),
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
    use super::*;

    #[test]
    fn rows_of_equal_values_are_one() {
        let text = |text: &str| Value::Str(text.to_owned());
        let mut distinct = Distinct::default();
        let mut is_new = |row: &[Value]| distinct.is_new(row).0;
        assert!(is_new(&[Value::Int(1), text("a"), Value::Null]));
        assert!(!is_new(&[Value::Float(1.0), text("A"), Value::Null]));
        assert!(is_new(&[Value::Int(1), text("b"), Value::Null]));
        assert!(is_new(&[text("1"), text("b"), Value::Null]));
        // Values do not run into each other.
        assert!(is_new(&[text("ab"), text("c")]));
        assert!(is_new(&[text("a"), text("bc")]));
    }
}
