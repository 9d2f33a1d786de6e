//! Opening a journal: which frames count, where the torn tail is cut, and when to refuse.
//!
//! The frames of all segments are walked in order. The walk ends at the first place where the next frame is missing or
//! damaged. Everything synced lies before that place, or the device lost something:
//! - Every frame says which position was synced when it was written. If a header that can still be read anywhere behind
//!   the end of the walk, or the caller (`known_synced`), says that the missing position was synced: corruption, refuse.
//! - Otherwise nobody was ever promised what stood there: it is cut, whatever follows. What was cut is made unreadable
//!   durably before anything is appended, or a later crash could bring it back.
//!
//! A new segment is begun only after the old one has been synced whole, so a torn tail lies within one segment, and its
//! successors at most hold frames that are cut with it.

use crate::frame::SegmentId;
use crate::prepare::{Listing, draw_salt, poisoned};
use crate::segment::{Found, Segment, SegmentReader, path_in, segment_name};
use crate::{Position, Result};
use disk::Disk;
use std::collections::VecDeque;

const UNREADABLE: &str = "a frame that was synced cannot be read";
const UNREADABLE_START: &str = "the first frame of the oldest segment cannot be read";

/// Zeroes are written in pieces of this. Bytes.
const PIECE_BYTES: u64 = 1 << 20;

/// What opening a journal found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Records in the journal.
    pub records: u64,
    /// Frames in the journal.
    pub frames: u64,
    /// Segments that hold them.
    pub segments: u64,
    /// What was cut from the end because it had not been written whole: never acknowledged to anyone. Bytes.
    pub bytes_cut: u64,
    /// The file that was cut, where one was.
    pub cut_file: Option<String>,
    /// Where it was cut. Bytes.
    pub cut_offset: u64,
}

/// A journal's segments, sound and ready to be appended to.
pub(crate) struct LogFiles {
    /// Oldest first; the last one is being written. Never empty.
    pub(crate) segments: VecDeque<Segment>,
    /// Empty, next to be used first.
    pub(crate) prepared: VecDeque<Segment>,
    /// Everything up to here is durable.
    pub(crate) last: Position,
    /// Checksum of the last header.
    pub(crate) chain: u32,
}

/// Opens the segments of a folder that has at least one.
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

/// Where the walk over the frames ended.
#[derive(Default)]
struct Walk {
    /// Index of the segment that holds the last sound frame; it ends where the frame that did not follow was expected.
    segment: usize,
    last: Position,
    chain: u32,
    frames: u64,
    /// The last position that a sound frame says was synced.
    proven: Position,
    /// Where the frames of the last segment begin that no other frame proves to be synced. Bytes.
    unproven_from: u64,
    /// What was wrong with the frame that ended the walk, where there was one.
    what: Option<&'static str>,
}

impl Walk {
    /// Takes the frames of one segment as far as they follow what was walked before.
    fn segment(&mut self, segment: &mut Segment) -> Result<()> {
        // Last position and start of each frame that no other one proves to be synced.
        let mut unproven = VecDeque::new();
        let mut end = 0;
        let mut reader = SegmentReader::new(segment);
        loop {
            let (header, records) = match reader.frame(end)? {
                Found::Frame(header, records) => (header, records),
                Found::Damaged(what) => break self.ended(what),
                Found::Nothing => break,
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

    /// Notes what ended the walk, unless that is already known.
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
        // What came before was trimmed, so the first frame is where it says; a segment is only trimmed when the next
        // one holds a record that is synced.
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

/// What can be read of a segment behind the end of the walk.
struct Remains {
    /// The last position that a frame there says was synced.
    synced: Position,
    /// Where the remains begin and end; the same where there are none. Bytes.
    begin: u64,
    end: u64,
    /// The position that the frame at the start of the file begins with, where that is among the remains.
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

/// The place of the first frame that is missing or damaged.
fn place<'a>(segments: &'a [Segment], walk: &Walk, remains: &[Remains]) -> (&'a Segment, u64) {
    let active = &segments[walk.segment];
    match segments.get(walk.segment + 1).zip(remains.get(1)) {
        // Nothing is left over where the walk ended, and the next segment was written, but not from a later position on:
        // what is missing stood at its start.
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

/// Makes the sound frames durable, and what follows them up to `cut_end` unreadable.
///
/// Frames that no later frame proves to be synced are written once more: after a failed sync the system may hold pages
/// that it believes clean and the device never got, which a sync alone would not write.
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

/// Makes all frames in a segment stale at once.
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
