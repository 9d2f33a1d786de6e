//! A segment: one file of frames, known by its epoch and salt, and how frames are read from it.

use crate::frame::{self, HEADER_BYTES, Header, Records, SegmentId, Unreadable};
use crate::limits::PAGE_BYTES;
use crate::{Error, Position, Result};
use disk::{Disk, File};
use std::sync::Arc;

/// Files are read in pieces of at least this. Bytes.
const WINDOW_BYTES: usize = 1 << 20;

const SEGMENT_SUFFIX: &str = ".journal";
const SPARE_SUFFIX: &str = ".spare";
const TEMPORARY_SUFFIX: &str = ".tmp";

/// What a name in the journal's folder stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileName {
    /// Holds frames, or will.
    Segment(SegmentId),
    /// Was emptied by a trim and waits to become a segment again.
    Spare,
    /// Was being prepared when the process ended.
    Temporary,
    /// None of ours.
    Other,
}

impl FileName {
    pub(crate) fn parse(name: &str) -> FileName {
        if name.ends_with(TEMPORARY_SUFFIX) {
            return FileName::Temporary;
        }
        let spare = name
            .strip_suffix(SPARE_SUFFIX)
            .and_then(parse_id)
            .map(|_| FileName::Spare);
        let segment = name
            .strip_suffix(SEGMENT_SUFFIX)
            .and_then(parse_id)
            .map(FileName::Segment);
        segment.or(spare).unwrap_or(FileName::Other)
    }
}

fn parse_id(stem: &str) -> Option<SegmentId> {
    let (epoch, salt) = stem.split_once('-')?;
    let number = |digits: &str| {
        u64::from_str_radix(digits, 16)
            .ok()
            .filter(|_| digits.len() == 16)
    };
    Some(SegmentId {
        epoch: number(epoch)?,
        salt: number(salt)?,
    })
}

pub(crate) fn segment_name(id: SegmentId) -> String {
    format!("{:016x}-{:016x}{SEGMENT_SUFFIX}", id.epoch, id.salt)
}

pub(crate) fn spare_name(id: SegmentId) -> String {
    format!("{:016x}-{:016x}{SPARE_SUFFIX}", id.epoch, id.salt)
}

pub(crate) fn temporary_name() -> String {
    format!("prepared{TEMPORARY_SUFFIX}")
}

/// The path of a name in a folder; the folder may be the root.
pub(crate) fn path_in(dir: &str, name: &str) -> String {
    if dir.is_empty() {
        name.to_owned()
    } else {
        format!("{dir}/{name}")
    }
}

/// One open segment.
pub(crate) struct Segment {
    pub(crate) id: SegmentId,
    /// Below the root of the disk.
    pub(crate) path: String,
    pub(crate) file: Arc<dyn File>,
    /// Length of the file: what is prepared. Bytes.
    pub(crate) len: u64,
    /// Position of its first record; the one to come where it holds none.
    pub(crate) first: Position,
    /// Where its frames end. Bytes.
    pub(crate) end: u64,
}

impl Segment {
    /// Opens an existing file; where its frames lie is for the caller to find out.
    pub(crate) fn open(disk: &dyn Disk, dir: &str, id: SegmentId) -> Result<Segment> {
        let path = path_in(dir, &segment_name(id));
        let opened = disk.open(&path).and_then(|file| Ok((file.len()?, file)));
        match opened {
            Ok((len, file)) => Ok(Segment {
                id,
                path,
                file,
                len,
                first: Position(0),
                end: 0,
            }),
            Err(source) => Err(Error::Io { file: path, source }),
        }
    }

    pub(crate) fn corrupt(&self, offset: u64, what: &'static str) -> Error {
        Error::Corrupt {
            file: self.path.clone(),
            offset,
            what,
        }
    }

    pub(crate) fn io(&self, source: std::io::Error) -> Error {
        Error::Io {
            file: self.path.clone(),
            source,
        }
    }
}

/// What stands at an offset of a segment.
pub(crate) enum Found<'a> {
    Frame(Header, Records<'a>),
    /// An undamaged header of this segment with a damaged body.
    Damaged(&'static str),
    /// No frame of this segment.
    Nothing,
}

/// Reads one segment through a window, so that small frames do not cost a call each.
pub(crate) struct SegmentReader<'a> {
    segment: &'a Segment,
    window: Vec<u8>,
    /// Offset of the window in the file. Bytes.
    window_at: u64,
}

impl<'a> SegmentReader<'a> {
    pub(crate) fn new(segment: &'a Segment) -> Self {
        SegmentReader {
            segment,
            window: Vec::new(),
            window_at: 0,
        }
    }

    /// The header at an offset, if a frame of this segment begins there.
    pub(crate) fn header(&mut self, offset: u64) -> Result<Option<Header>> {
        let segment = self.segment;
        if offset.saturating_add(HEADER_BYTES as u64) > segment.len {
            return Ok(None);
        }
        match Header::decode(self.bytes(offset, HEADER_BYTES)?) {
            Ok(header) if header.segment == segment.id => Ok(Some(header)),
            Err(Unreadable::Newer {
                segment: id,
                version,
            }) if id == segment.id => Err(Error::NewerFormat {
                file: segment.path.clone(),
                version,
                supported: frame::FORMAT_VERSION,
            }),
            _ => Ok(None),
        }
    }

    /// The frame at an offset. Memory: that of the frame, never more than the file holds.
    pub(crate) fn frame(&mut self, offset: u64) -> Result<Found<'_>> {
        let Some(header) = self.header(offset)? else {
            return Ok(Found::Nothing);
        };
        if u64::from(header.frame_bytes) > self.segment.len - offset {
            return Ok(Found::Damaged("the file ends inside the frame"));
        }
        let frame = self.bytes(offset, header.frame_bytes as usize)?;
        Ok(match frame::records(&header, frame) {
            Ok(records) => Found::Frame(header, records),
            Err(what) => Found::Damaged(what),
        })
    }

    /// Every page from `offset` on at which a header of this segment can be read.
    pub(crate) fn headers_from(
        &mut self,
        offset: u64,
        visit: &mut dyn FnMut(u64, &Header),
    ) -> Result<()> {
        for page in (offset..self.segment.len).step_by(PAGE_BYTES) {
            if let Some(header) = self.header(page)? {
                visit(page, &header);
            }
        }
        Ok(())
    }

    /// `len` bytes at `offset`, which lie inside the file.
    fn bytes(&mut self, offset: u64, len: usize) -> Result<&[u8]> {
        let window_end = self.window_at + self.window.len() as u64;
        if offset < self.window_at || offset + len as u64 > window_end {
            let left = self.segment.len - offset;
            let wanted = left.min(len.max(WINDOW_BYTES) as u64) as usize;
            self.window.resize(wanted, 0);
            self.window_at = offset;
            if let Err(source) = self.segment.file.read_at(offset, &mut self.window) {
                self.window.clear();
                return Err(self.segment.io(source));
            }
        }
        let at = (offset - self.window_at) as usize;
        Ok(&self.window[at..at + len])
    }
}
