//! A JSON object as fields of a document, parsed without an intermediate tree.

use std::fmt;

use relation::value::Value;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::once::{Once, twice};

/// Fields in the order written, names in lower case. A repeated name stays repeated.
#[derive(Debug, Default)]
pub(super) struct Fields(pub(super) Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FieldsVisitor)
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of fields")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
        let mut fields = Vec::new();
        while let Some(name) = map.next_key::<String>()? {
            let JsonValue(value) = map.next_value()?;
            fields.push((lower_case(name), value));
        }
        Ok(Fields(fields))
    }
}

fn lower_case(mut name: String) -> String {
    if name.is_ascii() {
        name.make_ascii_lowercase();
        name
    } else {
        name.to_lowercase()
    }
}

/// A field's value. Truths are those of a document, which columns of other types store as 1 and 0. Arrays and objects stay JSON text.
pub(super) struct JsonValue(pub(super) Value);

impl<'de> Deserialize<'de> for JsonValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = JsonValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<JsonValue, E> {
        Ok(JsonValue(Value::of_truth(value)))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<JsonValue, E> {
        Ok(JsonValue(Value::Int(value.into())))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<JsonValue, E> {
        Ok(JsonValue(Value::Int(value.into())))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<JsonValue, E> {
        Ok(JsonValue(Value::Float(value)))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<JsonValue, E> {
        Ok(JsonValue(Value::Str(value.to_owned())))
    }

    fn visit_string<E: Error>(self, value: String) -> Result<JsonValue, E> {
        Ok(JsonValue(Value::Str(value)))
    }

    fn visit_unit<E: Error>(self) -> Result<JsonValue, E> {
        Ok(JsonValue(Value::Null))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<JsonValue, A::Error> {
        let mut list: Vec<serde_json::Value> = Vec::new();
        while let Some(Once(item)) = seq.next_element()? {
            list.push(item);
        }
        Ok(JsonValue(Value::Str(
            serde_json::Value::Array(list).to_string(),
        )))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<JsonValue, A::Error> {
        let mut object = serde_json::Map::new();
        while let Some((name, Once(value))) = map.next_entry::<String, Once>()? {
            if object.contains_key(&name) {
                return Err(A::Error::custom(twice(&name)));
            }
            object.insert(name, value);
        }
        Ok(JsonValue(Value::Str(
            serde_json::Value::Object(object).to_string(),
        )))
    }
}
