//! Reading a buffer's files back, the oldest first.

use std::io::{self, ErrorKind};

use disk::replace_file;
use engine::Messages;
use tracing::warn;

use crate::counters::Counter;
use crate::message::Now;
use crate::store::Backlog;

use super::FileStore;
use super::frames;
use super::names::BUFFER_ENDING;

impl FileStore {
    /// Paths of all files, the oldest first.
    fn files(&self, now: Now) -> io::Result<Vec<String>> {
        let files = self.names.files(&*self.disk, &self.names.stem(now))?;
        let names = files.iter().map(|(_, name)| name);
        Ok(names.map(|name| self.names.path(name)).collect())
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
}

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
}

impl FileStore {
    /// Deletes the oldest file.
    fn delete_oldest(&mut self, path: &str) -> io::Result<()> {
        self.oldest = None;
        match self.disk.remove(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => self.disk.sync_dir(&self.names.folder),
        }
    }

    /// Makes the place in the oldest file durable: the file keeps only what is not removed.
    pub(super) fn keep_rest_of_oldest(&mut self) -> io::Result<()> {
        match self.oldest.take() {
            Some(oldest) if oldest.from > 0 => {
                let data = self.disk.open(&oldest.path)?.map()?;
                let rest = data.get(oldest.from..).unwrap_or_default();
                replace_file(&*self.disk, &oldest.path, rest)
            }
            _ => Ok(()),
        }
    }
}

impl Backlog for FileStore {
    fn is_empty(&mut self, now: Now) -> io::Result<bool> {
        for path in self.files(now)? {
            if !self.disk.open(&path)?.is_empty()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn read_oldest(&mut self, bytes_max: usize, now: Now) -> io::Result<Messages> {
        for path in self.files(now)? {
            self.end_if(&path)?;
            let data = self.disk.open(&path)?.map()?;
            let known = self.oldest.take().filter(|oldest| oldest.path == path);
            let (from, counted_to) =
                known.map_or((0, 0), |oldest| (oldest.from, oldest.counted_to));
            let has_category = path.ends_with(BUFFER_ENDING)
                || self.base.write_category
                || self.category.is_empty();
            let category = (!has_category).then_some(&*self.category);
            let content = frames::read(&data, from, bytes_max, category);
            let lost = content
                .lost
                .iter()
                .filter(|(place, _)| *place >= counted_to);
            let lost: u64 = lost.map(|(_, bytes)| bytes).sum();
            if lost > 0 {
                self.counters.add(&self.category, Counter::BytesLost, lost);
                warn!(
                    path,
                    bytes = lost,
                    "damaged bytes of a buffer file are left out"
                );
            }
            if content.ends.is_empty() {
                self.delete_oldest(&path)?; // it holds no message
                continue;
            }
            self.oldest = Some(Oldest {
                path,
                from,
                ends: content.ends,
                is_all: content.end == data.len(),
                counted_to: counted_to.max(content.end),
            });
            return Ok(content.messages);
        }
        Ok(Messages::default())
    }

    fn remove_oldest(&mut self, count: usize) -> io::Result<bool> {
        let Some(oldest) = &mut self.oldest else {
            return Ok(false);
        };
        if count >= oldest.ends.len() && oldest.is_all {
            let path = oldest.path.clone();
            return self.delete_oldest(&path).map(|()| true);
        }
        if let Some(end) = oldest
            .ends
            .get(count.wrapping_sub(1))
            .or(oldest.ends.last().filter(|_| count > 0))
        {
            oldest.from = *end;
            oldest.ends.drain(..count.min(oldest.ends.len()));
        }
        Ok(false)
    }
}
