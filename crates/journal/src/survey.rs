//! Surveying a journal for `seine check`, `dump` and `repair`: sound records, damages, the torn tail. Changes nothing.
//!
//! The rules are those of recovery (`recover.rs`). Recovery refuses at the first synced frame that cannot be read. The survey
//! notes it and goes on at the next header that can be read, as long as synced records may lie there.
//!
//! Frames A (record 1), B (records 2 and 3), C (record 4) and D (record 5) stand in one segment. Each was synced before the
//! next was written; D was not synced. The header of B is damaged. The survey visits records 1, 4 and 5; its one damage has the
//! offset of B, `first` 2 and `last` 3. If the body of D were damaged instead, D would be the torn tail: no header says that
//! record 5 was synced.

use std::io;

use disk::Disk;

use crate::frame::{Header, SegmentId};
use crate::segment::{FileName, FrameAt, Segment, SegmentReader};
use crate::{Error, Position, Result};

const UNREADABLE: &str = "a frame that was synced cannot be read";

/// The outcome of a survey.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// Segment files, prepared ones included.
    pub segments: u64,
    /// Spare files.
    pub spares: u64,
    /// Length of segments and spares. Bytes.
    pub bytes: u64,
    /// Frames with a sound header and table; single records of them may be damaged.
    pub frames: u64,
    /// Sound records.
    pub records: u64,
    /// The last record that was found, or that is known to have been synced; 0 for none.
    pub last: Position,
    /// The torn tail that recovery would cut; no OK was sent for its records.
    pub torn: Option<Torn>,
    /// Synced frames and records that cannot be read, in the order of the journal.
    pub damages: Vec<Damage>,
}

/// A tail that was not synced and cannot be read whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Torn {
    /// Path of the file where it begins, below the root of the disk.
    pub file: String,
    /// Offset of its first frame. Bytes.
    pub offset: u64,
    /// Its length in this file and in those behind. Bytes.
    pub bytes: u64,
}

/// A place where synced records cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Path below the root of the disk; the folder where there is no segment.
    pub file: String,
    /// Offset of the damaged frame; 0 where the end of the journal is missing. Bytes.
    pub offset: u64,
    /// The damage, as a message says it.
    pub what: &'static str,
    /// The first lost record that is still needed.
    pub first: Position,
    /// The last lost record; below `first` where no lost record is needed any more.
    pub last: Position,
}

/// A record of a survey.
#[derive(Clone, Copy, Debug)]
pub struct Surveyed<'a> {
    /// Path of the file of its frame, below the root of the disk.
    pub file: &'a str,
    /// Offset of its frame. Bytes.
    pub offset: u64,
    /// Its position in the journal.
    pub position: Position,
    /// Its bytes, also where they are damaged.
    pub bytes: &'a [u8],
    /// Whether its checksum matches.
    pub is_sound: bool,
}

/// Visits every record that can be found in the journal in `dir`, rising, damaged ones included. `known_synced`: a position
/// that the caller knows to be synced, 0 for none. `needed`: the first record that no other file holds; losses below it do not
/// count. Changes nothing. A missing folder is an empty journal.
///
/// Errors: `NewerFormat`; `Io` where the device refuses a read. Cost: reads every segment twice.
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
    /// The highest position that a header or the caller says was synced.
    synced: Position,
    needed: Position,
    /// The position that the next record should have.
    next: Position,
    /// The chain that the next frame should have; `None` behind damage, where it is unknown.
    chain: Option<u32>,
    /// Whether the first position is known. A trimmed journal begins where its first readable frame says.
    is_begun: bool,
    /// Path and end of the segment before, where it ended at a place without a header: a missing frame may have stood there.
    ended: Option<(String, u64)>,
    visit: &'v mut dyn FnMut(Surveyed<'_>),
}

impl Walk<'_> {
    /// Walks one segment. Returns the offset of the torn tail, if it begins here.
    fn segment(&mut self, segment: &Segment) -> Result<Option<u64>> {
        let mut reader = SegmentReader::new(segment);
        let mut offset = 0;
        while offset < segment.len {
            let found = match reader.frame(offset)? {
                FrameAt::Frame(header, records) => Ok((header, records)),
                FrameAt::Damaged(what) => Err(Some(what)),
                FrameAt::Nothing => Err(None),
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
                // A sound header with a damaged body: its lost records are known by number.
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

    /// Moves a damage from the start of this segment to the end of the one before, if that had room for the missing frame.
    fn blame_the_file_before(&mut self) {
        if let (Some((file, offset)), Some(damage)) =
            (self.ended.take(), self.survey.damages.last_mut())
        {
            (damage.file, damage.offset, damage.what) = (file, offset, UNREADABLE);
        }
    }

    /// Takes the first position from the first frame that can be read, where the journal was trimmed.
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

    /// Notes a damage that loses the records from `next` up to `until`, and goes on at `until`. `None`: no record is known lost.
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

    /// Offset and first record of the next frame behind `offset` whose header can be read and that does not go back.
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

    /// Measures the torn tail, which begins at `offset` of the first of these segments.
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

    /// Ends the survey. Synced records that were not met are a damage at the end.
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
