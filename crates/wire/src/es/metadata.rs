//! Conditions of a search on stored documents: hits of percolate clauses, and tests of the fields beside the query.

use std::cmp::Ordering;

use serde_json::{Map, Value as Json};

use super::document::at;
use super::error::EsError;
use super::language::words;
use super::leaf::text_of;
use super::mapping::{FieldKind, Mapping, object};
use super::number::minimum;
use super::paths::glob;
use super::standing::query_entry;

type Result<T> = std::result::Result<T, EsError>;

/// A condition on a stored document.
#[derive(Clone, Debug, PartialEq)]
pub enum Find {
    /// Holds for every document.
    Everything,
    /// Holds for no document.
    Nothing,
    /// A document of the percolate clause with this index hits its query.
    Percolated(usize),
    /// Its `_id` is in the list.
    Ids(Vec<String>),
    /// A test of a field's values.
    Field {
        /// Path of the field in the document.
        place: String,
        /// Whether values are compared by words, not as a whole.
        is_text: bool,
        /// The test; it holds if one of the field's values passes.
        test: Test,
    },
    /// All conditions hold.
    All(Vec<Find>),
    /// At least this count of the conditions hold.
    AtLeast(usize, Vec<Find>),
    /// The condition does not hold.
    Not(Box<Find>),
}

/// A test of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// The value equals one of these; a text contains the words of one of these.
    OneOf(Vec<Json>),
    /// The text contains one of the words; if true, all of them.
    Words(Vec<String>, bool),
    /// The value is within all bounds; each has its name in `range`, such as `gte`.
    Range(Vec<(String, Json)>),
    /// The field has a value.
    Exists,
    /// The value fits a pattern with `*` and `?`.
    Pattern(String),
}

impl Find {
    /// Whether it can hold only for documents with a percolation hit.
    #[must_use]
    pub fn needs_hit(&self) -> bool {
        match self {
            Find::Percolated(_) => true,
            Find::All(list) => list.iter().any(Find::needs_hit),
            Find::AtLeast(least, list) => *least > 0 && list.iter().all(Find::needs_hit),
            _ => false,
        }
    }

    /// Whether [`holds`](Self::holds) needs the document's text.
    #[must_use]
    pub fn needs_document(&self) -> bool {
        match self {
            Find::Field { .. } => true,
            Find::All(list) | Find::AtLeast(_, list) => list.iter().any(Find::needs_document),
            Find::Not(inner) => inner.needs_document(),
            _ => false,
        }
    }

    /// Whether it holds for a document. `hit` tells for each percolate clause whether it hits.
    #[must_use]
    pub fn holds(&self, id: &str, document: &Json, hit: &dyn Fn(usize) -> bool) -> bool {
        match self {
            Find::Everything => true,
            Find::Nothing => false,
            Find::Percolated(clause) => hit(*clause),
            Find::Ids(ids) => ids.iter().any(|one| one == id),
            Find::Field {
                place,
                is_text,
                test,
            } => {
                let mut values = Vec::new();
                at(document, place, &mut values);
                values.into_iter().any(|value| test.passes(value, *is_text))
            }
            Find::All(list) => list.iter().all(|find| find.holds(id, document, hit)),
            Find::AtLeast(least, list) => {
                list.iter()
                    .filter(|find| find.holds(id, document, hit))
                    .take(*least)
                    .count()
                    >= *least
            }
            Find::Not(inner) => !inner.holds(id, document, hit),
        }
    }
}

