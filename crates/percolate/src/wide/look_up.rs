//! Looking up words, eight at a time, with AVX-512.

use std::arch::x86_64::*;

use language::analysis::Words;
use relation::processor::fetch_line;

use crate::{
    dictionary::View,
    dictionary::table::{self, Bucket, KeyEntry, WAYS},
    hit_pairs::grow,
    term::{HASH_ADDED, HASH_FACTOR, Key, Plain, SHORT_BYTES_MAX, USED},
    word_terms::WordTerms,
};

/// Words looked up at once.
const LANES: usize = 8;

/// The size of a bucket and of a key entry, in 32-bit and in 64-bit numbers.
const BUCKET: [usize; 2] = [size_of::<Bucket>() / 4, size_of::<Bucket>() / 8];
const KEY_ENTRY: [usize; 2] = [size_of::<KeyEntry>() / 4, size_of::<KeyEntry>() / 8];

const _: () = assert!(
    WAYS == 4 && BUCKET[0] == 8 && KEY_ENTRY[0] == 6,
    "see `index` and `number`"
);

/// The AVX-512 form of [`WordTerms::look_up`]. A table with keys in `apart` takes the plain form.
///
/// It takes three passes over the words: the first prefetches their buckets, the second the keys to which these point,
/// the third compares the keys.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,bmi2,popcnt")]
pub(super) fn look_up(view: View<'_>, documents: &[Words], word_terms: &mut WordTerms) {
    let is_split =
        view.base.apart.is_some() || view.recent.is_some_and(|recent| recent.apart.is_some());
    if is_split {
        return word_terms.look_up(view, documents);
    }
    let first = word_terms.len();
    word_terms.push(documents);
    let words = word_terms.len() - first;
    grow(&mut word_terms.plain, first + words + LANES);
    let WordTerms {
        plain,
        keys,
        hashes,
        indexes,
        ..
    } = word_terms;
    let plain = &mut plain[first..];
    grow(keys, words + LANES);
    grow(hashes, words + LANES);
    grow(indexes, words + LANES);
    let (mut longest, mut count) = (0, 0);
    for document in documents {
        longest = write_keys(document, &mut keys[count..]).max(longest);
        count += document.len();
    }
    let parts = || (0..words).step_by(LANES);
    for from in parts() {
        let (low, high) = load(&keys[from..from + LANES]);
        let hashes = &mut hashes[from..from + LANES];
        // SAFETY: there is room for eight.
        unsafe { _mm512_storeu_epi64(hashes.as_mut_ptr().cast(), hash(low, high)) };
        for hash in hashes {
            view.base.fetch_bucket(*hash);
        }
    }
    for from in parts() {
        let found = index(
            view.base,
            load_hashes(&hashes[from..from + LANES]),
            used(words - from),
        );
        let indexes = &mut indexes[from..from + LANES];
        // SAFETY: there is room for eight.
        unsafe { _mm256_storeu_epi32(indexes.as_mut_ptr().cast(), found) };
        for index in indexes {
            fetch_line(view.base.keys.as_ptr().wrapping_add(*index as usize));
        }
    }
    for from in parts() {
        let used = used(words - from);
        let keys = load(&keys[from..from + LANES]);
        // SAFETY: there are eight.
        let indexes = unsafe { _mm256_loadu_epi32(indexes[from..from + LANES].as_ptr().cast()) };
        let mut found = number(view.base, indexes, keys, used);
        if let Some(recent) = view.recent {
            let indexes = index(recent, load_hashes(&hashes[from..from + LANES]), used);
            let newer = number(recent, indexes, keys, used);
            found = _mm256_mask_mov_epi32(found, _mm256_test_epi32_mask(newer, newer), newer);
        }
        let plain = &mut plain[from..from + LANES];
        // SAFETY: there is room for eight, and a `Plain` is a number of 32 bits.
        unsafe { _mm256_storeu_epi32(plain.as_mut_ptr().cast(), found) };
    }
    if longest > SHORT_BYTES_MAX {
        look_up_long(view, documents, plain);
    }
}

/// The lanes in use where `left` words are left.
#[inline]
fn used(left: usize) -> __mmask8 {
    (0xff_u32 >> (LANES - left.min(LANES))) as __mmask8
}

/// Looks up the words that are too long for keys, after the others.
#[cold]
fn look_up_long(view: View<'_>, documents: &[Words], plain: &mut [Plain]) {
    let mut plain = plain.iter_mut();
    for document in documents {
        let buffer = document.buffer();
        for ((word, _), plain) in document.spans().zip(&mut plain) {
            if word.len() > SHORT_BYTES_MAX {
                *plain = view.find(buffer, word);
            }
        }
    }
}

/// Writes the keys of the words; a long word gets a key that no word has. Returns the length of the longest word.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,bmi2")]
fn write_keys(document: &Words, keys: &mut [Key]) -> usize {
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

/// Loads eight hashes.
#[inline]
#[target_feature(enable = "avx512f")]
fn load_hashes(hashes: &[u64]) -> __m512i {
    let hashes = &hashes[..LANES];
    // SAFETY: there are eight.
    unsafe { _mm512_loadu_epi64(hashes.as_ptr().cast()) }
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

/// Of eight hashes: the index in a table's keys of the only key that may have it; 0 if there is none and in lanes not in
/// use. Two gathers of two tags each read a bucket; a bucket that has run over takes one more turn.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl")]
fn index(table: table::View<'_>, hash: __m512i, used: __mmask8) -> __m256i {
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
    index
}

/// The numbers of eight keys in a table whose `apart` is empty, by their indexes; 0 for a key that it lacks and in lanes
/// not in use.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl")]
fn number(
    table: table::View<'_>,
    index: __m256i,
    (low, high): (__m512i, __m512i),
    used: __mmask8,
) -> __m256i {
    let all = |number: usize| _mm512_set1_epi64(number.cast_signed() as i64);
    let zeros = _mm512_setzero_si512();
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
