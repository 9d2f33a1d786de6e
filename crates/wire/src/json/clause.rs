//! The query of a JSON search, translated into a query text and a filter. A document must fulfil both.
//!
//! Example: `{"bool": {"must": [{"match": {"title": "red cat"}}, {"range": {"price": {"lt": 5}}}]}}` becomes the query text
//! `@(title) (red | cat)` and the filter `price < 5`. A `should` of a text and a range is refused: text and filter are joined
//! by AND.

use relation::expression::{self, BinaryOperator, Expression, Function, List, UnaryOperator};
use relation::lexer::{Lexer, TokenKind};
use relation::value::Value;
use serde_json::Value as Json;

use super::error::JsonError;
use super::member::{object, only_entry, only_or_later};
use super::place;
use crate::limits::{FIELD_BYTES_MAX, JSON_QUERY_DEPTH_MAX};

/// A condition: a document must fulfil all positive texts, all filters and no negative text. Empty: every document does.
#[derive(Debug, Default)]
pub(super) struct Clause {
    positive: Vec<String>,
    negative: Vec<String>,
    filters: Vec<Expression>,
}

type Result<T> = std::result::Result<T, JsonError>;

impl Clause {
    fn text(text: String) -> Self {
        Clause {
            positive: vec![text],
            ..Clause::default()
        }
    }

    fn filter(filter: Expression) -> Self {
        Clause {
            filters: vec![filter],
            ..Clause::default()
        }
    }

    fn is_everything(&self) -> bool {
        self.positive.is_empty() && self.negative.is_empty() && self.filters.is_empty()
    }

    fn is_text(&self) -> bool {
        !self.positive.is_empty() && self.negative.is_empty() && self.filters.is_empty()
    }

    fn is_filter(&self) -> bool {
        self.positive.is_empty() && self.negative.is_empty() && !self.filters.is_empty()
    }

    fn and(&mut self, other: Clause) {
        self.positive.extend(other.positive);
        self.negative.extend(other.negative);
        self.filters.extend(other.filters);
    }

    /// Negates the condition. Errors: it has both text and filter, whose negation would be an OR of the two.
    fn negated(self, path: &str) -> Result<Clause> {
        if self.is_everything() {
            return Ok(Clause::filter(Expression::Literal(Value::Int(0))));
        }
        if self.is_text() {
            return Ok(Clause {
                negative: vec![conjunction(&self.positive)],
                ..Clause::default()
            });
        }
        if self.is_filter() {
            let all = Expression::all_of(self.filters);
            return Ok(Clause::filter(Expression::Unary(
                UnaryOperator::Not,
                Box::new(all),
            )));
        }
        Err(JsonError::not_yet(
            path,
            "excluding a text and a filter together",
        ))
    }

    /// The query text and the filter; `None`: the condition has none.
    pub(super) fn finish(self, path: &str) -> Result<(Option<String>, Option<Expression>)> {
        let filter = (!self.filters.is_empty()).then(|| Expression::all_of(self.filters));
        if self.negative.is_empty() && self.positive.len() < 2 {
            return Ok((self.positive.into_iter().next(), filter));
        }
        if self.positive.is_empty() {
            return Err(JsonError::not_yet(
                path,
                "excluding a text without another text to find",
            ));
        }
        let mut text = conjunction(&self.positive);
        for excluded in &self.negative {
            text.push_str(&format!(" -({excluded})"));
        }
        Ok((Some(text), filter))
    }
}

fn conjunction(texts: &[String]) -> String {
    match texts {
        [one] => format!("({one})"),
        many => many
            .iter()
            .map(|text| format!("({text})"))
            .collect::<Vec<_>>()
            .join(" "),
    }
}

/// Parses a query object.
pub(super) fn clause(json: &Json, path: &str, depth: usize) -> Result<Clause> {
    if depth > JSON_QUERY_DEPTH_MAX {
        return Err(JsonError::new(
            path,
            format!("nested deeper than {JSON_QUERY_DEPTH_MAX}"),
        ));
    }
    let (kind, body) = only_entry(json, path)?;
    let path = format!("{path}.{kind}");
    match kind {
        "match_all" => everything(body, &path),
        "match" => match_words(body, &path),
        "match_phrase" => match_phrase(body, &path),
        "query_string" => query_string(body, &path),
        "equals" => equals(body, &path),
        "in" => is_in(body, &path),
        "range" => range(body, &path),
        "bool" => boolean(body, &path, depth),
        "geo_distance" => place::within(body, &path).map(Clause::filter),
        "exists" | "knn" | "ids" | "prefix" | "wildcard" | "regexp" | "term" | "terms"
        | "multi_match" | "percolate" | "highlight" | "fuzzy" => {
            Err(JsonError::not_yet(&path, "this kind of query"))
        }
        _ => Err(JsonError::new(&path, "unknown kind of query")),
    }
}

