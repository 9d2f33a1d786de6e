//! Sizes of indexes, and the classes by which the study reports them.

use std::collections::BTreeMap;

/// Classes of indexes by bytes: name, and the highest size. The study has 1 to 3, 3 to 30 and above 30 MB.
pub const SIZE_CLASSES: [(&str, u64); 4] = [
    ("below 1 MB", 999_999),
    ("1-3 MB", 3_000_000),
    ("3-30 MB", 30_000_000),
    ("above 30 MB", u64::MAX),
];

/// Bytes by index list.
pub type Sizes = BTreeMap<String, u64>;

/// The number of a class of [`SIZE_CLASSES`].
pub fn size_class(bytes: u64) -> usize {
    SIZE_CLASSES
        .iter()
        .position(|(_, most)| bytes <= *most)
        .unwrap_or(SIZE_CLASSES.len() - 1)
}

/// Reads lines of a name and a number of bytes, separated by blanks, a comma or a tab; the unit `kB`, `MB` or `GB` may follow. A
/// line that begins with `#` and an empty line are passed over.
///
/// # Errors
/// The number of the first line that has another form.
pub fn parse_sizes(text: &str) -> Result<Sizes, usize> {
    let mut sizes = Sizes::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (name, bytes) = parse_line(line).ok_or(number + 1)?;
        sizes.insert(name.to_owned(), bytes);
    }
    Ok(sizes)
}

fn parse_line(line: &str) -> Option<(&str, u64)> {
    let mut parts = line.split([',', '\t', ' ']).filter(|part| !part.is_empty());
    let name = parts.next()?;
    let size = parts.next()?;
    let digits = size.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = parts.next().unwrap_or(&size[digits.len()..]);
    parts.next().is_none().then_some(())?;
    let factor = match unit {
        "" | "B" => 1.0,
        "kB" | "KB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        _ => return None,
    };
    let number: f64 = digits.parse().ok()?;
    let bytes = number * factor;
    (0.0..1e18).contains(&bytes).then_some((name, bytes as u64))
}

#[cfg(test)]
mod tests;
