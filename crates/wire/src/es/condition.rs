//! Conditions on a document, and their split into a query text and a filter.
//!
//! A pq table joins text and filter by AND, so a condition splits only if each OR and each NOT is all text or all filter:
//!
//! ```text
//! All[cat, price < 5]           text: cat         filter: price < 5
//! All[cat, not Any[dog, n = 1]] text: cat -dog    filter: NOT (n IS NOT NULL AND n = 1)     NOT of each alternative
//! Any[cat, price < 5]           an error: neither a text nor a filter
//! ```

use super::error::EsError;

/// Most combinations that replace a `minimum_should_match` over queries.
const COMBINATIONS_MAX: usize = 256;

/// A standing query as a pq table stores it. A document must fulfil both parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Text of our own query language; empty: only the filter counts.
    pub text: String,
    /// Filter over the columns; empty: only the text counts.
    pub filters: String,
}

/// A condition on one document.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Condition {
    Everything,
    Nothing,
    /// An operand of the query language: a word, or a bracket.
    Text(String),
    /// A test of a column, as an expression.
    Filter {
        column: String,
        test: String,
    },
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Not(Box<Condition>),
}

/// Parts of a condition: only texts, only filters, or both.
#[derive(Clone, Copy, PartialEq)]
enum Matter {
    Text,
    Filter,
    Both,
}

impl Condition {
    pub(super) fn filter(column: &str, test: String) -> Condition {
        let column = column.to_owned();
        Condition::Filter { column, test }
    }

    pub(super) fn all(list: Vec<Condition>) -> Condition {
        let mut flat = Vec::with_capacity(list.len());
        for condition in list {
            match condition {
                Condition::Everything => {}
                Condition::Nothing => return Condition::Nothing,
                Condition::All(inner) => flat.extend(inner),
                other => flat.push(other),
            }
        }
        match flat.len() {
            0 => Condition::Everything,
            1 => flat.remove(0),
            _ => Condition::All(flat),
        }
    }

    pub(super) fn any(list: Vec<Condition>) -> Condition {
        let mut flat = Vec::with_capacity(list.len());
        for condition in list {
            match condition {
                Condition::Nothing => {}
                Condition::Everything => return Condition::Everything,
                Condition::Any(inner) => flat.extend(inner),
                other => flat.push(other),
            }
        }
        match flat.len() {
            0 => Condition::Nothing,
            1 => flat.remove(0),
            _ => Condition::Any(flat),
        }
    }

    /// Negates a condition. NOT (a OR b) becomes NOT a AND NOT b, so that a text and a filter can be split.
    pub(super) fn not(condition: Condition) -> Condition {
        match condition {
            Condition::Everything => Condition::Nothing,
            Condition::Nothing => Condition::Everything,
            Condition::Not(inner) => *inner,
            Condition::Any(list) => Condition::all(list.into_iter().map(Condition::not).collect()),
            other => Condition::Not(Box::new(other)),
        }
    }

    fn matter(&self) -> Matter {
        match self {
            Condition::Everything | Condition::Nothing | Condition::Filter { .. } => Matter::Filter,
            Condition::Text(_) => Matter::Text,
            Condition::Not(inner) => inner.matter(),
            Condition::All(list) | Condition::Any(list) => {
                let mut matters = list.iter().map(Condition::matter);
                let first = matters.next().unwrap_or(Matter::Filter);
                if matters.all(|matter| matter == first) {
                    first
                } else {
                    Matter::Both
                }
            }
        }
    }

    /// Splits the condition. `path` is its path in the body, for the error.
    pub(super) fn part(self, path: &str) -> Result<Standing, EsError> {
        let list = match self {
            Condition::Everything => return Ok(Standing::default()),
            Condition::All(list) => list,
            other => vec![other],
        };
        let (mut wanted, mut excluded, mut filters) = (Vec::new(), Vec::new(), Vec::new());
        for condition in &list {
            match (condition.matter(), condition) {
                (Matter::Text, Condition::Not(_)) => excluded.push(condition.text()),
                (Matter::Text, _) => wanted.push(condition.text()),
                (Matter::Filter, _) => filters.push(condition.test(false)),
                (Matter::Both, _) => {
                    let what = "alternatives that mix words of text fields with values of other fields: \
                        a standing query is words and a filter; store such a query as several";
                    return Err(EsError::not_yet(path, what));
                }
            }
        }
        wanted.extend(excluded);
        Ok(Standing {
            text: wanted.join(" "),
            filters: filters.join(" AND "),
        })
    }

    fn text(&self) -> String {
        let list = |list: &[Condition], between| {
            let texts: Vec<String> = list.iter().map(Condition::text).collect();
            format!("({})", texts.join(between))
        };
        match self {
            Condition::Text(text) => text.clone(),
            Condition::All(conditions) => {
                let mut sorted = conditions.clone();
                sorted.sort_by_key(|condition| matches!(condition, Condition::Not(_)));
                list(&sorted, " ")
            }
            Condition::Any(conditions) => list(conditions, " | "),
            Condition::Not(inner) => format!("-{}", inner.text()),
            Condition::Everything | Condition::Nothing | Condition::Filter { .. } => String::new(),
        }
    }

    /// The filter's text. `negated`: below a NOT a column without a value must give false, not unknown.
    fn test(&self, negated: bool) -> String {
        let list = |list: &[Condition], between| {
            let tests: Vec<String> = list
                .iter()
                .map(|condition| condition.test(negated))
                .collect();
            format!("({})", tests.join(between))
        };
        match self {
            Condition::Everything => "1 = 1".to_owned(),
            Condition::Nothing | Condition::Text(_) => "1 = 0".to_owned(),
            Condition::Filter { column, test } if negated => {
                format!("({column} IS NOT NULL AND {test})")
            }
            Condition::Filter { test, .. } => test.clone(),
            Condition::All(conditions) => list(conditions, " AND "),
            Condition::Any(conditions) => list(conditions, " OR "),
            Condition::Not(inner) => format!("NOT {}", inner.test(true)),
        }
    }
}

/// The condition that at least `least` of the conditions hold.
pub(super) fn at_least(
    conditions: Vec<Condition>,
    least: usize,
    path: &str,
) -> Result<Condition, EsError> {
    let count = conditions.len();
    match least {
        0 => Ok(Condition::Everything),
        1 => Ok(Condition::any(conditions)),
        _ if least > count => Ok(Condition::Nothing),
        _ if least == count => Ok(Condition::all(conditions)),
        _ => {
            let mut chosen = Vec::new();
            combinations(&conditions, least, &mut Vec::new(), &mut chosen);
            if chosen.len() > COMBINATIONS_MAX {
                let what =
                    format!("minimum_should_match with more than {COMBINATIONS_MAX} combinations");
                return Err(EsError::not_yet(path, what));
            }
            Ok(Condition::any(chosen))
        }
    }
}

/// All combinations of `least` of the conditions; stops beyond [`COMBINATIONS_MAX`].
fn combinations(
    rest: &[Condition],
    least: usize,
    taken: &mut Vec<Condition>,
    chosen: &mut Vec<Condition>,
) {
    if chosen.len() > COMBINATIONS_MAX || rest.len() < least {
        return;
    }
    let Some((first, rest)) = rest.split_first().filter(|_| least > 0) else {
        return chosen.push(Condition::all(taken.clone()));
    };
    taken.push(first.clone());
    combinations(rest, least - 1, taken, chosen);
    taken.pop();
    combinations(rest, least, taken, chosen);
}
