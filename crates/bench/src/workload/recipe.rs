//! How standing queries are drawn from real text.

use std::collections::HashMap;

use query::analysis::{Analyzer, Words};

use crate::random::XorShift;

/// Words that count as common.
const COMMON_WORDS: usize = 1_000;

/// Words too common to be selective, and the shortest selective one in characters.
const FREQUENT_WORDS: usize = 100;
const SELECTIVE_CHARS_MIN: usize = 4;

/// How a query's two words that must be there and two that must not are chosen. Each recipe draws from [`XorShift`]
/// with the seed of its definition, in the order described, so a workload is made again from its texts and its seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recipe {
    /// Four different words drawn evenly from the 1,000 commonest of all texts; a word already drawn is drawn again.
    /// The first two must be there.
    Common,
    /// A text is drawn, then two different words of it, of at least four characters and outside the 100 commonest;
    /// these must be there. The two that must not come from another text in the same way. A text with fewer than
    /// two such words is drawn again.
    Selective,
}

impl Recipe {
    /// `count` queries as text, such as `red net -sea -fish`; none if the texts hold too few words to draw from.
    #[must_use]
    pub fn queries(self, texts: &[&str], count: usize, seed: u64) -> Option<Vec<String>> {
        let common = commonest_words(texts);
        let mut random = XorShift::new(seed);
        match self {
            Recipe::Common => {
                let common = &common[..common.len().min(COMMON_WORDS)];
                let query = |_| common_query(common, &mut random);
                (common.len() >= 4).then(|| (0..count).map(query).collect())
            }
            Recipe::Selective => {
                let chosen = selective_words(texts, &common);
                let query = |_| selective_query(&chosen, &mut random);
                (!chosen.is_empty()).then(|| (0..count).map(query).collect())
            }
        }
    }
}

/// Every word of the texts, commonest first, equal ones in the order of their bytes. Marked words (`#tag`,
/// `@handle`) are left out: their bare forms are counted.
#[must_use]
pub fn commonest_words(texts: &[&str]) -> Vec<String> {
    let mut counts: HashMap<String, u64> = HashMap::new();
    each_word(texts, |_, word| match counts.get_mut(word) {
        Some(count) => *count += 1,
        None => drop(counts.insert(word.to_owned(), 1)),
    });
    let mut counted: Vec<(String, u64)> = counts.into_iter().collect();
    counted.sort_by(|(word_a, a), (word_b, b)| b.cmp(a).then_with(|| word_a.cmp(word_b)));
    counted.into_iter().map(|(word, _)| word).collect()
}

fn each_word(texts: &[&str], mut visit: impl FnMut(usize, &str)) {
    let analyzer = Analyzer::default();
    let mut words = Words::new();
    for (number, text) in texts.iter().enumerate() {
        words.clear();
        words.push_field(&analyzer, 0, text);
        let bare = words
            .iter()
            .map(|(word, _, _)| word)
            .filter(|w| !w.starts_with(['#', '@']));
        bare.for_each(|word| visit(number, word));
    }
}

fn common_query(common: &[String], random: &mut XorShift) -> String {
    let mut drawn: Vec<usize> = Vec::with_capacity(4);
    while drawn.len() < 4 {
        let next = random.below(common.len());
        if !drawn.contains(&next) {
            drawn.push(next);
        }
    }
    let [a, b, c, d] = [0, 1, 2, 3].map(|place| &common[drawn[place]]);
    format!("{a} {b} -{c} -{d}")
}

/// The selective words of each text that has at least two, each once.
fn selective_words(texts: &[&str], commonest: &[String]) -> Vec<Vec<String>> {
    let frequent = &commonest[..commonest.len().min(FREQUENT_WORDS)];
    let mut chosen: Vec<Vec<String>> = vec![Vec::new(); texts.len()];
    each_word(texts, |number, word| {
        let own = &mut chosen[number];
        let selective = word.chars().count() >= SELECTIVE_CHARS_MIN
            && !frequent.iter().any(|other| other == word);
        if selective && !own.iter().any(|other| other == word) {
            own.push(word.to_owned());
        }
    });
    chosen.retain(|own| own.len() >= 2);
    chosen
}

fn selective_query(chosen: &[Vec<String>], random: &mut XorShift) -> String {
    let (a, b) = two_words(chosen, random);
    let (c, d) = two_words(chosen, random);
    format!("{a} {b} -{c} -{d}")
}

fn two_words<'c>(chosen: &'c [Vec<String>], random: &mut XorShift) -> (&'c str, &'c str) {
    let own = &chosen[random.below(chosen.len())];
    let first = random.below(own.len());
    let second = (first + 1 + random.below(own.len() - 1)) % own.len();
    (&own[first], &own[second])
}
