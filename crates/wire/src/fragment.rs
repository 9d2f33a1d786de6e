//! Fragments: pieces of a text with marks, for highlights.

use std::ops::Range;

/// What stands around a mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tags {
    /// Before a mark.
    pub before: String,
    /// Behind a mark.
    pub after: String,
}

/// At most `count` pieces of `text`, each about `chars` characters long and cut between words, with tags around the marks. With
/// `count` 0 the whole text. `marks` are ranges of bytes that rise and do not overlap. Empty without
/// marks.
#[must_use]
pub fn fragments(
    text: &str,
    marks: &[Range<usize>],
    (count, chars): (usize, usize),
    tags: &Tags,
) -> Vec<String> {
    let mut pieces = Vec::new();
    if marks.is_empty() {
        return pieces;
    }
    if count == 0 {
        pieces.push(tagged(text, 0..text.len(), marks, tags));
        return pieces;
    }
    let mut rest = marks;
    let mut from = 0;
    while let (Some(first), true) = (rest.first(), pieces.len() < count) {
        let lead = back(text, first.start, chars / 4).max(from);
        let start = text.get(lead..first.start).map_or(first.start, |before| {
            let blank = before.find(char::is_whitespace).filter(|_| lead > from);
            lead + blank.map_or(0, |at| at + 1)
        });
        let start = if text.is_char_boundary(start) {
            start
        } else {
            first.start
        };
        let end = end(text, start, first.end, chars);
        let here = rest
            .iter()
            .take_while(|mark| mark.end <= end)
            .count()
            .max(1);
        let (inside, after) = rest.split_at(here);
        pieces.push(tagged(text, start..end, inside, tags));
        (rest, from) = (after, end);
    }
    pieces
}

/// Offset of the byte that is `chars` characters before `byte`.
fn back(text: &str, byte: usize, chars: usize) -> usize {
    let before = text.get(..byte).unwrap_or_default();
    before
        .char_indices()
        .rev()
        .take(chars)
        .last()
        .map_or(byte, |(at, _)| at)
}

/// The beginning of a text, about `chars` characters up to the end of a word.
#[must_use]
pub fn beginning(text: &str, chars: usize) -> &str {
    text.get(..end(text, 0, 0, chars)).unwrap_or(text)
}

/// End of a piece: `chars` characters behind its start, at the end of a word, not before `least`.
fn end(text: &str, start: usize, least: usize, chars: usize) -> usize {
    let after = text.get(start..).unwrap_or_default();
    let far = after
        .char_indices()
        .nth(chars)
        .map_or(text.len(), |(at, _)| start + at)
        .max(least);
    let rest = text.get(far..).unwrap_or_default();
    rest.find(char::is_whitespace)
        .map_or(text.len(), |at| far + at)
}

fn tagged(text: &str, piece: Range<usize>, marks: &[Range<usize>], tags: &Tags) -> String {
    let mut out = String::with_capacity(piece.len() + 16 * marks.len());
    let mut at = piece.start;
    let part = |range: Range<usize>| text.get(range).unwrap_or_default();
    for mark in marks {
        out.push_str(part(at..mark.start));
        out.push_str(&tags.before);
        out.push_str(part(mark.clone()));
        out.push_str(&tags.after);
        at = mark.end;
    }
    out.push_str(part(at..piece.end));
    out
}
