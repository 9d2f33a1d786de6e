//! Packed integers: a column in pages of 65,536 rows, each number in as few bytes as its page needs.
//!
//! Example: a column of 65,538 rows with the numbers 7, 9, 7, … on page 0 and 5,000,000,000 twice on page 1:
//!
//! ```text
//! page 0   base 7               1 byte a number     at 32
//! page 1   base 5,000,000,000   0 bytes a number    at 65,568
//! 0 2 0 …                                           the distances of page 0
//! ```
//!
//! Invariant: a sum of base and distance fits 64 bits; pages of 8 bytes a number have the base 0.

use std::ops::Range;

use super::checked::CheckedFile;
use super::commit::Section;
use crate::error::Result;
use crate::integers::{Distances, Integers};
use crate::postings::PAGE_BITS;

/// Bytes of a page's head: its base, and `16 · place + bytes a number`, where places are counted from the start of the section.
const HEAD_BYTES: usize = 16;

/// Rows of a page.
const PAGE_ROWS: usize = 1 << PAGE_BITS;

/// Writes the numbers of a column.
pub(super) fn encode(numbers: &[i64], out: &mut Vec<u8>) {
    let pages = numbers.chunks(PAGE_ROWS);
    let mut place = HEAD_BYTES * pages.len();
    for page in pages.clone() {
        let (base, width) = base_and_width(page);
        out.extend(base.to_le_bytes());
        out.extend((16 * place as u64 + width as u64).to_le_bytes());
        place += width * page.len();
    }
    for page in pages {
        let (base, width) = base_and_width(page);
        for number in page {
            let distance = number.wrapping_sub(base).to_le_bytes();
            out.extend_from_slice(&distance[..width]);
        }
    }
}

/// The lowest number of a page, and the bytes that hold each number's distance from it.
fn base_and_width(page: &[i64]) -> (i64, usize) {
    let lowest = page.iter().copied().min().unwrap_or(0);
    let highest = page.iter().copied().max().unwrap_or(0);
    match highest.abs_diff(lowest) {
        0 => (lowest, 0),
        1..=0xff => (lowest, 1),
        0x100..=0xffff => (lowest, 2),
        0x1_0000..=0xffff_ffff => (lowest, 4),
        _ => (0, 8),
    }
}

/// Where a page's numbers are in the file.
struct Page {
    base: i64,
    start: usize,
    width: usize,
}

/// The head of a row's page. Errors: `Corrupt`.
#[inline]
fn page_of(file: &CheckedFile, section: Section, doc: u32) -> Result<Page> {
    let at = section.start as usize + HEAD_BYTES * (doc >> PAGE_BITS) as usize;
    let head = file.number(at, 1)?;
    if !matches!(head % 16, 0 | 1 | 2 | 4 | 8) {
        return Err(file.corrupt(at, "a page has numbers of no known length"));
    }
    Ok(Page {
        base: file.number(at, 0)?.cast_signed(),
        start: (section.start as usize).saturating_add((head / 16) as usize),
        width: (head % 16) as usize,
    })
}

/// The numbers of neighbouring rows; `None` if they are of several pages. Errors: `Corrupt`, as below.
pub(super) fn read(
    file: &CheckedFile,
    section: Section,
    docs: Range<u32>,
) -> Result<Option<Integers<'_>>> {
    if docs.is_empty() {
        return Ok(Some(Integers::new(0, Distances::Zero(0))));
    }
    if docs.start >> PAGE_BITS != (docs.end - 1) >> PAGE_BITS {
        return Ok(None);
    }
    let page = page_of(file, section, docs.start)?;
    let place = |doc: u32| page.start.saturating_add(page.width * in_page(doc));
    let bytes = file.range(
        place(docs.start),
        place(docs.end - 1).saturating_add(page.width),
    )?;
    let distances = Distances::of(bytes, page.width, docs.len());
    Ok(Some(Integers::new(page.base, distances)))
}

/// The number of one row.
#[inline]
pub(super) fn number(file: &CheckedFile, section: Section, doc: u32) -> Result<i64> {
    let page = page_of(file, section, doc)?;
    let start = page.start.saturating_add(page.width * in_page(doc));
    let bytes = file.range(start, start.saturating_add(page.width))?;
    let mut distance = [0; 8];
    for (byte, written) in distance.iter_mut().zip(bytes) {
        *byte = *written;
    }
    Ok(page
        .base
        .wrapping_add_unsigned(u64::from_le_bytes(distance)))
}

/// The bytes of the file that have the number of a row. Without a check: wrong ones are fetched in vain.
#[inline]
pub(super) fn place_hint(file: &CheckedFile, section: Section, doc: u32) -> Range<usize> {
    let at = section.start as usize + HEAD_BYTES * (doc >> PAGE_BITS) as usize;
    let head = file.hint(at + 8, 8).and_then(|head| head.first_chunk());
    let head = head.map_or(0, |head| u64::from_le_bytes(*head));
    let (start, width) = ((head / 16) as usize, (head % 16) as usize);
    let start = (section.start as usize)
        .saturating_add(start)
        .saturating_add(width * in_page(doc));
    start..start.saturating_add(width)
}

/// The number of a row on its page.
fn in_page(doc: u32) -> usize {
    doc as usize % PAGE_ROWS
}
