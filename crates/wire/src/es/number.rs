//! Constants of filters, and `minimum_should_match`.

use relation::schema::ColumnType;
use relation::value::Value;
use serde_json::Value as Json;

use super::error::EsError;
use super::mapping::{Field, FieldKind};

type Result<T> = std::result::Result<T, EsError>;

/// A JSON scalar as a column of the field stores it.
///
/// # Errors
/// [`EsError`]: the scalar is no value of the field's type.
pub(super) fn value(field: &Field, json: &Json, path: &str) -> Result<Value> {
    let read = scalar(field, json).and_then(|scalar| match column_type(field.kind) {
        None => Some(scalar),
        Some(ColumnType::Timestamp) => {
            let seconds = match moment(&scalar, false)? {
                Value::Float(seconds) => Value::Float(seconds.floor()),
                whole => whole,
            };
            ColumnType::Timestamp.accept(seconds).ok()
        }
        Some(kind @ (ColumnType::Int | ColumnType::Bigint)) => kind.accept(cut(scalar)).ok(),
        Some(kind) => kind.accept(scalar).ok(),
    });
    read.ok_or_else(|| refused(field, json, path))
}

/// A number without its fraction, as `coerce` of Elasticsearch cuts it.
fn cut(scalar: Value) -> Value {
    match ColumnType::Double.constant(&scalar) {
        Ok(Value::Float(number)) => Value::Float(number.trunc()),
        _ => scalar,
    }
}

/// A JSON scalar as a filter compares it with the field's column: exactly. 12.7 beside a column of whole numbers stays 12.7, and
/// half a second beside one of seconds stays half a second. Beside a float of 32 bits it is rounded as the stored values are.
/// `latest`: a year, a month or a day stands for its last second.
///
/// # Errors
/// [`EsError`]: the field's type does not read the scalar.
pub(super) fn compared(field: &Field, json: &Json, latest: bool, path: &str) -> Result<Value> {
    let read = scalar(field, json).and_then(|scalar| match column_type(field.kind) {
        None => Some(scalar),
        Some(ColumnType::Timestamp) => moment(&scalar, latest),
        Some(ColumnType::Float) => ColumnType::Float.accept(scalar).ok(),
        Some(kind) => kind.constant(&scalar).ok(),
    });
    read.ok_or_else(|| refused(field, json, path))
}

fn refused(field: &Field, json: &Json, path: &str) -> EsError {
    let what = format!("{json} is no value of field [{}]", field.path);
    EsError::illegal(path, what)
}

/// The type of the column that keeps a field; none for texts.
fn column_type(kind: FieldKind) -> Option<ColumnType> {
    match kind {
        FieldKind::Text | FieldKind::Keyword => None,
        FieldKind::Integer => Some(ColumnType::Int),
        FieldKind::Long => Some(ColumnType::Bigint),
        FieldKind::Float => Some(ColumnType::Float),
        FieldKind::Boolean => Some(ColumnType::Bool),
        FieldKind::Date => Some(ColumnType::Timestamp),
    }
}

/// A JSON scalar as a value: a text for a field of texts.
fn scalar(field: &Field, json: &Json) -> Option<Value> {
    let is_text = column_type(field.kind).is_none();
    let scalar = match json {
        Json::String(text) => Value::Str(text.clone()),
        Json::Bool(truth) if is_text => Value::Str(truth.to_string()),
        Json::Bool(truth) if field.kind == FieldKind::Boolean => Value::Int((*truth).into()),
        Json::Bool(_) => return None,
        Json::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => Value::Int(number.into()),
            (_, Some(number)) => Value::Int(number.into()),
            _ => Value::Float(number.as_f64().unwrap_or_default()),
        },
        Json::Null | Json::Array(_) | Json::Object(_) => return None,
    };
    Some(match scalar {
        Value::Int(_) | Value::Float(_) if is_text => Value::Str(plain(&scalar)),
        other => other,
    })
}

/// Seconds of a day.
const DAY: i128 = 86_400;

