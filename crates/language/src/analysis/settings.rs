//! The settings of analysis, by Sphinx's names.

use std::hash::{Hash, Hasher};

use frostem::{Algorithm, Stemmer};

use super::units::Sentences;
use crate::pattern::Literal;

/// Most stemmers of one table.
const STEMMERS_MAX: usize = 8;

/// Greatest value of `min_infix_len` and `min_prefix_len`.
const LENGTH_MAX: u8 = 32;

/// `index_sp` in a stored definition, of tables whose sentence ends take no position.
const STORED_UNPLACED: &str = "1";

/// The same, of tables whose sentence ends take a position.
const STORED_PLACED: &str = "2";

/// A table's settings of analysis. The default is a table without any.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Settings {
    /// In the order of trial: the first stemmer that changes a word gives its stem.
    stemmers: Vec<Algorithm>,
    exact_words: bool,
    sentences: Sentences,
    infix_min: u8,
    prefix_min: u8,
}

impl Settings {
    /// The names of all settings.
    pub const NAMES: [&'static str; 5] = [
        "morphology",
        "index_exact_words",
        "index_sp",
        "min_infix_len",
        "min_prefix_len",
    ];

    /// Changes a setting. `None`: no setting of analysis has that name.
    ///
    /// # Errors
    /// A message that says which values are allowed.
    pub fn set(&mut self, name: &str, value: &str) -> Option<Result<(), String>> {
        let value = value.trim();
        Some(match name.to_ascii_lowercase().as_str() {
            "morphology" => stemmers(value).map(|stemmers| self.stemmers = stemmers),
            "index_exact_words" => switch(name, value).map(|on| self.exact_words = on),
            "index_sp" => switch(name, value).map(|on| {
                self.sentences = match on {
                    true => Sentences::Placed,
                    false => Sentences::Unknown,
                };
            }),
            "min_infix_len" => length(name, value).map(|least| self.infix_min = least),
            "min_prefix_len" => length(name, value).map(|least| self.prefix_min = least),
            _ => return None,
        })
    }

    /// As [`Settings::set`], from a stored definition: `index_sp` has a number for each set of rules that ever was.
    ///
    /// # Errors
    /// Those of [`Settings::set`].
    pub fn set_stored(&mut self, name: &str, value: &str) -> Option<Result<(), String>> {
        self.sentences = match (name, value) {
            ("index_sp", STORED_UNPLACED) => Sentences::Unplaced,
            ("index_sp", STORED_PLACED) => Sentences::Placed,
            _ => return self.set(name, value),
        };
        Some(Ok(()))
    }

    /// The settings that differ from the default, as [`Settings::set`] reads them.
    #[must_use]
    pub fn pairs(&self) -> Vec<(&'static str, String)> {
        self.pairs_with(name_of, if self.units() { "1" } else { "0" })
    }

    /// The settings that differ from the default, as [`Settings::set_stored`] reads them.
    #[must_use]
    pub fn stored_pairs(&self) -> Vec<(&'static str, String)> {
        let sentences = match self.sentences {
            Sentences::Unknown => "0",
            Sentences::Unplaced => STORED_UNPLACED,
            Sentences::Placed => STORED_PLACED,
        };
        self.pairs_with(algorithm_of, sentences)
    }

    fn pairs_with(
        &self,
        name: fn(Algorithm) -> String,
        sentences: &str,
    ) -> Vec<(&'static str, String)> {
        let names: Vec<String> = self.stemmers.iter().map(|one| name(*one)).collect();
        let numbers = [
            ("index_exact_words", u8::from(self.exact_words).to_string()),
            ("index_sp", sentences.to_owned()),
            ("min_infix_len", self.infix_min.to_string()),
            ("min_prefix_len", self.prefix_min.to_string()),
        ];
        let mut pairs = Vec::new();
        if !names.is_empty() {
            pairs.push(("morphology", names.join(", ")));
        }
        pairs.extend(numbers.into_iter().filter(|(_, number)| number != "0"));
        pairs
    }

    /// Whether documents keep stems, with the words as written beside them.
    #[must_use]
    pub fn stems(&self) -> bool {
        !self.stemmers.is_empty()
    }

