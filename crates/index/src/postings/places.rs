//! The places of a word: where it stands in each row. A place is `field << 24 | position`;
//! positions of a field count from 1.
//!
//! Places are packed in blocks of 128 postings. Each block has one width, wide enough for its
//! highest position and its highest field.
//!
//! Example: a list of three postings, whose rows hold the word at 5; at 2 and 9; at 12 (field 0).
//!
//! ```text
//! entry of the block   4 bits a position, 0 bits a field
//! places               5  2  9  12       = bytes 0x25 0xC9
//! row 0: place 0       row 1: places 1 and 2       row 2: place 3
//! ```
//!
//! No byte says where a row's places begin. The list adds up the occurrences of the postings before
//! it in the block: 1 + 2 = 3 for row 2. See [`super::List::positions`].
//!
//! Invariants:
//! - A posting has one place for each occurrence that its code, or its open count, tells.
//! - In a row places rise; phrases are found by stepping through them.
//! - Each place takes at least one bit, so a damaged count cannot ask for endless places of no
//!   bytes.

use relation::processor::fetch;

use super::bits::{cut, pack, packed_bytes, unpack};
use super::posting::{BLOCK, ListForm};

/// Bits of a position in a place.
const POSITION_BITS: u32 = 24;
/// Bytes of a block's two widths.
const WIDTHS: usize = 2;
/// Bytes of a block's start, …
const START: usize = 4;
/// … and of one in a list of the wide form, or of 4 GiB of places or more. A list of one block has none.
const START_WIDE: usize = 8;

/// Least bytes of a list's places from which on its starts are wide.
const WIDE_BYTES: u64 = 1 << 32;

/// The places of a list in a file.
#[derive(Clone, Copy)]
pub(super) struct Packed<'a> {
    /// The entries of all blocks: two widths, then the start where there are several blocks.
    blocks: &'a [u8],
    entry_bytes: usize,
    content: &'a [u8],
}

/// The places of a list in memory, row behind row.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plain {
    /// Index in `places` of each row's first place, then the end of the last row: one more than
    /// rows.
    pub(crate) starts: Vec<u32>,
    pub(crate) places: Vec<u32>,
}

impl<'a> Packed<'a> {
    /// Opens the places of a list of `documents` rows. Empty `bytes` stand for a list whose places
    /// nobody reads. `None` where the bytes are too short for the entries.
    pub(super) fn open(documents: u32, form: ListForm, mut bytes: &'a [u8]) -> Option<Packed<'a>> {
        let count = (documents as usize).div_ceil(BLOCK);
        let entry_bytes = match form {
            _ if count <= 1 => WIDTHS,
            ListForm::Narrow if (bytes.len() as u64) < WIDE_BYTES => WIDTHS + START,
            _ => WIDTHS + START_WIDE,
        };
        let blocks = match bytes.is_empty() {
            true => bytes,
            false => cut(&mut bytes, count * entry_bytes)?,
        };
        Some(Packed {
            blocks,
            entry_bytes,
            content: bytes,
        })
    }

    /// The bytes of a block's places and their widths; `None` for a damaged entry.
    #[inline]
    pub(super) fn block(&self, block: usize) -> Option<(&'a [u8], Widths)> {
        let entry = self.blocks.get(block * self.entry_bytes..)?;
        let [position, field, rest @ ..] = entry else {
            return None;
        };
        let start = self.start(rest)?;
        let widths = Widths {
            position: u32::from(*position),
            place: u32::from(*position) + u32::from(*field),
        };
        let is_sound = widths.position <= POSITION_BITS && (1..=32).contains(&widths.place);
        is_sound.then_some((self.content.get(start..)?, widths))
    }

    /// Where a block's places begin in `content`. `entry`: behind its widths.
    #[inline]
    fn start(&self, entry: &[u8]) -> Option<usize> {
        Some(match self.entry_bytes - WIDTHS {
            0 => 0,
            START => u32::from_le_bytes(*entry.first_chunk()?) as usize,
            _ => u64::from_le_bytes(*entry.first_chunk()?) as usize,
        })
    }

    /// Tells the processor to fetch what [`Packed::block`] reads.
    #[inline]
    pub(super) fn fetch(&self, block: usize) {
        let start = block * self.entry_bytes;
        fetch(
            self.blocks
                .get(start..start + self.entry_bytes)
                .unwrap_or_default(),
        );
    }

    /// Tells the processor to fetch the line where a posting's places are, if all postings of its block have as many.
    #[inline]
    pub(super) fn fetch_place(&self, posting: usize) {
        let start = |block: usize| {
            let entry = self.blocks.get(block * self.entry_bytes + WIDTHS..)?;
            self.start(entry)
        };
        let block = posting / BLOCK;
        if let (Some(start), Some(end)) = (start(block), start(block + 1)) {
            let at = start + end.saturating_sub(start) * (posting % BLOCK) / BLOCK;
            fetch(self.content.get(at..at + 1).unwrap_or_default());
        }
    }

    /// Appends the `hits` places of a row. `before`: places of the rows before it in the block.
    pub(super) fn read(&self, block: usize, before: usize, hits: u32, out: &mut Vec<u32>) {
        let Some((content, widths)) = self.block(block) else {
            return;
        };
        let most = widths.places_in(content);
        let row = RowPlaces::packed(content, widths, most, before, hits as usize);
        row.each(|place| out.push(place));
    }
}

/// The places of one row, each read when it is asked for.
#[derive(Clone, Copy)]
pub(crate) enum RowPlaces<'a> {
    Packed {
        content: &'a [u8],
        widths: Widths,
        /// The row's first place among those of its block, and the end of its places.
        first: usize,
        end: usize,
    },
    Plain(&'a [u32]),
}

impl<'a> RowPlaces<'a> {
    /// The `hits` places of a block's `content` behind `before` others. `most`: [`Widths::places_in`], since a damaged count may
    /// exceed the places that the bytes can hold.
    #[inline(always)]
    pub(super) fn packed(
        content: &'a [u8],
        widths: Widths,
        most: usize,
        before: usize,
        hits: usize,
    ) -> RowPlaces<'a> {
        let end = (before + hits).min(most);
        RowPlaces::Packed {
            content,
            widths,
            first: before.min(end),
            end,
        }
    }

