//! MySQL's DECIMAL: exact decimal digits, kept as text.
//!
//! Example: `'12.3456e1'` in a DECIMAL(5,2) is `123.46`: five digits, two of them behind the point, rounded half away
//! from zero.

use super::column_type::DIGITS_MAX;
use super::value_error::ValueError;
use crate::value::Value;

/// Exponents beyond this are cut to it: no DECIMAL comes near it.
const EXPONENT_MAX: i64 = 1 << 40;

/// The value with exactly `scale` digits behind the point, rounded half away from zero: `12.50`. Errors: NULL, no
/// number, or more digits than `digits`.
pub(super) fn decimal(value: &Value, digits: u8, scale: u8) -> Result<Value, ValueError> {
    let text = match value {
        Value::Null => return Err(ValueError::Null),
        Value::Set(_) | Value::Json(_) => return Err(ValueError::Incorrect),
        Value::Float(number) if !number.is_finite() => return Err(ValueError::OutOfRange),
        Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::Str(text) => text.clone(),
        Value::Int(number) => number.to_string(),
        Value::Float(number) => number.to_string(), // the shortest text that reads back the same
    };
    let (is_negative, kept) = scaled(&text, scale).ok_or(ValueError::Incorrect)??;
    let kept = kept.trim_start_matches('0');
    if kept.len() > usize::from(digits) {
        return Err(ValueError::OutOfRange);
    }
    let sign = if is_negative && !kept.is_empty() {
        "-"
    } else {
        ""
    };
    let width = usize::from(scale) + 1; // a digit before the point
    let kept = format!("{kept:0>width$}");
    let (whole, fraction) = kept.split_at(kept.len() - usize::from(scale));
    let point = if fraction.is_empty() { "" } else { "." };
    Ok(Value::Str(format!("{sign}{whole}{point}{fraction}")))
}

/// The number of a stored decimal: exact if it is whole and fits 128 bits, else the nearest double.
pub(super) fn number(text: &str) -> Value {
    let text = super::calendar::without_fraction_zeros(text);
    match text.parse() {
        Ok(whole) => Value::Int(whole),
        Err(_) => text.parse().map_or(Value::Null, Value::Float),
    }
}

/// Whether the number is negative, and the digits of the number times 10^scale, rounded. `None`: the text is no
/// number. The error: it is far too large.
fn scaled(text: &str, scale: u8) -> Option<Result<(bool, String), ValueError>> {
    let text = text.trim_ascii();
    let (is_negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent_of(exponent)?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = [whole, fraction].concat();
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let significant = digits.trim_start_matches('0');
    if significant.is_empty() {
        return Some(Ok((false, String::new())));
    }
    // `kept` of the significant digits stay.
    let dropped = (fraction.len() as i64) - exponent - i64::from(scale);
    let kept = significant.len() as i64 - dropped;
    if kept > i64::from(DIGITS_MAX) {
        return Some(Err(ValueError::OutOfRange));
    }
    if kept < 0 {
        return Some(Ok((false, String::new())));
    }
    let kept = kept as usize;
    let zeros = kept.saturating_sub(significant.len());
    let first = significant.get(..kept).unwrap_or(significant);
    let mut number = first.to_owned() + &"0".repeat(zeros);
    if significant
        .as_bytes()
        .get(kept)
        .is_some_and(|digit| *digit >= b'5')
    {
        number = one_more(&number);
    }
    Some(Ok((is_negative, number)))
}

/// An exponent, cut to [`EXPONENT_MAX`]; `None` if it is no number.
fn exponent_of(text: &str) -> Option<i64> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| sign * digits.parse().unwrap_or(EXPONENT_MAX).min(EXPONENT_MAX))
}

fn one_more(digits: &str) -> String {
    let nines = digits.len() - digits.trim_end_matches('9').len();
    let (front, _) = digits.split_at(digits.len() - nines);
    let mut number = match front.as_bytes().split_last() {
        Some((last, before)) => {
            let before = String::from_utf8_lossy(before).into_owned();
            before + &char::from(last + 1).to_string()
        }
        None => "1".to_owned(),
    };
    number.push_str(&"0".repeat(nines));
    number
}
