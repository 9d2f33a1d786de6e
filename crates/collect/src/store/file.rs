//! `file` and `thriftfile` stores, and the files of a buffer.
//!
//! # Example
//! `rotate_period=daily`, `max_size=200`, 100-byte messages with `add_newlines`; the folder after three batches of two messages:
//!
//! ```text
//! web-2026-11-23_00000    202 bytes: it ended behind the message that made it longer than max_size
//! web-2026-11-23_00001    202 bytes
//! web-2026-11-23_00002    202 bytes, ended
//! web-2026-11-23_00003    empty: a file begins when the one before it ends
//! web_current             a link to web-2026-11-23_00003
//! ```
//!
//! # Invariants
//! - Messages lie in the order of the batches: in the order of suffixes within a date, and of places within a file.
//! - A message lies in one file, once and whole, as long as the process lives: what a failed write left is cut off before the
//!   next. After a crash the collector gives again what no sync had covered. Half a message that the crash left in a text file
//!   with `add_newlines` becomes a line of its own: nothing tells how it went on, and it may be another program's.
//! - When `sync` returns, the bytes and the names of all files written so far are durable. A file that ends is synced at its end;
//!   an error of that is returned by the next `sync`.
//! - No message costs an allocation, and a batch costs one write unless `max_write_size` or `max_size` cuts it. The buffer for it
//!   belongs to the thread, not to the store.
//!
//! # Operations
//! `open` makes the folder and opens the newest file, or a new one where the form or `rotate_on_reopen` asks for it. `write`
//! appends, and begins a new file when time or size demand it. `look` does that too, also where no messages come, and notices
//! that a file was moved away. An error leaves a status text; the next attempt opens the file anew.

mod backlog;
mod checked;
mod form;
mod frames;
mod names;
mod output;
mod position;
mod schedule;

#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::io::{self, ErrorKind};
use std::sync::Arc;

use disk::Disk;
use tracing::warn;

use crate::config::{FileBase, FileConfig, RotatePeriod, ThriftFileConfig};
use crate::counters::{Counter, Counters};
use crate::message::{Message, Now};

use super::{Backlog, Store, Surroundings, Written, thrift_file};
use form::Form;
use names::Names;
use output::{Output, is_elsewhere};
use position::Note;
use schedule::Opened;

/// A thread keeps its write buffer up to this size. Bytes.
const BUFFER_BYTES_KEPT: usize = 4 << 20;

