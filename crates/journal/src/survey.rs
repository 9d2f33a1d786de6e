//! Reading a journal without trusting it and without changing anything: what is sound, what is damaged, what was torn.
//!
//! The rules are those of recovery, which refuses where a synced frame cannot be read; here the walk notes it and goes on
//! behind it, as long as something synced lies there. A frame is found by its header, which carries the salt of its file, so
//! no record can pose as one.

use crate::frame::{Header, SegmentId};
use crate::segment::{FileName, Found, Segment, SegmentReader};
use crate::{Error, Position, Result};
use disk::Disk;
use std::io;

const UNREADABLE: &str = "a frame that was synced cannot be read";

/// What a journal's folder holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// Files that hold frames, or will.
    pub segments: u64,
    /// Files that wait to be used again.
    pub spares: u64,
    /// What all of them take. Bytes.
    pub bytes: u64,
    /// Sound frames.
    pub frames: u64,
    /// Sound records.
    pub records: u64,
    /// The last record that is there or known to have been; 0 for none.
    pub last: Position,
    /// What recovery would cut: written when the power went, and acknowledged to nobody.
    pub torn: Option<Torn>,
    /// Where something synced cannot be read, in order.
    pub damages: Vec<Damage>,
}

/// An end that was not written whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Torn {
    /// Below the root of the disk.
    pub file: String,
    /// Where it begins. Bytes.
    pub offset: u64,
    /// In this file and those behind it.
    pub bytes: u64,
}

/// A place where something synced cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Below the root of the disk.
    pub file: String,
    /// Of the frame. Bytes.
    pub offset: u64,
    /// What is wrong.
    pub what: &'static str,
    /// The records that are lost by it; `last` below `first` where none is that anyone still needs.
    pub first: Position,
    /// See `first`.
    pub last: Position,
}

/// A record of a survey.
#[derive(Clone, Copy, Debug)]
pub struct Surveyed<'a> {
    /// The file of its frame, below the root of the disk.
    pub file: &'a str,
    /// Where its frame begins. Bytes.
    pub offset: u64,
    /// Its number.
    pub position: Position,
    /// Its bytes.
    pub bytes: &'a [u8],
    /// Whether they have the checksum that was written.
    pub is_sound: bool,
}

/// Shows every record that can be found in the journal in `dir`, in order. `known_synced`: a position that the caller knows
/// to have been synced; `needed`: the first record that is in no other file. Changes nothing. A folder that is missing holds
/// nothing.
///
/// Errors: `NewerFormat`; `Io` where the device refuses a read. Cost: reads everything twice.
pub fn survey(
    disk: &dyn Disk,
    dir: &str,
    known_synced: Position,
    needed: Position,
    visit: &mut dyn FnMut(Surveyed<'_>),
) -> Result<Survey> {
    let mut survey = Survey::default();
    let segments = open_all(disk, dir, &mut survey)?;
    let mut synced = known_synced;
    for segment in &segments {
        SegmentReader::new(segment).headers_from(0, &mut |_, header| {
            synced = synced.max(header.synced);
        })?;
    }
    let mut walk = Walk {
        survey,
        synced,
        needed,
        next: Position(1),
        chain: Some(0),
        is_begun: segments.first().is_none_or(|first| first.id.epoch <= 1),
        ended: None,
        visit,
    };
    let mut before: Option<SegmentId> = None;
    for (number, segment) in segments.iter().enumerate() {
        if before.is_some_and(|before| segment.id.epoch != before.epoch + 1) {
            walk.damaged(segment, 0, "the segment before this one is missing", None);
            walk.chain = None;
            walk.ended = None;
        }
        before = Some(segment.id);
        if let Some(offset) = walk.segment(segment)? {
            walk.torn(&segments[number..], offset)?;
            break;
        }
    }
    Ok(walk.end(dir, segments.last()))
}

fn open_all(disk: &dyn Disk, dir: &str, survey: &mut Survey) -> Result<Vec<Segment>> {
    let failed = |source| Error::Io {
        file: dir.to_owned(),
        source,
    };
    let names = match disk.list(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        names => names.map_err(failed)?,
    };
    let mut ids = Vec::new();
    for name in names {
        match FileName::parse(&name) {
            FileName::Segment(id) => ids.push(id),
            FileName::Spare => {
                let path = crate::segment::path_in(dir, &name);
                let bytes = disk.open(&path).and_then(|file| file.len());
                survey.bytes += bytes.map_err(failed)?;
                survey.spares += 1;
            }
            FileName::Temporary | FileName::Other => {}
        }
    }
    ids.sort_unstable();
    let mut segments = Vec::with_capacity(ids.len());
    for id in ids {
        let segment = Segment::open(disk, dir, id)?;
        survey.bytes += segment.len;
        survey.segments += 1;
        segments.push(segment);
    }
    Ok(segments)
}

struct Walk<'v> {
    survey: Survey,
    /// Everything up to here was synced.
    synced: Position,
    needed: Position,
    /// The record that comes next.
    next: Position,
    /// What the next frame names as the one before it; unknown behind damage.
    chain: Option<u32>,
    /// Whether it is known with which record the journal begins.
    is_begun: bool,
    /// Where the file before this one ended: what is missing stood there.
    ended: Option<(String, u64)>,
    visit: &'v mut dyn FnMut(Surveyed<'_>),
}

