//! Pairs of a query and a document as the matcher finds them, and their sorting by query.

use crate::standing::Ordinal;

/// A pair of a query and a document that satisfies one of its entries. The upper 32 bits are the query's ordinal, the
/// lower the document's index in its call. The same pair may be found more than once.
pub(crate) type HitPair = u64;

#[inline(always)]
pub(crate) fn hit_pair(query: Ordinal, document: u32) -> HitPair {
    u64::from(query) << 32 | u64::from(document)
}

#[inline(always)]
pub(crate) fn query_of(pair: HitPair) -> Ordinal {
    (pair >> 32) as Ordinal
}

#[inline(always)]
pub(crate) fn document_of(pair: HitPair) -> u32 {
    pair as u32
}

/// Pairs from which on a counting sort is faster than comparing.
const COUNTED_MIN: usize = 256;

/// Bits that one pass sorts by: 2^11 counters of 4 bytes stay in the nearest cache.
const DIGIT_BITS_MAX: u32 = 11;

/// The pairs found in one level. Room that was made is kept and not cleared: zeroing it would cost as much as filling
/// it.
#[derive(Clone, Debug, Default)]
pub(crate) struct HitPairs {
    /// The first `len` are the pairs.
    pairs: Vec<HitPair>,
    len: usize,
    /// Whether documents may have come out of order, or twice.
    pub(crate) mixed: bool,
}

impl HitPairs {
    pub(crate) fn clear(&mut self) {
        self.len = 0;
        self.mixed = false;
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    #[inline(always)]
    pub(crate) fn pairs(&self) -> &[HitPair] {
        &self.pairs[..self.len]
    }

    /// Adds the pairs that are kept. It does not branch on whether a pair is.
    #[inline(always)]
    pub(crate) fn extend(&mut self, pairs: impl ExactSizeIterator<Item = (HitPair, bool)>) {
        grow(&mut self.pairs, self.len + pairs.len());
        let free = &mut self.pairs[self.len..self.len + pairs.len()];
        let mut kept = 0;
        for (pair, is_kept) in pairs {
            free[kept] = pair;
            kept += usize::from(is_kept);
        }
        self.len += kept;
    }

    /// Room for at least `most` more pairs. The writer then calls [`HitPairs::add_written`].
    #[inline(always)]
    pub(crate) fn room(&mut self, most: usize) -> &mut [HitPair] {
        grow(&mut self.pairs, self.len + most);
        &mut self.pairs[self.len..]
    }

    /// Counts the pairs that were written to the room.
    #[inline(always)]
    pub(crate) fn add_written(&mut self, count: usize) {
        self.len += count;
        debug_assert!(self.len <= self.pairs.len());
    }

    /// Adds a pair of `query` and each document of `mask`. Bit 0 is document `first` of the call.
    pub(crate) fn add(&mut self, query: Ordinal, first: u32, mut mask: u64) {
        grow(&mut self.pairs, self.len + u64::BITS as usize);
        while mask != 0 {
            self.pairs[self.len] = hit_pair(query, first + mask.trailing_zeros());
            self.len += 1;
            mask &= mask - 1;
        }
    }

    /// Keeps the pairs before `from`, and those behind that pass.
    pub(crate) fn retain_from(&mut self, from: usize, mut passes: impl FnMut(HitPair) -> bool) {
        let mut kept = from;
        for index in from..self.len {
            let pair = self.pairs[index];
            self.pairs[kept] = pair;
            kept += usize::from(passes(pair));
        }
        self.len = kept;
    }
}

impl HitPairs {
    /// As [`HitPairs::retain_from`]. Before it asks about a pair, it calls `fetch_first` with the pair that lies
    /// `2 * AHEAD` places behind, and `fetch_second` with the pair that lies `AHEAD` places behind.
    #[inline(always)]
    pub(crate) fn retain_ahead<const AHEAD: usize>(
        &mut self,
        from: usize,
        fetch_first: impl Fn(HitPair),
        fetch_second: impl Fn(HitPair),
        mut passes: impl FnMut(HitPair) -> bool,
    ) {
        let near = &self.pairs[from..self.len.min(from + 2 * AHEAD)];
        near.iter().for_each(|pair| fetch_first(*pair));
        let nearer = near.iter().take(AHEAD);
        nearer.for_each(|pair| fetch_second(*pair));
        let mut kept = from;
        for index in from..self.len {
            if index + 2 * AHEAD < self.len {
                fetch_first(self.pairs[index + 2 * AHEAD]);
            }
            if index + AHEAD < self.len {
                fetch_second(self.pairs[index + AHEAD]);
            }
            let pair = self.pairs[index];
            self.pairs[kept] = pair;
            kept += usize::from(passes(pair));
        }
        self.len = kept;
    }
}

/// Grows a list to at least `len` items, by powers of two.
#[inline(always)]
pub(crate) fn grow<T: Copy + Default>(list: &mut Vec<T>, len: usize) {
    if list.len() < len {
        list.resize(len.next_power_of_two(), T::default());
    }
}

/// Counters of a sorting pass.
const PLACES: usize = 1 << DIGIT_BITS_MAX;

/// Buffers for sorting: the list that a pass writes to, and its counters.
#[derive(Clone, Debug)]
pub(crate) struct Sorter {
    other: Vec<HitPair>,
    starts: Box<[u32; PLACES]>,
}

impl Default for Sorter {
    fn default() -> Sorter {
        Sorter {
            other: Vec::new(),
            starts: Box::new([0; PLACES]),
        }
    }
}

impl Sorter {
    /// Sorts the pairs. Every query is below `queries`, every document below `documents`. Cost: linear, two passes
    /// for up to four million queries, and one or more for documents if they are `mixed`.
    #[inline(always)]
    pub(crate) fn sort(&mut self, hit_pairs: &mut HitPairs, queries: usize, documents: usize) {
        if hit_pairs.len < COUNTED_MIN {
            hit_pairs.pairs[..hit_pairs.len].sort_unstable();
            return;
        }
        if hit_pairs.mixed {
            self.passes(hit_pairs, 0, documents);
        }
        self.passes(hit_pairs, 32, queries);
    }

