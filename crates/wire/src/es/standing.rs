//! A stored document: its query as a condition, and its tags.

use language::nearest::nearest;
use language::tree::QueryError;
use serde_json::{Map, Value as Json};

use super::condition::{Condition, Standing, at_least};
use super::document::fit;
use super::error::EsError;
use super::leaf::{Target, Words, text_of};
use super::lucene::{Fields, query_string};
use super::mapping::{Mapping, object};
use super::number::minimum;
use super::simple::simple_query_string;
use crate::json::parse;
use crate::limits::JSON_QUERY_DEPTH_MAX;

type Result<T> = std::result::Result<T, EsError>;

/// A stored document, as a row of a pq table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The query as text and filter.
    pub standing: Standing,
    /// The document's field `tags`, with commas between several.
    pub tags: String,
}

/// Parses a document that contains a standing query.
///
/// # Errors
/// [`EsError`]: no JSON object, a malformed query, or one that cannot be translated yet.
pub fn stored(document: &[u8], mapping: &Mapping) -> Result<Stored> {
    let document = parse(document)
        .map_err(|error| EsError::mapper("", format!("failed to parse: {error}")))?;
    let fields = document
        .as_object()
        .ok_or_else(|| EsError::mapper("", "a document is an object"))?;
    if fields.contains_key("_id") {
        let what = "field [_id] is a metadata field and cannot be added inside a document";
        return Err(EsError::mapper("", what));
    }
    fit(&document, mapping)?;
    let mut place = Some(&document);
    for name in mapping.percolator.split('.') {
        place = place.and_then(|place| place.get(name));
    }
    let standing = match place {
        // A document without a query is stored, and no document ever hits it.
        None | Some(Json::Null) => Condition::Nothing.part("")?,
        Some(query) => {
            condition(query, mapping, &mapping.percolator, 0)?.part(&mapping.percolator)?
        }
    };
    Ok(Stored {
        standing,
        tags: tags(fields.get("tags")),
    })
}

/// The engine's error about the text that was translated from a query.
#[must_use]
pub fn refused(error: &QueryError) -> EsError {
    EsError::query("", format!("failed to parse query: {}", error.message))
}

fn tags(json: Option<&Json>) -> String {
    match json {
        Some(Json::Array(list)) => {
            let tags: Vec<&str> = list.iter().filter_map(Json::as_str).collect();
            tags.join(",")
        }
        Some(Json::String(tags)) => tags.clone(),
        _ => String::new(),
    }
}

/// Parses a query object.
pub(super) fn condition(
    json: &Json,
    mapping: &Mapping,
    path: &str,
    depth: usize,
) -> Result<Condition> {
    let (kind, body) = query_entry(json, path, depth)?;
    let path = format!("{path}.{kind}");
    let reading = QueryReader {
        mapping,
        path: &path,
        depth,
    };
    match kind {
        "match_all" => only_named(body, &path, &[]).map(|()| Condition::Everything),
        "match_none" => only_named(body, &path, &[]).map(|()| Condition::Nothing),
        "match" => reading.words(body),
        "match_phrase" => reading.phrase(body, ""),
        "match_phrase_prefix" => reading.phrase(body, "*"),
        "multi_match" => reading.multi(body),
        "term" => reading.on_field(body, &["value", "term"], |target, value, path| {
            target.equals(value, path)
        }),
        "terms" => reading.terms(body),
        "range" => reading.range(body),
        "exists" => reading.exists(body),
        "prefix" => reading.on_field(body, &["value", "prefix"], |target, value, path| {
            target.prefix(&text_of(value, path)?, path)
        }),
        "wildcard" => reading.on_field(body, &["value", "wildcard"], |target, value, path| {
            target.pattern(&text_of(value, path)?, path)
        }),
        "query_string" | "simple_query_string" => {
            reading.string(body, kind == "simple_query_string")
        }
        "bool" => reading.boolean(body),
        "constant_score" => {
            only_named(body, &path, &["filter"])?;
            reading.inner(body, "filter")
        }
        "function_score" => {
            only_named(body, &path, SCORES)?;
            reading.inner(body, "query")
        }
        "boosting" => {
            only_named(body, &path, &["positive", "negative", "negative_boost"])?;
            reading.inner(body, "positive")
        }
        "dis_max" => {
            only_named(body, &path, &["queries", "tie_breaker"])?;
            let queries = reading.list(object(body, &path)?.get("queries"), "queries")?;
            Ok(Condition::any(queries))
        }
        "fuzzy" | "regexp" | "ids" | "nested" | "has_child" | "has_parent" | "parent_id"
        | "script" | "script_score" | "percolate" | "geo_distance" | "geo_bounding_box"
        | "geo_shape" | "geo_polygon" | "shape" | "intervals" | "span_near" | "span_term"
        | "span_or" | "span_not" | "span_first" | "span_multi" | "span_containing"
        | "span_within" | "more_like_this" | "terms_set" | "match_bool_prefix"
        | "combined_fields" | "distance_feature" | "rank_feature" | "knn" | "pinned"
        | "wrapper" => Err(EsError::not_yet(
            &path,
            format!("[{kind}] in a standing query"),
        )),
        _ => Err(EsError::parsing(&path, format!("unknown query [{kind}]"))),
    }
}

