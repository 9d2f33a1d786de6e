//! Meeting a document's terms with rows of bits, sixteen words at a time, with AVX-512.
//!
//! The document's terms become a row of 32 words, the signature. To meet a shorter row it is folded: its halves are
//! joined by OR until it is as long as the row. Then one AND meets a whole row with all terms.

use std::arch::x86_64::*;

use super::x86::{all, gather, lanes, load, store};
use crate::{
    level::Level,
    rows::{Row, Rows},
    scratch::{Candidates, LANES, Met},
    term::TermId,
};

/// Words of the longest row that is met whole. In a longer row each term's bit is picked.
const WHOLE: usize = 2 * LANES;

/// Adds the bits met to `places`. First it lists the words of rows that have bits in common with the document, then
/// their bits. For words of many rows are met, and few of them have more than two bits in common.
#[inline]
#[target_feature(enable = "avx512f,avx512cd,popcnt")]
pub(super) fn probe(
    level: &Level,
    anchors: &[TermId],
    terms: &[TermId],
    document: u32,
    places: &mut Candidates,
    met: &mut Met,
) -> u64 {
    let signature = signature(terms);
    let mut candidates = 0;
    met.len = 0;
    met.grow(anchors.len() * WHOLE);
    for anchor in anchors {
        let row = level.anchors.row(*anchor);
        candidates += u64::from(row.entries);
        if row.entries == 0 {
            continue;
        }
        let words = row.last + 1;
        if words > WHOLE as u32 {
            places.grow(terms.len()); // each term meets one bit at most
            pick(&level.rows, row, terms, document, places);
            continue;
        }
        let front = signature.folded[words.trailing_zeros() as usize];
        let front_words = words.min(LANES as u32);
        let back_start = row.start + front_words; // an empty part is cheaper than a branch
        meet(&level.rows.words, row.start, front_words, front, met);
        meet(
            &level.rows.words,
            back_start,
            words - front_words,
            signature.back,
            met,
        );
    }
    places.grow(anchors.len() * terms.len());
    spread(met, document, places);
    candidates
}

/// The signature of a document: its terms as bits, for rows of each length up to [`WHOLE`].
struct Signature {
    /// By the binary logarithm of a row's length in words: the signature folded to that length, its first sixteen
    /// words.
    folded: [__m512i; 6],
    /// Words 16 to 31 of the signature for a row of [`WHOLE`] words.
    back: __m512i,
}

#[inline]
#[target_feature(enable = "avx512f")]
fn signature(terms: &[TermId]) -> Signature {
    let lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    let zeros = _mm512_setzero_si512();
    let (mut front, mut back) = (zeros, zeros);
    let others = _mm512_add_epi32(lane, all(LANES as u32));
    for term in terms {
        let word = all(term >> 5 & (WHOLE as u32 - 1));
        let bit = all(1 << (term & 31));
        front = _mm512_mask_or_epi32(front, _mm512_cmpeq_epi32_mask(word, lane), front, bit);
        back = _mm512_mask_or_epi32(back, _mm512_cmpeq_epi32_mask(word, others), back, bit);
    }
    let whole = _mm512_or_si512(front, back);
    let eight = _mm512_or_si512(whole, _mm512_alignr_epi32::<8>(whole, whole));
    let four = _mm512_or_si512(eight, _mm512_alignr_epi32::<4>(eight, eight));
    let two = _mm512_or_si512(four, _mm512_alignr_epi32::<2>(four, four));
    let one = _mm512_or_si512(two, _mm512_alignr_epi32::<1>(two, two));
    Signature {
        folded: [one, two, four, eight, whole, front],
        back,
    }
}

/// Adds the words of a part of a row, at most sixteen, that have bits in common with the document. It notes the bits,
/// and the place of the word's bit 0.
#[inline]
#[target_feature(enable = "avx512f,popcnt")]
fn meet(rows: &[u32], start: u32, words: u32, terms: __m512i, met: &mut Met) {
    let lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    let row = &rows[start as usize..(start + words) as usize];
    let bits = _mm512_and_si512(load(row, 0), terms);
    let some = _mm512_test_epi32_mask(bits, bits);
    let first = _mm512_slli_epi32::<5>(_mm512_add_epi32(all(start), lane));
    store(
        &mut met.bits,
        met.len,
        _mm512_maskz_compress_epi32(some, bits),
    );
    store(
        &mut met.first,
        met.len,
        _mm512_maskz_compress_epi32(some, first),
    );
    met.len += some.count_ones() as usize;
}

/// Adds the places of the bits of all words met.
#[inline]
#[target_feature(enable = "avx512f,avx512cd,popcnt")]
fn spread(met: &Met, document: u32, places: &mut Candidates) {
    let document = all(document);
    let mut len = places.len;
    for from in (0..met.len).step_by(LANES) {
        let first = load(&met.first[..met.len], from);
        let mut bits = load(&met.bits[..met.len], from);
        loop {
            let some = _mm512_test_epi32_mask(bits, bits);
            let rest = _mm512_and_si512(bits, _mm512_sub_epi32(bits, all(1)));
            let lowest = _mm512_andnot_si512(rest, bits);
            let bit = _mm512_sub_epi32(all(31), _mm512_lzcnt_epi32(lowest));
            let place = _mm512_maskz_compress_epi32(some, _mm512_or_si512(first, bit));
            store(&mut places.numbers, len, place);
            store(&mut places.documents, len, document);
            len += some.count_ones() as usize;
            if _mm512_test_epi32_mask(rest, rest) == 0 {
                break;
            }
            bits = rest;
        }
    }
    places.len = len;
}

/// Adds the bits of a long row on which a term falls.
#[inline]
#[target_feature(enable = "avx512f,popcnt")]
fn pick(rows: &Rows, row: Row, terms: &[TermId], document: u32, places: &mut Candidates) {
    let (start, last) = (all(row.start), all(row.last));
    for from in (0..terms.len()).step_by(LANES) {
        let seconds = load(terms, from);
        let words = _mm512_srli_epi32::<5>(seconds);
        let words = _mm512_add_epi32(start, _mm512_and_si512(words, last));
        let held = gather(&rows.words, lanes(terms.len() - from), words);
        let bits = _mm512_and_si512(seconds, all(31));
        let set = _mm512_test_epi32_mask(held, _mm512_sllv_epi32(all(1), bits));
        let found = _mm512_or_si512(_mm512_slli_epi32::<5>(words), bits);
        let found = _mm512_maskz_compress_epi32(set, found);
        store(&mut places.numbers, places.len, found);
        store(&mut places.documents, places.len, all(document));
        places.len += set.count_ones() as usize;
    }
}
