//! The rows of one word in a segment, as cursors step through them.

use crate::postings::List;
use crate::search::END;
use crate::tail::gallop;

/// Steps through the rows of one word by rising doc.
pub(crate) struct SegmentPostings {
    docs: Vec<u32>,
    /// Where the places of each row start; one more than rows.
    starts: Vec<usize>,
    places: Vec<u32>,
    at: usize,
}

impl SegmentPostings {
    /// Stands on the first row. Cost: decodes the list.
    pub(super) fn new(list: &List<'_>) -> SegmentPostings {
        let mut postings = SegmentPostings {
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

    /// The row it stands on, or [`END`].
    pub(crate) fn doc(&self) -> u32 {
        self.docs.get(self.at).copied().unwrap_or(END)
    }

    /// Moves to the first row at or after `target`; stays where it is if that is such a row.
    pub(crate) fn seek(&mut self, target: u32) -> u32 {
        self.at += gallop(&self.docs[self.at..], |doc| *doc < target);
        self.doc()
    }

    /// Rows of the word.
    pub(crate) fn cost(&self) -> u64 {
        self.docs.len() as u64
    }

    /// Times that the word occurs in the row it stands on.
    pub(crate) fn hits(&self) -> u32 {
        (self.starts[self.at + 1] - self.starts[self.at]) as u32
    }

    /// Its places there.
    pub(crate) fn positions(&self) -> &[u32] {
        &self.places[self.starts[self.at]..self.starts[self.at + 1]]
    }
}