/// The kind and the body of a query object at that depth of nesting.
pub(super) fn query_entry<'j>(
    json: &'j Json,
    path: &str,
    depth: usize,
) -> Result<(&'j str, &'j Json)> {
    if depth > JSON_QUERY_DEPTH_MAX {
        return Err(EsError::illegal(
            path,
            format!("queries are nested deeper than {JSON_QUERY_DEPTH_MAX}"),
        ));
    }
    only_entry(json, path)
}

/// The name and value of an object with exactly one member.
pub(super) fn only_entry<'j>(json: &'j Json, path: &str) -> Result<(&'j str, &'j Json)> {
    let mut entries = object(json, path)?.iter();
    match (entries.next(), entries.next()) {
        (Some((name, value)), None) => Ok((name, value)),
        (None, _) => Err(EsError::illegal(
            path,
            "query malformed, empty clause found",
        )),
        (Some((_, _)), Some((second, _))) => {
            let what = format!("query malformed, no end of the object before [{second}]");
            Err(EsError::parsing(path, what))
        }
    }
}

struct QueryReader<'a> {
    mapping: &'a Mapping,
    path: &'a str,
    depth: usize,
}

impl QueryReader<'_> {
    /// Parses `{"field": body}`; gives the field's target, the body and its path. Ignores a boost beside the field.
    fn field<'j>(&self, json: &'j Json) -> Result<(Target<'_>, &'j Json, String)> {
        let entries = object(json, self.path)?.iter();
        let mut fields = entries.filter(|(name, _)| !matches!(name.as_str(), "boost" | "_name"));
        let (Some((name, body)), None) = (fields.next(), fields.next()) else {
            return Err(EsError::parsing(self.path, "expected one field"));
        };
        let path = format!("{}.{name}", self.path);
        Ok((Target::named(self.mapping, name, &path)?, body, path))
    }

    /// Parses `{"field": value}` or `{"field": {"value": value}}`.
    fn on_field(
        &self,
        json: &Json,
        names: &[&str],
        condition: impl Fn(&Target<'_>, &Json, &str) -> Result<Condition>,
    ) -> Result<Condition> {
        let (target, body, path) = self.field(json)?;
        let value = match body.as_object() {
            None => body,
            Some(options) => {
                known(options, &path, names, TERM_OPTIONS)?;
                let given = names.iter().find_map(|name| options.get(*name));
                given.ok_or_else(|| EsError::parsing(&path, "the value is missing"))?
            }
        };
        condition(&target, value, &path)
    }

    fn words(&self, json: &Json) -> Result<Condition> {
        let (target, body, path) = self.field(json)?;
        let empty = Map::new();
        let options = body.as_object().unwrap_or(&empty);
        known(options, &path, MATCH, &[])?;
        not_fuzzy(options, &path)?;
        let text = if body.is_object() {
            body.get("query")
        } else {
            Some(body)
        };
        let text = text.ok_or_else(|| EsError::parsing(&path, "no text provided"))?;
        target.words(text, &how(options, &path)?, &path)
    }

    fn phrase(&self, json: &Json, after: &str) -> Result<Condition> {
        let (target, body, path) = self.field(json)?;
        let Some(options) = body.as_object() else {
            return target.phrase(body, 0, after, &path);
        };
        known(options, &path, PHRASE, &[])?;
        without(options, &path, "zero_terms_query", &["none"])?;
        let text = options
            .get("query")
            .ok_or_else(|| EsError::parsing(&path, "no text provided"))?;
        target.phrase(text, slop(options, &path)?, after, &path)
    }

    fn multi(&self, json: &Json) -> Result<Condition> {
        let options = object(json, self.path)?;
        known(
            options,
            self.path,
            MATCH,
            &["fields", "type", "tie_breaker", "slop"],
        )?;
        not_fuzzy(options, self.path)?;
        let text = options
            .get("query")
            .ok_or_else(|| EsError::parsing(self.path, "no text provided"))?;
        let how = how(options, self.path)?;
        let fields = Fields::new(
            self.mapping,
            &names(options.get("fields"), self.path)?,
            how.all,
            self.path,
        )?;
        match options
            .get("type")
            .and_then(Json::as_str)
            .unwrap_or("best_fields")
        {
            "best_fields" | "most_fields" => {
                fields.any(None, |target| target.words(text, &how, self.path))
            }
            "phrase" => {
                let slop = slop(options, self.path)?;
                fields.any(None, |target| target.phrase(text, slop, "", self.path))
            }
            "phrase_prefix" => {
                let slop = slop(options, self.path)?;
                fields.any(None, |target| target.phrase(text, slop, "*", self.path))
            }
            other => Err(EsError::not_yet(
                self.path,
                format!("multi_match of type [{other}]"),
            )),
        }
    }

    fn terms(&self, json: &Json) -> Result<Condition> {
        let (target, body, path) = self.field(json)?;
        match body {
            Json::Array(list) => target.one_of(list, &path),
            Json::Object(_) => Err(EsError::not_yet(&path, "terms from another document")),
            _ => Err(EsError::parsing(&path, "expected an array")),
        }
    }

    fn range(&self, json: &Json) -> Result<Condition> {
        let (target, body, path) = self.field(json)?;
        let mut tests = Vec::new();
        for (bound, value) in object(body, &path)? {
            match bound.as_str() {
                "boost" | "_name" => {}
                "relation" => within_or_meets(value, &path)?,
                "format" | "time_zone" => {
                    return Err(EsError::not_yet(&path, format!("[{bound}]")));
                }
                "include_lower" | "include_upper" if value == &Json::Bool(true) => {}
                _ if value.is_null() => {}
                _ => tests.push(target.bound(bound, value, &path)?),
            }
        }
        if tests.is_empty() {
            Ok(target.exists())
        } else {
            Ok(Condition::all(tests))
        }
    }

    fn exists(&self, json: &Json) -> Result<Condition> {
        only_named(json, self.path, &["field"])?;
        let field = object(json, self.path)?.get("field").and_then(Json::as_str);
        let field = field.ok_or_else(|| {
            EsError::parsing(self.path, "[exists] must be provided with a [field]")
        })?;
        Ok(Target::named(self.mapping, field, self.path)?.exists())
    }

    fn string(&self, json: &Json, simple: bool) -> Result<Condition> {
        let options = object(json, self.path)?;
        const OPTIONS: &[&str] = &[
            "query",
            "fields",
            "default_field",
            "default_operator",
            "minimum_should_match",
            "boost",
            "_name",
            "lenient",
            "analyze_wildcard",
            "allow_leading_wildcard",
            "auto_generate_synonyms_phrase_query",
            "escape",
            "type",
            "tie_breaker",
            "max_determinized_states",
            "phrase_slop",
            "enable_position_increments",
            "quote_field_suffix",
        ];
        known(
            options,
            self.path,
            OPTIONS,
            // A fuzzy word is refused where it stands.
            &[
                "flags",
                "fuzziness",
                "fuzzy_max_expansions",
                "fuzzy_prefix_length",
                "fuzzy_transpositions",
            ],
        )?;
        without(options, self.path, "escape", &["false"])?;
        without(options, self.path, "flags", &["-1", "all"])?;
        without(options, self.path, "phrase_slop", &["0"])?;
        without(options, self.path, "quote_field_suffix", &[])?;
        without(options, self.path, "type", &["best_fields", "most_fields"])?;
        let text = options.get("query").and_then(Json::as_str);
        let text =
            text.ok_or_else(|| EsError::parsing(self.path, "must be provided with a [query]"))?;
        let mut fields = names(options.get("fields"), self.path)?;
        fields.extend(
            options
                .get("default_field")
                .and_then(Json::as_str)
                .map(str::to_owned),
        );
        let all = is_and(options.get("default_operator"), self.path)?;
        let fields = Fields::new(self.mapping, &fields, all, self.path)?;
        let least = options.get("minimum_should_match");
        match (simple, least) {
            (false, _) => query_string(text, &fields, least),
            (true, None) => simple_query_string(text, &fields),
            (true, Some(_)) => Err(EsError::not_yet(self.path, "[minimum_should_match]")),
        }
    }

    /// Parses `bool`. One `should` must hold if there is neither `must` nor `filter`, else as `minimum_should_match` says.
    fn boolean(&self, json: &Json) -> Result<Condition> {
        let body = object(json, self.path)?;
        known(
            body,
            self.path,
            &["must", "filter", "should", "must_not", "mustNot"],
            &[
                "minimum_should_match",
                "boost",
                "_name",
                "adjust_pure_negative",
            ],
        )?;
        without(body, self.path, "adjust_pure_negative", &["true"])?;
        let mut wanted = self.list(body.get("must"), "must")?;
        wanted.extend(self.list(body.get("filter"), "filter")?);
        let should = self.list(body.get("should"), "should")?;
        let is_optional = body.contains_key("must") || body.contains_key("filter");
        let least = match body.get("minimum_should_match") {
            Some(json) => minimum(json, should.len(), self.path)?,
            None => usize::from(!should.is_empty() && !is_optional),
        };
        wanted.push(at_least(should, least, self.path)?);
        let excluded = body.get("must_not").or_else(|| body.get("mustNot"));
        wanted.extend(
            self.list(excluded, "must_not")?
                .into_iter()
                .map(Condition::not),
        );
        Ok(Condition::all(wanted))
    }

    /// Parses a query or an array of queries.
    fn list(&self, json: Option<&Json>, name: &str) -> Result<Vec<Condition>> {
        let path = format!("{}.{name}", self.path);
        match json {
            None => Ok(Vec::new()),
            Some(Json::Array(list)) => {
                let numbered = list.iter().enumerate();
                let read = numbered.map(|(number, query)| {
                    condition(
                        query,
                        self.mapping,
                        &format!("{path}[{number}]"),
                        self.depth + 1,
                    )
                });
                read.collect()
            }
            Some(query) => Ok(vec![condition(query, self.mapping, &path, self.depth + 1)?]),
        }
    }

    /// The query inside a query that only changes scores.
    fn inner(&self, json: &Json, name: &str) -> Result<Condition> {
        let inner = object(json, self.path)?.get(name);
        let inner = inner
            .ok_or_else(|| EsError::parsing(self.path, format!("requires a [{name}] element")))?;
        condition(
            inner,
            self.mapping,
            &format!("{}.{name}", self.path),
            self.depth + 1,
        )
    }
}

