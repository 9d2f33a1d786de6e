//! Classifies the bytes of a text, 32 at a time: which belong to words; and lowers them. It has `unsafe`, since it
//! uses instructions that not every processor has. All other processors run the safe twin below; a property holds the
//! two equal.
//!
//! Example: `Gulf #1` appends `gulf #1` and gives the mask `1001111` (bit 0 right). The `#` makes the result false.
#![expect(
    unsafe_code,
    reason = "vector instructions behind a check of the processor; see each SAFETY"
)]

/// Appends the text with its ASCII letters in lower case to `out`, and fills `masks`. Bit `n` of mask `m` says
/// whether byte `32 m + n` is an ASCII letter, a digit, `_` or outside ASCII. Bits behind the text are 0, and the
/// number of masks is even. Returns whether the text is ASCII without `#` and `@`.
pub(super) fn read(text: &str, out: &mut String, masks: &mut Vec<u32>) -> bool {
    masks.clear();
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the line above asked the processor for AVX2, which is all that the function needs.
        return unsafe { avx2::read(text, out, masks) };
    }
    read_plainly(text, out, masks)
}

/// The safe twin, for any processor.
fn read_plainly(text: &str, out: &mut String, masks: &mut Vec<u32>) -> bool {
    let base = out.len();
    out.push_str(text);
    if let Some(copy) = out.get_mut(base..) {
        copy.make_ascii_lowercase();
    }
    let in_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii();
    for bytes in text.as_bytes().chunks(32) {
        let numbered = bytes.iter().enumerate();
        masks.push(numbered.fold(0, |mask, (at, byte)| mask | u32::from(in_word(byte)) << at));
    }
    if masks.len() % 2 == 1 {
        masks.push(0);
    }
    text.bytes()
        .all(|byte| byte.is_ascii() && !matches!(byte, b'#' | b'@'))
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{
        __m256i, _mm256_and_si256, _mm256_cmpeq_epi8, _mm256_cmpgt_epi8, _mm256_loadu_si256,
        _mm256_movemask_epi8, _mm256_or_si256, _mm256_set1_epi8, _mm256_setzero_si256,
        _mm256_storeu_si256,
    };

    /// [`super::read`]. The masks are 32 bits wide because the compiler, seeing two of them joined, takes them apart bit by bit.
    #[target_feature(enable = "avx2")]
    pub(super) fn read(text: &str, out: &mut String, masks: &mut Vec<u32>) -> bool {
        let (whole, tail) = text.as_bytes().as_chunks::<32>();
        let base = out.len();
        // SAFETY: what is added is the text with ASCII letters lowered, and nothing else once it is cut to the text's length,
        // which is valid UTF-8 since the text is. Nothing in between can panic but for want of memory, which aborts.
        let bytes = unsafe { out.as_mut_vec() };
        bytes.resize(base + (whole.len() + 1) * 32, 0);
        let (lowered, _) = bytes.get_mut(base..).unwrap_or_default().as_chunks_mut();
        masks.reserve(whole.len() + 2);
        let mut slots = lowered.iter_mut();
        let mut odd = _mm256_setzero_si256();
        for (part, slot) in whole.iter().zip(&mut slots) {
            masks.push(one(part, slot, &mut odd));
        }
        if let (false, Some(slot)) = (tail.is_empty(), slots.next()) {
            let mut last = [0; 32];
            if let Some(head) = last.get_mut(..tail.len()) {
                head.copy_from_slice(tail);
            }
            masks.push(one(&last, slot, &mut odd));
        }
        if masks.len() % 2 == 1 {
            masks.push(0);
        }
        bytes.truncate(base + text.len());
        _mm256_movemask_epi8(odd) == 0
    }

    /// The mask of 32 bytes. `odd` gathers the highest bits of bytes outside ASCII and of `#` and `@`. Bytes outside
    /// ASCII are negative to these instructions, so they are in none of the ranges.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn one(part: &[u8; 32], lowered: &mut [u8; 32], odd: &mut __m256i) -> u32 {
        // SAFETY: `part` is 32 readable bytes, and this load asks for no alignment.
        let bytes = unsafe { _mm256_loadu_si256(part.as_ptr().cast::<__m256i>()) };
        let upper = within(bytes, b'A', b'Z');
        let lower = _mm256_or_si256(bytes, _mm256_and_si256(upper, each(0x20)));
        // SAFETY: `lowered` is 32 writable bytes, and this store asks for no alignment.
        unsafe { _mm256_storeu_si256(lowered.as_mut_ptr().cast::<__m256i>(), lower) };
        let letters = within(lower, b'a', b'z');
        let digits = within(bytes, b'0', b'9');
        let others = _mm256_or_si256(digits, is(bytes, b'_'));
        let marks = _mm256_or_si256(is(bytes, b'#'), is(bytes, b'@'));
        *odd = _mm256_or_si256(*odd, _mm256_or_si256(bytes, marks));
        let in_word = _mm256_or_si256(_mm256_or_si256(letters, others), bytes);
        _mm256_movemask_epi8(in_word).cast_unsigned()
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn each(byte: u8) -> __m256i {
        _mm256_set1_epi8(byte.cast_signed())
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn is(bytes: __m256i, byte: u8) -> __m256i {
        _mm256_cmpeq_epi8(bytes, each(byte))
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn within(bytes: __m256i, first: u8, last: u8) -> __m256i {
        let above = _mm256_cmpgt_epi8(bytes, each(first - 1));
        _mm256_and_si256(above, _mm256_cmpgt_epi8(each(last + 1), bytes))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_processor_reads_the_same(
            before in "[a-zé]{0,9}", text in r"([A-Za-z0-9_#@ ]|[ -~]|\PC|[\x00-\x7f]){0,200}"
        ) {
            let (mut wide, mut plain) = ((before.clone(), Vec::new()), (before, Vec::new()));
            let is_plain = read(&text, &mut wide.0, &mut wide.1);
            prop_assert_eq!(is_plain, read_plainly(&text, &mut plain.0, &mut plain.1));
            prop_assert_eq!(wide, plain);
        }
    }
}
