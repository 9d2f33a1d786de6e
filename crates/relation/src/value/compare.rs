//! Whole and real numbers, compared exactly.

use std::cmp::Ordering;

use crate::limits::NUMBER_BYTES_MAX;

/// A whole number or a real one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    /// A whole number, exact.
    Whole(i128),
    /// A real number, as a double.
    Real(f64),
}

impl Number {
    /// Compares by exact value: no whole number is rounded to a double. `None` beside NaN.
    pub(crate) fn compare(self, other: Number) -> Option<Ordering> {
        match (self, other) {
            (Number::Whole(a), Number::Whole(b)) => Some(a.cmp(&b)),
            (Number::Real(a), Number::Real(b)) => a.partial_cmp(&b),
            (Number::Whole(a), Number::Real(b)) => compare_mixed(a, b),
            (Number::Real(a), Number::Whole(b)) => compare_mixed(b, a).map(Ordering::reverse),
        }
    }

    /// A real number that is whole becomes a whole one, so that equal numbers have one form.
    pub(crate) fn normal(self) -> Number {
        match self {
            Number::Real(real) if real.fract() == 0.0 && real.abs() < 2f64.powi(127) => {
                Number::Whole(real as i128)
            }
            other => other,
        }
    }

    /// The number as a double, rounded if necessary.
    pub(crate) fn real(self) -> f64 {
        match self {
            Number::Whole(number) => number as f64,
            Number::Real(number) => number,
        }
    }

    /// The number that a text begins with, behind white space; 0 if it begins with none. It is read up to [`NUMBER_BYTES_MAX`].
    pub(crate) fn at_start(text: &[u8]) -> Number {
        let text = text.trim_ascii_start();
        let text = &text[..text.len().min(NUMBER_BYTES_MAX)];
        let (bytes, whole) = number_bytes(text);
        let number = match text.get(..bytes).map(std::str::from_utf8) {
            Some(Ok(number)) if bytes > 0 => number,
            _ => "0",
        };
        let exact = match whole {
            true => number.parse().ok(),
            false => beyond_doubles(number),
        };
        exact.map_or_else(
            || Number::Real(number.parse().unwrap_or(0.0)),
            Number::Whole,
        )
    }

    /// The number that a text is from end to end, white space aside; `None` if it is none, or longer than [`NUMBER_BYTES_MAX`].
    pub(crate) fn spelled(text: &[u8]) -> Option<Number> {
        let text = text.trim_ascii();
        if text.len() > NUMBER_BYTES_MAX {
            return None;
        }
        let (bytes, _) = number_bytes(text);
        (bytes > 0 && bytes == text.len()).then(|| Number::at_start(text))
    }
}

/// Digits from which on a double does not hold every whole number.
const EXACT_DIGITS: usize = 16;

/// The whole number that `9007199254740993.0` is, which no double is.
fn beyond_doubles(number: &str) -> Option<i128> {
    let (whole, fraction) = number.split_once('.')?;
    let is_whole = fraction.bytes().all(|digit| digit == b'0');
    (is_whole && whole.len() >= EXACT_DIGITS).then(|| whole.parse().ok())?
}

fn compare_mixed(whole: i128, real: f64) -> Option<Ordering> {
    if real.is_nan() {
        return None;
    }
    // The cast saturates, and no double lies between the largest i128 and 2^127, to which it saturates from.
    let truncated = real.trunc();
    if truncated >= 2f64.powi(127) {
        return Some(Ordering::Less);
    }
    if truncated < -(2f64.powi(127)) {
        return Some(Ordering::Greater);
    }
    Some(
        whole
            .cmp(&(truncated as i128))
            .then(0.0.partial_cmp(&(real - truncated))?),
    )
}

/// The number of leading bytes that are a number (0: none), and whether it has neither point nor exponent.
fn number_bytes(text: &[u8]) -> (usize, bool) {
    let digits = |from: usize| {
        let rest = text.get(from..).unwrap_or_default();
        rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
    };
    let sign = usize::from(matches!(text.first(), Some(b'+' | b'-')));
    let whole_digits = digits(sign);
    let mut end = sign + whole_digits;
    let mut whole = true;
    if text.get(end) == Some(&b'.') {
        let fraction_digits = digits(end + 1);
        if whole_digits + fraction_digits > 0 {
            end += 1 + fraction_digits;
            whole = false;
        }
    }
    if end == sign {
        return (0, true);
    }
    if matches!(text.get(end), Some(b'e' | b'E')) {
        let exponent_sign = usize::from(matches!(text.get(end + 1), Some(b'+' | b'-')));
        let exponent_digits = digits(end + 1 + exponent_sign);
        if exponent_digits > 0 {
            end += 1 + exponent_sign + exponent_digits;
            whole = false;
        }
    }
    (end, whole)
}
