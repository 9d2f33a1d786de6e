//! Where sentences and paragraphs end.
//!
//! A sentence ends behind `.`, `!`, `?` or `…` (closing quotes and brackets included) if a blank or the end of the text follows,
//! but not behind the full stop of a single letter (`J. Smith`, `U.S.`); behind `。`, `！`, `？` always; and where a paragraph ends.
//! A paragraph ends at an empty line.

use super::in_run;

/// The beginning of a new part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bound {
    /// Words from this byte on belong to the new part.
    pub(super) at: usize,
    /// It is a paragraph, not only a sentence.
    pub(super) paragraph: bool,
}

/// All of them, in order.
pub(super) fn bounds(text: &str) -> Vec<Bound> {
    let mut bounds = Vec::new();
    let mut before = [' ', ' '];
    for (at, c) in text.char_indices() {
        let behind = at + c.len_utf8();
        let ahead = text.get(behind..).unwrap_or_default();
        let ends = match c {
            '.' | '!' | '?' | '…' => ends_sentence(c, before, ahead),
            '。' | '！' | '？' | '｡' => true,
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

fn ends_sentence(stop: char, before: [char; 2], ahead: &str) -> bool {
    let closes = |c: char| {
        matches!(
            c,
            '"' | '\'' | ')' | ']' | '”' | '’' | '»' | '.' | '!' | '?' | '…'
        )
    };
    let next = ahead.trim_start_matches(closes).chars().next();
    let initial = stop == '.' && before[1].is_alphabetic() && !in_run(before[0]);
    next.is_none_or(char::is_whitespace) && !initial
}

fn begins_with_empty_line(ahead: &str) -> bool {
    let blank = |c: char| c.is_whitespace() && c != '\n';
    ahead.trim_start_matches(blank).starts_with('\n')
}
