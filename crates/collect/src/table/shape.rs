//! The rows of one store of a table.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

use engine::{Definition, Feed, Kind};
use relation::request::Insert;
use relation::schema::{Column, ColumnType, NumberForm, TypeFamily};
use relation::value::Value;
use serde_json::Value as Json;

use crate::config::{Format, TableConfig, TableKind};
use crate::message::Incoming;

/// Longest text that a row of a message has. Bytes; the most that a text column of a search table takes.
const TEXT_BYTES_MAX: usize = (1 << 24) - 1;

/// A column of times holds this moment, the last one of 31 bits. Seconds since 1970-01-01 UTC.
const SECONDS: i128 = i32::MAX as i128;

/// A longer JSON message is not read: its tree would take many times its size. Bytes.
const JSON_BYTES_MAX: usize = 256 << 10;

/// How the messages of a store fill the columns of its table, as the table is now.
pub(crate) struct Shape {
    definition: Arc<Definition>,
    kind: TableKind,
    names: Vec<String>,
    kinds: Vec<ColumnType>,
    format: Filling,
    origin: Vec<Origin>,
}

enum Filling {
    /// The first column takes the text.
    Text,
    /// The fields, and the place of the rest column behind theirs.
    Json { fields: Fields, rest: usize },
}

/// Fields of an object by name.
type Fields = HashMap<String, Place>;

enum Place {
    Column(usize),
    Object(Fields),
}

#[derive(Clone, Copy)]
enum Origin {
    Category,
    Host,
    Time,
}

/// Rows of one call.
#[derive(Default)]
pub(crate) struct TableRows(Vec<Vec<Value>>);

/// What a row could not hold as the message had it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kept {
    /// The whole message is in the rest column.
    pub whole: bool,
    /// Bytes that are no UTF-8 became U+FFFD.
    pub replaced: bool,
}

impl Shape {
    /// # Errors
    /// Why the table cannot take the store's messages.
    pub(crate) fn new(config: &TableConfig, definition: &Arc<Definition>) -> Result<Shape, String> {
        check_kind(config, definition)?;
        let origin = [
            (&config.category_column, Origin::Category),
            (&config.host_column, Origin::Host),
            (&config.time_column, Origin::Time),
        ];
        let origin = origin.into_iter().filter(|(column, _)| column.is_some());
        let mut shape = Shape {
            definition: Arc::clone(definition),
            kind: config.kind,
            names: Vec::new(),
            kinds: Vec::new(),
            format: filling(&config.format),
            origin: origin.map(|(_, origin)| origin).collect(),
        };
        for (column, _) in config.columns() {
            let name = column.to_lowercase();
            let found = definition.columns.iter().find(|of| of.name == name);
            let found = found.ok_or_else(|| {
                let table = &config.table;
                format!("table '{table}' has no column '{column}'")
            })?;
            shape.names.push(name);
            shape.kinds.push(found.kind);
        }
        shape.check_types()?;
        if config.kind == TableKind::Queue {
            shape.check_wanted()?;
        }
        Ok(shape)
    }

    /// Place of the first column that takes texts whatever a message holds; those of its origin follow.
    fn whole_place(&self) -> usize {
        match self.format {
            Filling::Text => 0,
            Filling::Json { rest, .. } => rest,
        }
    }

    /// Whole messages, categories and hosts go into columns of texts, times into those of whole numbers.
    fn check_types(&self) -> Result<(), String> {
        let table = &self.definition.name;
        let first = self.whole_place();
        for (place, (name, kind)) in self.names.iter().zip(&self.kinds).enumerate().skip(first) {
            let origin = place
                .checked_sub(first + 1)
                .and_then(|of| self.origin.get(of));
            let is_time = matches!(origin, Some(Origin::Time));
            let fits = match is_time {
                true => kind.range().is_some_and(|range| range.contains(&SECONDS)),
                false => kind.family().takes_texts(),
            };
            if !fits {
                let (what, kind) = (if is_time { "times" } else { "texts" }, kind.sql_name());
                return Err(format!(
                    "column '{name}' of '{table}' is a {kind}: it takes no {what}"
                ));
            }
        }
        Ok(())
    }

    /// Every column of a queue that takes no NULL gets a value from each message.
    fn check_wanted(&self) -> Result<(), String> {
        let table = &self.definition.name;
        let always = match self.format {
            Filling::Text => 0,
            Filling::Json { rest, .. } => rest + 1,
        };
        let wanted = |column: &&Column| !column.nullable;
        for column in self.definition.columns.iter().filter(wanted) {
            let place = self.names.iter().position(|name| *name == column.name);
            let is_filled = match place {
                Some(place) => place >= always,
                None => column.default.is_some(),
            };
            if !is_filled {
                let column = &column.name;
                return Err(format!(
                    "column '{column}' of '{table}' is NOT NULL, and a message may have nothing for it"
                ));
            }
        }
        Ok(())
    }

