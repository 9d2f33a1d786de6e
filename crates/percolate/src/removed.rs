//! The queries of a level that were removed since it was built: a set of ordinals as a bitmap in chunks.

use std::sync::Arc;

use crate::standing::Ordinal;

/// 64-bit blocks of one chunk: 32,768 queries, 4 KiB.
const CHUNK_WORDS: usize = 512;

type Chunk = [u64; CHUNK_WORDS];

/// A set of ordinals. Snapshots share it. The first change after each snapshot copies one chunk of 4 KiB and the list
/// of chunks, which takes 8 bytes for every 32,768 queries.
#[derive(Clone, Debug, Default)]
pub(crate) struct Removed {
    /// The chunks up to the last that is not empty; `None` for an empty one.
    chunks: Vec<Option<Arc<Chunk>>>,
    len: usize,
}

impl Removed {
    /// The number of removed queries.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Whether a query was removed.
    #[inline]
    pub(crate) fn holds(&self, query: Ordinal) -> bool {
        let (chunk, word, bit) = place(query);
        match self.chunks.get(chunk) {
            Some(Some(chunk)) => chunk[word] & bit != 0,
            _ => false,
        }
    }

    /// As [`Removed::holds`], for ordinals that are asked about in rising order: keeps the chunk at hand.
    #[inline]
    pub(crate) fn rising(&self) -> impl FnMut(Ordinal) -> bool {
        const NONE: &Chunk = &[0; CHUNK_WORDS];
        let (mut at, mut held) = (usize::MAX, NONE);
        move |query| {
            let (chunk, word, bit) = place(query);
            if chunk != at {
                let chunk = self.chunks.get(chunk).and_then(Option::as_deref);
                (at, held) = (place(query).0, chunk.unwrap_or(NONE));
            }
            held[word] & bit != 0
        }
    }

    /// Adds an ordinal; no effect if it is in the set.
    pub(crate) fn add(&mut self, query: Ordinal) {
        if self.holds(query) {
            return;
        }
        let (chunk, word, bit) = place(query);
        if self.chunks.len() <= chunk {
            self.chunks.resize(chunk + 1, None);
        }
        let chunk = self.chunks[chunk].get_or_insert_with(|| Arc::new([0; CHUNK_WORDS]));
        Arc::make_mut(chunk)[word] |= bit;
        self.len += 1;
    }

    /// The ordinals, rising, that are not in `earlier`, an older copy of this set. Cost: chunks that both share are
    /// skipped.
    pub(crate) fn since(&self, earlier: &Removed) -> impl Iterator<Item = Ordinal> {
        let before = |number: usize| earlier.chunks.get(number).and_then(Option::as_ref);
        let numbered = self.chunks.iter().enumerate();
        numbered.flat_map(move |(number, chunk)| {
            let before = before(number);
            let chunk = chunk
                .as_ref()
                .filter(|chunk| before.is_none_or(|before| !Arc::ptr_eq(before, chunk)));
            let words = chunk.into_iter().flat_map(|chunk| chunk.iter().enumerate());
            words.flat_map(move |(word, bits)| {
                let left = bits & !before.map_or(0, |before| before[word]);
                let first = (number * CHUNK_WORDS + word) as Ordinal * u64::BITS;
                ones(left).map(move |bit| first + bit)
            })
        })
    }
}

/// The chunk of an ordinal, its block there, and its bit.
#[inline]
fn place(query: Ordinal) -> (usize, usize, u64) {
    let word = query as usize / u64::BITS as usize;
    (
        word / CHUNK_WORDS,
        word % CHUNK_WORDS,
        1 << (query % u64::BITS),
    )
}

/// The indexes of the bits set in a block, rising.
fn ones(mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros());
        word &= word.wrapping_sub(1);
        bit
    })
}

#[cfg(test)]
mod tests;
