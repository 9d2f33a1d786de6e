//! The candidates of a slice in one level: each step leaves fewer of them.

use std::ops::Range;

use super::{Candidates, Met, Steps, marks::Marks};
use crate::{
    check::{Slice, Workspace},
    entry::{Entry, Group},
    hit_pairs::{HitPairs, grow},
    hits::Work,
    level::{Level, Scanned},
    limits::{GROUP_SMALL, PAIRS_MAX, SLICE_DOCUMENTS},
    rows::{Row, ShortRows},
    term::TermId,
    unfinished::TooManyPairs,
};

/// A document with more terms than this has more terms than most rows have bits, and more anchors than are probed at
/// once.
const MANY_TERMS: usize = 256;

/// Rows that are probed at once for a document of many terms.
const ROWS_AT_ONCE: usize = 64;

/// Entries that are decided at once, at least.
const DECIDED_AT_ONCE: usize = 64;

/// Cost of looking at an entry, in probes: an entry lies anywhere, the bits of a row lie together.
const PROBES_PER_ENTRY: usize = 8;

/// The lists that the steps read and write. A matcher's own.
#[derive(Debug, Default)]
pub(super) struct Survivors {
    /// Terms that may be anchors, one document after the other.
    anchors: Vec<TermId>,
    /// By document: where its terms end in `anchors`.
    anchor_ends: Vec<usize>,
    /// The rows of two or more words of the terms that are anchors, one document after the other.
    rows: Vec<Row>,
    /// The words of the rows of one word, one document after the other, and the ranks of their first bits.
    short_words: Vec<u32>,
    short_firsts: Vec<u32>,
    /// By document: where its rows end in `rows`, and where its short rows end.
    row_ends: Vec<(usize, usize)>,
    met: Met,
    /// Entries whose second term a document may hold, by rank.
    pub(super) ranks: Candidates,
    /// Entries that are not simple, by rank.
    pub(super) others: Candidates,
    /// Entries of small groups, by index in the level's `grouped`.
    grouped: Candidates,
    /// Entries with a tail, each with a document of the slice.
    tailed: Vec<(Entry, u32)>,
    /// Ranks of large groups.
    large: Vec<u32>,
}

impl Survivors {
    /// Decides the entries of a level that has no rows.
    #[inline(always)]
    pub(super) fn scan(
        &mut self,
        steps: impl Steps,
        level: &Level,
        slice: Slice<'_>,
        first: u32,
        checking: &mut Workspace,
        (hit_pairs, work): (&mut HitPairs, &mut Work),
    ) {
        let Scanned { anchors, entries } = &level.scanned;
        let others = &mut self.others;
        others.len = 0;
        others.grow(entries.len());
        work.candidates += steps.scan(&level.scanned, slice.masks, first, others, hit_pairs);
        work.visits += entries.len() as u64;
        for (index, _) in others.iter() {
            let (entry, anchor) = (&entries[index as usize], anchors[index as usize]);
            let mask = level.verify(entry, slice.mask(anchor), slice, checking);
            hit_pairs.add(entry.query(), first, mask);
            if checking.meter.is_over() {
                return;
            }
        }
    }

    /// Meets each document's terms with the rows of its anchors, and decides the entries met. Those of a document are
    /// prefetched while it is probed, and decided once a later document is probed: soon enough to be in the nearest
    /// cache still.
    #[inline(always)]
    pub(super) fn probe(
        &mut self,
        steps: impl Steps,
        level: &Level,
        marks: &Marks,
        first: u32,
        hit_pairs: &mut HitPairs,
        work: &mut Work,
    ) {
        self.ranks.len = 0;
        self.others.len = 0;
        if level.entries.is_empty() {
            return;
        }
        work.candidates += self.gather(steps, level, marks);
        let (mut start, mut from) = (0, (0, 0));
        let mut decided = 0;
        for (end, document) in marks.ends.iter().zip(0..) {
            let until = self.row_ends[document as usize];
            let terms = &marks.terms[start..*end];
            let rows = &mut self.rows[from.0..until.0];
            let short = ShortRows {
                words: &self.short_words[from.1..until.1],
                firsts: &self.short_firsts[from.1..until.1],
            };
            (start, from) = (*end, until);
            let (ranks, met) = (&mut self.ranks, &mut self.met);
            let before = ranks.len;
            match terms.len() {
                0..=MANY_TERMS => steps.probe(level, (short, rows), terms, document, ranks, met),
                _ => probe_long(steps, level, (short, rows), terms, document, ranks, met),
            }
            if before - decided >= DECIDED_AT_ONCE {
                self.decide(steps, level, marks, decided..before, first, hit_pairs);
                decided = before;
            }
        }
        let last = decided..self.ranks.len;
        self.decide(steps, level, marks, last, first, hit_pairs);
    }

