//! `aggs` of a search: FACETs, and how their groups are shown in the reply.
//!
//! Example: `"aggs": {"brands": {"terms": {"field": "brand"}, "aggs": {"price": {"avg": {"field": "price"}}}}}` is
//! `FACET brand ORDER BY COUNT(*) DESC, brand ASC` with a column more, over the rows whose brand is not NULL:
//!
//! ```text
//! columns   brand    avg(price)   count(*)
//! group     'nike'   70.5         12
//! bucket    {"key": "nike", "doc_count": 12, "price": {"value": 70.5}}
//! ```
//!
//! An aggregation inside another is a FACET of its own, by the keys around it and then its own:
//! `"brands": {"terms": {"field": "brand"}, "aggs": {"n": {"terms": {"field": "n", "size": 2}}}}` has a second FACET
//! `FACET brand, n ORDER BY brand ASC, COUNT(*) DESC, n ASC`. The groups of a brand stand one behind the other there, and the first
//! two of them are the buckets in its bucket.

mod order;
mod reply;

use std::cmp::Ordering;

use order::{after, bucket_order, is_descending};
use relation::expression::{
    self, AggregateKind, BinaryOperator, Expression, moment_seconds, moment_text,
};
use relation::lexer::Lexer;
use relation::request::{Facet, Item, OrderBy, Output};
use relation::value::Value;
use serde_json::{Map, Value as Json};

use super::clause::{constant, field};
use super::error::JsonError;
use super::member::{at_most, count, object, only, only_entry, string};
use crate::limits::{
    AGGREGATION_DEPTH_MAX, AGGREGATION_META_BYTES_MAX, FACETS_MAX, ORDER_KEYS_MAX,
};
pub use reply::Buckets;

type Result<T> = std::result::Result<T, JsonError>;

/// Groups of an aggregation whose number follows from its own bounds, so that no LIMIT of ours shortens them. Memory bounds them.
const ALL_BUCKETS: u64 = u32::MAX as u64;

/// Members of a bucket that are not its values.
const OWN_MEMBERS: [&str; 7] = [
    "key",
    "key_as_string",
    "doc_count",
    "from",
    "from_as_string",
    "to",
    "to_as_string",
];

/// Most ranges of an aggregation: each row is compared with all of them.
const RANGES_MAX: usize = 1_024;

/// Most ranges of an aggregation together with those around it, multiplied: a bucket of each is in the reply.
const NESTED_RANGES_MAX: usize = 65_536;

/// Column that stands for the field while a call is parsed. No table has a column of that name.
const FIELD_PLACE: &str = "field";

/// Where an aggregation stands in the reply, and how its groups are shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Aggregation {
    /// Its name in the reply.
    pub name: String,
    shape: Shape,
    /// Whether the buckets are members of an object, each named by its key.
    is_keyed: bool,
    /// `meta` of the request, for the reply.
    meta: Option<Json>,
    /// The values in each bucket, in the order of their columns.
    values: Vec<Named>,
    /// Number of leading columns of its groups that are keys of the buckets around it.
    outer_keys: usize,
    /// Number of the columns behind them that are keys of its own.
    own_keys: usize,
    /// Most buckets in one bucket around it.
    size: u64,
    /// The aggregations in each bucket.
    parts: Vec<Aggregation>,
    /// Whether moments are shown in milliseconds, and their texts as Elasticsearch writes them.
    in_milliseconds: bool,
}

/// A value in a bucket.
#[derive(Clone, Debug, PartialEq)]
struct Named {
    name: String,
    meta: Option<Json>,
}

/// A source of composite buckets.
#[derive(Clone, Debug, PartialEq)]
struct Source {
    name: String,
    /// Its keys are moments, in seconds, and shown in milliseconds.
    is_in_milliseconds: bool,
}

