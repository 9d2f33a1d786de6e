//! Pairs: for two words that stand next to each other, the rows in which they do.
//!
//! A phrase of common words is slow by the words' own lists: many rows hold all its words, and the places of each word must be
//! read in each of these rows. So a segment keeps, page by page, lists of *pairs*: the rows in which one word follows the other in
//! a field. It keeps the pairs of words that many rows hold both: by chance, at least one row in `share` of the page would. The
//! writer and a reader both tell that from the lengths of the words' lists. So a pair that is kept and has no list stands in no
//! row. Example, a page of 60,000 rows and a share of 256, by which 235 rows are enough:
//!
//! ```text
//! word       of 40,000 rows   the 50,000   cat 300   dog 270
//! pair       rows of both words by chance           list
//! of the     60,000 · 4/6 · 5/6 = 33,333            21,000 rows
//! the of     33,333                                 none: no row has it
//! the cat    250                                    180 rows
//! of cat     200                                    not kept: at most 300 rows hold both words
//! ```
//!
//! Invariants:
//! - Pairs rise by the numbers of their words in the segment, the left one first.
//! - A word is bare ([`is_bare`]) or in no pair: two bare words never stand at one place, so a field is a sequence of them.
//! - Deleted rows stay in the lists, as in those of words.

mod build;
mod page;
mod rows;
#[cfg(test)]
mod tests;

use std::ops::Range;

use super::checked::CheckedFile;
use super::commit::Section;
use crate::error::Result;
use crate::postings::PAGE_ROWS;

pub(super) use build::{WordLists, write};
pub(crate) use page::PairPage;
pub(crate) use rows::PairRows;

/// Least rows of a page that hold a word which is in pairs. Rarer words leave few rows to read.
pub(super) const WORD_ROWS: u32 = 64;

/// A pair is kept if, by chance, one row in [`SHARE`] would hold both words. A page whose pairs would take too much room has a
/// lower share.
const SHARE: u32 = 256;

/// Whether a word may be in a pair. Marked words, and words beside their stem, stand at the place of another word.
pub(crate) fn is_bare(word: &[u8]) -> bool {
    !matches!(word.first(), None | Some(b'#' | b'@' | b'='))
}

/// Whether a pair is kept. `lengths`: rows of the page that hold each word; `rows`: rows of the page.
fn is_kept(lengths: [u32; 2], rows: u32, share: u32) -> bool {
    let [left, right] = lengths.map(u64::from);
    let rows = u64::from(rows);
    // At most 2¹⁶ rows and a share of 2⁸: the products fit.
    left.min(right) >= u64::from(WORD_ROWS) && left * right * u64::from(share) >= rows * rows
}

/// The pairs of an open segment.
pub(super) struct Pairs {
    /// By page, its bytes in the file `positions`.
    pages: Vec<Range<usize>>,
}

impl Pairs {
    /// Finds the pages of a section. `None` where its bytes are no such section or are damaged: then phrases are found by places.
    pub(super) fn open(file: &CheckedFile, section: Section, docs: u32) -> Option<Pairs> {
        let (start, bytes) = (section.start as usize, section.bytes as usize);
        let count = docs.div_ceil(PAGE_ROWS) as usize;
        let ends = start
            .checked_add(bytes)?
            .checked_sub(count.checked_mul(8)?)?;
        let mut from = start;
        let mut pages = Vec::with_capacity(count);
        for page in 0..count {
            let end = start.checked_add(file.number(ends, page).ok()? as usize)?;
            if !(from..=ends).contains(&end) {
                return None;
            }
            pages.push(from..end);
            from = end;
        }
        Some(Pairs { pages })
    }

    /// The pairs of a page; `None` where it has none. `docs`: rows of the segment. Errors: `Corrupt`.
    pub(super) fn page<'s>(
        &self,
        file: &'s CheckedFile,
        page: usize,
        docs: u32,
    ) -> Result<Option<PairPage<'s>>> {
        let Some(Range { start, end }) = self.pages.get(page).filter(|bytes| !bytes.is_empty())
        else {
            return Ok(None);
        };
        let rows = docs.saturating_sub(page as u32 * PAGE_ROWS).min(PAGE_ROWS);
        Ok(PairPage::open(file.range(*start, *end)?, rows))
    }
}
