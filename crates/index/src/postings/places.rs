//! Where a word stands in its rows.
//!
//! For each block of 128 postings: the bits of a position, the bits of a field, and, where there are several blocks, where its
//! places begin. Then the places of all rows, each `field, position` at the width of its block: place k of a row is found by
//! adding up the hits before it, without reading any place.

use super::bits::{cut, pack, packed_bytes, unpack};
use super::posting::BLOCK;

/// Bits of a position in a place.
const POSITION_BITS: u32 = 24;
/// Bytes of a block's widths.
const WIDTHS: usize = 2;
/// Bytes of where a block begins.
const START: usize = 8;

/// The places of a list as it was written.
#[derive(Clone, Copy)]
pub(super) struct Packed<'a> {
    /// One block's entry behind the other.
    blocks: &'a [u8],
    entry_bytes: usize,
    content: &'a [u8],
}

/// The places of a list in memory, one behind the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plain {
    /// Where those of each row start; one more than rows.
    pub(crate) starts: Vec<u32>,
    pub(crate) places: Vec<u32>,
}

impl<'a> Packed<'a> {
    /// Of so many rows. Without bytes there are no places.
    pub(super) fn open(documents: u32, mut bytes: &'a [u8]) -> Option<Packed<'a>> {
        let count = (documents as usize).div_ceil(BLOCK);
        let entry_bytes = if count > 1 { WIDTHS + START } else { WIDTHS };
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

    /// The places of a block, and their widths.
    #[inline]
    pub(super) fn block(&self, block: usize) -> Option<(&'a [u8], Widths)> {
        let entry = self.blocks.get(block * self.entry_bytes..)?;
        let [position, field, rest @ ..] = entry else {
            return None;
        };
        let start = match (self.entry_bytes > WIDTHS, rest.first_chunk()) {
            (true, Some(start)) => u64::from_le_bytes(*start) as usize,
            _ => 0,
        };
        let widths = Widths {
            position: u32::from(*position),
            place: u32::from(*position) + u32::from(*field),
        };
        let is_sound = widths.position <= POSITION_BITS && (1..=32).contains(&widths.place);
        is_sound.then_some((self.content.get(start..)?, widths))
    }

    /// Appends the places of a row of a block: `hits` of them, behind `before` others of the block.
    pub(super) fn read(&self, block: usize, before: usize, hits: u32, out: &mut Vec<u32>) {
        let Some((content, widths)) = self.block(block) else {
            return;
        };
        // A damaged count of hits is not to be believed: there are no more places than bytes hold.
        let most = content.len() * 8 / widths.place as usize;
        let end = (before + hits as usize).min(most);
        out.extend((before..end).map(|at| widths.place(content, at)));
    }
}

/// Bits in a block.
#[derive(Clone, Copy)]
pub(super) struct Widths {
    /// Of a position.
    position: u32,
    /// Of a field and a position.
    place: u32,
}

impl Widths {
    /// The place with a number in its block.
    #[inline]
    pub(super) fn place(self, content: &[u8], at: usize) -> u32 {
        let place = unpack(content, at, self.place);
        let field = place >> self.position;
        field << POSITION_BITS | place & ((1 << self.position) - 1)
    }
}

/// Writes places row by row.
pub(super) struct PlacesWriter<'a> {
    out: &'a mut Vec<u8>,
    start: usize,
    /// Entries of the blocks that are done.
    blocks: Vec<(u8, u8, u64)>,
    content: Vec<u8>,
    /// Rows and places of the block under way.
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
        // One bit at least, so that every place takes room and damage cannot make many of none.
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

    /// Gives the bytes added.
    pub(super) fn finish(mut self) -> u64 {
        self.close_block();
        let is_single = self.blocks.len() == 1;
        for (position_bits, field_bits, start) in &self.blocks {
            self.out.extend([*position_bits, *field_bits]);
            if !is_single {
                self.out.extend(start.to_le_bytes());
            }
        }
        self.out.extend(&self.content);
        (self.out.len() - self.start) as u64
    }
}
