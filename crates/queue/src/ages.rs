//! When rows came, to a second or so: for the age of the oldest.

use std::collections::VecDeque;

/// A mark at most so often, in microseconds.
const MARK_EVERY_US: i64 = 1_000_000;
/// Marks kept; then every second one goes.
const MARKS_MAX: usize = 4096;

/// Marks: rows from that number on came at that time or later.
#[derive(Default)]
pub(crate) struct Ages {
    marks: VecDeque<(u64, i64)>,
    /// Rows below were noted.
    noted: u64,
}

impl Ages {
    /// Rows below `next` are there by now.
    pub(crate) fn note(&mut self, next: u64, now_us: i64) {
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

    /// When a row came: no earlier than this, and a second or so later at most; `None` where nothing is known.
    pub(crate) fn of(&self, row: u64) -> Option<i64> {
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
            ages.note(10 * (second + 1), second as i64 * MARK_EVERY_US);
        }
        assert!(ages.marks.len() <= MARKS_MAX);
        assert_eq!(ages.of(0), Some(0));
        let of_last = ages.of(99_999).unwrap();
        assert!(of_last >= 9_990 * MARK_EVERY_US, "{of_last}");
    }
}
