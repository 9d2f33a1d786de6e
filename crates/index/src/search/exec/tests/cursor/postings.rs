//! The rows of one word in a part, as cursors step through them.

use super::END;
use crate::postings::List;
use crate::tail::gallop;

/// Steps through the rows of one word by rising doc.
pub(super) struct Postings {
    docs: Vec<u32>,
    /// Start of each row's places, then the end of the last: one entry more than rows.
    starts: Vec<usize>,
    places: Vec<u32>,
    at: usize,
}

impl Postings {
    /// Stands on the first row. Cost: decodes the list.
    pub(super) fn new(list: &List<'_>) -> Postings {
        let mut postings = Postings {
            docs: Vec::with_capacity(list.documents() as usize),
            starts: vec![0],
            places: Vec::new(),
            at: 0,
        };
        let mut walk = list.walk();
        let mut places = Vec::new();
        while let Some(posting) = walk.next() {
            walk.positions(&mut places);
            postings.docs.push(posting.doc);
            postings.places.extend_from_slice(&places);
            postings.starts.push(postings.places.len());
        }
        postings
    }

    /// The current row, or [`END`].
    pub(super) fn doc(&self) -> u32 {
        self.docs.get(self.at).copied().unwrap_or(END)
    }

    /// Moves to the first row at or after `target`; stays where it is if that is such a row.
    pub(super) fn seek(&mut self, target: u32) -> u32 {
        self.at += gallop(&self.docs[self.at..], |doc| *doc < target);
        self.doc()
    }

    /// Rows of the word, deleted ones included.
    pub(super) fn cost(&self) -> u64 {
        self.docs.len() as u64
    }

    /// Occurrences of the word in the current row.
    pub(super) fn hits(&self) -> u32 {
        (self.starts[self.at + 1] - self.starts[self.at]) as u32
    }

    /// Its places in the current row, `field << 24 | position`, rising.
    pub(super) fn positions(&self, out: &mut Vec<u32>) {
        out.clear();
        out.extend_from_slice(&self.places[self.starts[self.at]..self.starts[self.at + 1]]);
    }
}