impl Walk<'_> {
    /// Walks one file; gives where a torn end begins, if the walk ends there.
    fn segment(&mut self, segment: &Segment) -> Result<Option<u64>> {
        let mut reader = SegmentReader::new(segment);
        let mut offset = 0;
        while offset < segment.len {
            let found = match reader.frame(offset)? {
                Found::Frame(header, records) => Ok((header, records)),
                Found::Damaged(what) => Err(Some(what)),
                Found::Nothing => Err(None),
            };
            match found {
                Ok((header, records)) if header.first >= self.next || !self.is_begun => {
                    let is_next = header.first == self.next
                        && self.chain.is_none_or(|chain| chain == header.chain);
                    if self.is_begun && !is_next {
                        if self.next > self.synced {
                            return Ok(Some(offset));
                        }
                        let what = "the frame does not follow the one before it";
                        self.damaged(segment, offset, what, Some(header.first));
                        self.blame_the_file_before();
                    }
                    self.begin(&header);
                    let records: Vec<_> = records.with_bytes().collect();
                    let damaged = records.iter().any(|(_, is_sound)| !is_sound);
                    if damaged && header.last() > self.synced {
                        return Ok(Some(offset));
                    }
                    for (bytes, is_sound) in records {
                        self.record(segment, offset, bytes, is_sound);
                    }
                    self.survey.frames += 1;
                    self.ended = None;
                    self.chain = Some(header.crc);
                    offset += header.padded_bytes();
                }
                // A sound header with a damaged body: what it holds is known by number.
                Err(Some(what)) => {
                    let header = reader.header(offset)?;
                    let Some(header) = header.filter(|header| header.first >= self.next) else {
                        offset += crate::limits::PAGE_BYTES as u64;
                        continue;
                    };
                    if header.first > self.synced {
                        return Ok(Some(offset));
                    }
                    self.begin(&header);
                    self.damaged(segment, offset, what, Some(header.last().next()));
                    self.chain = Some(header.crc);
                    offset += header.padded_bytes().min(segment.len - offset);
                }
                _ => {
                    let Some((at, first)) = self.next_header(segment, offset)? else {
                        if !self.is_begun {
                            self.damaged(segment, offset, UNREADABLE, None);
                        }
                        self.ended = Some((segment.path.clone(), offset));
                        return Ok(None);
                    };
                    if self.is_begun && self.next > self.synced {
                        return Ok(Some(offset));
                    }
                    self.damaged(segment, offset, UNREADABLE, Some(first));
                    self.chain = None;
                    offset = at;
                }
            }
        }
        Ok(None)
    }

    /// Damage at the start of a file, where the one before it has room behind its last frame, is damage there.
    fn blame_the_file_before(&mut self) {
        if let (Some((file, offset)), Some(damage)) =
            (self.ended.take(), self.survey.damages.last_mut())
        {
            (damage.file, damage.offset, damage.what) = (file, offset, UNREADABLE);
        }
    }

    /// The first frame that can be read says with which record a trimmed journal begins.
    fn begin(&mut self, header: &Header) {
        if !self.is_begun {
            self.is_begun = true;
            self.next = header.first;
            if let Some(damage) = self.survey.damages.last_mut() {
                damage.last = Position(header.first.0 - 1);
            }
        }
    }

    fn record(&mut self, segment: &Segment, offset: u64, bytes: &[u8], is_sound: bool) {
        let position = self.next;
        (self.visit)(Surveyed {
            file: &segment.path,
            offset,
            position,
            bytes,
            is_sound,
        });
        if is_sound {
            self.survey.records += 1;
            self.next = position.next();
        } else {
            let what = "the checksum of a record does not match";
            self.damaged(segment, offset, what, Some(position.next()));
        }
    }

    /// Notes damage by which everything below `until` is lost that has not been seen, and goes on there.
    fn damaged(
        &mut self,
        segment: &Segment,
        offset: u64,
        what: &'static str,
        until: Option<Position>,
    ) {
        let until = until.unwrap_or(self.next);
        self.survey.damages.push(Damage {
            file: segment.path.clone(),
            offset,
            what,
            first: self.next.max(self.needed),
            last: Position(until.0.saturating_sub(1)),
        });
        if self.is_begun {
            self.next = self.next.max(until);
        }
    }

    /// Where the next frame of a file begins that can be told by its header, and its first record.
    fn next_header(&self, segment: &Segment, offset: u64) -> Result<Option<(u64, Position)>> {
        let mut found = None;
        SegmentReader::new(segment).headers_from(
            offset + crate::limits::PAGE_BYTES as u64,
            &mut |at, header| {
                if found.is_none() && (header.first >= self.next || !self.is_begun) {
                    found = Some((at, header.first));
                }
            },
        )?;
        Ok(found)
    }

    /// Measures what recovery would cut.
    fn torn(&mut self, behind: &[Segment], offset: u64) -> Result<()> {
        let mut bytes = 0;
        for (number, segment) in behind.iter().enumerate() {
            let begin = if number == 0 { offset } else { 0 };
            let mut end = begin;
            SegmentReader::new(segment).headers_from(begin, &mut |at, header| {
                end = end.max((at + header.padded_bytes()).min(segment.len));
            })?;
            bytes += end - begin;
        }
        self.survey.torn = behind.first().map(|segment| Torn {
            file: segment.path.clone(),
            offset,
            bytes,
        });
        Ok(())
    }

    /// What was synced and never came is damage of the end.
    fn end(mut self, dir: &str, last: Option<&Segment>) -> Survey {
        if self.next <= self.synced {
            self.survey.damages.push(Damage {
                file: last.map_or(dir.to_owned(), |segment| segment.path.clone()),
                offset: 0,
                what: "the end of what was synced is missing",
                first: self.next.max(self.needed),
                last: self.synced,
            });
            self.next = self.synced.next();
        }
        self.survey.last = Position(self.next.0 - 1);
        self.survey
    }
}
