//! Guesses the name that a mistyped one was meant to be.

/// The known name nearest to a mistyped one. `None` if more letters differ than a third of
/// its letters, or than two where that is more.
pub fn nearest<'a>(written: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let near_enough = written.chars().count().div_ceil(3).max(2);
    known
        .map(|name| (edits(written, name), name))
        .filter(|(distance, _)| *distance <= near_enough)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Insertions, removals and replacements of letters, and exchanges of neighbours, between `a` and `b`. Cost: O(|a|·|b|).
fn edits(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut previous: Vec<usize> = (0..=b.len()).collect();
    for (row, letter) in a.iter().enumerate() {
        let mut current = vec![row + 1];
        for (column, other) in b.iter().enumerate() {
            let replaced = previous[column] + usize::from(letter != other);
            let mut least = replaced
                .min(previous[column + 1] + 1)
                .min(current[column] + 1);
            if row > 0 && column > 0 && a[row - 1] == *other && b[column - 1] == *letter {
                least = least.min(before[column - 1] + 1);
            }
            current.push(least);
        }
        before = std::mem::replace(&mut previous, current);
    }
    previous[b.len()]
}
