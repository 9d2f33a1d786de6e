//! The ends of sentences and paragraphs.
//!
//! A sentence ends behind `!`, `?`, `…`, `。`, `！`, `？`, and behind a full stop. By Sphinx's rules these full stops
//! end none:
//! - before a letter, a digit, a `-` or a comma: `S.T.A.L.K.E.R.`, `S.p.A., founded`;
//! - before one blank and a small letter, with a `(` between them or not: `Corp. announced`;
//! - behind one capital letter, or a capital and a small letter or digit: `John D. Doe`, `Mr. Doe`;
//! - behind MR, MS, DR, MRS and DRS.
//!
//! A paragraph ends at an empty line, and so does its last sentence.

use super::fold::in_run;
use crate::meter::{Meter, PIECE_BYTES};

/// The beginning of a sentence or paragraph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bound {
    /// Byte of the text: words from here on belong to the new unit.
    pub(super) at: usize,
    /// Whether a paragraph begins as well.
    pub(super) paragraph: bool,
}

/// A table's rules of sentences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum Sentences {
    /// No rules: the table keeps no bounds.
    #[default]
    Unknown,
    /// The rules of tables made before bounds took a position: [`ends_unplaced`].
    Unplaced,
    /// Sphinx's rules: a bound between two words takes a position.
    Placed,
}

/// Units of a byte that is looked at for a bound.
const BYTE_UNITS: u64 = 5;

/// All bounds of a text, rising, until the meter stops.
pub(super) fn bounds(text: &str, rules: Sentences, meter: &dyn Meter) -> Vec<Bound> {
    let mut bounds = Vec::new();
    let mut before = [' ', ' '];
    // Where the closing signs behind the last sign of a sentence end: those behind a sign among them end there too.
    let mut closed = 0;
    let mut counted = PIECE_BYTES;
    for (at, c) in text.char_indices() {
        if at >= counted {
            counted += PIECE_BYTES;
            meter.spend(BYTE_UNITS * PIECE_BYTES as u64);
            if meter.is_stopped() {
                break;
            }
        }
        let behind = at + c.len_utf8();
        let ahead = text.get(behind..).unwrap_or_default();
        let ends = match (c, rules) {
            (_, Sentences::Unknown) => false,
            ('。' | '！' | '？' | '｡', _) => true,
            ('.' | '!' | '?' | '…', Sentences::Unplaced) => {
                if closed < behind {
                    closed = text.len() - ahead.trim_start_matches(closes).len();
                }
                ends_unplaced(c, before, text.get(closed..).unwrap_or_default())
            }
            ('!' | '?' | '…', Sentences::Placed) => true,
            ('.', Sentences::Placed) => ends_sentence(text.get(..at).unwrap_or_default(), ahead),
            _ => false,
        };
        let paragraph = c == '\n' && begins_with_empty_line(ahead);
        if ends || paragraph {
            bounds.push(Bound {
                at: behind,
                paragraph,
            });
        }
        before = [before[1], c];
    }
    bounds
}

/// Whether a full stop ends a sentence.
fn ends_sentence(before: &str, ahead: &str) -> bool {
    let mut next = ahead.chars();
    let goes_on = match next.next() {
        Some(c) if c.is_whitespace() => match next.next() {
            Some('(') => next.next().is_some_and(char::is_lowercase),
            c => c.is_some_and(char::is_lowercase),
        },
        c => c.is_some_and(|c| c == ',' || c == '-' || in_run(c)),
    };
    let word = before.rsplit(|c| !in_run(c)).next().unwrap_or_default();
    let mut letters = word.chars();
    let is_short = match (
        letters.next(),
        letters.next(),
        letters.next(),
        letters.next(),
    ) {
        (Some(first), None, ..) => first.is_uppercase(),
        (Some(first), Some(second), None, _) => {
            first.is_uppercase() && (!second.is_uppercase() || ["MR", "MS", "DR"].contains(&word))
        }
        (_, _, Some(_), None) => ["mrs", "drs"]
            .iter()
            .any(|known| word.eq_ignore_ascii_case(known)),
        _ => false,
    };
    !goes_on && !is_short
}

/// Whether a sign may stand between the end of a sentence and the blank behind it.
fn closes(c: char) -> bool {
    matches!(
        c,
        '"' | '\'' | ')' | ']' | '”' | '’' | '»' | '.' | '!' | '?' | '…'
    )
}

/// The rule of [`Sentences::Unplaced`]: a sign ends a sentence before a blank or the end of the text, closing quotes
/// and brackets between them included: `ahead` is the text behind these. The full stop of a single letter does not.
fn ends_unplaced(stop: char, before: [char; 2], ahead: &str) -> bool {
    let next = ahead.chars().next();
    let initial = stop == '.' && before[1].is_alphabetic() && !in_run(before[0]);
    next.is_none_or(char::is_whitespace) && !initial
}

fn begins_with_empty_line(ahead: &str) -> bool {
    let blank = |c: char| c.is_whitespace() && c != '\n';
    ahead.trim_start_matches(blank).starts_with('\n')
}
