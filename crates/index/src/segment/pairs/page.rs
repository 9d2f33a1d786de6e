//! Reading the pairs of one page. The parent module has an example.

use super::rows::{PairRows, list_bytes};
use super::{SHARE, is_kept};

/// Pairs for each place of a list in the page; the other lists are found by the lengths of those before them.
pub(super) const GROUP: usize = 16;

/// The pairs of one page, by left word, then by right word. Nothing here panics: damaged bytes give other rows or none.
///
/// Invariants: words rise, the right ones for each left one. The rows of a pair tell the length of its list.
#[derive(Clone, Copy)]
pub(crate) struct PairPage<'a> {
    rows: u32,
    share: u32,
    /// The left words.
    lefts: &'a [[u8; 4]],
    /// Behind the last pair of each left word.
    ends: &'a [[u8; 4]],
    /// The right word of each pair.
    rights: &'a [[u8; 4]],
    /// The rows of each pair, less one.
    counts: &'a [[u8; 2]],
    /// Where the list of each [`GROUP`]-th pair begins in `lists`.
    starts: &'a [[u8; 4]],
    lists: &'a [u8],
}

impl<'a> PairPage<'a> {
    pub(in crate::segment) fn open(mut bytes: &'a [u8], rows: u32) -> Option<PairPage<'a>> {
        let mut number = || {
            let (number, rest) = bytes.split_first_chunk()?;
            bytes = rest;
            Some(u32::from_le_bytes(*number))
        };
        let share = number().filter(|share| *share <= SHARE)?;
        let (lefts, pairs) = (number()? as usize, number()? as usize);
        let mut cut = |count: usize, width: usize| {
            let (cut, rest) = bytes.split_at_checked(count.checked_mul(width)?)?;
            bytes = rest;
            Some(cut)
        };
        Some(PairPage {
            rows,
            share,
            lefts: cut(lefts, 4)?.as_chunks().0,
            ends: cut(lefts, 4)?.as_chunks().0,
            rights: cut(pairs, 4)?.as_chunks().0,
            counts: cut(pairs, 2)?.as_chunks().0,
            starts: cut(pairs.div_ceil(GROUP), 4)?.as_chunks().0,
            lists: bytes,
        })
    }

    /// Whether the pair of two words is kept. `lengths`: rows of the page that hold each.
    pub(crate) fn keeps(&self, lengths: [u32; 2]) -> bool {
        is_kept(lengths, self.rows, self.share)
    }

    /// The rows of a pair that is kept, by the numbers of its words in the segment.
    pub(crate) fn rows(&self, left: u32, right: u32) -> PairRows<'a> {
        let pair = self.find(left, right);
        let rows = pair.and_then(|pair| self.read(pair));
        rows.unwrap_or(PairRows::NONE)
    }

    /// The number of a pair on the page.
    fn find(&self, left: u32, right: u32) -> Option<usize> {
        let end = |left: usize| Some(u32::from_le_bytes(*self.ends.get(left)?) as usize);
        let at = find(self.lefts, left)?;
        let start = at.checked_sub(1).map_or(Some(0), end)?;
        Some(start + find(self.rights.get(start..end(at)?)?, right)?)
    }

    fn read(&self, pair: usize) -> Option<PairRows<'a>> {
        let group = pair / GROUP;
        let mut start = u32::from_le_bytes(*self.starts.get(group)?) as usize;
        let count = |count: &[u8; 2]| u32::from(u16::from_le_bytes(*count)) + 1;
        for before in self.counts.get(group * GROUP..pair)? {
            start += list_bytes(count(before), self.rows);
        }
        let own = count(self.counts.get(pair)?);
        PairRows::open(self.lists.get(start..)?, own, self.rows)
    }
}

/// Index of a word among rising ones.
fn find(words: &[[u8; 4]], word: u32) -> Option<usize> {
    let found = words.binary_search_by_key(&word, |word| u32::from_le_bytes(*word));
    found.ok()
}
