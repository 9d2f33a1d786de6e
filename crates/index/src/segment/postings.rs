//! The rows of one word in a segment, as tantivy decodes them.

use tantivy::postings::{Postings as _, SegmentPostings as Decoded};
use tantivy::{DocSet as _, TERMINATED};

use crate::search::END;

/// Steps through the rows of one word by rising doc.
pub(crate) struct SegmentPostings {
    decoded: Decoded,
}

impl SegmentPostings {
    /// Stands on the first row.
    pub(super) fn new(decoded: Decoded) -> SegmentPostings {
        SegmentPostings { decoded }
    }

    /// The row it stands on, or [`END`].
    pub(crate) fn doc(&self) -> u32 {
        match self.decoded.doc() {
            TERMINATED => END,
            doc => doc,
        }
    }

    /// Moves to the first row at or after `target`; stays where it is if that is such a row.
    pub(crate) fn seek(&mut self, target: u32) -> u32 {
        if self.decoded.doc() < target {
            self.decoded.seek(target.min(TERMINATED));
        }
        self.doc()
    }

    /// Rows of the word.
    pub(crate) fn cost(&self) -> u64 {
        u64::from(self.decoded.doc_freq())
    }

    /// Times that the word occurs in the row it stands on.
    pub(crate) fn hits(&self) -> u32 {
        self.decoded.term_freq()
    }

    /// Its places there; only if asked for when this was made.
    pub(crate) fn positions(&mut self, out: &mut Vec<u32>) {
        self.decoded.positions(out);
    }
}
