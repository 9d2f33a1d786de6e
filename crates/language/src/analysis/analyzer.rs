//! The analyzer: from text to words by the settings of a table.

use super::fold::{self, FoldedWord, is_mark};
use super::settings::Settings;
use super::stem;
use super::units::{self, Sentences};
use crate::meter::{Meter, Unmetered};

/// Reads text by the settings of one table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Analyzer {
    pub(super) settings: Settings,
}

impl Analyzer {
    /// The analyzer of a table with these settings.
    #[must_use]
    pub fn new(settings: Settings) -> Analyzer {
        Analyzer { settings }
    }

    /// The settings that it was made with.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The version of analysis. It changes whenever the same text may give other words; it is stored beside data made
    /// with it.
    #[must_use]
    pub fn version() -> u32 {
        1
    }

    /// Calls `visit` with every word of `text` as written, folded but not stemmed.
    pub(crate) fn folded(&self, text: &str, visit: &mut impl FnMut(FoldedWord<'_>)) {
        fold::words(text, &Unmetered, visit);
    }

    /// The term that documents have for a folded word written as `source`: its stem, or with `exact` the word as
    /// written behind a `=`. A table that does not stem has the folded word for both.
    pub(crate) fn term(&self, folded: &str, source: &str, exact: bool) -> String {
        match (self.settings.stems(), exact) {
            (false, _) => folded.to_owned(),
            (true, true) => format!("={folded}"),
            (true, false) => stem::with_stem(&self.settings, folded, source, str::to_owned),
        }
    }

    /// Calls `visit` with every word of one field's text, as [`super::Words::push_field`] keeps it. Ends of sentences
    /// take a position, if the table counts them. Until the meter stops.
    pub(crate) fn field_words(
        &self,
        text: &str,
        meter: &dyn Meter,
        visit: &mut impl FnMut(FoldedWord<'_>),
    ) {
        if self.settings.sentences() != Sentences::Placed {
            return self.words_within(text, meter, visit);
        }
        let mut bounds = units::bounds(text, Sentences::Placed, meter)
            .into_iter()
            .peekable();
        let (mut last, mut passed) = (0, 0);
        self.words_within(text, meter, &mut |word| {
            let mut is_bound = false;
            while word.position > last
                && bounds
                    .next_if(|bound| bound.at <= word.source.start)
                    .is_some()
            {
                is_bound = last > 0;
            }
            last = word.position;
            passed += u32::from(is_bound);
            let position = word.position + passed;
            visit(FoldedWord { position, ..word });
        });
    }

    /// Calls `visit` with every word of `text` by rising position. In a table that stems, a position has the stem,
    /// then the word as written behind a `=`, then the marked word. Allocates a few buffers a call; for documents
    /// there is [`super::Words::push_field`].
    pub fn words(&self, text: &str, visit: &mut impl FnMut(FoldedWord<'_>)) {
        self.words_within(text, &Unmetered, visit);
    }

    /// As [`Analyzer::words`], until the meter stops. It is looked at inside long runs of letters; the work is the caller's to count.
    pub(crate) fn words_within(
        &self,
        text: &str,
        meter: &dyn Meter,
        visit: &mut impl FnMut(FoldedWord<'_>),
    ) {
        if !self.settings.stems() {
            return fold::words(text, meter, visit);
        }
        let mut written = String::new();
        fold::words(text, meter, &mut |word| {
            if word.text.starts_with(is_mark) {
                return visit(word);
            }
            let source = text.get(word.source.clone()).unwrap_or_default();
            // A copy, since `visit` may call the stemmer again.
            let stem = stem::with_stem(&self.settings, word.text, source, str::to_owned);
            visit(FoldedWord {
                text: &stem,
                ..word.clone()
            });
            written.clear();
            written.push('=');
            written.push_str(word.text);
            visit(FoldedWord {
                text: &written,
                ..word
            });
        });
    }
}
