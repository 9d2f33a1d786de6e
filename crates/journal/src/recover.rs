//! Opening a journal: which frames count, where the torn tail is cut, and when to refuse.
//!
//! 1. Walk the frames of all segments in order, up to the first place where the next frame is missing or damaged.
//! 2. Collect the remains: every header behind that place that can still be read, whatever lies between.
//! 3. If one of these headers, or the caller's `known_synced`, says that the missing position was synced: refuse.
//! 4. Else cut: make the remains unreadable, durably, before anything is appended.
//!
//! Three crashes of one segment. Frame A holds record 1 and was synced; B holds record 2 and C record 3, both without a sync:
//!
//! | readable | the walk ends | remains | outcome |
//! |---|---|---|---|
//! | A, B, C | behind record 3 | none | B and C are written again and synced: readers will see them |
//! | A, C | behind record 1 | C says synced 1 | record 2 is above 1: C is zeroed |
//! | B, C | at the start | B and C say synced 1 | record 1 was synced: refuse |
//!
//! Why C is zeroed: a client sends record 2 again, and its frame may be B byte for byte. Then C would count again, although
//! its record was never acknowledged, and the next crash would bring it back.
//!
//! A new segment is begun only after the old one was synced whole. So frames without a sync lie in one segment, and segments
//! behind it hold nothing that counts.

use std::collections::VecDeque;

use disk::Disk;

use crate::frame::SegmentId;
use crate::prepare::{Listing, draw_salt, poisoned};
use crate::segment::{FrameAt, Segment, SegmentReader, path_in, segment_name};
use crate::{Position, Result};

const UNREADABLE: &str = "a frame that was synced cannot be read";
const UNREADABLE_START: &str = "the first frame of the oldest segment cannot be read";

/// Frames and zeroes are written in pieces of this. Bytes.
const PIECE_BYTES: u64 = 1 << 20;

/// The outcome of opening a journal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Records in the journal.
    pub records: u64,
    /// Frames in the journal.
    pub frames: u64,
    /// Segments that hold them.
    pub segments: u64,
    /// Length of the torn tail that was cut, over all segments, up to its last frame with a readable header. 0 where there is no
    /// such frame. No OK was sent for its records. Bytes.
    pub bytes_cut: u64,
    /// The file where the tail began; `None` where nothing was cut.
    pub cut_file: Option<String>,
    /// Offset of the cut in that file; 0 where nothing was cut. Bytes.
    pub cut_offset: u64,
}

/// A journal's segments, sound and ready to be appended to.
pub(crate) struct LogFiles {
    /// Segments with frames, oldest first; appends go to the last one. Never empty.
    pub(crate) segments: VecDeque<Segment>,
    /// Segments without frames, next to be used first.
    pub(crate) prepared: VecDeque<Segment>,
    /// The last record. It and all before it are durable.
    pub(crate) last: Position,
    /// Header checksum of the last frame; 0 where there is none.
    pub(crate) chain: u32,
}

/// Recovers a folder that has at least one segment. Errors: `Corrupt`, `NewerFormat`, `Io`, `Poisoned`.
pub(crate) fn recover(
    disk: &dyn Disk,
    dir: &str,
    listing: &Listing,
    known_synced: Position,
) -> Result<(LogFiles, Recovered)> {
    let mut segments = open_all(disk, dir, &listing.segments)?;
    let walk = walk(&mut segments)?;
    let remains = remains(&segments, &walk)?;
    let (segment, offset) = place(&segments, &walk, &remains);
    let proven = remains
        .iter()
        .map(|remains| remains.synced)
        .fold(known_synced, Position::max);
    if walk.last.next() <= proven {
        return Err(segment.corrupt(offset, walk.what.unwrap_or(UNREADABLE)));
    }
    let bytes_cut = remains.iter().map(Remains::bytes).sum();
    let recovered = Recovered {
        records: walk.last.0 + 1 - segments[0].first.0,
        frames: walk.frames,
        segments: walk.segment as u64 + 1,
        bytes_cut,
        cut_file: (bytes_cut > 0).then(|| segment.path.clone()),
        cut_offset: if bytes_cut > 0 { offset } else { 0 },
    };
    let mut segments = VecDeque::from(segments);
    let mut prepared = segments.split_off(walk.segment + 1);
    make_durable(&segments[walk.segment], walk.unproven_from, remains[0].end)?;
    for (segment, remains) in prepared.iter_mut().zip(&remains[1..]) {
        if remains.bytes() > 0 {
            rename_with_new_salt(disk, dir, segment)?;
        }
        segment.first = walk.last.next();
    }
    Ok((
        LogFiles {
            segments,
            prepared,
            last: walk.last,
            chain: walk.chain,
        },
        recovered,
    ))
}

