//! Units of time as people write them: `ms`, `m`, `month`. Every door reads them here, so that one letter means the same at
//! each: `m` is a minute, and `M` is a month.

use std::borrow::Cow;

/// Units of a length of time, with their milliseconds. Months and years have no fixed length, so they are none.
const LENGTHS: [(&str, u64); 6] = [
    ("ms", 1),
    ("s", 1_000),
    ("m", 60_000),
    ("min", 60_000),
    ("h", 3_600_000),
    ("d", 86_400_000),
];

/// What a message says of the units of [`milliseconds`].
pub const LENGTH_UNITS: &str = "ms, s, m (minutes), h and d";

/// The name of a unit in lower case, but `M`, which is a month, as it is: of no other unit the case of letters tells anything.
#[must_use]
pub fn folded(name: &str) -> Cow<'_, str> {
    match name == "M" || name.bytes().all(|byte| byte.is_ascii_lowercase()) {
        true => Cow::Borrowed(name),
        false => Cow::Owned(name.to_ascii_lowercase()),
    }
}

/// Milliseconds of a whole number with its unit: `250ms`, `30s`, `5m` or `5min`, `8h`, `1d`, `0s`. `None`: it is none, has another
/// unit or no unit, or is above 2^64.
#[must_use]
pub fn milliseconds(text: &str) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let unit = folded(unit.trim());
    let (_, unit_ms) = LENGTHS.iter().find(|(name, _)| *name == unit)?;
    number.parse::<u64>().ok()?.checked_mul(*unit_ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_capital_m_differs_from_its_small_letter() {
        for (text, ms) in [
            ("250ms", 250),
            ("250MS", 250),
            ("0s", 0),
            ("30S", 30_000),
            ("1m", 60_000),
            ("1min", 60_000),
            ("1MIN", 60_000),
            ("2 h", 7_200_000),
            ("2H", 7_200_000),
            ("1d", 86_400_000),
            ("1D", 86_400_000),
        ] {
            assert_eq!(milliseconds(text), Some(ms), "{text}");
        }
        for text in [
            "1M",
            "1y",
            "7",
            "d",
            "",
            "-1s",
            "1.5s",
            "18446744073709551615d",
        ] {
            assert_eq!(milliseconds(text), None, "{text}");
        }
    }
}
