//! The bytes of a text, 64 at a time: which belong to words, and all of them in lower case. The one module of this crate with
//! `unsafe` in it: it uses instructions that not every processor has. The safe twin below is what all other processors run; a
//! property holds the two equal.
#![expect(
    unsafe_code,
    reason = "vector instructions behind a check of the processor; see each SAFETY"
)]

/// What 64 bytes of a text are; bit `n` is the `n`-th byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Block {
    /// ASCII letters, digits, `_`, and every byte outside ASCII.
    pub(super) stretch: u64,
    /// `#` and `@`.
    pub(super) mark: u64,
    /// Bytes outside ASCII.
    pub(super) high: u64,
}

/// Adds the text with its ASCII letters in lower case to `out`, and what its bytes are to `blocks`, which is emptied first. Bits
/// behind the text are 0.
pub(super) fn read(text: &str, out: &mut String, blocks: &mut Vec<Block>) {
    blocks.clear();
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the line above asked the processor for AVX2, which is all that the function needs.
        return unsafe { avx2::read(text, out, blocks) };
    }
    read_plainly(text, out, blocks);
}

/// The same on any processor.
fn read_plainly(text: &str, out: &mut String, blocks: &mut Vec<Block>) {
    let base = out.len();
    out.push_str(text);
    if let Some(copy) = out.get_mut(base..) {
        copy.make_ascii_lowercase();
    }
    blocks.extend(text.as_bytes().chunks(64).map(|bytes| {
        let mut block = Block::default();
        for (number, byte) in bytes.iter().enumerate() {
            let bit = |is: bool| u64::from(is) << number;
            let in_word = byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii();
            block.stretch |= bit(in_word);
            block.mark |= bit(matches!(byte, b'#' | b'@'));
            block.high |= bit(!byte.is_ascii());
        }
        block
    }));
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{
        __m256i, _mm256_add_epi8, _mm256_and_si256, _mm256_cmpeq_epi8, _mm256_loadu_si256,
        _mm256_min_epu8, _mm256_movemask_epi8, _mm256_or_si256, _mm256_set1_epi8,
        _mm256_storeu_si256, _mm256_sub_epi8,
    };

    use super::Block;

    /// [`super::read`] by 32 bytes at once.
    #[target_feature(enable = "avx2")]
    pub(super) fn read(text: &str, out: &mut String, blocks: &mut Vec<Block>) {
        let (whole, tail) = text.as_bytes().as_chunks::<64>();
        let base = out.len();
        // SAFETY: what is added is the text with ASCII letters lowered, and nothing else once it is cut to the text's length,
        // which is valid UTF-8 since the text is. Nothing in between can panic but for want of memory, which aborts.
        let bytes = unsafe { out.as_mut_vec() };
        bytes.reserve(text.len() + 64);
        blocks.reserve(whole.len() + 1);
        for block in whole {
            let (lower, block) = one(block);
            bytes.extend_from_slice(&lower);
            blocks.push(block);
        }
        if !tail.is_empty() {
            let mut last = [0; 64];
            if let Some(slots) = last.get_mut(..tail.len()) {
                slots.copy_from_slice(tail);
            }
            let (lower, block) = one(&last);
            bytes.extend_from_slice(&lower);
            blocks.push(block);
        }
        bytes.truncate(base + text.len());
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn one(block: &[u8; 64]) -> ([u8; 64], Block) {
        let mut lower = [0; 64];
        let (halves, _) = block.as_chunks::<32>();
        let (lower_halves, _) = lower.as_chunks_mut::<32>();
        let mut found = Block::default();
        for (number, (half, out)) in halves.iter().zip(lower_halves).enumerate() {
            // SAFETY: `half` is 32 readable bytes, and this load asks for no alignment.
            let bytes = unsafe { _mm256_loadu_si256(half.as_ptr().cast::<__m256i>()) };
            let (lowered, block) = half_block(bytes);
            // SAFETY: `out` is 32 writable bytes, and this store asks for no alignment.
            unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast::<__m256i>(), lowered) };
            found.stretch |= block.stretch << (number * 32);
            found.mark |= block.mark << (number * 32);
            found.high |= block.high << (number * 32);
        }
        (lower, found)
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn half_block(bytes: __m256i) -> (__m256i, Block) {
        let each = |byte: u8| _mm256_set1_epi8(byte.cast_signed());
        let bits = |flags: __m256i| u64::from(_mm256_movemask_epi8(flags).cast_unsigned());
        // Unsigned `x - from < count`, as there is no unsigned comparison.
        let within = |bytes: __m256i, from: u8, last: u8| {
            let shifted = _mm256_sub_epi8(bytes, each(from));
            _mm256_cmpeq_epi8(_mm256_min_epu8(shifted, each(last - from)), shifted)
        };
        let is = |byte: u8| _mm256_cmpeq_epi8(bytes, each(byte));
        let upper = within(bytes, b'A', b'Z');
        let lowered = _mm256_add_epi8(bytes, _mm256_and_si256(upper, each(0x20)));
        let letters = within(lowered, b'a', b'z');
        let others = _mm256_or_si256(within(bytes, b'0', b'9'), is(b'_'));
        let high = bits(bytes);
        let block = Block {
            stretch: bits(_mm256_or_si256(letters, others)) | high,
            mark: bits(_mm256_or_si256(is(b'#'), is(b'@'))),
            high,
        };
        (lowered, block)
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
            read(&text, &mut wide.0, &mut wide.1);
            read_plainly(&text, &mut plain.0, &mut plain.1);
            prop_assert_eq!(wide, plain);
        }
    }
}
