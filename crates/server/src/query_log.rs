//! The file and the table of the query log: one thread takes entries, many at a time, so that no search waits for a disk.
//!
//! It is opened to append, so a program that copies and truncates it (logrotate's `copytruncate`) loses no line behind the copy. After
//! a rename (logrotate's `create`), SIGHUP or SIGUSR1, the next line goes to a new file of the name.
//!
//! A line is whole or not there: what a write on a full disk, or an end in its midst, left of one is taken away again.

mod sizes;
mod table;
#[cfg(test)]
mod tests;

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use relation::value::Value;
use session::limits::LOGGED_TEXT_BYTES_MAX;
use session::query_log::{Entries, LoggedAt, QueryLog};
use study::log::line::{write_json, write_lost, write_plain, write_sphinxql};
use study::log::{Entry, Form, LogTime};

use crate::limits::{
    QUERY_LOG_BUFFER_BYTES, QUERY_LOG_END_WITHIN, QUERY_LOG_EVERY, QUERY_LOG_LINE_BYTES_MAX,
};
use crate::server::Server;
use sizes::Sizes;

/// The thread that writes the log, as the rest of the server sees it. The default is without one.
#[derive(Default)]
pub(crate) struct QueryLogFile {
    asked: Arc<Asked>,
    /// Is closed when the thread ends; `None`: there is no thread.
    ended: Option<Receiver<()>>,
}

/// What the thread is asked; it looks every [`QUERY_LOG_EVERY`].
#[derive(Default)]
struct Asked {
    reopens: AtomicBool,
    ends: AtomicBool,
}

impl QueryLogFile {
    /// Opens the file that the settings name, and starts its thread and that of the table, if they name one of them.
    pub(crate) fn begin(server: &Arc<Server>) -> Result<QueryLogFile, String> {
        let (settings, asked) = (server.settings(), Arc::<Asked>::default());
        let mut ended = None;
        let log = &server.query_log;
        log.set_least(settings.live.query_log_least_ms);
        let lines = settings.query_log.clone().map(|path| {
            let failed = |error| format!("query_log: cannot write {}: {error}", path.display());
            let file = Some(LogFile::open(&path).map_err(failed)?);
            let (form, sizes) = (
                settings.query_log_format,
                Sizes::new(Arc::downgrade(server)),
            );
            Ok::<_, String>(Lines::new(path, form, file, sizes))
        });
        let lines = lines.transpose()?;
        let table = settings.query_log_table.clone();
        if lines.is_some() || table.is_some() {
            let entries = log.begin(table.clone());
            let writer = Writer {
                lines,
                rows: table.map(|table| table::keep(server, table)),
                log: Arc::clone(log),
                asked: Arc::clone(&asked),
            };
            if let Some(entries) = entries {
                let named = std::thread::Builder::new().name("query log".to_owned());
                let (ends, at_end) = sync_channel::<()>(0);
                let run = move || {
                    writer.run(&entries);
                    drop(ends);
                };
                let started = named.spawn(run);
                started.map_err(|error| format!("cannot start a thread: {error}"))?;
                ended = Some(at_end);
            }
        }
        Ok(QueryLogFile { asked, ended })
    }

    /// Opens the file anew before the next line.
    pub(crate) fn reopen(&self) {
        self.asked.reopens.store(true, Ordering::Relaxed);
    }

    /// Writes what waits, and ends the thread. A disk that hangs holds the end up for [`QUERY_LOG_END_WITHIN`] at most.
    pub(crate) fn end(&self) {
        self.asked.ends.store(true, Ordering::Relaxed);
        if let Some(ended) = &self.ended
            && ended.recv_timeout(QUERY_LOG_END_WITHIN) == Err(RecvTimeoutError::Timeout)
        {
            tracing::warn!(
                "the last lines of the query log are not written: its disk does not answer"
            );
        }
    }
}

/// What takes the entries: a file, a table or both.
struct Writer {
    lines: Option<Lines>,
    rows: Option<SyncSender<Vec<Value>>>,
    log: Arc<QueryLog>,
    asked: Arc<Asked>,
}

impl Writer {
    /// Takes entries until it is asked to end, many at a time: a thread that waits for each entry would be woken for each, which
    /// costs more than the entry.
    fn run(mut self, entries: &Entries) {
        loop {
            let ends = self.asked.ends.load(Ordering::Relaxed);
            while let Some(block) = entries.next() {
                for logged in block.iter() {
                    self.take(logged);
                }
            }
            if let Some(lines) = self.lines.as_mut().filter(|lines| lines.count > 0) {
                lines.write(&self.log, &self.asked);
            }
            if ends {
                return;
            }
            entries.wait(QUERY_LOG_EVERY);
        }
    }

    fn take(&mut self, logged: LoggedAt<'_>) {
        let mut entry = logged.entry();
        if let Some(rows) = &self.rows
            && rows.try_send(table::row(logged.unix_us(), &entry)).is_err()
        {
            self.log.lose_rows(1);
        }
        if let Some(lines) = &mut self.lines {
            lines.put(logged.unix_us(), &mut entry);
            if lines.waiting.len() >= QUERY_LOG_BUFFER_BYTES {
                lines.write(&self.log, &self.asked);
            }
        }
    }
}

/// The lines of a file.
struct Lines {
    path: PathBuf,
    form: Form,
    /// The zone of the lines' times, which is that of the machine.
    zone: TimeZone,
    /// The minute since 1970 of the last line, and by how many seconds the zone is ahead of UTC in it.
    ahead: (i64, i32),
    /// `None`: it could not be opened.
    file: Option<LogFile>,
    /// Of the tables, for the entries that are taken together.
    sizes: Sizes,
    /// Lines that are not written.
    waiting: Vec<u8>,
    /// How many entries they are of.
    count: u64,
    /// Lost entries of which a line has told.
    told_lost: u64,
    /// Whether the last write failed, and the server's log says so.
    is_failing: bool,
}