/// The columns of the groups, before those of the values and of COUNT(*).
#[derive(Clone, Debug, PartialEq)]
enum Shape {
    /// No key: the one group is a value.
    Value,
    /// Buckets of the values of one expression.
    Key,
    /// The key, a moment in seconds, and its text, in UTC or in another zone.
    Moment { is_utc: bool },
    /// The index of a range.
    Ranges(Vec<Range>),
    /// The keys of the sources.
    Composite(Vec<Source>),
    /// The key of a FACET, and its other columns by their names.
    Facet(Vec<String>),
}

impl Shape {
    /// Buckets that are there without documents, too; 1 of any other shape.
    fn ranges(&self) -> usize {
        match self {
            Shape::Ranges(ranges) => ranges.len(),
            _ => 1,
        }
    }
}

/// A bucket of `range` or `date_range`.
#[derive(Clone, Debug, PartialEq)]
struct Range {
    key: String,
    from: Option<End>,
    to: Option<End>,
}

impl Aggregation {
    /// A FACET of SQL, with these columns; at least the key and COUNT(*).
    #[must_use]
    pub fn of_facet(columns: &[String]) -> Aggregation {
        let (key, others) = columns
            .split_first()
            .unwrap_or((const { &String::new() }, &[]));
        let (_, others) = others.split_last().unwrap_or((key, &[]));
        Aggregation {
            name: key.clone(),
            shape: Shape::Facet(others.to_vec()),
            is_keyed: false,
            meta: None,
            values: Vec::new(),
            outer_keys: 0,
            own_keys: 1,
            size: ALL_BUCKETS,
            parts: Vec::new(),
            in_milliseconds: false,
        }
    }

    /// Number of leading columns of its groups that are keys of the buckets around it; the groups are sorted by them first.
    #[must_use]
    pub fn outer_keys(&self) -> usize {
        self.outer_keys
    }

    /// Number of leading columns that are keys of the buckets around those of its parts.
    #[must_use]
    pub fn keys(&self) -> usize {
        self.outer_keys + self.own_keys
    }

    /// Most buckets that it shows in one bucket around it.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The aggregations in each of its buckets.
    #[must_use]
    pub fn parts(&self) -> &[Aggregation] {
        &self.parts
    }

    /// Number of FACETs that give its groups and those of its parts: first its own, then those of each part.
    #[must_use]
    pub fn facets(&self) -> usize {
        1 + self.parts.iter().map(Aggregation::facets).sum::<usize>()
    }
}

/// Parses `aggs`. Appends the FACETs that give their groups, in the order of [`Aggregation::facets`]. `in_milliseconds`: moments are
/// asked for and shown in milliseconds, and their texts are as Elasticsearch writes them.
pub(crate) fn aggregations(
    json: &Json,
    path: &str,
    in_milliseconds: bool,
    facets: &mut Vec<Facet>,
) -> Result<Vec<Aggregation>> {
    let around = Around {
        keys: &[],
        depth: 1,
        ranges: 1,
        in_milliseconds,
    };
    let named = object(json, path)?.iter();
    named
        .map(|(name, body)| aggregation(name, body, around, &format!("{path}.{name}"), facets))
        .collect()
}

/// The buckets around an aggregation.
#[derive(Clone, Copy)]
struct Around<'a> {
    /// Their keys, from the outermost in.
    keys: &'a [Expression],
    /// Levels of aggregations, with this one.
    depth: usize,
    /// Ranges of one bucket around it: each of them, without a document too, has the buckets of all ranges inside.
    ranges: usize,
    in_milliseconds: bool,
}

/// What is told of a group: its name in a bucket, `meta`, and the aggregate.
struct Metric {
    name: String,
    meta: Option<Json>,
    value: Expression,
}

/// What an aggregation groups by.
struct Groups {
    shape: Shape,
    keys: Vec<Expression>,
    /// Columns behind the keys.
    further: Vec<Expression>,
    is_keyed: bool,
    order: Vec<OrderBy>,
    limit: u64,
    having: Option<Expression>,
    /// Only groups behind these values of the keys.
    after: Option<Vec<Value>>,
}

