//! What was found, slice by slice, put in the order of queries.

use crate::level::Ordinal;

/// Documents of one slice that satisfy one entry of a query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) query: Ordinal,
    /// Number of the slice in its call.
    pub(crate) slice: u32,
    /// Never 0.
    pub(crate) mask: u64,
}

/// Below this many, comparing is faster than counting.
const COUNTED_MIN: usize = 256;

/// Bits sorted by in one pass: at 2^10 counters of 4 bytes a pass stays in the nearest cache.
const DIGIT_BITS_MAX: u32 = 10;

/// Buffers for sorting.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sorter {
    other: Vec<Found>,
    starts: Vec<u32>,
}

impl Sorter {
    /// Puts what was found in the order of queries and keeps the order of slices within each, in which it comes.
    /// Every query is below `queries`. Cost: linear, two passes for up to a million queries.
    pub(crate) fn sort(&mut self, found: &mut Vec<Found>, queries: usize) {
        if found.len() < COUNTED_MIN {
            found.sort_unstable_by_key(|found| (found.query, found.slice));
            return;
        }
        let bits = usize::BITS - queries.leading_zeros();
        let passes = bits.div_ceil(DIGIT_BITS_MAX);
        let digit_bits = bits.div_ceil(passes.max(1));
        for pass in 0..passes {
            self.pass(found, pass * digit_bits, digit_bits);
            std::mem::swap(found, &mut self.other);
        }
    }

    /// Moves everything to `other`, in the order of one digit, equal ones in the order they had.
    fn pass(&mut self, found: &[Found], shift: u32, bits: u32) {
        let digit = |found: &Found| (found.query >> shift) as usize & ((1 << bits) - 1);
        self.starts.clear();
        self.starts.resize((1 << bits) + 1, 0);
        for each in found {
            self.starts[digit(each) + 1] += 1;
        }
        for index in 1..self.starts.len() {
            self.starts[index] += self.starts[index - 1];
        }
        self.other.clear();
        self.other.resize(found.len(), Found::default());
        for each in found {
            let place = &mut self.starts[digit(each)];
            self.other[*place as usize] = *each;
            *place += 1;
        }
    }
}

#[cfg(test)]
mod tests;
