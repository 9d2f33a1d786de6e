//! What was found, pair by pair, put in the order of queries.

use crate::standing::Ordinal;

/// A query and a document that satisfies one of its entries: the query's ordinal in the upper half, the document's
/// index in its call in the lower. The same pair may be found more than once.
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

/// Below this many, comparing is faster than counting.
const COUNTED_MIN: usize = 256;

/// Bits sorted by in one pass: 2^11 counters of 4 bytes stay in the nearest cache.
const DIGIT_BITS_MAX: u32 = 11;

/// What was found in one level. Room once made is kept and not cleared: writing zeros first would cost as much as what is
/// written after.
#[derive(Clone, Debug, Default)]
pub(crate) struct HitPairs {
    /// The first `len` are what was found.
    pairs: Vec<HitPair>,
    len: usize,
    /// Documents did not come in rising order.
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

    /// Adds as many of the next `most` pairs as are kept. No branch on whether one is.
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

    /// Room for `most` more pairs and some, for a writer that then says how many there are by [`HitPairs::add_written`].
    #[inline(always)]
    pub(crate) fn room(&mut self, most: usize) -> &mut [HitPair] {
        grow(&mut self.pairs, self.len + most);
        &mut self.pairs[self.len..]
    }

    /// So many of the room are found.
    #[inline(always)]
    pub(crate) fn add_written(&mut self, count: usize) {
        self.len += count;
        debug_assert!(self.len <= self.pairs.len());
    }

    /// Adds one query with each of these documents of a slice, the first of which is `first` of the call.
    pub(crate) fn add(&mut self, query: Ordinal, first: u32, mut mask: u64) {
        grow(&mut self.pairs, self.len + u64::BITS as usize);
        while mask != 0 {
            self.pairs[self.len] = hit_pair(query, first + mask.trailing_zeros());
            self.len += 1;
            mask &= mask - 1;
        }
    }

    /// Keeps those of the pairs from `from` on that pass.
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
    /// As [`HitPairs::retain_from`]; `fetch` is called with each pair some time before it is asked about.
    #[inline(always)]
    pub(crate) fn retain_ahead<const AHEAD: usize>(
        &mut self,
        from: usize,
        fetch: impl Fn(HitPair),
        mut passes: impl FnMut(HitPair) -> bool,
    ) {
        let mut kept = from;
        for start in (from..self.len).step_by(AHEAD) {
            let end = self.len.min(start + AHEAD);
            self.pairs[start..end].iter().for_each(|pair| fetch(*pair));
            for index in start..end {
                let pair = self.pairs[index];
                self.pairs[kept] = pair;
                kept += usize::from(passes(pair));
            }
        }
        self.len = kept;
    }
}

/// Makes a list at least so long.
#[inline(always)]
pub(crate) fn grow<T: Copy + Default>(list: &mut Vec<T>, len: usize) {
    if list.len() < len {
        list.resize(len.next_power_of_two(), T::default());
    }
}

/// Counters of a pass.
const PLACES: usize = 1 << DIGIT_BITS_MAX;

/// Buffers for sorting.
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
    /// Puts what was found in rising order. Every query is below `queries`, every document below `documents`.
    /// Cost: linear, two passes for up to four million queries.
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

    /// Sorts by the bits from `shift` on that numbers below `places` take; equal ones keep the order they had.
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

/// Moves all pairs to `to`, in the order of one digit.
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