impl Test {
    fn passes(&self, value: &Json, is_text: bool) -> bool {
        let text = || {
            value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned)
        };
        match self {
            Test::Exists => true,
            Test::OneOf(list) if !is_text => list
                .iter()
                .any(|one| compare(value, one) == Some(Ordering::Equal)),
            Test::OneOf(list) => {
                let here = words(&text());
                list.iter().any(|one| {
                    let wanted = words(one.as_str().unwrap_or_default());
                    !wanted.is_empty() && wanted.iter().all(|word| here.contains(word))
                })
            }
            Test::Words(wanted, all) => {
                let here = words(&text());
                let mut found = wanted.iter().map(|word| here.contains(word));
                if *all {
                    found.all(|found| found)
                } else {
                    found.any(|found| found)
                }
            }
            Test::Range(bounds) => bounds.iter().all(|(bound, limit)| {
                let order = compare(value, limit);
                order.is_some_and(|order| match bound.as_str() {
                    "gt" => order.is_gt(),
                    "gte" | "from" => order.is_ge(),
                    "lt" => order.is_lt(),
                    _ => order.is_le(),
                })
            }),
            Test::Pattern(pattern) if is_text => words(&text())
                .iter()
                .any(|word| glob(&pattern.to_lowercase(), word)),
            Test::Pattern(pattern) => glob(pattern, &text()),
        }
    }
}

/// Compares as numbers if one of the two is a JSON number; the other may then be a text with a number. Else compares as texts.
fn compare(left: &Json, right: &Json) -> Option<Ordering> {
    let number = |json: &Json| match json {
        Json::Number(number) => number.as_f64(),
        Json::String(text) => text.parse().ok(),
        _ => None,
    };
    if left.is_number() || right.is_number() {
        return number(left)?.partial_cmp(&number(right)?);
    }
    let text = |json: &Json| {
        json.as_str()
            .map_or_else(|| json.to_string(), str::to_owned)
    };
    Some(text(left).cmp(&text(right)))
}

/// Parses queries over stored documents. It hands percolate clauses to `percolate`, with their path and whether they count for
/// the score.
pub(super) struct Finding<'a> {
    pub(super) mapping: &'a Mapping,
    pub(super) percolate: &'a mut dyn FnMut(&Json, &str, bool) -> Result<usize>,
}

