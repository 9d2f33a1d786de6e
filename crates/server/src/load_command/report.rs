//! What became of the rows.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use crate::demo::grouped;

/// Bad rows told one by one; the others are counted.
const TOLD_MAX: usize = 20;

const REDRAWN_EVERY: Duration = Duration::from_millis(200);

/// Counts of one load.
pub(super) struct Report {
    began: Instant,
    file: String,
    stored: u64,
    bad: u64,
    /// The first of them: file, line, what is wrong.
    told: Vec<(String, u64, String)>,
    /// Warnings by what they say: how often, first seen where.
    warnings: BTreeMap<String, (u64, String)>,
    /// Queries that every document is tried against.
    without_word: u64,
    drawn: Option<Instant>,
}

impl Report {
    pub(super) fn new(began: Instant) -> Report {
        Report {
            began,
            file: String::new(),
            stored: 0,
            bad: 0,
            told: Vec::new(),
            warnings: BTreeMap::new(),
            without_word: 0,
            drawn: None,
        }
    }

    /// A file begins.
    pub(super) fn begin(&mut self, file: &str) {
        file.clone_into(&mut self.file);
    }

    pub(super) fn stored(&mut self, rows: u64) {
        self.stored += rows;
    }

    pub(super) fn refused(&mut self, line: u64, what: String) {
        self.bad += 1;
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

    /// A query has no word that a document must hold.
    pub(super) fn without_word(&mut self) {
        self.without_word += 1;
    }

    pub(super) fn bad(&self) -> u64 {
        self.bad
    }

    /// How far it is, on standard error, where that is a terminal.
    pub(super) fn draw(&mut self) {
        let recent = self
            .drawn
            .is_some_and(|drawn| drawn.elapsed() < REDRAWN_EVERY);
        if recent || !std::io::stderr().is_terminal() {
            return;
        }
        self.drawn = Some(Instant::now());
        put(&format!("\r\x1b[K{}: {}", self.file, self.counts()));
    }

    /// The file is done: its line of progress goes.
    pub(super) fn end(&mut self) {
        if self.drawn.take().is_some() {
            put("\r\x1b[K");
        }
    }

    fn counts(&self) -> String {
        let seconds = self.began.elapsed().as_secs_f64().max(0.001);
        let rate = grouped((self.stored as f64 / seconds) as u64);
        let stored = grouped(self.stored);
        let bad = match self.bad {
            0 => String::new(),
            bad => format!(", {} refused", grouped(bad)),
        };
        format!("{stored} rows stored in {seconds:.1} s, {rate}/s{bad}")
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

/// A terminal that is gone is no reason to stop loading.
fn put(text: &str) {
    let mut stderr = std::io::stderr().lock();
    let _ = write!(stderr, "{text}").and_then(|()| stderr.flush());
}