/// Parses an aggregation, and appends its FACET and then those of its parts.
fn aggregation(
    name: &str,
    json: &Json,
    around: Around<'_>,
    path: &str,
    facets: &mut Vec<Facet>,
) -> Result<Aggregation> {
    let levels = "levels of aggregations";
    at_most(around.depth, AGGREGATION_DEPTH_MAX, levels, path)?;
    let mut inner = Inner::default();
    let (mut sort, mut what) = (None, None);
    let meta = meta_of(json, path)?;
    for (member, body) in object(json, path)? {
        let at = format!("{path}.{member}");
        match member.as_str() {
            "aggs" | "aggregations" => inner = Inner::of(body, &at)?,
            "sort" => sort = Some((body, at)),
            "meta" => {}
            "filters" | "exclude_filters" | "mode" | "zeroes" => {
                return Err(JsonError::not_yet(&at, "filters of an aggregation"));
            }
            kind if what.is_none() => what = Some((kind, body, at)),
            _ => return Err(JsonError::new(path, "expected one kind of aggregation")),
        }
    }
    let missing = "expected a kind of aggregation, such as terms";
    let (kind, body, at) = what.ok_or_else(|| JsonError::new(path, missing))?;
    if let Some(value) = metric(kind, body, &at)? {
        if sort.is_some() || !inner.is_empty() {
            return Err(JsonError::new(path, "a value has neither order nor parts"));
        }
        let (aggregation, facet) = value_of_all(name, value, around);
        let aggregation = Aggregation {
            meta,
            ..aggregation
        };
        return push(facets, facet, path).map(|()| aggregation);
    }
    let mut groups = groups(kind, body, &inner.values, around, &at)?;
    if let Some((sort, at)) = sort {
        if matches!(groups.shape, Shape::Ranges(_) | Shape::Composite(_)) {
            return Err(JsonError::new(
                &at,
                "ranges and composite buckets have their own order",
            ));
        }
        groups.order = bucket_order(sort, &groups.keys, &inner.values, &at)?;
    }
    if groups.keys.iter().any(|key| around.keys.contains(key)) {
        let message = "a bucket around it has the same key";
        return Err(JsonError::new(&at, message));
    }
    let ranges = around.ranges * groups.shape.ranges();
    few(ranges, NESTED_RANGES_MAX, "ranges inside ranges", &at)?;
    let keys: Vec<Expression> = around.keys.iter().chain(&groups.keys).cloned().collect();
    let (mut aggregation, facet) = groups.named(name, inner.values, around);
    aggregation.meta = meta;
    push(facets, facet, path)?;
    let around = Around {
        keys: &keys,
        depth: around.depth + 1,
        ranges,
        ..around
    };
    for (name, body, path) in inner.buckets {
        let part = self::aggregation(name, body, around, &path, facets)?;
        aggregation.parts.push(part);
    }
    Ok(aggregation)
}

/// What an aggregation of buckets groups by.
fn groups(
    kind: &str,
    body: &Json,
    metrics: &[Metric],
    around: Around<'_>,
    path: &str,
) -> Result<Groups> {
    match kind {
        "terms" => terms(body, metrics, path),
        "histogram" => histogram(body, metrics, path),
        "date_histogram" => date_histogram(body, metrics, path),
        "range" | "date_range" => ranges(kind, body, around, path),
        "composite" if around.keys.is_empty() => composite(body, around, path),
        "composite" => Err(JsonError::new(path, "composite stands in no bucket")),
        "filter"
        | "filters"
        | "nested"
        | "top_hits"
        | "percentiles"
        | "stats"
        | "extended_stats"
        | "significant_terms"
        | "rare_terms"
        | "missing"
        | "global"
        | "auto_date_histogram"
        | "geo_distance"
        | "sampler"
        | "median_absolute_deviation" => Err(JsonError::not_yet(path, "this kind of aggregation")),
        _ => Err(JsonError::new(path, "unknown kind of aggregation")),
    }
}

fn push(facets: &mut Vec<Facet>, facet: Facet, path: &str) -> Result<()> {
    facets.push(facet);
    at_most(facets.len(), FACETS_MAX, "aggregations", path)
}

