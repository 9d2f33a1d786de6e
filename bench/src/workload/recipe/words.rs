//! The words of the posts, in the forms that recipes need.

use std::collections::{HashMap, HashSet};

use language::analysis::{Analyzer, Words};

use super::{Post, Recipe};

/// Count of words for the recipe `Common`.
const COMMON_WORDS: usize = 1_000;

/// Count of the most frequent words, which are not selective; and the least characters of a selective word.
const FREQUENT_WORDS: usize = 100;
const SELECTIVE_CHARS_MIN: usize = 4;

/// The words that a recipe draws from. Lists that the recipe does not need are empty.
#[derive(Default)]
pub(super) struct TextWords {
    /// The most frequent words of all posts.
    pub(super) common: Vec<String>,
    /// The distinct words of each post that has enough of them.
    pub(super) sets: Vec<Vec<String>>,
    /// The words in order of each post with at least two words and a selective one.
    pub(super) runs: Vec<Vec<InOrder>>,
}

/// A word of a post, in order.
pub(super) struct InOrder {
    pub(super) word: String,
    pub(super) selective: bool,
}

impl TextWords {
    /// Collects the words of the posts; `None`: too few for the recipe.
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

/// Every word of the texts, most frequent first, words of equal frequency in the order of their bytes. Marked words (`#tag`,
/// `@handle`) are left out: their bare forms count.
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

/// The distinct wanted words of each text with at least `words_min` of them, in the order of the text.
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

/// The words in order of each text with at least two words and a selective one.
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
