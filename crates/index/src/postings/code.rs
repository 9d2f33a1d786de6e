//! The code of a posting: one byte for the occurrences of a word in a row and the row's length.
//!
//! `occurrence class (3 bits) << 5 | length class (5 bits)`. Classes 1 to 7 are that number of
//! occurrences. Class 0 is eight or more; the list keeps the exact number apart. A row's length is
//! the number of its words over all text columns.
//!
//! Example: a word stands 3 times in a row of 7 words. Length class 5 holds lengths 7 and 8, so the
//! code is `3 << 5 | 5` = 101. A weight takes the row as 7 words long, the middle of the class.
//!
//! The classes never change: files hold them, and weights are computed from them.

use std::sync::OnceLock;

use relation::options::Ranker;

/// Least number of occurrences that a code does not tell.
pub(crate) const HITS_OPEN: u32 = 8;

const LENGTH_BITS: u32 = 5;
const LENGTH_MASK: u8 = (1 << LENGTH_BITS) - 1;

/// Longest row of length classes 0 to 30, in words, each about √2 times the one before. Class 31
/// holds all longer rows.
const LENGTHS: [u32; 31] = [
    1, 2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 64, 91, 128, 181, 256, 362, 512, 724, 1024, 1448, 2048,
    2896, 4096, 5793, 8192, 11585, 16384, 23170, 32768, 46341,
];

/// Length that weights assume for every row of class 31.
const LENGTH_LAST: u32 = 65_536;

/// For each code, the factor of a word's `idf` in a ranker that looks at lengths, in units of 2⁻³⁰.
/// A code of eight or more occurrences has the factor 1, an upper bound.
pub(crate) type Shares = [u32; 256];

/// The factors of the first such ranker that a search used. They depend on the table's statistics
/// alone, so a snapshot keeps them from query to query. Another ranker makes its own each time.
pub(crate) type SharesCache = OnceLock<(Ranker, Shares)>;

/// Packs `hits` occurrences (at least 1) in a row of that length class into a code.
pub(crate) fn code(hits: u32, length_class: u8) -> u8 {
    let class = if hits < HITS_OPEN { hits as u8 } else { 0 };
    class << LENGTH_BITS | length_class.min(LENGTH_MASK)
}

/// Occurrences that a code tells, 1 to 7; `None` for [`HITS_OPEN`] or more.
pub(crate) fn hits_of(code: u8) -> Option<u32> {
    match code >> LENGTH_BITS {
        0 => None,
        class => Some(u32::from(class)),
    }
}

/// Length class in a code, 0 to 31.
pub(crate) fn class_of(code: u8) -> u8 {
    code & LENGTH_MASK
}

/// Length class of a row with this many words, 0 to 31.
pub(crate) fn length_class(words: u32) -> u8 {
    LENGTHS.partition_point(|most| *most < words) as u8
}

/// Length in words that weights assume for each row of a class: the middle of the class.
pub(crate) fn length_of_class(class: u8) -> u32 {
    let class = usize::from(class);
    let Some(most) = LENGTHS.get(class) else {
        return LENGTH_LAST;
    };
    let least = match class {
        0 => 1,
        class => LENGTHS[class - 1] + 1,
    };
    least.midpoint(*most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_rise_with_lengths_and_hold_their_own_middle() {
        for words in 1..100_000 {
            assert!(length_class(words) <= length_class(words + 1));
        }
        for class in 0..32 {
            assert_eq!(length_class(length_of_class(class)), class);
        }
        assert_eq!((length_class(0), length_class(u32::MAX)), (0, 31));
    }

    #[test]
    fn a_code_tells_hits_and_length() {
        for class in 0..32 {
            for hits in 1..8 {
                assert_eq!(hits_of(code(hits, class)), Some(hits));
                assert_eq!(class_of(code(hits, class)), class);
            }
            assert_eq!(hits_of(code(8, class)), None);
            assert_eq!(hits_of(code(u32::MAX, class)), None);
        }
    }
}
