//! Numbers of rows as a text for people.

/// Rising numbers as ranges: `3, 5-9`. At most `ranges_max` ranges are written out, then the number of the others.
pub(crate) fn ranges_up_to(numbers: impl IntoIterator<Item = u64>, ranges_max: usize) -> String {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some((_, end)) if end.checked_add(1) == Some(number) => *end = number,
            _ => ranges.push((number, number)),
        }
    }
    let more = ranges.len().saturating_sub(ranges_max);
    let shown = ranges
        .iter()
        .take(ranges_max)
        .map(|(start, end)| match start == end {
            true => start.to_string(),
            false => format!("{start}-{end}"),
        });
    let mut text = shown.collect::<Vec<_>>().join(", ");
    if more > 0 {
        text += &format!(" and {more} further ranges");
    }
    text
}
