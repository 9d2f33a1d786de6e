//! Stable radix sort by a small number; puts a chunk's postings in order.

/// Items below which a comparison sort is faster.
const ITEMS_MIN: usize = 256;

const DIGIT_BITS: u32 = 11;
const DIGITS: usize = 1 << DIGIT_BITS;

/// Numbers an item up to which one counting pass is faster than two passes by digits.
const NUMBERS_AN_ITEM: usize = 4;

/// Sorts by a number; equal items keep their order. Cost: one pass where the highest number is at
/// most [`NUMBERS_AN_ITEM`] times the items, else one pass for each 11 bits of it. Memory: a second
/// copy of the items, in `sorted`, which afterwards holds items without meaning.
pub(super) fn by_number<T: Copy>(
    items: &mut Vec<T>,
    sorted: &mut Vec<T>,
    number: impl Fn(&T) -> u32,
) {
    let Some(first) = items.first().copied() else {
        return;
    };
    if items.len() < ITEMS_MIN {
        items.sort_by_key(number);
        return;
    }
    let highest = items.iter().map(&number).max().unwrap_or(0);
    sorted.clear();
    sorted.resize(items.len(), first);
    if highest as usize / NUMBERS_AN_ITEM <= items.len() {
        let mut places = vec![0u32; highest as usize + 1];
        pass(items, sorted, &mut places, |item| number(item) as usize);
        std::mem::swap(items, sorted);
        return;
    }
    let mut shift = 0;
    while shift < u32::BITS && highest >> shift > 0 {
        let digit = |item: &T| (number(item) >> shift) as usize & (DIGITS - 1);
        pass(items, sorted, &mut [0u32; DIGITS], digit);
        std::mem::swap(items, sorted);
        shift += DIGIT_BITS;
    }
}

/// Sorts by one digit. `places`: a zero for each value of the digit.
#[inline]
fn pass<T: Copy>(items: &[T], sorted: &mut [T], places: &mut [u32], digit: impl Fn(&T) -> usize) {
    for item in items {
        places[digit(item)] += 1;
    }
    let mut sum = 0;
    for place in &mut *places {
        sum += std::mem::replace(place, sum);
    }
    for item in items {
        let place = &mut places[digit(item)];
        sorted[*place as usize] = *item;
        *place += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pseudo-random numbers of `bits` bits, each with its index.
    fn made(count: u32, bits: u32) -> Vec<(u32, u32)> {
        let number = |at: u32| at.wrapping_mul(0x9e37_79b9) >> (32 - bits);
        (0..count).map(|at| (number(at), at)).collect()
    }

    #[test]
    fn sorts_as_a_stable_sort_does() {
        for bits in [1, 11, 12, 22, 23, 32] {
            for count in [0, 1, 255, 256, 5_000] {
                let mut items = made(count, bits);
                let mut wanted = items.clone();
                wanted.sort_by_key(|item| item.0);
                by_number(&mut items, &mut Vec::new(), |item| item.0);
                assert_eq!(items, wanted, "{count} of {bits} bits");
            }
        }
    }

    #[test]
    fn items_that_are_all_zero_stay() {
        let mut items: Vec<(u32, u32)> = (0..1_000).map(|at| (0, at)).collect();
        let wanted = items.clone();
        by_number(&mut items, &mut Vec::new(), |item| item.0);
        assert_eq!(items, wanted);
    }
}