/// A field's name as an expression: a column or an alias of one, or a path in a JSON column.
pub(super) fn field(name: &str, path: &str) -> Result<Expression> {
    if name.len() > FIELD_BYTES_MAX {
        let message = format!("the name of a field is longer than {FIELD_BYTES_MAX} bytes");
        return Err(JsonError::new("", message));
    }
    if name.is_empty() || name == "*" || name.contains('(') {
        return Err(JsonError::new(path, format!("'{name}' is no column")));
    }
    if name == "_id" {
        return Ok(Expression::Column("id".to_owned()));
    }
    if name.contains(['.', '[']) {
        let mut lexer = Lexer::new(name.as_bytes());
        return match expression::parse(&mut lexer) {
            Ok(found @ Expression::Path { .. }) if lexer.peek().kind == TokenKind::End => Ok(found),
            _ => {
                let message = format!("'{name}' is no column, and no path as column.key[2]");
                Err(JsonError::new(path, message))
            }
        };
    }
    Ok(Expression::Column(name.to_lowercase()))
}

fn boxed(name: &str, path: &str) -> Result<Box<Expression>> {
    field(name, path).map(Box::new)
}

/// A JSON scalar as a constant of an expression.
fn written(json: &Json, path: &str) -> Result<Expression> {
    match json {
        Json::Bool(truth) => Ok(Expression::Truth(*truth)),
        json => constant(json, path).map(Expression::Literal),
    }
}

/// Most steps of date math: each is a level of an expression.
const DATE_STEPS_MAX: usize = 16;

/// Units of date math, as DATE_ADD reads them.
const DATE_UNITS: &str = "smhHdwMy";

/// `now`, `now-1d+2h`: the moment of the request, moved. Any other text is itself.
fn date_math(text: &str, path: &str) -> Result<Expression> {
    let itself = || Expression::Literal(Value::Str(text.to_owned()));
    let Some(mut rest) = text.strip_prefix("now") else {
        return Ok(itself());
    };
    let mut moment = Expression::Call(Function::Now, Vec::new());
    let mut steps = 0;
    while let Some(sign) = rest.chars().next() {
        steps += 1;
        if steps > DATE_STEPS_MAX {
            let message = format!("more than {DATE_STEPS_MAX} steps of date math");
            return Err(JsonError::new(path, message));
        }
        let function = match sign {
            '+' => Function::DateAdd,
            '-' => Function::DateSub,
            '/' => {
                return Err(JsonError::new(
                    path,
                    "not yet: rounding in date math, as now/d",
                ));
            }
            _ => return Ok(itself()),
        };
        rest = &rest[1..];
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (count, behind) = rest.split_at(digits);
        let is_unit = |unit: &char| DATE_UNITS.contains(*unit);
        let Some(unit) = behind.chars().next().filter(is_unit) else {
            return Ok(itself());
        };
        let Ok(count) = count.parse::<u32>() else {
            return Ok(itself());
        };
        rest = &behind[1..];
        let literal = |value| Expression::Literal(value);
        moment = Expression::Call(
            function,
            vec![
                moment,
                literal(Value::Int(count.into())),
                literal(Value::Str(unit.to_string())),
            ],
        );
    }
    Ok(moment)
}

/// A JSON scalar as a constant.
pub(super) fn constant(json: &Json, path: &str) -> Result<Value> {
    Ok(match json {
        Json::Bool(value) => Value::Int((*value).into()),
        Json::String(text) => Value::Str(text.clone()),
        Json::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => Value::Int(number.into()),
            (_, Some(number)) => Value::Int(number.into()),
            _ => Value::Float(number.as_f64().unwrap_or_default()),
        },
        _ => {
            return Err(JsonError::new(
                path,
                "expected a string, a number or a bool",
            ));
        }
    })
}

/// Options of queries of words in Elasticsearch and Manticore that have no meaning here yet.
const LATER: [&str; 17] = [
    "analyzer",
    "auto_generate_synonyms_phrase_query",
    "boost",
    "default_field",
    "default_operator",
    "fields",
    "fuzziness",
    "fuzzy_rewrite",
    "fuzzy_transpositions",
    "lenient",
    "max_expansions",
    "minimum_should_match",
    "operator",
    "prefix_length",
    "slop",
    "type",
    "zero_terms_query",
];

