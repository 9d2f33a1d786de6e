//! Which segments of a shard are worth merging.

/// Segments that a shard may have: each costs a query its look-ups, each merge a copy of what it joins.
const SEGMENTS_MAX: usize = 8;

/// A segment is written again when one row in so many of it is deleted.
const GONE_PART: u64 = 4;

/// Most rows of one segment: docs fit an `i32`.
const ROWS_MAX: u64 = i32::MAX as u64 - 1;

/// A segment, as far as the choice looks at it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) rows: u64,
    /// Deleted rows that a merge would leave behind.
    pub(super) gone: u64,
}

/// The segments to be merged next, by their place; none where the shard is well as it is. `wholly`: until one segment without
/// deleted rows is left.
///
/// Above [`SEGMENTS_MAX`] the smallest ones are joined, as long as the next is no larger than all before it together: a row is
/// then written again only when its segment has doubled at least.
pub(super) fn choose(segments: &[Candidate], wholly: bool) -> Vec<usize> {
    let mut order: Vec<usize> = (0..segments.len()).collect();
    order.sort_by_key(|at| segments[*at].live());
    if wholly {
        let total = segments.iter().map(Candidate::live).sum::<u64>();
        let is_one = segments.len() == 1 && segments[0].gone == 0;
        let fits = total <= ROWS_MAX;
        return if fits && !is_one { order } else { Vec::new() };
    }
    let worn = |segment: &Candidate| segment.gone * GONE_PART > segment.rows;
    if let Some(worn) = segments.iter().position(worn) {
        return vec![worn];
    }
    if segments.len() <= SEGMENTS_MAX {
        return Vec::new();
    }
    let mut total = 0;
    let mut chosen = 0;
    for at in &order {
        let rows = segments[*at].live();
        if (chosen >= 2 && rows > total) || total + rows > ROWS_MAX {
            break;
        }
        total += rows;
        chosen += 1;
    }
    order.truncate(if chosen < 2 { 0 } else { chosen });
    order
}

impl Candidate {
    fn live(&self) -> u64 {
        self.rows - self.gone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seals segments of one size and merges as the policy says. Gives the most segments there ever were, and the rows written
    /// by merges for each row sealed.
    fn seal(count: u64, rows: impl Fn(u64) -> u64) -> (usize, f64) {
        let (mut segments, mut most, mut written, mut sealed) = (Vec::new(), 0, 0, 0);
        for at in 0..count {
            sealed += rows(at);
            segments.push(Candidate {
                rows: rows(at),
                gone: 0,
            });
            loop {
                let chosen = choose(&segments, false);
                if chosen.is_empty() {
                    break;
                }
                let joined: u64 = chosen.iter().map(|at| segments[*at].rows).sum();
                let kept = (0..segments.len()).filter(|at| !chosen.contains(at));
                segments = kept.map(|at| segments[at]).collect();
                segments.push(Candidate {
                    rows: joined,
                    gone: 0,
                });
                written += joined;
            }
            most = most.max(segments.len());
        }
        (most, written as f64 / sealed as f64)
    }

    #[test]
    fn segments_stay_few_and_rows_are_rarely_written_again() {
        for (count, times) in [(8, 0.0), (30, 2.0), (300, 5.0), (3_000, 9.0)] {
            let (most, written) = seal(count, |_| 65_536);
            assert!(most <= SEGMENTS_MAX, "{most} segments");
            assert!(written <= times, "{count} seals: {written} times");
        }
        let (most, written) = seal(2_000, |at| 1 + at * 7_919 % 70_000);
        assert!(most <= SEGMENTS_MAX && written < 12.0, "{most}, {written}");
    }

    #[test]
    fn a_segment_of_which_much_is_deleted_is_written_again() {
        let segment = |rows, gone| Candidate { rows, gone };
        assert_eq!(choose(&[segment(100, 0), segment(100, 26)], false), [1]);
        assert!(choose(&[segment(100, 0), segment(100, 25)], false).is_empty());
        assert_eq!(choose(&[segment(1, 1)], false), [0]);
    }

    #[test]
    fn optimizing_ends_with_one_segment_and_no_deleted_row() {
        let segment = |rows, gone| Candidate { rows, gone };
        assert_eq!(choose(&[segment(9, 0), segment(3, 0)], true), [1, 0]);
        assert_eq!(choose(&[segment(9, 1)], true), [0]);
        assert!(choose(&[segment(9, 0)], true).is_empty());
        assert!(choose(&[], true).is_empty());
    }
}
