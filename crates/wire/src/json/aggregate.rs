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

use query::expression::{self, AggregateKind, BinaryOperator, Expression, moment_text};
use query::lexer::Lexer;
use query::request::{Facet, Item, OrderBy, Output};
use query::value::Value;
use serde_json::{Map, Value as Json};

use super::clause::{constant, field};
use super::error::JsonError;
use super::member::{at_most, count, object, only_entry, string};
use crate::limits::{AGGREGATION_DEPTH_MAX, FACETS_MAX, ORDER_KEYS_MAX};
use order::{after, bucket_order, is_descending};
pub use reply::Buckets;

type Result<T> = std::result::Result<T, JsonError>;

/// Groups of an aggregation whose number follows from its own bounds, so that no LIMIT of ours shortens them. Memory bounds them.
const ALL_BUCKETS: u64 = u32::MAX as u64;

/// Members of a bucket that are not its values.
const OWN_MEMBERS: [&str; 5] = ["key", "key_as_string", "doc_count", "from", "to"];

/// Most ranges of an aggregation: each row is compared with all of them.
const RANGES_MAX: usize = 1_024;

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
    /// Names of the values in each bucket, in the order of their columns.
    values: Vec<String>,
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
    /// The keys, by the names of their sources.
    Composite(Vec<String>),
    /// The key of a FACET, and its other columns by their names.
    Facet(Vec<String>),
}

