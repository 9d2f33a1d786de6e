//! How far a file of a buffer was sent: a note beside the file, `web_00003.buffer2.sent` for `web_00003.buffer2`.
//!
//! The note is 12 bytes: a place in the file (8 bytes, little-endian), and the CRC-32C of the file's name and the place. The
//! messages before the place are with the next store.
//!
//! Behind them may stand marks: what some parts of the next store have of the messages from the place on. They are their length
//! (4 bytes), the CRC-32C of the file's name, the place and the marks (4), and the marks. So marks of another place do not count.
//!
//! # Invariants
//! - A place is noted after the next store has the messages before it on disk. So a note that outlives a power cut is never
//!   ahead of the messages.
//! - A note is written without a sync. A power cut may take the last notes: the file is then sent again from an older place, or
//!   from its beginning.
//! - A file that is begun under a name removes the note of an earlier file of that name. The sync of its folder, which its first
//!   message waits for, makes that durable: no message is skipped by the note of another file.
//! - A note that is damaged, or lies beyond the end of its file, does not count.

use std::io::{self, ErrorKind};
use std::sync::Arc;

use disk::{Disk, File};

/// The end of a note's name.
const ENDING: &str = ".sent";
/// Bytes of a note.
const NOTE_BYTES: usize = 12;

/// The note of one file, which is made at the first place.
pub(super) struct Note {
    path: String,
    file: Option<Arc<dyn File>>,
    /// Marks were written behind it since it was opened.
    pub(super) has_marks: bool,
}

impl Note {
    /// The note of the file at `path`; nothing is opened.
    pub(super) fn of(path: &str) -> Note {
        Note {
            path: format!("{path}{ENDING}"),
            file: None,
            has_marks: false,
        }
    }

    /// The place that is noted for a file of this length; 0: none. Errors: those of the disk, but for a note that is missing.
    pub(super) fn read(&mut self, disk: &dyn Disk, length: usize) -> io::Result<usize> {
        let file = match disk.open_no_link(&self.path) {
            Err(error) if is_none(&error) => return Ok(0),
            file => file?,
        };
        let mut note = [0; NOTE_BYTES];
        let read = file.read_at(0, &mut note);
        self.file = Some(file);
        match read {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(0),
            read => read?,
        }
        let place = note.first_chunk::<8>().copied().unwrap_or_default();
        let place = usize::try_from(u64::from_le_bytes(place)).unwrap_or(usize::MAX);
        let is_sound = note == self.encode(place);
        Ok(if is_sound && place <= length {
            place
        } else {
            0
        })
    }

    /// The marks that are noted for this place; nothing: there are none, or they are damaged. Called after `read`.
    pub(super) fn marks(&self, place: usize) -> Vec<u8> {
        let bytes = self.file.as_ref().and_then(|file| file.map().ok());
        let behind = bytes.as_ref().and_then(|bytes| bytes.get(NOTE_BYTES..));
        let marks = behind.and_then(|behind| {
            let (length, rest) = behind.split_first_chunk::<4>()?;
            let (sum, rest) = rest.split_first_chunk::<4>()?;
            let marks = rest.get(..usize::try_from(u32::from_le_bytes(*length)).ok()?)?;
            (u32::from_le_bytes(*sum) == self.sum(place, marks)).then_some(marks)
        });
        marks.map_or_else(Vec::new, <[u8]>::to_vec)
    }

    /// Notes a place, without a sync. Marks of another place do not count any more.
    pub(super) fn write(&mut self, disk: &dyn Disk, place: usize) -> io::Result<()> {
        let note = self.encode(place);
        self.write_all(disk, &note)
    }

    /// Notes a place and marks, without a sync.
    pub(super) fn write_marks(
        &mut self,
        disk: &dyn Disk,
        place: usize,
        marks: &[u8],
    ) -> io::Result<()> {
        let length = u32::try_from(marks.len()).map_err(|_| ErrorKind::InvalidInput)?;
        let head = [length, self.sum(place, marks)].map(u32::to_le_bytes);
        self.has_marks = true;
        self.write_all(
            disk,
            &[&self.encode(place)[..], head.as_flattened(), marks].concat(),
        )
    }

    fn write_all(&mut self, disk: &dyn Disk, bytes: &[u8]) -> io::Result<()> {
        let file = match &self.file {
            Some(file) => Arc::clone(file),
            None => match disk.create(&self.path) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    disk.remove(&self.path)?; // a link
                    disk.create(&self.path)?
                }
                file => file?,
            },
        };
        self.file = Some(Arc::clone(&file));
        file.write_at(0, bytes)
    }

    /// Makes the noted place durable, but for the name of the note.
    pub(super) fn sync(&self) -> io::Result<()> {
        self.file.as_ref().map_or(Ok(()), |file| file.sync())
    }

    /// Removes the note, if there is one.
    pub(super) fn remove(&mut self, disk: &dyn Disk) -> io::Result<()> {
        self.file = None;
        match disk.remove(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }

    fn encode(&self, place: usize) -> [u8; NOTE_BYTES] {
        let mut note = [0; NOTE_BYTES];
        note[..8].copy_from_slice(&(place as u64).to_le_bytes());
        note[8..].copy_from_slice(&self.sum(place, b"").to_le_bytes());
        note
    }

    /// The checksum of the file's name, a place and marks.
    fn sum(&self, place: usize, marks: &[u8]) -> u32 {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        let place = (place as u64).to_le_bytes();
        [&place[..], marks]
            .iter()
            .fold(crc32c::crc32c(name.as_bytes()), |sum, bytes| {
                crc32c::crc32c_append(sum, bytes)
            })
    }
}

/// Whether no note is there: a link is none.
fn is_none(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::NotFound | ErrorKind::InvalidInput | ErrorKind::IsADirectory
    )
}
