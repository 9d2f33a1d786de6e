//! The spool of a line: a durable queue of messages in files of its own, for a store that is slower than the journal may wait.
//!
//! # Example
//! A line has spooled seven messages and delivered three. Messages have numbers, from 0, that never repeat in one spool:
//!
//! ```text
//! file               records (first number × count)      cursor
//! 0000000000000000   0 × 2, 2 × 2                        read 3: file 0, offset of record 2
//! 0000000000000004   4 × 3                               write 7: file 4, offset behind record 4
//! ```
//!
//! A file is named by the number of its first message. A record is the length of its messages (4 bytes, little-endian), their
//! count (4 bytes), the CRC-32C of the count and the messages (4 bytes), and the messages in the form of [`Messages`].
//!
//! The file `marks` in the folder is there while some part of the line's store has messages that the store as a whole has not
//! taken. It is the CRC-32C (4 bytes) of what follows, the number of the first message that is not delivered (8 bytes), and what
//! the line says of the messages from there on. It counts only for a cursor with that very number: another one has other marks, or
//! none, and then the store gets these messages again.
//!
//! Invariants:
//! - The journal holds the newest noted cursor. Bytes behind its `write` are cut off at the start: their messages come again
//!   from the journal.
//! - A file before the noted `read` is deleted only after the journal has that cursor.
//! - A file whose sync failed is never appended to again. The records after the last good sync go to a new file.
//! - A reader changes to the next file by the numbers, so bytes behind the last good record of a file are never read.
//! - Damage in the messages of a record costs that record. Damage in its head costs the rest of the file, since nothing tells
//!   where the next record begins.

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::sync::Arc;

use disk::{Disk, File, make_dir, replace_file};
use engine::{Messages, SpoolFile};

/// A file that is longer takes no more records. Bytes.
const FILE_BYTES: u64 = 64 << 20;
/// Bytes of a record before its messages.
const HEAD_BYTES: usize = 12;

/// Name of the file of marks.
const MARKS: &str = "marks";

/// A place between two records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    /// Name of the file.
    file: u64,
    /// Bytes from the start of the file.
    offset: u64,
    /// Number of the first message behind the place.
    number: u64,
}

/// The state of a spool that the journal notes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cursor {
    /// Name of the spool's folder.
    pub folder: String,
    /// Number of the first message that is not delivered.
    pub read: u64,
    /// Position in the journal of the last record whose messages the spool holds.
    pub covered: u64,
    /// The record that holds it.
    from: Place,
    /// Behind the last record that is synced.
    to: Place,
}

impl Cursor {
    /// Number of messages that wait.
    pub(crate) fn count(&self) -> u64 {
        self.to.number.saturating_sub(self.read)
    }

    /// Eight numbers of 8 bytes, little-endian, then the name of the folder.
    pub(crate) fn encode(&self) -> Box<[u8]> {
        let (from, to) = (self.from, self.to);
        let numbers = [
            self.read,
            self.covered,
            from.file,
            from.offset,
            from.number,
            to.file,
            to.offset,
            to.number,
        ];
        let numbers = numbers.iter().flat_map(|number| number.to_le_bytes());
        numbers.chain(self.folder.bytes()).collect()
    }

    /// The opposite of `encode`; `None`: other bytes.
    pub(crate) fn decode(mut bytes: &[u8]) -> Option<Cursor> {
        let mut next = || {
            let (number, rest) = bytes.split_first_chunk::<8>()?;
            bytes = rest;
            Some(u64::from_le_bytes(*number))
        };
        let (read, covered) = (next()?, next()?);
        let mut place = || {
            Some(Place {
                file: next()?,
                offset: next()?,
                number: next()?,
            })
        };
        let (from, to) = (place()?, place()?);
        let folder = String::from_utf8(bytes.to_vec()).ok()?;
        let is_in_order = from.number <= read && read <= to.number && from.file <= to.file;
        let is_name = !folder.is_empty() && !folder.contains('/') && folder != "..";
        (is_in_order && is_name).then_some(Cursor {
            folder,
            read,
            covered,
            from,
            to,
        })
    }
}

/// The files that cursors need, for a backup: of each spool, those from its first record to the last that is synced. Other bytes
/// are no cursor, and a folder or file that is missing is left out: a start reads it as damage.
///
/// # Errors
/// Those of the disk.
pub fn files_of<'c>(
    disk: &dyn Disk,
    root: &str,
    cursors: impl Iterator<Item = &'c [u8]>,
) -> io::Result<Vec<SpoolFile>> {
    let mut files = Vec::new();
    for cursor in cursors.filter_map(Cursor::decode) {
        let folder = format!("{root}/{}", cursor.folder);
        let names = match disk.list(&folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            names => names?,
        };
        for name in names {
            let path = format!("{folder}/{name}");
            match u64::from_str_radix(&name, 16) {
                Ok(file) if (cursor.from.file..cursor.to.file).contains(&file) => {
                    files.push(SpoolFile { path, bytes: None });
                }
                Ok(file) if file == cursor.to.file => {
                    let bytes = Some(disk.open(&path)?.len()?.min(cursor.to.offset));
                    files.push(SpoolFile { path, bytes });
                }
                _ => {}
            }
        }
    }
    Ok(files)
}

