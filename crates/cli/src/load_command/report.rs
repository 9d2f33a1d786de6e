//! Counts, progress and errors of a load.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use crate::demo::grouped;
use crate::progress::{Part, Progress, rate};

/// Most bad rows that are reported one by one. The others are only counted.
const TOLD_MAX: usize = 20;

/// First rows of a file that are all refused for one reason, after which the load stops: a wrong first line is wrong for all rows.
pub(super) const ALIKE_MAX: u64 = 100;

/// Counts of one load.
pub(super) struct Report {
    began: Instant,
    file: String,
    /// Size of the file and count of bytes read; `None`: the size is not known.
    bytes: Option<(u64, Arc<AtomicU64>)>,
    file_began: Instant,
    /// Count of bytes that were skipped when the load was continued.
    bytes_before: u64,
    stored: u64,
    bad: u64,
    /// The first refused rows: file, line, reason.
    told: Vec<(String, u64, String)>,
    /// Warnings by text, each with its count and the place of the first.
    warnings: BTreeMap<String, (u64, String)>,
    /// Count of standing queries without an anchor, which are tried on every document.
    without_word: u64,
    /// The rows of the file so far: how many were refused for this one reason. `None`: one was stored, or refused for another.
    alike: Option<(u64, String)>,
    progress: Progress,
}

impl Report {
    pub(super) fn new(began: Instant) -> Report {
        Report {
            began,
            file: String::new(),
            bytes: None,
            file_began: began,
            bytes_before: 0,
            stored: 0,
            bad: 0,
            told: Vec::new(),
            warnings: BTreeMap::new(),
            without_word: 0,
            alike: None,
            progress: Progress::everywhere(),
        }
    }

    /// Begins or continues a file. `goes_on`: rows of it were stored before.
    pub(super) fn begin(
        &mut self,
        file: &str,
        total: Option<u64>,
        read: &Arc<AtomicU64>,
        goes_on: bool,
    ) {
        file.clone_into(&mut self.file);
        self.alike = (!goes_on).then(|| (0, String::new()));
        self.bytes = total.map(|total| (total, Arc::clone(read)));
        self.bytes_before = read.load(Ordering::Relaxed);
        self.file_began = Instant::now();
    }

    pub(super) fn stored(&mut self, rows: u64) {
        self.stored += rows;
        self.alike = None;
    }

    /// The reason for which all rows of the file were refused, once they are [`ALIKE_MAX`]: the others will be, too.
    pub(super) fn hopeless(&self) -> Option<&str> {
        match &self.alike {
            Some((rows, reason)) if *rows >= ALIKE_MAX => Some(reason),
            _ => None,
        }
    }

    /// Refuses to go on with a file of which all rows will be refused.
    pub(super) fn end_if_hopeless(&self) -> Result<(), String> {
        match self.hopeless() {
            None => Ok(()),
            Some(reason) => Err(format!(
                "{}: the first {ALIKE_MAX} rows were refused for the same reason, so no more were read: {reason}; are the columns \
                 right? The first line of CSV and TSV names them, or --columns",
                self.file
            )),
        }
    }

    pub(super) fn refused(&mut self, line: u64, what: String) {
        self.bad += 1;
        self.alike = match self.alike.take() {
            Some((0, _)) => Some((1, what.clone())),
            Some((rows, reason)) if reason == what => Some((rows + 1, reason)),
            Some(_) | None => None,
        };
        if self.told.len() < TOLD_MAX {
            self.told.push((self.file.clone(), line, what));
        }
    }

    pub(super) fn warned(&mut self, line: u64, warning: &str) {
        let place = || (0, format!("{}:{line}", self.file));
        self.warnings
            .entry(warning.to_owned())
            .or_insert_with(place)
            .0 += 1;
    }

    /// Counts a standing query without an anchor.
    pub(super) fn without_word(&mut self) {
        self.without_word += 1;
    }

    /// Whether any row was stored or refused.
    pub(super) fn is_begun(&self) -> bool {
        self.stored + self.bad > 0
    }

    pub(super) fn bad(&self) -> u64 {
        self.bad
    }

    /// Shows progress on standard error: one changing line on a terminal, else a line every ten seconds.
    pub(super) fn draw(&mut self) {
        if !self.progress.is_due() {
            return;
        }
        let remaining = self.bytes.as_ref().map(|(total, read)| Part {
            done: read.load(Ordering::Relaxed),
            total: *total,
            before: self.bytes_before,
            elapsed: self.file_began.elapsed(),
        });
        let remaining = remaining.map_or_else(String::new, |part| format!(", {}", part.text()));
        let said = format!("{}: {}{remaining}", self.file, self.counts());
        self.progress.show(&said);
    }

    /// Ends the file: removes its line of progress.
    pub(super) fn end(&mut self) {
        self.progress.clear();
    }

    fn counts(&self) -> String {
        let bad = match self.bad {
            0 => String::new(),
            bad => format!(", {} refused", grouped(bad)),
        };
        rate(self.stored, "rows stored", self.began.elapsed()) + &bad
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (file, line, what) in &self.told {
            writeln!(f, "{file}:{line}: {what}")?;
        }
        if self.bad > self.told.len() as u64 {
            let more = grouped(self.bad - self.told.len() as u64);
            writeln!(f, "and {more} more that were refused")?;
        }
        for (warning, (count, place)) in &self.warnings {
            writeln!(
                f,
                "warning, {} times, first at {place}: {warning}",
                grouped(*count)
            )?;
        }
        if self.without_word > 0 {
            let count = grouped(self.without_word);
            writeln!(
                f,
                "{count} queries have no word that must be there: every document is tried against each"
            )?;
        }
        f.write_str(&self.counts())
    }
}
