//! Reading the pairs of one page. The parent module has an example.

use query::codec::{cut_small, number_at};

use super::{SHARE, is_kept};
use crate::postings::PAGE_WORDS;

/// Rows from which on a list is a bitmap; such a list would take no less room as distances.
pub(super) const DENSE: usize = 8 * PAGE_WORDS;

/// The pairs of one page. Nothing here panics: damaged bytes give other rows or none.
#[derive(Clone, Copy)]
pub(crate) struct PairPage<'a> {
    rows: u32,
    share: u32,
    /// Rising.
    keys: &'a [[u8; 8]],
    /// Where each pair's list ends in `lists`.
    ends: &'a [[u8; 4]],
    lists: &'a [u8],
}

/// The rows of a pair on a page.
#[derive(Clone, Copy)]
pub(crate) enum PairRows<'a> {
    /// The number of rows, and for each the distance from the row before, LEB128.
    Gaps(usize, &'a [u8]),
    /// The number of rows, and a bit for each row, as in [`crate::postings::Bitmap`].
    Bits(usize, &'a [[u8; 8]; PAGE_WORDS]),
}

impl<'a> PairPage<'a> {
    pub(super) fn open(bytes: &'a [u8], rows: u32) -> Option<PairPage<'a>> {
        let (share, rest) = bytes.split_first_chunk()?;
        let share = Some(u32::from_le_bytes(*share)).filter(|share| *share <= SHARE)?;
        let (count, rest) = rest.split_first_chunk()?;
        let count = u32::from_le_bytes(*count) as usize;
        let (keys, rest) = rest.split_at_checked(count.checked_mul(8)?)?;
        let (ends, lists) = rest.split_at_checked(count.checked_mul(4)?)?;
        Some(PairPage {
            rows,
            share,
            keys: keys.as_chunks().0,
            ends: ends.as_chunks().0,
            lists,
        })
    }

    /// Whether the pair of two words is kept. `lengths`: rows of the page that hold each.
    pub(crate) fn keeps(&self, lengths: [u32; 2]) -> bool {
        is_kept(lengths, self.rows, self.share)
    }

    /// The rows of a pair that is kept, by the numbers of its words in the segment.
    pub(crate) fn rows(&self, left: u32, right: u32) -> PairRows<'a> {
        let key = u64::from(left) << 32 | u64::from(right);
        let keys = self.keys;
        let found = keys.binary_search_by_key(&key, |key| u64::from_le_bytes(*key));
        let rows = found.ok().and_then(|number| self.read(number));
        rows.unwrap_or(PairRows::Gaps(0, &[]))
    }

    fn read(&self, number: usize) -> Option<PairRows<'a>> {
        let end = |number: usize| Some(u32::from_le_bytes(*self.ends.get(number)?) as usize);
        let start = number.checked_sub(1).map_or(Some(0), end)?;
        let mut bytes = self.lists.get(start..end(number)?)?;
        let count = cut_small(&mut bytes)? as usize;
        Some(match count < DENSE {
            true => PairRows::Gaps(count, bytes),
            false => PairRows::Bits(count, bytes.as_chunks().0.first_chunk()?),
        })
    }
}

impl PairRows<'_> {
    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        match self {
            PairRows::Gaps(count, _) | PairRows::Bits(count, _) => *count,
        }
    }

    /// Calls `visit` with each row, rising.
    #[inline(always)]
    pub(crate) fn each(&self, mut visit: impl FnMut(u16)) {
        match self {
            PairRows::Gaps(count, bytes) => {
                let (mut at, mut low) = (0, 0u64);
                for _ in 0..*count {
                    let Some(gap) = number_at(bytes, &mut at) else {
                        return;
                    };
                    low = low.wrapping_add(gap);
                    visit(low as u16);
                }
            }
            PairRows::Bits(_, words) => {
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

    /// Keeps those of `lows` (rising) that are in the list.
    #[inline(always)]
    pub(crate) fn narrow(&self, lows: &mut Vec<u16>) {
        let mut kept = 0;
        match self {
            PairRows::Bits(_, words) => {
                for at in 0..lows.len() {
                    let low = lows[at];
                    let word = u64::from_le_bytes(words[usize::from(low >> 6)]);
                    lows[kept] = low;
                    kept += usize::from(word >> (low & 63) & 1 == 1);
                }
            }
            PairRows::Gaps(..) => {
                let mut at = 0;
                self.each(|low| {
                    while at < lows.len() && lows[at] < low {
                        at += 1;
                    }
                    if at < lows.len() && lows[at] == low {
                        lows[kept] = low;
                        kept += 1;
                        at += 1;
                    }
                });
            }
        }
        lows.truncate(kept);
    }
}
