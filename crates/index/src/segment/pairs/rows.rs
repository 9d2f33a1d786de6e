//! The rows of a pair on a page.
//!
//! A row of a *sparse* list is cut in two. Its lowest bits, the same number for each row of the list, stand packed one behind the
//! other. For the rest a bit is set in a string: for the `at`-th row, bit `rest + at`. (This is the code of Elias and Fano.) Two to
//! three bits a row are then in the string, wherever the rows stand. Example: the rows 3, 5, 9 and 14 of a page of 16 rows, cut
//! behind log₂(16 / 4) = 2 bits.
//!
//! ```text
//! row        3       5       9       14
//! lowest     3       1       1       2         packed, 2 bits each
//! rest       0       1       2       3
//! bit        0       1+1     2+2     3+3       1 0 1 0 1 0 1 0, to the last bit that could be set
//! ```
//!
//! From [`DENSE`] rows on a list is a bitmap. The length of a list follows from its rows and those of the page.

use crate::postings::{PAGE_WORDS, pack, packed_bytes, unpack};

/// Rows from which on a list is a bitmap.
pub(super) const DENSE: usize = 8 * PAGE_WORDS;

/// The rows of a pair on a page.
#[derive(Clone, Copy)]
pub(crate) enum PairRows<'a> {
    /// Below [`DENSE`] rows.
    Sparse(SparseRows<'a>),
    /// The number of rows, and a bit for each row, as in [`crate::postings::Bitmap`].
    Bits(usize, &'a [[u8; 8]; PAGE_WORDS]),
}

/// Rows cut in two, as the module has it.
#[derive(Clone, Copy)]
pub(crate) struct SparseRows<'a> {
    count: usize,
    low_bits: u32,
    /// The packed lowest bits, and any bytes behind them.
    lows: &'a [u8],
    highs: &'a [u8],
}

/// The number of lowest bits of each row.
fn low_bits(count: u32, rows: u32) -> u32 {
    (rows / count.max(1)).max(1).ilog2()
}

/// Bytes of the lowest bits, and of the string of the others.
fn sparse_bytes(count: u32, rows: u32) -> [usize; 2] {
    let low_bits = low_bits(count, rows);
    let high = rows.saturating_sub(1) >> low_bits;
    let lows = packed_bytes(count as usize, low_bits);
    [lows, (count + high + 1).div_ceil(8) as usize]
}

/// Bytes of a list. `rows`: those of the page.
pub(super) fn list_bytes(count: u32, rows: u32) -> usize {
    match (count as usize) < DENSE {
        true => sparse_bytes(count, rows).iter().sum(),
        false => 8 * PAGE_WORDS,
    }
}

/// Appends a sparse list. `list`: below [`DENSE`] rows of a page of `rows`, rising.
pub(super) fn encode(list: &[u16], rows: u32, out: &mut Vec<u8>) {
    let count = list.len() as u32;
    let low_bits = low_bits(count, rows);
    let [_, high_bytes] = sparse_bytes(count, rows);
    let low = |row: &u16| u32::from(*row) & ((1 << low_bits) - 1);
    pack(list.iter().map(low), low_bits, out);
    let start = out.len();
    out.resize(start + high_bytes, 0);
    for (row, at) in list.iter().zip(0..) {
        let bit = (usize::from(*row) >> low_bits) + at;
        out[start + bit / 8] |= 1 << (bit % 8);
    }
}

impl<'a> PairRows<'a> {
    pub(super) const NONE: PairRows<'static> = PairRows::Sparse(SparseRows {
        count: 0,
        low_bits: 0,
        lows: &[],
        highs: &[],
    });

    /// Opens the list that `bytes` begin with; `None` where they are too short.
    pub(super) fn open(bytes: &'a [u8], count: u32, rows: u32) -> Option<PairRows<'a>> {
        if count as usize >= DENSE {
            let bits = bytes.as_chunks().0.first_chunk()?;
            return Some(PairRows::Bits(count as usize, bits));
        }
        let [low_bytes, high_bytes] = sparse_bytes(count, rows);
        Some(PairRows::Sparse(SparseRows {
            count: count as usize,
            low_bits: low_bits(count, rows),
            lows: bytes, // bytes behind them let eight bytes be read at once
            highs: bytes.get(low_bytes..low_bytes + high_bytes)?,
        }))
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        match self {
            PairRows::Sparse(sparse) => sparse.count,
            PairRows::Bits(count, _) => *count,
        }
    }

    /// Calls `visit` with each row, rising.
    #[inline(always)]
    pub(crate) fn each(&self, mut visit: impl FnMut(u16)) {
        match self {
            PairRows::Sparse(sparse) => sparse.each(visit),
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
            PairRows::Sparse(sparse) => {
                let mut at = 0;
                sparse.each(|low| {
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

impl SparseRows<'_> {
    #[inline(always)]
    fn each(&self, mut visit: impl FnMut(u16)) {
        let mut at = 0;
        let mut each_bit = |mut word: u64, first: usize| {
            while word != 0 && at < self.count {
                let high = first + word.trailing_zeros() as usize - at;
                let low = unpack(self.lows, at, self.low_bits);
                visit(((high as u32) << self.low_bits | low) as u16);
                at += 1;
                word &= word - 1;
            }
        };
        let (words, rest) = self.highs.as_chunks::<8>();
        for (word, first) in words.iter().zip((0..).step_by(64)) {
            each_bit(u64::from_le_bytes(*word), first);
        }
        let rest_bits = rest.iter().rev();
        let rest_bits = rest_bits.fold(0, |word, byte| word << 8 | u64::from(*byte));
        each_bit(rest_bits, 64 * words.len());
    }
}
