//! The replies of /pq, in Manticore's shape.

use super::reply::{Writer, bytes_of};

/// A row of the reply: a standing query and the documents that it hits.
#[derive(Clone, Copy, Debug)]
pub struct PqHit<'a> {
    /// Id of the standing query.
    pub id: u64,
    /// Text of the standing query.
    pub query: &'a str,
    /// Tags with commas; if empty, the reply leaves them out.
    pub tags: &'a str,
    /// Filters; if empty, the reply leaves them out.
    pub filters: &'a str,
    /// Indexes of the documents, from 0, rising. The reply counts them from 1.
    pub documents: &'a [u32],
    /// Weights, parallel to `documents`; `None`: not asked for.
    pub weights: Option<&'a [u32]>,
    /// A JSON array with an object for each document; `None`: not asked for.
    pub highlights: Option<&'a str>,
}

/// The reply of POST /pq/{table}/search: [`begin`](Self::begin), [`hit`](Self::hit)s, [`end`](Self::end).
#[derive(Debug, Default)]
pub struct PqReply {
    json: Writer,
    best: Option<u32>,
}

bytes_of!(PqReply);

impl PqReply {
    /// Begins the reply. `total` is the count of queries with a hit, before a limit; `relation` says whether there may be more:
    /// `eq` or `gte`.
    pub fn begin(&mut self, took_ms: u64, total: u64, relation: &str, documents_matched: u64) {
        self.json.raw("{\"took\":");
        self.json.number(took_ms);
        self.json.raw(",\"timed_out\":false,\"hits\":{\"total\":");
        self.json.number(total);
        self.json.raw(",\"total_relation\":\"");
        self.json.raw(relation);
        self.json.raw("\",\"documents_matched\":");
        self.json.number(documents_matched);
        self.json.open(",\"hits\":[");
    }

    /// Adds a row. Its score is its highest weight, or 1 without weights.
    pub fn hit(&mut self, table: &str, hit: &PqHit<'_>) {
        let json = &mut self.json;
        json.item();
        json.open("{");
        json.name("table").string(table);
        json.name("_type").string("doc");
        json.name("_id").number(hit.id);
        json.name("_score");
        let best = hit.weights.and_then(|weights| weights.iter().max());
        let score = best.copied().unwrap_or(1);
        self.best = self.best.max(Some(score));
        json.number(score);
        json.name("_source").open("{");
        json.name("query").open("{");
        json.name("ql").string(hit.query);
        json.close("}");
        for (name, text) in [("tags", hit.tags), ("filters", hit.filters)] {
            if !text.is_empty() {
                json.name(name).string(text);
            }
        }
        json.close("}");
        json.name("fields").open("{");
        json.name("_percolator_document_slot");
        let slots = hit.documents.iter().map(|index| u64::from(*index) + 1);
        numbers(json, slots);
        if let Some(weights) = hit.weights {
            json.name("_percolator_document_weight");
            numbers(json, weights.iter().map(|weight| u64::from(*weight)));
        }
        json.close("}");
        if let Some(highlights) = hit.highlights {
            json.name("highlight");
            json.raw(highlights);
        }
        json.close("}");
    }

    /// Ends the reply with its highest score, which is not known before, and with its warnings, if any.
    pub fn end(&mut self, warnings: &[String]) {
        self.json.close("]");
        self.json.name("max_score").number(self.best.unwrap_or(1));
        self.json.close("}");
        if !warnings.is_empty() {
            self.json.name("warning").open("{");
            self.json.name("reason").string(&warnings.join("; "));
            self.json.close("}");
        }
        self.json.close("}");
    }
}

fn numbers(json: &mut Writer, numbers: impl Iterator<Item = u64>) {
    json.open("[");
    for number in numbers {
        json.item();
        json.number(number);
    }
    json.close("]");
}

/// The reply to PUT and DELETE below /pq/{table}/doc. `result` is `created`, `updated`, `deleted` or `not found`.
#[must_use]
pub fn rule_reply(table: &str, id: u64, result: &str) -> Vec<u8> {
    let mut json = Writer::default();
    json.open("{");
    json.name("table").string(table);
    json.name("type").string("doc");
    json.name("_id").number(id);
    json.name("result").string(result);
    json.close("}");
    json.out
}

/// Appends a JSON object whose values are texts.
pub fn write_object(fields: &[(&str, String)], out: &mut String) {
    let mut json = Writer::default();
    json.open("{");
    for (name, text) in fields {
        json.name(name).string(text);
    }
    json.close("}");
    // The bytes came from texts, so they are UTF-8.
    out.push_str(&String::from_utf8_lossy(&json.out));
}
