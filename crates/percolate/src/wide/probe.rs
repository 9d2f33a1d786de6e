//! Meeting a document's terms with rows of bits, sixteen words at a time, with AVX-512.
//!
//! The document's terms become a row of 32 words, the signature. To meet a shorter row it is folded: its halves are
//! joined by OR until it is as long as the row. Then one AND meets a whole row with all terms.

use std::arch::x86_64::*;

use relation::processor::fetch_line;

use super::x86::{all, gather, lanes, load, store};
use crate::{
    level::Level,
    rows::{Row, Rows, ShortRows},
    scratch::{Candidates, LANES, Met},
    term::TermId,
};

/// Words of the longest row that is met whole. In a longer row each term's bit is picked.
const WHOLE: usize = 2 * LANES;

/// Adds the entries of the bits met to `ranks`. First it lists the words of rows that have bits in common with the
/// document, then their bits. For words of many rows are met, and few of them have more than two bits in common.
#[inline]
#[target_feature(enable = "avx512f,avx512vpopcntdq,popcnt")]
pub(super) fn probe(
    level: &Level,
    (short, rows): (ShortRows<'_>, &[Row]),
    terms: &[TermId],
    document: u32,
    ranks: &mut Candidates,
    met: &mut Met,
) {
    let signature = signature(terms);
    let first = ranks.len;
    met.len = 0;
    met.grow(rows.len() * WHOLE + short.words.len());
    meet_short(short, signature.folded[0], met);
    for row in rows {
        let words = row.last + 1;
        if words > WHOLE as u32 {
            ranks.grow(terms.len()); // each term meets one bit at most
            pick(&level.rows, *row, terms, document, ranks);
            continue;
        }
        let front = signature.folded[words.trailing_zeros() as usize];
        let front_words = words.min(LANES as u32);
        let first = meet(&level.rows, row.place, front_words, row.first, front, met);
        if words > front_words {
            let back_start = row.place + front_words;
            meet(
                &level.rows,
                back_start,
                front_words,
                first,
                signature.back,
                met,
            );
        }
    }
    ranks.grow((rows.len() + short.words.len()) * terms.len());
    spread(met, document, ranks);
    for rank in &ranks.numbers[first..ranks.len] {
        fetch_line(level.entries.as_ptr().wrapping_add(*rank as usize));
    }
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

/// Adds the short rows that have bits in common with the document, whose signature is folded to one word.
#[inline]
#[target_feature(enable = "avx512f,popcnt")]
fn meet_short(short: ShortRows<'_>, terms: __m512i, met: &mut Met) {
    for from in (0..short.words.len()).step_by(LANES) {
        let words = load(short.words, from);
        let firsts = load(short.firsts, from);
        add(_mm512_and_si512(words, terms), words, firsts, met);
    }
}

/// Adds the words of a part of a row, at most sixteen, that have bits in common with the document. `first` is the rank
/// of the part's first bit. Returns the rank behind its last bit.
///
/// It counts the bits before each word rather than read them from memory that lies elsewhere.
#[inline]
#[target_feature(enable = "avx512f,avx512vpopcntdq,popcnt")]
fn meet(rows: &Rows, start: u32, words: u32, first: u32, terms: __m512i, met: &mut Met) -> u32 {
    let row = load(&rows.words[start as usize..(start + words) as usize], 0);
    let (zeros, counts) = (_mm512_setzero_si512(), _mm512_popcnt_epi32(row));
    let sums = _mm512_add_epi32(counts, _mm512_alignr_epi32::<15>(counts, zeros));
    let sums = _mm512_add_epi32(sums, _mm512_alignr_epi32::<14>(sums, zeros));
    let sums = _mm512_add_epi32(sums, _mm512_alignr_epi32::<12>(sums, zeros));
    let sums = _mm512_add_epi32(sums, _mm512_alignr_epi32::<8>(sums, zeros));
    let before = _mm512_add_epi32(_mm512_sub_epi32(sums, counts), all(first));
    add(_mm512_and_si512(row, terms), row, before, met);
    let last = _mm512_castsi512_si128(_mm512_alignr_epi32::<15>(sums, sums));
    first + _mm_cvtsi128_si32(last).cast_unsigned()
}

/// Adds the words whose `bits` are not zero. It notes the bits, the word, and the rank of the word's first bit.
#[inline]
#[target_feature(enable = "avx512f,popcnt")]
fn add(bits: __m512i, words: __m512i, before: __m512i, met: &mut Met) {
    let some = _mm512_test_epi32_mask(bits, bits);
    let lists = [&mut met.bits, &mut met.words, &mut met.before];
    for (list, numbers) in lists.into_iter().zip([bits, words, before]) {
        store(list, met.len, _mm512_maskz_compress_epi32(some, numbers));
    }
    met.len += some.count_ones() as usize;
}

/// Adds the ranks of the bits of all words met.
#[inline]
#[target_feature(enable = "avx512f,avx512vpopcntdq,popcnt")]
fn spread(met: &Met, document: u32, ranks: &mut Candidates) {
    let document = all(document);
    let mut len = ranks.len;
    for from in (0..met.len).step_by(LANES) {
        let word = load(&met.words[..met.len], from);
        let before = load(&met.before[..met.len], from);
        let mut bits = load(&met.bits[..met.len], from);
        loop {
            let some = _mm512_test_epi32_mask(bits, bits);
            let rest = _mm512_and_si512(bits, _mm512_sub_epi32(bits, all(1)));
            let lowest = _mm512_andnot_si512(rest, bits);
            let rank = rank(word, before, lowest);
            store(
                &mut ranks.numbers,
                len,
                _mm512_maskz_compress_epi32(some, rank),
            );
            store(&mut ranks.documents, len, document);
            len += some.count_ones() as usize;
            if _mm512_test_epi32_mask(rest, rest) == 0 {
                break;
            }
            bits = rest;
        }
    }
    ranks.len = len;
}

/// The ranks of single bits of words: how many bits of all rows are set before them.
#[inline]
#[target_feature(enable = "avx512f,avx512vpopcntdq")]
fn rank(word: __m512i, before: __m512i, bit: __m512i) -> __m512i {
    let below = _mm512_and_si512(word, _mm512_sub_epi32(bit, all(1)));
    _mm512_add_epi32(before, _mm512_popcnt_epi32(below))
}

/// Adds the entries of the bits of a long row on which a term falls.
#[inline]
#[target_feature(enable = "avx512f,avx512vpopcntdq,popcnt")]
fn pick(rows: &Rows, row: Row, terms: &[TermId], document: u32, ranks: &mut Candidates) {
    let (start, last) = (all(row.place), all(row.last));
    for from in (0..terms.len()).step_by(LANES) {
        let seconds = load(terms, from);
        let words = _mm512_srli_epi32::<5>(seconds);
        let words = _mm512_add_epi32(start, _mm512_and_si512(words, last));
        let held = gather(&rows.words, lanes(terms.len() - from), words);
        let bit = _mm512_sllv_epi32(all(1), _mm512_and_si512(seconds, all(31)));
        let set = _mm512_test_epi32_mask(held, bit);
        if set == 0 {
            continue;
        }
        let found = rank(held, gather(&rows.before, set, words), bit);
        let found = _mm512_maskz_compress_epi32(set, found);
        store(&mut ranks.numbers, ranks.len, found);
        store(&mut ranks.documents, ranks.len, all(document));
        ranks.len += set.count_ones() as usize;
    }
}
