//! A segment: one file of frames. Names of the files in the journal's folder, and reading frames.
//!
//! The folder `journal/` in the middle of its life; the names are shortened, each number has 16 hexadecimal digits:
//!
//! | file | what it is |
//! |---|---|
//! | `…07-…3fa9.journal` | segment of epoch 7: full of frames |
//! | `…08-…c210.journal` | epoch 8: frames up to offset `end`, then zeroes or stale frames. Appends go here |
//! | `…09-…51d4.journal` | epoch 9: prepared, without frames |
//! | `…05-…88e0.spare` | was the segment of epoch 5, trimmed; the next preparation renames it |
//! | `prepared.tmp` | zeroes being written for a segment; the next opening removes it |
//!
//! A frame belongs to a file if its epoch and salt are those of the name. So renaming a file makes all its old frames stale.

use std::sync::Arc;

use disk::{Disk, File};

use crate::frame::{self, HEADER_BYTES, Header, Records, SegmentId, Unreadable};
use crate::limits::PAGE_BYTES;
use crate::{Error, Position, Result};

/// The least length of a read, unless the file ends before. Bytes.
const WINDOW_BYTES: usize = 1 << 20;

const SEGMENT_SUFFIX: &str = ".journal";
const SPARE_SUFFIX: &str = ".spare";
const TEMPORARY_SUFFIX: &str = ".tmp";

/// The meaning of a name in the journal's folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileName {
    /// A segment, with frames or prepared.
    Segment(SegmentId),
    /// A trimmed segment that waits to be renamed into a new one.
    Spare,
    /// A segment whose preparation did not end.
    Temporary,
    /// Not a file of the journal; left alone.
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

/// The path of a name in a folder; an empty `dir` is the root of the disk.
pub(crate) fn path_in(dir: &str, name: &str) -> String {
    if dir.is_empty() {
        name.to_owned()
    } else {
        format!("{dir}/{name}")
    }
}

/// One open segment. Frames stand in 0..`end`, room for further frames in `end`..`len`.
pub(crate) struct Segment {
    pub(crate) id: SegmentId,
    /// Path below the root of the disk.
    pub(crate) path: String,
    pub(crate) file: Arc<dyn File>,
    /// Length of the file. Bytes.
    pub(crate) len: u64,
    /// Position of its first record; of the next record where it holds none.
    pub(crate) first: Position,
    /// Offset of the end of its last frame; a multiple of the page. Bytes.
    pub(crate) end: u64,
}

impl Segment {
    /// Opens an existing file. `first` and `end` are 0: recovery finds them.
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

/// The frame at an offset of a segment.
pub(crate) enum FrameAt<'a> {
    /// Header and table are sound; the records are yet to be verified.
    Frame(Header, Records<'a>),
    /// A sound header of this segment with a damaged or cut body; the text names the damage.
    Damaged(&'static str),
    /// No sound header of this segment: zeroes, stale or foreign bytes, or a damaged header.
    Nothing,
}

/// Reads one segment through a window of at least [`WINDOW_BYTES`], so that small frames do not cost a call each.
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

    /// The header at an offset, if a frame of this segment begins there. Errors: `NewerFormat`, `Io`.
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

    /// The frame at an offset. Memory: the length of the frame, which is checked against the file first.
    pub(crate) fn frame(&mut self, offset: u64) -> Result<FrameAt<'_>> {
        let Some(header) = self.header(offset)? else {
            return Ok(FrameAt::Nothing);
        };
        // What was acknowledged has its padding, too: a frame without it is a write that was cut off.
        if header.padded_bytes() > self.segment.len - offset {
            return Ok(FrameAt::Damaged("the file ends inside the frame"));
        }
        let frame = self.bytes(offset, header.frame_bytes as usize)?;
        Ok(match frame::records(&header, frame) {
            Ok(records) => FrameAt::Frame(header, records),
            Err(what) => FrameAt::Damaged(what),
        })
    }

    /// Visits every page from `offset` on where a sound header of this segment stands, also behind damaged frames.
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

    /// The `len` bytes at `offset`. They must lie inside the file.
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
