//! Folding of characters, and the general path of analysis: the slow twin of the fast path in `words.rs`.
//!
//! Marks are stripped by canonical combining class: 200–240 (accents of Latin, Greek, Cyrillic and others) and 10–36
//! (Hebrew and Arabic points). Vowel signs of Indic scripts and of Thai, and the voicing marks of kana, belong to the
//! word and stay.

use crate::meter::Meter;
use std::ops::Range;

use unicode_normalization::char::{
    canonical_combining_class, compose, decompose_compatible, is_combining_mark,
};

use crate::limits::WORD_BYTES_MAX;

/// A word as [`super::Analyzer::words`] gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoldedWord<'a> {
    /// The folded word: never empty, at most [`crate::limits::WORD_BYTES_MAX`] bytes besides a leading `=`. A marked
    /// word begins with `#` or `@`, a word as written beside its stem with `=`.
    pub text: &'a str,
    /// Position from 1, rising. A marked word follows the first bare word that it covers, at the same position.
    pub position: u32,
    /// The bytes of the text that gave the word: the whole run for a word that was cut, with the mark for a marked
    /// word.
    pub source: Range<usize>,
}

/// Whether a character belongs to a run.
pub(crate) fn in_run(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric() || c == '_';
    }
    c.is_alphanumeric() || is_combining_mark(c) || is_ignorable(c)
}

/// Whether a character before a run marks it.
pub(crate) fn is_mark(c: char) -> bool {
    matches!(c, '#' | '@')
}

/// Calls `visit` with every word of the text; see [`super::Analyzer::words_within`].
pub(super) fn words(text: &str, meter: &dyn Meter, visit: &mut impl FnMut(FoldedWord<'_>)) {
    let mut run_letters = Vec::new();
    let mut out = Out {
        word: String::new(),
        position: 0,
        visit,
    };
    let mut rest = text.char_indices().peekable();
    while let Some((start, first)) = rest.next() {
        if !in_run(first) {
            continue;
        }
        let mut end = start + first.len_utf8();
        while let Some((at, c)) = rest.next_if(|(_, c)| in_run(*c)) {
            end = at + c.len_utf8();
        }
        let run = text.get(start..end).unwrap_or_default();
        if fold_run(run, start, &mut run_letters, meter).is_none() {
            return;
        }
        out.run(
            &run_letters,
            mark_before(text, start).map(|mark| (mark, start)),
            meter,
        );
    }
}

/// The mark of the run that begins at byte `start`, if it has one: `#run`, but not `a#run`.
#[inline]
pub(super) fn mark_before(text: &str, start: usize) -> Option<char> {
    let at = start.checked_sub(1)?;
    let mark = text
        .as_bytes()
        .get(at)
        .map(|byte| char::from(*byte))
        .filter(|c| is_mark(*c))?;
    let before = text.get(..at)?.chars().next_back();
    before.is_none_or(|c| !in_run(c)).then_some(mark)
}

/// One folded letter and the bytes of the text that it stands for.
struct Letter {
    letter: char,
    source: Range<usize>,
}

/// Letters of a run between two looks at the meter. Who counts the bytes of the text does so for many of them.
const LETTERS_AT_ONCE: usize = 4_096;

/// Folds one run, which begins at byte `start` of its text. `None`: the meter has stopped.
fn fold_run(run: &str, start: usize, letters: &mut Vec<Letter>, meter: &dyn Meter) -> Option<()> {
    letters.clear();
    for (number, (offset, c)) in run.char_indices().enumerate() {
        if number % LETTERS_AT_ONCE == LETTERS_AT_ONCE - 1 && meter.is_stopped() {
            return None;
        }
        let source = start + offset..start + offset + c.len_utf8();
        if c.is_ascii() {
            letters.push(Letter {
                letter: c.to_ascii_lowercase(),
                source,
            });
        } else if is_ignorable(c) {
            extend_last(letters, &source);
        } else {
            fold_character(c, &source, letters);
        }
    }
    Some(())
}

fn fold_character(c: char, source: &Range<usize>, letters: &mut Vec<Letter>) {
    decompose_compatible(c, |piece| {
        for lower in piece.to_lowercase() {
            match plain_form(lower) {
                Some(plain) => plain.chars().for_each(|c| push_letter(c, source, letters)),
                None => push_letter(lower, source, letters),
            }
        }
    });
}

/// Adds a decomposed, lowered character. Marks are stripped, or composed with the letter before them, as the letters
/// of a Korean syllable are. Punctuation from a decomposition is dropped.
fn push_letter(c: char, source: &Range<usize>, letters: &mut Vec<Letter>) {
    if is_stripped(c) {
        return extend_last(letters, source);
    }
    let last = letters.last_mut();
    if let Some(last) = last
        && let Some(whole) = compose(last.letter, c)
    {
        last.letter = whole;
        last.source.end = source.end;
        return;
    }
    let keeps = match letters.last() {
        Some(last) if is_combining_mark(c) => !stands_alone(last.letter) && !stands_alone(c),
        _ => c == '_' || (c.is_alphanumeric() && !is_combining_mark(c)),
    };
    if keeps {
        letters.push(Letter {
            letter: c,
            source: source.clone(),
        });
    }
}

fn extend_last(letters: &mut [Letter], source: &Range<usize>) {
    if let Some(last) = letters.last_mut() {
        last.source.end = source.end;
    }
}

/// The receiver of one text's words.
struct Out<'v, V> {
    word: String,
    position: u32,
    visit: &'v mut V,
}

