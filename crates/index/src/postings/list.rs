//! Reading a posting list. The parent module has a worked example.

use std::borrow::Cow;

use relation::codec::{cut_small, put_number};
use relation::processor::fetch;
use smallvec::SmallVec;

use super::bits::{cut, packed_bytes, unpack};
use super::code::hits_of;
use super::page::{BITMAP_BYTES, Docs, Page, RANK_BYTES, doc_bits};
use super::places::{Packed, Plain, RowPlaces, Widths};
use super::posting::{BLOCK, LONG, ListForm, PAGE_BITS, PAGE_ROWS, Posting};

/// Bytes of one open count: a posting's number (4) and its occurrences (4), for a code of class 0.
const OPEN_BYTES: usize = 8;

/// Memory of the last question about positions, for the next one at a higher posting: that
/// posting's number, and the occurrences before it in its block. With it a walk adds up each code
/// once. The default starts at the first posting.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Run {
    at: u32,
    hits: u32,
}

/// Page starts that a list holds without an allocation: enough for half a million rows.
const PAGES_INLINE: usize = 9;

/// The posting list of one word. Nothing here panics: damaged bytes give other rows or none.
///
/// Invariants:
/// - `pages` has an entry for each page and one for the end; `first` and `at` never fall.
/// - In a file's list a page of at least 1,024 postings is a bitmap. A list in memory, and a short
///   list, has arrays only: `docs` is then owned, and [`List::page`] tells the forms apart by that.
/// - `codes[n]` is the code of posting `n`; `open` has an entry for each code of class 0, by rising
///   posting.
#[derive(Clone)]
pub(crate) struct List<'a> {
    rows: u32,
    form: ListForm,
    /// Start of each page, then the end of the last.
    pages: SmallVec<[PageStart; PAGES_INLINE]>,
    docs: Cow<'a, [u8]>,
    codes: Cow<'a, [u8]>,
    /// How many postings have each code that occurs, by rising code, [`COUNT_BYTES`] each. Empty
    /// for short lists and lists in memory.
    counts: &'a [u8],
    /// Set of text columns of each posting, `fields_bytes` bytes each. Empty where the table has
    /// one.
    fields: &'a [u8],
    fields_bytes: usize,
    /// The open counts: their number, then [`OPEN_BYTES`] for each. Decoded only when a reader
    /// asks, because these bytes lie at the far end of the list.
    open: Cow<'a, [u8]>,
    places: Places<'a>,
}

#[derive(Clone, Copy, Default)]
struct PageStart {
    /// Postings before the page.
    first: u32,
    /// Byte offset of the page in `docs`.
    at: u32,
}

/// The places of a list: packed in a file, or plain in memory.
#[derive(Clone)]
enum Places<'a> {
    Packed(Packed<'a>),
    Plain(Plain),
}