/// An Elasticsearch date, in seconds: milliseconds, as a number or a text, or a text of ISO 8601, which may be a year (four digits), a
/// month or a day alone. `latest`: the last second of such a one, not its first.
fn moment(scalar: &Value, latest: bool) -> Option<Value> {
    let Value::Str(text) = scalar else {
        return seconds(scalar);
    };
    let parts: Vec<&str> = text.split('-').collect();
    let are = |lengths: &[usize]| {
        let is = |(part, length): (&&str, &usize)| {
            part.len() == *length && part.bytes().all(|byte| byte.is_ascii_digit())
        };
        parts.len() == lengths.len() && parts.iter().zip(lengths).all(is)
    };
    let date = |text: &str| ColumnType::Timestamp.constant(&Value::Str(text.to_owned()));
    let last = |text: &str| match date(text).ok()? {
        Value::Int(first) => Some(Value::Int(first + DAY - 1)),
        other => Some(other),
    };
    match latest {
        false if are(&[4]) => date(&format!("{text}-01-01")).ok(),
        true if are(&[4]) => last(&format!("{text}-12-31")),
        false if are(&[4, 2]) => date(&format!("{text}-01")).ok(),
        true if are(&[4, 2]) => {
            let mut days = (28..=31).rev();
            days.find_map(|day| last(&format!("{text}-{day}")))
        }
        true if are(&[4, 2, 2]) => last(text),
        _ => match ColumnType::Double.constant(scalar) {
            Ok(number) => seconds(&number),
            Err(_) => date(text).ok(),
        },
    }
}

/// Seconds of a number of milliseconds.
fn seconds(milliseconds: &Value) -> Option<Value> {
    match milliseconds {
        Value::Int(whole) if whole % 1_000 == 0 => Some(Value::Int(whole / 1_000)),
        Value::Int(milliseconds) => Some(Value::Float(*milliseconds as f64 / 1_000.0)),
        Value::Float(milliseconds) => Some(Value::Float(milliseconds / 1_000.0)),
        _ => None,
    }
}

/// A value as the text of a constant in our expressions.
pub(super) fn constant(value: &Value) -> String {
    match value {
        Value::Str(text) => quoted(text),
        other => plain(other),
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::Float(number) => number.to_string(),
        other => other.to_string(),
    }
}

/// A text as a quoted and escaped constant.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('\'');
    for character in text.chars() {
        if matches!(character, '\'' | '\\') {
            out.push('\\');
        }
        out.push(character);
    }
    out.push('\'');
    out
}

/// A column's name in an expression.
pub(super) fn column(field: &Field) -> String {
    format!("`{}`", field.column)
}

/// The least count of conditions that must hold, of `count`, by `minimum_should_match`: `2`, `-1`, `"75%"`, `"-25%"` or
/// `"2<75% 9<-3"`.
///
/// # Errors
/// [`EsError`]: another form.
pub(super) fn minimum(json: &Json, count: usize, path: &str) -> Result<usize> {
    let text = match json {
        Json::Number(number) => number.to_string(),
        Json::String(text) => text.trim().to_owned(),
        _ => return Err(EsError::parsing(path, "expected a number or a text")),
    };
    let wrong = || EsError::parsing(path, format!("'{text}' is no minimum_should_match"));
    if !text.contains('<') {
        return share(&text, count).ok_or_else(wrong);
    }
    let mut least = count;
    for rule in text.split_whitespace() {
        let (above, share_of) = rule.split_once('<').ok_or_else(wrong)?;
        let above: usize = above.parse().map_err(|_| wrong())?;
        let least_here = share(share_of, count).ok_or_else(wrong)?;
        if count > above {
            least = least_here;
        }
    }
    Ok(least)
}

fn share(text: &str, count: usize) -> Option<usize> {
    let all = i64::try_from(count).ok()?;
    let least = match text.strip_suffix('%') {
        Some(percent) => {
            let percent: i64 = percent
                .parse()
                .ok()
                .filter(|percent| (-100..=100).contains(percent))?;
            let part = all * percent.abs() / 100;
            if percent < 0 { all - part } else { part }
        }
        None => {
            let number: i64 = text.parse().ok()?;
            if number < 0 {
                all.saturating_add(number)
            } else {
                number
            }
        }
    };
    usize::try_from(least.max(0)).ok()
}
