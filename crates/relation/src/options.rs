//! The options of a SELECT: OPTION, `options` of a JSON body, and a table's own ranker.

mod modes;
#[cfg(test)]
mod tests;

pub use modes::MatchMode;

use std::fmt;

use language::Leniency;
use language::nearest::nearest;

use crate::scroll::Scroll;

/// Default of `max_matches`, as in Sphinx: the rows that a SELECT with MATCH may page through.
pub const MAX_MATCHES: u64 = 1000;

/// The greatest weight of a field: sums over 64 fields and thousands of words stay far from an `i64`'s end.
pub const FIELD_WEIGHT_MAX: u32 = 65_535;

/// Sphinx's options that change no answer here; `docs/compat.md` gives the reason for each.
const WITHOUT_MEANING: [&str; 20] = [
    "accurate_aggregation",
    "agent_query_timeout",
    "boolean_simplify",
    "comment",
    "distinct_precision_threshold",
    "expand_blended",
    "expansion_limit",
    "global_idf",
    "index_weights",
    "local_df",
    "low_priority",
    "max_matches_increase_threshold",
    "max_predicted_time",
    "rand_seed",
    "rank_constant",
    "retry_count",
    "retry_delay",
    "reverse_scan",
    "sort_mem",
    "sort_method",
];

/// Options that would change an answer and are not built yet. The value 0 is accepted: it is what happens without
/// them.
const LATER: [&str; 7] = [
    "expand_keywords",
    "fusion_method",
    "fuzzy",
    "jieba_mode",
    "layouts",
    "morphology",
    "token_filter",
];

/// The options that have an effect.
const KNOWN: [&str; 12] = [
    "boolean_mode",
    "cutoff",
    "field_weights",
    "idf",
    "match_mode",
    "max_matches",
    "max_query_time",
    "max_threads_per_query",
    "not_terms_only_allowed",
    "ranker",
    "scroll",
    "threads",
];

/// The formula that makes a row's weight of the places of the query's words in it. ADR 028 has the formulas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Ranker {
    /// Runs of the query's words, and how rare they are.
    #[default]
    ProximityBm25,
    /// Fields that match, and how rare the words are.
    Bm25,
    /// Every row weighs 1.
    None,
    /// Occurrences of the query's words.
    Wordcount,
    /// Runs of the query's words.
    Proximity,
    /// Words that match, and runs of them that always weigh more.
    Matchany,
    /// A bit for each field that matches.
    Fieldmask,
    /// Runs, beginnings of fields and whole fields, and how rare the words are.
    Sph04,
    /// Rarity and occurrences of the words, scaled by the length of the row.
    Bm25a,
}

impl Ranker {
    /// All rankers, by name.
    pub const NAMED: [(&'static str, Ranker); 9] = [
        ("proximity_bm25", Ranker::ProximityBm25),
        ("bm25", Ranker::Bm25),
        ("none", Ranker::None),
        ("wordcount", Ranker::Wordcount),
        ("proximity", Ranker::Proximity),
        ("matchany", Ranker::Matchany),
        ("fieldmask", Ranker::Fieldmask),
        ("sph04", Ranker::Sph04),
        ("bm25a", Ranker::Bm25a),
    ];

    /// The ranker of a name, in any case.
    ///
    /// # Errors
    /// A message with all names, or that the ranker is not built yet.
    pub fn named(name: &str) -> Result<Ranker, String> {
        let lower = name.to_ascii_lowercase();
        if lower.starts_with("expr(") || lower == "export" {
            return Err(format!("not yet: ranker={name}"));
        }
        one_of(name, "ranker", &Ranker::NAMED)
    }

    /// The name in [`Ranker::NAMED`].
    #[must_use]
    pub fn name(self) -> &'static str {
        let named = Ranker::NAMED.iter().find(|(_, ranker)| *ranker == self);
        named.map_or("", |(name, _)| name)
    }
}

/// How `idf` is computed. The default is Sphinx's, `normalized,tfidf_normalized`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Idf {
    /// `ln(rows / documents)`: a word that most rows hold then lowers no weight.
    pub plain: bool,
    /// Not divided by the number of the query's words.
    pub unnormalized: bool,
}

/// The options of one SELECT.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// `ranker`; `None` if not given.
    pub ranker: Option<Ranker>,
    /// `field_weights`: text columns by lower-case name; 1 for all others.
    pub field_weights: Vec<(String, u32)>,
    /// `idf`: how the rarity of words is computed.
    pub idf: Idf,
    /// `max_matches`: OFFSET must be below it, and LIMIT ends there. `None` if not given.
    pub max_matches: Option<u64>,
    /// `cutoff`: matches after which the search may stop; 0 for never.
    pub cutoff: u64,
    /// `max_query_time` in milliseconds; 0 for no limit.
    pub max_query_time_ms: u64,
    /// `threads`, or `max_threads_per_query`; 0 for all idle threads.
    pub threads: u32,
    /// `match_mode`: how the text of MATCH is read; `None` if not given.
    pub match_mode: Option<MatchMode>,
    /// `scroll`: which page of the rows is wanted; `None`: the answer is not read in pages.
    pub scroll: Option<Scroll>,
    /// `boolean_mode` (any word or all) and `not_terms_only_allowed` (a query may only exclude).
    pub leniency: Leniency,
}