impl<'a> List<'a> {
    /// Opens a list that [`super::ListWriter`] wrote for a segment of `rows` rows; `form`: by the segment's version. `positions` may
    /// be empty where the caller never asks for places. `None` where the bytes are no list. Cost:
    /// the header, and a copy of a short list's docs.
    pub(crate) fn open(
        (rows, form): (u32, ListForm),
        many_fields: bool,
        postings: &'a [u8],
        positions: &'a [u8],
    ) -> Option<List<'a>> {
        let mut bytes = postings;
        let documents = cut_small(&mut bytes)?;
        let count = documents as usize;
        let mut list = List {
            rows,
            form,
            pages: SmallVec::new(),
            docs: Cow::default(),
            codes: Cow::default(),
            counts: &[],
            fields: &[],
            fields_bytes: 0,
            open: Cow::default(),
            places: Places::Packed(Packed::open(documents, form, positions)?),
        };
        if count < LONG {
            list.open_short(count, &mut bytes)?;
        } else {
            list.open_long(count, &mut bytes)?;
        }
        list.codes = Cow::Borrowed(cut(&mut bytes, count)?);
        if many_fields {
            list.fields_bytes = usize::from(cut(&mut bytes, 1)?[0]);
            if !(1..=8).contains(&list.fields_bytes) {
                return None;
            }
            list.fields = cut(&mut bytes, count * list.fields_bytes)?;
        }
        list.open = Cow::Borrowed(bytes);
        Some(list)
    }

    /// Makes a list in memory. Cost: a copy of the docs.
    ///
    /// - `docs`: rising, below `rows`; `codes`: one for each doc.
    /// - `open`: posting and occurrences for each code of class 0, by rising posting.
    /// - `places`: empty where the caller never asks for them.
    pub(crate) fn of_memory(
        rows: u32,
        docs: impl Iterator<Item = u32>,
        codes: Vec<u8>,
        open: &[(u32, u32)],
        places: Plain,
    ) -> List<'static> {
        let mut list = List {
            rows,
            form: ListForm::Narrow,
            pages: SmallVec::new(),
            docs: Cow::default(),
            codes: Cow::Owned(codes),
            counts: &[],
            fields: &[],
            fields_bytes: 0,
            open: Cow::default(),
            places: Places::Plain(places),
        };
        list.set_arrays(docs);
        let mut bytes = Vec::new();
        put_number(&mut bytes, open.len() as u64);
        for (at, hits) in open {
            bytes.extend([at.to_le_bytes(), hits.to_le_bytes()].as_flattened());
        }
        list.open = Cow::Owned(bytes);
        list
    }

    /// Lays the docs out as pages of arrays, even where a file would have bitmaps.
    fn set_arrays(&mut self, docs: impl Iterator<Item = u32>) {
        let mut lows: Vec<u8> = Vec::with_capacity(docs.size_hint().0 * 2);
        let here = |lows: &[u8]| PageStart {
            first: (lows.len() / 2) as u32,
            at: lows.len() as u32,
        };
        for doc in docs {
            while self.pages.len() as u32 <= doc >> PAGE_BITS {
                self.pages.push(here(&lows));
            }
            lows.extend((doc as u16).to_le_bytes());
        }
        let pages = self.rows.div_ceil(PAGE_ROWS) as usize;
        self.pages
            .resize(pages.max(self.pages.len()) + 1, here(&lows));
        self.docs = Cow::Owned(lows);
    }

    fn open_short(&mut self, count: usize, bytes: &mut &'a [u8]) -> Option<()> {
        let bits = doc_bits(self.rows, self.form);
        let packed = cut(bytes, packed_bytes(count, bits))?;
        let docs = (0..count).map(|at| unpack(packed, at, bits));
        let is_rising = docs.clone().is_sorted_by(|a, b| a < b);
        if !is_rising || docs.clone().next_back()? >= self.rows {
            return None;
        }
        self.set_arrays(docs);
        Some(())
    }

    fn open_long(&mut self, count: usize, bytes: &mut &'a [u8]) -> Option<()> {
        let codes = u16::from_le_bytes(*cut(bytes, 2)?.first_chunk()?);
        self.counts = cut(bytes, usize::from(codes) * COUNT_BYTES)?;
        let pages = self.rows.div_ceil(PAGE_ROWS) as usize;
        let ends = cut(bytes, pages * 4)?;
        self.pages.reserve_exact(pages + 1);
        let mut start = PageStart::default();
        self.pages.push(start);
        for end in ends
            .as_chunks()
            .0
            .iter()
            .map(|end| u32::from_le_bytes(*end))
        {
            start.at += match end.checked_sub(start.first)? as usize {
                postings if postings < self.form.dense() => postings * 2,
                _ => BITMAP_BYTES + RANK_BYTES,
            } as u32;
            start.first = end;
            self.pages.push(start);
        }
        self.docs = Cow::Borrowed(cut(bytes, start.at as usize)?);
        (start.first as usize == count).then_some(())
    }

    /// Rows that hold the word, deleted ones included: the number of postings.
    pub(crate) fn documents(&self) -> u32 {
        self.codes.len() as u32
    }

    /// The postings of a page; an empty page where the list has no such page.
    pub(crate) fn page(&self, page: usize) -> Page<'_> {
        self.find_page(page).unwrap_or_default()
    }

    fn find_page(&self, page: usize) -> Option<Page<'_>> {
        let (PageStart { first, at }, next) = (*self.pages.get(page)?, self.pages.get(page + 1)?);
        let codes = self.codes.get(first as usize..next.first as usize)?;
        let bytes = self.docs.get(at as usize..)?;
        let is_array = codes.len() < self.form.dense() || matches!(self.docs, Cow::Owned(_));
        let docs = if is_array {
            Docs::Array(bytes.as_chunks().0.get(..codes.len())?)
        } else {
            let (words, rest) = bytes.split_at_checked(BITMAP_BYTES)?;
            let ranks = rest.get(..RANK_BYTES)?.as_chunks().0.first_chunk()?;
            Docs::Bits(words.as_chunks().0.first_chunk()?, ranks)
        };
        Some(Page { docs, codes, first })
    }

    /// Calls `visit` with codes and the number of postings that have them; a code may come again.
    /// Cost: one call for each code that occurs, or, for short lists and lists in memory, for each
    /// posting.
    pub(crate) fn each_code(&self, mut visit: impl FnMut(u8, u32)) {
        if self.counts.is_empty() {
            self.codes.iter().for_each(|code| visit(*code, 1));
        }
        for count in self.counts.chunks_exact(COUNT_BYTES) {
            visit(
                count[0],
                u32::from_le_bytes([count[1], count[2], count[3], count[4]]),
            );
        }
    }

    /// Occurrences of the word in a posting's row; 0 where there is no such posting.
    pub(crate) fn hits(&self, at: u32) -> u32 {
        match self.codes.get(at as usize) {
            None => 0,
            Some(code) => hits_of(*code).unwrap_or_else(|| self.open_hits(at)),
        }
    }

    fn open_hits(&self, at: u32) -> u32 {
        let entries = self.open_entries();
        match entries.get(open_from(entries, at)).map(open_entry) {
            Some((found, hits)) if found == at => hits,
            _ => 0,
        }
    }

    fn open_entries(&self) -> &[[u8; OPEN_BYTES]] {
        let mut bytes = &*self.open;
        let count = cut_small(&mut bytes).unwrap_or(0) as usize;
        bytes.as_chunks().0.get(..count).unwrap_or_default()
    }

    /// By posting: the set of the fields that the word stands in; `None` where a set is no byte of the file.
    pub(crate) fn small_fields(&self) -> Option<&[u8]> {
        (self.fields_bytes == 1).then_some(self.fields)
    }

    /// Set of the fields that the word stands in, in a posting's row.
    pub(crate) fn fields(&self, at: u32) -> u64 {
        if let Places::Plain(plain) = &self.places {
            return match plain.row(at) {
                [] => 1,
                places => places
                    .iter()
                    .fold(0, |fields, place| fields | 1 << (place >> 24 & 63)),
            };
        }
        if self.fields_bytes == 0 {
            return 1;
        }
        let start = at as usize * self.fields_bytes;
        let mask = self.fields.get(start..start + self.fields_bytes);
        mask.unwrap_or_default()
            .iter()
            .rev()
            .fold(0, |mask, byte| mask << 8 | u64::from(*byte))
    }

    /// Reads a posting's places into `out`, each `field << 24 | position`, rising. Cost: adds up
    /// the codes since the posting that `run` remembers, at most 127, and searches the open counts twice.
    #[inline]
    pub(crate) fn positions(&self, at: u32, run: &mut Run, out: &mut Vec<u32>) {
        out.clear();
        match &self.places {
            Places::Plain(plain) => out.extend_from_slice(plain.row(at)),
            Places::Packed(packed) => {
                let before = self.hits_before(at, run);
                packed.read(at as usize / BLOCK, before, self.hits(at), out);
            }
        }
    }

    /// Reads the places of postings that rise. Cost: one pass through the codes of the blocks that have them.
    #[inline]
    pub(crate) fn places(&self) -> PlaceWalk<'_> {
        PlaceWalk {
            list: self,
            open: self.open_entries(),
            opened: None,
            block: usize::MAX,
            passed: 0,
            before: 0,
        }
    }

    /// The first place of each posting of a block of [`BLOCK`], and no more of `firsts`. `None` for lists in memory, and for a
    /// damaged block. Cost: one pass through the codes of the block; where some of its postings are asked for, [`List::places`] is
    /// cheaper.
    #[inline(always)]
    pub(crate) fn first_places(&self, block: usize, firsts: &mut [u32; BLOCK]) -> Option<()> {
        let Places::Packed(packed) = &self.places else {
            return None;
        };
        let (content, widths) = packed.block(block)?;
        let codes = self.codes.get(block * BLOCK..)?;
        let open = self.open_entries();
        let mut open = open[open_from(open, (block * BLOCK) as u32)..].iter();
        let mut before = 0;
        for (first, code) in firsts.iter_mut().zip(codes) {
            *first = widths.place(content, before);
            before += match hits_of(*code) {
                Some(hits) => hits as usize,
                None => open.next().map_or(0, |entry| open_entry(entry).1 as usize),
            };
        }
        Some(())
    }

    /// Tells the processor to fetch what [`PlaceWalk::row`] reads of a posting before its places.
    #[inline]
    pub(crate) fn fetch_codes(&self, at: u32) {
        if let Places::Packed(packed) = &self.places {
            let at = at as usize;
            fetch(self.codes.get(at - at % BLOCK..=at).unwrap_or_default());
            packed.fetch(at / BLOCK);
        }
    }

    /// Tells the processor to fetch the places of a posting, about. Reads what [`List::fetch_codes`] fetches.
    #[inline]
    pub(crate) fn fetch_place(&self, at: u32) {
        if let Places::Packed(packed) = &self.places {
            packed.fetch_place(at as usize);
        }
    }

    /// The first place of a posting's row. Cost: as [`List::positions`].
    #[inline]
    pub(crate) fn first_position(&self, at: u32, run: &mut Run) -> Option<u32> {
        match &self.places {
            Places::Plain(plain) => plain.row(at).first().copied(),
            Places::Packed(packed) => {
                let (content, widths) = packed.block(at as usize / BLOCK)?;
                Some(widths.place(content, self.hits_before(at, run)))
            }
        }
    }

    /// Occurrences ("hits") in all postings before this one in its block: the number of the row's
    /// first place in the block. Sums the codes from `run`'s posting on; from the block's start if
    /// `run` is behind the posting or in another block. Then adds the counts of postings with eight or more occurrences, which
    /// codes do not tell: two binary searches in the list's open counts.
    #[inline]
    fn hits_before(&self, at: u32, run: &mut Run) -> usize {
        let start = at - at % BLOCK as u32;
        if run.at < start || run.at > at {
            *run = Run { at: start, hits: 0 };
        }
        let mut hits = run.hits as usize + told_hits(&self.codes, run.at as usize, at as usize);
        let open = self.open_entries();
        if !open.is_empty() {
            hits += open_hits_between(open, run.at, at);
        }
        *run = Run {
            at,
            hits: hits as u32,
        };
        hits
    }

    /// The posting with this number, of which the caller knows the doc; `None` for damaged bytes.
    pub(super) fn posting(&self, at: u32, doc: u32) -> Option<Posting> {
        let code = *self.codes.get(at as usize)?;
        (doc < self.rows).then(|| Posting {
            doc,
            code,
            hits: self.hits(at),
            fields: self.fields(at),
        })
    }
}

