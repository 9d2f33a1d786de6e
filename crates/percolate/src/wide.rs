//! The matcher compiled three times: for any processor; with AVX2 and its companions; and with the longest steps
//! written for AVX-512.
//!
//! The first two are the same code. The instructions of the second count bits and shift by variables in one step,
//! where the common baseline needs a dozen. The third replaces `Steps` by vector code, and a test holds it equal to
//! the plain code. This is the one module of the crate with `unsafe`.
#![allow(
    unsafe_code,
    reason = "functions compiled for a processor that was asked for are unsafe to call, and so is reading whole vectors"
)]

#[cfg(target_arch = "x86_64")]
use relation::processor::has_avx2;

use crate::{
    documents::Documents,
    hits::Hits,
    scratch::{Plain, Scratch},
    snapshot::Snapshot,
    unfinished::Unfinished,
};

/// Runs [`Snapshot::matches`] by the best code that this processor can run.
pub(crate) fn matches(
    snapshot: &Snapshot,
    documents: &Documents<'_>,
    scratch: &mut Scratch,
    hits: &mut Hits,
) -> Result<(), Unfinished> {
    #[cfg(target_arch = "x86_64")]
    {
        if let Some(vectors) = x86::Vectors::new() {
            // SAFETY: there are no vectors without the features that the function is compiled with.
            return unsafe { x86::matches_by_vectors(vectors, snapshot, documents, scratch, hits) };
        }
        if has_avx2() {
            // SAFETY: the processor has every feature that the function is compiled with, as was just asked.
            return unsafe { x86::matches_by_avx2(snapshot, documents, scratch, hits) };
        }
    }
    snapshot.matches_by(Plain, documents, scratch, hits)
}