    /// Whether the table is still as it was.
    pub(crate) fn is_of(&self, definition: &Arc<Definition>) -> bool {
        Arc::ptr_eq(&self.definition, definition)
    }

    /// Adds the row of a message.
    ///
    /// # Errors
    /// Why no row of this table can hold the message.
    pub(crate) fn add(&self, rows: &mut TableRows, message: &Incoming<'_>) -> Result<Kept, String> {
        let mut kept = Kept::default();
        let mut row = vec![Value::Null; self.names.len()];
        let mut place = self.whole_place();
        let is_whole = match &self.format {
            Filling::Text => true,
            Filling::Json { fields, .. } => {
                let short = Some(message.body).filter(|body| body.len() <= JSON_BYTES_MAX);
                // Of an object that has a name twice no column says which.
                let read = short.and_then(|body| wire::json::parse(body).ok());
                kept.whole = match read {
                    Some(Json::Object(object)) => !self.fill(fields, object, &mut row),
                    _ => true,
                };
                kept.whole
            }
        };
        if is_whole {
            let (value, replaced) = self.text(place, without_end(message.body))?;
            kept.replaced = replaced;
            row[place] = value;
        }
        for origin in &self.origin {
            place += 1;
            row[place] = match origin {
                Origin::Category => self.text(place, message.category)?.0,
                Origin::Host => self.text(place, message.host.as_bytes())?.0,
                Origin::Time => Value::Int(message.unix_s.into()),
            };
        }
        rows.0.push(row);
        Ok(kept)
    }

    /// Bytes as a value of the column at this place, and whether some were replaced.
    fn text(&self, place: usize, bytes: &[u8]) -> Result<(Value, bool), String> {
        let kind = self.kinds[place];
        let (value, replaced) = match (kind.family(), String::from_utf8_lossy(bytes)) {
            (TypeFamily::Bytes, _) => (Value::Bytes(bytes.to_vec()), false),
            (_, Cow::Borrowed(text)) => (Value::Str(text.to_owned()), false),
            (_, Cow::Owned(text)) => (Value::Str(text), true),
        };
        let accepted = accept(kind, value).ok_or_else(|| {
            let (name, table, count) = (&self.names[place], &self.definition.name, bytes.len());
            format!("{count} bytes are too long for column '{name}' of table '{table}'")
        })?;
        Ok((accepted, replaced))
    }

    /// Fills the columns of an object's fields. False: the columns do not hold all of it.
    fn fill(
        &self,
        fields: &Fields,
        object: serde_json::Map<String, Json>,
        row: &mut [Value],
    ) -> bool {
        let mut fits = true;
        for (name, value) in object {
            fits &= match (fields.get(&name), value) {
                (Some(Place::Object(inner)), Json::Object(object)) => self.fill(inner, object, row),
                (Some(Place::Column(_)), Json::Null) => true,
                (Some(Place::Column(place)), value) => {
                    let (value, is_all) = taken(self.kinds[*place], value);
                    row[*place] = value.unwrap_or(Value::Null);
                    is_all
                }
                _ => false,
            };
        }
        fits
    }

    /// The rows as the engine takes them.
    pub(crate) fn feed(&self, rows: TableRows) -> Feed {
        let insert = Insert {
            table: self.definition.name.clone(),
            columns: Some(self.names.clone()),
            rows: rows.0,
            replace: false,
        };
        match self.kind {
            TableKind::Percolate => Feed::Match(insert),
            TableKind::Index | TableKind::Queue => Feed::Store(insert),
        }
    }
}

fn check_kind(config: &TableConfig, definition: &Definition) -> Result<(), String> {
    let name = &config.table;
    let wanted = match (config.kind, &definition.kind) {
        (TableKind::Index, Kind::Search(_)) | (TableKind::Queue, Kind::Queue(_)) => return Ok(()),
        (TableKind::Percolate, Kind::Percolate { on, into, .. }) => {
            return match (on.first(), into) {
                (Some(on), _) => Err(format!(
                    "table '{name}' has on='{on}': it hears the rows of '{on}' already"
                )),
                (None, None) => Err(format!(
                    "table '{name}' has no into=: its hits would go nowhere"
                )),
                (None, Some(_)) => Ok(()),
            };
        }
        (TableKind::Index, _) => "search table",
        (TableKind::Queue, _) => "queue",
        (TableKind::Percolate, _) => "pq table",
    };
    Err(format!("table '{name}' is no {wanted}"))
}

