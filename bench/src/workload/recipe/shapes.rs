//! The shapes of queries.

use super::{
    Recipe,
    words::{InOrder, TextWords},
};
use crate::random::XorShift;

/// Most words of a phrase.
const PHRASE_WORDS_MAX: usize = 4;

/// Least characters of a word that gets a wildcard, and least characters that stay beside a `*`.
const PATTERN_WORD_CHARS_MIN: usize = 6;
const PATTERN_CHARS_MIN: usize = 4;

/// Shape of a query.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Frequent words, of which two are excluded.
    Common,
    /// This count of required words of a post, and two excluded words of another.
    AllOf(usize),
    Phrase,
    Or,
    Wildcard,
    Near,
}

impl Shape {
    /// The shape of a recipe's next query.
    pub(super) fn of(recipe: Recipe, random: &mut XorShift) -> Shape {
        match recipe {
            Recipe::Common => Shape::Common,
            Recipe::Selective | Recipe::Any => Shape::AllOf(2),
            Recipe::SelectiveFive | Recipe::AnyFive => Shape::AllOf(5),
            Recipe::Phrases => Shape::Phrase,
            Recipe::Ors => Shape::Or,
            Recipe::Wildcards => Shape::Wildcard,
            Recipe::Near => Shape::Near,
            Recipe::Mixed => match random.below(10) {
                0..3 => Shape::Phrase,
                3..5 => Shape::Or,
                5 => Shape::Wildcard,
                6 => Shape::Near,
                _ => Shape::AllOf(2),
            },
            Recipe::Boolean => match random.below(5) {
                0..2 => Shape::Or,
                _ => Shape::AllOf(2),
            },
        }
    }

    /// Draws the text of a query of this shape.
    pub(super) fn query(self, words: &TextWords, random: &mut XorShift) -> String {
        match self {
            Shape::Common => common(&words.common, random),
            Shape::AllOf(count) => all_of(&words.sets, count, random),
            Shape::Phrase => phrase(&words.runs, random),
            Shape::Or => or(&words.sets, random),
            Shape::Wildcard => wildcard(&words.sets, random),
            Shape::Near => {
                let (a, b) = two_words(&words.sets, random);
                format!("{a} NEAR/5 {b}")
            }
        }
    }
}

fn common(common: &[String], random: &mut XorShift) -> String {
    let drawn = several(common, 4, random);
    let [a, b, c, d] = [0, 1, 2, 3].map(|place| drawn[place]);
    format!("{a} {b} -{c} -{d}")
}

fn all_of(sets: &[Vec<String>], count: usize, random: &mut XorShift) -> String {
    let mut text = match count {
        2 => {
            let (a, b) = two_words(sets, random);
            format!("{a} {b}")
        }
        _ => several(&sets[random.below(sets.len())], count, random).join(" "),
    };
    let (c, d) = two_words(sets, random);
    text += &format!(" -{c} -{d}");
    text
}

/// Draws `count` different words; draws again if it gets a word twice.
fn several<'w>(words: &'w [String], count: usize, random: &mut XorShift) -> Vec<&'w str> {
    let mut drawn: Vec<&str> = Vec::with_capacity(count);
    while drawn.len() < count {
        let next = words[random.below(words.len())].as_str();
        if !drawn.contains(&next) {
            drawn.push(next);
        }
    }
    drawn
}

fn two_words<'w>(sets: &'w [Vec<String>], random: &mut XorShift) -> (&'w str, &'w str) {
    let own = &sets[random.below(sets.len())];
    let first = random.below(own.len());
    let second = (first + 1 + random.below(own.len() - 1)) % own.len();
    (&own[first], &own[second])
}

fn one_word<'w>(sets: &'w [Vec<String>], random: &mut XorShift) -> &'w str {
    two_words(sets, random).0
}

fn phrase(runs: &[Vec<InOrder>], random: &mut XorShift) -> String {
    loop {
        let run = &runs[random.below(runs.len())];
        let count = (2 + random.below(PHRASE_WORDS_MAX - 1)).min(run.len());
        let start = random.below(run.len() - count + 1);
        let words = &run[start..start + count];
        if words.iter().any(|each| each.selective) {
            let words: Vec<&str> = words.iter().map(|each| each.word.as_str()).collect();
            return format!("\"{}\"", words.join(" "));
        }
    }
}

fn or(sets: &[Vec<String>], random: &mut XorShift) -> String {
    let nested = random.below(2) == 0;
    let (a, c) = two_words(sets, random);
    if nested {
        let (b, d) = two_words(sets, random);
        return format!("({a} | {b}) ({c} | {d})");
    }
    let [b, d, e] = [(); 3].map(|()| one_word(sets, random));
    format!("{a} ({c} | {b} | {d}) -{e}")
}

fn wildcard(sets: &[Vec<String>], random: &mut XorShift) -> String {
    let (word, other) = loop {
        let (word, other) = two_words(sets, random);
        if word.len() >= PATTERN_WORD_CHARS_MIN && word.bytes().all(|b| b.is_ascii_alphanumeric()) {
            break (word, other);
        }
    };
    let pattern = pattern(word, random);
    match random.below(4) {
        0 => pattern,
        _ => format!("{pattern} {other} -{}", one_word(sets, random)),
    }
}

/// A pattern from a word: of ten six have a `*` behind, two before, one on both sides, and one has a `?` in it.
fn pattern(word: &str, random: &mut XorShift) -> String {
    let cut = 1 + random.below(word.len() - PATTERN_CHARS_MIN);
    match random.below(10) {
        0..6 => format!("{}*", &word[..word.len() - cut]),
        6..8 => format!("*{}", &word[cut..]),
        8 => format!("*{}*", &word[1..word.len() - 1]),
        _ => format!("{}?{}", &word[..cut], &word[cut + 1..]),
    }
}
