//! One value of a row, an expression or a reply.

mod compare;

#[cfg(test)]
pub(crate) mod tests;

use std::cmp::Ordering;
use std::fmt;
use std::io::Write;
use std::ops::Range;
use std::sync::Arc;

pub(crate) use compare::Number;

use crate::json::{Json, JsonNode, JsonStep};
use crate::schema::{ColumnType, NumberForm};

/// A value. `Int` holds every integer type, signed or not (`bigint unsigned` needs more than an `i64`).
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// SQL NULL.
    Null,
    /// Any integer, bool (0 or 1) or timestamp (seconds since 1970-01-01 UTC).
    Int(i128),
    /// `float` and `double`.
    Float(f64),
    /// UTF-8 text.
    Str(String),
    /// Bytes that need not be UTF-8 (blobs, binary literals).
    Bytes(Vec<u8>),
    /// A set of integers: in a column rising, each once.
    Set(Arc<[i64]>),
    /// A JSON document.
    Json(Json),
}

/// What values share if SQL may take them for equal, for hash tables.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// A whole number.
    Whole(i128),
    /// The bits of a number with a fraction, or of one beyond 128 bits.
    Real(u64),
    /// A text in lower case.
    Text(Box<[u8]>),
    /// NULL, a set or a document.
    Other,
}

/// What SQL says of two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compared {
    /// The first is less than, equal to or greater than the second.
    Ordered(Ordering),
    /// They are of kinds that are never equal, and have no order.
    Unlike,
    /// One is NULL or no number (NaN), so nothing is known.
    Null,
}