impl Finding<'_> {
    pub(super) fn read(
        &mut self,
        json: &Json,
        path: &str,
        scored: bool,
        depth: usize,
    ) -> Result<Find> {
        let (kind, body) = query_entry(json, path, depth)?;
        let path = format!("{path}.{kind}");
        match kind {
            "match_all" => Ok(Find::Everything),
            "match_none" => Ok(Find::Nothing),
            "percolate" => Ok(Find::Percolated((self.percolate)(body, &path, scored)?)),
            "constant_score" => {
                let inner = object(body, &path)?.get("filter");
                let inner =
                    inner.ok_or_else(|| EsError::parsing(&path, "requires a [filter] element"))?;
                self.read(inner, &format!("{path}.filter"), false, depth + 1)
            }
            "bool" => self.boolean(body, &path, scored, depth),
            "ids" => {
                let ids = object(body, &path)?.get("values").and_then(Json::as_array);
                let ids = ids.ok_or_else(|| EsError::parsing(&path, "requires [values]"))?;
                Ok(Find::Ids(
                    ids.iter()
                        .map(|id| text_of(id, &path))
                        .collect::<Result<_>>()?,
                ))
            }
            "exists" => {
                let field = object(body, &path)?.get("field").and_then(Json::as_str);
                let field = field
                    .ok_or_else(|| EsError::parsing(&path, "must be provided with a [field]"))?;
                Ok(self.field(field, Test::Exists))
            }
            _ => self.test(kind, body, &path),
        }
    }

    fn test(&self, kind: &str, json: &Json, path: &str) -> Result<Find> {
        if !matches!(
            kind,
            "term" | "terms" | "match" | "range" | "prefix" | "wildcard"
        ) {
            let what = format!("unknown query [{kind}], or none of stored queries' fields");
            return Err(EsError::parsing(path, what));
        }
        let empty = Map::new();
        let entries = object(json, path)?.iter();
        let mut fields = entries.filter(|(name, _)| !matches!(name.as_str(), "boost" | "_name"));
        let (Some((name, body)), None) = (fields.next(), fields.next()) else {
            return Err(EsError::parsing(path, "expected one field"));
        };
        let path = format!("{path}.{name}");
        let options = body.as_object().unwrap_or(&empty);
        let given = [kind, "value", "query"]
            .into_iter()
            .find_map(|option| options.get(option));
        let value = given.unwrap_or(body);
        if name == "_id" {
            let list = value
                .as_array()
                .map_or(std::slice::from_ref(value), Vec::as_slice);
            return Ok(Find::Ids(
                list.iter()
                    .map(|id| text_of(id, &path))
                    .collect::<Result<_>>()?,
            ));
        }
        let test = match kind {
            "term" => Test::OneOf(vec![text_of(value, &path).map(|_| value.clone())?]),
            "terms" => {
                let list = value
                    .as_array()
                    .ok_or_else(|| EsError::parsing(&path, "expected an array"))?;
                Test::OneOf(list.clone())
            }
            "match" if !self.is_text(name) => {
                Test::OneOf(vec![text_of(value, &path).map(|_| value.clone())?])
            }
            "match" => {
                let operator = options.get("operator").and_then(Json::as_str);
                let all = operator.is_some_and(|operator| operator.eq_ignore_ascii_case("and"));
                Test::Words(words(&text_of(value, &path)?), all)
            }
            "range" => Test::Range(bounds(object(body, &path)?, &path)?),
            "prefix" => Test::Pattern(format!("{}*", text_of(value, &path)?)),
            _ => Test::Pattern(text_of(value, &path)?),
        };
        Ok(self.field(name, test))
    }

    fn field(&self, name: &str, test: Test) -> Find {
        let known = self.mapping.field(name);
        // An unmapped field has a keyword beside its text, as Elasticsearch's dynamic mappings make it.
        let place = known.map_or_else(
            || name.strip_suffix(".keyword").unwrap_or(name),
            |field| &field.place,
        );
        Find::Field {
            place: place.to_owned(),
            is_text: self.is_text(name),
            test,
        }
    }

    /// Whether a field is compared by words. An unmapped field is compared as a whole, except by `match`.
    fn is_text(&self, name: &str) -> bool {
        self.mapping
            .field(name)
            .is_some_and(|field| field.kind == FieldKind::Text)
    }

    fn boolean(&mut self, json: &Json, path: &str, scored: bool, depth: usize) -> Result<Find> {
        let body = object(json, path)?;
        let mut wanted = Vec::new();
        let mut should = Vec::new();
        for (name, json) in body {
            let list = json
                .as_array()
                .map_or(std::slice::from_ref(json), Vec::as_slice);
            let path = format!("{path}.{name}");
            let scored = scored && matches!(name.as_str(), "must" | "should");
            for (number, query) in list.iter().enumerate() {
                if matches!(name.as_str(), "minimum_should_match" | "boost" | "_name") {
                    continue;
                }
                let find = self.read(query, &format!("{path}[{number}]"), scored, depth + 1)?;
                match name.as_str() {
                    "must" | "filter" => wanted.push(find),
                    "must_not" => wanted.push(Find::Not(Box::new(find))),
                    "should" => should.push(find),
                    _ => {
                        return Err(EsError::parsing(
                            &path,
                            format!("[bool] query does not support [{name}]"),
                        ));
                    }
                }
            }
        }
        let is_optional = body.contains_key("must") || body.contains_key("filter");
        let least = match body.get("minimum_should_match") {
            Some(json) => minimum(json, should.len(), path)?,
            None => usize::from(!should.is_empty() && !is_optional),
        };
        if least > 0 {
            wanted.push(Find::AtLeast(least, should));
        }
        match wanted.len() {
            1 => Ok(wanted.remove(0)),
            _ => Ok(Find::All(wanted)),
        }
    }
}

fn bounds(body: &Map<String, Json>, path: &str) -> Result<Vec<(String, Json)>> {
    let mut bounds = Vec::new();
    for (name, limit) in body {
        match name.as_str() {
            "gt" | "gte" | "lt" | "lte" | "from" | "to" => {
                bounds.push((name.clone(), limit.clone()))
            }
            "boost" => {}
            _ => {
                return Err(EsError::parsing(
                    path,
                    format!("[range] query does not support [{name}]"),
                ));
            }
        }
    }
    Ok(bounds)
}
