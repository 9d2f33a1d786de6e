//! NDJSON: an object in each line; its keys are columns.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value as Json;

use super::row::{Cell, Row, Unreadable};

/// Parses a line. Lists and objects stay JSON text, but a list of texts becomes a text with commas, as tags have it.
pub(super) fn read(line: &[u8], row: &mut Row) -> Result<(), Unreadable> {
    let wrong = |error: serde_json::Error| {
        let column = error.column();
        let what = error.to_string();
        let what = what.split(" at line ").next().unwrap_or_default();
        Unreadable(format!("not a JSON object: {what} at byte {column}"))
    };
    let mut json = serde_json::Deserializer::from_slice(line);
    json.deserialize_map(Cells(row)).map_err(wrong)?;
    json.end().map_err(wrong)
}

/// Visitor of the object.
struct Cells<'r>(&'r mut Row);

/// Visitor of a key.
struct Name<'r>(&'r mut Row);

/// Visitor of a value.
struct One<'r>(&'r mut Row);

impl<'de> Visitor<'de> for Cells<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while map.next_key_seed(Name(self.0))?.is_some() {
            map.next_value_seed(One(self.0))?;
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a column's name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<(), E> {
        self.0.name(name);
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for One<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for One<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.0.cell(Cell::Int(value.into()));
        Ok(())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.0.cell(Cell::Int(value.into()));
        Ok(())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.0.cell(Cell::Int(value.into()));
        Ok(())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        self.0.cell(Cell::Float(value));
        Ok(())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<(), E> {
        self.0.text_cell(value);
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.0.cell(Cell::Null);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let mut items: Vec<Json> = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        let texts: Option<Vec<&str>> = items.iter().map(Json::as_str).collect();
        let text = match texts {
            Some(texts) => texts.join(","),
            None => Json::Array(items).to_string(),
        };
        self.0.cell(Cell::Text(text));
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut object = serde_json::Map::new();
        while let Some((name, value)) = map.next_entry::<String, Json>()? {
            object.insert(name, value);
        }
        self.0.cell(Cell::Text(Json::Object(object).to_string()));
        Ok(())
    }
}
