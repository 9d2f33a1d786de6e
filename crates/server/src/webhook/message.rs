//! A hit as a webhook's message. The same hit always gives the same id, so a target can drop repetitions.

use std::fmt::Write as _;

use relation::schema::{ColumnType, NumberForm};
use relation::value::Value;
use serde_json::{Map, Number, Value as Json, json};
use sha2::{Digest, Sha256};

use session::civil;

/// Columns that describe the hit. The other columns belong to the document.
const OF_HIT: [&str; 6] = ["query_id", "query", "tags", "doc_table", "doc_id", "hit_at"];

/// A message to a webhook.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Message {
    /// Value of `webhook-id`: a hash of the content, so a restart does not change it.
    pub(super) id: String,
    /// The JSON body.
    pub(super) body: String,
}

impl Message {
    /// The message of a row of the webhook's queue. `columns` and `row` are parallel.
    pub(super) fn of(
        table: &str,
        columns: &[(String, Option<ColumnType>)],
        row: &[Value],
    ) -> Message {
        let (mut data, mut document) = (Map::new(), Map::new());
        let mut hit_at = 0;
        for ((name, kind), value) in columns.iter().zip(row) {
            if let ("hit_at", Value::Int(seconds)) = (name.as_str(), value) {
                hit_at = i64::try_from(*seconds).unwrap_or_default();
            }
            let part = match OF_HIT.contains(&name.as_str()) {
                true => &mut data,
                false => &mut document,
            };
            part.insert(name.clone(), as_json(value, *kind));
        }
        data.insert("document".to_owned(), Json::Object(document));
        let data = Json::Object(data);
        let id = id(table, &data.to_string());
        let timestamp = format!("{}Z", civil(hit_at).replace(' ', "T"));
        let body = json!({ "type": "hit", "timestamp": timestamp, "data": data });
        Message {
            id,
            body: body.to_string(),
        }
    }
}

/// `msg_` and half of a SHA-256 in hexadecimal. Hits with the same id have the same table, query, document and second.
fn id(table: &str, data: &str) -> String {
    let digest = Sha256::new().chain_update(table).chain_update([0]);
    let digest = digest.chain_update(data).finalize();
    let mut id = "msg_".to_owned();
    for byte in digest.iter().take(16) {
        let _ = write!(id, "{byte:02x}"); // a String takes all that is written
    }
    id
}

/// A value as JSON, by the type of its column.
pub fn as_json(value: &Value, kind: Option<ColumnType>) -> Json {
    match (value, kind.map(|kind| kind.family().number_form())) {
        (Value::Null, _) => Json::Null,
        (Value::Int(number), Some(NumberForm::Truth)) => Json::Bool(*number != 0),
        (Value::Int(number), _) => match (u64::try_from(*number), i64::try_from(*number)) {
            (Ok(number), _) => Json::from(number),
            (_, Ok(number)) => Json::from(number),
            _ => Json::Null,
        },
        (Value::Float(number), Some(NumberForm::Float)) => {
            // The column stores 32 bits: write the shortest text of its `f32`.
            let shortest = (*number as f32).to_string().parse().unwrap_or(*number);
            Number::from_f64(shortest).map_or(Json::Null, Json::Number)
        }
        (Value::Float(number), _) => Number::from_f64(*number).map_or(Json::Null, Json::Number),
        (Value::Str(text), _) => Json::from(text.as_str()),
        (Value::Bytes(bytes), _) => Json::from(String::from_utf8_lossy(bytes)),
        (Value::Set(numbers), _) => Json::from(numbers.to_vec()),
        (Value::Json(document), _) => {
            let mut text = Vec::new();
            document.write_text(&mut text);
            serde_json::from_slice(&text).unwrap_or(Json::Null)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(table: &str, doc_id: i128) -> Message {
        let column = |name: &str, kind| (name.to_owned(), Some(kind));
        let columns = [
            column("query_id", ColumnType::Bigint),
            column("query", ColumnType::Text),
            column("doc_id", ColumnType::Bigint),
            column("hit_at", ColumnType::Timestamp),
            column("title", ColumnType::Text),
            column("new", ColumnType::Bool),
            column("price", ColumnType::Float),
        ];
        let row = [
            Value::Int(7),
            Value::Str("a \"cat\"".to_owned()),
            Value::Int(doc_id),
            Value::Int(1_000_000_000),
            Value::Str("über\n".to_owned()),
            Value::Int(1),
            Value::Float(f64::from(0.1f32)),
        ];
        Message::of(table, &columns, &row)
    }

    #[test]
    fn a_hit_is_json_with_its_document() {
        let wanted = json!({
            "type": "hit",
            "timestamp": "2001-09-09T01:46:40Z",
            "data": {
                "query_id": 7, "query": "a \"cat\"", "doc_id": u64::MAX, "hit_at": 1_000_000_000,
                "document": { "title": "über\n", "new": true, "price": 0.1 },
            },
        });
        let body = message("alerts", u64::MAX.into()).body;
        assert_eq!(serde_json::from_str::<Json>(&body).unwrap(), wanted);
    }

    #[test]
    fn the_id_is_the_hits_own() {
        let id = message("alerts", 1).id;
        assert_eq!(id, message("alerts", 1).id);
        assert_eq!(id.len(), 36);
        assert_ne!(id, message("alerts", 2).id);
        assert_ne!(id, message("others", 1).id);
    }
}