fn open_all(disk: &dyn Disk, dir: &str, ids: &[SegmentId]) -> Result<Vec<Segment>> {
    let segments: Vec<Segment> = ids
        .iter()
        .map(|id| Segment::open(disk, dir, *id))
        .collect::<Result<_>>()?;
    for pair in segments.windows(2) {
        let [earlier, later] = pair else { continue };
        if later.id.epoch != earlier.id.epoch + 1 {
            return Err(later.corrupt(0, "the segment before this one is missing"));
        }
    }
    Ok(segments)
}

/// The walk over the frames, as far as it has come.
#[derive(Default)]
struct Walk {
    /// Index of the segment with the last sound frame; 0 where there is none.
    segment: usize,
    /// The last record of the last sound frame.
    last: Position,
    /// Header checksum of the last sound frame.
    chain: u32,
    frames: u64,
    /// The highest `synced` of a sound frame.
    proven: Position,
    /// Offset in the last segment of the first frame that no other frame proves synced. Bytes.
    unproven_from: u64,
    /// The damage that ended the walk; `None` where it ended at a place without a header.
    what: Option<&'static str>,
}

impl Walk {
    /// Walks one segment: takes its frames as long as each is sound and follows the one before. Sets the segment's `end`.
    fn segment(&mut self, segment: &mut Segment) -> Result<()> {
        // Last position and offset of each frame that no other frame proves synced.
        let mut unproven = VecDeque::new();
        let mut end = 0;
        let mut reader = SegmentReader::new(segment);
        loop {
            let (header, records) = match reader.frame(end)? {
                FrameAt::Frame(header, records) => (header, records),
                FrameAt::Damaged(what) => break self.ended(what),
                FrameAt::Nothing => break,
            };
            if header.first != self.last.next() || header.chain != self.chain {
                break self.ended("the frame does not follow the one before it");
            }
            if let Some(what) = records.into_iter().find_map(|record| record.err()) {
                break self.ended(what);
            }
            self.what = None;
            self.frames += 1;
            (self.last, self.chain) = (header.last(), header.crc);
            self.proven = self.proven.max(header.synced);
            unproven.push_back((header.last(), end));
            while unproven
                .front()
                .is_some_and(|(last, _)| *last <= self.proven)
            {
                unproven.pop_front();
            }
            end += header.padded_bytes();
        }
        self.unproven_from = unproven.front().map_or(end, |(_, start)| *start);
        segment.end = end;
        Ok(())
    }

    /// Notes the damage that ended the walk. The first one stays.
    fn ended(&mut self, what: &'static str) {
        self.what.get_or_insert(what);
    }
}

fn walk(segments: &mut [Segment]) -> Result<Walk> {
    let mut walk = Walk::default();
    let Some(oldest) = segments.first() else {
        return Ok(walk);
    };
    if oldest.id.epoch > 1 {
        // Earlier segments were trimmed, so position and chain of the first frame are believed. There must be one: a segment
        // is trimmed only when the next one begins with a synced record.
        let Some(header) = SegmentReader::new(oldest).header(0)? else {
            return Err(oldest.corrupt(0, UNREADABLE_START));
        };
        (walk.last, walk.chain) = (Position(header.first.0 - 1), header.chain);
    }
    for (index, segment) in segments.iter_mut().enumerate() {
        let frames_before = walk.frames;
        segment.first = walk.last.next();
        let unproven_from = walk.unproven_from;
        walk.segment(segment)?;
        if walk.frames == frames_before {
            if index == 0 && segment.id.epoch > 1 {
                return Err(segment.corrupt(0, walk.what.unwrap_or(UNREADABLE_START)));
            }
            walk.unproven_from = unproven_from;
            break;
        }
        walk.segment = index;
    }
    Ok(walk)
}