/// `match_all` has no options: `{}`, or what clients without empty objects write for it.
fn everything(json: &Json, path: &str) -> Result<Clause> {
    match json {
        Json::Null => Ok(Clause::default()),
        Json::String(text) if text.is_empty() => Ok(Clause::default()),
        Json::Array(list) if list.is_empty() => Ok(Clause::default()),
        _ => only_or_later(object(json, path)?, &[], &["boost"], path).map(|()| Clause::default()),
    }
}

/// `{"fields": "words"}` or `{"fields": {"query": "words", "operator": "and"}}`: any of the words, unless `operator` is `and`.
fn match_words(json: &Json, path: &str) -> Result<Clause> {
    let (fields, body) = only_entry(json, path)?;
    let path = format!("{path}.{fields}");
    let text = text_of(body, &["query", "operator"], &path)?;
    let operator = body.get("operator").map(|json| json.as_str());
    let between = match operator.map(|text| text.map(str::to_lowercase)) {
        None => " | ",
        Some(Some(text)) if text == "or" => " | ",
        Some(Some(text)) if text == "and" => " ",
        Some(_) => return Err(JsonError::new(&path, "operator must be 'or' or 'and'")),
    };
    let words: Vec<String> = text.split_whitespace().map(plain_word).collect();
    if words.is_empty() {
        return Err(JsonError::new(&path, "no word to find"));
    }
    limited(fields, &words.join(between), &path)
}

fn match_phrase(json: &Json, path: &str) -> Result<Clause> {
    let (fields, body) = only_entry(json, path)?;
    let path = format!("{path}.{fields}");
    let words: Vec<String> = text_of(body, &["query"], &path)?
        .split_whitespace()
        .map(plain_word)
        .collect();
    if words.is_empty() {
        return Err(JsonError::new(&path, "no word to find"));
    }
    limited(fields, &format!("\"{}\"", words.join(" ")), &path)
}

/// A JSON string, or the member `query` of an object with these options.
fn text_of<'j>(json: &'j Json, known: &[&str], path: &str) -> Result<&'j str> {
    let text = match json.as_object() {
        Some(options) => {
            only_or_later(options, known, &LATER, path)?;
            options.get("query").and_then(Json::as_str)
        }
        None => json.as_str(),
    };
    text.ok_or_else(|| {
        JsonError::new(
            path,
            "expected a text, or an object with a text called query",
        )
    })
}

/// A query text limited to the fields of a list with commas; `*` and `_all` mean all fields.
fn limited(fields: &str, text: &str, path: &str) -> Result<Clause> {
    if matches!(fields, "*" | "_all") {
        return Ok(Clause::text(text.to_owned()));
    }
    let names: Vec<&str> = fields.split(',').map(str::trim).collect();
    let is_name = |name: &&str| {
        !name.is_empty()
            && name
                .chars()
                .all(|character| character.is_alphanumeric() || character == '_')
    };
    if !names.iter().all(is_name) {
        return Err(JsonError::new(path, "expected the names of fields, or *"));
    }
    Ok(Clause::text(format!("@({}) ({text})", names.join(","))))
}

/// A word, escaped so that none of its characters is an operator of the query language.
fn plain_word(word: &str) -> String {
    let mut plain = String::with_capacity(word.len() + 2);
    // AND, MAYBE and the other operators in letters are plain words here.
    if word.bytes().all(|byte| byte.is_ascii_uppercase()) {
        plain.push('\\');
    }
    for character in word.chars() {
        if character.is_ascii_punctuation() && !matches!(character, '_' | '#') {
            plain.push('\\');
        }
        plain.push(character);
    }
    plain
}

fn query_string(json: &Json, path: &str) -> Result<Clause> {
    let text = text_of(json, &["query"], path)?;
    if text.trim().is_empty() {
        return Ok(Clause::default());
    }
    Ok(Clause::text(text.to_owned()))
}

fn equals(json: &Json, path: &str) -> Result<Clause> {
    let (name, value) = only_entry(json, path)?;
    let path = format!("{path}.{name}");
    let value = written(value, &path)?;
    Ok(Clause::filter(Expression::Binary(
        BinaryOperator::Equal,
        boxed(name, &path)?,
        Box::new(value),
    )))
}

