//! A set of rows of one page: a short rising list, or a bitmap.

use super::buffers::Buffers;
use crate::postings::Bitmap;
use crate::wide::wide;

/// Least rows of a set that is made as a bitmap. A bitmap may come to hold fewer.
pub(super) const FEW: usize = 1024;

/// Rows of a page, each the low 16 bits of its doc.
pub(super) enum Rows {
    /// Rising, each once.
    Few(Vec<u16>),
    Many(Box<Bitmap>),
}

impl Buffers {
    /// Takes the memory of a set back for later use.
    pub(super) fn give(&mut self, rows: Rows) {
        match rows {
            Rows::Few(lows) => self.lows.push(lows),
            Rows::Many(bitmap) => self.bitmaps.push(bitmap),
        }
    }
}

impl Rows {
    /// Makes a set of rising rows.
    pub(super) fn of(rows: &[u16], buffers: &mut Buffers) -> Rows {
        if rows.len() < FEW {
            let mut lows = buffers.lows();
            lows.extend_from_slice(rows);
            return Rows::Few(lows);
        }
        let mut bitmap = buffers.bitmap();
        rows.iter().for_each(|low| set(&mut bitmap, *low));
        Rows::Many(bitmap)
    }

    /// Makes the set a list.
    pub(super) fn become_few(&mut self, buffers: &mut Buffers) {
        if let Rows::Many(_) = self {
            let mut lows = buffers.lows();
            self.each(|low| lows.push(low));
            buffers.give(std::mem::replace(self, Rows::Few(lows)));
        }
    }

    pub(super) fn contains(&self, low: u16) -> bool {
        match self {
            Rows::Few(lows) => lows.binary_search(&low).is_ok(),
            Rows::Many(bitmap) => has(bitmap, low),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        match self {
            Rows::Few(lows) => lows.is_empty(),
            Rows::Many(bitmap) => bitmap.iter().all(|word| *word == 0),
        }
    }

    /// Number of rows. Cost: counts the bits of a bitmap.
    pub(super) fn len(&self) -> usize {
        match self {
            Rows::Few(lows) => lows.len(),
            Rows::Many(bitmap) => count_wide(bitmap),
        }
    }

    /// Adds the rows to a bitmap.
    pub(super) fn unite(&self, into: &mut Bitmap) {
        match self {
            Rows::Few(lows) => lows.iter().for_each(|low| set(into, *low)),
            Rows::Many(bitmap) => {
                for (into, word) in into.iter_mut().zip(&**bitmap) {
                    *into |= word;
                }
            }
        }
    }

    /// Keeps the rows for which `is_kept` is true; asks by rising row.
    pub(super) fn retain(&mut self, mut is_kept: impl FnMut(u16) -> bool) {
        match self {
            Rows::Few(lows) => lows.retain(|low| is_kept(*low)),
            Rows::Many(bitmap) => {
                for (at, word) in bitmap.iter_mut().enumerate() {
                    each_bit(at, *word, |low| {
                        if !is_kept(low) {
                            *word &= !(1 << (low & 63));
                        }
                    });
                }
            }
        }
    }

    /// Keeps the rows that are in `other`; with `inside` false, those that are not.
    pub(super) fn intersect(&mut self, other: &Rows, inside: bool) {
        match (self, other) {
            (Rows::Many(bitmap), Rows::Many(other)) => {
                let flip = if inside { 0 } else { u64::MAX };
                for (word, other) in bitmap.iter_mut().zip(&**other) {
                    *word &= other ^ flip;
                }
            }
            (Rows::Many(bitmap), Rows::Few(lows)) => {
                let mut rest = lows.iter().copied().peekable();
                for (at, word) in bitmap.iter_mut().enumerate() {
                    let mut here = 0;
                    while let Some(low) = rest.next_if(|low| usize::from(*low >> 6) == at) {
                        here |= 1 << (low & 63);
                    }
                    *word &= if inside { here } else { !here };
                }
            }
            (Rows::Few(lows), other) => lows.retain(|low| other.contains(*low) == inside),
        }
    }

    /// Calls `visit` with each row, rising.
    pub(super) fn each(&self, mut visit: impl FnMut(u16)) {
        match self {
            Rows::Few(lows) => lows.iter().for_each(|low| visit(*low)),
            Rows::Many(bitmap) => {
                for (at, word) in bitmap.iter().enumerate() {
                    each_bit(at, *word, &mut visit);
                }
            }
        }
    }
}

/// Neighbouring rows of a set.
#[derive(Clone, Copy)]
pub(super) enum RowsRef<'r> {
    Few(&'r [u16]),
    /// Index of the first 64-bit word, and the 64-bit words of a bitmap.
    Many(usize, &'r [u64]),
}

impl RowsRef<'_> {
    /// Appends the rows, rising, to `lows`.
    #[inline(always)]
    pub(super) fn gather(self, lows: &mut Vec<u16>) {
        match self {
            RowsRef::Few(rows) => lows.extend_from_slice(rows),
            RowsRef::Many(first, words) => {
                for (at, eight) in words.chunks(8).enumerate() {
                    if eight.iter().fold(0, |any, word| any | word) != 0 {
                        for (word, at) in eight.iter().zip(first + at * 8..) {
                            push_bits(at, *word, lows);
                        }
                    }
                }
            }
        }
    }

    /// Calls `visit` with each row, rising.
    pub(super) fn each(self, mut visit: impl FnMut(u16)) {
        match self {
            RowsRef::Few(lows) => lows.iter().for_each(|low| visit(*low)),
            RowsRef::Many(first, words) => {
                for (at, word) in words.iter().enumerate() {
                    each_bit(first + at, *word, &mut visit);
                }
            }
        }
    }
}

impl Rows {
    /// Cuts the rows into stretches of [`STRETCH`] bytes of the list or bitmap.
    pub(super) fn stretches(&self) -> impl Iterator<Item = RowsRef<'_>> {
        let (lows, words): (&[u16], &[u64]) = match self {
            Rows::Few(lows) => (lows, &[]),
            Rows::Many(bitmap) => (&[], &**bitmap),
        };
        let words = words.chunks(STRETCH / 8).enumerate();
        let words = words.map(|(at, words)| RowsRef::Many(at * STRETCH / 8, words));
        lows.chunks(STRETCH / 2).map(RowsRef::Few).chain(words)
    }
}