impl<V: FnMut(FoldedWord<'_>)> Out<'_, V> {
    /// Emits the words of a folded run: each standing letter, the stretches between them, and after the first word
    /// the marked one, until the meter stops. `mark` comes with the byte behind it.
    fn run(&mut self, letters: &[Letter], mark: Option<(char, usize)>, meter: &dyn Meter) {
        let mut rest = letters;
        let mut mark = mark;
        while let Some(first) = rest.first() {
            let count = if stands_alone(first.letter) {
                1
            } else {
                rest.iter()
                    .take_while(|letter| !stands_alone(letter.letter))
                    .count()
            };
            let (group, after) = rest.split_at(count);
            if after.len() % LETTERS_AT_ONCE == LETTERS_AT_ONCE - 1 && meter.is_stopped() {
                return;
            }
            self.position += 1;
            self.word.clear();
            self.emit(group, first.source.start);
            if let Some((mark, behind)) = mark.take() {
                self.word.clear();
                self.word.push(mark);
                self.emit(letters, behind - mark.len_utf8());
            }
            rest = after;
        }
    }

    /// Adds letters to `word`, cuts it, and calls `visit`.
    fn emit(&mut self, letters: &[Letter], start: usize) {
        for letter in letters {
            if self.word.len() >= WORD_BYTES_MAX {
                break;
            }
            self.word.push(letter.letter);
        }
        self.word
            .truncate(self.word.floor_char_boundary(WORD_BYTES_MAX));
        let end = letters.last().map_or(start, |last| last.source.end);
        let (text, position) = (self.word.as_str(), self.position);
        (self.visit)(FoldedWord {
            text,
            position,
            source: start..end,
        });
    }
}

/// Whether a folded letter is a word by itself.
pub(crate) fn stands_alone(c: char) -> bool {
    matches!(u32::from(c),
        0x3005 | 0x3007                                       // iteration mark, zero
        | 0x3041..=0x30FF | 0x31F0..=0x31FF                   // hiragana, katakana
        | 0x3105..=0x312F | 0x31A0..=0x31BF                   // bopomofo
        | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF // han
        | 0xAC00..=0xD7A3                                     // hangul syllables
        | 0x2_0000..=0x3_FFFF) // han beyond the first plane
}

/// Whether it is a joiner, a variation selector or the soft hyphen: these neither end a run nor enter the word.
fn is_ignorable(c: char) -> bool {
    matches!(u32::from(c),
        0x00AD | 0x200C | 0x200D | 0x2060 | 0xFEFF | 0xFE00..=0xFE0F | 0xE_0100..=0xE_01EF)
}

/// Whether folding drops a mark.
fn is_stripped(c: char) -> bool {
    matches!(canonical_combining_class(c), 10..=36 | 200..=240)
        || matches!(u32::from(c), 0x0488..=0x0489 | 0x20D0..=0x20FF) // enclosing marks
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
