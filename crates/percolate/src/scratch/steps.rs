//! The steps that run over long lists, and these lists. `Plain` does them on any processor; `wide.rs` has vector
//! code.

use std::ops::Range;

use language::analysis::Words;

use crate::{
    dictionary::View,
    entry::{Entry, Group},
    fetch::Fetch,
    hit_pairs::{HitPairs, grow, hit_pair},
    level::{Level, Scanned},
    limits::GROUP_SMALL,
    rows::{Row, ShortRows, rank_in},
    term::TermId,
    word_terms::WordTerms,
};

/// Numbers of 32 bits in the longest vector.
pub(crate) const LANES: usize = 16;

const _: () = assert!(GROUP_SMALL as usize <= LANES);

/// 32-bit words of rows that have bits in common with the document at hand. The first `len` are in use.
#[derive(Debug, Default)]
pub(crate) struct Met {
    /// The bits in common.
    pub(crate) bits: Vec<u32>,
    /// Beside `bits`: the whole word of the row.
    pub(crate) words: Vec<u32>,
    /// Beside `bits`: the rank of the word's first bit.
    pub(crate) before: Vec<u32>,
    pub(crate) len: usize,
}

impl Met {
    /// Makes room for `more` items, and for a whole vector behind them.
    #[inline(always)]
    pub(crate) fn grow(&mut self, more: usize) {
        for list in [&mut self.bits, &mut self.words, &mut self.before] {
            grow(list, self.len + more + LANES);
        }
    }
}

/// Candidates: numbers (ranks or indexes of entries), each with a document of the slice.
#[derive(Debug, Default)]
pub(crate) struct Candidates {
    /// The first `len` are in use.
    pub(crate) numbers: Vec<u32>,
    /// The document of each number.
    pub(crate) documents: Vec<u32>,
    pub(crate) len: usize,
}

impl Candidates {
    /// Makes room for `more` items, and for a whole vector behind them.
    #[inline(always)]
    pub(crate) fn grow(&mut self, more: usize) {
        grow(&mut self.numbers, self.len + more + LANES);
        grow(&mut self.documents, self.len + more + LANES);
    }

    /// Adds a number if it is kept. There must be room for it.
    #[inline(always)]
    pub(super) fn push_if(&mut self, number: u32, document: u32, is_kept: bool) {
        self.numbers[self.len] = number;
        self.documents[self.len] = document;
        self.len += usize::from(is_kept);
    }

    /// Adds the entries of a small group. It always writes a whole vector, so that it need not branch on
    /// their number.
    #[inline(always)]
    pub(super) fn push_group(&mut self, group: Group, document: u32) {
        self.grow(LANES);
        let numbers = &mut self.numbers[self.len..self.len + LANES];
        for (number, index) in numbers.iter_mut().zip(group.start..) {
            *number = index;
        }
        self.documents[self.len..self.len + LANES].fill(document);
        self.len += group.len as usize;
    }

    #[inline(always)]
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = (u32, u32)> {
        self.within(0..self.len)
    }

    /// The candidates of a stretch of the lists.
    #[inline(always)]
    fn within(&self, stretch: Range<usize>) -> impl ExactSizeIterator<Item = (u32, u32)> {
        let numbers = self.numbers[stretch.clone()].iter();
        numbers
            .zip(&self.documents[stretch])
            .map(|(number, document)| (*number, *document))
    }
}

/// The steps that are worth writing for vectors.
pub(crate) trait Steps: Fetch {
    /// Looks up the words of a slice's next documents.
    fn look_up(self, view: View<'_>, documents: &[Words], word_terms: &mut WordTerms);
    /// Adds to `ranks` the entries of the bits that a document's terms meet in these rows, and prefetches them. The
    /// first rows are one word each, the others have two words or more.
    fn probe(
        self,
        level: &Level,
        rows: (ShortRows<'_>, &[Row]),
        terms: &[TermId],
        document: u32,
        ranks: &mut Candidates,
        met: &mut Met,
    );
    /// Decides the simple entries among a stretch of `ranks`, each for one document. Copies the others to `others`, which has
    /// room.
    fn decide(
        self,
        entries: &[Entry],
        ranks: (&Candidates, Range<usize>),
        masks: &[u64],
        first: u32,
        others: &mut Candidates,
        hit_pairs: &mut HitPairs,
    );
    /// Decides every entry for all documents of a slice: adds the pairs of simple entries, and lists in `others` the
    /// other entries whose anchor is in the slice. Returns the number of pairs of an entry and a document that holds
    /// its anchor.
    fn scan(
        self,
        scanned: &Scanned,
        masks: &[u64],
        first: u32,
        others: &mut Candidates,
        hit_pairs: &mut HitPairs,
    ) -> u64;
}

/// The steps in plain code, for any processor.
#[derive(Clone, Copy)]
pub(crate) struct Plain;

impl Fetch for Plain {
    #[inline(always)]
    fn fetch<T>(self, _: &[T], _: usize) {}
}

impl Steps for Plain {
    #[inline(always)]
    fn look_up(self, view: View<'_>, documents: &[Words], word_terms: &mut WordTerms) {
        word_terms.look_up(view, documents);
    }

    #[inline(always)]
    fn probe(
        self,
        level: &Level,
        (short, rows): (ShortRows<'_>, &[Row]),
        terms: &[TermId],
        document: u32,
        ranks: &mut Candidates,
        _: &mut Met,
    ) {
        let signature = terms
            .iter()
            .fold(0, |bits, term| bits | 1_u32 << (term & 31));
        for (word, first) in short.words.iter().zip(short.firsts) {
            ranks.grow(u32::BITS as usize);
            let mut bits = word & signature;
            while bits != 0 {
                ranks.push_if(
                    rank_in(*word, *first, bits.trailing_zeros()),
                    document,
                    true,
                );
                bits &= bits - 1;
            }
        }
        for row in rows {
            ranks.grow(terms.len());
            for term in terms {
                let (rank, is_set) = level.rows.probe(*row, *term);
                ranks.push_if(rank, document, is_set);
            }
        }
    }

    #[inline(always)]
    fn decide(
        self,
        entries: &[Entry],
        (ranks, stretch): (&Candidates, Range<usize>),
        masks: &[u64],
        first: u32,
        others: &mut Candidates,
        hit_pairs: &mut HitPairs,
    ) {
        for (rank, document) in ranks.within(stretch.clone()) {
            others.push_if(rank, document, !entries[rank as usize].is_simple());
        }
        hit_pairs.extend(ranks.within(stretch).map(|(rank, document)| {
            let entry = &entries[rank as usize];
            let hits = entry.mask(masks) >> document & 1 == 1;
            (
                hit_pair(entry.query(), first + document),
                hits & entry.is_simple(),
            )
        }));
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
        let mut candidates = 0;
        let entries = scanned.entries.iter().zip(&scanned.anchors);
        for ((entry, anchor), index) in entries.zip(0..) {
            let among = masks.get(*anchor as usize).copied().unwrap_or(0);
            candidates += u64::from(among.count_ones());
            others.push_if(index, 0, among != 0 && !entry.is_simple());
            if entry.is_simple() {
                hit_pairs.add(entry.query(), first, among & entry.mask(masks));
            }
        }
        candidates
    }
}
