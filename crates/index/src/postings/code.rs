//! The code of a posting: how often a word stands in a row, and how long the row is, in one byte.
//!
//! `hits class (3 bits) << 5 | length class (5 bits)`. Hits classes 1 to 7 are that many hits; 0 is eight or more, whose number
//! a list keeps aside. A row's length is its words over all text columns. The classes are fixed for good: weights
//! are made from them, and files hold them.

/// Hits from which on a code does not tell how many.
pub(crate) const HITS_OPEN: u32 = 8;

const LENGTH_BITS: u32 = 5;
const LENGTH_MASK: u8 = (1 << LENGTH_BITS) - 1;

/// The most words of a row of each length class but the last, which holds all longer rows: each about √2 times the one before.
const LENGTHS: [u32; 31] = [
    1, 2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 64, 91, 128, 181, 256, 362, 512, 724, 1024, 1448, 2048,
    2896, 4096, 5793, 8192, 11585, 16384, 23170, 32768, 46341,
];

/// What rows of the last class are taken to be as long as.
const LENGTH_LAST: u32 = 65_536;

/// By code, what share of a word's `idf` it is worth where lengths count, in 2⁻³⁰; of a code that stands for eight hits or
/// more, all. It depends on the table's statistics alone.
pub(crate) type Shares = [u32; 256];

/// The code of so many hits (at least one) in a row of that length class.
pub(crate) fn code(hits: u32, length_class: u8) -> u8 {
    let class = if hits < HITS_OPEN { hits as u8 } else { 0 };
    class << LENGTH_BITS | length_class.min(LENGTH_MASK)
}

/// The hits that a code tells, or `None` where there are [`HITS_OPEN`] or more.
pub(crate) fn hits_of(code: u8) -> Option<u32> {
    match code >> LENGTH_BITS {
        0 => None,
        class => Some(u32::from(class)),
    }
}

/// The length class of a row that a code tells.
pub(crate) fn class_of(code: u8) -> u8 {
    code & LENGTH_MASK
}

/// The class of a row of so many words.
pub(crate) fn length_class(words: u32) -> u8 {
    LENGTHS.partition_point(|most| *most < words) as u8
}

/// What every row of a class is taken to be as long as: the middle of the class, in words.
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
