//! The body of `_search`.

use serde_json::{Map, Value as Json};

use super::aggregate::Aggregations;
use super::error::EsError;
use super::mapping::{Mapping, object};
use super::metadata::{Find, Finding};
use super::paths::Paths;
use super::standing::{known, without};
use crate::fragment::Tags;
use crate::limits::TAG_BYTES_MAX;

type Result<T> = std::result::Result<T, EsError>;

/// Most hits of a search, skipped hits (`from`) included.
pub const WINDOW_MAX: u64 = 100_000;

/// A search over the stored queries of an index.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    /// Condition on each stored document.
    pub find: Find,
    /// The percolate clauses; `find` names them by index.
    pub percolates: Vec<Percolate>,
    /// Count of hits to skip.
    pub from: u64,
    /// Most hits to show.
    pub size: u64,
    /// Order of the hits; `None`: none is asked for.
    pub order: Option<Order>,
    /// `search_after` with an order by `_doc`: only queries with a higher id.
    pub after: Option<u64>,
    /// Parts of the documents to show.
    pub source: Paths,
    /// Whether to show the total.
    pub total: bool,
    /// Fields to highlight; `None`: none.
    pub highlight: Option<Highlight>,
    /// Groups of all hits; `None`: none.
    pub aggregations: Option<Aggregations>,
    /// The score of every hit. `None`: the weight of the best document, because `sort` names the score.
    pub score: Option<f64>,
}

/// A percolate clause.
#[derive(Clone, Debug, PartialEq)]
pub struct Percolate {
    /// The documents to percolate.
    pub documents: Vec<Json>,
    /// Name of the clause; the reply adds it to `_percolator_document_slot`.
    pub name: Option<String>,
}

/// Order of the hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// By score.
    Score {
        /// Highest score first.
        descending: bool,
    },
    /// By the id of the query: `_doc`.
    Number {
        /// Highest id first.
        descending: bool,
    },
}

/// Options of highlighting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Highlight {
    /// Patterns of field names with `*`, each with its most fragments; 0: the whole text.
    pub fields: Vec<(String, usize)>,
    /// What stands around a mark.
    pub tags: Tags,
    /// Approximate length of a fragment, in characters.
    pub fragment_chars: usize,
}

/// Parses a body. An empty body searches for everything.
///
/// # Errors
/// [`EsError`]: a malformed part, an unknown option, or a known option that is missing here.
pub fn search(body: &Json, mapping: &Mapping) -> Result<Search> {
    let empty = Map::new();
    let body = if body.is_null() {
        &empty
    } else {
        object(body, "")?
    };
    for name in body.keys() {
        check_name(name)?;
    }
    without(body, "", "explain", &["false"])?;
    let mut percolates = Vec::new();
    let mut scored = false;
    let mut percolate = |json: &Json, path: &str, counts: bool| {
        scored |= counts;
        percolates.push(clause(json, mapping, path)?);
        Ok(percolates.len() - 1)
    };
    let query = body.get("query");
    let mut finding = Finding {
        mapping,
        percolate: &mut percolate,
    };
    let find = query.map_or(Ok(Find::Everything), |query| {
        finding.read(query, "query", true, 0)
    })?;
    let order = order(body.get("sort"))?;
    let (from, size) = (count(body, "from", 0)?, count(body, "size", 10)?);
    if from.saturating_add(size) > WINDOW_MAX {
        let what = format!(
            "result window is too large, from + size must be less than or equal to: [{WINDOW_MAX}] but was [{}]",
            from.saturating_add(size)
        );
        return Err(EsError::illegal("", what));
    }
    Ok(Search {
        // Weights cost more than matching, so they are computed only if `sort` names the score.
        score: match order {
            Some(Order::Score { .. }) if scored => None,
            _ => Some(query.map_or(1.0, constant)),
        },
        find,
        percolates,
        from,
        size,
        after: after(body.get("search_after"), order)?,
        order,
        source: source(body.get("_source"))?,
        total: body.get("track_total_hits") != Some(&Json::Bool(false)),
        highlight: body.get("highlight").map(highlight).transpose()?,
        aggregations: body
            .get("aggs")
            .or_else(|| body.get("aggregations"))
            .map(|aggs| Aggregations::parse(aggs, mapping))
            .transpose()?,
    })
}

