//! The rows of one word, over all chunks of a tail.

use super::chunk::List;
use super::gallop;
use crate::search::END;

/// Steps through the rows of one word by rising ordinal.
pub(crate) struct TailPostings<'a> {
    /// In the order of their chunks, so all ordinals rise.
    lists: Vec<List<'a>>,
    list: usize,
    at: usize,
}

impl<'a> TailPostings<'a> {
    /// Stands on the first row.
    pub(super) fn new(lists: Vec<List<'a>>) -> TailPostings<'a> {
        TailPostings {
            lists,
            list: 0,
            at: 0,
        }
    }

    /// The row it stands on, or [`END`].
    pub(crate) fn doc(&self) -> u32 {
        self.lists
            .get(self.list)
            .map_or(END, |list| list.ordinals[self.at])
    }

    /// Moves to the first row at or after `target`; stays where it is if that is such a row.
    pub(crate) fn seek(&mut self, target: u32) -> u32 {
        while let Some(list) = self.lists.get(self.list) {
            let rest = &list.ordinals[self.at..];
            let step = gallop(rest, |ordinal| *ordinal < target);
            if step < rest.len() {
                self.at += step;
                return list.ordinals[self.at];
            }
            self.list += 1;
            self.at = 0;
        }
        END
    }

    /// Rows of the word.
    pub(crate) fn cost(&self) -> u64 {
        self.lists
            .iter()
            .map(|list| list.ordinals.len() as u64)
            .sum()
    }

    /// Times that the word occurs in the row it stands on.
    pub(crate) fn hits(&self) -> u32 {
        self.lists[self.list].hits(self.at)
    }

    /// Its places there.
    pub(crate) fn positions(&self) -> &'a [u32] {
        self.lists[self.list].positions(self.at)
    }
}