/// Options of `match` and related queries that are accepted.
pub(super) const MATCH: &[&str] = &[
    "query",
    "operator",
    "minimum_should_match",
    "zero_terms_query",
    "boost",
    "_name",
    "lenient",
    "analyzer",
    "fuzziness",
    "prefix_length",
    "max_expansions",
    "fuzzy_transpositions",
    "fuzzy_rewrite",
    "auto_generate_synonyms_phrase_query",
];

/// Options of `match_phrase` and `match_phrase_prefix`.
const PHRASE: &[&str] = &[
    "query",
    "slop",
    "analyzer",
    "zero_terms_query",
    "max_expansions",
    "boost",
    "_name",
];

/// Options of `function_score`: those beside the query only change scores.
const SCORES: &[&str] = &[
    "query",
    "functions",
    "boost_mode",
    "score_mode",
    "max_boost",
    "weight",
    "random_score",
    "field_value_factor",
];

/// Reads `relation` of `range`. A value is no range: it is within one, and meets it, alike.
pub(super) fn within_or_meets(relation: &Json, path: &str) -> Result<()> {
    match is_one_of(relation, &["within", "contains", "intersects"]) {
        true => Ok(()),
        false => Err(EsError::not_yet(path, format!("[relation] {relation}"))),
    }
}