fn check_name(name: &str) -> Result<()> {
    match name {
        "query"
        | "from"
        | "size"
        | "sort"
        | "_source"
        | "track_total_hits"
        | "track_scores"
        | "highlight"
        | "timeout"
        | "version"
        | "seq_no_primary_term"
        | "stored_fields"
        | "search_after"
        | "explain"
        | "stats"
        | "aggs"
        | "aggregations" => Ok(()),
        "post_filter" | "collapse" | "rescore" | "suggest" | "fields" | "docvalue_fields"
        | "script_fields" | "runtime_mappings" | "slice" | "pit" | "min_score" | "profile"
        | "indices_boost" | "knn" | "retriever" | "terminate_after" => {
            Err(EsError::not_yet("", format!("[{name}] in a search")))
        }
        _ => Err(EsError::parsing(
            "",
            format!("unknown key [{name}] in a search"),
        )),
    }
}

/// The score of a query without a scored clause: 0 if it only filters.
fn constant(query: &Json) -> f64 {
    if let Some(inner) = query.get("constant_score") {
        return inner.get("boost").and_then(Json::as_f64).unwrap_or(1.0);
    }
    let only_filters = query
        .get("bool")
        .is_some_and(|inner| inner.get("must").is_none() && inner.get("should").is_none());
    if only_filters { 0.0 } else { 1.0 }
}

fn clause(json: &Json, mapping: &Mapping, path: &str) -> Result<Percolate> {
    let body = object(json, path)?;
    for name in body.keys() {
        match name.as_str() {
            "field" | "document" | "documents" | "name" | "document_type" | "boost" | "_name" => {}
            "index" | "type" | "id" | "routing" | "preference" | "version" => {
                return Err(EsError::not_yet(path, "a document of another index"));
            }
            _ => {
                return Err(EsError::parsing(
                    path,
                    format!("[percolate] query does not support [{name}]"),
                ));
            }
        }
    }
    let field = body.get("field").and_then(Json::as_str);
    let field = field.ok_or_else(|| EsError::parsing(path, "requires a [field]"))?;
    if field != mapping.percolator {
        let what = format!("field [{field}] does not exist, or is not of type [percolator]");
        return Err(EsError::query(path, what));
    }
    let documents = match (body.get("document"), body.get("documents")) {
        (Some(document), None) => vec![document.clone()],
        (None, Some(Json::Array(list))) if !list.is_empty() => list.clone(),
        _ => {
            return Err(EsError::parsing(
                path,
                "requires one of [document] or a list of [documents]",
            ));
        }
    };
    let name = body.get("name").and_then(Json::as_str).map(str::to_owned);
    Ok(Percolate { documents, name })
}

fn count(body: &Map<String, Json>, name: &str, otherwise: u64) -> Result<u64> {
    let wrong = || {
        EsError::illegal(
            "",
            format!("[{name}] parameter cannot be negative, and is a whole number"),
        )
    };
    match body.get(name) {
        None => Ok(otherwise),
        Some(Json::String(text)) => text.parse().map_err(|_| wrong()),
        Some(json) => json.as_u64().ok_or_else(wrong),
    }
}

fn order(sort: Option<&Json>) -> Result<Option<Order>> {
    let Some(sort) = sort else {
        return Ok(None);
    };
    let list = sort
        .as_array()
        .map_or(std::slice::from_ref(sort), Vec::as_slice);
    let Some(first) = list.first() else {
        return Ok(None);
    };
    // Each document has another number, and only those of equal scores are in its order.
    for further in list.iter().skip(1) {
        let rising = match further {
            Json::Object(_) => {
                let (name, body) = super::standing::only_entry(further, "sort")?;
                let direction = body.as_str().or_else(|| body.get("order")?.as_str());
                matches!(name, "_doc" | "_id") && direction != Some("desc")
            }
            name => matches!(name.as_str(), Some("_doc" | "_id")),
        };
        if !rising {
            let what = format!("a second key of sort [{further}]; there is [_doc]");
            return Err(EsError::not_yet("sort", what));
        }
    }
    let (name, direction) = match first {
        Json::String(name) => (name.as_str(), None),
        Json::Object(_) => {
            let (name, body) = super::standing::only_entry(first, "sort")?;
            (
                name,
                body.as_str()
                    .or_else(|| body.get("order").and_then(Json::as_str)),
            )
        }
        _ => return Err(EsError::parsing("sort", "malformed sort format")),
    };
    match (name, direction) {
        ("_score", direction) => Ok(Some(Order::Score {
            descending: direction != Some("asc"),
        })),
        ("_doc" | "_id", direction) => Ok(Some(Order::Number {
            descending: direction == Some("desc"),
        })),
        (other, _) => Err(EsError::not_yet(
            "sort",
            format!("sorting by [{other}]; there are [_score] and [_doc]"),
        )),
    }
}