/// From [`List::places`].
pub(crate) struct PlaceWalk<'l> {
    list: &'l List<'l>,
    /// Open counts from the posting `passed` on.
    open: &'l [[u8; OPEN_BYTES]],
    /// The block of the last posting, its bytes, and the places that they can hold.
    opened: Option<(&'l [u8], Widths, usize)>,
    block: usize,
    /// The last posting, and the places before it in its block.
    passed: usize,
    before: usize,
}

impl<'l> PlaceWalk<'l> {
    /// The places of a posting, which is no lower than the one before.
    #[inline(always)]
    pub(crate) fn row(&mut self, at: u32) -> RowPlaces<'l> {
        let packed = match &self.list.places {
            Places::Packed(packed) => packed,
            Places::Plain(plain) => return RowPlaces::Plain(plain.row(at)),
        };
        let own = at as usize / BLOCK;
        if own != self.block {
            (self.block, self.passed, self.before) = (own, own * BLOCK, 0);
            let opened = packed.block(own);
            self.opened =
                opened.map(|(content, widths)| (content, widths, widths.places_in(content)));
            self.open = &self.open[open_from(self.open, self.passed as u32)..];
        }
        let codes = &*self.list.codes;
        self.before += told_hits(codes, self.passed, at as usize);
        self.passed = at as usize;
        let mut hits = codes
            .get(self.passed)
            .map_or(0, |code| usize::from(code >> 5));
        while let Some((entry, rest)) = self.open.split_first() {
            let (posting, more) = open_entry(entry);
            if posting >= at {
                hits += if posting == at { more as usize } else { 0 };
                break;
            }
            self.before += more as usize;
            self.open = rest;
        }
        match self.opened {
            Some((content, widths, most)) => {
                RowPlaces::packed(content, widths, most, self.before, hits)
            }
            None => RowPlaces::Plain(&[]),
        }
    }
}