/// The headers of a segment that can be read behind the end of the walk.
struct Remains {
    /// The highest `synced` of these headers; 0 for none.
    synced: Position,
    /// Offsets from the end of the walk to the end of the last such frame; `begin` = `end` where there is none. Bytes.
    begin: u64,
    end: u64,
    /// First record of the frame at offset 0, where that frame is among the remains.
    first: Option<Position>,
}

/// The remains of the segment where the walk ended, and of each behind it.
fn remains(segments: &[Segment], walk: &Walk) -> Result<Vec<Remains>> {
    let behind = segments.iter().skip(walk.segment);
    let begins = std::iter::once(segments[walk.segment].end).chain(std::iter::repeat(0));
    behind
        .zip(begins)
        .map(|(segment, begin)| Remains::of(segment, begin))
        .collect()
}

impl Remains {
    fn of(segment: &Segment, begin: u64) -> Result<Remains> {
        let mut remains = Remains {
            synced: Position(0),
            begin,
            end: begin,
            first: None,
        };
        SegmentReader::new(segment).headers_from(begin, &mut |offset, header| {
            remains.synced = remains.synced.max(header.synced);
            remains.end = remains
                .end
                .max((offset + header.padded_bytes()).min(segment.len));
            if offset == 0 {
                remains.first = Some(header.first);
            }
        })?;
        Ok(remains)
    }

    fn bytes(&self) -> u64 {
        self.end - self.begin
    }
}

/// Segment and offset of the first frame that is missing or damaged, for the message.
fn place<'a>(segments: &'a [Segment], walk: &Walk, remains: &[Remains]) -> (&'a Segment, u64) {
    let active = &segments[walk.segment];
    match segments.get(walk.segment + 1).zip(remains.get(1)) {
        // The segment of the walk has no remains, and the next one has frames that do not begin at a later position. So the
        // missing frame stood at the start of the next one.
        Some((next, begun))
            if remains[0].bytes() == 0
                && begun.bytes() > 0
                && begun.first.is_none_or(|first| first <= walk.last.next()) =>
        {
            (next, 0)
        }
        _ => (active, active.end),
    }
}

/// Makes the sound frames durable, and zeroes what follows them up to `cut_end`.
///
/// Frames that no later frame proves synced are written again. After a failed sync the system may believe pages clean that
/// never reached the device, and a sync alone would not write them.
fn make_durable(segment: &Segment, unproven_from: u64, cut_end: u64) -> Result<()> {
    let mut piece = Vec::new();
    let mut offset = unproven_from;
    while offset < segment.end {
        piece.resize(PIECE_BYTES.min(segment.end - offset) as usize, 0);
        segment
            .file
            .read_at(offset, &mut piece)
            .map_err(|source| segment.io(source))?;
        write(segment, offset, &piece)?;
        offset += piece.len() as u64;
    }
    while offset < cut_end {
        piece.clear();
        piece.resize(PIECE_BYTES.min(cut_end - offset) as usize, 0);
        write(segment, offset, &piece)?;
        offset += piece.len() as u64;
    }
    segment
        .file
        .sync()
        .map_err(|error| poisoned(&segment.path, &error))
}

fn write(segment: &Segment, offset: u64, bytes: &[u8]) -> Result<()> {
    segment
        .file
        .write_at(offset, bytes)
        .map_err(|error| poisoned(&segment.path, &error))
}

/// Makes all frames of a segment stale by one rename: they carry the old salt.
fn rename_with_new_salt(disk: &dyn Disk, dir: &str, segment: &mut Segment) -> Result<()> {
    let id = SegmentId {
        salt: draw_salt(),
        ..segment.id
    };
    let path = path_in(dir, &segment_name(id));
    let renamed = disk
        .rename(&segment.path, &path)
        .and_then(|()| disk.sync_dir(dir));
    renamed.map_err(|error| poisoned(&path, &error))?;
    (segment.id, segment.path) = (id, path);
    Ok(())
}
