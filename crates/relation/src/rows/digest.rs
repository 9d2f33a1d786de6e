//! Numbers in the place of the bytes of long keys.
//!
//! A key of [`LONG_BYTES`] or more is known by its length and 128 bits of a keyed hash. So groups and distinct values of texts of 15
//! MiB take some bytes each, and two of them are compared in one step. The hash is SipHash, of the standard library, with a key that
//! this process has drawn: two different keys have one number with a chance of 2^-128, and nobody outside can look for such keys.
//!
//! Example: the texts `Aa…` and `aA…` of a million letters have one number, `ab…` has another.

use std::hash::{BuildHasher, DefaultHasher, Hasher, RandomState};
use std::sync::LazyLock;

use language::meter::{Meter, Work};

/// Least bytes of a key that gets a number.
pub(super) const LONG_BYTES: usize = 16 << 10;

/// Bytes that are hashed at a time.
const PIECE_BYTES: usize = 4 << 10;

/// Units of a byte that is hashed.
const HASHED_UNITS: u64 = 2;

/// Draws the key of the hash.
static KEY: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// The number of a key that is given piece by piece.
struct Digest<'m> {
    /// Hashes of one key over the same bytes, each behind another first byte.
    halves: [DefaultHasher; 2],
    work: Work<'m>,
}

impl<'m> Digest<'m> {
    fn new(meter: &'m dyn Meter) -> Digest<'m> {
        let half = |first| {
            let mut hasher = KEY.build_hasher();
            hasher.write_u8(first);
            hasher
        };
        Digest {
            halves: [half(0), half(1)],
            work: Work::new(meter),
        }
    }

    /// `None`: the meter has stopped.
    fn add(&mut self, piece: &[u8]) -> Option<()> {
        self.work.begin(HASHED_UNITS * piece.len() as u64)?;
        self.halves.iter_mut().for_each(|half| half.write(piece));
        Some(())
    }

    fn end(self) -> [u8; 16] {
        let [low, high] = self.halves.map(|half| half.finish());
        (u128::from(high) << 64 | u128::from(low)).to_le_bytes()
    }
}

/// The number of a text, the same for texts that differ in the case of ASCII letters alone. Of no use once the meter has stopped.
pub(super) fn of_text(text: &[u8], meter: &dyn Meter) -> [u8; 16] {
    let (mut digest, mut folded) = (Digest::new(meter), Vec::with_capacity(PIECE_BYTES));
    for piece in text.chunks(PIECE_BYTES) {
        folded.clear();
        folded.extend_from_slice(piece);
        folded.make_ascii_lowercase();
        if digest.add(&folded).is_none() {
            break;
        }
    }
    digest.end()
}

/// The number of bytes. Of no use once the meter has stopped.
pub(super) fn of_bytes(bytes: &[u8], meter: &dyn Meter) -> [u8; 16] {
    let mut digest = Digest::new(meter);
    let mut pieces = bytes.chunks(PIECE_BYTES);
    pieces.all(|piece| digest.add(piece).is_some());
    digest.end()
}

/// The number of the numbers of a set. Of no use once the meter has stopped.
pub(super) fn of_set(numbers: &[i64], meter: &dyn Meter) -> [u8; 16] {
    let mut digest = Digest::new(meter);
    for piece in numbers.chunks(PIECE_BYTES / size_of::<i64>()) {
        let bytes = piece.iter().flat_map(|number| number.to_le_bytes());
        let bytes: Vec<u8> = bytes.collect();
        if digest.add(&bytes).is_none() {
            break;
        }
    }
    digest.end()
}

#[cfg(test)]
mod tests {
    use language::meter::{Budget, Unmetered};

    use super::*;

    #[test]
    fn numbers_differ_where_one_byte_does_and_not_by_case() {
        let text = |at: usize, byte: u8| {
            let mut text = vec![b'A'; 3 * LONG_BYTES];
            text[at] = byte;
            text
        };
        let of = |text: &[u8]| of_text(text, &Unmetered);
        let known = of(&text(0, b'a'));
        for at in [0, PIECE_BYTES - 1, PIECE_BYTES, 3 * LONG_BYTES - 1] {
            assert_eq!(of(&text(at, b'a')), known);
            assert_ne!(of(&text(at, b'b')), known);
            let bytes = |byte| of_bytes(&text(at, byte), &Unmetered);
            assert_ne!(bytes(b'a'), bytes(b'A'));
        }
        assert_ne!(of(&text(0, b'a')[1..]), known);
        let set = |last| {
            let numbers: Vec<i64> = (0..9_999).chain([last]).collect();
            of_set(&numbers, &Unmetered)
        };
        assert_ne!(set(10_000), set(10_001));
        assert_eq!(set(10_000), set(10_000));
    }

    #[test]
    fn a_stopped_meter_ends_it_before_the_next_piece() {
        let budget = Budget::new(100_000);
        of_text(&vec![b'a'; 64 << 20], &budget);
        assert_eq!(budget.left(), 0);
    }
}
