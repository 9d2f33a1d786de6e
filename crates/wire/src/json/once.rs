//! JSON in which each object has each name once. RFC 8259 leaves open which of two counts; readers of one message that choose
//! differently are a way past each other. So a request with a repeated name is refused.

use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value as Json};

/// A value, read so.
#[derive(Debug)]
pub(super) struct Once(pub(super) Json);

/// Reads JSON from end to end.
///
/// # Errors
/// No JSON, or an object that has a name twice.
pub fn parse(text: &[u8]) -> serde_json::Result<Json> {
    serde_json::from_slice(text).map(|Once(json)| json)
}

/// A name that is there twice.
pub(super) fn repeated<'n>(names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let mut seen = HashSet::new();
    let mut names = names;
    names.find(|name| !seen.insert(*name))
}

impl<'de> Deserialize<'de> for Once {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OnceVisitor)
    }
}

struct OnceVisitor;

impl<'de> Visitor<'de> for OnceVisitor {
    type Value = Once;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<Once, E> {
        Ok(Once(Json::Null))
    }

    fn visit_bool<E: Error>(self, truth: bool) -> Result<Once, E> {
        Ok(Once(Json::Bool(truth)))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Once, E> {
        Ok(Once(Json::from(number)))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Once, E> {
        Ok(Once(Json::from(number)))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Once, E> {
        Ok(Once(
            Number::from_f64(number).map_or(Json::Null, Json::Number),
        ))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Once, E> {
        Ok(Once(Json::from(text)))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Once, E> {
        Ok(Once(Json::String(text)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Once, A::Error> {
        let mut list = Vec::new();
        while let Some(Once(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Once(Json::Array(list)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Once, A::Error> {
        let mut object = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            if object.contains_key(&name) {
                return Err(A::Error::custom(twice(&name)));
            }
            let Once(value) = members.next_value()?;
            object.insert(name, value);
        }
        Ok(Once(Json::Object(object)))
    }
}

/// The message about a repeated name.
pub(super) fn twice(name: &str) -> String {
    format!("an object has the name {name:?} twice")
}
