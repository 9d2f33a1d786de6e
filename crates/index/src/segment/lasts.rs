//! The last positions of the fields of rows, in memory: `word$` asks for those of each row that holds the word.
//!
//! They stand in front of each row's forward list, far from those of the next row. So a page of 65,536 rows gets a table once as
//! many of its rows were asked one by one as the page has. Example, two fields, a page whose rows 0 and 1 have titles of 3 and 5
//! words, bodies of 200 and none:
//!
//! ```text
//! 3, 200     5, 0     …          2 bytes each; 0: no words; FAR: 65,535 or more, or nobody knows
//! ```

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::text_ends::TextEnds;

use super::reader::Segment;
use crate::error::Result;
use crate::postings::{PAGE_BITS, PAGE_ROWS};

/// Most bytes of a segment's tables; a segment that needs more gets none.
const BYTES_MAX: u64 = 64 << 20;

/// Only the row's ends tell.
const FAR: u16 = u16::MAX;

/// The tables of a segment.
pub(super) struct AllLasts(Box<[PageOfLasts]>);

#[derive(Default)]
struct PageOfLasts {
    made: OnceLock<Box<[u16]>>,
    /// Rows asked one by one so far.
    asked: AtomicU32,
}

/// The last positions of one page.
#[derive(Clone, Copy)]
pub(crate) struct Lasts<'s> {
    fields: usize,
    table: &'s [u16],
}

impl Lasts<'_> {
    /// The last position of a field of a row of the page, `Some(None)` for one without words; `None`: only the row's ends tell.
    #[inline(always)]
    pub(crate) fn last(self, low: u16, field: u8) -> Option<Option<u32>> {
        let at = usize::from(low) * self.fields + usize::from(field);
        match self.table.get(at).copied() {
            None | Some(FAR) => None,
            Some(0) => Some(None),
            Some(last) => Some(Some(u32::from(last))),
        }
    }
}

impl Segment {
    /// The last positions of a page's rows, for a caller that asks for those of `asked` rows; `None` while reading that many costs
    /// less than the whole page. `fields`: the table's text columns. Errors: `Corrupt`.
    pub(crate) fn lasts(
        &self,
        page: usize,
        asked: usize,
        fields: usize,
    ) -> Result<Option<Lasts<'_>>> {
        if u64::from(self.docs) * fields as u64 * 2 > BYTES_MAX {
            return Ok(None);
        }
        let pages = self.lasts.get_or_init(|| {
            let pages = self.docs.div_ceil(PAGE_ROWS);
            AllLasts((0..pages).map(|_| PageOfLasts::default()).collect())
        });
        let Some(of_page) = pages.0.get(page) else {
            return Ok(None);
        };
        let of = |table| Some(Lasts { fields, table });
        if let Some(table) = of_page.made.get() {
            return Ok(of(table));
        }
        let first = (page as u32) << PAGE_BITS;
        let rows = (self.docs - first).min(PAGE_ROWS);
        let before = of_page.asked.fetch_add(asked as u32, Ordering::Relaxed);
        if before.saturating_add(asked as u32) < rows {
            return Ok(None);
        }
        let mut table = Vec::with_capacity(rows as usize * fields);
        for doc in first..first + rows {
            let ends = self.text_ends(doc)?;
            table.extend((0..fields).map(|field| {
                match ends {
                    Some(ends) => TextEnds::last_in(ends, field as u8)
                        .map_or(0, |last| u16::try_from(last).unwrap_or(FAR)),
                    None => FAR,
                }
            }));
        }
        Ok(of(of_page.made.get_or_init(|| table.into())))
    }
}
