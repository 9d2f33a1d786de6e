//! One page of a posting list: which of 65,536 neighbouring rows hold the word.
//!
//! Example: the page of a word that stands in rows 1, 4, 7 and 66, in both forms. (A file would
//! keep four postings as an array.)
//!
//! ```text
//! array    [1, 4, 7, 66]
//! bitmap   u64    0: bits 1, 4, 7     rank 0      64 rows each, 1,024 of them
//!          u64    1: bit 2            rank 3      rank: bits in all before
//!          u64    2 .. 1,023: none    rank 4
//! posting of row 66:  array   3, its index
//!                     bitmap  3 = rank of u64 1 + its bits below bit 2
//! ```
//!
//! Invariants:
//! - Rows rise; the number of a row's posting in the page is the number of lower rows in it.
//! - `codes` has one code for each row. Without that, `probe` leads to the code of another row.
//! - A `hint` belongs to one page and to questions by rising row. An array is searched from the
//!   hint on, so a row below the last question is not found.

use std::ops::Range;

use super::posting::ListForm;

/// 64-bit words of a page's bitmap.
pub(crate) const WORDS: usize = 1024;
/// Bytes of a bitmap.
pub(super) const BITMAP_BYTES: usize = WORDS * 8;
/// Bytes of a bitmap's ranks: two for each 64-bit word.
pub(super) const RANK_BYTES: usize = WORDS * 2;

/// One bit for each row of a page: row `r` is bit `r & 63` of the 64-bit word `r >> 6`.
pub(crate) type Bitmap = [u64; WORDS];

/// The postings of one page.
#[derive(Clone, Copy)]
pub(crate) struct Page<'a> {
    pub(super) docs: Docs<'a>,
    /// Code of each posting of the page.
    pub(crate) codes: &'a [u8],
    /// Number of the page's first posting in the list.
    pub(crate) first: u32,
}

impl Default for Page<'_> {
    fn default() -> Self {
        Page {
            docs: Docs::Array(&[]),
            codes: &[],
            first: 0,
        }
    }
}

/// The rows of a page, in either form.
#[derive(Clone, Copy)]
pub(super) enum Docs<'a> {
    /// Rows that hold the word, rising, each a little-endian `u16`.
    Array(&'a [[u8; 2]]),
    /// The bitmap as little-endian 64-bit words, and for each word the number of bits in all before
    /// it.
    Bits(&'a [[u8; 8]; WORDS], &'a [[u8; 2]; WORDS]),
}

impl<'a> Page<'a> {
    /// Postings of the page.
    pub(crate) fn len(&self) -> usize {
        self.codes.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.codes.is_empty()
    }