/// Bytes of a stretch: 256 rows of a list, or 4,096 rows of the page in a bitmap. Between stretches
/// a caller compares the threshold again.
const STRETCH: usize = 512;

/// Calls `visit` with the row of each bit of the bitmap's `at`-th 64-bit word, rising.
#[inline(always)]
pub(super) fn each_bit(at: usize, mut word: u64, mut visit: impl FnMut(u16)) {
    while word != 0 {
        visit((at as u32 * 64 + word.trailing_zeros()) as u16);
        word &= word - 1;
    }
}

/// As [`each_bit`] with a push for each row, but room is made once.
#[inline(always)]
pub(super) fn push_bits(at: usize, mut word: u64, lows: &mut Vec<u16>) {
    lows.extend((0..word.count_ones()).map(|_| {
        let low = at as u32 * 64 + word.trailing_zeros();
        word &= word - 1;
        low as u16
    }));
}

/// Whether a row is in a bitmap.
#[inline]
pub(super) fn has(bitmap: &Bitmap, low: u16) -> bool {
    bitmap[usize::from(low >> 6)] >> (low & 63) & 1 == 1
}

/// Adds a row to a bitmap.
#[inline]
pub(super) fn set(bitmap: &mut Bitmap, low: u16) {
    bitmap[usize::from(low >> 6)] |= 1 << (low & 63);
}

/// Number of rows in a bitmap.
#[inline(always)]
pub(super) fn count(bitmap: &Bitmap) -> usize {
    bitmap.iter().map(|word| word.count_ones() as usize).sum()
}

wide! {
    fn count_wide(bitmap: &Bitmap) -> usize = count
}