fn is_in(json: &Json, path: &str) -> Result<Clause> {
    let (name, values) = only_entry(json, path)?;
    let path = format!("{path}.{name}");
    let values = values
        .as_array()
        .ok_or_else(|| JsonError::new(&path, "expected an array"))?;
    let list: Result<List> = values
        .iter()
        .map(|value| match value {
            Json::Bool(truth) => Ok(Value::of_truth(*truth)),
            value => constant(value, &path),
        })
        .collect();
    Ok(Clause::filter(Expression::In {
        needle: boxed(name, &path)?,
        negated: false,
        list: list?,
    }))
}

fn range(json: &Json, path: &str) -> Result<Clause> {
    let (name, bounds) = only_entry(json, path)?;
    let path = format!("{path}.{name}");
    let mut filters = Vec::new();
    for (bound, value) in object(bounds, &path)? {
        let operator = match bound.as_str() {
            "gt" => BinaryOperator::Greater,
            "gte" => BinaryOperator::GreaterOrEqual,
            "lt" => BinaryOperator::Less,
            "lte" => BinaryOperator::LessOrEqual,
            _ => {
                return Err(JsonError::new(
                    &format!("{path}.{bound}"),
                    "expected gt, gte, lt or lte",
                ));
            }
        };
        let at = format!("{path}.{bound}");
        let value = match value.as_str().map(|text| date_math(text, &at)) {
            Some(moment) => moment?,
            None => written(value, &at)?,
        };
        filters.push(Expression::Binary(
            operator,
            boxed(name, &path)?,
            Box::new(value),
        ));
    }
    if filters.is_empty() {
        return Err(JsonError::new(&path, "expected gt, gte, lt or lte"));
    }
    Ok(Clause {
        filters,
        ..Clause::default()
    })
}

/// Parses `bool`. As in Manticore, `should` counts only without a `must` or `must_not` beside it.
fn boolean(json: &Json, path: &str, depth: usize) -> Result<Clause> {
    let mut must = Clause::default();
    let mut should = None;
    let mut decided = false;
    for (name, body) in object(json, path)? {
        let path = format!("{path}.{name}");
        match name.as_str() {
            "must" | "filter" => {
                for (clause, _) in clauses(body, &path, depth)? {
                    must.and(clause);
                }
                decided = true;
            }
            "must_not" => {
                for (clause, path) in clauses(body, &path, depth)? {
                    must.and(clause.negated(&path)?);
                }
                decided = true;
            }
            "should" => should = Some(any_of(clauses(body, &path, depth)?, &path)?),
            "minimum_should_match" | "boost" => {
                return Err(JsonError::not_yet(&path, "this option"));
            }
            _ => return Err(JsonError::new(&path, "expected must, should or must_not")),
        }
    }
    if let (false, Some(should)) = (decided, should) {
        must = should;
    }
    Ok(must)
}

/// Parses a query or an array of queries; gives each with its path.
fn clauses(json: &Json, path: &str, depth: usize) -> Result<Vec<(Clause, String)>> {
    let Some(list) = json.as_array() else {
        return Ok(vec![(clause(json, path, depth + 1)?, path.to_owned())]);
    };
    let numbered = list.iter().enumerate();
    numbered
        .map(|(index, item)| {
            let path = format!("{path}[{index}]");
            Ok((clause(item, &path, depth + 1)?, path))
        })
        .collect()
}

/// Joins alternatives. Errors: some have text and others a filter.
fn any_of(clauses: Vec<(Clause, String)>, path: &str) -> Result<Clause> {
    if clauses.is_empty() || clauses.iter().any(|(clause, _)| clause.is_everything()) {
        return Ok(Clause::default());
    }
    if clauses.len() == 1 {
        return Ok(clauses
            .into_iter()
            .next()
            .map(|(clause, _)| clause)
            .unwrap_or_default());
    }
    if clauses.iter().all(|(clause, _)| clause.is_text()) {
        let texts: Vec<String> = clauses
            .iter()
            .map(|(clause, _)| format!("({})", conjunction(&clause.positive)))
            .collect();
        return Ok(Clause::text(texts.join(" | ")));
    }
    if clauses.iter().all(|(clause, _)| clause.is_filter()) {
        let filters = clauses
            .into_iter()
            .map(|(clause, _)| Expression::all_of(clause.filters));
        return Ok(Clause::filter(Expression::any_of(filters.collect())));
    }
    Err(JsonError::not_yet(
        path,
        "alternatives of a text and a filter",
    ))
}