/// The parts of a bucket.
#[derive(Default)]
struct Inner<'j> {
    values: Vec<Metric>,
    /// Aggregations with buckets of their own: the name, the body and its path.
    buckets: Vec<(&'j str, &'j Json, String)>,
}

impl<'j> Inner<'j> {
    fn of(json: &'j Json, path: &str) -> Result<Inner<'j>> {
        let parts = object(json, path)?;
        at_most(parts.len(), ORDER_KEYS_MAX, "parts of a bucket", path)?;
        let mut inner = Inner::default();
        for (name, body) in parts {
            let path = format!("{path}.{name}");
            if OWN_MEMBERS.contains(&name.as_str()) {
                let message = "a bucket has a member of that name: choose another";
                return Err(JsonError::new(&path, message));
            }
            let kinds = object(body, &path)?;
            let mut kinds = kinds.iter().filter(|(member, _)| *member != "meta");
            let value = match (kinds.next(), kinds.next()) {
                (Some((kind, of)), None) => metric(kind, of, &format!("{path}.{kind}"))?,
                _ => None,
            };
            match value {
                Some(value) => inner.values.push(Metric {
                    name: name.clone(),
                    meta: meta_of(body, &path)?,
                    value,
                }),
                None => inner.buckets.push((name, body, path)),
            }
        }
        Ok(inner)
    }

    fn is_empty(&self) -> bool {
        self.values.is_empty() && self.buckets.is_empty()
    }
}

/// `meta` of an aggregation: a short object.
fn meta_of(json: &Json, path: &str) -> Result<Option<Json>> {
    let Some(meta) = json.get("meta") else {
        return Ok(None);
    };
    let path = format!("{path}.meta");
    object(meta, &path)?;
    let bytes = meta.to_string().len();
    at_most(bytes, AGGREGATION_META_BYTES_MAX, "bytes", &path)?;
    Ok(Some(meta.clone()))
}

/// An aggregate; `None`: this kind makes buckets.
fn metric(kind: &str, json: &Json, path: &str) -> Result<Option<Expression>> {
    let kind = match kind {
        "avg" => AggregateKind::Average,
        "sum" => AggregateKind::Sum,
        "min" => AggregateKind::Min,
        "max" => AggregateKind::Max,
        "cardinality" => AggregateKind::CountDistinct,
        "value_count" => AggregateKind::Count,
        _ => return Ok(None),
    };
    let body = object(json, path)?;
    // Counts are exact here, so `precision_threshold` changes nothing.
    only(body, &["field", "precision_threshold"], path)?;
    let of = named_field(body, path)?;
    Ok(Some(Expression::Aggregate(kind, vec![of])))
}

fn value_of_all(name: &str, value: Expression, around: Around<'_>) -> (Aggregation, Facet) {
    let groups = Groups {
        shape: Shape::Value,
        keys: Vec::new(),
        further: Vec::new(),
        is_keyed: false,
        order: Vec::new(),
        limit: 1,
        having: None,
        after: None,
    };
    let metric = Metric {
        name: name.to_owned(),
        meta: None,
        value,
    };
    groups.named(name, vec![metric], around)
}

impl Groups {
    /// Groups by one key, without those of NULL.
    fn by(shape: Shape, key: Expression, limit: u64) -> Groups {
        Groups {
            shape,
            further: Vec::new(),
            is_keyed: false,
            order: vec![OrderBy {
                key: Output::Expression(key.clone()),
                descending: false,
            }],
            limit,
            after: None,
            having: Some(is_there(&key)),
            keys: vec![key],
        }
    }