    /// Sorts by the bits from `shift` on in which numbers below `places` differ. Equal numbers keep their order.
    #[inline(always)]
    fn passes(&mut self, hit_pairs: &mut HitPairs, shift: u32, places: usize) {
        let bits = usize::BITS - places.saturating_sub(1).leading_zeros();
        let passes = bits.div_ceil(DIGIT_BITS_MAX);
        let digit_bits = bits.div_ceil(passes.max(1));
        for pass in 0..passes {
            grow(&mut self.other, hit_pairs.len);
            let (from, to) = (hit_pairs.pairs(), &mut self.other[..hit_pairs.len]);
            move_by_digit(
                from,
                to,
                &mut self.starts,
                shift + pass * digit_bits,
                digit_bits,
            );
            std::mem::swap(&mut hit_pairs.pairs, &mut self.other);
        }
    }
}

/// Copies all pairs to `to`, sorted by one digit.
#[inline(always)]
fn move_by_digit(
    from: &[HitPair],
    to: &mut [HitPair],
    starts: &mut [u32; PLACES],
    shift: u32,
    bits: u32,
) {
    let last = (1 << bits) - 1;
    let digit = |pair: HitPair| (pair >> shift) as usize & last & (PLACES - 1);
    starts[..=last].fill(0);
    for pair in from {
        starts[digit(*pair)] += 1;
    }
    let mut sum = 0;
    for start in &mut starts[..=last] {
        sum += std::mem::replace(start, sum);
    }
    for pair in from {
        let place = &mut starts[digit(*pair)];
        to[*place as usize] = *pair;
        *place += 1;
    }
}

#[cfg(test)]
mod tests;