/// Columns are numbered as in [`TableConfig::columns`].
fn filling(format: &Format) -> Filling {
    let Format::Json { fields, .. } = format else {
        return Filling::Text;
    };
    let mut all = Fields::new();
    for (place, field) in fields.iter().enumerate() {
        let (around, name) = match field.path.rsplit_once('.') {
            Some((around, name)) => (Some(around), name),
            None => (None, &*field.path),
        };
        let mut inner = Some(&mut all);
        for name in around.into_iter().flat_map(|around| around.split('.')) {
            let object = || Place::Object(Fields::new());
            let of = inner.map(|inner| inner.entry(name.to_owned()).or_insert_with(object));
            // A configuration has no field that is a part of another.
            inner = of.and_then(|of| match of {
                Place::Object(inner) => Some(inner),
                Place::Column(_) => None,
            });
        }
        if let Some(inner) = inner {
            inner.insert(name.to_owned(), Place::Column(place));
        }
    }
    Filling::Json {
        rest: fields.len(),
        fields: all,
    }
}

/// The value as the column stores it; `None`: it does not fit.
fn accept(kind: ColumnType, value: Value) -> Option<Value> {
    let bytes = value.text_bytes().map_or(0, <[u8]>::len);
    (bytes <= TEXT_BYTES_MAX)
        .then(|| kind.accept(value).ok())
        .flatten()
}

/// From here on a double does not tell two neighbouring whole numbers apart.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

/// What the column takes of a value, and whether it is all: it is neither rounded nor cut.
fn taken(kind: ColumnType, json: Json) -> (Option<Value>, bool) {
    // The text of a document, which may be a text or a truth alone.
    if kind == ColumnType::Json {
        let value = accept(kind, Value::Str(json.to_string()));
        let is_all = value.is_some() && !has_rounded(&json);
        return (value, is_all);
    }
    if let (TypeFamily::Set, Json::Array(list)) = (kind.family(), &json) {
        let are_whole = list.iter().all(|item| item.is_i64() || item.is_u64());
        let text = Some(json.to_string()).filter(|_| are_whole);
        let value = text.and_then(|text| accept(kind, Value::Str(text)));
        let is_all = value.is_some();
        return (value, is_all);
    }
    let is_rounded = has_rounded(&json) && !matches!(kind.empty(), Value::Float(_));
    let Some(value) = scalar(json) else {
        return (None, false);
    };
    let Some(stored) = accept(kind, value.clone()) else {
        return (None, false);
    };
    let is_all = !is_rounded && is_same(kind, &stored, &value);
    (Some(stored), is_all)
}

/// Whether a number of the document was perhaps another one: a whole number or more digits than a double has.
fn has_rounded(json: &Json) -> bool {
    match json {
        Json::Number(number) if number.is_f64() => {
            number.as_f64().is_none_or(|real| real.abs() >= EXACT_MAX)
        }
        Json::Array(list) => list.iter().any(has_rounded),
        Json::Object(members) => members.values().any(has_rounded),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => false,
    }
}

/// Whether a column has a value as it came.
fn is_same(kind: ColumnType, stored: &Value, value: &Value) -> bool {
    let Ok(came) = kind.constant(value) else {
        return false;
    };
    match (stored, &came) {
        // A float is shown by the digits that no other float has.
        (Value::Float(stored), Value::Float(came))
            if kind.family().number_form() == NumberForm::Float =>
        {
            (*stored as f32).to_string() == came.to_string()
        }
        (Value::Set(_), Value::Int(_)) if kind.family() == TypeFamily::Set => true,
        _ => kind.comparable(stored.clone()).cmp_sql(&came) == Some(Ordering::Equal),
    }
}

/// A value that is no list and no object.
fn scalar(value: Json) -> Option<Value> {
    Some(match value {
        Json::String(text) => Value::Str(text),
        Json::Bool(truth) => Value::Int(truth.into()),
        Json::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(whole), _) => Value::Int(whole.into()),
            (_, Some(whole)) => Value::Int(whole.into()),
            _ => Value::Float(number.as_f64()?),
        },
        Json::Null | Json::Array(_) | Json::Object(_) => return None,
    })
}

/// A message without the line end behind it.
fn without_end(body: &[u8]) -> &[u8] {
    let body = body.strip_suffix(b"\n").unwrap_or(body);
    body.strip_suffix(b"\r").unwrap_or(body)
}