/// The message of a refused option: lower case, no full stop, with the option's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionError(pub String);

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for OptionError {}

impl Options {
    /// Reads pairs of a lower-case name and a value as written. The last pair of a name counts.
    ///
    /// # Errors
    /// An unknown name, with the nearest known one; a value that the option does not take.
    pub fn parse(pairs: &[(String, String)]) -> Result<Options, OptionError> {
        let mut options = Options::default();
        for (name, value) in pairs {
            options.set(name, value.trim()).map_err(OptionError)?;
        }
        Ok(options)
    }

    /// Rows that a page may reach, of a MATCH if `matching`; `None`: all.
    #[must_use]
    pub fn rows_max(&self, matching: bool) -> Option<u64> {
        self.max_matches.or(matching.then_some(MAX_MATCHES))
    }

    /// The effective ranker: the named one, else that of the match mode, else the default.
    #[must_use]
    pub fn ranker(&self) -> Ranker {
        self.own_ranker().unwrap_or_default()
    }

    /// The ranker of the statement itself: by its name, or by a match mode that has one.
    #[must_use]
    pub fn own_ranker(&self) -> Option<Ranker> {
        let of_mode = || self.match_mode.and_then(MatchMode::ranker);
        self.ranker.or_else(of_mode)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        match name {
            "ranker" => self.ranker = Some(Ranker::named(value)?),
            "field_weights" => self.field_weights = field_weights(value)?,
            "idf" => self.idf = idf(value)?,
            "max_matches" => match number(name, value)? {
                0 => return Err("max_matches must be at least 1".to_owned()),
                most => self.max_matches = Some(most),
            },
            "cutoff" => self.cutoff = number(name, value)?,
            "max_query_time" => self.max_query_time_ms = number(name, value)?,
            "threads" | "max_threads_per_query" => {
                self.threads = number(name, value)?.try_into().unwrap_or(u32::MAX);
            }
            "scroll" => self.scroll = Scroll::parse(value)?,
            "match_mode" => self.match_mode = Some(MatchMode::named(value)?),
            "boolean_mode" => {
                self.leniency.any_word = one_of(value, name, &[("and", false), ("or", true)])?
            }
            "not_terms_only_allowed" => {
                self.leniency.only_negated = one_of(value, name, &[("0", false), ("1", true)])?;
            }
            name if WITHOUT_MEANING.contains(&name) => {}
            name if LATER.contains(&name) && value == "0" => {}
            name if LATER.contains(&name) => return Err(format!("not yet: option {name}")),
            name => return Err(unknown(name)),
        }
        Ok(())
    }
}

fn unknown(name: &str) -> String {
    let known = KNOWN.iter().chain(&WITHOUT_MEANING).chain(&LATER).copied();
    let meant =
        nearest(name, known).map_or_else(String::new, |meant| format!(", did you mean {meant}?"));
    format!("no option '{name}'{meant}")
}

/// The value of a name, in any case.
fn one_of<T: Copy>(name: &str, what: &str, named: &[(&str, T)]) -> Result<T, String> {
    let found = named
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(name));
    found.map(|(_, value)| *value).ok_or_else(|| {
        let all: Vec<&str> = named.iter().map(|(known, _)| *known).collect();
        format!("{what}='{name}' is not one of: {}", all.join(", "))
    })
}

fn number(name: &str, value: &str) -> Result<u64, String> {
    let wrong = |_| format!("{name}={value} is not a number from 0 on");
    value.parse().map_err(wrong)
}

/// `(title=10, body=3)`.
fn field_weights(value: &str) -> Result<Vec<(String, u32)>, String> {
    let wrong = || format!("field_weights={value} is not of the form (column=weight, …)");
    let inside = value
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'));
    let mut weights = Vec::new();
    for pair in inside
        .ok_or_else(wrong)?
        .split(',')
        .filter(|pair| !pair.trim().is_empty())
    {
        let (name, weight) = pair.split_once('=').ok_or_else(wrong)?;
        let weight: u32 = weight.trim().parse().map_err(|_| wrong())?;
        if weight > FIELD_WEIGHT_MAX {
            return Err(format!(
                "field_weights={value}: a weight is at most {FIELD_WEIGHT_MAX}"
            ));
        }
        let name = name.trim().trim_matches('`').to_lowercase();
        weights.push((name, weight));
    }
    Ok(weights)
}

/// `plain,tfidf_unnormalized` and the like.
fn idf(value: &str) -> Result<Idf, String> {
    let mut idf = Idf::default();
    for flag in value
        .split(',')
        .map(str::trim)
        .filter(|flag| !flag.is_empty())
    {
        match flag.to_lowercase().as_str() {
            "normalized" => idf.plain = false,
            "plain" => idf.plain = true,
            "tfidf_normalized" => idf.unnormalized = false,
            "tfidf_unnormalized" => idf.unnormalized = true,
            _ => {
                return Err(format!(
                    "idf='{flag}' is not one of: normalized, plain, tfidf_normalized, tfidf_unnormalized"
                ));
            }
        }
    }
    Ok(idf)
}
