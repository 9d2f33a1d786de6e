//! Compares 64 distances at a time by instructions that give a bit a lane. What the compiler makes of the plain loop
//! ([`super::compare`]) gathers these bits by multiplications, which take as long again as the comparisons.
//!
//! Processors of other kinds run the plain loop. A property holds all forms equal.
#![allow(
    unsafe_code,
    reason = "functions compiled for a processor that was asked for are unsafe to call, and so is reading whole vectors"
)]

use super::Wanted;
use crate::postings::Bitmap;

macro_rules! compare {
    ($name:ident, $bytes:literal) => {
        /// As [`super::compare`].
        pub(super) fn $name(all: &[[u8; $bytes]], wanted: Wanted, bitmap: &mut Bitmap) {
            #[cfg(target_arch = "x86_64")]
            {
                if has_avx512() {
                    // SAFETY: the processor has every feature that the function is compiled with, as was just asked.
                    return unsafe { of_64_bytes::$name(all, wanted, bitmap) };
                }
                if relation::processor::has_avx2() {
                    // SAFETY: the same.
                    return unsafe { of_32_bytes::$name(all, wanted, bitmap) };
                }
            }
            super::compare(all, wanted, bitmap);
        }
    };
}

compare!(one, 1);
compare!(two, 2);
compare!(four, 4);
compare!(eight, 8);

/// Whether the processor has AVX-512 with lanes of bytes, as servers of the last five years have.
#[cfg(target_arch = "x86_64")]
fn has_avx512() -> bool {
    is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw")
}

/// Declares the comparison of distances of some bytes in a kind of vectors: `$each` fills the lanes, `$at_most` gives a bit a lane.
#[cfg(target_arch = "x86_64")]
macro_rules! by_vectors {
    ($features:literal, $name:ident, $bytes:literal, $lane:ty, $each:ident, $subtract:ident, $at_most:ident) => {
        #[target_feature(enable = $features)]
        pub(super) fn $name(
            all: &[[u8; $bytes]],
            (low, span, negated): Wanted,
            bitmap: &mut Bitmap,
        ) {
            let (low, span) = ($each(low as $lane), $each(span as $lane));
            compare_by(all, negated, bitmap, |stretch| {
                bits(stretch, |lanes| {
                    u64::from($at_most($subtract(lanes, low), span))
                })
            });
        }
    };
}

/// The bits of 64 distances, from those of each vector `V` of integers, in their order.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn bits<D, V>(stretch: &[D; 64], held: impl Fn(V) -> u64) -> u64 {
    let vectors = size_of::<[D; 64]>() / size_of::<V>();
    (0..vectors).fold(0, |bits, at| {
        // SAFETY: the stretch has this number of vectors, any bits are integers, and the read asks for no alignment.
        let lanes = unsafe { stretch.as_ptr().cast::<V>().add(at).read_unaligned() };
        bits | held(lanes) << (64 / vectors * at)
    })
}

#[cfg(target_arch = "x86_64")]
mod of_64_bytes {
    use std::arch::x86_64::*;

    use super::super::{Wanted, compare_by};
    use super::bits;
    use crate::postings::Bitmap;

    by_vectors!(
        "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt",
        one,
        1,
        i8,
        _mm512_set1_epi8,
        _mm512_sub_epi8,
        _mm512_cmple_epu8_mask
    );
    by_vectors!(
        "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt",
        two,
        2,
        i16,
        _mm512_set1_epi16,
        _mm512_sub_epi16,
        _mm512_cmple_epu16_mask
    );
    by_vectors!(
        "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt",
        four,
        4,
        i32,
        _mm512_set1_epi32,
        _mm512_sub_epi32,
        _mm512_cmple_epu32_mask
    );
    by_vectors!(
        "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt",
        eight,
        8,
        i64,
        _mm512_set1_epi64,
        _mm512_sub_epi64,
        _mm512_cmple_epu64_mask
    );
}

#[cfg(target_arch = "x86_64")]
mod of_32_bytes {
    use std::arch::x86_64::*;

    use super::super::{Wanted, compare_by};
    use super::bits;
    use crate::postings::Bitmap;

    by_vectors!(
        "avx2,bmi1,bmi2,lzcnt,popcnt",
        one,
        1,
        i8,
        _mm256_set1_epi8,
        _mm256_sub_epi8,
        bytes_at_most
    );
    by_vectors!(
        "avx2,bmi1,bmi2,lzcnt,popcnt",
        two,
        2,
        i16,
        _mm256_set1_epi16,
        _mm256_sub_epi16,
        words_at_most
    );
    by_vectors!(
        "avx2,bmi1,bmi2,lzcnt,popcnt",
        four,
        4,
        i32,
        _mm256_set1_epi32,
        _mm256_sub_epi32,
        fours_at_most
    );
    by_vectors!(
        "avx2,bmi1,bmi2,lzcnt,popcnt",
        eight,
        8,
        i64,
        _mm256_set1_epi64x,
        _mm256_sub_epi64,
        eights_at_most
    );