    /// Lists the rows of each document's anchors, and prefetches them: first the terms that may be anchors, then their
    /// rows. So no read waits for another. Returns the number of entries filed under these anchors.
    #[inline(always)]
    fn gather(&mut self, steps: impl Steps, level: &Level, marks: &Marks) -> u64 {
        let (mut start, mut count) = (0, 0);
        grow(&mut self.anchors, marks.used());
        self.anchor_ends.clear();
        for end in &marks.ends {
            for term in &marks.terms[start..*end] {
                self.anchors[count] = *term;
                count += usize::from(level.anchors.may_hold(*term));
            }
            let before = self.anchor_ends.last().copied().unwrap_or(0);
            for anchor in &self.anchors[before..count] {
                level.anchors.fetch(steps, *anchor);
            }
            start = *end;
            self.anchor_ends.push(count);
        }
        grow(&mut self.rows, count);
        grow(&mut self.short_words, count);
        grow(&mut self.short_firsts, count);
        self.row_ends.clear();
        let (mut start, mut candidates) = (0, 0);
        let (mut count, mut short) = (0, 0);
        for end in &self.anchor_ends {
            for anchor in &self.anchors[start..*end] {
                let row = level.anchors.row(*anchor);
                level.rows.fetch(steps, row);
                self.rows[count] = row;
                self.short_words[short] = row.place;
                self.short_firsts[short] = row.first;
                count += usize::from(!row.is_short());
                short += usize::from(row.is_short() & (row.entries > 0));
                candidates += u64::from(row.entries);
            }
            start = *end;
            self.row_ends.push((count, short));
        }
        candidates
    }

    /// Decides the simple entries among a stretch of `ranks`; sets the others aside.
    #[inline(always)]
    fn decide(
        &mut self,
        steps: impl Steps,
        level: &Level,
        marks: &Marks,
        stretch: Range<usize>,
        first: u32,
        hit_pairs: &mut HitPairs,
    ) {
        self.others.grow(stretch.len());
        let (ranks, others) = ((&self.ranks, stretch), &mut self.others);
        steps.decide(
            &level.entries,
            ranks,
            &marks.masks,
            first,
            others,
            hit_pairs,
        );
    }

    /// Decides small groups and then entries with tails; sets large groups aside. Returns the number of entries in
    /// small groups.
    #[inline(always)]
    pub(super) fn decide_others(
        &mut self,
        steps: impl Steps,
        level: &Level,
        slice: Slice<'_>,
        first: u32,
        checking: &mut Workspace,
        hit_pairs: &mut HitPairs,
    ) -> u64 {
        self.large.clear();
        self.tailed.clear();
        self.grouped.len = 0;
        for (rank, document) in self.others.iter() {
            let entry = &level.entries[rank as usize];
            match entry.group() {
                Some(Group { len, .. }) if len > GROUP_SMALL => self.large.push(rank),
                Some(group) => {
                    steps.fetch(&level.grouped, group.start as usize);
                    self.grouped.push_group(group, document);
                }
                None => {
                    level.fetch_tail(steps, entry);
                    self.tailed.push((*entry, document));
                }
            }
        }
        self.others.len = 0;
        self.others.grow(self.grouped.len);
        let grouped = (&self.grouped, 0..self.grouped.len);
        let others = &mut self.others;
        steps.decide(
            &level.grouped,
            grouped,
            slice.masks,
            first,
            others,
            hit_pairs,
        );
        for (index, document) in self.others.iter() {
            let entry = &level.grouped[index as usize];
            level.fetch_tail(steps, entry);
            self.tailed.push((*entry, document));
        }
        for (entry, _) in &self.tailed {
            level.fetch_check(steps, entry);
        }
        for (entry, document) in &self.tailed {
            decide_one(level, entry, *document, slice, first, checking, hit_pairs);
            if checking.meter.is_over() {
                return 0;
            }
        }
        self.grouped.len as u64
    }

