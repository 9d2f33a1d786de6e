//! Reading a buffer's files back, the oldest first.

use std::io::{self, ErrorKind};
use std::sync::Arc;

use disk::{File, replace_file};
use engine::Messages;
use tracing::warn;

use crate::counters::Counter;
use crate::message::Now;
use crate::store::Backlog;

use super::FileStore;
use super::checked;
use super::frames::{self, Content};
use super::names::{BUFFER_ENDING, FRAMED_ENDING};
use super::position::Note;

/// How far the oldest file is read and removed.
pub(super) struct Oldest {
    pub(super) path: String,
    /// Messages before this place are removed. Bytes.
    from: usize,
    /// End of each message of the last reading.
    ends: Vec<usize>,
    /// The last reading ended at the end of the file.
    is_all: bool,
    /// Damaged bytes before this place are counted.
    counted_to: usize,
    /// Keeps `from` over a crash; `None`: a file without checksums, of which a crash brings all messages again.
    note: Option<Note>,
}

impl Oldest {
    /// A file of which nothing is read, from the place on that is noted.
    fn new(path: &str, disk: &dyn disk::Disk, length: usize) -> io::Result<Oldest> {
        let has_note = path.ends_with(BUFFER_ENDING);
        let mut note = has_note.then(|| Note::of(path));
        let from = match &mut note {
            Some(note) => note.read(disk, length)?,
            None => 0,
        };
        Ok(Oldest {
            path: path.to_owned(),
            from,
            ends: Vec::new(),
            is_all: false,
            counted_to: from,
            note,
        })
    }
}

impl FileStore {
    /// Paths of all files, the oldest first.
    fn files(&self, now: Now) -> io::Result<Vec<String>> {
        let files = self.names.files(&*self.disk, &self.names.stem(now))?;
        let names = files.iter().map(|(_, name)| name);
        Ok(names.map(|name| self.names.path(name)).collect())
    }

    /// A file of the buffer; `None`: it is a symbolic link, which may lead to any file of this machine.
    fn open_to_read(&self, path: &str) -> io::Result<Option<Arc<dyn File>>> {
        match self.disk.open_no_link(path) {
            Err(error) if error.kind() == ErrorKind::InvalidInput => {
                warn!(%error, "a link among a buffer's files is passed over");
                Ok(None)
            }
            file => file.map(Some),
        }
    }

    /// Ends the current file if it is this one, without what a failed write left.
    fn end_if(&mut self, path: &str) -> io::Result<()> {
        if let Some(current) = &mut self.current
            && current.output.path() == path
        {
            current.output.ready(&*self.disk)?;
            self.end();
            self.begins_anew = true;
        }
        Ok(())
    }

    /// Reads the oldest file from a place on.
    fn read_content(&self, path: &str, data: &[u8], from: usize, bytes_max: usize) -> Content {
        if path.ends_with(BUFFER_ENDING) {
            return checked::read(data, from, bytes_max);
        }
        let has_category =
            path.ends_with(FRAMED_ENDING) || self.base.write_category || self.category.is_empty();
        let category = (!has_category).then_some(&*self.category);
        frames::read(data, from, bytes_max, category)
    }

    /// Gives a file another name, with which no store takes it for its own. It has the name of a buffer file of Scribe's and no
    /// record: so it is a text that was written for people, before `replay_buffer` was set.
    fn set_aside(&mut self, path: &str) -> io::Result<()> {
        let mut kept = format!("{path}.kept");
        while self.disk.exists(&kept)? {
            kept.push('+');
        }
        self.disk.rename(path, &kept)?;
        self.disk.sync_dir(&self.names.folder)?;
        warn!(
            path,
            kept,
            "a file among a buffer's files is none of a buffer: it is kept under another name"
        );
        Ok(())
    }

    /// The oldest file that has bytes, with its noted place.
    fn oldest(&mut self, now: Now) -> io::Result<Option<&mut Oldest>> {
        for path in self.files(now)? {
            let Some(file) = self.open_to_read(&path)? else {
                continue;
            };
            let length = usize::try_from(file.len()?).unwrap_or(usize::MAX);
            if length == 0 {
                continue;
            }
            if self
                .oldest
                .as_ref()
                .is_none_or(|oldest| oldest.path != path)
            {
                self.oldest = Some(Oldest::new(&path, &*self.disk, length)?);
            }
            break;
        }
        Ok(self.oldest.as_mut())
    }

