//! A matcher's buffers, and the steps from documents to pairs of a query and a document.
//!
//! Each step runs over a whole slice before the next begins, and writes a list that is as long as what is left: no branch
//! depends on whether a word, a second term or an entry fits, and what lies far apart is fetched many at a time.

use query::analysis::Words;

use crate::{
    check::{Slice, Workspace},
    dictionary::{Dictionary, TermId, UNKNOWN, View},
    documents::Documents,
    entry::{Entry, Group},
    filter::Verdicts,
    found::{Finds, Sorter, document_of, found, grow, query_of},
    further::Further,
    hits::{TooManyPairs, Work},
    level::{Level, Scanned},
    limits::{GROUP_SMALL, PAIRS_MAX, SLICE_DOCUMENTS},
    looked::Looked,
};

/// Buffers of one matcher, kept from call to call. One per thread; good for any snapshot of any set.
#[derive(Debug, Default)]
pub struct Scratch {
    marks: Marks,
    survivors: Survivors,
    /// By level: what was found.
    pub(crate) finds: Vec<Finds>,
    pub(crate) sorter: Sorter,
    verdicts: Verdicts,
    checking: Workspace,
    /// Slices seen so far.
    pub(crate) turn: u64,
}

/// Which documents of a slice hold which terms.
#[derive(Debug, Default)]
struct Marks {
    /// By term: the documents that hold it. That of [`UNKNOWN`] is full, the others are zero unless in `terms`.
    masks: Vec<u64>,
    /// The terms of each document, each once, one document after the other; then what is not in use.
    terms: Vec<TermId>,
    /// Of the document at hand.
    looked: Looked,
    /// By document: the end of its terms.
    ends: Vec<usize>,
}

/// What is left of a slice's candidates in one level, from step to step.
#[derive(Debug, Default)]
struct Survivors {
    /// Terms that may be anchors, one document after the other.
    anchors: Vec<TermId>,
    /// By document: where they end.
    anchor_ends: Vec<usize>,
    met: Met,
    /// First bits of rows, then ranks of entries.
    places: Candidates,
    /// Entries that are no simple ones, by rank.
    others: Candidates,
    /// Entries of small groups.
    grouped: Candidates,
    /// Ranks of large groups.
    large: Vec<u32>,
}

/// Words of rows that have bits in common with the document at hand.
#[derive(Debug, Default)]
pub(crate) struct Met {
    /// Those bits. The first `len` are in use.
    pub(crate) bits: Vec<u32>,
    /// Beside `bits`: where the word's first bit lies.
    pub(crate) first: Vec<u32>,
    pub(crate) len: usize,
}

impl Met {
    /// Makes room for so many more, and for a whole vector behind them.
    #[inline(always)]
    pub(crate) fn grow(&mut self, more: usize) {
        grow(&mut self.bits, self.len + more + LANES);
        grow(&mut self.first, self.len + more + LANES);
    }
}

/// Numbers, each with a document of the slice.
#[derive(Debug, Default)]
pub(crate) struct Candidates {
    /// The first `len` are in use.
    pub(crate) numbers: Vec<u32>,
    /// Beside `numbers`.
    pub(crate) documents: Vec<u32>,
    pub(crate) len: usize,
}

impl Candidates {
    /// Makes room for so many more, and for a whole vector behind them.
    #[inline(always)]
    pub(crate) fn grow(&mut self, more: usize) {
        grow(&mut self.numbers, self.len + more + LANES);
        grow(&mut self.documents, self.len + more + LANES);
    }

    /// Adds one, for which there is room, if it is kept.
    #[inline(always)]
    fn push_if(&mut self, number: u32, document: u32, is_kept: bool) {
        self.numbers[self.len] = number;
        self.documents[self.len] = document;
        self.len += usize::from(is_kept);
    }

