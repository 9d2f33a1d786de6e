//! Documents of CALL PQ.

use std::fmt;

use query::value::Value;
use serde::de::{
    Deserialize, Deserializer, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer,
};

use super::error::JsonError;
use super::fields::Fields;
use crate::sql::PqOptions;

/// One document to match.
#[derive(Clone, Debug, PartialEq)]
pub enum Document {
    /// Plain text for the table's first text column (`0 AS docs_json`).
    Text(String),
    /// Fields in the order written, names in lower case.
    Fields(Vec<(String, Value)>),
}

/// The documents of one CALL PQ.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Documents {
    /// What is to be matched.
    pub documents: Vec<Document>,
    /// How each of them is called in the answer: its own id with `docs_id`, else its number from 1, plus `shift`.
    pub labels: Vec<u64>,
    /// What went otherwise than the caller may have meant.
    pub warnings: Vec<String>,
}

/// Reads the documents of one CALL PQ by its options.
///
/// # Errors
/// [`JsonError`]: `Bad JSON objects in strings: 2,5`, strings counted from 1, unless `skip_bad_json` makes it a warning.
pub fn pq_documents(strings: &[Vec<u8>], options: &PqOptions) -> Result<Documents, JsonError> {
    let mut read = Documents::default();
    if options.docs_id.is_some() && options.shift != 0 {
        read.warnings.push(
            "'shift' option works only for automatic ids, when 'docs_id' is not defined".to_owned(),
        );
    }
    if !options.docs_json {
        if options.skip_bad_json {
            read.warnings
                .push("'skip_bad_json' option makes no sense when 'docs_json' is off".to_owned());
        }
        for string in strings {
            read.push(
                Document::Text(String::from_utf8_lossy(string).into_owned()),
                options,
            );
        }
        return Ok(read);
    }
    let mut bad = Vec::new();
    let mut without_id = 0_u64;
    for (index, string) in strings.iter().enumerate() {
        match documents(string) {
            Ok(found) => {
                for fields in found {
                    read.push_fields(fields, options, &mut without_id);
                }
            }
            Err(_) => bad.push((index + 1).to_string()),
        }
    }
    if without_id > 0 {
        let name = options.docs_id.as_deref().unwrap_or_default();
        read.warnings.push(format!(
            "skipped {without_id} document(s) without id field '{name}'"
        ));
    }
    if !bad.is_empty() {
        let message = format!("Bad JSON objects in strings: {}", bad.join(","));
        if !options.skip_bad_json {
            return Err(JsonError::new("", message));
        }
        read.warnings.push(message);
    }
    Ok(read)
}

impl Documents {
    fn push_fields(
        &mut self,
        fields: Vec<(String, Value)>,
        options: &PqOptions,
        without_id: &mut u64,
    ) {
        if fields.is_empty() && options.skip_empty {
            return;
        }
        let Some(id_field) = &options.docs_id else {
            return self.push(Document::Fields(fields), options);
        };
        let id = fields
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(id_field));
        match id.and_then(|(_, value)| id_of(value)) {
            Some(id) => {
                self.documents.push(Document::Fields(fields));
                self.labels.push(id);
            }
            None => *without_id += 1,
        }
    }

    fn push(&mut self, document: Document, options: &PqOptions) {
        self.documents.push(document);
        let number = i64::try_from(self.documents.len()).unwrap_or(i64::MAX);
        self.labels
            .push(number.saturating_add(options.shift).max(0).unsigned_abs());
    }
}

/// A document id: a number, or a string of digits.
fn id_of(value: &Value) -> Option<u64> {
    match value {
        Value::Int(id) => u64::try_from(*id).ok(),
        Value::Str(digits) => digits.parse().ok(),
        _ => None,
    }
}

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
