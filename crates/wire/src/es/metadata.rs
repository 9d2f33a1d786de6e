//! Conditions of a search on stored documents: hits of percolate clauses, and tests of the fields beside the query.

use std::cmp::Ordering;

use relation::schema::ColumnType;
use relation::value::Value;
use serde_json::{Map, Value as Json};

use super::document::at;
use super::error::EsError;
use super::language::words;
use super::leaf::{Bound, text_of};
use super::mapping::{Field, FieldKind, Mapping, object};
use super::number::{compared, minimum, value};
use super::paths::glob;
use super::standing::{
    MATCH, TERM_OPTIONS, how, known, not_fuzzy, only_named, query_entry, within_or_meets, without,
};

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
        /// How its values are read.
        kept: Kept,
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

/// How the values of a field are read.
#[derive(Clone, Debug, PartialEq)]
pub enum Kept {
    /// As words.
    Words,
    /// As values of the field's type, as in the filters of standing queries.
    Typed(Field),
    /// The mapping does not know the field: as what they are.
    Unmapped,
}

/// A test of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// The value equals one of these; a text contains the words of one of these.
    OneOf(Vec<Value>),
    /// The text contains one of the words; if true, all of them.
    Words(Vec<String>, bool),
    /// The value is within all bounds.
    Range(Vec<(Bound, Value)>),
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
            Find::Field { place, kept, test } => {
                let mut values = Vec::new();
                at(document, place, &mut values);
                values.into_iter().any(|value| test.passes(value, kept))
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
    fn passes(&self, json: &Json, kept: &Kept) -> bool {
        match self {
            Test::Exists => true,
            Test::OneOf(list) => match kept {
                Kept::Words => {
                    let here = words(&text(json));
                    list.iter().any(|one| {
                        let wanted = words(&one.to_string());
                        !wanted.is_empty() && wanted.iter().all(|word| here.contains(word))
                    })
                }
                Kept::Typed(_) | Kept::Unmapped => {
                    let equals = |one: &Value| kept.compare(json, one) == Some(Ordering::Equal);
                    list.iter().any(equals)
                }
            },
            Test::Words(wanted, all) => {
                let here = words(&text(json));
                let mut found = wanted.iter().map(|word| here.contains(word));
                match all {
                    true => found.all(|found| found),
                    false => found.any(|found| found),
                }
            }
            Test::Range(bounds) => bounds.iter().all(|(bound, limit)| {
                let order = kept.compare(json, limit);
                order.is_some_and(|order| bound.holds(order))
            }),
            Test::Pattern(pattern) => match kept {
                Kept::Words => words(&text(json))
                    .iter()
                    .any(|word| glob(&pattern.to_lowercase(), word)),
                // As texts of columns are compared.
                Kept::Typed(_) => {
                    let [pattern, text] = [pattern, &text(json)].map(|it| it.to_ascii_lowercase());
                    glob(&pattern, &text)
                }
                Kept::Unmapped => glob(pattern, &text(json)),
            },
        }
    }
}

impl Kept {
    /// The order of a value of a document and a constant; `None`: they have none.
    fn compare(&self, json: &Json, constant: &Value) -> Option<Ordering> {
        match self {
            Kept::Typed(field) => value(field, json, "").ok()?.cmp_sql(constant),
            Kept::Words | Kept::Unmapped => compare(&unmapped(json), constant),
        }
    }

    /// A constant beside the values.
    fn constant(&self, json: &Json, path: &str) -> Result<Value> {
        match self {
            Kept::Typed(field) => compared(field, json, false, path),
            Kept::Words | Kept::Unmapped => text_of(json, path).map(|_| unmapped(json)),
        }
    }
}

fn text(json: &Json) -> String {
    json.as_str()
        .map_or_else(|| json.to_string(), str::to_owned)
}