    fn named(self, name: &str, metrics: Vec<Metric>, around: Around<'_>) -> (Aggregation, Facet) {
        let outer = around.keys;
        let mut items = Vec::new();
        let mut add = |what: Output| {
            items.push(Item::Value {
                what,
                // No alias: nothing in the search can mean this column by its name.
                name: String::new(),
            });
        };
        for shown in outer.iter().chain(&self.keys).chain(&self.further) {
            add(Output::Expression(shown.clone()));
        }
        let mut values = Vec::with_capacity(metrics.len());
        for metric in metrics {
            add(Output::Expression(metric.value));
            values.push(Named {
                name: metric.name,
                meta: metric.meta,
            });
        }
        if self.shape != Shape::Value {
            add(Output::Count);
        }
        let rising = |key: &Expression| OrderBy {
            key: Output::Expression(key.clone()),
            descending: false,
        };
        let aggregation = Aggregation {
            name: name.to_owned(),
            shape: self.shape,
            is_keyed: self.is_keyed,
            meta: None,
            values,
            outer_keys: outer.len(),
            own_keys: self.keys.len(),
            size: self.limit,
            parts: Vec::new(),
            in_milliseconds: around.in_milliseconds,
        };
        let having: Vec<Expression> = outer.iter().map(is_there).chain(self.having).collect();
        let facet = Facet {
            items,
            keys: outer.iter().cloned().chain(self.keys).collect(),
            having: (!having.is_empty()).then(|| Expression::all_of(having)),
            after: self.after,
            order: outer.iter().map(rising).chain(self.order).collect(),
            limit: Some(match outer.is_empty() {
                true => self.limit,
                false => ALL_BUCKETS,
            }),
            offset: 0,
        };
        (aggregation, facet)
    }
}

fn terms(json: &Json, metrics: &[Metric], path: &str) -> Result<Groups> {
    let body = object(json, path)?;
    // Every count is exact, whatever is asked of the shards.
    let known = [
        "field",
        "size",
        "shard_size",
        "order",
        "min_doc_count",
        "keyed",
    ];
    only(body, &known, path)?;
    let key = named_field(body, path)?;
    let mut groups = Groups::by(Shape::Key, key, size(body, path)?);
    groups.order.insert(
        0,
        OrderBy {
            key: Output::Count,
            descending: true,
        },
    );
    groups.finish(body, metrics, path)
}

fn histogram(json: &Json, metrics: &[Metric], path: &str) -> Result<Groups> {
    let body = object(json, path)?;
    let known = [
        "field",
        "interval",
        "offset",
        "keyed",
        "min_doc_count",
        "order",
    ];
    only(body, &known, path)?;
    let number = |name: &str| -> Result<Option<String>> {
        let Some(number) = body.get(name) else {
            return Ok(None);
        };
        let message = || JsonError::new(&format!("{path}.{name}"), "expected a number");
        Ok(Some(number.as_number().ok_or_else(message)?.to_string()))
    };
    let Some(interval) = number("interval")? else {
        return Err(JsonError::new(
            path,
            "expected an interval: the width of a bucket",
        ));
    };
    let offset = number("offset")?.unwrap_or_else(|| "0".to_owned());
    let call =
        format!("HISTOGRAM({FIELD_PLACE}, {{hist_interval={interval}, hist_offset={offset}}})");
    let key = of_field(&call, body, path)?;
    Groups::by(Shape::Key, key, ALL_BUCKETS).finish(body, metrics, path)
}

fn date_histogram(json: &Json, metrics: &[Metric], path: &str) -> Result<Groups> {
    let body = object(json, path)?;
    let known = [
        "field",
        "calendar_interval",
        "fixed_interval",
        "time_zone",
        "keyed",
        "min_doc_count",
        "order",
    ];
    if body.contains_key("offset") {
        return Err(JsonError::not_yet(
            &format!("{path}.offset"),
            "offsets of days and months",
        ));
    }
    only(body, &known, path)?;
    let mut options = Vec::new();
    for name in ["calendar_interval", "fixed_interval", "time_zone"] {
        if let Some(text) = body.get(name) {
            let text = string(text, &format!("{path}.{name}"))?;
            options.push(format!("{name}={}", quoted(text)));
        }
    }
    let call = format!("DATE_HISTOGRAM({FIELD_PLACE}, {{{}}})", options.join(", "));
    let key = of_field(&call, body, path)?;
    // The offset tells two buckets apart that begin at the same time on the wall.
    let (zone, offset) = match body.get("time_zone").and_then(Json::as_str) {
        Some(zone) => (format!(", {}", quoted(zone)), "%:z"),
        None => (String::new(), ""),
    };
    let text = call_of(
        &format!("DATE_FORMAT({FIELD_PLACE}, '%Y-%m-%dT%H:%M:%S{offset}'{zone})"),
        &key,
        path,
    )?;
    let groups = Groups {
        further: vec![text],
        ..Groups::by(
            Shape::Moment {
                is_utc: zone.is_empty(),
            },
            key,
            ALL_BUCKETS,
        )
    };
    groups.finish(body, metrics, path)
}

/// Refuses a list that is longer than `most`, whose length is known.
fn few(count: usize, most: usize, what: &str, path: &str) -> Result<()> {
    let message = || format!("at most {most} {what}, there are {count}");
    match count > most {
        true => Err(JsonError::new(path, message())),
        false => Ok(()),
    }
}

fn ranges(kind: &str, json: &Json, around: Around<'_>, path: &str) -> Result<Groups> {
    let body = object(json, path)?;
    only(body, &["field", "ranges", "keyed"], path)?;
    let at = format!("{path}.ranges");
    let list = body.get("ranges").and_then(Json::as_array);
    let list = list.filter(|list| !list.is_empty());
    let list = list.ok_or_else(|| JsonError::new(&at, "expected at least one range"))?;
    few(list.len(), RANGES_MAX, "ranges", &at)?;
    let is_date = kind == "date_range";
    let end: fn(&Json, Around<'_>, &str) -> _ = match is_date {
        true => moment_end,
        false => number_end,
    };
    let mut call = format!("({FIELD_PLACE}");
    let mut shown = Vec::with_capacity(list.len());
    for (index, range) in list.iter().enumerate() {
        let path = format!("{at}[{index}]");
        let range = object(range, &path)?;
        only(range, &["key", "from", "to"], &path)?;
        let at = |name: &str| match range.get(name) {
            Some(json) => end(json, around, &format!("{path}.{name}")).map(Some),
            None => Ok(None),
        };
        let (from, to) = (at("from")?, at("to")?);
        if from.is_none() && to.is_none() {
            return Err(JsonError::new(&path, "expected from, to or both"));
        }
        let written: Vec<String> = [("range_from", &from), ("range_to", &to)]
            .into_iter()
            .filter_map(|(name, end)| end.as_ref().map(|end| format!("{name}={}", end.written)))
            .collect();
        call.push_str(&format!(", {{{}}}", written.join(", ")));
        let text = |end: &Option<End>| match end {
            Some(End {
                text: Some(text), ..
            }) => text.clone(),
            Some(end) => end.shown.to_string(),
            None => "*".to_owned(),
        };
        let key = match range.get("key") {
            Some(key) => string(key, &format!("{path}.key"))?.to_owned(),
            None => format!("{}-{}", text(&from), text(&to)),
        };
        if shown.iter().any(|known: &Range| known.key == key) {
            let message = format!("a second range with the key '{key}'");
            return Err(JsonError::new(&path, message));
        }
        shown.push(Range { key, from, to });
    }
    call.push(')');
    // A set as a key costs more than a number.
    let function = match (is_date, overlap(&shown)) {
        (true, true) => "DATE_RANGES",
        (true, false) => "DATE_RANGE",
        (false, true) => "RANGES",
        (false, false) => "RANGE",
    };
    let key = of_field(&format!("{function}{call}"), body, path)?;
    Groups::by(Shape::Ranges(shown), key, ALL_BUCKETS).finish(body, &[], path)
}

/// Whether a value may be in two of the ranges.
fn overlap(ranges: &[Range]) -> bool {
    let mut ends: Vec<(Option<&Value>, Option<&Value>)> = ranges
        .iter()
        .map(|range| [&range.from, &range.to].map(|end| end.as_ref().map(|end| &end.value)))
        .map(|[from, to]| (from, to))
        .collect();
    // A range that ends before it begins holds nothing.
    ends.retain(|(from, to)| match (from, to) {
        (Some(from), Some(to)) => from.cmp_sql(to) == Some(Ordering::Less),
        _ => true,
    });
    ends.sort_by(|(a, _), (b, _)| match (a, b) {
        (Some(a), Some(b)) => a.cmp_order(b),
        (a, b) => a.is_some().cmp(&b.is_some()),
    });
    // Each begins where the one before it ends, or behind.
    ends.windows(2).any(|pair| match (pair[0].1, pair[1].0) {
        (Some(to), Some(from)) => from.cmp_sql(to) == Some(Ordering::Less),
        _ => true,
    })
}

/// An end of a range.
#[derive(Clone, Debug, PartialEq)]
struct End {
    /// As it is compared.
    value: Value,
    /// As an option of RANGE or DATE_RANGE.
    written: String,
    /// In the reply.
    shown: Json,
    /// A moment as a text.
    text: Option<String>,
}

fn number_end(json: &Json, _: Around<'_>, path: &str) -> Result<End> {
    let message = || JsonError::new(path, "expected a number");
    let number = json.as_number().ok_or_else(message)?;
    Ok(End {
        value: constant(json, path)?,
        written: number.to_string(),
        shown: json.clone(),
        text: None,
    })
}

fn moment_end(json: &Json, around: Around<'_>, path: &str) -> Result<End> {
    let message = || JsonError::new(path, "expected a date, as 2024-01-31||+1M/d");
    let written = match json {
        Json::Number(_) if around.in_milliseconds => seconds(json, path)?,
        Json::Number(_) | Json::String(_) => constant(json, path)?,
        _ => return Err(message()),
    };
    let seconds = moment_seconds(&written).ok_or_else(message)?;
    let text = moment_text(seconds).ok_or_else(message)?;
    let (shown, text) = match around.in_milliseconds {
        true => {
            let shown = Json::from(seconds.saturating_mul(1_000));
            (shown, Some(format!("{text}.000Z")))
        }
        false => (Json::String(text.clone()), Some(text)),
    };
    Ok(End {
        value: Value::Int(seconds.into()),
        written: match &written {
            Value::Str(text) => quoted(text),
            number => number.to_string(),
        },
        shown,
        text,
    })
}

/// Whole seconds of milliseconds; moments have no smaller unit here.
fn seconds(json: &Json, path: &str) -> Result<Value> {
    let message = || JsonError::new(path, "expected a whole number of milliseconds");
    let milliseconds = json.as_i64().ok_or_else(message)?;
    Ok(Value::Int(milliseconds.div_euclid(1_000).into()))
}

fn composite(json: &Json, around: Around<'_>, path: &str) -> Result<Groups> {
    let body = object(json, path)?;
    only(body, &["size", "sources", "after"], path)?;
    let at = format!("{path}.sources");
    let list = body.get("sources").and_then(Json::as_array);
    let list = list.filter(|list| !list.is_empty());
    let list = list.ok_or_else(|| JsonError::new(&at, "expected at least one source"))?;
    at_most(list.len(), ORDER_KEYS_MAX, "sources", &at)?;
    let (mut sources, mut keys, mut order) = (Vec::<Source>::new(), Vec::new(), Vec::new());
    for (index, source) in list.iter().enumerate() {
        let path = format!("{at}[{index}]");
        let (name, source) = only_entry(source, &path)?;
        if sources.iter().any(|known| known.name == *name) {
            return Err(JsonError::new(&path, format!("a second source '{name}'")));
        }
        let path = format!("{path}.{name}");
        let (kind, source) = only_entry(source, &path)?;
        let path = format!("{path}.{kind}");
        let mut source = object(source, &path)?.clone();
        let descending = match source.remove("order") {
            Some(order) => is_descending(&order, &path)?,
            None => false,
        };
        let source = Json::Object(source);
        let groups = match kind {
            "terms" => terms(&source, &[], &path)?,
            "histogram" => histogram(&source, &[], &path)?,
            "date_histogram" => date_histogram(&source, &[], &path)?,
            _ => {
                return Err(JsonError::new(
                    &path,
                    "expected terms, histogram or date_histogram",
                ));
            }
        };
        let key = groups.keys.into_iter().next();
        let key = key.ok_or_else(|| JsonError::new(&path, "expected a key"))?;
        if keys.contains(&key) {
            let message = "a second source by the same key: its values would be those of the first";
            return Err(JsonError::new(&path, message));
        }
        order.push(OrderBy {
            key: Output::Expression(key.clone()),
            descending,
        });
        keys.push(key);
        sources.push(Source {
            name: name.to_owned(),
            is_in_milliseconds: around.in_milliseconds && kind == "date_histogram",
        });
    }
    let last = body.get("after");
    let after = last.map(|last| after(last, &sources, &format!("{path}.after")));
    let conditions = keys.iter().map(is_there).collect();
    Ok(Groups {
        shape: Shape::Composite(sources),
        keys,
        further: Vec::new(),
        is_keyed: false,
        order,
        limit: size(body, path)?,
        having: Some(Expression::all_of(conditions)),
        after: after.transpose()?,
    })
}

impl Groups {
    /// Reads the options that several kinds have: `keyed`, `order`, `min_doc_count`.
    fn finish(
        mut self,
        body: &Map<String, Json>,
        metrics: &[Metric],
        path: &str,
    ) -> Result<Groups> {
        if let Some(keyed) = body.get("keyed") {
            let message = || JsonError::new(&format!("{path}.keyed"), "expected true or false");
            self.is_keyed = keyed.as_bool().ok_or_else(message)?;
        }
        if let Some(order) = body.get("order") {
            self.order = bucket_order(order, &self.keys, metrics, &format!("{path}.order"))?;
        }
        if let Some(least) = body.get("min_doc_count") {
            let path = format!("{path}.min_doc_count");
            let least = count(least, &path)?;
            if least == 0 {
                return Err(JsonError::not_yet(&path, "buckets without a document"));
            }
            let enough = Expression::Binary(
                BinaryOperator::GreaterOrEqual,
                Box::new(Expression::Aggregate(AggregateKind::Rows, Vec::new())),
                Box::new(Expression::Literal(Value::Int(least.into()))),
            );
            let having = self.having.into_iter().chain([enough]);
            self.having = Some(Expression::all_of(having.collect()));
        }
        Ok(self)
    }
}

/// Buckets of an aggregation without `size`: those of a FACET without LIMIT.
const SIZE: u64 = 20;

fn size(body: &Map<String, Json>, path: &str) -> Result<u64> {
    let Some(size) = body.get("size") else {
        return Ok(SIZE);
    };
    let path = format!("{path}.size");
    match count(size, &path)? {
        0 => Err(JsonError::new(&path, "expected a whole number from 1")),
        size => Ok(size),
    }
}

/// The column or path that `field` names.
fn named_field(body: &Map<String, Json>, path: &str) -> Result<Expression> {
    if body.contains_key("script") {
        let message = "scripts: name a column, or an alias of 'expressions'";
        return Err(JsonError::not_yet(&format!("{path}.script"), message));
    }
    let name = body.get("field").and_then(Json::as_str);
    let name = name.ok_or_else(|| JsonError::new(path, "expected a field, by its name"))?;
    field(name, &format!("{path}.field"))
}

/// The call, as SQL has it, with the field for [`FIELD_PLACE`].
fn of_field(call: &str, body: &Map<String, Json>, path: &str) -> Result<Expression> {
    call_of(call, &named_field(body, path)?, path)
}

fn call_of(call: &str, argument: &Expression, path: &str) -> Result<Expression> {
    let parsed = expression::parse(&mut Lexer::new(call.as_bytes()));
    let parsed = parsed.map_err(|error| JsonError::new(path, error.message))?;
    Ok(parsed.map_columns(&mut |_| argument.clone()))
}

/// A text as a constant of SQL.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

/// `key IS NOT NULL`: a document without the field is in no bucket.
fn is_there(key: &Expression) -> Expression {
    Expression::IsNull {
        needle: Box::new(key.clone()),
        negated: true,
    }
}
