//! Integers of neighbouring rows, each kept as its distance from a base.
//!
//! Example: the numbers 2020, 2024, 2021 are the base 2020 and the distances 0, 4, 1, one byte each. A condition such as
//! `BETWEEN 2021 AND 2030` is moved to distances once, 1 to 10, and then compares bytes: 32 rows in one instruction.

use crate::postings::Bitmap;

mod vectors;

/// Integers of neighbouring rows, read where they lie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Integers<'s> {
    base: i64,
    distances: Distances<'s>,
}

/// Little-endian distances from a base. Sums with the base wrap around.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Distances<'s> {
    /// This number of rows have the base itself.
    Zero(usize),
    One(&'s [[u8; 1]]),
    Two(&'s [[u8; 2]]),
    Four(&'s [[u8; 4]]),
    Eight(&'s [[u8; 8]]),
}

/// The integers from `low` to `low + span`; if `negated`, all others.
#[derive(Clone, Copy)]
pub(crate) struct IntegerRange {
    low: i64,
    span: u64,
    negated: bool,
}

impl IntegerRange {
    /// `None` for an empty range.
    pub(crate) fn new(low: i64, high: i64, negated: bool) -> Option<IntegerRange> {
        (low <= high).then(|| IntegerRange {
            low,
            span: high.abs_diff(low),
            negated,
        })
    }

    /// Whether a number is in the range, or, if negated, outside.
    #[inline(always)]
    pub(crate) fn holds(self, number: i64) -> bool {
        (number.wrapping_sub(self.low).cast_unsigned() <= self.span) != self.negated
    }

    /// The range of distances from `base`, of at most `most`, whose numbers lie between the ends: the lowest one and the span.
    /// `None`: there are none.
    fn of_distances(self, base: i64, most: u64) -> Option<(u64, u64)> {
        let base = i128::from(base);
        let low = (i128::from(self.low) - base).max(0);
        let high = (i128::from(self.low) + i128::from(self.span) - base).min(most.into());
        let span = u64::try_from(high - low).ok()?;
        Some((low as u64, span)) // at most `most`
    }
}

/// A distance in its bytes.
trait Distance: Copy {
    const MOST: u64;
    fn widen(self) -> u64;
    /// Whether it is between `low` and `low + span`, both at most [`Distance::MOST`].
    fn is_in(self, low: u64, span: u64) -> bool;
}

macro_rules! distance {
    ($number:ty, $bytes:literal) => {
        impl Distance for [u8; $bytes] {
            const MOST: u64 = <$number>::MAX as u64;
            #[inline(always)]
            fn widen(self) -> u64 {
                u64::from(<$number>::from_le_bytes(self))
            }
            #[inline(always)]
            fn is_in(self, low: u64, span: u64) -> bool {
                <$number>::from_le_bytes(self).wrapping_sub(low as $number) <= span as $number
            }
        }
    };
}

distance!(u8, 1);
distance!(u16, 2);
distance!(u32, 4);
distance!(u64, 8);

impl<'s> Distances<'s> {
    /// The distances of `rows` rows, in `width` bytes each: 0, 1, 2, 4 or 8.
    pub(crate) fn of(bytes: &'s [u8], width: usize, rows: usize) -> Distances<'s> {
        match width {
            0 => Distances::Zero(rows),
            1 => Distances::One(bytes.as_chunks().0),
            2 => Distances::Two(bytes.as_chunks().0),
            4 => Distances::Four(bytes.as_chunks().0),
            _ => Distances::Eight(bytes.as_chunks().0),
        }
    }
}

impl<'s> Integers<'s> {
    pub(crate) fn new(base: i64, distances: Distances<'s>) -> Integers<'s> {
        Integers { base, distances }
    }

    /// Numbers of 8 bytes each.
    pub(crate) fn whole(numbers: &'s [[u8; 8]]) -> Integers<'s> {
        Integers::new(0, Distances::Eight(numbers))
    }

    /// The number of the `at`-th row. Panics behind the last one.
    #[inline(always)]
    pub(crate) fn get(&self, at: usize) -> i64 {
        let distance = match self.distances {
            Distances::Zero(_) => 0,
            Distances::One(all) => all[at].widen(),
            Distances::Two(all) => all[at].widen(),
            Distances::Four(all) => all[at].widen(),
            Distances::Eight(all) => all[at].widen(),
        };
        self.base.wrapping_add_unsigned(distance)
    }

    /// The numbers of the rows `lows`, counted from the row `start`. Panics behind the last one.
    pub(crate) fn of_rows(&self, start: u16, lows: &[u16]) -> Vec<i64> {
        fn gathered<D: Distance>(base: i64, all: &[D], start: u16, lows: &[u16]) -> Vec<i64> {
            let number =
                |low: &u16| base.wrapping_add_unsigned(all[usize::from(low - start)].widen());
            lows.iter().map(number).collect()
        }
        match self.distances {
            Distances::Zero(_) => vec![self.base; lows.len()],
            Distances::One(all) => gathered(self.base, all, start, lows),
            Distances::Two(all) => gathered(self.base, all, start, lows),
            Distances::Four(all) => gathered(self.base, all, start, lows),
            Distances::Eight(all) => gathered(self.base, all, start, lows),
        }
    }

    /// The highest number; `None` without rows.
    pub(crate) fn highest(&self) -> Option<i64> {
        fn highest<D: Distance>(base: i64, all: &[D]) -> Option<i64> {
            let numbers = all
                .iter()
                .map(|distance| base.wrapping_add_unsigned(distance.widen()));
            numbers.max()
        }
        match self.distances {
            Distances::Zero(rows) => (rows > 0).then_some(self.base),
            Distances::One(all) => highest(self.base, all),
            Distances::Two(all) => highest(self.base, all),
            Distances::Four(all) => highest(self.base, all),
            Distances::Eight(all) => highest(self.base, all),
        }
    }

    /// Whether all of the numbers are in the range, or none is, as far as the base and the width of distances tell. Reads no row.
    pub(crate) fn all_in(&self, range: IntegerRange) -> Option<bool> {
        let most = match self.distances {
            Distances::Zero(_) => 0,
            Distances::One(_) => <[u8; 1]>::MOST,
            Distances::Two(_) => <[u8; 2]>::MOST,
            Distances::Four(_) => <[u8; 4]>::MOST,
            Distances::Eight(_) => return None,
        };
        match range.of_distances(self.base, most) {
            None => Some(range.negated),
            Some((0, span)) if span == most => Some(!range.negated),
            Some(_) => None,
        }
    }

    /// Clears the bits of rows whose number is not in the range, and all bits behind the last row.
    pub(crate) fn compare(&self, range: IntegerRange, bitmap: &mut Bitmap) {
        let rows = self.rows();
        match self.distances {
            Distances::Zero(_) if range.holds(self.base) => {}
            Distances::Zero(_) => bitmap.fill(0),
            Distances::One(all) => compare_narrow(self.base, all, range, bitmap, vectors::one),
            Distances::Two(all) => compare_narrow(self.base, all, range, bitmap, vectors::two),
            Distances::Four(all) => compare_narrow(self.base, all, range, bitmap, vectors::four),
            Distances::Eight(all) => {
                let low = range.low.wrapping_sub(self.base).cast_unsigned();
                vectors::eight(all, (low, range.span, range.negated), bitmap);
            }
        }
        clear_behind(rows, bitmap);
    }

    /// Drops the rows of `lows`, counted from the row 0, whose number is not in the range. Panics behind the last one.
    ///
    /// The range is moved to distances and the width is chosen once: what is left for a row is a load, a comparison and a store.
    pub(crate) fn keep(&self, range: IntegerRange, lows: &mut Vec<u16>) {
        match self.distances {
            Distances::Zero(_) if range.holds(self.base) => {}
            Distances::Zero(_) => lows.clear(),
            Distances::One(all) => keep_narrow(self.base, all, range, lows),
            Distances::Two(all) => keep_narrow(self.base, all, range, lows),
            Distances::Four(all) => keep_narrow(self.base, all, range, lows),
            Distances::Eight(all) => {
                let low = range.low.wrapping_sub(self.base).cast_unsigned();
                keep(all, (low, range.span, range.negated), lows);
            }
        }
    }

    fn rows(&self) -> usize {
        match self.distances {
            Distances::Zero(rows) => rows,
            Distances::One(all) => all.len(),
            Distances::Two(all) => all.len(),
            Distances::Four(all) => all.len(),
            Distances::Eight(all) => all.len(),
        }
    }
}

/// The lowest distance and the span of a range of distances, and whether those outside are wanted.
type Wanted = (u64, u64, bool);

fn compare_narrow<D: Distance>(
    base: i64,
    all: &[D],
    range: IntegerRange,
    bitmap: &mut Bitmap,
    compare: impl Fn(&[D], Wanted, &mut Bitmap),
) {
    match range.of_distances(base, D::MOST) {
        Some((0, span)) if span == D::MOST && !range.negated => {}
        Some((low, span)) => compare(all, (low, span, range.negated), bitmap),
        None if range.negated => {}
        None => bitmap.fill(0),
    }
}

fn keep_narrow<D: Distance>(base: i64, all: &[D], range: IntegerRange, lows: &mut Vec<u16>) {
    match range.of_distances(base, D::MOST) {
        Some((low, span)) => keep(all, (low, span, range.negated), lows),
        None if range.negated => {}
        None => lows.clear(),
    }
}

/// Drops the rows whose distance is not wanted.
fn keep<D: Distance>(all: &[D], (low, span, negated): Wanted, lows: &mut Vec<u16>) {
    let mut kept = 0;
    for at in 0..lows.len() {
        let row = lows[at];
        lows[kept] = row;
        kept += usize::from(all[usize::from(row)].is_in(low, span) != negated);
    }
    lows.truncate(kept);
}

/// Clears the bits of rows whose distance is not wanted. Bits behind the last row may be left.
#[inline(always)]
fn compare<D: Distance>(all: &[D], (low, span, negated): Wanted, bitmap: &mut Bitmap) {
    compare_by(all, negated, bitmap, |stretch| held(stretch, low, span));
}

/// As [`compare`], by a function that gives a bit for each of 64 distances.
#[inline(always)]
fn compare_by<D: Copy>(
    all: &[D],
    negated: bool,
    bitmap: &mut Bitmap,
    held: impl Fn(&[D; 64]) -> u64,
) {
    let outside = if negated { u64::MAX } else { 0 };
    let (stretches, rest) = all.as_chunks::<64>();
    for (word, stretch) in bitmap.iter_mut().zip(stretches) {
        if *word != 0 {
            *word &= outside ^ held(stretch);
        }
    }
    if let (Some(word), Some(any)) = (bitmap.get_mut(stretches.len()), rest.first()) {
        let mut stretch = [*any; 64];
        stretch[..rest.len()].copy_from_slice(rest);
        *word &= outside ^ held(&stretch);
    }
}

/// A bit for each of 64 distances that is in the range.
#[inline(always)]
fn held<D: Distance>(stretch: &[D; 64], low: u64, span: u64) -> u64 {
    // A product with this number moves the lowest bit of each of eight bytes into the highest byte, in their order.
    const GATHERED: u64 = 0x0102_0408_1020_4080;
    let mut bytes = [0; 64];
    for (byte, distance) in bytes.iter_mut().zip(stretch) {
        *byte = u8::from(distance.is_in(low, span));
    }
    let eights = bytes.as_chunks::<8>().0.iter().enumerate();
    eights.fold(0, |bits, (at, eight)| {
        bits | (u64::from_le_bytes(*eight).wrapping_mul(GATHERED) >> 56) << (8 * at)
    })
}

fn clear_behind(rows: usize, bitmap: &mut Bitmap) {
    if let Some(word) = bitmap.get_mut(rows / 64) {
        *word &= (1 << (rows % 64)) - 1;
        bitmap[rows / 64 + 1..].fill(0);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Bases and ranges near each other and near the ends, so that ranges begin and end within the numbers.
    fn number() -> impl Strategy<Value = i64> {
        prop_oneof![-300_i64..300, Just(i64::MIN), Just(i64::MAX), any::<i64>()]
    }

    #[test]
    fn the_ends_of_distances_tell_of_ranges_far_from_them_and_around_them() {
        let distances = [[0], [4], [1]];
        let integers = Integers::new(2020, Distances::One(&distances));
        let all_in =
            |low, high, negated| integers.all_in(IntegerRange::new(low, high, negated).unwrap());
        // One byte a distance: the numbers are at most 2275.
        assert_eq!(all_in(2020, 2275, false), Some(true));
        assert_eq!(all_in(i64::MIN, i64::MAX, true), Some(false));
        assert_eq!(all_in(0, 2019, false), Some(false));
        assert_eq!(all_in(2276, 9999, true), Some(true));
        assert_eq!(all_in(2020, 2274, false), None);
        assert_eq!(all_in(2019, 2020, true), None);
    }

    proptest! {
        /// Rows are kept by a comparison of distances exactly if their numbers are in the range.
        #[test]
        fn comparisons_are_those_of_the_numbers(
            width in 0_usize..5,
            base in number(),
            low in number(),
            high in number(),
            negated: bool,
            seeds in prop::collection::vec(any::<u64>(), 1..300),
        ) {
            let Some(range) = IntegerRange::new(low, high, negated) else {
                return Ok(());
            };
            let spread = |seed: u64| if seed.is_multiple_of(3) { seed >> 8 } else { seed % 600 };
            let one: Vec<[u8; 1]> = seeds.iter().map(|seed| [spread(*seed) as u8]).collect();
            let two: Vec<[u8; 2]> = seeds.iter().map(|seed| (spread(*seed) as u16).to_le_bytes()).collect();
            let four: Vec<[u8; 4]> = seeds.iter().map(|seed| (spread(*seed) as u32).to_le_bytes()).collect();
            let eight: Vec<[u8; 8]> = seeds.iter().map(|seed| spread(*seed).to_le_bytes()).collect();
            let distances = [
                Distances::Zero(seeds.len()),
                Distances::One(&one),
                Distances::Two(&two),
                Distances::Four(&four),
                Distances::Eight(&eight),
            ][width];
            // As the writer: a sum of base and distance fits 64 bits, but where 8 bytes are taken.
            let most = [0, 0xff, 0xffff, 0xffff_ffff, 0][width];
            let base = base.min(i64::MAX - most);
            let integers = Integers::new(base, distances);
            let numbers: Vec<i64> = (0..seeds.len()).map(|at| integers.get(at)).collect();
            let mut bitmap = [u64::MAX; 1024];
            bitmap[1] = 0;
            integers.compare(range, &mut bitmap);
            for row in 0..65_536 {
                let expected = row / 64 != 1 && numbers.get(row).is_some_and(|number| range.holds(*number));
                prop_assert_eq!(bitmap[row / 64] >> (row % 64) & 1 == 1, expected, "row {}", row);
            }
            if let Some(all) = integers.all_in(range) {
                prop_assert!(numbers.iter().all(|number| range.holds(*number) == all));
            }
            prop_assert_eq!(integers.highest(), numbers.iter().copied().max());
            let lows: Vec<u16> = (0..seeds.len() as u16).map(|low| low + 5).collect();
            prop_assert_eq!(integers.of_rows(5, &lows), numbers.clone());
            let mut kept: Vec<u16> = (0..seeds.len() as u16).filter(|low| low % 3 > 0).collect();
            let mut expected = kept.clone();
            expected.retain(|low| range.holds(numbers[usize::from(*low)]));
            integers.keep(range, &mut kept);
            prop_assert_eq!(kept, expected);
        }
    }
}