thread_local! {
    static BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// A store whose messages end in files of one folder.
pub struct FileStore {
    disk: Arc<dyn Disk>,
    counters: Arc<Counters>,
    category: Box<[u8]>,
    names: Names,
    base: FileBase,
    form: Form,
    /// A write is made at this number of messages.
    messages_max: u64,
    /// Steady time between two syncs that the store makes on its own; 0: none. Microseconds.
    sync_us: u64,
    synced_us: u64,
    current: Option<Current>,
    /// The next opening begins a new file.
    begins_anew: bool,
    is_written: bool,
    /// Messages that the form cannot hold, since the last sync: lost once that succeeds. Else they come again.
    refused: u64,
    /// Folders with names that no sync covers.
    unsynced: Vec<String>,
    sync_failed: Option<io::Error>,
    failed: Option<String>,
    /// Why the last sync failed; `None`: it did not.
    not_synced: Option<String>,
    /// A folder with files of this store for which no sync succeeds, and why.
    unsyncable: Option<String>,
    /// The buffer file that was read last, and whether its damage is counted.
    oldest: Option<backlog::Oldest>,
}

/// The file that is written to.
struct Current {
    output: Output,
    messages: u64,
    opened: Opened,
}

/// A store for the files of a buffer: with checksums, never rotated by time, without link and chunks. Its [`Store::backlog`] reads them.
/// `add_newlines` does not count, so that messages come back as they came. `write_category` counts for files of Scribe alone.
///
/// # Errors
/// As [`super::build`].
pub fn buffer_file(
    config: &FileConfig,
    category: &[u8],
    copies: usize,
    surroundings: &Surroundings,
) -> Result<FileStore, String> {
    let base = FileBase {
        rotate_period: RotatePeriod::Never,
        create_symlink: false,
        write_meta: false,
        chunk_size: 0,
        ..config.base.clone()
    };
    FileStore::with_form(base, Form::Checked, category, copies, surroundings)
}

impl FileStore {
    /// A `file` store.
    pub(super) fn new(
        config: &FileConfig,
        category: &[u8],
        copies: usize,
        surroundings: &Surroundings,
    ) -> Result<FileStore, String> {
        let form = Form::Plain {
            has_category: config.base.write_category,
            has_newline: config.add_newlines,
            chunk_bytes: config.base.chunk_size,
        };
        FileStore::with_form(config.base.clone(), form, category, copies, surroundings)
    }

    /// A `thriftfile` store.
    pub(super) fn thrift(
        config: &ThriftFileConfig,
        category: &[u8],
        copies: usize,
        surroundings: &Surroundings,
    ) -> Result<FileStore, String> {
        let or = |value: u64, default: u64| if value == 0 { default } else { value };
        let form = match config.use_simple_file {
            true => Form::Bare,
            false => Form::Events {
                chunk_bytes: or(config.base.chunk_size, thrift_file::CHUNK_BYTES),
            },
        };
        let base = FileBase {
            write_meta: false,
            ..config.base.clone()
        };
        let mut store = FileStore::with_form(base, form, category, copies, surroundings)?;
        store.messages_max = or(config.msg_buffer_size, thrift_file::EVENTS_BUFFERED);
        store.sync_us = or(config.flush_frequency_ms, thrift_file::FLUSH_MS).saturating_mul(1_000);
        Ok(store)
    }

    fn with_form(
        base: FileBase,
        form: Form,
        category: &[u8],
        copies: usize,
        surroundings: &Surroundings,
    ) -> Result<FileStore, String> {
        Ok(FileStore {
            disk: Arc::clone(&surroundings.disk),
            counters: Arc::clone(&surroundings.counters),
            category: category.into(),
            names: Names::new(&base, form.ending(), category, copies, surroundings)?,
            begins_anew: base.rotate_on_reopen || form.begins_anew(),
            base,
            form,
            messages_max: u64::MAX,
            sync_us: 0,
            synced_us: 0,
            current: None,
            is_written: false,
            refused: 0,
            unsynced: Vec::new(),
            sync_failed: None,
            failed: None,
            not_synced: None,
            unsyncable: None,
            oldest: None,
        })
    }

    /// Makes the current file ready for a write, or opens one.
    fn ready(&mut self, now: Now) -> io::Result<()> {
        if let Some(current) = &mut self.current {
            match current.output.ready(&*self.disk) {
                Err(error) if is_elsewhere(&error) => self.end(),
                ready => return ready,
            }
        }
        self.begin(self.begins_anew, now)
    }

    /// Opens the newest file of the day, or a new one, and ends the current file.
    fn begin(&mut self, is_new: bool, now: Now) -> io::Result<()> {
        self.make_folder()?;
        let stem = self.names.stem(now);
        let newest = self.names.files(&*self.disk, &stem)?.pop();
        let mut name = match &newest {
            Some((_, name)) if self.goes_on(name, is_new)? => name.clone(),
            Some((suffix, _)) => self.names.file(&stem, suffix + 1),
            None if is_new || !self.form.begins_at_the_hour() => self.names.file(&stem, 0),
            None => self.names.file(&stem, self.names.first_suffix(now)),
        };
        // The category `web/web_00007` makes a folder where the category `web` may have its next file. A link there may lead to
        // any file that this process may write to.
        let mut opened = Output::open(&*self.disk, &self.names.path(&name));
        if let (Err(error), Some((suffix, _))) = (&opened, newest)
            && matches!(
                error.kind(),
                ErrorKind::IsADirectory | ErrorKind::InvalidInput
            )
        {
            warn!(%error, "a store takes its next file, since the name of this one is taken");
            name = self.names.file(&stem, suffix + 1);
            opened = Output::open(&*self.disk, &self.names.path(&name));
        }
        self.say_goodbye(&self.names.path(&name), now);
        self.end();
        self.begins_anew |= is_new;
        let path = self.names.path(&name);
        self.oldest.take_if(|oldest| oldest.path == path); // that file was removed by others
        let mut output = opened?;
        self.wait_for_sync(&self.names.folder.clone());
        if self.form == Form::Checked && output.end() == 0 {
            Note::of(&path).remove(&*self.disk)?; // of an earlier file of this name
        }
        if self.form.ends_lines() {
            output.end_line(&*self.disk)?;
        }
        self.begins_anew = false;
        if let Some(link) = &self.names.link
            && let Err(error) = self.disk.symlink(&name, link)
        {
            warn!(%link, %error, "the link to the newest file of a store was not made");
        }
        self.current = Some(Current {
            output,
            messages: 0,
            opened: Opened::new(&self.base, now),
        });
        Ok(())
    }

    /// Whether the newest file is written to. Where a new one is due, a buffer goes on with a file that has nothing in it.
    fn goes_on(&self, newest: &str, is_new: bool) -> io::Result<bool> {
        let is_own = newest.ends_with(self.form.ending());
        if !is_new {
            return Ok(is_own);
        }
        if !is_own || self.form != Form::Checked || self.current.is_some() {
            return Ok(false);
        }
        match self.disk.open_no_link(&self.names.path(newest)) {
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::IsADirectory | ErrorKind::InvalidInput
                ) =>
            {
                Ok(false)
            }
            file => file?.is_empty(),
        }
    }

    /// Makes the folder. Its name and those of its parents that were made wait for a sync. A folder in which nothing was made does
    /// not: it may be one that no sync ever succeeds for.
    fn make_folder(&mut self) -> io::Result<()> {
        let folder = self.names.folder.clone();
        let parent = |path: &str| path.rfind('/').unwrap_or(0);
        let mut end = folder.len();
        let mut missing = Vec::new();
        while end > 0 && !self.disk.exists(&folder[..end])? {
            missing.push(end);
            end = parent(&folder[..end]);
        }
        for end in missing.into_iter().rev() {
            self.disk.create_dir(&folder[..end])?;
            self.wait_for_sync(&folder[..parent(&folder[..end])]);
        }
        Ok(())
    }

    /// The names in a folder wait for a sync.
    fn wait_for_sync(&mut self, folder: &str) {
        if !self.unsynced.iter().any(|unsynced| unsynced == folder) {
            self.unsynced.push(folder.to_owned());
        }
    }

    /// Writes the lines that the end of a file brings. They are worth no failure: messages go on without them.
    fn say_goodbye(&mut self, next: &str, now: Now) {
        let Some(current) = &mut self.current else {
            return;
        };
        let (file, stats) = (current.output.path(), self.names.path("scribe_stats"));
        let stats_line = format!(
            "{}-{} wrote <{}> bytes in <{}> events to file </{file}>\n",
            names::date(now),
            names::hour_and_minute(now),
            current.output.end(),
            current.messages,
        );
        let disk = &*self.disk;
        let mut written = Ok(());
        if self.base.write_stats {
            written = Output::open(disk, &stats)
                .and_then(|mut stats| stats.write(disk, stats_line.as_bytes()));
        }
        if self.base.write_meta {
            let newline = if self.form.ends_lines() { "\n" } else { "" };
            let meta_line = format!("scribe_meta<new_logfile>: /{next}{newline}");
            let meta = current.output.ready(disk);
            let meta = meta.and_then(|()| current.output.write(disk, meta_line.as_bytes()));
            written = written.and(meta);
        }
        if let Err(error) = written {
            warn!(path = current.output.path(), %error, "a line at the end of a file was not written");
        }
    }

    /// Ends the current file. It is synced here, since `sync` will not know it any more.
    fn end(&mut self) {
        if let Some(mut current) = self.current.take()
            && let Err(error) = current.output.sync(&*self.disk)
        {
            self.sync_failed.get_or_insert(error);
        }
    }

    fn is_over(&self, now: Now) -> bool {
        self.current.as_ref().is_some_and(|current| {
            self.is_long(current.output.end()) || current.opened.is_over(&self.base, now)
        })
    }

    fn is_long(&self, bytes: u64) -> bool {
        self.base.max_size > 0 && bytes > self.base.max_size
    }

    /// Opens, and begins a new file if it is time.
    fn prepare(&mut self, now: Now) -> io::Result<()> {
        self.ready(now)?;
        if self.is_over(now) {
            self.begin(true, now)?;
        }
        Ok(())
    }

    /// Writes the batch; `taken` counts what is in files.
    fn append(
        &mut self,
        batch: &[Message<'_>],
        buffer: &mut Vec<u8>,
        taken: &mut usize,
        now: Now,
    ) -> Result<(), String> {
        buffer.clear();
        let mut refused = 0;
        for (index, message) in batch.iter().enumerate() {
            let Some(current) = &mut self.current else {
                return Err("File write error: no file is open".to_owned());
            };
            let start = current.output.end();
            refused += u64::from(!self.form.append(message, start, buffer));
            let (count, is_last) = (index + 1, index + 1 == batch.len());
            let messages = (count - *taken) as u64;
            let bytes = buffer.len() as u64;
            let is_full = bytes > self.base.max_write_size || messages >= self.messages_max;
            let is_long = self.base.max_size > 0 && start + bytes > self.base.max_size;
            if !(is_full || is_long || is_last) {
                continue;
            }
            let written = current.output.write(&*self.disk, buffer);
            written.map_err(|error| format!("File write error: {error}"))?;
            current.messages += messages;
            buffer.clear();
            *taken = count;
            self.refused += std::mem::take(&mut refused);
            if is_long && let Err(error) = self.begin(true, now) {
                let failed = format!("File open error: {error}");
                self.failed = Some(failed.clone());
                if !is_last {
                    return Err(failed);
                }
            }
        }
        Ok(())
    }

    /// Syncs on its own, as a `thriftfile` does.
    fn flush(&mut self, now: Now) {
        let Some(current) = &mut self.current else {
            self.synced_us = now.steady_us;
            return;
        };
        if !current.output.is_dirty() {
            self.synced_us = now.steady_us;
        } else if self.sync_us > 0 && now.steady_us.saturating_sub(self.synced_us) >= self.sync_us {
            self.synced_us = now.steady_us;
            if let Err(error) = current.output.sync(&*self.disk) {
                self.sync_failed.get_or_insert(error);
            }
        }
    }
}

/// Whether no later sync of the folder can succeed: this process may not read it, or its file system has no such call. Its
/// files are synced all the same. Were this a failure, the messages would come again, and be written again, for ever.
fn is_never_synced(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::PermissionDenied | ErrorKind::InvalidInput | ErrorKind::Unsupported
    )
}

