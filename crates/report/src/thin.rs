//! Fewer points for a line that looks the same (Douglas and Peucker, 1973).

/// A place in a picture, and the values behind it.
pub(crate) type Placed = ((f64, f64), (f64, f64));

/// Some of the points, in order, the first and the last among them: at most `count_max`, at least 2, so that the line through them
/// passes each of the others at a distance of at most `distance`, or of the least that `count_max` allows. A line that never falls
/// never falls afterwards. Cost: n log n as a rule, n² at worst.
pub(crate) fn thinned(points: &[Placed], distance: f64, count_max: usize) -> Vec<Placed> {
    let mut distance = distance;
    loop {
        let kept = within(points, distance);
        if kept.len() <= count_max.max(2) {
            return kept;
        }
        distance *= 1.5;
    }
}

fn within(points: &[Placed], distance: f64) -> Vec<Placed> {
    let mut is_kept = vec![false; points.len()];
    let mut open = vec![(0, points.len().saturating_sub(1))];
    while let Some((first, last)) = open.pop() {
        for end in [first, last] {
            if let Some(kept) = is_kept.get_mut(end) {
                *kept = true;
            }
        }
        let between = (first + 1)..last;
        let distances =
            between.map(|at| (at, from_line(points[at].0, points[first].0, points[last].0)));
        if let Some((at, most)) = distances.max_by(|a, b| a.1.total_cmp(&b.1))
            && most > distance
        {
            open.extend([(first, at), (at, last)]);
        }
    }
    let kept = points.iter().zip(is_kept).filter(|(_, is_kept)| *is_kept);
    kept.map(|(point, _)| *point).collect()
}

/// Distance of a point from the line through two others.
fn from_line((x, y): (f64, f64), (x1, y1): (f64, f64), (x2, y2): (f64, f64)) -> f64 {
    let length = (x2 - x1).hypot(y2 - y1);
    if length < 1e-9 {
        return (x - x1).hypot(y - y1);
    }
    ((x2 - x1) * (y1 - y) - (x1 - x) * (y2 - y1)).abs() / length
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Placed, from_line, thinned};

    fn placed(steps: &[(f64, f64)]) -> Vec<Placed> {
        let sums = steps.iter().scan((0.0, 0.0), |at, step| {
            *at = (at.0 + step.0, at.1 + step.1);
            Some((*at, *at))
        });
        sums.collect()
    }

    proptest! {
        #[test]
        fn a_thinned_line_keeps_its_ends_its_order_and_its_shape(
            steps in prop::collection::vec((0.01..3.0_f64, 0.0..3.0_f64), 0..200),
            count_max in 0..100_usize,
        ) {
            let points = placed(&steps);
            let kept = thinned(&points, 0.5, usize::MAX);
            prop_assert_eq!(kept.first(), points.first());
            prop_assert_eq!(kept.last(), points.last());
            for pair in kept.windows(2) {
                prop_assert!(pair[0].1.0 < pair[1].1.0 && pair[0].1.1 <= pair[1].1.1);
                let between = points.iter().filter(|point| point.1.0 > pair[0].1.0 && point.1.0 < pair[1].1.0);
                for point in between {
                    prop_assert!(from_line(point.0, pair[0].0, pair[1].0) <= 0.5 + 1e-9);
                }
            }
            prop_assert!(thinned(&points, 0.5, count_max).len() <= count_max.max(2));
        }
    }
}
