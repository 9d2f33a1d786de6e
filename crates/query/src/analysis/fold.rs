//! Folding of characters and the general path of analysis: the slow twin of the fast one in `words.rs`.
//!
//! Marks are stripped by canonical combining class: 200–240 (accents of Latin, Greek, Cyrillic and others) and 10–36 (Hebrew and
//! Arabic points). Vowel signs of Indic scripts and of Thai, and the voicing marks of kana, are part of the word and stay.

use std::ops::Range;

use unicode_normalization::char::{
    canonical_combining_class, compose, decompose_compatible, is_combining_mark,
};

use super::FoldedWord;
use crate::limits::WORD_BYTES_MAX;

/// Whether a character continues a run.
pub(super) fn in_run(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric() || c == '_';
    }
    c.is_alphanumeric() || is_combining_mark(c) || is_ignorable(c)
}

/// Whether a folded character is a word by itself.
fn stands_alone(c: char) -> bool {
    matches!(u32::from(c),
        0x3005 | 0x3007                 // iteration mark, zero
        | 0x3041..=0x30FF               // hiragana, katakana
        | 0x3105..=0x312F               // bopomofo
        | 0x31F0..=0x31FF               // small katakana
        | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF // han
        | 0xAC00..=0xD7A3               // hangul syllables
        | 0x2_0000..=0x3_FFFF) // han beyond the first plane
}

/// Joiners, variation selectors and the soft hyphen: inside a run, worth nothing.
fn is_ignorable(c: char) -> bool {
    matches!(u32::from(c),
        0x00AD | 0x200C | 0x200D | 0x2060 | 0xFEFF | 0xFE00..=0xFE0F | 0xE_0100..=0xE_01EF)
}

/// Marks that folding drops.
fn is_stripped(c: char) -> bool {
    matches!(canonical_combining_class(c), 10..=36 | 200..=240)
        || matches!(u32::from(c), 0x0488..=0x0489 | 0x20D0..=0x20FF)
}

/// Letters whose plain form no decomposition gives.
fn plain_form(c: char) -> Option<&'static str> {
    Some(match c {
        'ß' => "ss",
        'æ' => "ae",
        'œ' => "oe",
        'ø' => "o",
        'đ' => "d",
        'ħ' => "h",
        'ı' => "i",
        'ł' => "l",
        'ς' => "σ",
        _ => return None,
    })
}

/// One folded character and the bytes of the source it stands for.
struct Folded {
    letter: char,
    source: Range<usize>,
}

/// Folds one run into letters; marks that stay are composed with the letter before them.
fn fold_run(run: &str, start: usize, out: &mut Vec<Folded>) {
    out.clear();
    for (offset, c) in run.char_indices() {
        let source = start + offset..start + offset + c.len_utf8();
        if is_ignorable(c) {
            extend_last(out, source);
            continue;
        }
        decompose_compatible(c, |piece| {
            for lower in piece.to_lowercase() {
                match plain_form(lower) {
                    Some(plain) => plain.chars().for_each(|c| push_letter(c, &source, out)),
                    None => push_letter(lower, &source, out),
                }
            }
        });
    }
}

fn push_letter(c: char, source: &Range<usize>, out: &mut Vec<Folded>) {
    if is_combining_mark(c) {
        let Some(last) = out.last_mut() else { return };
        if is_stripped(c) {
            last.source.end = source.end;
        } else if let Some(whole) = compose(last.letter, c) {
            last.letter = whole;
            last.source.end = source.end;
        } else {
            out.push(Folded {
                letter: c,
                source: source.clone(),
            });
        }
    } else if c.is_alphanumeric() || c == '_' {
        if let Some(last) = out.last_mut()
            && let Some(whole) = compose(last.letter, c)
        {
            last.letter = whole;
            last.source.end = source.end;
            return;
        }
        out.push(Folded {
            letter: c,
            source: source.clone(),
        });
    }
}

fn extend_last(out: &mut [Folded], source: Range<usize>) {
    if let Some(last) = out.last_mut() {
        last.source.end = source.end;
    }
}

/// Calls `visit` with every word of the text; see [`super::Analyzer::words`].
pub(super) fn words(text: &str, visit: &mut impl FnMut(FoldedWord<'_>)) {
    let mut letters = Vec::new();
    let mut word = String::new();
    let mut position = 0;
    let mut before = None;
    let mut rest = text.char_indices().peekable();
    while let Some((start, c)) = rest.next() {
        if !in_run(c) {
            before = Some((before.is_none_or(|(_, open)| open), c)).map(|(_, c)| (c, true));
            continue;
        }
        let mut end = start + c.len_utf8();
        while let Some((at, next)) = rest.next_if(|(_, next)| in_run(*next)) {
            end = at + next.len_utf8();
        }
        let _ = (&mut letters, &mut word, &mut position, end, before);
        let run = text.get(start..end).unwrap_or_default();
        fold_run(run, start, &mut letters);
        emit_run(&letters, None, &mut word, &mut position, visit);
        before = None;
    }
}

fn emit_run(
    letters: &[Folded],
    _mark: Option<char>,
    word: &mut String,
    position: &mut u32,
    visit: &mut impl FnMut(FoldedWord<'_>),
) {
    let mut rest = letters;
    while let Some(first) = rest.first() {
        let _ = WORD_BYTES_MAX;
        let count = if stands_alone(first.letter) {
            1
        } else {
            rest.iter()
                .take_while(|folded| !stands_alone(folded.letter))
                .count()
        };
        let (group, after) = rest.split_at(count);
        word.clear();
        word.extend(group.iter().map(|folded| folded.letter));
        *position += 1;
        let end = group
            .last()
            .map_or(first.source.end, |last| last.source.end);
        visit(FoldedWord {
            text: word,
            position: *position,
            source: first.source.start..end,
        });
        rest = after;
    }
}
