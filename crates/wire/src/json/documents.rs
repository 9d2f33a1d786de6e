//! Documents of CALL PQ.

use std::fmt;

use relation::value::Value;
use serde::de::{
    Deserialize, Deserializer, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer,
};
use serde_json::value::RawValue;

use super::error::JsonError;
use super::fields::Fields;
use super::once::{repeated, twice};

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
        for Fields(fields) in documents {
            if let Some(name) = repeated_in(&fields) {
                return Err(JsonError::new("", twice(name)));
            }
            found.push(fields);
        }
        count += 1;
    }
    if count == 0 {
        return Err(JsonError::new("", "no JSON document"));
    }
    Ok(found)
}

fn repeated_in(fields: &[(String, Value)]) -> Option<&str> {
    repeated(fields.iter().map(|(name, _)| &**name))
}

/// The objects of a text that [`documents`] refuses. Skips other values of an array, objects that have a name twice, and everything
/// from the first byte that is no JSON. May be empty.
#[must_use]
pub fn documents_but_bad(text: &[u8]) -> Vec<Vec<(String, Value)>> {
    let stream = serde_json::Deserializer::from_slice(text).into_iter::<&RawValue>();
    let items = stream.map_while(Result::ok).flat_map(|item| {
        match serde_json::from_str::<Vec<&RawValue>>(item.get()) {
            Ok(list) => list,
            Err(_) => vec![item],
        }
    });
    let fields = items.filter_map(|item| serde_json::from_str::<Fields>(item.get()).ok());
    let fields = fields.map(|Fields(fields)| fields);
    fields
        .filter(|fields| repeated_in(fields).is_none())
        .collect()
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
