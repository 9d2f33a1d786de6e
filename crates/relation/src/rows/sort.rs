//! Sorting that can be stopped: rows are parted around pivots until a piece is short, and each piece is sorted at once.
//!
//! Example: of 1,000,000 rows with numbers as keys, seven rounds of pivots leave pieces of some 8,000 rows. Of 1,000 rows with texts
//! of 1 MiB, each row is compared with its pivot alone, and counted before that.
//!
//! Cost: one piece is sorted as by the standard library, without any other work than a pass over its rows. Expected time is
//! O(n log n) comparisons for rows of which no two are equal; pivots are chosen by a fixed sequence of random numbers.

use std::cmp::Ordering;

use language::meter::Work;

/// Most units of a piece that is sorted at once.
const PIECE_UNITS: u64 = 1_000_000;

/// Units of a comparison, beside the bytes of texts.
pub(super) const COMPARED_UNITS: u64 = 10;

/// How rows are compared, and what that costs.
pub(super) struct Sort<'w, T, C> {
    compare: C,
    /// Most units of a comparison with this row.
    units: fn(&T) -> u64,
    work: &'w Work<'w>,
    piece_units: u64,
    /// The state of the random numbers.
    random: u64,
}

impl<'w, T, C: Fn(&T, &T) -> Ordering> Sort<'w, T, C> {
    pub(super) fn new(compare: C, units: fn(&T) -> u64, work: &'w Work<'w>) -> Sort<'w, T, C> {
        Sort {
            compare,
            units,
            work,
            piece_units: PIECE_UNITS,
            random: 0x9e37_79b9_7f4a_7c15,
        }
    }

    /// Sorts rows. `None`: the meter has stopped; no row is lost, and they are in no order.
    pub(super) fn sort(&mut self, mut rows: &mut [T]) -> Option<()> {
        loop {
            if let Some(units) = self.piece(rows) {
                self.work.begin(units)?;
                rows.sort_unstable_by(&self.compare);
                return Some(());
            }
            let pivot = self.part(rows)?;
            let (before, from) = rows.split_at_mut(pivot);
            let behind = from.get_mut(1..).unwrap_or_default();
            // The longer side goes on in the loop, so that the stack is at most log2(n) deep.
            let (short, long) = match before.len() < behind.len() {
                true => (before, behind),
                false => (behind, before),
            };
            self.sort(short)?;
            rows = long;
        }
    }

    /// Moves the first `count` rows of the order to the front, the last of them to place `count - 1`. `count` is from 1 to the number
    /// of rows. `None`: the meter has stopped; no row is lost, and they are in no order.
    pub(super) fn first(&mut self, mut rows: &mut [T], count: usize) -> Option<()> {
        let mut last = count.checked_sub(1)?;
        loop {
            if let Some(units) = self.piece(rows) {
                self.work.begin(units)?;
                rows.select_nth_unstable_by(last, &self.compare);
                return Some(());
            }
            let pivot = self.part(rows)?;
            match pivot.cmp(&last) {
                Ordering::Equal => return Some(()),
                Ordering::Greater => rows = rows.get_mut(..pivot)?,
                Ordering::Less => {
                    rows = rows.get_mut(pivot + 1..)?;
                    last -= pivot + 1;
                }
            }
        }
    }

    /// The units of sorting all rows at once; `None`: they are too many for one piece.
    fn piece(&self, rows: &[T]) -> Option<u64> {
        let rounds = u64::from(rows.len().max(2).ilog2());
        let most = self.piece_units / rounds;
        if rows.len() as u64 > most / COMPARED_UNITS {
            return (rows.len() < 2).then_some(0);
        }
        let all = rows.iter().map(self.units).fold(0, u64::saturating_add);
        (all <= most || rows.len() < 2).then_some(all.saturating_mul(rounds))
    }

    /// Parts two rows or more around one of them: those before it come to the front. Gives its place.
    fn part(&mut self, rows: &mut [T]) -> Option<usize> {
        let [a, b, c] = [(); 3].map(|()| self.random_below(rows.len()));
        let last = rows.len() - 1;
        let pivot = self.middle(rows, [a, b, c])?;
        rows.swap(pivot, last);
        let pivot_units = (self.units)(&rows[last]);
        let mut before = 0;
        for at in 0..last {
            self.work.begin((self.units)(&rows[at]).min(pivot_units))?;
            if (self.compare)(&rows[at], &rows[last]).is_lt() {
                rows.swap(at, before);
                before += 1;
            }
        }
        rows.swap(before, last);
        Some(before)
    }

    /// Which of three rows is neither the first nor the last.
    fn middle(&self, rows: &[T], [a, b, c]: [usize; 3]) -> Option<usize> {
        let is_before = |a: usize, b: usize| {
            let units = (self.units)(&rows[a]).min((self.units)(&rows[b]));
            self.work.begin(units)?;
            Some((self.compare)(&rows[a], &rows[b]).is_lt())
        };
        let (low, high) = match is_before(a, b)? {
            true => (a, b),
            false => (b, a),
        };
        Some(match (is_before(low, c)?, is_before(c, high)?) {
            (true, true) => c,
            (true, false) => high,
            (false, _) => low,
        })
    }

    /// A number below `end`, of a xorshift sequence.
    fn random_below(&mut self, end: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random % end as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use language::meter::{Budget, Meter, Unmetered};
    use proptest::prelude::*;

    use super::*;

    fn sort<'w>(
        work: &'w Work<'w>,
        piece_units: u64,
    ) -> Sort<'w, u32, impl Fn(&u32, &u32) -> Ordering> {
        Sort {
            piece_units,
            ..Sort::new(u32::cmp, |_| COMPARED_UNITS, work)
        }
    }

    proptest! {
        #[test]
        fn pieces_of_any_length_give_the_order_of_a_plain_sort(
            rows in proptest::collection::vec(0_u32..300, 1..400),
            piece_units in 0_u64..4_000,
            count in 1_usize..400,
        ) {
            let mut known = rows.clone();
            known.sort_unstable();
            let work = Work::new(&Unmetered);
            let mut sorted = rows.clone();
            prop_assert_eq!(sort(&work, piece_units).sort(&mut sorted), Some(()));
            prop_assert_eq!(&sorted, &known);
            let (mut parted, count) = (rows.clone(), count.min(rows.len()));
            prop_assert_eq!(sort(&work, piece_units).first(&mut parted, count), Some(()));
            prop_assert_eq!(parted[count - 1], known[count - 1]);
            parted[..count].sort_unstable();
            prop_assert_eq!(&parted[..count], &known[..count]);
        }
    }

    /// Numbers in no order.
    fn shuffled(count: u32) -> Vec<u32> {
        (0..count)
            .map(|at| at.wrapping_mul(2_654_435_761) % count)
            .collect()
    }

    #[test]
    fn a_long_sort_stops_where_its_budget_ends_and_loses_no_row() {
        let mut all = shuffled(1_000_000);
        let mut known = all.clone();
        known.sort_unstable();
        let whole = Budget::new(u64::MAX);
        assert!(
            sort(&Work::new(&whole), PIECE_UNITS)
                .sort(&mut all.clone())
                .is_some()
        );
        let spent = u64::MAX - whole.left();
        for part in 2..5 {
            let budget = Budget::new(spent / part);
            let ended = sort(&Work::new(&budget), PIECE_UNITS).sort(&mut all);
            assert!(ended.is_none() && budget.is_stopped());
        }
        let budget = Budget::new(1_000_000);
        assert!(
            sort(&Work::new(&budget), PIECE_UNITS)
                .first(&mut all, 500_000)
                .is_none()
        );
        all.sort_unstable();
        assert_eq!(all, known);
    }

    #[test]
    fn rows_that_are_dear_to_compare_are_counted_one_by_one() {
        let mut rows = shuffled(10);
        let budget = Budget::new(3 * PIECE_UNITS);
        let work = Work::new(&budget);
        let ended = Sort::new(u32::cmp, |_| PIECE_UNITS, &work).sort(&mut rows);
        assert!(ended.is_none(), "three comparisons were allowed");
    }
}
