//! Which queries of a level have been removed since it was built.

use crate::level::Ordinal;

/// A set of ordinals. Shared with snapshots, so the writer copies it before the first change after each:
/// an eighth of a byte for each query.
#[derive(Clone, Debug, Default)]
pub(crate) struct Removed {
    bits: Vec<u64>,
    len: usize,
}

impl Removed {
    /// How many were removed.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Whether this one was.
    #[inline]
    pub(crate) fn holds(&self, query: Ordinal) -> bool {
        let word = self.bits.get(query as usize / 64).copied().unwrap_or(0);
        word >> (query % 64) & 1 == 1
    }

    /// Adds one.
    pub(crate) fn add(&mut self, query: Ordinal) {
        if self.holds(query) {
            return;
        }
        let word = query as usize / 64;
        if self.bits.len() <= word {
            self.bits.resize(word + 1, 0);
        }
        self.bits[word] |= 1 << (query % 64);
        self.len += 1;
    }
}