    /// Adds the entries of a small group. As many are written as the largest one has: no branch on how many there are.
    #[inline(always)]
    fn push_group(&mut self, group: Group, document: u32) {
        self.grow(LANES);
        let numbers = &mut self.numbers[self.len..self.len + LANES];
        for (number, index) in numbers.iter_mut().zip(group.start..) {
            *number = index;
        }
        self.documents[self.len..self.len + LANES].fill(document);
        self.len += group.len as usize;
    }

    #[inline(always)]
    fn iter(&self) -> impl ExactSizeIterator<Item = (u32, u32)> {
        let numbers = self.numbers[..self.len].iter();
        numbers
            .zip(&self.documents[..self.len])
            .map(|(number, document)| (*number, *document))
    }
}

/// The steps that run over long lists and are worth writing for vectors.
pub(crate) trait Steps: Copy {
    /// Asks for memory that is read soon: the item of a list, if there is one at that place.
    fn fetch<T>(self, list: &[T], place: usize);
    /// Looks up the words of a document.
    fn look_up(self, view: View<'_>, document: &Words, looked: &mut Looked);
    /// Adds to `places` where the document's terms meet bits of its anchors' rows. Gives how many entries are filed under
    /// the anchors.
    fn probe(
        self,
        level: &Level,
        anchors: &[TermId],
        terms: &[TermId],
        document: u32,
        places: &mut Candidates,
        met: &mut Met,
    ) -> u64;
    /// From bits to the ranks of entries.
    fn rank(self, level: &Level, places: &mut Candidates);
    /// Decides the simple ones of the entries with these ranks; the others go to `others`, in which there is room.
    fn decide(
        self,
        entries: &[Entry],
        ranks: &Candidates,
        masks: &[u64],
        first: u32,
        others: &mut Candidates,
        finds: &mut Finds,
    );
    /// Decides all entries for all of a slice's documents: adds what is found of the simple ones, and notes the index of each
    /// other one, whose anchor is there, in `others`. Gives how often the anchors are there.
    fn scan(
        self,
        scanned: &Scanned,
        masks: &[u64],
        first: u32,
        others: &mut Candidates,
        finds: &mut Finds,
    ) -> u64;
}

/// The steps for any processor.
#[derive(Clone, Copy)]
pub(crate) struct Plain;

impl Steps for Plain {
    #[inline(always)]
    fn fetch<T>(self, _: &[T], _: usize) {}

    #[inline(always)]
    fn look_up(self, view: View<'_>, document: &Words, looked: &mut Looked) {
        looked.look_up(view, document);
    }

    #[inline(always)]
    fn probe(
        self,
        level: &Level,
        anchors: &[TermId],
        terms: &[TermId],
        document: u32,
        places: &mut Candidates,
        _: &mut Met,
    ) -> u64 {
        let mut candidates = 0;
        for anchor in anchors {
            let row = level.anchors.row(*anchor);
            if row.entries > 0 {
                candidates += u64::from(row.entries);
                places.grow(terms.len());
                for term in terms {
                    let (place, is_set) = level.rows.probe(row, *term);
                    places.push_if(place, document, is_set);
                }
            }
        }
        candidates
    }

    #[inline(always)]
    fn rank(self, level: &Level, places: &mut Candidates) {
        for place in &mut places.numbers[..places.len] {
            *place = level.rows.rank(*place);
        }
    }