impl Store for FileStore {
    fn open(&mut self, now: Now) -> Result<(), String> {
        let ready = self
            .ready(now)
            .map_err(|error| format!("File open error: {error}"));
        self.failed = ready.clone().err();
        ready
    }

    fn open_again(&mut self, now: Now) {
        if self.base.rotate_on_reopen || self.form.begins_anew() {
            let begun = self.begin(true, now);
            let failed = begun.map_err(|error| format!("File open error: {error}"));
            self.failed = failed.err();
        }
    }

    fn write(&mut self, batch: &[Message<'_>], now: Now) -> Written {
        let (mut taken, mut failed) = (0, None);
        if batch.is_empty() {
            return Written { taken, failed };
        }
        self.failed = None;
        self.is_written = true;
        self.flush(now);
        match self.prepare(now) {
            Err(error) => failed = Some(format!("File open error: {error}")),
            Ok(()) => {
                let mut buffer = BUFFER.take();
                failed = self.append(batch, &mut buffer, &mut taken, now).err();
                if buffer.capacity() <= BUFFER_BYTES_KEPT {
                    BUFFER.set(buffer);
                }
            }
        }
        if failed.is_some() {
            self.failed.clone_from(&failed);
        }
        if let Some(current) = &mut self.current {
            current.output.release(false);
        }
        Written { taken, failed }
    }

    fn look(&mut self, now: Now) {
        let is_written = std::mem::replace(&mut self.is_written, false);
        let Some(current) = &mut self.current else {
            if self.failed.is_some() {
                let _ = self.open(now); // the status text says why not
            }
            return;
        };
        let mut looked = current.output.is_in_place(&*self.disk);
        if let Ok(false) = looked {
            self.end();
            looked = self.ready(now).map(|()| true);
        }
        if looked.is_ok() && self.is_over(now) {
            looked = self.prepare(now).map(|()| true);
        }
        if let Err(error) = looked {
            self.failed = Some(format!("File open error: {error}"));
        }
        self.flush(now);
        if let Some(current) = &mut self.current {
            current
                .output
                .release(!is_written && !current.output.is_dirty());
        }
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut synced = self.sync_failed.take().map_or(Ok(()), Err);
        if let Some(current) = &mut self.current {
            synced = synced.and(current.output.sync(&*self.disk));
        }
        let mut unsynced = std::mem::take(&mut self.unsynced);
        unsynced.retain(|folder| match self.disk.sync_dir(folder) {
            Ok(()) => false,
            Err(error) if is_never_synced(&error) => {
                warn!(folder, %error, "a folder of files cannot be synced: a power cut may take the names of new files in it");
                self.unsyncable = Some(format!("the folder /{folder} cannot be synced: {error}"));
                false
            }
            Err(error) => {
                let is_gone = error.kind() == ErrorKind::NotFound;
                synced = std::mem::replace(&mut synced, Ok(())).and(Err(error));
                !is_gone
            }
        });
        self.unsynced.extend(unsynced);
        let refused = std::mem::take(&mut self.refused);
        if synced.is_ok() {
            self.counters.add(&self.category, Counter::Lost, refused);
        }
        let failed = synced.as_ref().err();
        self.not_synced = failed.map(|error| format!("File sync error: {error}"));
        synced
    }

    fn status(&self) -> Option<String> {
        let failed = self.failed.as_ref().or(self.not_synced.as_ref());
        failed.or(self.unsyncable.as_ref()).cloned()
    }

    fn backlog(&mut self) -> Option<&mut dyn Backlog> {
        match self.form {
            Form::Checked => Some(self),
            Form::Plain { .. } | Form::Events { .. } | Form::Bare => None,
        }
    }

    fn close(&mut self, _: Now) {
        if let Err(error) = self.keep_place_of_oldest() {
            warn!(%error, "messages of a buffer file will be sent again");
        }
        self.end();
        let refused = std::mem::take(&mut self.refused);
        self.counters.add(&self.category, Counter::Lost, refused);
    }
}