    /// Decides each large group once for all documents that hold its anchor.
    pub(super) fn decide_large(
        &mut self,
        level: &Level,
        slice: Slice<'_>,
        first: u32,
        checking: &mut Workspace,
        hit_pairs: &mut HitPairs,
        work: &mut Work,
    ) -> Result<(), TooManyPairs> {
        self.large.sort_unstable();
        self.large.dedup();
        for rank in &self.large {
            let Some(group) = level.entries[*rank as usize].group() else {
                continue;
            };
            work.visits += u64::from(group.len);
            decide_each(
                level,
                level.in_group(group),
                slice.mask(group.anchor),
                slice,
                first,
                checking,
                hit_pairs,
            )?;
        }
        Ok(())
    }
}

/// Decides an entry with a tail for one document.
#[inline]
fn decide_one(
    level: &Level,
    entry: &Entry,
    document: u32,
    slice: Slice<'_>,
    first: u32,
    checking: &mut Workspace,
    hit_pairs: &mut HitPairs,
) {
    let mask = level.verify(entry, 1 << document, slice, checking);
    hit_pairs.add(entry.query(), first, mask);
}

/// Probes for a document of many terms. Where an anchor has few entries, it takes all of them without meeting terms. Of
/// short rows it always takes all: more than [`MANY_TERMS`] terms have nearly every bit of a word.
fn probe_long(
    steps: impl Steps,
    level: &Level,
    (short, rows): (ShortRows<'_>, &mut [Row]),
    terms: &[TermId],
    document: u32,
    ranks: &mut Candidates,
    met: &mut Met,
) {
    for (word, first) in short.words.iter().zip(short.firsts) {
        ranks.grow(u32::BITS as usize);
        let all = *first..first + word.count_ones();
        all.for_each(|rank| ranks.push_if(rank, document, true));
    }
    let mut probed = 0;
    for index in 0..rows.len() {
        let row = rows[index];
        if row.entries as usize * PROBES_PER_ENTRY > terms.len() {
            rows[probed] = row;
            probed += 1;
        } else {
            ranks.grow(row.entries as usize);
            let all = level.rows.ranks(row);
            all.for_each(|rank| ranks.push_if(rank, document, true));
        }
    }
    let short = ShortRows {
        words: &[],
        firsts: &[],
    };
    for rows in rows[..probed].chunks(ROWS_AT_ONCE) {
        steps.probe(level, (short, rows), terms, document, ranks, met);
    }
}

/// Tries every document against the entries that have no anchor.
pub(super) fn decide_always(
    level: &Level,
    slice: Slice<'_>,
    first: u32,
    checking: &mut Workspace,
    hit_pairs: &mut HitPairs,
    work: &mut Work,
) -> Result<(), TooManyPairs> {
    if level.always.is_empty() {
        return Ok(());
    }
    work.candidates += (level.always.len() * slice.documents.len()) as u64;
    work.visits += level.always.len() as u64;
    let all = u64::MAX >> (SLICE_DOCUMENTS - slice.documents.len());
    decide_each(level, &level.always, all, slice, first, checking, hit_pairs)
}

/// Decides entries for all documents in `among` at once; stops where the call has ended.
fn decide_each(
    level: &Level,
    entries: &[Entry],
    among: u64,
    slice: Slice<'_>,
    first: u32,
    checking: &mut Workspace,
    hit_pairs: &mut HitPairs,
) -> Result<(), TooManyPairs> {
    for entry in entries {
        let hits = level.verify(entry, among, slice, checking);
        hit_pairs.add(entry.query(), first, hits);
        if hit_pairs.len() > PAIRS_MAX {
            return Err(TooManyPairs);
        }
        if checking.meter.is_over() {
            break;
        }
    }
    Ok(())
}