/// What a read gave.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Read {
    /// Messages from the number that was asked for, at least one.
    Messages(Vec<Messages>),
    /// The record is damaged: the next sound messages begin at this number, or the spool ends there.
    Damaged {
        /// Number of the first message behind the damage.
        next: u64,
    },
}

/// An open spool. Every call may block on the disk.
pub(crate) struct Spool {
    disk: Arc<dyn Disk>,
    /// Path of the folder.
    path: String,
    folder: String,
    /// Names of the files, rising.
    files: VecDeque<u64>,
    /// The last file, unless the next record begins a new one.
    last: Option<Arc<dyn File>>,
    /// Behind the last record.
    end: Place,
    /// Behind the last record that a sync made durable.
    synced: Place,
    /// The record that was read last.
    reading: Place,
    /// The file of `reading`.
    source: Option<(u64, Arc<dyn File>)>,
    /// The checksum in the file of marks; `None`: there is no such file.
    marks_sum: Option<u32>,
}

impl Spool {
    /// An empty spool in a new folder below `root`, durable on return. Its first message gets the number `first`.
    ///
    /// # Errors
    /// Those of the disk.
    pub(crate) fn create(
        disk: Arc<dyn Disk>,
        root: &str,
        folder: &str,
        first: u64,
    ) -> io::Result<Spool> {
        let path = format!("{root}/{folder}");
        make_dir(&*disk, &path)?;
        let start = Place {
            file: first,
            offset: 0,
            number: first,
        };
        Ok(Spool {
            disk,
            path,
            folder: folder.to_owned(),
            files: VecDeque::new(),
            last: None,
            end: start,
            synced: start,
            reading: start,
            source: None,
            marks_sum: None,
        })
    }

    /// The spool as it was when the journal noted `cursor`. A file that is missing reads as damage.
    ///
    /// # Errors
    /// Those of the disk; `NotFound`: the folder is gone.
    pub(crate) fn open(disk: Arc<dyn Disk>, root: &str, cursor: &Cursor) -> io::Result<Spool> {
        let path = format!("{root}/{}", cursor.folder);
        let mut files = VecDeque::new();
        for name in disk.list(&path)? {
            match u64::from_str_radix(&name, 16) {
                Ok(file) if file >= cursor.from.file && file <= cursor.to.file => {
                    files.push_back(file);
                }
                _ if name == MARKS => {}
                _ => disk.remove(&format!("{path}/{name}"))?,
            }
        }
        // A new file for new records: nothing is written behind bytes that a crash may have left.
        Ok(Spool {
            disk,
            path,
            folder: cursor.folder.clone(),
            files,
            last: None,
            end: cursor.to,
            synced: cursor.to,
            reading: cursor.from,
            source: None,
            marks_sum: None,
        })
    }

    /// Number of the next message that is appended.
    pub(crate) fn end(&self) -> u64 {
        self.end.number
    }

    /// Appends one record. Not durable before `sync`.
    ///
    /// # Errors
    /// Those of the disk; nothing is appended then.
    pub(crate) fn append(&mut self, messages: &Messages) -> io::Result<()> {
        let too_large = || io::Error::from(ErrorKind::InvalidInput);
        let length = u32::try_from(messages.bytes()).map_err(|_| too_large())?;
        let count = u32::try_from(messages.count()).map_err(|_| too_large())?;
        if self.end.offset >= FILE_BYTES {
            self.sync()?;
            self.last = None;
        }
        let file = match &self.last {
            Some(file) => file.clone(),
            None => self.begin_file()?,
        };
        let sum = sum(count, messages.encoded());
        let head = [length, count, sum].map(u32::to_le_bytes).concat();
        file.write_at(self.end.offset, &[&head, messages.encoded()].concat())?;
        self.end.offset += (HEAD_BYTES + messages.encoded().len()) as u64;
        self.end.number += u64::from(count);
        Ok(())
    }

