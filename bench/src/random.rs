//! Random numbers of the workloads, the same on every machine and in every version.

/// Marsaglia's xorshift with 64 bits of state, shifts 13, 7 and 17 ("Xorshift RNGs", Journal of Statistical
/// Software 8, 2003).
#[derive(Clone, Debug)]
pub struct XorShift(u64);

impl XorShift {
    /// A generator with this seed. A seed of 0 counts as 1: from 0 every number would be 0.
    #[must_use]
    pub fn new(seed: u64) -> XorShift {
        XorShift(seed.max(1))
    }

    /// The next number, 1 ..= 2^64 - 1.
    pub fn next_u64(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `count`, by the high half of a wide product.
    ///
    /// # Panics
    /// If `count` is 0.
    pub fn below(&mut self, count: usize) -> usize {
        assert!(count > 0, "there is no number below 0");
        ((u128::from(self.next_u64()) * count as u128) >> 64) as usize
    }
}