    /// The bitmap; `None` for a page that is an array.
    pub(crate) fn bits(&self) -> Option<&'a [[u8; 8]; WORDS]> {
        match self.docs {
            Docs::Bits(words, _) => Some(words),
            Docs::Array(_) => None,
        }
    }

    /// The rows, rising; `None` for a page that is a bitmap.
    pub(crate) fn array(&self) -> Option<&'a [[u8; 2]]> {
        match self.docs {
            Docs::Array(lows) => Some(lows),
            Docs::Bits(..) => None,
        }
    }

    /// Adds the page's rows to a bitmap.
    #[inline(always)]
    pub(crate) fn unite(&self, into: &mut Bitmap) {
        match self.docs {
            Docs::Array(lows) => {
                for low in lows {
                    let low = u16::from_le_bytes(*low);
                    into[usize::from(low >> 6)] |= 1 << (low & 63);
                }
            }
            Docs::Bits(words, _) => {
                for (into, word) in into.iter_mut().zip(words) {
                    *into |= u64::from_le_bytes(*word);
                }
            }
        }
    }

    /// Whether a row holds the word. `hint` as in [`Page::find`].
    #[inline(always)]
    pub(crate) fn has(&self, low: u16, hint: &mut usize) -> bool {
        match self.docs {
            Docs::Bits(words, _) => {
                u64::from_le_bytes(words[usize::from(low >> 6)]) >> (low & 63) & 1 == 1
            }
            Docs::Array(_) => self.find(low, hint).is_some(),
        }
    }

    /// Keeps those of `lows` (rising) that hold the word; with `inside` false, those that do not.
    #[inline(always)]
    pub(crate) fn narrow(&self, lows: &mut Vec<u16>, inside: bool) {
        match self.docs {
            Docs::Array(array) => {
                let (blocks, rest) = array.as_chunks();
                let mut at = 0;
                keep(lows, |low| {
                    pass_blocks(blocks, low, &mut at);
                    let is_low = |entry: &[u8; 2]| u16::from_le_bytes(*entry) == low;
                    let is_there = match blocks.get(at) {
                        Some(block) => block.iter().fold(false, |any, entry| any | is_low(entry)),
                        None => rest.iter().any(is_low),
                    };
                    is_there == inside
                });
            }
            Docs::Bits(words, _) => keep(lows, |low| {
                let word = u64::from_le_bytes(words[usize::from(low >> 6)]);
                (word >> (low & 63) & 1 == 1) == inside
            }),
        }
    }

    /// Number of a row's posting in the page; `None` where the row does not hold the word. `hint`
    /// starts at 0 on each page; rows must be asked for in rising order with the same hint.
    #[inline(always)]
    pub(crate) fn find(&self, low: u16, hint: &mut usize) -> Option<usize> {
        let (posting, is_there) = self.probe(low, hint);
        is_there.then_some(posting)
    }

    /// Number that a row's posting has in the page, or would have, and whether the row holds the
    /// word. `hint` as in [`Page::find`].
    #[inline(always)]
    pub(crate) fn probe(&self, low: u16, hint: &mut usize) -> (usize, bool) {
        match self.docs {
            Docs::Array(lows) => {
                *hint += count_below(lows.get(*hint..).unwrap_or_default(), low);
                let found = lows.get(*hint).copied().map(u16::from_le_bytes);
                (*hint, found == Some(low))
            }
            Docs::Bits(words, ranks) => {
                let at = usize::from(low >> 6);
                let word = u64::from_le_bytes(words[at]);
                let below = word & ((1 << (low & 63)) - 1);
                let posting =
                    usize::from(u16::from_le_bytes(ranks[at])) + below.count_ones() as usize;
                (posting, word >> (low & 63) & 1 == 1)
            }
        }
    }

    /// Row of a posting, by the posting's number in the page. Cost: a binary search in the ranks
    /// where the page is a bitmap.
    #[inline(always)]
    pub(crate) fn low(&self, at: usize) -> Option<u16> {
        match self.docs {
            Docs::Array(lows) => lows.get(at).map(|low| u16::from_le_bytes(*low)),
            Docs::Bits(words, ranks) => {
                let before = |rank: &[u8; 2]| usize::from(u16::from_le_bytes(*rank));
                let word = ranks
                    .partition_point(|rank| before(rank) <= at)
                    .checked_sub(1)?;
                let mut left = u64::from_le_bytes(words[word]);
                for _ in before(&ranks[word])..at {
                    left &= left.wrapping_sub(1);
                }
                (left != 0).then(|| (word as u32 * 64 + left.trailing_zeros()) as u16)
            }
        }
    }

    /// Calls `visit` with each row of the page in `rows`, rising. `before`: the postings before them; `rows.start`: a multiple of 64.
    pub(crate) fn each_in(&self, rows: Range<u32>, before: usize, mut visit: impl FnMut(u16)) {
        match self.docs {
            Docs::Array(lows) => {
                let lows = lows.get(before..).unwrap_or_default().iter();
                let lows = lows.map(|low| u16::from_le_bytes(*low));
                lows.take_while(|low| u32::from(*low) < rows.end)
                    .for_each(visit);
            }
            Docs::Bits(words, _) => {
                let at = (rows.start / 64) as usize..(rows.end.div_ceil(64) as usize).min(WORDS);
                for at in at {
                    let mut word = u64::from_le_bytes(words[at]);
                    while word != 0 {
                        visit((at as u32 * 64 + word.trailing_zeros()) as u16);
                        word &= word - 1;
                    }
                }
            }
        }
    }

    /// Calls `visit` with each row of the page, rising.
    #[inline(always)]
    pub(crate) fn each(&self, mut visit: impl FnMut(u16)) {
        match self.docs {
            Docs::Array(lows) => lows.iter().for_each(|low| visit(u16::from_le_bytes(*low))),
            Docs::Bits(words, _) => {
                for (at, word) in words.iter().enumerate() {
                    let mut word = u64::from_le_bytes(*word);
                    while word != 0 {
                        visit((at as u32 * 64 + word.trailing_zeros()) as u16);
                        word &= word - 1;
                    }
                }
            }
        }
    }
}

