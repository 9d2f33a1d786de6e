//! Numbers of one width, one behind the other.

/// Bytes of so many numbers of `width` bits.
pub(super) fn packed_bytes(count: usize, width: u32) -> usize {
    (count * width as usize).div_ceil(8)
}

/// Appends numbers below 2 to the power of `width`, which is at most 32.
pub(super) fn pack(numbers: impl Iterator<Item = u32>, width: u32, out: &mut Vec<u8>) {
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

/// The number at a place, 0 where there are no bytes of it. `width` is at most 32.
#[inline]
pub(super) fn unpack(bytes: &[u8], at: usize, width: u32) -> u32 {
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

/// Cuts off the first so many bytes.
pub(super) fn cut<'a>(bytes: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (cut, rest) = bytes.split_at_checked(count)?;
    *bytes = rest;
    Some(cut)
}
