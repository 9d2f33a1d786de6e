//! The words of the posts, as the recipes need them.

use std::collections::{HashMap, HashSet};

use query::analysis::{Analyzer, Words};

use super::{Post, Recipe};

/// Words that count as common.
const COMMON_WORDS: usize = 1_000;

/// Words too common to be selective, and the shortest selective one in characters.
const FREQUENT_WORDS: usize = 100;
const SELECTIVE_CHARS_MIN: usize = 4;

/// The words that a recipe draws from. Lists that it does not need are empty.
#[derive(Default)]
pub(super) struct TextWords {
    /// The commonest of all.
    pub(super) common: Vec<String>,
    /// Of each post that has enough: its words, each once.
    pub(super) sets: Vec<Vec<String>>,
    /// Of each post that has two words or more and a selective one: its words in order.
    pub(super) runs: Vec<Vec<InOrder>>,
}

/// A word in its place.
pub(super) struct InOrder {
    pub(super) word: String,
    pub(super) selective: bool,
}

impl TextWords {
    /// None if the posts hold too few words for the recipe.
    pub(super) fn new(recipe: Recipe, posts: &[Post]) -> Option<TextWords> {
        let texts: Vec<&str> = posts.iter().map(|post| post.body.as_str()).collect();
        let mut commonest = commonest_words(&texts);
        if recipe == Recipe::Common {
            commonest.truncate(COMMON_WORDS);
            return (commonest.len() >= 4).then(|| TextWords {
                common: commonest,
                ..TextWords::default()
            });
        }
        commonest.truncate(FREQUENT_WORDS);
        let frequent: HashSet<&str> = commonest.iter().map(String::as_str).collect();
        let selective =
            |word: &str| word.chars().count() >= SELECTIVE_CHARS_MIN && !frequent.contains(word);
        let all = |_: &str| true;
        let words = TextWords {
            common: Vec::new(),
            sets: match recipe {
                Recipe::Phrases => Vec::new(),
                Recipe::Any => sets(&texts, 2, all),
                Recipe::AnyFive => sets(&texts, 5, all),
                Recipe::SelectiveFive => sets(&texts, 5, selective),
                _ => sets(&texts, 2, selective),
            },
            runs: match recipe {
                Recipe::Phrases | Recipe::Mixed => runs(&texts, selective),
                _ => Vec::new(),
            },
        };
        let lacks_sets = words.sets.is_empty() && recipe != Recipe::Phrases;
        let lacks_runs = words.runs.is_empty() && matches!(recipe, Recipe::Phrases | Recipe::Mixed);
        (!lacks_sets && !lacks_runs).then_some(words)
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

/// The wanted words of each text that has at least so many, each once, in the order of the text.
fn sets(texts: &[&str], words_min: usize, wanted: impl Fn(&str) -> bool) -> Vec<Vec<String>> {
    let mut sets: Vec<Vec<String>> = vec![Vec::new(); texts.len()];
    each_word(texts, |number, word| {
        let own = &mut sets[number];
        if wanted(word) && !own.iter().any(|other| other == word) {
            own.push(word.to_owned());
        }
    });
    sets.retain(|own| own.len() >= words_min);
    sets
}

/// The words in order of each text that has at least two and a selective one.
fn runs(texts: &[&str], selective: impl Fn(&str) -> bool) -> Vec<Vec<InOrder>> {
    let mut runs: Vec<Vec<InOrder>> = texts.iter().map(|_| Vec::new()).collect();
    each_word(texts, |number, word| {
        runs[number].push(InOrder {
            word: word.to_owned(),
            selective: selective(word),
        });
    });
    runs.retain(|run| run.len() >= 2 && run.iter().any(|each| each.selective));
    runs
}