    #[inline(always)]
    pub(crate) fn len(self) -> usize {
        match self {
            RowPlaces::Packed { first, end, .. } => end - first,
            RowPlaces::Plain(places) => places.len(),
        }
    }

    /// Calls `visit` with each place, rising.
    #[inline(always)]
    pub(crate) fn each(self, mut visit: impl FnMut(u32)) {
        match self {
            RowPlaces::Packed {
                content,
                widths,
                first,
                end,
            } => (first..end).for_each(|at| visit(widths.place(content, at))),
            RowPlaces::Plain(places) => places.iter().for_each(|place| visit(*place)),
        }
    }

    /// The `at`-th place, as `field << 24 | position`; below [`RowPlaces::len`].
    #[inline(always)]
    pub(crate) fn at(self, at: usize) -> u32 {
        match self {
            RowPlaces::Packed {
                content,
                widths,
                first,
                ..
            } => widths.place(content, first + at),
            RowPlaces::Plain(places) => places.get(at).copied().unwrap_or(0),
        }
    }
}

/// Widths of a block, in bits.
#[derive(Clone, Copy)]
pub(crate) struct Widths {
    /// Width of a position, at most 24.
    position: u32,
    /// Width of a place: field and position together, 1 to 32.
    place: u32,
}

impl Widths {
    /// The places that these bytes can hold. A division, which a reader of many rows does once a block.
    #[inline(always)]
    pub(super) fn places_in(self, content: &[u8]) -> usize {
        content.len() * 8 / self.place as usize
    }

    /// The `at`-th place of the block, as `field << 24 | position`.
    #[inline(always)]
    pub(super) fn place(self, content: &[u8], at: usize) -> u32 {
        let place = unpack(content, at, self.place);
        let field = place >> self.position;
        field << POSITION_BITS | place & ((1 << self.position) - 1)
    }
}

/// Writes the places of a list, row by row.
pub(super) struct PlacesWriter<'a> {
    out: &'a mut Vec<u8>,
    start: usize,
    /// Finished blocks: bits of a position, bits of a field, start in `content`.
    blocks: Vec<(u8, u8, u64)>,
    content: Vec<u8>,
    /// Rows and places of the block that is being filled.
    rows: usize,
    places: Vec<u32>,
}

impl<'a> PlacesWriter<'a> {
    pub(super) fn new(out: &'a mut Vec<u8>) -> PlacesWriter<'a> {
        PlacesWriter {
            start: out.len(),
            out,
            blocks: Vec::new(),
            content: Vec::new(),
            rows: 0,
            places: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, places: &[u32]) {
        if self.rows == BLOCK {
            self.close_block();
        }
        self.places.extend_from_slice(places);
        self.rows += 1;
    }

    fn close_block(&mut self) {
        let position_mask = (1 << POSITION_BITS) - 1;
        let width = |of: fn(u32) -> u32| {
            let most = self.places.iter().map(|place| of(*place)).max();
            32 - most.unwrap_or(0).leading_zeros()
        };
        let position_bits = width(|place| place & ((1 << POSITION_BITS) - 1));
        // At least one bit: else damage could make any number of places out of no bytes.
        let position_bits = position_bits.max(1);
        let field_bits = width(|place| place >> POSITION_BITS);
        let packed = self
            .places
            .iter()
            .map(|place| (place >> POSITION_BITS) << position_bits | place & position_mask);
        let start = self.content.len() as u64;
        self.content
            .reserve(packed_bytes(self.places.len(), position_bits + field_bits));
        pack(packed, position_bits + field_bits, &mut self.content);
        self.blocks
            .push((position_bits as u8, field_bits as u8, start));
        self.places.clear();
        self.rows = 0;
    }

    /// Writes the entries and the places; returns the number of bytes appended.
    pub(super) fn finish(mut self) -> u64 {
        self.close_block();
        // As a reader tells it from the length of all: with narrow starts a list is shorter.
        let most = self.content.len() + self.blocks.len() * (WIDTHS + START_WIDE);
        let start_bytes = match self.blocks.len() {
            1 => 0,
            _ if (most as u64) < WIDE_BYTES => START,
            _ => START_WIDE,
        };
        for (position_bits, field_bits, start) in &self.blocks {
            self.out.extend([*position_bits, *field_bits]);
            self.out.extend(&start.to_le_bytes()[..start_bytes]);
        }
        self.out.extend(&self.content);
        (self.out.len() - self.start) as u64
    }
}
