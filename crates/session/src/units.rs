//! Sizes and times as people write them, with their units. Errors say what would have been accepted.

use std::time::Duration;

/// Bytes: `4096`, `64KiB`, `512MB`, `2G`. Letters are binary units, written as `K`, `KB` or `KiB`.
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

/// A time longer than zero: `250ms`, `30s`, `5m`, `8h`, `1d`. A unit must be written.
pub fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = split(text);
    let unit_ms = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => {
            return Err(format!(
                "{text:?} is not a time with its unit, such as 250ms, 30s or 8h"
            ));
        }
    };
    number
        .parse::<u64>()
        .ok()
        .and_then(|count| count.checked_mul(unit_ms))
        .filter(|ms| *ms > 0)
        .map(Duration::from_millis)
        .ok_or_else(|| format!("{text:?} is not a time with its unit, such as 250ms, 30s or 8h"))
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
