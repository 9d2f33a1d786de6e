//! Files of paths, of touches and orders, and of cookies; rows of a table.
//!
//! A line of another form is counted, kept by example with its line number and the reason, and never guessed. It does not end the
//! reading. What would make all figures wrong does: two currencies, too many channels.

mod cookie;
mod lines;
mod maps;
mod paths;
mod rows;
mod table_rows;
mod touches;

use std::io::Read;

pub use cookie::read_cookies;
pub use maps::{Factors, read_factors, read_maps};
pub use paths::{CountedPaths, read_paths};
pub use table_rows::{ReadColumns, TableRows};
pub use touches::{TouchOptions, read_touches};

use super::amount::{Amount, BadAmount, PLACES_MIN};
use super::channels::{BadChannel, Naming};
use super::figures::Places;
use super::limits::{CHANNELS_MAX, EXAMPLE_BYTES_MAX, EXAMPLES_MAX};

/// A file to read.
pub struct Source {
    /// The name in the report, such as a path.
    pub name: String,
    /// Its bytes: plain, gzip or zstd, which the first four tell.
    pub read: Box<dyn Read + Send>,
}

/// How a file was read.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Lines {
    /// The name in the report, such as a path.
    pub name: String,
    /// Lines, or records of CSV, without the header and empty ones.
    pub count: u64,
    /// Those of another form.
    pub unknown: u64,
    /// The first of these.
    pub examples: Vec<Example>,
    /// Why the reading ended before the end. What was read before counts.
    pub cut: Option<String>,
}

/// A line of another form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// Number of the line, from 1.
    pub line: u64,
    /// Its text, cut at a bound.
    pub text: String,
    /// What is wrong with it.
    pub why: &'static str,
}

/// Why a line does not count.
pub(super) enum Refused {
    /// The line has another form.
    Line(&'static str),
    /// No figure would be right.
    All(String),
}

impl From<BadAmount> for Refused {
    fn from(bad: BadAmount) -> Refused {
        Refused::Line(bad.reason())
    }
}

impl From<BadChannel> for Refused {
    fn from(bad: BadChannel) -> Refused {
        match bad {
            BadChannel::Name => {
                Refused::Line("a channel without a name, with a long one, or not in UTF-8")
            }
            BadChannel::TooMany => Refused::All(format!(
                "there are more than {CHANNELS_MAX} channels: map names together, or name channels by fewer parts"
            )),
        }
    }
}

impl Lines {
    pub(super) fn new(name: &str) -> Lines {
        Lines {
            name: name.to_owned(),
            ..Lines::default()
        }
    }

    /// Counts an unknown line, or passes on what ends the reading.
    pub(super) fn refuse(
        &mut self,
        refused: Refused,
        line: u64,
        text: impl FnOnce() -> String,
    ) -> Result<(), String> {
        let why = match refused {
            Refused::Line(why) => why,
            Refused::All(message) => return Err(format!("{}:{line}: {message}", self.name)),
        };
        self.unknown += 1;
        if self.examples.len() < EXAMPLES_MAX {
            let mut text = text();
            let end = text.floor_char_boundary(EXAMPLE_BYTES_MAX);
            text.truncate(end);
            self.examples.push(Example { line, text, why });
        }
        Ok(())
    }
}

impl Default for Places {
    fn default() -> Places {
        Places {
            conversions: PLACES_MIN,
            value: PLACES_MIN,
            rounded_amounts: 0,
        }
    }
}

impl Places {
    /// Reads money, and remembers its digits.
    pub(super) fn value(&mut self, text: &[u8]) -> Result<Amount, BadAmount> {
        let written = Amount::parse(text)?;
        self.value = self.value.max(written.places);
        self.rounded_amounts += u64::from(written.is_rounded);
        Ok(written.amount)
    }

    /// Reads a count, and remembers its digits.
    pub(super) fn count(&mut self, text: &[u8]) -> Result<Amount, BadAmount> {
        let written = Amount::parse(text)?;
        self.conversions = self.conversions.max(written.places);
        self.rounded_amounts += u64::from(written.is_rounded);
        Ok(written.amount)
    }
}
