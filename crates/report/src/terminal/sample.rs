//! Curves as one height for each column.

use crate::ruler::Ruler;

/// The height (0 … 1) of a line in each of `columns` columns; `None` beside its ends. A column holds the height of the line at its
/// middle, or that of the highest point within it, so no peak is lost. A line that never falls never falls here.
pub(super) fn sampled(
    points: &[(f64, f64)],
    across: &Ruler,
    upward: &Ruler,
    columns: usize,
) -> Vec<Option<f64>> {
    let is_finite = |point: &&(f64, f64)| point.0.is_finite() && point.1.is_finite();
    let placed = |point: &(f64, f64)| (across.part(point.0) * columns as f64, upward.part(point.1));
    let placed: Vec<(f64, f64)> = points.iter().filter(is_finite).map(placed).collect();
    let height = |column: usize| {
        let (begin, end) = (column as f64, column as f64 + 1.0);
        let is_last = column + 1 == columns;
        let first = placed.partition_point(|point| point.0 < begin);
        let within = placed[first..]
            .iter()
            .take_while(|point| point.0 < end || is_last);
        let highest = within.map(|point| point.1).max_by(f64::total_cmp);
        let middle = begin + 0.5;
        let after = placed.partition_point(|point| point.0 <= middle);
        let between = match (
            after.checked_sub(1).map(|before| placed[before]),
            placed.get(after),
        ) {
            (Some((x1, y1)), Some((x2, y2))) => Some(y1 + (y2 - y1) * (middle - x1) / (x2 - x1)),
            (Some(_), None) | (None, _) => None,
        };
        match (highest, between) {
            (Some(highest), Some(between)) => Some(highest.max(between)),
            (one, other) => one.or(other),
        }
    };
    (0..columns).map(height).collect()
}
