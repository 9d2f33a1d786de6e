//! Which queries of a level have been removed since it was built.

use std::sync::Arc;

use crate::standing::Ordinal;

/// Words of 64 bits in one chunk: 32,768 queries, half a page.
const CHUNK_WORDS: usize = 512;

type Chunk = [u64; CHUNK_WORDS];

/// A set of ordinals. Shared with snapshots: the first change after each copies one chunk of 4 KiB and the list of
/// chunks, 8 bytes for 32,768 queries.
#[derive(Clone, Debug, Default)]
pub(crate) struct Removed {
    /// Up to the last one that is not empty.
    chunks: Vec<Option<Arc<Chunk>>>,
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
        let (chunk, word, bit) = place(query);
        match self.chunks.get(chunk) {
            Some(Some(chunk)) => chunk[word] & bit != 0,
            _ => false,
        }
    }

    /// What [`Removed::holds`] says of ordinals that come in rising order, with the chunk at hand kept.
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

    /// Adds one.
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

    /// Those that were removed since `earlier`, an older copy of this set, ascending. Cost: chunks that have not
    /// changed are passed over.
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

/// Chunk, word in it, and the bit there.
#[inline]
fn place(query: Ordinal) -> (usize, usize, u64) {
    let word = query as usize / u64::BITS as usize;
    (
        word / CHUNK_WORDS,
        word % CHUNK_WORDS,
        1 << (query % u64::BITS),
    )
}

/// The places of a word's ones, ascending.
fn ones(mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros());
        word &= word.wrapping_sub(1);
        bit
    })
}

#[cfg(test)]
mod tests;
