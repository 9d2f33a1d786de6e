//! Byte strings of the rows of a segment, one behind another, and where each ends.
//!
//! A seal writes the end of each as 8 bytes, from the start of all. A merge writes ends in groups of [`GROUP_ROWS`] rows: first where
//! the group begins, in 8 bytes. Then it writes where each byte string ends, counted from there. All groups use the same number of
//! bytes for an end, that of the longest group: 2, 4 or 8. Example: byte strings of 100, 50 and 7 bytes, in groups of two.
//!
//! ```text
//! by a seal     100 150 157                    8 bytes each
//! by a merge    0: 100 150      150: 7         8 bytes, then 2 each
//! ```

use std::ops::Range;

use super::checked::CheckedFile;
use super::commit::Section;
use crate::error::Result;

/// Rows of a group of ends.
const GROUP_ROWS: usize = 64;

/// Bytes of the start of a group.
const START_BYTES: usize = 8;

/// One byte string for each row.
#[derive(Clone, Copy)]
pub(super) struct Stretches {
    ends: Section,
    content: Section,
    /// Bytes of an end in a group; `None`: the ends are not in groups.
    width: Option<usize>,
}

impl Stretches {
    /// Of a seal; `ends` has 8 bytes a row.
    pub(super) fn wide(ends: Section, content: Section) -> Stretches {
        Stretches {
            ends,
            content,
            width: None,
        }
    }

    /// Of a merge; `None` where the length of `ends` is that of no such groups.
    pub(super) fn grouped(ends: Section, content: Section, rows: u32) -> Option<Stretches> {
        let rows = u64::from(rows);
        let starts = START_BYTES as u64 * rows.div_ceil(GROUP_ROWS as u64);
        let width = ends.bytes.checked_sub(starts)? / rows.max(1);
        let is_whole = [2, 4, 8].contains(&width) && ends.bytes == starts + width * rows;
        is_whole.then_some(Stretches {
            ends,
            content,
            width: Some(width as usize),
        })
    }

    /// Where the content begins in the file.
    pub(super) fn start(&self) -> usize {
        self.content.start as usize
    }

    /// The bytes of a row. Errors: `Corrupt`.
    #[inline]
    pub(super) fn read<'f>(&self, file: &'f CheckedFile, doc: u32) -> Result<&'f [u8]> {
        let place = self.place(file, doc)?;
        file.range(place.start, place.end)
    }

    /// Where the bytes of a row are in the file. Errors: `Corrupt`.
    #[inline]
    pub(super) fn place(&self, file: &CheckedFile, doc: u32) -> Result<Range<usize>> {
        let at = self.end_at(doc);
        let (start, end) = match self.width {
            None => (
                match doc {
                    0 => 0,
                    _ => file.number(at - 8, 0)?,
                },
                file.number(at, 0)?,
            ),
            Some(width) => {
                let first = self.group_at(doc, width);
                let group = file.number(first, 0)?;
                let low = doc as usize % GROUP_ROWS;
                let bytes = file.range(at.saturating_sub(width), at + width)?;
                let start = if low == 0 { 0 } else { number(&bytes[..width]) };
                let end = number(&bytes[width..]);
                (group.saturating_add(start), group.saturating_add(end))
            }
        };
        if start > end || end > self.content.bytes {
            return Err(file.corrupt(at, "ends do not rise"));
        }
        let (start, end) = (self.content.start + start, self.content.start + end);
        Ok(start as usize..end as usize)
    }

    /// Tells the processor to fetch where a row's bytes are.
    #[inline]
    pub(super) fn fetch_place(&self, file: &CheckedFile, doc: u32) {
        let at = self.end_at(doc);
        match self.width {
            None => file.fetch(at.saturating_sub(8)..at + 8),
            Some(width) => {
                let first = self.group_at(doc, width);
                file.fetch(first..first + START_BYTES);
                file.fetch(at..at + width);
            }
        }
    }

    /// Tells the processor to fetch the first `most` bytes of a row. Without a check of its place: a wrong one fetches other bytes
    /// in vain.
    #[inline]
    pub(super) fn fetch(&self, file: &CheckedFile, doc: u32, most: usize) {
        let at = self.end_at(doc);
        let hint = |at: usize, width: usize| Some(number(file.hint(at, width)?));
        let place = match self.width {
            None if doc == 0 => hint(at, 8).map(|end| (0, end)),
            None => hint(at - 8, 8).zip(hint(at, 8)),
            Some(width) => hint(self.group_at(doc, width), START_BYTES).and_then(|group| {
                let start = match doc as usize % GROUP_ROWS {
                    0 => 0,
                    _ => hint(at - width, width)?,
                };
                let end = hint(at, width)?;
                Some((group.saturating_add(start), group.saturating_add(end)))
            }),
        };
        if let Some((start, end)) = place {
            let end = end.min(start.saturating_add(most as u64));
            let at = |place: u64| self.content.start.saturating_add(place) as usize;
            file.fetch(at(start)..at(end));
        }
    }

    /// Where the end of a row's bytes stands in the file.
    #[inline]
    fn end_at(&self, doc: u32) -> usize {
        let (start, doc) = (self.ends.start as usize, doc as usize);
        match self.width {
            None => start + 8 * doc,
            Some(width) => start + START_BYTES * (doc / GROUP_ROWS + 1) + width * doc,
        }
    }

    /// Where the start of a row's group stands in the file.
    #[inline]
    fn group_at(&self, doc: u32, width: usize) -> usize {
        let group = doc as usize / GROUP_ROWS;
        self.ends.start as usize + (START_BYTES + width * GROUP_ROWS) * group
    }
}

/// A little-endian number of at most 8 bytes.
#[inline]
fn number(bytes: &[u8]) -> u64 {
    match bytes.len() {
        2 => u64::from(u16::from_le_bytes([bytes[0], bytes[1]])),
        4 => u64::from(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])),
        _ => bytes
            .first_chunk()
            .map_or(0, |bytes| u64::from_le_bytes(*bytes)),
    }
}

/// The ends of byte strings in groups, from the ends of each from the start of all.
pub(super) fn group(ends: &[u64]) -> Vec<u8> {
    let start_of = |at: usize| at.checked_sub(1).map_or(0, |before| ends[before]);
    let groups = || (0..ends.len()).step_by(GROUP_ROWS);
    let last_of = |first: usize| ends[(first + GROUP_ROWS).min(ends.len()) - 1];
    let longest = groups().map(|first| last_of(first) - start_of(first));
    let width = match longest.max().unwrap_or(0) {
        0..=0xffff => 2,
        0x1_0000..=0xffff_ffff => 4,
        _ => 8,
    };
    let mut out = Vec::with_capacity(ends.len() * width + START_BYTES * groups().count());
    for first in groups() {
        let start = start_of(first);
        out.extend(start.to_le_bytes());
        for end in &ends[first..(first + GROUP_ROWS).min(ends.len())] {
            out.extend_from_slice(&(end - start).to_le_bytes()[..width]);
        }
    }
    out
}