/// Number of a posting, and its occurrences.
fn open_entry(entry: &[u8; OPEN_BYTES]) -> (u32, u32) {
    let [a, b, c, d, e, f, g, h] = *entry;
    (
        u32::from_le_bytes([a, b, c, d]),
        u32::from_le_bytes([e, f, g, h]),
    )
}

/// Index of the first open count whose posting is not below `at`.
fn open_from(entries: &[[u8; OPEN_BYTES]], at: u32) -> usize {
    entries.partition_point(|entry| open_entry(entry).0 < at)
}

/// Sum of the open counts of the postings `start .. end`.
fn open_hits_between(entries: &[[u8; OPEN_BYTES]], start: u32, end: u32) -> usize {
    let entries = entries.get(open_from(entries, start)..open_from(entries, end));
    let hits = |entry| open_entry(entry).1 as usize;
    entries.unwrap_or_default().iter().map(hits).sum()
}

/// Bytes of one count: a code (1) and its postings (4).
const COUNT_BYTES: usize = 5;

impl Plain {
    fn row(&self, at: u32) -> &[u32] {
        let at = at as usize;
        match (self.starts.get(at), self.starts.get(at + 1)) {
            (Some(start), Some(end)) => {
                let range = *start as usize..*end as usize;
                self.places.get(range).unwrap_or_default()
            }
            _ => &[],
        }
    }
}

/// Sum of the occurrences that the codes of postings `start .. end` tell, eight codes at a time.
/// Codes of class 0 add nothing.
#[inline(always)]
fn told_hits(codes: &[u8], start: usize, end: usize) -> usize {
    const LOW: u64 = 0x0101_0101_0101_0101;
    let sum = |eight: u64| ((eight >> 5 & (7 * LOW)).wrapping_mul(LOW) >> 56) as usize;
    let (mut at, mut hits) = (start, 0);
    while at < end {
        let Some(eight) = codes.get(at..).and_then(|rest| rest.first_chunk()) else {
            let rest = codes.get(at..end).unwrap_or_default();
            return hits
                + rest
                    .iter()
                    .map(|code| usize::from(code >> 5))
                    .sum::<usize>();
        };
        let beyond = (at + 8).saturating_sub(end) as u32 * 8;
        hits += sum(u64::from_le_bytes(*eight) << beyond);
        at += 8;
    }
    hits
}
