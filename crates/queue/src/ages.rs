//! When rows came, to about a second: `Oldest_s` of SHOW QUEUES.
//!
//! A mark (first row, time) says: rows from `first` on came at `time` or later. Rows 1 to 40 come at 12:00:00, rows 41 to 60
//! at 12:00:00.3, rows 61 to 90 at 12:00:02. The marks are (0, 12:00:00) and (61, 12:00:02): the second arrival is less than
//! a second after the first mark, so it shares that mark. Row 50 is then said to have come at 12:00:00.
//!
//! Invariants:
//! - Marks rise by row and lie at least a second apart.
//! - There are at most [`MARKS_MAX`]. At that number every second mark goes, so older rows get coarser times.

use std::collections::VecDeque;

use crate::ids::RowNumber;

/// The least time between two marks. Microseconds.
const MARK_EVERY_US: i64 = 1_000_000;
/// The most marks. Marks.
const MARKS_MAX: usize = 4096;

/// Arrival times of a queue's rows since the server's start.
#[derive(Default)]
pub(crate) struct Ages {
    marks: VecDeque<(RowNumber, i64)>,
    /// One above the highest row that `note` was told of.
    noted: RowNumber,
}

impl Ages {
    /// Tells that rows below `next` have come by `now_us`.
    pub(crate) fn note(&mut self, next: RowNumber, now_us: i64) {
        if next <= self.noted {
            return;
        }
        let first = std::mem::replace(&mut self.noted, next);
        if let Some((_, at_us)) = self.marks.back()
            && now_us.saturating_sub(*at_us) < MARK_EVERY_US
        {
            return;
        }
        self.marks.push_back((first, now_us));
        if self.marks.len() > MARKS_MAX {
            let mut place = 0;
            self.marks.retain(|_| {
                place += 1;
                place % 2 == 1
            });
        }
    }

    /// The mark of a row, in microseconds since 1970-01-01 UTC. The row came then or up to about a second later; much later
    /// where marks were dropped. `None` where no mark covers the row.
    pub(crate) fn of(&self, row: RowNumber) -> Option<i64> {
        let after = self.marks.partition_point(|(first, _)| *first <= row);
        let mark = after.checked_sub(1).and_then(|place| self.marks.get(place));
        mark.map(|(_, at_us)| *at_us)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_as_old_as_the_mark_before_it() {
        let mut ages = Ages::default();
        for second in 0..10_000 {
            ages.note(RowNumber(10 * (second + 1)), second as i64 * MARK_EVERY_US);
        }
        assert!(ages.marks.len() <= MARKS_MAX);
        assert_eq!(ages.of(RowNumber(0)), Some(0));
        let of_last = ages.of(RowNumber(99_999)).unwrap();
        assert!(of_last >= 9_990 * MARK_EVERY_US, "{of_last}");
    }
}