/// Fails for a member that is neither one of `names` nor `boost` nor `_name`: what is written is read, or refused.
pub(super) fn only_named(json: &Json, path: &str, names: &[&str]) -> Result<()> {
    known(object(json, path)?, path, names, &["boost", "_name"])
}

/// Fails unless an option that has no effect here is one of these, as a text: those that ask for none.
pub(super) fn without(
    options: &Map<String, Json>,
    path: &str,
    name: &str,
    values: &[&str],
) -> Result<()> {
    match options.get(name) {
        None | Some(Json::Null) => Ok(()),
        Some(value) if is_one_of(value, values) => Ok(()),
        Some(value) => Err(EsError::not_yet(path, format!("[{name}] {value}"))),
    }
}

fn is_one_of(value: &Json, values: &[&str]) -> bool {
    let text = value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_lowercase);
    values.iter().any(|one| one.eq_ignore_ascii_case(&text))
}

/// Options of a query of one field that change no answer here, or are looked at elsewhere.
pub(super) const TERM_OPTIONS: &[&str] = &["boost", "_name", "case_insensitive", "rewrite"];

pub(super) fn known(
    options: &Map<String, Json>,
    path: &str,
    names: &[&str],
    more: &[&str],
) -> Result<()> {
    for (name, value) in options {
        let name = name.as_str();
        if !names.contains(&name) && !more.contains(&name) {
            let meant = nearest(name, names.iter().copied());
            let meant =
                meant.map_or_else(String::new, |meant| format!("; did you mean [{meant}]?"));
            let what = format!("there is no option [{name}]{meant}");
            return Err(EsError::parsing(path, what));
        }
        if name == "analyzer" && value.as_str() != Some("standard") {
            return Err(EsError::not_yet(path, format!("analyzer {value}")));
        }
    }
    Ok(())
}

