//! Numbers of one width in bits, packed without gaps, lowest bits first.
//!
//! Example: 5, 2, 9, 12 at a width of 4 are the bytes `0x25 0xC9`; number 3 starts at bit 12.

/// Bytes of `count` numbers of `width` bits, the last byte filled up with zeroes.
pub(crate) fn packed_bytes(count: usize, width: u32) -> usize {
    (count * width as usize).div_ceil(8)
}

/// Appends numbers, each below 2^`width`. `width` is at most 32.
pub(crate) fn pack(numbers: impl Iterator<Item = u32>, width: u32, out: &mut Vec<u8>) {
    let (mut word, mut filled) = (0u64, 0);
    for number in numbers {
        word |= u64::from(number) << filled;
        filled += width;
        while filled >= 8 {
            out.push(word as u8);
            word >>= 8;
            filled -= 8;
        }
    }
    if filled > 0 {
        out.push(word as u8);
    }
}

/// The `at`-th number; bits beyond the end of `bytes` read as 0. `width` is at most 32.
#[inline(always)]
pub(crate) fn unpack(bytes: &[u8], at: usize, width: u32) -> u32 {
    let bit = at * width as usize;
    let rest = bytes.get(bit / 8..).unwrap_or_default();
    let word = match rest.first_chunk() {
        Some(word) => u64::from_le_bytes(*word),
        None => rest
            .iter()
            .rev()
            .fold(0, |word, byte| word << 8 | u64::from(*byte)),
    };
    (word >> (bit % 8) & ((1 << width) - 1)) as u32
}

/// Cuts the first `count` bytes off; `None`, and `bytes` unchanged, where it has fewer.
pub(super) fn cut<'a>(bytes: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (cut, rest) = bytes.split_at_checked(count)?;
    *bytes = rest;
    Some(cut)
}