    #[inline(always)]
    fn decide(
        self,
        entries: &[Entry],
        ranks: &Candidates,
        masks: &[u64],
        first: u32,
        others: &mut Candidates,
        finds: &mut Finds,
    ) {
        for (rank, document) in ranks.iter() {
            others.push_if(rank, document, !entries[rank as usize].is_simple());
        }
        finds.extend(ranks.iter().map(|(rank, document)| {
            let entry = &entries[rank as usize];
            let hits = entry.mask(masks) >> document & 1 == 1;
            (
                found(entry.query(), first + document),
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
        finds: &mut Finds,
    ) -> u64 {
        let mut candidates = 0;
        let entries = scanned.entries.iter().zip(&scanned.anchors);
        for ((entry, anchor), index) in entries.zip(0..) {
            let among = masks.get(*anchor as usize).copied().unwrap_or(0);
            candidates += u64::from(among.count_ones());
            others.push_if(index, 0, among != 0 && !entry.is_simple());
            if entry.is_simple() {
                finds.add(entry.query(), first, among & entry.mask(masks));
            }
        }
        candidates
    }
}

/// A document of more terms than this has more than most rows have bits, and more anchors than are compared at once.
const MANY_TERMS: usize = 256;

/// Anchors whose rows are compared at once with a document of many terms.
const ANCHORS_AT_ONCE: usize = 64;

/// To look at an entry costs as much as so many probes: it lies anywhere, a row's bits lie together.
const PROBES_PER_ENTRY: usize = 8;

const _: () = assert!(GROUP_SMALL as usize <= LANES);

/// Numbers that a vector holds, at most.
pub(crate) const LANES: usize = 16;

/// A slice of a call's documents.
#[derive(Clone, Copy)]
pub(crate) struct Part<'a> {
    pub(crate) documents: &'a Documents<'a>,
    pub(crate) words: &'a [Words],
    /// Index of its first document.
    pub(crate) first: u32,
}

impl Scratch {
    /// Empty buffers.
    #[must_use]
    pub fn new() -> Scratch {
        Scratch::default()
    }

    /// Forgets what was found before.
    pub(crate) fn begin(&mut self, levels: usize) {
        if self.finds.len() < levels {
            self.finds.resize_with(levels, Finds::default);
        }
        self.finds.iter_mut().for_each(Finds::clear);
    }

    /// Marks the words of these documents.
    #[inline(always)]
    pub(crate) fn mark(&mut self, steps: impl Steps, dictionary: &Dictionary, words: &[Words]) {
        self.verdicts.clear();
        self.checking.clear();
        self.marks.clear(dictionary.len());
        let has_further = dictionary.has_further();
        for (index, document) in words.iter().enumerate() {
            self.marks.mark(steps, dictionary, document, index);
            if has_further {
                let further = &mut self.checking.further;
                self.marks
                    .mark_further(steps, dictionary, document, index, further);
            }
        }
    }

    /// Finds what the marked documents hit in a level.
    #[inline(always)]
    pub(crate) fn examine(
        &mut self,
        steps: impl Steps,
        dictionary: &Dictionary,
        (number, level): (usize, &Level),
        part: Part<'_>,
        work: &mut Work,
    ) -> Result<(), TooManyPairs> {
        let Scratch {
            marks,
            survivors,
            finds,
            verdicts,
            checking,
            ..
        } = self;
        let slice = Slice {
            masks: &marks.masks,
            documents: part.words,
            dictionary,
        };
        let finds = &mut finds[number];
        let found_before = finds.len();
        survivors.scan(steps, level, slice, part.first, checking, (finds, work));
        survivors.probe(steps, level, marks, work);
        work.visits += survivors.places.len as u64;
        survivors.decide(steps, level, slice, part.first, finds);
        let steps_left = survivors.others.len + level.always.len() + level.scanned.entries.len();
        finds.mixed |= level.has_alternatives && steps_left > 0;
        work.visits += survivors.decide_others(steps, level, slice, part.first, checking, finds);
        survivors.decide_large(level, slice, part.first, checking, finds, work)?;
        decide_always(level, slice, part.first, checking, finds, work)?;
        if level.has_filters() {
            filter(steps, level, part, finds, found_before, verdicts);
        }
        match finds.len() {
            0..=PAIRS_MAX => Ok(()),
            _ => Err(TooManyPairs),
        }
    }
}

impl Marks {
    /// Forgets the slice before. It does so first rather than last, so that a call that was broken off leaves nothing
    /// behind.
    #[inline(always)]
    fn clear(&mut self, terms: usize) {
        let used = self.used();
        for term in &self.terms[..used] {
            self.masks[*term as usize] = 0;
        }
        self.ends.clear();
        if self.masks.len() < terms {
            self.masks.resize(terms, 0);
        }
        self.masks[UNKNOWN as usize] = u64::MAX;
    }

    /// How many terms are in use.
    fn used(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// Marks the words of one document. First all are looked up, none of which waits for another.
    #[inline(always)]
    fn mark(&mut self, steps: impl Steps, dictionary: &Dictionary, document: &Words, index: usize) {
        steps.look_up(dictionary.view(), document, &mut self.looked);
        let mut count = self.used();
        let known = self.looked.known();
        grow(&mut self.terms, count + known.len());
        for term in known {
            let mask = &mut self.masks[*term as usize];
            let was = *mask >> index & 1;
            *mask |= 1 << index;
            self.terms[count] = *term;
            count += 1 - was as usize;
        }
        if self.looked.is_limited {
            count = self.mark_limited(dictionary, document, index, count);
        }
        self.ends.push(count);
    }

    /// Marks the terms of a document, whose words are marked, that are more than a word looked up.
    #[inline(always)]
    fn mark_further(
        &mut self,
        steps: impl Steps,
        dictionary: &Dictionary,
        document: &Words,
        index: usize,
        further: &mut Further,
    ) {
        let Marks {
            masks, terms, ends, ..
        } = self;
        let plain = &self.looked.plain[..document.len()];
        let Some(all) = ends.last_mut() else {
            return;
        };
        further.mark_pairs(steps, dictionary, document, plain, |pair| {
            add(masks, terms, all, pair, index);
        });
        further.mark_patterns(steps, dictionary, document, plain, |pattern| {
            add(masks, terms, all, pattern, index);
        });
    }

    /// Marks the terms of its words that are limited to fields; gives how many terms there are now.
    #[cold]
    fn mark_limited(
        &mut self,
        dictionary: &Dictionary,
        document: &Words,
        index: usize,
        mut count: usize,
    ) -> usize {
        for ((_, field), plain) in document.spans().zip(&self.looked.plain) {
            dictionary.limited(*plain, field, |term| {
                let mask = &mut self.masks[term as usize];
                if *mask >> index & 1 == 0 {
                    *mask |= 1 << index;
                    grow(&mut self.terms, count + 1);
                    self.terms[count] = term;
                    count += 1;
                }
            });
        }
        count
    }
}

/// Marks a term and adds it to the `count` others. No branch on whether it was there.
#[inline(always)]
fn add(masks: &mut [u64], terms: &mut Vec<TermId>, count: &mut usize, term: TermId, index: usize) {
    grow(terms, *count + 1);
    let mask = &mut masks[term as usize];
    let was = *mask >> index & 1;
    *mask |= 1 << index;
    terms[*count] = term;
    *count += 1 - was as usize;
}

impl Survivors {
    /// Decides the entries of a level that has filed none.
    #[inline(always)]
    fn scan(
        &mut self,
        steps: impl Steps,
        level: &Level,
        slice: Slice<'_>,
        first: u32,
        checking: &mut Workspace,
        (finds, work): (&mut Finds, &mut Work),
    ) {
        let Scanned { anchors, entries } = &level.scanned;
        let others = &mut self.others;
        others.len = 0;
        others.grow(entries.len());
        work.candidates += steps.scan(&level.scanned, slice.masks, first, others, finds);
        work.visits += entries.len() as u64;
        for (index, _) in others.iter() {
            let (entry, anchor) = (&entries[index as usize], anchors[index as usize]);
            let mask = level.verify(entry, slice.mask(anchor), slice, checking);
            finds.add(entry.query(), first, mask);
        }
    }

    /// Compares each document's terms with the rows of those that are anchors.
    #[inline(always)]
    fn probe(&mut self, steps: impl Steps, level: &Level, marks: &Marks, work: &mut Work) {
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

    /// Lists the terms of each document that may be anchors, and asks for their rows.
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

    /// From the bits that were met to what was found. Entries that take more are put aside.
    #[inline(always)]
    fn decide(
        &mut self,
        steps: impl Steps,
        level: &Level,
        slice: Slice<'_>,
        first: u32,
        finds: &mut Finds,
    ) {
        steps.rank(level, &mut self.places);
        self.others.len = 0;
        self.others.grow(self.places.len);
        let (places, others) = (&self.places, &mut self.others);
        steps.decide(&level.entries, places, slice.masks, first, others, finds);
    }

    /// Decides entries with tails and small groups; large groups are put aside. Gives how many the groups held.
    #[inline(always)]
    fn decide_others(
        &mut self,
        steps: impl Steps,
        level: &Level,
        slice: Slice<'_>,
        first: u32,
        checking: &mut Workspace,
        finds: &mut Finds,
    ) -> u64 {
        self.large.clear();
        self.grouped.len = 0;
        for (rank, document) in self.others.iter() {
            let entry = &level.entries[rank as usize];
            match entry.group() {
                Some(Group { len, .. }) if len > GROUP_SMALL => self.large.push(rank),
                Some(group) => self.grouped.push_group(group, document),
                None => decide_one(level, entry, document, slice, first, checking, finds),
            }
        }
        self.others.len = 0;
        self.others.grow(self.grouped.len);
        let (grouped, others) = (&self.grouped, &mut self.others);
        steps.decide(&level.grouped, grouped, slice.masks, first, others, finds);
        for (index, document) in self.others.iter() {
            let entry = &level.grouped[index as usize];
            decide_one(level, entry, document, slice, first, checking, finds);
        }
        self.grouped.len as u64
    }

    /// Decides large groups, each once for all documents.
    fn decide_large(
        &mut self,
        level: &Level,
        slice: Slice<'_>,
        first: u32,
        checking: &mut Workspace,
        finds: &mut Finds,
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
                finds,
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
    finds: &mut Finds,
) {
    let mask = level.verify(entry, 1 << document, slice, checking);
    finds.add(entry.query(), first, mask);
}

/// Probes for a document of many terms: where an anchor has few entries beside the document's terms, all of them are taken.
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

/// Tries every document against the entries that are filed under no word.
fn decide_always(
    level: &Level,
    slice: Slice<'_>,
    first: u32,
    checking: &mut Workspace,
    finds: &mut Finds,
    work: &mut Work,
) -> Result<(), TooManyPairs> {
    if level.always.is_empty() {
        return Ok(());
    }
    work.candidates += (level.always.len() * slice.documents.len()) as u64;
    work.visits += level.always.len() as u64;
    let all = u64::MAX >> (SLICE_DOCUMENTS - slice.documents.len());
    decide_each(level, &level.always, all, slice, first, checking, finds)
}

/// Decides entries for all the documents `among` at once.
fn decide_each(
    level: &Level,
    entries: &[Entry],
    among: u64,
    slice: Slice<'_>,
    first: u32,
    checking: &mut Workspace,
    finds: &mut Finds,
) -> Result<(), TooManyPairs> {
    for entry in entries {
        let hits = level.verify(entry, among, slice, checking);
        finds.add(entry.query(), first, hits);
        if finds.len() > PAIRS_MAX {
            return Err(TooManyPairs);
        }
    }
    Ok(())
}

/// Pairs whose filters are fetched before the first is asked.
const FETCHED_AT_ONCE: usize = 16;

/// Of the pairs from `from` on, keeps those whose document the query's filter accepts.
#[inline(always)]
fn filter(
    steps: impl Steps,
    level: &Level,
    part: Part<'_>,
    finds: &mut Finds,
    from: usize,
    verdicts: &mut Verdicts,
) {
    let first = part.first as usize;
    let fetch = |pair| level.fetch_filter(steps, query_of(pair));
    finds.retain_ahead::<FETCHED_AT_ONCE>(from, fetch, |pair| {
        let index = (document_of(pair) - part.first) as usize;
        let accepts = |filter| verdicts.accepts(filter, index, part.documents, first);
        level.filter(query_of(pair)).is_none_or(accepts)
    });
}
