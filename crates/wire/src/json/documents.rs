//! Documents of CALL PQ.

use std::fmt;

use query::value::Value;
use serde::de::{
    Deserialize, Deserializer, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer,
};
use serde_json::Value as Json;

use super::error::JsonError;
use super::fields::Fields;

/// Parses all documents of a string: an object, an array of objects, or several of these one behind the other. A document is
/// the list of its fields in the order written, names in lower case.
///
/// # Errors
/// [`JsonError`]: no JSON, a value that is no object, or no document.
pub fn documents(text: &[u8]) -> Result<Vec<Vec<(String, Value)>>, JsonError> {
    let mut found = Vec::new();
    let stream = serde_json::Deserializer::from_slice(text).into_iter::<OneOrMany>();
    let mut count = 0;
    for item in stream {
        let OneOrMany(documents) = item.map_err(|error| JsonError::from_serde(&error))?;
        found.extend(documents.into_iter().map(|Fields(fields)| fields));
        count += 1;
    }
    if count == 0 {
        return Err(JsonError::new("", "no JSON document"));
    }
    Ok(found)
}

/// The objects of a text that [`documents`] refuses. Skips other values of an array, and everything from the first byte that is
/// no JSON. May be empty.
#[must_use]
pub fn documents_but_bad(text: &[u8]) -> Vec<Vec<(String, Value)>> {
    let stream = serde_json::Deserializer::from_slice(text).into_iter::<Json>();
    let items = stream.map_while(Result::ok).flat_map(|item| match item {
        Json::Array(list) => list,
        one => vec![one],
    });
    let objects = items.filter(Json::is_object);
    let fields = objects.filter_map(|object| Fields::deserialize(object).ok());
    fields.map(|Fields(fields)| fields).collect()
}

/// An object, or an array of objects.
struct OneOrMany(Vec<Fields>);

impl<'de> Deserialize<'de> for OneOrMany {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OneOrManyVisitor)
    }
}

struct OneOrManyVisitor;

impl<'de> Visitor<'de> for OneOrManyVisitor {
    type Value = OneOrMany;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object or an array of objects")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<OneOrMany, A::Error> {
        let fields = Fields::deserialize(MapAccessDeserializer::new(map))?;
        Ok(OneOrMany(vec![fields]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<OneOrMany, A::Error> {
        let mut many = Vec::new();
        while let Some(fields) = seq.next_element()? {
            many.push(fields);
        }
        Ok(OneOrMany(many))
    }
}