/// A value of an unmapped field: a number, or a text.
fn unmapped(json: &Json) -> Value {
    match json {
        Json::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(whole), _) => Value::Int(whole.into()),
            (None, Some(whole)) => Value::Int(whole.into()),
            (None, None) => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        other => Value::Str(text(other)),
    }
}

/// Compares as numbers if one of the two is a number; the other may then be a text with a number. Else compares as texts.
fn compare(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::Str(left), Value::Str(right)) => Some(left.cmp(right)),
        _ => {
            let number = |value: &Value| ColumnType::Double.constant(value).ok();
            number(left)?.cmp_sql(&number(right)?)
        }
    }
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
            "match_all" => only_named(body, &path, &[]).map(|()| Find::Everything),
            "match_none" => only_named(body, &path, &[]).map(|()| Find::Nothing),
            "percolate" => Ok(Find::Percolated((self.percolate)(body, &path, scored)?)),
            "constant_score" => {
                only_named(body, &path, &["filter"])?;
                let inner = object(body, &path)?.get("filter");
                let inner =
                    inner.ok_or_else(|| EsError::parsing(&path, "requires a [filter] element"))?;
                self.read(inner, &format!("{path}.filter"), false, depth + 1)
            }
            "bool" => self.boolean(body, &path, scored, depth),
            "ids" => {
                only_named(body, &path, &["values", "type"])?;
                let ids = object(body, &path)?.get("values").and_then(Json::as_array);
                let ids = ids.ok_or_else(|| EsError::parsing(&path, "requires [values]"))?;
                Ok(Find::Ids(
                    ids.iter()
                        .map(|id| text_of(id, &path))
                        .collect::<Result<_>>()?,
                ))
            }
            "exists" => {
                only_named(body, &path, &["field"])?;
                let field = object(body, &path)?.get("field").and_then(Json::as_str);
                let field = field
                    .ok_or_else(|| EsError::parsing(&path, "must be provided with a [field]"))?;
                Ok(self.field(field, Test::Exists))
            }
            _ => self.test(kind, body, &path),
        }
    }

    fn test(&self, kind: &str, json: &Json, path: &str) -> Result<Find> {
        let names: &[&str] = match kind {
            "term" => &["value", "term"],
            "match" => MATCH,
            "prefix" => &["value", "prefix"],
            "wildcard" => &["value", "wildcard"],
            "terms" | "range" => &[],
            _ => {
                let what = format!("unknown query [{kind}], or none of stored queries' fields");
                return Err(EsError::parsing(path, what));
            }
        };
        let entries = object(json, path)?.iter();
        let mut fields = entries.filter(|(name, _)| !matches!(name.as_str(), "boost" | "_name"));
        let (Some((name, body)), None) = (fields.next(), fields.next()) else {
            return Err(EsError::parsing(path, "expected one field"));
        };
        let path = format!("{path}.{name}");
        let empty = Map::new();
        let options = match names {
            [] => &empty,
            _ => body.as_object().unwrap_or(&empty),
        };
        known(options, &path, names, TERM_OPTIONS)?;
        let value = match (names, body) {
            ([], _) => body,
            (_, Json::Object(_)) => {
                let given = ["query", "value", kind];
                let given = given.iter().find_map(|name| options.get(*name));
                given.ok_or_else(|| EsError::parsing(&path, "the value is missing"))?
            }
            _ => body,
        };
        if name == "_id" {
            let list = value.as_array();
            let list = list.map_or(std::slice::from_ref(value), Vec::as_slice);
            let ids = list.iter().map(|id| text_of(id, &path));
            return Ok(Find::Ids(ids.collect::<Result<_>>()?));
        }
        let kept = self.kept(name);
        let test = match kind {
            "match" if kept == Kept::Words => match some_words(value, options, &path)? {
                Ok(test) => test,
                Err(find) => return Ok(find),
            },
            "term" | "match" => Test::OneOf(vec![kept.constant(value, &path)?]),
            "terms" => {
                let list = value
                    .as_array()
                    .ok_or_else(|| EsError::parsing(&path, "expected an array"))?;
                let list = list.iter().map(|one| kept.constant(one, &path));
                Test::OneOf(list.collect::<Result<_>>()?)
            }
            "range" => Test::Range(bounds(object(body, &path)?, &kept, &path)?),
            _ => pattern(kind, value, &kept, &path)?,
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
            kept: self.kept(name),
            test,
        }
    }

    fn kept(&self, name: &str) -> Kept {
        match self.mapping.field(name) {
            Some(field) if field.kind == FieldKind::Text => Kept::Words,
            Some(field) => Kept::Typed(field.clone()),
            None => Kept::Unmapped,
        }
    }

    fn boolean(&mut self, json: &Json, path: &str, scored: bool, depth: usize) -> Result<Find> {
        let body = object(json, path)?;
        without(body, path, "adjust_pure_negative", &["true"])?;
        let mut wanted = Vec::new();
        let mut should = Vec::new();
        for (name, json) in body {
            let list = json
                .as_array()
                .map_or(std::slice::from_ref(json), Vec::as_slice);
            let path = format!("{path}.{name}");
            let scored = scored && matches!(name.as_str(), "must" | "should");
            for (number, query) in list.iter().enumerate() {
                let options = [
                    "minimum_should_match",
                    "boost",
                    "_name",
                    "adjust_pure_negative",
                ];
                if options.contains(&name.as_str()) {
                    continue;
                }
                let find = self.read(query, &format!("{path}[{number}]"), scored, depth + 1)?;
                match name.as_str() {
                    "must" | "filter" => wanted.push(find),
                    "must_not" | "mustNot" => wanted.push(Find::Not(Box::new(find))),
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

/// The test of `prefix` or `wildcard`.
fn pattern(kind: &str, value: &Json, kept: &Kept, path: &str) -> Result<Test> {
    let text = text_of(value, path)?;
    match kept {
        Kept::Typed(field) if field.kind != FieldKind::Keyword => {
            let name = &field.path;
            let what = format!("{kind} on field [{name}], which is neither text nor keyword");
            Err(EsError::query(path, what))
        }
        _ if kind == "prefix" => Ok(Test::Pattern(format!("{text}*"))),
        _ => Ok(Test::Pattern(text)),
    }
}

/// `match` on words: a test, or what holds for every document or none where the text has no word.
fn some_words(
    value: &Json,
    options: &Map<String, Json>,
    path: &str,
) -> Result<std::result::Result<Test, Find>> {
    not_fuzzy(options, path)?;
    without(options, path, "minimum_should_match", &["1"])?;
    let how = how(options, path)?;
    let words = words(&text_of(value, path)?);
    Ok(match (words.is_empty(), how.empty_is_everything) {
        (false, _) => Ok(Test::Words(words, how.all)),
        (true, true) => Err(Find::Everything),
        (true, false) => Err(Find::Nothing),
    })
}

fn bounds(body: &Map<String, Json>, kept: &Kept, path: &str) -> Result<Vec<(Bound, Value)>> {
    let mut bounds = Vec::new();
    for (name, limit) in body {
        match name.as_str() {
            "boost" | "_name" => {}
            "relation" => within_or_meets(limit, path)?,
            "format" | "time_zone" => return Err(EsError::not_yet(path, format!("[{name}]"))),
            "include_lower" | "include_upper" if limit == &Json::Bool(true) => {}
            _ if limit.is_null() => {}
            name => {
                let bound = Bound::of(name, path)?;
                let limit = match kept {
                    Kept::Typed(field) => bound.limit(field, limit, path)?,
                    Kept::Unmapped => kept.constant(limit, path)?,
                    Kept::Words => {
                        return Err(EsError::not_yet(path, "range on a field of type [text]"));
                    }
                };
                bounds.push((bound, limit));
            }
        }
    }
    Ok(bounds)
}