    /// Deletes the oldest file and its note.
    fn delete_oldest(&mut self, path: &str) -> io::Result<()> {
        let note = self.oldest.take().and_then(|oldest| oldest.note);
        match self.disk.remove(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        if let Some(mut note) = note {
            note.remove(&*self.disk)?;
        }
        self.disk.sync_dir(&self.names.folder)
    }

    /// Makes the place in the oldest file durable: by its note, or else the file keeps only what is not removed.
    pub(super) fn keep_place_of_oldest(&mut self) -> io::Result<()> {
        let has_place = |oldest: &Oldest| {
            oldest.from > 0 || oldest.note.as_ref().is_some_and(|note| note.has_marks)
        };
        let Some(oldest) = self.oldest.take().filter(has_place) else {
            return Ok(());
        };
        match oldest.note {
            Some(note) => {
                note.sync()?;
                self.disk.sync_dir(&self.names.folder)
            }
            None => {
                let data = self.disk.open_no_link(&oldest.path)?.map()?;
                let rest = data.get(oldest.from..).unwrap_or_default();
                replace_file(&*self.disk, &oldest.path, rest)
            }
        }
    }
}

impl Backlog for FileStore {
    fn is_empty(&mut self, now: Now) -> io::Result<bool> {
        for path in self.files(now)? {
            if let Some(file) = self.open_to_read(&path)?
                && !file.is_empty()?
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn read_oldest(&mut self, bytes_max: usize, now: Now) -> io::Result<Messages> {
        for path in self.files(now)? {
            self.end_if(&path)?;
            let Some(file) = self.open_to_read(&path)? else {
                continue;
            };
            let data = file.map()?;
            let known = self.oldest.take().filter(|oldest| oldest.path == path);
            let mut oldest = match known {
                Some(oldest) => oldest,
                None => Oldest::new(&path, &*self.disk, data.len())?,
            };
            let content = self.read_content(&path, &data, oldest.from, bytes_max);
            let is_nameless = !path.ends_with(BUFFER_ENDING) && !path.ends_with(FRAMED_ENDING);
            let has_none = oldest.from == 0 && content.ends.is_empty() && !data.is_empty();
            if is_nameless && has_none {
                self.set_aside(&path)?;
                continue;
            }
            let lost = content
                .lost
                .iter()
                .filter(|(place, _)| *place >= oldest.counted_to);
            let lost: u64 = lost.map(|(_, bytes)| bytes).sum();
            if lost > 0 {
                self.counters.add(&self.category, Counter::BytesLost, lost);
                warn!(
                    path,
                    bytes = lost,
                    "damaged bytes of a buffer file are left out"
                );
            }
            oldest.counted_to = oldest.counted_to.max(content.end);
            oldest.is_all = content.end == data.len();
            oldest.ends = content.ends;
            let has_messages = !oldest.ends.is_empty();
            self.oldest = Some(oldest);
            if has_messages {
                return Ok(content.messages);
            }
            self.delete_oldest(&path)?;
        }
        Ok(Messages::default())
    }

    fn marks(&mut self, now: Now) -> io::Result<Vec<u8>> {
        let oldest = self.oldest(now)?;
        let noted = oldest.and_then(|oldest| Some((oldest.from, oldest.note.as_ref()?)));
        Ok(noted.map_or_else(Vec::new, |(from, note)| note.marks(from)))
    }

    fn note_marks(&mut self, marks: &[u8], now: Now) -> io::Result<()> {
        let disk = Arc::clone(&self.disk);
        match self.oldest(now)? {
            Some(Oldest {
                from,
                note: Some(note),
                ..
            }) => note.write_marks(&*disk, *from, marks),
            // Nothing waits, or it waits in a file without checksums, of which a crash brings all messages again.
            _ => Ok(()),
        }
    }

    fn remove_if_empty(&mut self) {
        let Some(current) = self.current.take_if(|current| current.output.end() == 0) else {
            return;
        };
        self.begins_anew = true;
        // One that stays is used again at the next opening.
        if let Err(error) = self.disk.remove(current.output.path()) {
            warn!(%error, "the empty file of a buffer is not removed");
        }
    }

    fn remove_oldest(&mut self, count: usize) -> io::Result<bool> {
        let Some(oldest) = &mut self.oldest else {
            return Ok(false);
        };
        if count >= oldest.ends.len() && oldest.is_all {
            let path = oldest.path.clone();
            return self.delete_oldest(&path).map(|()| true);
        }
        let end = oldest.ends.get(count.wrapping_sub(1));
        if let Some(end) = end.or(oldest.ends.last().filter(|_| count > 0)) {
            oldest.from = *end;
            oldest.ends.drain(..count.min(oldest.ends.len()));
            if let Some(note) = &mut oldest.note
                && let Err(error) = note.write(&*self.disk, oldest.from)
            {
                let path = &oldest.path;
                warn!(path, %error, "the place in a buffer file is not noted: a crash will send messages of it again");
            }
        }
        Ok(false)
    }
}
