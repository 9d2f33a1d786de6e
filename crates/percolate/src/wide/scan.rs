//! Deciding every entry of a small level for all documents of a slice, eight entries at a time, with AVX-512.

use std::arch::x86_64::*;

use crate::{
    entry::{Entry, ORDINALS_MAX},
    hit_pairs::HitPairs,
    level::Scanned,
    scratch::Candidates,
};

/// Entries decided at once.
const LANES: usize = 8;

/// The AVX-512 form of [`Steps::scan`](crate::scratch::Steps::scan).
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512vpopcntdq,popcnt")]
pub(super) fn scan(
    scanned: &Scanned,
    masks: &[u64],
    first: u32,
    others: &mut Candidates,
    hit_pairs: &mut HitPairs,
) -> u64 {
    let mut candidates = _mm512_setzero_si512();
    let parts = scanned.entries.chunks(LANES);
    for ((entries, anchors), from) in parts.zip(scanned.anchors.chunks(LANES)).zip(0_u32..) {
        let used = (0xff_u32 >> (LANES - entries.len())) as __mmask8;
        // SAFETY: only lanes below the length of the list are read.
        let anchors = unsafe { _mm256_maskz_loadu_epi32(used, anchors.as_ptr().cast()) };
        let mut held = gather(masks, used, anchors);
        candidates = _mm512_add_epi64(candidates, _mm512_popcnt_epi64(held));
        let there = _mm512_test_epi64_mask(held, held);
        if there == 0 {
            continue;
        }
        let [query, near @ ..] = take(entries, used);
        let simple = _mm256_mask_cmplt_epu32_mask(there, query, all(ORDINALS_MAX));
        let mut left = simple;
        for condition in near {
            if left == 0 {
                break;
            }
            // The condition is twice the term and 1 if it must not be there.
            let holding = gather(masks, left, _mm256_srli_epi32::<1>(condition));
            let without = _mm256_mask_test_epi32_mask(left, condition, all(1));
            let kept =
                _mm512_mask_andnot_epi64(_mm512_and_si512(held, holding), without, holding, held);
            held = kept;
            left = _mm512_mask_test_epi64_mask(left, held, held);
        }
        add(left, query, held, first, hit_pairs);
        let mut aside = there & !simple;
        while aside != 0 {
            others.numbers[others.len] = from * LANES as u32 + aside.trailing_zeros();
            others.len += 1;
            aside &= aside - 1;
        }
    }
    _mm512_reduce_add_epi64(candidates).cast_unsigned()
}

/// Adds a pair for each document of each entry in `some`.
#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn add(mut some: __mmask8, query: __m256i, held: __m512i, first: u32, hit_pairs: &mut HitPairs) {
    if some == 0 {
        return;
    }
    let (mut queries, mut documents) = ([0_u32; LANES], [0_u64; LANES]);
    // SAFETY: both have room for eight numbers.
    unsafe {
        _mm256_storeu_epi32(queries.as_mut_ptr().cast(), query);
        _mm512_storeu_epi64(documents.as_mut_ptr().cast(), held);
    }
    while some != 0 {
        let lane = some.trailing_zeros() as usize;
        hit_pairs.add(queries[lane], first, documents[lane]);
        some &= some - 1;
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn all(number: u32) -> __m256i {
    _mm256_set1_epi32(number.cast_signed())
}

/// The masks of these terms; 0 in lanes that are not `wanted` or whose term has no mask.
#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn gather(masks: &[u64], wanted: __mmask8, terms: __m256i) -> __m512i {
    let len = masks.len().min(i32::MAX as usize) as u32;
    let wanted = _mm256_mask_cmplt_epu32_mask(wanted, terms, all(len));
    let zeros = _mm512_setzero_si512();
    // SAFETY: terms of lanes in use lie inside the list, and as signed numbers they are not negative.
    unsafe { _mm512_mask_i32gather_epi64::<8>(zeros, wanted, terms, masks.as_ptr().cast()) }
}

/// The four numbers of each of up to eight entries, the query first.
#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn take(entries: &[Entry], used: __mmask8) -> [__m256i; 4] {
    const NUMBERS: usize = size_of::<Entry>() / 4;
    let (steps, zeros) = (_mm256_set_epi32(28, 24, 20, 16, 12, 8, 4, 0), all(0));
    let numbers: *const i32 = entries.as_ptr().cast();
    let every = |number: usize| {
        // SAFETY: an entry is laid out as in C, four numbers of 32 bits without room between them. The mask
        // limits the read to entries that exist.
        unsafe { _mm256_mmask_i32gather_epi32::<4>(zeros, used, steps, numbers.add(number).cast()) }
    };
    const { assert!(NUMBERS == 4) };
    [every(0), every(1), every(2), every(3)]
}
