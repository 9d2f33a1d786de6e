//! The parts of a table as its writer holds them: segments, and the tails of each shard.

use std::sync::Arc;

use super::status::TailStatus;
use crate::edits::Edits;
use crate::error::Result;
use crate::files::SegmentFiles;
use crate::part::{Part, Source};
use crate::seal::{Frozen, SealedTail};
use crate::segment::Segment;
use crate::tail::{Tail, TailWriter, gallop};

/// Memory of a segment's changed values from which on a merge writes them into their rows. Bytes.
const CHANGE_BYTES_MAX: u64 = 64 << 20;

/// A segment, and its entry in the manifest.
pub(super) struct SealedPart {
    pub(super) part: Arc<Part>,
    pub(super) files: SegmentFiles,
    /// Shard of its rows.
    pub(super) shard: u16,
    /// The edits in its files: those up to the position that all files cover. `part` may have later ones.
    pub(super) saved: Edits,
}

/// The tail of one shard, and the frozen tail before it while a seal writes that.
pub(super) struct Shard {
    pub(super) frozen: Option<TailPart>,
    pub(super) tail: TailPart,
}

/// A tail and its writer. The writer of a frozen tail only serves deletions.
pub(super) struct TailPart {
    pub(super) part: Arc<Part>,
    pub(super) writer: TailWriter,
}

/// Shard of an id: the upper half of a multiplied id, divided evenly. Fixed for good, since
/// segments hold rows of one shard.
pub(super) fn shard_of(id: u64, shards: u16) -> u16 {
    let mixed = id.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    ((mixed * u64::from(shards)) >> 32) as u16
}

/// Memory of tails that were sealed and of segments that were merged or dropped. Freeing it takes
/// ten milliseconds and more. Drop it on an idle thread, after the last snapshot that shows the
/// rows.
pub struct Discarded {
    pub(super) _tails: Vec<TailPart>,
    pub(super) _work: Option<Frozen>,
    pub(super) _segments: Vec<SealedPart>,
}

impl SealedPart {
    /// Whether rows were deleted or changed since the last files of edits.
    pub(super) fn is_changed(&self) -> bool {
        !self.part.has_only(&self.saved)
    }

    /// Whether the changed values in its file take more than a quarter of the segment's bytes, or [`CHANGE_BYTES_MAX`].
    pub(super) fn is_worn(&self) -> bool {
        let bytes = self.segment().map_or(0, |segment| segment.bytes());
        let (changed, changed_bytes) = self.saved.changes.size();
        changed > 0 && changed_bytes > CHANGE_BYTES_MAX.min(bytes / 4)
    }

    /// Index in `ids` (rising) of each live row's id; `None` if an id is not among them, or no row
    /// is live.
    pub(super) fn places_of_all(&self, ids: &[u64]) -> Result<Option<Vec<usize>>> {
        let Some(segment) = self.segment() else {
            return Ok(None);
        };
        if self.part.rows_live() > ids.len() as u64 {
            return Ok(None);
        }
        let mut places = Vec::new();
        let mut place = 0;
        for doc in self.part.live_docs() {
            let id = segment.id(doc)?;
            place += gallop(&ids[place..], |other| *other < id);
            if ids.get(place) != Some(&id) {
                return Ok(None);
            }
            places.push(place);
        }
        Ok((!places.is_empty()).then_some(places))
    }

    /// The segment; always there, but for a tail below a fork.
    pub(super) fn segment(&self) -> Option<&Arc<Segment>> {
        match &self.part.source {
            Source::Segment(segment) => Some(segment),
            Source::Tail(_) => None,
        }
    }
}

impl Shard {
    /// `keyed`: the columns with a KEY.
    pub(super) fn new(keyed: &Arc<[u16]>) -> Shard {
        Shard {
            frozen: None,
            tail: TailPart::new(keyed),
        }
    }

    /// Both tails, the older one first.
    pub(super) fn tails(&self) -> impl Iterator<Item = &TailPart> {
        self.frozen.iter().chain([&self.tail])
    }

    /// Sets the tail aside if it has rows, and starts an empty one.
    pub(super) fn freeze(&mut self, keyed: &Arc<[u16]>) {
        self.tail.publish();
        if self.tail.status().rows > 0 {
            let empty = TailPart::new(keyed);
            self.frozen = Some(std::mem::replace(&mut self.tail, empty));
        }
    }
}

impl TailPart {
    fn new(keyed: &Arc<[u16]>) -> TailPart {
        let tail = Tail::default();
        let writer = TailWriter::new(&tail, Arc::clone(keyed));
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

    /// Makes a chunk of the rows inserted since the last call.
    pub(super) fn publish(&mut self) {
        if self.writer.rows() > 0
            && let Source::Tail(tail) = &mut Arc::make_mut(&mut self.part).source
        {
            tail.publish(&mut self.writer);
        }
    }

    /// The tail and its edits, for a seal.
    pub(super) fn frozen(&self) -> Option<(Tail, Edits)> {
        match &self.part.source {
            Source::Tail(tail) => Some((tail.clone(), self.part.edits())),
            Source::Segment(_) => None,
        }
    }

    /// Goes back to an earlier `part`; rows inserted since are dropped.
    pub(super) fn rewind(&mut self, part: Arc<Part>) {
        self.writer.rewind(part.rows());
        self.part = part;
    }

    /// Sets the ordinal of an id again, from the published rows.
    pub(super) fn find_again(&mut self, id: u64) {
        let mut found = None;
        if let Source::Tail(tail) = &self.part.source {
            let part = &self.part;
            tail.find(&[id], &mut |ordinal| {
                if part.is_live(ordinal) {
                    found = Some(ordinal);
                }
            });
        }
        self.writer.place(id, found);
    }

    /// Deletes a row of this tail, if it has a live one with the id.
    pub(super) fn delete(&mut self, id: u64) -> Result<()> {
        let Some(ordinal) = self.writer.ordinal(id) else {
            return Ok(());
        };
        let words = match self.writer.delete(id) {
            Some(unpublished) => unpublished,
            None => self.part.forward(ordinal)?,
        };
        Arc::make_mut(&mut self.part).remove(ordinal, &words);
        Ok(())
    }
}

/// The segment's part that takes the place of a frozen tail. Rows deleted since the freeze are in
/// the segment, marked as deleted; values changed since are changes of the segment's rows.
pub(super) fn install_tail(sealed: SealedTail, frozen: &Part) -> Result<SealedPart> {
    let SealedTail {
        shard,
        directory,
        segment,
        written,
        docs,
    } = sealed;
    let rows = segment.rows();
    let mut part = Part::new(Source::Segment(Arc::new(segment)));
    let mut later = Edits::default();
    frozen.edits().since(&written, &docs, &mut later);
    part.remove_all(&later.deleted)?;
    part.changes = later.changes;
    let files = SegmentFiles {
        directory,
        rows,
        deleted: None,
        changed: None,
    };
    Ok(SealedPart {
        part: Arc::new(part),
        files,
        shard,
        saved: Edits::default(),
    })
}