/// A value as one side of a comparison.
enum Side<'v> {
    Null,
    Number(Number),
    Text(&'v str),
    Bytes(&'v [u8]),
    Set(&'v [i64]),
    /// A text, a truth, an array or an object of a document.
    Inside(&'v str),
    Truth(bool),
    Document(&'v [u8]),
}

impl<'v> Side<'v> {
    fn new(value: &'v Value) -> Side<'v> {
        match value {
            Value::Null => Side::Null,
            Value::Int(number) => Side::Number(Number::Whole(*number)),
            Value::Float(number) => Side::Number(Number::Real(*number)),
            Value::Str(text) => Side::Text(text),
            Value::Bytes(bytes) => Side::Bytes(bytes),
            Value::Set(numbers) => Side::Set(numbers),
            Value::Json(document) => match document.node_at(&[]) {
                None | Some(JsonNode::Null) => Side::Null,
                Some(JsonNode::Truth(truth)) => Side::Truth(truth),
                Some(JsonNode::Whole(number)) => Side::Number(Number::Whole(number)),
                Some(JsonNode::Real(number)) => Side::Number(Number::Real(number)),
                Some(JsonNode::Text(text)) => Side::Inside(text),
                Some(JsonNode::Document(bytes)) => Side::Document(bytes),
            },
        }
    }
}

/// The items of a list.
pub(crate) struct Items<'v> {
    list: &'v Value,
    left: Range<usize>,
    /// Whether truths of a document stay truths.
    are_compared: bool,
}

impl Iterator for Items<'_> {
    type Item = Value;

    fn next(&mut self) -> Option<Value> {
        let at = self.left.next()?;
        Some(match self.list {
            Value::Set(numbers) => Value::Int((*numbers.get(at)?).into()),
            list => {
                let item = [JsonStep::Item(u32::try_from(at).ok()?)];
                match (list, self.are_compared) {
                    (Value::Json(document), true) => match document.node_at(&item) {
                        Some(JsonNode::Truth(truth)) => Value::of_truth(truth),
                        node => Value::of_node(node),
                    },
                    _ => list.at_path(&item),
                }
            }
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.left.size_hint()
    }
}

impl ExactSizeIterator for Items<'_> {}

/// The bytes of a text as texts are compared: ASCII letters in lower case.
pub(crate) fn without_case(text: &str) -> impl Iterator<Item = u8> {
    text.bytes().map(|byte| byte.to_ascii_lowercase())
}

/// Bytes of two texts that are first asked whether they are equal.
const EQUAL_BYTES: usize = 64;

/// Compares the texts of [`without_case`]. Equal stretches are passed at the speed of a comparison of memory: two texts of 16 MiB take
/// some milliseconds.
pub(crate) fn compare_texts(a: &str, b: &str) -> Ordering {
    if a.len().min(b.len()) <= EQUAL_BYTES {
        return without_case(a).cmp(without_case(b));
    }
    let folded = |bytes: &'_ [u8]| bytes.to_ascii_lowercase();
    for (a, b) in a
        .as_bytes()
        .chunks(EQUAL_BYTES)
        .zip(b.as_bytes().chunks(EQUAL_BYTES))
    {
        if a != b && !a.eq_ignore_ascii_case(b) {
            return folded(a).cmp(&folded(b));
        }
    }
    a.len().cmp(&b.len())
}

impl Value {
    /// The order of [`Value::compare`]; `None` where there is none.
    #[must_use]
    #[inline]
    pub fn cmp_sql(&self, other: &Value) -> Option<Ordering> {
        if let (Value::Int(a), Value::Int(b)) = (self, other) {
            return Some(a.cmp(b));
        }
        match self.compare(other) {
            Compared::Ordered(order) => Some(order),
            Compared::Unlike | Compared::Null => None,
        }
    }

    /// Compares as SQL does, by kind:
    /// - numbers: by exact value;
    /// - two texts: without regard to the case of ASCII letters (Sphinx's default collation, `libc_ci`);
    /// - bytes, or a text beside bytes: byte by byte;
    /// - a text of a column beside a number: by the number that the text is from end to end; a text that is none is unlike it;
    /// - a text of a document (see [`JsonStep::Itself`]) is unlike each number, and a truth is like truths alone;
    /// - two sets, two arrays, two objects: by their bytes.
    #[must_use]
    pub fn compare(&self, other: &Value) -> Compared {
        match (self, other) {
            (Value::Int(a), Value::Int(b)) => return Compared::Ordered(a.cmp(b)),
            (Value::Str(a), Value::Str(b)) => return Compared::Ordered(compare_texts(a, b)),
            _ => {}
        }
        let order = match (Side::new(self), Side::new(other)) {
            (Side::Null, _) | (_, Side::Null) => return Compared::Null,
            (Side::Number(a), Side::Number(b)) => match a.compare(b) {
                Some(order) => order,
                None => return Compared::Null, // NaN
            },
            (Side::Text(a) | Side::Inside(a), Side::Text(b) | Side::Inside(b)) => {
                compare_texts(a, b)
            }
            (Side::Text(a) | Side::Inside(a), Side::Bytes(b)) => a.as_bytes().cmp(b),
            (Side::Bytes(a), Side::Text(b) | Side::Inside(b)) => a.cmp(b.as_bytes()),
            (Side::Bytes(a), Side::Bytes(b)) => a.cmp(b),
            (Side::Truth(a), Side::Truth(b)) => a.cmp(&b),
            (Side::Set(a), Side::Set(b)) => a.cmp(b),
            (Side::Document(a), Side::Document(b)) => a.cmp(b),
            (Side::Text(_) | Side::Bytes(_), Side::Number(_))
            | (Side::Number(_), Side::Text(_) | Side::Bytes(_)) => {
                let numbers = self.spelled().zip(other.spelled());
                match numbers.and_then(|(a, b)| a.compare(b)) {
                    Some(order) => order,
                    None => return Compared::Unlike,
                }
            }
            (
                Side::Number(_)
                | Side::Text(_)
                | Side::Inside(_)
                | Side::Bytes(_)
                | Side::Truth(_)
                | Side::Set(_)
                | Side::Document(_),
                _,
            ) => return Compared::Unlike,
        };
        Compared::Ordered(order)
    }

    /// The value as the value of a document beside another value of a document: a text becomes one inside a document.
    #[must_use]
    pub fn inside(self) -> Value {
        match self {
            Value::Str(text) => Value::Json(Json::of_node(JsonNode::Text(&text))),
            Value::Bytes(bytes) => match std::str::from_utf8(&bytes) {
                Ok(text) => Value::Json(Json::of_node(JsonNode::Text(text))),
                Err(_) => Value::Bytes(bytes),
            },
            other => other,
        }
    }

    /// A truth of a document.
    #[must_use]
    pub fn of_truth(truth: bool) -> Value {
        Value::Json(Json::of_node(JsonNode::Truth(truth)))
    }

    /// The value, with 1 and 0 for a truth of a document, as columns of other types store it.
    #[must_use]
    pub fn without_truth(self) -> Value {
        match &self {
            Value::Json(document) => match document.node_at(&[]) {
                Some(JsonNode::Truth(truth)) => Value::Int(truth.into()),
                _ => self,
            },
            _ => self,
        }
    }

    /// The text that is a document of its own; `None`: the value is none.
    pub(crate) fn text_inside(&self) -> Option<&str> {
        match self {
            Value::Json(document) => match document.node_at(&[]) {
                Some(JsonNode::Text(text)) => Some(text),
                _ => None,
            },
            _ => None,
        }
    }

    /// The value as a number, if it is one or a text of nothing else.
    pub(crate) fn spelled(&self) -> Option<Number> {
        match self.text_bytes() {
            Some(text) => Number::spelled(text),
            None => self.number(),
        }
    }

    /// The order of ORDER BY, total: NULL first, then NaN, numbers, texts, bytes, sets and documents, those of a kind as
    /// [`Value::cmp_sql`]. Values at one path of documents may be of several kinds.
    #[must_use]
    pub fn cmp_order(&self, other: &Value) -> Ordering {
        let rank = |value: &Value| match value {
            Value::Null => 0,
            Value::Float(number) if number.is_nan() => 1,
            Value::Int(_) | Value::Float(_) => 2,
            Value::Str(_) => 3,
            Value::Bytes(_) => 4,
            Value::Set(_) => 5,
            Value::Json(_) => 6,
        };
        rank(self)
            .cmp(&rank(other))
            .then(self.cmp_sql(other).unwrap_or(Ordering::Equal))
    }

    /// Truth: `None` for NULL, else whether it is a number other than 0. A text counts as the number that it begins
    /// with.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        match self.number()? {
            Number::Whole(number) => Some(number != 0),
            Number::Real(number) => Some(number != 0.0),
        }
    }

    /// Appends the text that a client sees for a value of a column of that type (`None`: a computed column). NULL
    /// appends nothing.
    /// - Whole numbers are decimal, a YEAR with four digits.
    /// - Floats have six decimals, as in Sphinx, where these read back the same; else, and in columns of doubles, the least that
    ///   reads back the same.
    /// - Texts and bytes are as they are. A set is `1,2,3`, a document JSON.
    pub fn write_text(&self, kind: Option<ColumnType>, out: &mut Vec<u8>) {
        let shown = kind.map_or(NumberForm::Plain, |kind| kind.family().number_form());
        // Writing to a vector cannot fail.
        let _ = match self {
            Value::Null => Ok(()),
            Value::Int(number) if shown == NumberForm::Year => write!(out, "{number:04}"),
            Value::Int(number) => match i64::try_from(*number) {
                Ok(number) => write!(out, "{number}"), // twice as fast as 128 bits
                Err(_) => write!(out, "{number}"),
            },
            Value::Float(number) if shown == NumberForm::Double => write!(out, "{number}"),
            Value::Float(number) => {
                let begin = out.len();
                let six = write!(out, "{number:.6}");
                let read = std::str::from_utf8(&out[begin..]).ok();
                let read = read.and_then(|text| text.parse::<f64>().ok());
                let is_same = match (shown, read) {
                    (_, None) => true, // NaN and infinity
                    (NumberForm::Float, Some(read)) => read as f32 == *number as f32,
                    (_, Some(read)) => read == *number || !number.is_finite(),
                };
                match is_same {
                    true => six,
                    false => {
                        out.truncate(begin);
                        match shown {
                            NumberForm::Float => write!(out, "{}", *number as f32),
                            NumberForm::Plain
                            | NumberForm::Truth
                            | NumberForm::Year
                            | NumberForm::Double => {
                                write!(out, "{number}")
                            }
                        }
                    }
                }
            }
            Value::Str(text) => out.write_all(text.as_bytes()),
            Value::Bytes(bytes) => out.write_all(bytes),
            Value::Set(numbers) => {
                for (place, number) in numbers.iter().enumerate() {
                    let comma = if place > 0 { "," } else { "" };
                    let _ = write!(out, "{comma}{number}");
                }
                Ok(())
            }
            Value::Json(document) => {
                document.write_text(out);
                Ok(())
            }
        };
    }

    /// The value inside a document: a number, text, truth (0 or 1), or a document for an array or object. NULL where there is
    /// nothing, for JSON's null, and if `self` is no document. Behind [`JsonStep::Itself`] alone a value is itself, and a text is
    /// one of a document.
    #[must_use]
    pub fn at_path(&self, path: &[JsonStep]) -> Value {
        if let (false, [JsonStep::Itself]) = (matches!(self, Value::Json(_)), path) {
            return self.clone().inside();
        }
        let Value::Json(document) = self else {
            return Value::Null;
        };
        Value::of_node(document.node_at(path))
    }

    /// The numbers of a set or the items of a JSON array, each made when it is asked for; `None` for other values.
    pub(crate) fn items(&self) -> Option<Items<'_>> {
        let count = match self {
            Value::Set(numbers) => numbers.len(),
            Value::Json(document) => document.items()?,
            _ => return None,
        };
        Some(Items {
            list: self,
            left: 0..count,
            are_compared: false,
        })
    }

    /// As [`Value::items`], to compare them: truths of a document stay truths, which are unlike 0 and 1.
    pub(crate) fn items_compared(&self) -> Option<Items<'_>> {
        let items = self.items()?;
        Some(Items {
            are_compared: true,
            ..items
        })
    }

    /// The value as a part of a JSON document: a set becomes an array, bytes a text, with U+FFFD for what is no UTF-8.
    #[must_use]
    pub fn to_json(&self) -> Json {
        Json::of_node(match self {
            Value::Null => JsonNode::Null,
            Value::Int(number) => JsonNode::Whole(*number),
            Value::Float(number) => JsonNode::Real(*number),
            Value::Str(text) => JsonNode::Text(text),
            Value::Bytes(bytes) => {
                return Json::of_node(JsonNode::Text(&String::from_utf8_lossy(bytes)));
            }
            Value::Set(numbers) => return Json::of_numbers(numbers),
            Value::Json(document) => return document.clone(),
        })
    }

    /// The value of a document's node, as [`Value::at_path`] gives it.
    pub(crate) fn of_node(node: Option<JsonNode<'_>>) -> Value {
        match node {
            None | Some(JsonNode::Null) => Value::Null,
            Some(JsonNode::Truth(truth)) => Value::Int(truth.into()),
            Some(JsonNode::Whole(number)) => Value::Int(number),
            Some(JsonNode::Real(number)) => Value::Float(number),
            Some(JsonNode::Text(text)) => Value::Str(text.to_owned()),
            Some(JsonNode::Document(bytes)) => Value::Json(Json::of_bytes(bytes)),
        }
    }

    /// The class of the value. `are_texts`: texts are compared with texts alone; else they may stand beside numbers, and one that is
    /// a number from end to end has the number's class.
    #[must_use]
    pub fn class(&self, are_texts: bool) -> Class {
        let text = self.text_inside().map(str::as_bytes).or(self.text_bytes());
        let number = match text {
            Some(_) if are_texts => None,
            Some(text) => Number::spelled(text),
            None => self.number(),
        };
        match (number.map(Number::normal), text) {
            (Some(Number::Whole(number)), _) => Class::Whole(number),
            (Some(Number::Real(number)), _) => Class::Real(number.to_bits()),
            (None, Some(text)) => Class::Text(text.to_ascii_lowercase().into()),
            (None, None) => Class::Other,
        }
    }

    /// The bytes of a text or of bytes; `None` for other values.
    #[must_use]
    pub fn text_bytes(&self) -> Option<&[u8]> {
        match self {
            Value::Str(text) => Some(text.as_bytes()),
            Value::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// Memory of the value, in bytes.
    #[must_use]
    pub fn memory(&self) -> usize {
        let own = match self {
            Value::Set(numbers) => size_of_val::<[i64]>(numbers),
            Value::Json(document) => document.bytes().len(),
            other => other.text_bytes().map_or(0, <[u8]>::len),
        };
        size_of::<Value>() + own
    }

    /// The value as a number; `None` for NULL, a set and a document.
    pub(crate) fn number(&self) -> Option<Number> {
        match self {
            Value::Null | Value::Set(_) | Value::Json(_) => None,
            Value::Int(number) => Some(Number::Whole(*number)),
            Value::Float(number) => Some(Number::Real(*number)),
            Value::Str(text) => Some(Number::at_start(text.as_bytes())),
            Value::Bytes(bytes) => Some(Number::at_start(bytes)),
        }
    }
}

/// As [`Value::write_text`] without a column; NULL is `NULL`, bytes that are not UTF-8 are replaced.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Value::Null {
            return f.write_str("NULL");
        }
        let mut text = Vec::new();
        self.write_text(None, &mut text);
        f.write_str(&String::from_utf8_lossy(&text))
    }
}
