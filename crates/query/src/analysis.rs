//! Text into words: folding, word boundaries, positions.
//!
//! A *run* is a longest stretch of letters, digits, `_` and marks; everything else parts runs. A run is folded (compatibility
//! decomposition, accents stripped, lower case) and is one word, except that each Chinese, Japanese and Korean character in it
//! is a word of its own. A run written as `#tag` or `@handle` also gives the marked word, at the position of its first bare one.
//! Positions count the bare words of one field, from 1.

mod fold;
mod settings;
mod words;

#[cfg(test)]
mod tests;

use std::ops::Range;

pub(crate) use fold::{in_run, is_mark};
pub use settings::Settings;
pub use words::Words;

/// Reads text as one table does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Analyzer {
    settings: Settings,
}

/// One word as [`Analyzer::words`] gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoldedWord<'a> {
    /// Folded, never empty, at most [`crate::limits::WORD_BYTES_MAX`] bytes. A marked word begins with `#` or `@`.
    pub text: &'a str,
    /// From 1, rising; a marked word shares the position of the first bare word it covers, and follows it.
    pub position: u32,
    /// The bytes of the text that it was read from; the whole run for a word that was cut, the mark included for a marked one.
    pub source: Range<usize>,
}

impl Analyzer {
    /// The analyzer of a table with these settings.
    #[must_use]
    pub fn new(settings: Settings) -> Analyzer {
        Analyzer { settings }
    }

    /// What it was made of.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Changes whenever the same text may give other words; stored beside what was made with it.
    #[must_use]
    pub fn version() -> u32 {
        1
    }

    /// Calls `visit` with every word of `text`, in order of position. Allocates a few buffers a call; for documents there is
    /// [`Words::push_field`].
    pub fn words(&self, text: &str, visit: &mut impl FnMut(FoldedWord<'_>)) {
        fold::words(text, visit);
    }
}