/// A bucket of `range` or `date_range`.
#[derive(Clone, Debug, PartialEq)]
struct Range {
    key: String,
    from: Option<Json>,
    to: Option<Json>,
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
            values: Vec::new(),
            outer_keys: 0,
            own_keys: 1,
            size: ALL_BUCKETS,
            parts: Vec::new(),
            in_milliseconds: false,
        }
    }

    /// The aggregation, with moments as Elasticsearch shows them.
    pub(crate) fn in_milliseconds(self) -> Aggregation {
        let parts = self.parts.into_iter();
        Aggregation {
            parts: parts.map(Aggregation::in_milliseconds).collect(),
            in_milliseconds: true,
            ..self
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

/// Parses `aggs`. Appends the FACETs that give their groups, in the order of [`Aggregation::facets`].
pub(crate) fn aggregations(
    json: &Json,
    path: &str,
    facets: &mut Vec<Facet>,
) -> Result<Vec<Aggregation>> {
    let around = Around {
        keys: &[],
        depth: 1,
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
}

/// What is told of a group: its name in a bucket, and the aggregate.
struct Metric {
    name: String,
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
    at_most(
        around.depth,
        AGGREGATION_DEPTH_MAX,
        "levels of aggregations",
        path,
    )?;
    let mut inner = Inner::default();
    let (mut sort, mut what) = (None, None);
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
    let Some((kind, body, at)) = what else {
        return Err(JsonError::new(
            path,
            "expected a kind of aggregation, such as terms",
        ));
    };
    if let Some(value) = metric(kind, body, &at)? {
        if sort.is_some() || !inner.is_empty() {
            return Err(JsonError::new(path, "a value has neither order nor parts"));
        }
        let (aggregation, facet) = value_of_all(name, value);
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
    let keys: Vec<Expression> = around.keys.iter().chain(&groups.keys).cloned().collect();
    let (mut aggregation, facet) = groups.named(name, inner.values, around.keys);
    push(facets, facet, path)?;
    let around = Around {
        keys: &keys,
        depth: around.depth + 1,
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
        "range" | "date_range" => ranges(kind, body, path),
        "composite" if around.keys.is_empty() => composite(body, path),
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
                (Some((kind, body)), None) => metric(kind, body, &format!("{path}.{kind}"))?,
                _ => None,
            };
            match value {
                Some(value) => inner.values.push(Metric {
                    name: name.clone(),
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

fn value_of_all(name: &str, value: Expression) -> (Aggregation, Facet) {
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
        value,
    };
    groups.named(name, vec![metric], &[])
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

    /// `outer`: the keys of the buckets around it.
    fn named(self, name: &str, metrics: Vec<Metric>, outer: &[Expression]) -> (Aggregation, Facet) {
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
            values.push(metric.name);
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
            values,
            outer_keys: outer.len(),
            own_keys: self.keys.len(),
            size: self.limit,
            parts: Vec::new(),
            in_milliseconds: false,
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
    let zone = match body.get("time_zone").and_then(Json::as_str) {
        Some(zone) => format!(", {}", quoted(zone)),
        None => String::new(),
    };
    let text = call_of(
        &format!("DATE_FORMAT({FIELD_PLACE}, '%Y-%m-%dT%H:%M:%S'{zone})"),
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

fn ranges(kind: &str, json: &Json, path: &str) -> Result<Groups> {
    let body = object(json, path)?;
    only(body, &["field", "ranges", "keyed"], path)?;
    let at = format!("{path}.ranges");
    let list = body.get("ranges").and_then(Json::as_array);
    let list = list.filter(|list| !list.is_empty());
    let list = list.ok_or_else(|| JsonError::new(&at, "expected at least one range"))?;
    at_most(list.len(), RANGES_MAX, "ranges", &at)?;
    let is_date = kind == "date_range";
    let function = if is_date { "DATE_RANGE" } else { "RANGE" };
    let mut call = format!("{function}({FIELD_PLACE}");
    let mut shown = Vec::with_capacity(list.len());
    for (index, range) in list.iter().enumerate() {
        let path = format!("{at}[{index}]");
        let range = object(range, &path)?;
        only(range, &["key", "from", "to"], &path)?;
        let (from, to) = (
            end(range, "from", is_date, &path)?,
            end(range, "to", is_date, &path)?,
        );
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
                shown: Json::String(text),
                ..
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
        shown.push(Range {
            key,
            from: from.map(|end| end.shown),
            to: to.map(|end| end.shown),
        });
    }
    call.push(')');
    let key = of_field(&call, body, path)?;
    Groups::by(Shape::Ranges(shown), key, ALL_BUCKETS).finish(body, &[], path)
}

/// An end of a range.
struct End {
    /// As an option of RANGE or DATE_RANGE.
    written: String,
    /// In the reply.
    shown: Json,
}

fn end(range: &Map<String, Json>, name: &str, is_date: bool, path: &str) -> Result<Option<End>> {
    let Some(value) = range.get(name) else {
        return Ok(None);
    };
    let path = format!("{path}.{name}");
    match value {
        Json::Number(number) if !is_date => Ok(Some(End {
            written: number.to_string(),
            shown: value.clone(),
        })),
        Json::Number(_) | Json::String(_) if is_date => {
            let moment = constant(value, &path)?;
            let written = match &moment {
                Value::Str(text) => quoted(text),
                _ => value.to_string(),
            };
            let message = || JsonError::new(&path, "expected a date, as 2024-01-31||+1M/d");
            let shown = Json::String(moment_text(&moment).ok_or_else(message)?);
            Ok(Some(End { written, shown }))
        }
        _ => Err(JsonError::new(&path, "expected a number")),
    }
}

fn composite(json: &Json, path: &str) -> Result<Groups> {
    let body = object(json, path)?;
    only(body, &["size", "sources", "after"], path)?;
    let at = format!("{path}.sources");
    let list = body.get("sources").and_then(Json::as_array);
    let list = list.filter(|list| !list.is_empty());
    let list = list.ok_or_else(|| JsonError::new(&at, "expected at least one source"))?;
    at_most(list.len(), ORDER_KEYS_MAX, "sources", &at)?;
    let (mut names, mut keys, mut order) = (Vec::new(), Vec::new(), Vec::new());
    for (index, source) in list.iter().enumerate() {
        let path = format!("{at}[{index}]");
        let (name, source) = only_entry(source, &path)?;
        if names.iter().any(|known| known == name) {
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
        names.push(name.to_owned());
    }
    let last = body.get("after");
    let after = last.map(|last| after(last, &names, &format!("{path}.after")));
    let conditions = keys.iter().map(is_there).collect();
    Ok(Groups {
        shape: Shape::Composite(names),
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

fn only(body: &Map<String, Json>, known: &[&str], path: &str) -> Result<()> {
    let unknown = body.keys().find(|name| !known.contains(&name.as_str()));
    match unknown {
        Some(name) => {
            let message = format!("unknown option, expected {}", known.join(", "));
            Err(JsonError::new(&format!("{path}.{name}"), message))
        }
        None => Ok(()),
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