    fn begin_file(&mut self) -> io::Result<Arc<dyn File>> {
        let number = self.end.number;
        let path = self.path_of(number);
        // A file of this name holds records of which none was synced.
        match self.disk.remove(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let file = self.disk.create(&path)?;
        if self.files.back() != Some(&number) {
            self.files.push_back(number);
        }
        self.end = Place {
            file: number,
            offset: 0,
            number,
        };
        self.last = Some(file.clone());
        Ok(file)
    }

    /// Makes durable all that was appended.
    ///
    /// # Errors
    /// Those of the disk. The records since the last good sync are gone then: the caller appends them again.
    pub(crate) fn sync(&mut self) -> io::Result<()> {
        if self.end == self.synced {
            return Ok(());
        }
        let is_new = self.end.file != self.synced.file || self.synced.offset == 0;
        let mut synced = self.last.as_ref().map_or(Ok(()), |file| file.sync());
        if synced.is_ok() && is_new {
            synced = self.disk.sync_dir(&self.path);
        }
        if synced.is_ok() {
            self.synced = self.end;
        } else {
            self.give_up_unsynced();
        }
        synced
    }

    /// Takes back the records since the last good sync.
    pub(crate) fn give_up_unsynced(&mut self) {
        if self.end == self.synced {
            return;
        }
        self.end = self.synced;
        self.last = None;
        self.source = None;
        if self
            .files
            .back()
            .is_some_and(|file| *file >= self.end.number && self.end.file != *file)
        {
            self.files.pop_back();
        }
    }

    /// The messages from `number` on, at most about `bytes_max` bytes of them. `number` lies before the end.
    ///
    /// # Errors
    /// Those of the disk, of which another attempt may be free.
    pub(crate) fn read(&mut self, number: u64, bytes_max: usize) -> io::Result<Read> {
        self.reading = self.nearest(number);
        if self.reading.number > number {
            let next = self.reading.number;
            return Ok(Read::Damaged { next });
        }
        let mut taken = Vec::new();
        let mut bytes = 0;
        let mut next = number;
        while bytes < bytes_max && next < self.end.number {
            match self.read_record(next) {
                Ok(messages) => {
                    next += messages.count();
                    bytes += messages.encoded().len();
                    taken.push(messages);
                }
                Err(_) if !taken.is_empty() => break,
                Err(error) => match error.kind() {
                    ErrorKind::NotFound | ErrorKind::InvalidData | ErrorKind::UnexpectedEof => {
                        return Ok(Read::Damaged {
                            next: self.skip_damage(next),
                        });
                    }
                    _ => return Err(error),
                },
            }
        }
        Ok(Read::Messages(taken))
    }

    /// The nearest known place at or before message `number`: the reader's, or the start of a file.
    fn nearest(&self, number: u64) -> Place {
        let before = self.files.iter().rev().find(|file| **file <= number);
        let file = before.or(self.files.front());
        let start = file.map_or(self.reading, |file| Place {
            file: *file,
            offset: 0,
            number: *file,
        });
        let reader_is_nearer = (start.number..=number).contains(&self.reading.number);
        if reader_is_nearer {
            self.reading
        } else {
            start
        }
    }

    /// The messages of the record with `number`, from `number` on.
    fn read_record(&mut self, number: u64) -> io::Result<Messages> {
        loop {
            if self.files.contains(&self.reading.number) && self.reading.file != self.reading.number
            {
                self.reading.file = self.reading.number;
                self.reading.offset = 0;
            }
            let file = self.source()?;
            let mut head = [0; HEAD_BYTES];
            file.read_at(self.reading.offset, &mut head)?;
            let part = |at: usize| number_at(&head, at);
            let (length, count) = (u64::from(part(0)), u64::from(part(4)));
            let body = self.reading.offset + HEAD_BYTES as u64;
            if count == 0 || body + length > file.len()? {
                return Err(ErrorKind::InvalidData.into());
            }
            let here = self.reading.number;
            if number >= here + count {
                self.reading.offset = body + length;
                self.reading.number = here + count;
                continue;
            }
            let mut bytes = vec![0; usize::try_from(length).unwrap_or(usize::MAX)];
            file.read_at(body, &mut bytes)?;
            let sound = (sum(part(4), &bytes) == part(8)).then(|| Messages::decode(&bytes));
            let messages = sound.flatten().filter(|messages| messages.count() == count);
            let messages = messages.ok_or(ErrorKind::InvalidData)?;
            return Ok(without_first(messages, number - here));
        }
    }

    fn source(&mut self) -> io::Result<Arc<dyn File>> {
        match &self.source {
            Some((name, file)) if *name == self.reading.file => Ok(file.clone()),
            _ => {
                let file = self.disk.open(&self.path_of(self.reading.file))?;
                self.source = Some((self.reading.file, file.clone()));
                Ok(file)
            }
        }
    }

    /// Goes behind the damaged record that is read, or to the first file behind `number` where its head is damaged too. Gives the
    /// number of the first message there.
    fn skip_damage(&mut self, number: u64) -> u64 {
        match self.behind_record() {
            Some(place) if place.number > number => {
                self.reading = place;
                place.number
            }
            _ => self.skip_file(number),
        }
    }

    /// The place behind the record that is read, if the head of it can be believed: by the lengths and counts from it on, the
    /// last record of the file ends with the message before the next file's first. Cost: a read for each record behind it.
    fn behind_record(&mut self) -> Option<Place> {
        let file = self.source().ok()?;
        let bytes = file.len().ok()?;
        let next = self.files.iter().find(|file| **file > self.reading.file);
        let end = next.copied().unwrap_or(self.end.number);
        let (mut place, mut behind) = (self.reading, None);
        loop {
            let mut head = [0; HEAD_BYTES];
            file.read_at(place.offset, &mut head).ok()?;
            let [length, count] = [0, 4].map(|at| number_at(&head, at));
            place.offset += HEAD_BYTES as u64 + u64::from(length);
            place.number += u64::from(count);
            behind.get_or_insert(place);
            if count == 0 || place.offset > bytes || place.number > end {
                return None;
            }
            if place.number == end {
                return behind;
            }
        }
    }

    /// Goes to the first file behind `number`.
    fn skip_file(&mut self, number: u64) -> u64 {
        let next = self.files.iter().find(|file| **file > number).copied();
        self.reading = next.map_or(self.end, |file| Place {
            file,
            offset: 0,
            number: file,
        });
        self.reading.number
    }

    /// What the journal notes when everything before `read` is delivered; the appended records are synced.
    pub(crate) fn cursor(&self, read: u64, covered: u64) -> Cursor {
        Cursor {
            folder: self.folder.clone(),
            read,
            covered,
            from: self.nearest(read),
            to: self.synced,
        }
    }

    /// Notes what the line says of the messages from `read` on; nothing: no part of its store has any of them. Durable on return.
    /// Writes only what changed.
    ///
    /// # Errors
    /// Those of the disk. The marks of before then count for the number that they were noted for.
    pub(crate) fn note_marks(&mut self, read: u64, marks: &[u8]) -> io::Result<()> {
        let path = format!("{}/{MARKS}", self.path);
        if marks.is_empty() {
            if self.marks_sum.is_some() {
                match self.disk.remove(&path) {
                    Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                    _ => self.marks_sum = None,
                }
            }
            return Ok(());
        }
        let noted = [&read.to_le_bytes(), marks].concat();
        let sum = crc32c::crc32c(&noted);
        if self.marks_sum != Some(sum) {
            replace_file(
                &*self.disk,
                &path,
                &[&sum.to_le_bytes()[..], &noted].concat(),
            )?;
            self.marks_sum = Some(sum);
        }
        Ok(())
    }

    /// What was noted for the messages from `read` on; nothing where the file is missing, damaged or of another number.
    pub(crate) fn marks(&mut self, read: u64) -> Vec<u8> {
        let path = format!("{}/{MARKS}", self.path);
        let Ok(bytes) = self.disk.open(&path).and_then(|file| file.map()) else {
            return Vec::new();
        };
        let sum = crc32c::crc32c(bytes.get(4..).unwrap_or_default());
        self.marks_sum = Some(sum);
        let head = [&sum.to_le_bytes()[..], &read.to_le_bytes()].concat();
        let marks = bytes.strip_prefix(&head[..]);
        marks.map_or_else(Vec::new, <[u8]>::to_vec)
    }

    /// Deletes the files before a cursor that the journal has noted.
    ///
    /// # Errors
    /// Those of the disk. The next call deletes them.
    pub(crate) fn trim(&mut self, noted: &Cursor) -> io::Result<()> {
        while let Some(file) = self
            .files
            .front()
            .copied()
            .filter(|file| *file < noted.from.file)
        {
            match self.disk.remove(&self.path_of(file)) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => self.files.pop_front(),
            };
        }
        Ok(())
    }

    /// Path of the folder.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    fn path_of(&self, file: u64) -> String {
        format!("{}/{file:016x}", self.path)
    }
}

fn number_at(head: &[u8], at: usize) -> u32 {
    let bytes = head.get(at..).and_then(<[u8]>::first_chunk::<4>);
    u32::from_le_bytes(bytes.copied().unwrap_or_default())
}

fn sum(count: u32, encoded: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&count.to_le_bytes()), encoded)
}

fn without_first(messages: Messages, count: u64) -> Messages {
    if count == 0 {
        return messages;
    }
    let mut rest = Messages::with_capacity(messages.encoded().len());
    let bodies = messages
        .runs()
        .flat_map(|run| run.bodies().map(move |body| (run.category, body)));
    for (category, body) in bodies.skip(usize::try_from(count).unwrap_or(usize::MAX)) {
        rest.push(category, body);
    }
    rest
}

#[cfg(test)]
mod tests;
