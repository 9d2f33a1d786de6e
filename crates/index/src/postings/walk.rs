//! Steps through a list from the first posting to the last. Merges of segments use it.

use super::list::{List, Run};
use super::page::WORDS;
use super::posting::{PAGE_BITS, Posting};

/// Iterator over the postings of a list; from [`List::walk`].
pub(crate) struct Walk<'l, 'a> {
    list: &'l List<'a>,
    /// Number of the next posting.
    next: u32,
    page: usize,
    /// Postings of the page that were returned already.
    in_page: usize,
    /// In a bitmap: index of the next 64-bit word, and the bits left of the one before it.
    word: usize,
    left: u64,
    run: Run,
}

impl<'a> List<'a> {
    /// Walks through the postings from the first one on.
    pub(crate) fn walk(&self) -> Walk<'_, 'a> {
        Walk::new(self)
    }
}

impl<'l, 'a> Walk<'l, 'a> {
    pub(super) fn new(list: &'l List<'a>) -> Walk<'l, 'a> {
        Walk {
            list,
            next: 0,
            page: 0,
            in_page: 0,
            word: 0,
            left: 0,
            run: Run::default(),
        }
    }

    /// Reads the places of the posting that [`Iterator::next`] returned last, as
    /// [`List::positions`].
    pub(crate) fn positions(&mut self, out: &mut Vec<u32>) {
        match self.next.checked_sub(1) {
            Some(at) => self.list.positions(at, &mut self.run, out),
            None => out.clear(),
        }
    }

    /// Row of the page's next posting; `None` at the page's end.
    fn next_low(&mut self) -> Option<u32> {
        let page = self.list.page(self.page);
        if self.in_page >= page.len() {
            return None;
        }
        self.in_page += 1;
        let Some(words) = page.bits() else {
            return page.low(self.in_page - 1).map(u32::from);
        };
        while self.left == 0 {
            self.left = u64::from_le_bytes(*words.get(self.word)?);
            self.word += 1;
        }
        let bit = self.left.trailing_zeros();
        self.left &= self.left - 1;
        Some((self.word as u32 - 1) * 64 + bit)
    }
}

impl Iterator for Walk<'_, '_> {
    type Item = Posting;

    fn next(&mut self) -> Option<Posting> {
        while self.next < self.list.documents() {
            if let Some(low) = self.next_low() {
                self.next += 1;
                let doc = (self.page as u32) << PAGE_BITS | low;
                return self.list.posting(self.next - 1, doc);
            }
            (self.page, self.in_page, self.word, self.left) = (self.page + 1, 0, 0, 0);
            if self.page >= WORDS * 64 {
                return None;
            }
        }
        None
    }
}
