//! Progress of a verb on standard error: on a terminal one line, written over and over.

use std::io::{IsTerminal, Write, stderr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::demo::{bar, grouped, push_clean};
use crate::window::columns;

/// Least time between two changes of the line.
const REDRAWN_EVERY: Duration = Duration::from_millis(200);

/// Time between two lines without a terminal.
const SAID_EVERY: Duration = Duration::from_secs(10);

/// Columns of a bar.
const BAR_COLUMNS: usize = 20;

/// Columns of a window that does not tell them.
const COLUMNS: usize = 80;

/// A line of progress.
pub(crate) struct Progress {
    is_terminal: bool,
    /// Time between two showings; `None`: nothing is shown.
    every: Option<Duration>,
    shown: Instant,
}

impl Progress {
    /// Progress that only a terminal shows.
    pub(crate) fn on_terminal() -> Progress {
        let is_terminal = stderr().is_terminal();
        Progress {
            is_terminal,
            every: is_terminal.then_some(REDRAWN_EVERY),
            shown: Instant::now(),
        }
    }

    /// Progress that is a line of its own, every ten seconds, where there is no terminal.
    pub(crate) fn everywhere() -> Progress {
        let progress = Progress::on_terminal();
        Progress {
            every: progress.every.or(Some(SAID_EVERY)),
            ..progress
        }
    }

    /// Whether it is time to show something.
    pub(crate) fn is_due(&self) -> bool {
        self.every
            .is_some_and(|every| self.shown.elapsed() >= every)
    }

    /// Shows the text if it is time.
    pub(crate) fn show(&mut self, text: &str) {
        if !self.is_due() {
            return;
        }
        self.shown = Instant::now();
        let mut line = String::new();
        push_clean(&mut line, text);
        if !self.is_terminal {
            return put(&(line + "\n"));
        }
        // A line that is wider than the window would scroll it.
        let room = columns(stderr()).unwrap_or(COLUMNS).saturating_sub(1);
        let line: String = line.chars().take(room).collect();
        put(&format!("\r\x1b[K{line}"));
    }

    /// Empties the line of a terminal.
    pub(crate) fn clear(&self) {
        if self.is_terminal {
            put("\r\x1b[K");
        }
    }
}

/// Progress of reading files, by their bytes.
pub(crate) struct Reading {
    progress: Progress,
    /// Bytes of all files; `None`: not known, such as of a pipe.
    total: Option<u64>,
    /// Those that were read.
    read: Arc<AtomicU64>,
    began: Instant,
}

impl Reading {
    pub(crate) fn new(progress: Progress, total: Option<u64>, read: &Arc<AtomicU64>) -> Reading {
        Reading {
            progress,
            total,
            read: Arc::clone(read),
            began: Instant::now(),
        }
    }

    /// Shows the part that was read, and the rate of `things`, if it is time. `number` counts them.
    pub(crate) fn show(&mut self, things: &str, number: impl FnOnce() -> u64) {
        if !self.progress.is_due() {
            return;
        }
        let elapsed = self.began.elapsed();
        let part = self.total.map(|total| Part {
            done: self.read.load(Ordering::Relaxed),
            total,
            before: 0,
            elapsed,
        });
        let part = part.map_or_else(String::new, |part| format!("{}, ", part.text()));
        let rate = rate(number(), things, elapsed);
        self.progress.show(&format!("{part}{rate}"));
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.progress.clear();
    }
}

/// Part of a work in bytes, and its time so far.
#[derive(Clone, Copy)]
pub(crate) struct Part {
    /// Bytes that are done.
    pub(crate) done: u64,
    /// Bytes of the whole work.
    pub(crate) total: u64,
    /// Bytes of `done` that an earlier run did, which tell nothing of the rate.
    pub(crate) before: u64,
    /// Time since this run began.
    pub(crate) elapsed: Duration,
}

impl Part {
    /// The share as a bar and a number, and the time that the rest takes at the rate so far.
    pub(crate) fn text(self) -> String {
        let total = self.total.max(1);
        let done = self.done.min(total);
        let rate = done.saturating_sub(self.before) as f64 / self.elapsed.as_secs_f64().max(0.001);
        let seconds = ((total - done) as f64 / rate.max(1.0)).ceil() as u64;
        let bar = bar(done, total, BAR_COLUMNS);
        let percent = u128::from(done) * 100 / u128::from(total);
        format!(
            "{bar} {percent} %, {}:{:02} left",
            seconds / 60,
            seconds % 60
        )
    }
}

/// `number` of things in a time, such as `1,200 in 3.0 s, 400/s`.
pub(crate) fn rate(number: u64, things: &str, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64().max(0.001);
    let each_second = grouped((number as f64 / seconds) as u64);
    format!(
        "{} {things} in {seconds:.1} s, {each_second}/s",
        grouped(number)
    )
}

/// Writes to standard error. Ignores a terminal that is gone: the work goes on.
fn put(text: &str) {
    let mut stderr = stderr().lock();
    let _ = write!(stderr, "{text}").and_then(|()| stderr.flush());
}

#[cfg(test)]
mod tests;
