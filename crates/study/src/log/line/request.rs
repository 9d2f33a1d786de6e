//! JSON requests inside log lines: Manticore logs the body of an HTTP search as it came.

use serde_json::Value;

/// The parts of a request that the study counts.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct JsonRequest {
    /// `table` or `index` of the body.
    pub(super) tables: Option<Vec<u8>>,
    /// The full-text queries in it, joined by blanks.
    pub(super) query: Option<Vec<u8>>,
}

impl JsonRequest {
    /// Reads a body; `None` if `text` is no JSON object.
    pub(super) fn read(text: &[u8]) -> Option<JsonRequest> {
        (text.first() == Some(&b'{')).then_some(())?;
        let body: Value = serde_json::from_slice(text).ok()?;
        Some(JsonRequest::of_body(&body))
    }

    /// The request of a body that is parsed already.
    pub(super) fn of_body(body: &Value) -> JsonRequest {
        let tables = body
            .get("table")
            .or_else(|| body.get("index"))
            .and_then(Value::as_str);
        let mut texts = Vec::new();
        // Elasticsearch's `query` is an object, the `query` of a percolation may be a text.
        if let Some(query) = body.get("query") {
            collect(query, false, &mut texts);
        }
        JsonRequest {
            tables: tables.map(|name| name.as_bytes().to_vec()),
            query: (!texts.is_empty()).then(|| texts.join(" ").into_bytes()),
        }
    }
}

/// Appends the texts below a `match`, `match_phrase` or `query_string`. The depth is bounded by the parser's 128 levels.
fn collect<'v>(value: &'v Value, in_text: bool, texts: &mut Vec<&'v str>) {
    match value {
        Value::String(text) if in_text => texts.push(text),
        Value::Object(members) => {
            for (key, member) in members {
                let is_text = ["match", "match_phrase", "query_string"].contains(&key.as_str());
                // `{"match": {"body": {"query": "words", "operator": "and"}}}`: only `query` is text.
                let is_setting = in_text
                    && !member.is_object()
                    && members.contains_key("query")
                    && key != "query";
                collect(member, is_text || (in_text && !is_setting), texts);
            }
        }
        Value::Array(members) => members
            .iter()
            .for_each(|member| collect(member, in_text, texts)),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
