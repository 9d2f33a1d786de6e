//! The candidates of a slice in one level: each step leaves fewer of them.

use super::{Candidates, Met, Steps, marks::Marks};
use crate::{
    check::{Slice, Workspace},
    entry::{Entry, Group},
    hit_pairs::{HitPairs, grow},
    hits::Work,
    level::{Level, Scanned},
    limits::{GROUP_SMALL, PAIRS_MAX, SLICE_DOCUMENTS},
    term::TermId,
    unfinished::TooManyPairs,
};

/// A document with more terms than this has more terms than most rows have bits, and more anchors than are probed at
/// once.
const MANY_TERMS: usize = 256;

/// Anchors whose rows are probed at once for a document of many terms.
const ANCHORS_AT_ONCE: usize = 64;

/// Cost of looking at an entry, in probes: an entry lies anywhere, the bits of a row lie together.
const PROBES_PER_ENTRY: usize = 8;

/// The lists that the steps read and write. A matcher's own.
#[derive(Debug, Default)]
pub(super) struct Survivors {
    /// Terms that may be anchors, one document after the other.
    anchors: Vec<TermId>,
    /// By document: where its terms end in `anchors`.
    anchor_ends: Vec<usize>,
    met: Met,
    /// First the places of bits, then the ranks of entries.
    pub(super) places: Candidates,
    /// Entries that are not simple, by rank.
    pub(super) others: Candidates,
    /// Entries of small groups, by index in the level's `grouped`.
    grouped: Candidates,
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

    /// Meets each document's terms with the rows of its anchors.
    #[inline(always)]
    pub(super) fn probe(
        &mut self,
        steps: impl Steps,
        level: &Level,
        marks: &Marks,
        work: &mut Work,
    ) {
        self.places.len = 0;
        if level.entries.is_empty() {
            return;
        }
        self.gather(steps, level, marks);
        let (mut start, mut from, mut candidates) = (0, 0, 0);
        for ((end, until), document) in marks.ends.iter().zip(&self.anchor_ends).zip(0..) {
            let terms = &marks.terms[start..*end];
            let anchors = &mut self.anchors[from..*until];
            (start, from) = (*end, *until);
            let (places, met) = (&mut self.places, &mut self.met);
            candidates += match terms.len() {
                0..=MANY_TERMS => steps.probe(level, anchors, terms, document, places, met),
                _ => probe_long(steps, level, anchors, terms, document, places, met),
            };
        }
        work.candidates += candidates;
    }

    /// Lists the terms of each document that may be anchors, and prefetches their rows.
    #[inline(always)]
    fn gather(&mut self, steps: impl Steps, level: &Level, marks: &Marks) {
        let (mut start, mut count) = (0, 0);
        grow(&mut self.anchors, marks.used());
        self.anchor_ends.clear();
        for end in &marks.ends {
            for term in &marks.terms[start..*end] {
                self.anchors[count] = *term;
                count += usize::from(level.anchors.may_hold(*term));
            }
            start = *end;
            self.anchor_ends.push(count);
        }
        for anchor in &self.anchors[..count] {
            level.rows.fetch(steps, level.anchors.row(*anchor)); // none waits for another
        }
    }

    /// Turns bits into entries and decides the simple ones; sets the others aside.
    #[inline(always)]
    pub(super) fn decide(
        &mut self,
        steps: impl Steps,
        level: &Level,
        slice: Slice<'_>,
        first: u32,
        hit_pairs: &mut HitPairs,
    ) {
        steps.rank(level, &mut self.places);
        self.others.len = 0;
        self.others.grow(self.places.len);
        let (places, others) = (&self.places, &mut self.others);
        steps.decide(
            &level.entries,
            places,
            slice.masks,
            first,
            others,
            hit_pairs,
        );
    }

    /// Decides entries with tails, and small groups; sets large groups aside. Returns the number of entries in small
    /// groups.
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
        self.grouped.len = 0;
        for (rank, document) in self.others.iter() {
            let entry = &level.entries[rank as usize];
            match entry.group() {
                Some(Group { len, .. }) if len > GROUP_SMALL => self.large.push(rank),
                Some(group) => self.grouped.push_group(group, document),
                None => decide_one(level, entry, document, slice, first, checking, hit_pairs),
            }
            if checking.meter.is_over() {
                return 0;
            }
        }
        self.others.len = 0;
        self.others.grow(self.grouped.len);
        let (grouped, others) = (&self.grouped, &mut self.others);
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
            decide_one(level, entry, document, slice, first, checking, hit_pairs);
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

/// Probes for a document of many terms. Where an anchor has few entries, it takes all of them without meeting terms.
fn probe_long(
    steps: impl Steps,
    level: &Level,
    anchors: &mut [TermId],
    terms: &[TermId],
    document: u32,
    places: &mut Candidates,
    met: &mut Met,
) -> u64 {
    let (mut candidates, mut probed) = (0, 0);
    for index in 0..anchors.len() {
        let anchor = anchors[index];
        let row = level.anchors.row(anchor);
        if row.entries as usize * PROBES_PER_ENTRY > terms.len() {
            anchors[probed] = anchor;
            probed += 1;
        } else if row.entries > 0 {
            candidates += u64::from(row.entries);
            places.grow(row.entries as usize);
            let rows = &level.rows;
            rows.each(row, |place| places.push_if(place, document, true));
        }
    }
    for anchors in anchors[..probed].chunks(ANCHORS_AT_ONCE) {
        candidates += steps.probe(level, anchors, terms, document, places, met);
    }
    candidates
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
