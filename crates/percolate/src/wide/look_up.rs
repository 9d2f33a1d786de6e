//! Looking up words, eight at a time, with AVX-512.

use std::arch::x86_64::*;

use query::analysis::Words;

use crate::{
    dictionary::View,
    dictionary::table::{self, Bucket, KeyEntry, WAYS},
    hit_pairs::grow,
    term::{HASH_ADDED, HASH_FACTOR, Key, LIMITED, SHORT_BYTES_MAX, USED},
    word_terms::WordTerms,
};

/// Words looked up at once.
const LANES: usize = 8;

/// The size of a bucket and of a key entry, in 32-bit and in 64-bit numbers.
const BUCKET: [usize; 2] = [size_of::<Bucket>() / 4, size_of::<Bucket>() / 8];
const KEY_ENTRY: [usize; 2] = [size_of::<KeyEntry>() / 4, size_of::<KeyEntry>() / 8];

const _: () = assert!(
    WAYS == 4 && BUCKET[0] == 8 && KEY_ENTRY[0] == 6,
    "see `find`"
);

/// The AVX-512 form of [`WordTerms::look_up`]. A table with keys in `apart` takes the plain form.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,bmi2,popcnt")]
pub(super) fn look_up(view: View<'_>, document: &Words, word_terms: &mut WordTerms) {
    let is_split =
        view.base.apart.is_some() || view.recent.is_some_and(|recent| recent.apart.is_some());
    if is_split {
        return word_terms.look_up(view, document);
    }
    let words = document.len();
    grow(&mut word_terms.keys, words + LANES);
    grow(&mut word_terms.plain, words + LANES);
    grow(&mut word_terms.known, words + LANES);
    let longest = keys(document, &mut word_terms.keys);
    let (mut known_len, mut limited) = (0, 0);
    for from in (0..words).step_by(LANES) {
        let used = (0xff_u32 >> (LANES - (words - from).min(LANES))) as __mmask8;
        let (low, high) = load(&word_terms.keys[from..from + LANES]);
        let hash = hash(low, high);
        let mut found = find(view.base, low, high, hash, used);
        if let Some(recent) = view.recent {
            let newer = find(recent, low, high, hash, used);
            found = _mm256_mask_mov_epi32(found, _mm256_test_epi32_mask(newer, newer), newer);
        }
        let plain = &mut word_terms.plain[from..from + LANES];
        // SAFETY: there is room for eight, and a `Plain` is a number of 32 bits.
        unsafe { _mm256_storeu_epi32(plain.as_mut_ptr().cast(), found) };
        limited |= _mm256_movepi32_mask(found);
        let terms = _mm256_and_si256(found, _mm256_set1_epi32((!LIMITED).cast_signed()));
        let known = _mm256_test_epi32_mask(terms, terms);
        let room = &mut word_terms.known[known_len..known_len + LANES];
        // SAFETY: there is room for eight.
        unsafe {
            _mm256_storeu_epi32(
                room.as_mut_ptr().cast(),
                _mm256_maskz_compress_epi32(known, terms),
            );
        };
        known_len += known.count_ones() as usize;
    }
    word_terms.known_len = known_len;
    word_terms.is_limited = limited != 0;
    if longest > SHORT_BYTES_MAX {
        look_up_long(view, document, word_terms);
    }
}

/// Looks up the words that are too long for keys, after the others.
#[cold]
fn look_up_long(view: View<'_>, document: &Words, word_terms: &mut WordTerms) {
    let buffer = document.buffer();
    for ((word, _), plain) in document.spans().zip(&mut word_terms.plain) {
        if word.len() > SHORT_BYTES_MAX {
            *plain = view.find(buffer, word);
            word_terms.is_limited |= plain.is_limited();
        }
    }
    word_terms.sift(document.len());
}

/// Writes the keys of the words; a long word gets a key that no word has. Returns the length of the longest word.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,bmi2")]
fn keys(document: &Words, keys: &mut [Key]) -> usize {
    let buffer = document.buffer();
    let mut longest = 0;
    for ((word, _), key) in document.spans().zip(keys) {
        let word = buffer.get(word).unwrap_or_default();
        longest = longest.max(word.len());
        let kept = _bzhi_u32(0xffff, word.len().min(16) as u32);
        let length = (word.len() as u64 | USED) as i8;
        // SAFETY: only the bytes of the word are read, and a key has room for sixteen.
        unsafe {
            let bytes = _mm_maskz_loadu_epi8(kept as __mmask16, word.as_ptr().cast());
            let bytes = _mm_mask_set1_epi8(bytes, 1 << SHORT_BYTES_MAX, length);
            _mm_storeu_si128(key.as_mut_ptr().cast(), bytes);
        }
    }
    longest
}