    /// A bit for each lane of `left` that is at most that of `right`. Lanes are unsigned: there are minima of them and no comparisons.
    #[target_feature(enable = "avx2")]
    fn bytes_at_most(left: __m256i, right: __m256i) -> u32 {
        _mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_min_epu8(left, right), left)).cast_unsigned()
    }

    /// The same of lanes of two bytes. They are packed to bytes, since there are bits of bytes and of fours alone.
    #[target_feature(enable = "avx2")]
    fn words_at_most(left: __m256i, right: __m256i) -> u32 {
        let held = _mm256_cmpeq_epi16(_mm256_min_epu16(left, right), left);
        let (first, last) = (
            _mm256_castsi256_si128(held),
            _mm256_extracti128_si256::<1>(held),
        );
        _mm_movemask_epi8(_mm_packs_epi16(first, last)).cast_unsigned()
    }

    #[target_feature(enable = "avx2")]
    fn fours_at_most(left: __m256i, right: __m256i) -> u32 {
        let held = _mm256_cmpeq_epi32(_mm256_min_epu32(left, right), left);
        _mm256_movemask_ps(_mm256_castsi256_ps(held)).cast_unsigned()
    }

    /// The same of lanes of eight bytes. AVX2 compares these with a sign only. To turn the highest bit of both sides gives the order
    /// without a sign.
    #[target_feature(enable = "avx2")]
    fn eights_at_most(left: __m256i, right: __m256i) -> u32 {
        let turned = _mm256_set1_epi64x(i64::MIN);
        let (left, right) = (
            _mm256_xor_si256(left, turned),
            _mm256_xor_si256(right, turned),
        );
        let above = _mm256_cmpgt_epi64(left, right);
        !_mm256_movemask_pd(_mm256_castsi256_pd(above)).cast_unsigned() & 0xf
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Compares by each form that this processor has.
    macro_rules! by_each_form {
        ($name:ident, $numbers:expr, $wanted:expr) => {{
            let (numbers, (low, span, negated)) = ($numbers, $wanted);
            let mut plain = [u64::MAX; 1024];
            plain[2] = 0x00ff_00ff_00ff_00ff;
            let mut by_vectors = vec![plain, plain];
            super::super::compare(&numbers, (low, span, negated), &mut plain);
            #[cfg(target_arch = "x86_64")]
            {
                if relation::processor::has_avx2() {
                    // SAFETY: the processor has every feature that the function is compiled with, as was just asked.
                    unsafe { of_32_bytes::$name(&numbers, (low, span, negated), &mut by_vectors[0]) };
                    prop_assert!(by_vectors[0] == plain, "vectors of 32 bytes");
                }
                if has_avx512() {
                    // SAFETY: the same.
                    unsafe { of_64_bytes::$name(&numbers, (low, span, negated), &mut by_vectors[1]) };
                    prop_assert!(by_vectors[1] == plain, "vectors of 64 bytes");
                }
            }
        }};
    }

    proptest! {
        /// Each form that this processor can run keeps the rows that the plain loop keeps.
        #[test]
        fn vectors_compare_as_the_plain_loop_does(
            seeds in prop::collection::vec(any::<u64>(), 0..400),
            low in any::<u64>(),
            span in any::<u64>(),
            negated: bool,
            narrow in 0_u32..64,
        ) {
            let (low, span) = (low >> narrow, span >> narrow);
            let near = |seed: &u64| match seed % 3 {
                0 => seed >> narrow,
                1 => low.wrapping_add(seed >> 3 & 1).wrapping_sub(1),
                _ => low.wrapping_add(span).wrapping_add(seed >> 3 & 1),
            };
            let of = |wide: u32| (low & (u64::MAX >> wide), span & (u64::MAX >> wide), negated);
            by_each_form!(one, seeds.iter().map(|seed| [near(seed) as u8]).collect::<Vec<_>>(), of(56));
            by_each_form!(two, seeds.iter().map(|seed| (near(seed) as u16).to_le_bytes()).collect::<Vec<_>>(), of(48));
            by_each_form!(four, seeds.iter().map(|seed| (near(seed) as u32).to_le_bytes()).collect::<Vec<_>>(), of(32));
            by_each_form!(eight, seeds.iter().map(|seed| near(seed).to_le_bytes()).collect::<Vec<_>>(), of(0));
        }
    }
}