pub(super) fn not_fuzzy(options: &Map<String, Json>, path: &str) -> Result<()> {
    match options.get("fuzziness") {
        None => Ok(()),
        Some(json) if json == &Json::from(0) || json == &Json::from("0") => Ok(()),
        Some(_) => Err(EsError::not_yet(path, "[fuzziness]")),
    }
}

pub(super) fn how<'j>(options: &'j Map<String, Json>, path: &str) -> Result<Words<'j>> {
    without(options, path, "zero_terms_query", &["all", "none"])?;
    Ok(Words {
        all: is_and(options.get("operator"), path)?,
        minimum: options.get("minimum_should_match"),
        empty_is_everything: options
            .get("zero_terms_query")
            .is_some_and(|json| is_one_of(json, &["all"])),
    })
}

fn is_and(json: Option<&Json>, path: &str) -> Result<bool> {
    let Some(json) = json else {
        return Ok(false);
    };
    match json.as_str().map(str::to_lowercase).as_deref() {
        Some("and") => Ok(true),
        Some("or") => Ok(false),
        _ => Err(EsError::parsing(
            path,
            "operator needs to be either [AND] or [OR]",
        )),
    }
}

fn slop(options: &Map<String, Json>, path: &str) -> Result<u64> {
    match options.get("slop") {
        None => Ok(0),
        Some(json) => json
            .as_u64()
            .ok_or_else(|| EsError::parsing(path, "no negative slop allowed")),
    }
}

fn names(json: Option<&Json>, path: &str) -> Result<Vec<String>> {
    let wrong = || EsError::parsing(path, "[fields] are names");
    match json {
        None => Ok(Vec::new()),
        Some(Json::String(name)) => Ok(vec![name.clone()]),
        Some(Json::Array(list)) => list
            .iter()
            .map(|name| name.as_str().map(str::to_owned).ok_or_else(wrong))
            .collect(),
        Some(_) => Err(wrong()),
    }
}