impl Lines {
    fn new(path: PathBuf, form: Form, file: Option<LogFile>, sizes: Sizes) -> Lines {
        Lines {
            path,
            form,
            zone: TimeZone::system(),
            ahead: (i64::MIN, 0),
            file,
            sizes,
            waiting: Vec::new(),
            count: 0,
            told_lost: 0,
            is_failing: false,
        }
    }

    /// Appends the line of an entry.
    fn put(&mut self, unix_us: i64, entry: &mut Entry<'_>) {
        self.count += 1;
        let minute = unix_us.div_euclid(60_000_000);
        if minute != self.ahead.0 {
            // A zone changes at whole minutes. It is asked once in each: that costs more than a line.
            let at = Timestamp::from_second(minute.saturating_mul(60));
            let offset = self.zone.to_offset(at.unwrap_or(Timestamp::UNIX_EPOCH));
            self.ahead = (minute, offset.seconds());
        }
        let ahead_s = self.ahead.1;
        let size = self.sizes.of(&entry.tables);
        let local_ms = unix_us.div_euclid(1_000) + i64::from(ahead_s) * 1_000;
        entry.time = LogTime {
            local_ms,
            offset_minutes: i16::try_from(ahead_s / 60).ok(),
        };
        entry.table_bytes = size.map(|(bytes, _)| bytes);
        entry.table_parts = size.map(|(_, parts)| parts);
        let lines = &mut self.waiting;
        match self.form {
            // Sphinx writes no line for a query that failed, and a plain line has no place for the message.
            Form::Plain if entry.error.is_some() => {}
            Form::Plain => write_plain(entry, LOGGED_TEXT_BYTES_MAX, lines),
            Form::Sphinxql => write_sphinxql(entry, LOGGED_TEXT_BYTES_MAX, lines),
            Form::Json => write_json(entry, LOGGED_TEXT_BYTES_MAX, lines),
        }
    }

    /// Writes what waits, behind a line that tells how many entries were lost before.
    fn write(&mut self, log: &QueryLog, asked: &Asked) {
        let is_asked = asked.reopens.swap(false, Ordering::Relaxed);
        let is_gone = self
            .file
            .as_ref()
            .is_none_or(|file| !file.is_at(&self.path));
        let mut why = None;
        if is_asked || is_gone {
            match LogFile::open(&self.path) {
                Ok(file) => self.file = Some(file),
                Err(error) => why = Some(error),
            }
        }
        let lost = log.lost();
        if lost > self.told_lost {
            let mut told = Vec::new();
            write_lost(self.form, lost - self.told_lost, &mut told);
            self.waiting.splice(..0, told);
        }
        let written = match (&mut self.file, why) {
            (_, Some(error)) => Err(error),
            (None, None) => Err(io::ErrorKind::NotFound.into()),
            (Some(file), None) => file.append(&self.waiting),
        };
        self.waiting.clear();
        self.sizes.forget_old();
        let count = std::mem::take(&mut self.count);
        match written {
            Ok(()) => {
                self.told_lost = lost;
                if std::mem::take(&mut self.is_failing) {
                    tracing::info!("the query log is written again");
                }
            }
            Err(error) => {
                log.lose(count);
                if !std::mem::replace(&mut self.is_failing, true) {
                    let path = self.path.display();
                    tracing::warn!(%path, %error, "the query log cannot be written: its lines are lost until it can");
                }
            }
        }
    }
}

/// The open file.
struct LogFile {
    file: File,
    /// Device and inode, to see a rename.
    place: (u64, u64),
}

impl LogFile {
    /// Opens a file to append, or makes it for its owner alone. What an end of the server left of its last line is taken away.
    fn open(path: &Path) -> io::Result<LogFile> {
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true).mode(0o600);
        let mut file = options.open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            let what = "it is no regular file";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        cut_half_line(&mut file, metadata.len())?;
        Ok(LogFile {
            file,
            place: (metadata.dev(), metadata.ino()),
        })
    }

    /// Whether the path still names this file.
    fn is_at(&self, path: &Path) -> bool {
        path.metadata()
            .is_ok_and(|now| (now.dev(), now.ino()) == self.place)
    }

    /// Appends all lines or nothing.
    fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        let before = self.file.metadata()?.len();
        self.file.write_all(lines).inspect_err(|_| {
            // What was written of a line would be read as half of one. Another program may have cut the file meanwhile.
            let now = self.file.metadata().map_or(0, |now| now.len());
            if now > before {
                let _ = self.file.set_len(before); // the write's own error is told
            }
        })
    }
}

/// Takes away what stands behind the last end of a line, if it begins as our lines do and is no longer than one may be.
fn cut_half_line(file: &mut File, length: u64) -> io::Result<()> {
    let most = QUERY_LOG_LINE_BYTES_MAX;
    let from = length.saturating_sub(most);
    let mut tail = Vec::new();
    file.seek(SeekFrom::Start(from))?;
    file.take(most).read_to_end(&mut tail)?;
    let behind = tail
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map(|at| at + 1);
    let ours = [&b"["[..], b"/* ", b"{\"", b"# "];
    let half = &tail[behind.unwrap_or(0)..];
    if behind.is_none() && from > 0 || !ours.iter().any(|head| half.starts_with(head)) {
        return Ok(()); // whole, or none of our lines: it stays
    }
    file.set_len(length - half.len() as u64)
}