    /// Whether documents keep the bounds of sentences and paragraphs.
    #[must_use]
    pub fn units(&self) -> bool {
        self.sentences != Sentences::Unknown
    }

    pub(super) fn sentences(&self) -> Sentences {
        self.sentences
    }

    /// Whether documents are read as by default.
    pub(super) fn is_plain(&self) -> bool {
        !self.stems() && !self.units()
    }

    /// The stem of a word, if a stemmer changes it. `folded` is the word without accents. English stems that one
    /// (`naïve` is `naive` there), since it has no accents of its own; other languages' stemmers know letters by
    /// their accents.
    pub(super) fn stem(&self, word: &str, folded: &str) -> Option<String> {
        self.stemmers.iter().find_map(|stemmer| {
            let word = match stemmer {
                Algorithm::English => folded,
                _ => word,
            };
            let stem = Stemmer::new(*stemmer).stem(word);
            (stem != word && !stem.is_empty()).then(|| stem.into_owned())
        })
    }

    pub(super) fn hash_stemmers(&self, hasher: &mut impl Hasher) {
        self.stemmers.hash(hasher);
    }

    /// Checks that a pattern has enough letters side by side for the table.
    ///
    /// # Errors
    /// A message that names the setting.
    pub(crate) fn allow(&self, literal: &Literal) -> Result<(), String> {
        let (name, least) = match literal {
            Literal::Prefix(_) if self.prefix_min > 0 => ("min_prefix_len", self.prefix_min),
            _ => ("min_infix_len", self.infix_min),
        };
        let letters = literal.text().trim_start_matches('=').chars().count();
        if letters >= usize::from(least) {
            return Ok(());
        }
        Err(format!(
            "a word with wildcards needs {least} letters side by side ({name})"
        ))
    }
}

fn stemmers(value: &str) -> Result<Vec<Algorithm>, String> {
    let mut stemmers = Vec::new();
    for name in value.split(',').map(str::trim) {
        match name.to_ascii_lowercase().as_str() {
            "" | "none" => {}
            "stem_en" => stemmers.push(Algorithm::English),
            "stem_ru" => stemmers.push(Algorithm::Russian),
            "stem_enru" => stemmers.extend([Algorithm::English, Algorithm::Russian]),
            "stem_cz" => stemmers.push(Algorithm::Czech),
            "stem_ar" => stemmers.push(Algorithm::Arabic),
            lower => match lower.strip_prefix("libstemmer_").map(Algorithm::from_name) {
                Some(Ok(algorithm)) => stemmers.push(algorithm),
                _ => return Err(unknown_stemmer(name)),
            },
        }
    }
    stemmers.dedup();
    if stemmers.len() > STEMMERS_MAX {
        return Err(format!("morphology takes at most {STEMMERS_MAX} stemmers"));
    }
    Ok(stemmers)
}

fn unknown_stemmer(name: &str) -> String {
    format!(
        "unknown morphology '{name}': none, stem_en, stem_ru, stem_enru, stem_cz, stem_ar, or libstemmer_ and a language of \
         Snowball, such as libstemmer_german"
    )
}

fn name_of(algorithm: Algorithm) -> String {
    match algorithm {
        Algorithm::English => "stem_en".to_owned(),
        Algorithm::Russian => "stem_ru".to_owned(),
        Algorithm::Czech => "stem_cz".to_owned(),
        Algorithm::Arabic => "stem_ar".to_owned(),
        other => algorithm_of(other),
    }
}

/// The algorithm's own name, which stays right if an option later means another algorithm.
fn algorithm_of(algorithm: Algorithm) -> String {
    format!("libstemmer_{}", algorithm.name())
}

fn switch(name: &str, value: &str) -> Result<bool, String> {
    match value {
        "0" => Ok(false),
        "1" => Ok(true),
        _ => Err(format!("{name} is 0 or 1, not '{value}'")),
    }
}

fn length(name: &str, value: &str) -> Result<u8, String> {
    let least = value.parse().ok().filter(|least| *least <= LENGTH_MAX);
    least.ok_or_else(|| format!("{name} is 0 to {LENGTH_MAX}, not '{value}'"))
}
