//! Sizes and times as people write them, with their units. Errors give examples of accepted texts.

use std::time::Duration;

use relation::time_unit;

/// A size above zero, in bytes: `4096`, `64KiB`, `512MB`, `2G`. `K`, `KB` and `KiB` all mean 1,024, in any case of letters;
/// likewise M, G and T.
pub fn size(text: &str) -> Result<u64, String> {
    let (number, unit) = split(text);
    let shift = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        _ => return Err(format!("{text:?} is not a size, such as 512MiB or 2GiB")),
    };
    number
        .parse::<u64>()
        .ok()
        .and_then(|count| count.checked_mul(1 << shift))
        .filter(|bytes| *bytes > 0)
        .ok_or_else(|| format!("{text:?} is not a size, such as 512MiB or 2GiB"))
}

/// A time above zero: `250ms`, `30s`, `5m` or `5min`, `8h`, `1d`. The unit is required.
pub fn duration(text: &str) -> Result<Duration, String> {
    duration_or_zero(text).and_then(|time| match time.is_zero() {
        true => Err(format!("{text:?} is not a time above 0")),
        false => Ok(time),
    })
}

/// As [`duration`], or 0 with a unit: `0s`.
pub fn duration_or_zero(text: &str) -> Result<Duration, String> {
    let units = time_unit::LENGTH_UNITS;
    time_unit::milliseconds(text)
        .map(Duration::from_millis)
        .ok_or_else(|| {
            format!(
                "{text:?} is not a time with its unit, such as 250ms, 30s or 8h; units are {units}"
            )
        })
}

fn split(text: &str) -> (&str, &str) {
    let end = text
        .find(|letter: char| !letter.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    (number, unit.trim())
}

#[cfg(test)]
mod tests;