fn after(json: Option<&Json>, order: Option<Order>) -> Result<Option<u64>> {
    let Some(json) = json else {
        return Ok(None);
    };
    if order != Some(Order::Number { descending: false }) {
        return Err(EsError::not_yet(
            "search_after",
            "search_after without sort by [_doc]",
        ));
    }
    let number = json.get(0).and_then(Json::as_u64);
    let number =
        number.ok_or_else(|| EsError::parsing("search_after", "expected the [sort] of a hit"))?;
    Ok(Some(number))
}

/// Parses `_source`: false, a pattern, a list of patterns, or an object with `includes` and `excludes`.
pub(super) fn source(json: Option<&Json>) -> Result<Paths> {
    let list = |json: Option<&Json>| -> Result<Vec<String>> {
        let wrong = || EsError::parsing("_source", "expected a pattern or a list of them");
        match json {
            None => Ok(Vec::new()),
            Some(Json::String(text)) => Ok(text.split(',').map(str::to_owned).collect()),
            Some(Json::Array(list)) => list
                .iter()
                .map(|one| one.as_str().map(str::to_owned).ok_or_else(wrong))
                .collect(),
            Some(_) => Err(wrong()),
        }
    };
    match json {
        None | Some(Json::Bool(true)) => Ok(Paths::default()),
        Some(Json::Bool(false)) => Ok(Paths {
            nothing: true,
            ..Paths::default()
        }),
        Some(Json::Object(fields)) => {
            let names = ["includes", "include", "excludes", "exclude"];
            known(fields, "_source", &names, &[])?;
            let either =
                |one: &str, other: &str| fields.get(one).or_else(|| fields.get(other)).cloned();
            Ok(Paths {
                nothing: false,
                includes: list(either("includes", "include").as_ref())?,
                excludes: list(either("excludes", "exclude").as_ref())?,
            })
        }
        patterns => Ok(Paths {
            includes: list(patterns)?,
            ..Paths::default()
        }),
    }
}

/// Options of `highlight`. What decides where a text is cut has no effect here.
const HIGHLIGHT: &[&str] = &[
    "boundary_chars",
    "boundary_max_scan",
    "boundary_scanner",
    "boundary_scanner_locale",
    "encoder",
    "force_source",
    "fragment_offset",
    "fragment_size",
    "fragmenter",
    "max_analyzed_offset",
    "no_match_size",
    "number_of_fragments",
    "order",
    "phrase_limit",
    "post_tags",
    "pre_tags",
    "require_field_match",
    "type",
];

fn highlight(json: &Json) -> Result<Highlight> {
    let body = object(json, "highlight")?;
    known(body, "highlight", HIGHLIGHT, &["fields"])?;
    without(body, "highlight", "encoder", &["default"])?;
    without(body, "highlight", "no_match_size", &["0"])?;
    let number = |options: &Map<String, Json>, name: &str| {
        options
            .get(name)
            .and_then(Json::as_u64)
            .map(|number| number as usize)
    };
    let tag = |name: &str, otherwise: &str| {
        let tag = body
            .get(name)
            .and_then(|tags| tags.get(0).unwrap_or(tags).as_str());
        let tag = tag.unwrap_or(otherwise);
        match tag.len() > TAG_BYTES_MAX {
            true => {
                let what = format!("[{name}] has more than {TAG_BYTES_MAX} bytes");
                Err(EsError::illegal("highlight", what))
            }
            false => Ok(tag.to_owned()),
        }
    };
    let fragments = number(body, "number_of_fragments").unwrap_or(5);
    let mut fields = Vec::new();
    let given = body.get("fields");
    let objects = given.map_or(&[][..], |given| {
        given
            .as_array()
            .map_or(std::slice::from_ref(given), Vec::as_slice)
    });
    for given in objects {
        for (name, options) in object(given, "highlight.fields")? {
            known(object(options, "highlight.fields")?, name, HIGHLIGHT, &[])?;
            let own = options
                .as_object()
                .and_then(|options| number(options, "number_of_fragments"));
            fields.push((name.clone(), own.unwrap_or(fragments)));
        }
    }
    Ok(Highlight {
        fields,
        tags: Tags {
            before: tag("pre_tags", "<em>")?,
            after: tag("post_tags", "</em>")?,
        },
        fragment_chars: number(body, "fragment_size").unwrap_or(100).max(18),
    })
}
