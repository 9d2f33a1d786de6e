//! Constants of filters, and `minimum_should_match`.

use query::schema::ColumnType;
use query::value::Value;
use serde_json::Value as Json;

use super::error::EsError;
use super::mapping::{Field, FieldKind};

type Result<T> = std::result::Result<T, EsError>;

/// A JSON scalar as a column of the field stores it.
///
/// # Errors
/// [`EsError`]: the scalar is no value of the field's type.
pub(super) fn value(field: &Field, json: &Json, path: &str) -> Result<Value> {
    let refused = || {
        let what = format!("{json} is no value of field [{}]", field.path);
        EsError::illegal(path, what)
    };
    let scalar = match json {
        Json::String(text) => Value::Str(text.clone()),
        Json::Bool(truth) => match field.kind {
            FieldKind::Keyword | FieldKind::Text => Value::Str(truth.to_string()),
            _ => Value::Int((*truth).into()),
        },
        Json::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => Value::Int(number.into()),
            (_, Some(number)) => Value::Int(number.into()),
            _ => Value::Float(number.as_f64().unwrap_or_default()),
        },
        _ => return Err(refused()),
    };
    let kind = match field.kind {
        FieldKind::Text | FieldKind::Keyword => {
            let text = match scalar {
                Value::Str(text) => text,
                other => plain(&other),
            };
            return Ok(Value::Str(text));
        }
        FieldKind::Integer => ColumnType::Int,
        FieldKind::Long => ColumnType::Bigint,
        FieldKind::Float => ColumnType::Float,
        FieldKind::Boolean => ColumnType::Bool,
        FieldKind::Date => return date(scalar).ok_or_else(refused),
    };
    kind.accept(scalar).map_err(|_| refused())
}

/// An Elasticsearch date, which is milliseconds as a number or ISO 8601, as seconds.
fn date(scalar: Value) -> Option<Value> {
    let seconds = |milliseconds: i128| Value::Int(milliseconds.div_euclid(1_000));
    match scalar {
        Value::Int(milliseconds) => Some(seconds(milliseconds)),
        Value::Float(milliseconds) => Some(seconds(milliseconds as i128)),
        Value::Str(text) => match text.parse::<i64>() {
            Ok(milliseconds) if text.len() > 4 => Some(seconds(milliseconds.into())),
            _ => ColumnType::Timestamp.accept(Value::Str(text)).ok(),
        },
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
