//! The parts of a table as its writer holds them.

use std::sync::Arc;

use roaring::RoaringBitmap;

use super::status::TailStatus;
use crate::error::Result;
use crate::files::SegmentFiles;
use crate::part::{Part, Source};
use crate::seal::{Frozen, SealedTail};
use crate::segment::Segment;
use crate::tail::{Tail, TailWriter, gallop};

/// A segment, and what the manifest knows of it.
pub(super) struct SealedPart {
    pub(super) part: Arc<Part>,
    pub(super) files: SegmentFiles,
    /// The shard that its rows belong to.
    pub(super) shard: u16,
    /// The deleted rows that its file of them holds: those deleted up to the position that all files cover. The part itself may
    /// have more.
    pub(super) saved: Arc<RoaringBitmap>,
}

/// The tail of one shard, and the one before it while a job turns it into a segment.
pub(super) struct Shard {
    pub(super) frozen: Option<TailPart>,
    pub(super) tail: TailPart,
}

/// A tail and its writer. Once frozen, the writer only serves deletions.
pub(super) struct TailPart {
    pub(super) part: Arc<Part>,
    pub(super) writer: TailWriter,
}

/// The shard of an id: fixed for good, since rows lie in files by it. Shards divide the upper half of a multiplied id.
pub(super) fn shard_of(id: u64, shards: u16) -> u16 {
    let mixed = id.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    ((mixed * u64::from(shards)) >> 32) as u16
}

/// The rows of tails that are in a segment now, and segments that were merged. Freeing them takes ten milliseconds and more:
/// whoever has a thread to spare drops this there, after the last snapshot that shows them.
pub struct Discarded {
    pub(super) _tails: Vec<TailPart>,
    pub(super) _work: Option<Frozen>,
    pub(super) _segments: Vec<SealedPart>,
}

impl SealedPart {
    /// Whether rows were deleted since the last file of them.
    pub(super) fn is_changed(&self) -> bool {
        self.part.deleted.len() != self.saved.len()
    }

    /// Where the live rows' ids stand in `ids` (rising), if there is a live row and all of theirs are among those.
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

    /// The rows as they lie in files.
    pub(super) fn segment(&self) -> Option<&Arc<Segment>> {
        match &self.part.source {
            Source::Segment(segment) => Some(segment),
            Source::Tail(_) => None,
        }
    }
}

impl Shard {
    pub(super) fn new() -> Shard {
        Shard {
            frozen: None,
            tail: TailPart::new(),
        }
    }

    /// Both tails, the older one first.
    pub(super) fn tails(&self) -> impl Iterator<Item = &TailPart> {
        self.frozen.iter().chain([&self.tail])
    }

    /// Sets the tail aside, if it has rows.
    pub(super) fn freeze(&mut self) {
        self.tail.publish();
        if self.tail.status().rows > 0 {
            self.frozen = Some(std::mem::replace(&mut self.tail, TailPart::new()));
        }
    }
}

impl TailPart {
    fn new() -> TailPart {
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

    /// Goes back to what was published: rows that were inserted since are forgotten.
    pub(super) fn rewind(&mut self, part: Arc<Part>) {
        self.writer.rewind(part.rows());
        self.part = part;
    }

    /// Notes anew where the live row of an id is, if the published rows have one.
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

/// The part that takes the place of a frozen tail: the rows deleted from that since the freeze are tombstones in it.
pub(super) fn install_tail(sealed: SealedTail, frozen: &Part) -> Result<SealedPart> {
    let SealedTail {
        shard,
        directory,
        segment,
        gone,
        docs,
    } = sealed;
    let rows = segment.rows();
    let mut part = Part::new(Source::Segment(Arc::new(segment)));
    let deleted = &*frozen.deleted - &*gone;
    let deleted = deleted.iter().map(|ordinal| docs[ordinal as usize]);
    part.remove_all(&deleted.collect())?;
    let files = SegmentFiles {
        directory,
        rows,
        deleted: None,
    };
    Ok(SealedPart {
        part: Arc::new(part),
        files,
        shard,
        saved: Arc::default(),
    })
}
