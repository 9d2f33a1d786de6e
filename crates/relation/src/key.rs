//! Codes of values in look-up indexes (`KEY (column)`): values that compare as equal have equal codes.
//!
//! Example: the texts `Ann` and `ANN` have one code, so do the numbers 5 and 5.0, and NULL has none, since it equals
//! nothing. The reverse does not hold: 5 and 5 + 2⁶⁴ have one code, and two texts may by chance. So a look-up by code finds
//! candidates, and the condition decides on each.
//!
//! Codes are on disk (`docs/formats/segment.md`): a change of this file needs another format of segments.

use crate::expression::List;
use crate::schema::ColumnType;
use crate::value::{Number, Value};

/// Basis and prime of the 64-bit hash FNV-1a.
const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

/// The code of a stored value; `None` for NULL, and for sets and documents, whose columns take no key.
#[must_use]
pub fn code(value: &Value) -> Option<u64> {
    match value {
        Value::Null | Value::Set(_) | Value::Json(_) => None,
        Value::Int(number) => Some(of_whole(*number)),
        Value::Float(number) => Some(of_real(*number)),
        Value::Str(text) => Some(of_text(text.as_bytes())),
        Value::Bytes(bytes) => Some(of_text(bytes)),
    }
}

/// The codes of the values of a keyed column that may equal one of `constants`, in any order. `None` where codes cannot tell:
/// a number beside a column of texts, whose texts are compared by the numbers that they are.
pub(crate) fn codes_of(kind: ColumnType, constants: &List) -> Option<Vec<u64>> {
    let is_text = kind.family().compares_as_number() == Some(false);
    let mut codes = Vec::with_capacity(constants.len());
    for constant in constants.iter() {
        codes.extend(match (is_text, &constant) {
            (_, Value::Null) => None,
            (_, Value::Set(_) | Value::Json(_)) => return None,
            (true, Value::Int(_) | Value::Float(_)) => return None,
            (true, text) => code(text),
            (false, other) => other.spelled().map(|number| match number {
                Number::Whole(number) => of_whole(number),
                Number::Real(number) => of_real(number),
            }),
        });
    }
    Some(codes)
}

/// The lowest 64 bits.
fn of_whole(number: i128) -> u64 {
    number as u64
}

fn of_real(number: f64) -> u64 {
    match number.fract() == 0.0 {
        true => of_whole(number as i128), // exact, or beyond every whole number
        false => number.to_bits(),
    }
}

/// FNV-1a of the text with ASCII letters in lower case, as texts are compared.
fn of_text(text: &[u8]) -> u64 {
    text.iter().fold(BASIS, |hash, byte| {
        (hash ^ u64::from(byte.to_ascii_lowercase())).wrapping_mul(PRIME)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::value::tests::value;

    #[test]
    fn codes_on_disk_do_not_change() {
        let codes = [Value::Int(-2), Value::Str("Ab".to_owned())].map(|value| code(&value));
        assert_eq!(codes, [Some(u64::MAX - 1), Some(0x089c_4407_b545_986a)]);
        assert_eq!(code(&Value::Str(String::new())), Some(BASIS));
        assert_eq!(code(&Value::Null), None);
    }

    proptest! {
        #[test]
        fn equal_values_have_equal_codes(stored in value(), constant in value()) {
            if stored.cmp_sql(&constant) == Some(std::cmp::Ordering::Equal) {
                for kind in [ColumnType::String, ColumnType::Bigint] {
                    let fits = match kind {
                        ColumnType::String => stored.text_bytes().is_some(),
                        _ => stored.text_bytes().is_none(),
                    };
                    let codes = codes_of(kind, &List::from_iter([constant.clone()]));
                    let stored = code(&stored);
                    prop_assert!(!fits || codes.is_none_or(|codes| codes.first() == stored.as_ref()));
                }
            }
        }
    }
}