#[cfg(target_arch = "x86_64")]
mod look_up;
#[cfg(target_arch = "x86_64")]
mod probe;
#[cfg(target_arch = "x86_64")]
mod scan;

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::{arch::x86_64::*, ops::Range};

    use language::analysis::Words;
    use relation::processor::{fetch_line, has_avx2};

    use super::{look_up, probe, scan};
    use crate::{
        dictionary::View,
        documents::Documents,
        entry::{Entry, ORDINALS_MAX},
        fetch::Fetch,
        hit_pairs::HitPairs,
        hits::Hits,
        level::{Level, Scanned},
        rows::{Row, ShortRows},
        scratch::{Candidates, LANES, Met, Plain, Scratch, Steps},
        snapshot::Snapshot,
        term::TermId,
        unfinished::Unfinished,
        word_terms::WordTerms,
    };

    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub(super) fn matches_by_avx2(
        snapshot: &Snapshot,
        documents: &Documents<'_>,
        scratch: &mut Scratch,
        hits: &mut Hits,
    ) -> Result<(), Unfinished> {
        snapshot.matches_by(Plain, documents, scratch, hits)
    }

    #[target_feature(
        enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512cd,avx512dq,avx512bw,avx512vl,avx512vpopcntdq"
    )]
    pub(super) fn matches_by_vectors(
        vectors: Vectors,
        snapshot: &Snapshot,
        documents: &Documents<'_>,
        scratch: &mut Scratch,
        hits: &mut Hits,
    ) -> Result<(), Unfinished> {
        snapshot.matches_by(vectors, documents, scratch, hits)
    }

    /// Proof that the processor has the vectors: only [`Vectors::new`] makes it.
    #[derive(Clone, Copy)]
    pub(super) struct Vectors(());

    impl Vectors {
        pub(super) fn new() -> Option<Vectors> {
            let has = has_avx2()
                && is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512cd")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512vpopcntdq");
            has.then_some(Vectors(()))
        }
    }

    impl Fetch for Vectors {
        #[inline(always)]
        fn fetch<T>(self, list: &[T], place: usize) {
            fetch_line(list.as_ptr().wrapping_add(place));
        }
    }

    impl Steps for Vectors {
        #[inline(always)]
        fn look_up(self, view: View<'_>, documents: &[Words], word_terms: &mut WordTerms) {
            // SAFETY: `self` is the proof that the processor has the features.
            unsafe { look_up::look_up(view, documents, word_terms) }
        }

        #[inline(always)]
        fn probe(
            self,
            level: &Level,
            rows: (ShortRows<'_>, &[Row]),
            terms: &[TermId],
            document: u32,
            ranks: &mut Candidates,
            met: &mut Met,
        ) {
            // SAFETY: `self` is the proof, as in `look_up`.
            unsafe { probe::probe(level, rows, terms, document, ranks, met) }
        }

        #[inline(always)]
        fn decide(
            self,
            entries: &[Entry],
            ranks: (&Candidates, Range<usize>),
            masks: &[u64],
            first: u32,
            others: &mut Candidates,
            hit_pairs: &mut HitPairs,
        ) {
            // SAFETY: `self` is the proof, as in `look_up`.
            unsafe { decide(entries, ranks, masks, first, others, hit_pairs) }
        }

        #[inline(always)]
        fn scan(
            self,
            scanned: &Scanned,
            masks: &[u64],
            first: u32,
            others: &mut Candidates,
            hit_pairs: &mut HitPairs,
        ) -> u64 {
            // SAFETY: `self` is the proof, as in `look_up`.
            unsafe { scan::scan(scanned, masks, first, others, hit_pairs) }
        }
    }

    /// The lanes in use where `left` numbers are left.
    #[inline]
    pub(super) fn lanes(left: usize) -> __mmask16 {
        (0xffff_u32 >> (LANES - left.min(LANES))) as __mmask16
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn all(number: u32) -> __m512i {
        _mm512_set1_epi32(number.cast_signed())
    }

    /// Sixteen numbers of a list from `from` on, zeros behind its end.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn load(list: &[u32], from: usize) -> __m512i {
        let list = &list[from..];
        // SAFETY: only lanes below the length of the list are read.
        unsafe { _mm512_maskz_loadu_epi32(lanes(list.len()), list.as_ptr().cast()) }
    }

    /// Writes sixteen numbers from `from` on.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn store(list: &mut [u32], from: usize, numbers: __m512i) {
        let list = &mut list[from..from + LANES];
        // SAFETY: the list was just found to have room for all lanes.
        unsafe { _mm512_storeu_epi32(list.as_mut_ptr().cast(), numbers) }
    }

    /// The numbers at these indexes of a list; 0 in lanes that are not `wanted` or whose index is beyond its end.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn gather(list: &[u32], wanted: __mmask16, indexes: __m512i) -> __m512i {
        let len = list.len().min(i32::MAX as usize) as u32;
        let wanted = _mm512_mask_cmplt_epu32_mask(wanted, indexes, all(len));
        let zeros = _mm512_setzero_si512();
        // SAFETY: indexes of lanes in use lie inside the list, and as signed numbers they are not negative.
        unsafe { _mm512_mask_i32gather_epi32::<4>(zeros, wanted, indexes, list.as_ptr().cast()) }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,popcnt")]
    fn decide(
        entries: &[Entry],
        (ranks, stretch): (&Candidates, Range<usize>),
        masks: &[u64],
        first: u32,
        others: &mut Candidates,
        hit_pairs: &mut HitPairs,
    ) {
        let masks = halves(masks);
        let pairs = hit_pairs.room(stretch.len() + LANES);
        let mut count = 0;
        for from in stretch.clone().step_by(LANES) {
            let used = lanes(stretch.end - from);
            let rank = load(&ranks.numbers, from);
            let document = load(&ranks.documents, from);
            let [query, near @ ..] = take(entries, &ranks.numbers[from..from + LANES]);
            let simple = _mm512_mask_cmplt_epu32_mask(used, query, all(ORDINALS_MAX));
            let half = _mm512_srli_epi32::<5>(document);
            let bit = _mm512_sllv_epi32(all(1), _mm512_and_si512(document, all(31)));
            let mut hit = simple;
            for condition in near {
                // The condition is twice the term and 1 if it must not be there; masks are halves, two for each term.
                let term = _mm512_andnot_si512(all(1), condition);
                let held = gather(masks, simple, _mm512_add_epi32(term, half));
                let holds = _mm512_test_epi32_mask(held, bit);
                hit &= holds ^ _mm512_test_epi32_mask(condition, all(1));
            }
            let aside = used & !simple;
            store(
                &mut others.numbers,
                others.len,
                _mm512_maskz_compress_epi32(aside, rank),
            );
            store(
                &mut others.documents,
                others.len,
                _mm512_maskz_compress_epi32(aside, document),
            );
            others.len += aside.count_ones() as usize;
            let query = _mm512_maskz_compress_epi32(hit, query);
            let document = _mm512_add_epi32(document, all(first));
            let document = _mm512_maskz_compress_epi32(hit, document);
            store_pairs(&mut pairs[count..count + LANES], query, document);
            count += hit.count_ones() as usize;
        }
        hit_pairs.add_written(count);
    }

    /// Writes sixteen pairs of a query and a document.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn store_pairs(pairs: &mut [u64], query: __m512i, document: __m512i) {
        let (low, high) = pairs.split_at_mut(LANES / 2);
        let (low, high) = (&mut low[..LANES / 2], &mut high[..LANES / 2]);
        let pair = |query, document| {
            let query = _mm512_slli_epi64::<32>(_mm512_cvtepu32_epi64(query));
            _mm512_or_si512(query, _mm512_cvtepu32_epi64(document))
        };
        let lower = |numbers| _mm512_castsi512_si256(numbers);
        let upper = |numbers| _mm512_extracti64x4_epi64::<1>(numbers);
        // SAFETY: each half was just found to have room for eight pairs.
        unsafe {
            _mm512_storeu_epi64(low.as_mut_ptr().cast(), pair(lower(query), lower(document)));
            _mm512_storeu_epi64(
                high.as_mut_ptr().cast(),
                pair(upper(query), upper(document)),
            );
        }
    }

    /// The four numbers of each of sixteen entries, the query first; zeros for a rank beyond the entries.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn take(entries: &[Entry], ranks: &[u32]) -> [__m512i; 4] {
        let four = |ranks: &[u32]| {
            let one = |rank: u32| match entries.get(rank as usize) {
                // SAFETY: an entry is laid out as in C, four numbers of 32 bits without room between them.
                Some(entry) => unsafe { _mm_loadu_si128(std::ptr::from_ref(entry).cast()) },
                None => _mm_setzero_si128(),
            };
            let low = _mm512_castsi128_si512(one(ranks[0]));
            let low = _mm512_inserti32x4::<1>(low, one(ranks[1]));
            let low = _mm512_inserti32x4::<2>(low, one(ranks[2]));
            _mm512_inserti32x4::<3>(low, one(ranks[3]))
        };
        let ranks = &ranks[..LANES];
        // Vector n holds the entries of rank n, n + 4, n + 8 and n + 12, so that the transposition stays inside quarters.
        let every = |first: usize| {
            four(&[
                ranks[first],
                ranks[first + 4],
                ranks[first + 8],
                ranks[first + 12],
            ])
        };
        let [a, b, c, d] = [every(0), every(1), every(2), every(3)];
        let (low, high) = (_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
        let (other_low, other_high) = (_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
        [
            _mm512_unpacklo_epi64(low, other_low),
            _mm512_unpackhi_epi64(low, other_low),
            _mm512_unpacklo_epi64(high, other_high),
            _mm512_unpackhi_epi64(high, other_high),
        ]
    }

    /// 64-bit numbers as halves, the lower half first.
    #[inline]
    fn halves(masks: &[u64]) -> &[u32] {
        // SAFETY: a number of 64 bits is two of 32, and every bit pattern is a number.
        unsafe { std::slice::from_raw_parts(masks.as_ptr().cast(), masks.len() * 2) }
    }
}

#[cfg(test)]
mod tests;
