//! The parts of a table as its writer holds them.

use std::sync::Arc;

use roaring::RoaringBitmap;

use super::TailStatus;
use crate::error::Result;
use crate::files::SegmentFiles;
use crate::part::{Part, Source};
use crate::seal::SealedTail;
use crate::tail::{Tail, TailWriter};

/// A segment, and what the manifest knows of it.
pub(super) struct SealedPart {
    pub(super) part: Arc<Part>,
    pub(super) files: SegmentFiles,
    /// Deleted rows in the file of them.
    pub(super) deleted_saved: u64,
}

/// A tail and its writer. Once frozen, the writer only serves deletions.
pub(super) struct TailPart {
    pub(super) part: Arc<Part>,
    pub(super) writer: TailWriter,
}

impl SealedPart {
    /// Whether rows were deleted since the last file of them.
    pub(super) fn is_changed(&self) -> bool {
        self.part.deleted.len() != self.deleted_saved
    }
}

impl TailPart {
    pub(super) fn new() -> TailPart {
        let tail = Tail::default();
        let writer = TailWriter::new(&tail);
        TailPart {
            part: Arc::new(Part::new(Source::Tail(tail))),
            writer,
        }
    }

    pub(super) fn status(&self) -> TailStatus {
        let bytes = match &self.part.source {
            Source::Tail(tail) => tail.bytes(),
            Source::Segment(_) => 0,
        };
        TailStatus {
            rows: u64::from(self.part.rows() + self.writer.rows()),
            bytes: bytes + self.writer.bytes(),
        }
    }

    pub(super) fn publish(&mut self) {
        if self.writer.rows() > 0
            && let Source::Tail(tail) = &mut Arc::make_mut(&mut self.part).source
        {
            tail.publish(&mut self.writer);
        }
    }

    /// What a job needs of it.
    pub(super) fn frozen(&self) -> Option<(Tail, Arc<RoaringBitmap>)> {
        match &self.part.source {
            Source::Tail(tail) => Some((tail.clone(), Arc::clone(&self.part.deleted))),
            Source::Segment(_) => None,
        }
    }

    pub(super) fn delete(&mut self, id: u64) -> Result<()> {
        let Some(ordinal) = self.writer.ordinal(id) else {
            return Ok(());
        };
        let words = match self.writer.delete(id) {
            Some(unpublished) => unpublished.words.to_vec(),
            None => self.part.forward(ordinal)?,
        };
        Arc::make_mut(&mut self.part).remove(ordinal, &words);
        Ok(())
    }
}

/// The part that takes the place of a frozen tail: the rows deleted from that since the freeze are tombstones in it.
pub(super) fn install_tail(sealed: SealedTail, frozen: &Part) -> Result<SealedPart> {
    let SealedTail {
        directory,
        segment,
        gone,
        docs,
    } = sealed;
    let rows = segment.rows();
    let mut part = Part::new(Source::Segment(Arc::new(segment)));
    for ordinal in &*frozen.deleted - &*gone {
        let doc = docs[ordinal as usize];
        let words = part.forward(doc)?;
        part.remove(doc, &words);
    }
    let files = SegmentFiles {
        directory,
        rows,
        deleted: None,
    };
    Ok(SealedPart {
        part: Arc::new(part),
        files,
        deleted_saved: 0,
    })
}
