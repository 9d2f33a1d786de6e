//! Documents of CALL PQ.

use std::fmt;

use query::value::Value;
use serde::de::{
    Deserialize, Deserializer, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer,
};

use super::error::JsonError;
use super::fields::Fields;

/// Reads every document of one string: an object, an array of objects, or several of these one behind the other.
/// Each becomes its fields in the order written, names in lower case. No document at all is an error.
///
/// # Errors
/// [`JsonError`]: no JSON, or something else than objects.
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