/// Loads eight keys as their lower and their upper halves.
#[inline]
#[target_feature(enable = "avx512f")]
fn load(keys: &[Key]) -> (__m512i, __m512i) {
    let keys = &keys[..LANES];
    // SAFETY: there are eight keys of sixteen bytes.
    let (front, back) = unsafe {
        (
            _mm512_loadu_si512(keys.as_ptr().cast()),
            _mm512_loadu_si512(keys.as_ptr().add(LANES / 2).cast()),
        )
    };
    let even = _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0);
    let odd = _mm512_set_epi64(15, 13, 11, 9, 7, 5, 3, 1);
    (
        _mm512_permutex2var_epi64(front, even, back),
        _mm512_permutex2var_epi64(front, odd, back),
    )
}

/// The hash of eight keys, as `hash_key` computes it.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn hash(low: __m512i, high: __m512i) -> __m512i {
    let [a, b, c, d] = HASH_ADDED;
    let product = |half, [low, high]: [u32; 2]| {
        let added = (u64::from(high) << 32 | u64::from(low)).cast_signed();
        let half = _mm512_add_epi32(half, _mm512_set1_epi64(added));
        _mm512_mul_epu32(half, _mm512_srli_epi64::<32>(half))
    };
    let fold = |number| _mm512_xor_si512(number, _mm512_srli_epi64::<32>(number));
    let sum = _mm512_add_epi64(product(low, [a, b]), product(high, [c, d]));
    let factor = _mm512_set1_epi64(HASH_FACTOR.cast_signed());
    fold(_mm512_mullo_epi64(fold(sum), factor))
}

/// The numbers of eight keys in a table whose `apart` is empty; 0 for a key that it lacks and in lanes not in use.
/// Two gathers of two tags each read a bucket; a bucket that has run over takes one more turn.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl")]
fn find(
    table: table::View<'_>,
    low: __m512i,
    high: __m512i,
    hash: __m512i,
    used: __mmask8,
) -> __m256i {
    let all = |number: usize| _mm512_set1_epi64(number.cast_signed() as i64);
    let last = all(table.buckets.len() - 1);
    let tags = _mm512_or_si512(
        _mm512_shuffle_epi32::<0b11_11_01_01>(hash),
        _mm512_set1_epi32(1),
    );
    let zeros = _mm512_setzero_si512();
    let mut bucket = _mm512_and_si512(hash, last);
    let (mut index, mut left) = (_mm256_setzero_si256(), used);
    while left != 0 {
        let place = _mm512_slli_epi64::<2>(bucket);
        let buckets = table.buckets.as_ptr();
        // SAFETY: a bucket is four numbers of 64 bits, and lanes in use have an index of the table. Its tags are the first two.
        let (front, back) = unsafe {
            (
                _mm512_mask_i64gather_epi64::<8>(zeros, left, place, buckets.cast()),
                _mm512_mask_i64gather_epi64::<8>(
                    zeros,
                    left,
                    _mm512_add_epi64(place, all(1)),
                    buckets.cast(),
                ),
            )
        };
        let ways = |tags, ways: [i64; 2]| {
            _mm512_maskz_mov_epi32(tags, _mm512_set1_epi64(ways[1] << 32 | ways[0]))
        };
        let ways = _mm512_or_si512(
            ways(_mm512_cmpeq_epi32_mask(front, tags), [4, 5]),
            ways(_mm512_cmpeq_epi32_mask(back, tags), [6, 7]),
        );
        let way = _mm512_or_si512(ways, _mm512_srli_epi64::<32>(ways));
        let way = _mm512_and_si512(way, all(7));
        let found = _mm512_mask_test_epi64_mask(left, way, way);
        let place = _mm512_add_epi64(_mm512_add_epi64(place, place), way);
        // SAFETY: a bucket is eight numbers of 32 bits; the last four are the indexes.
        index = unsafe { _mm512_mask_i64gather_epi32::<4>(index, found, place, buckets.cast()) };
        let full =
            _mm512_mask_cmpneq_epu64_mask(left & !found, _mm512_srli_epi64::<32>(back), zeros);
        left = full;
        bucket = _mm512_and_si512(_mm512_add_epi64(bucket, all(1)), last);
    }
    let index = _mm512_cvtepu32_epi64(index);
    let held = _mm512_mask_cmplt_epu64_mask(used, index, all(table.keys.len()));
    let place = _mm512_add_epi64(_mm512_add_epi64(index, index), index);
    let keys = table.keys.as_ptr();
    // SAFETY: a key entry takes three numbers of 64 bits: two are the key, and half of the third is its number. Indexes in
    // use were just compared with the length of the list.
    unsafe {
        let held_low = _mm512_mask_i64gather_epi64::<8>(zeros, held, place, keys.cast());
        let second = _mm512_add_epi64(place, all(1));
        let held_high = _mm512_mask_i64gather_epi64::<8>(zeros, held, second, keys.cast());
        let same = _mm512_mask_cmpeq_epu64_mask(held, held_low, low);
        let same = _mm512_mask_cmpeq_epu64_mask(same, held_high, high);
        let number = _mm512_add_epi64(_mm512_add_epi64(place, place), all(4));
        let none = _mm256_setzero_si256();
        _mm512_mask_i64gather_epi32::<4>(none, same, number, keys.cast())
    }
}