impl Page<'_> {
    /// Calls `visit` with each posting of the page: its row, its number in the page, and its code. Rows rise.
    #[inline(always)]
    pub(crate) fn each_posting(&self, mut visit: impl FnMut(u16, usize, u8)) {
        let mut codes = self.codes.iter().enumerate();
        match self.docs {
            Docs::Array(lows) => {
                for (low, (number, code)) in lows.iter().zip(codes) {
                    visit(u16::from_le_bytes(*low), number, *code);
                }
            }
            Docs::Bits(..) => self.each(|low| {
                if let Some((number, code)) = codes.next() {
                    visit(low, number, *code);
                }
            }),
        }
    }
}

#[cfg(test)]
impl<'a> Page<'a> {
    /// A page of these rows, rising, and their codes.
    pub(crate) fn of_array(lows: &'a [[u8; 2]], codes: &'a [u8]) -> Page<'a> {
        Page {
            docs: Docs::Array(lows),
            codes,
            first: 0,
        }
    }

    /// A page of the rows of a bitmap, with its ranks, and their codes.
    pub(crate) fn of_bits(
        (words, ranks): &'a ([[u8; 8]; WORDS], [[u8; 2]; WORDS]),
        codes: &'a [u8],
    ) -> Page<'a> {
        Page {
            docs: Docs::Bits(words, ranks),
            codes,
            first: 0,
        }
    }
}

/// Rows of an array that are compared at once, without a branch.
const BLOCK: usize = 16;
/// Blocks that a search passes one by one before it turns to a binary search.
const BLOCKS_PASSED: usize = 4;

/// Keeps the rows for which `is_kept` is true. Rows move up without a branch on the answer.
#[inline(always)]
fn keep(lows: &mut Vec<u16>, mut is_kept: impl FnMut(u16) -> bool) {
    let mut kept = 0;
    for at in 0..lows.len() {
        let low = lows[at];
        lows[kept] = low;
        kept += usize::from(is_kept(low));
    }
    lows.truncate(kept);
}

/// Moves `at` to the first block, from `at` on, whose last row is not below `low`.
#[inline(always)]
fn pass_blocks(blocks: &[[[u8; 2]; BLOCK]], low: u16, at: &mut usize) {
    let is_below = |block: &[[u8; 2]; BLOCK]| u16::from_le_bytes(block[BLOCK - 1]) < low;
    let end = blocks.len().min(*at + BLOCKS_PASSED);
    while *at < end && is_below(&blocks[*at]) {
        *at += 1;
    }
    if *at == end {
        *at += blocks[*at..].partition_point(is_below);
    }
}

/// Number of rows below `low`. Whole blocks are passed, then one block is counted without a branch.
#[inline(always)]
fn count_below(lows: &[[u8; 2]], low: u16) -> usize {
    let (blocks, rest) = lows.as_chunks();
    let mut at = 0;
    pass_blocks(blocks, low, &mut at);
    let below = |entry: &[u8; 2]| u16::from(u16::from_le_bytes(*entry) < low);
    let here = match blocks.get(at) {
        Some(block) => block.iter().map(below).sum::<u16>(),
        None => rest.iter().map(below).sum(),
    };
    at * BLOCK + usize::from(here)
}

/// Bits of a doc in a short list of a segment with this many rows.
pub(super) fn doc_bits(rows: u32, form: ListForm) -> u32 {
    match (form, rows) {
        (ListForm::Narrow, rows) => (32 - rows.saturating_sub(1).leading_zeros()).max(1),
        (ListForm::Wide, 0..=0x1_0000) => 16,
        (ListForm::Wide, 0x1_0001..=0x100_0000) => 24,
        (ListForm::Wide, _) => 32,
    }
}
