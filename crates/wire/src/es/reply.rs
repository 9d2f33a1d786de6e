//! The reply of `_search`, written hit by hit.

use serde_json::Value as Json;

/// A text as a JSON string, with quotes.
#[must_use]
pub fn quoted(text: &str) -> String {
    Json::from(text).to_string()
}

/// The reply of `_search` while it is written.
#[derive(Debug, Default)]
pub struct Hits {
    out: String,
    hits: u64,
}

impl Hits {
    /// Begins the reply. `total` is the count of hits and whether it is shown as a plain number; `None`: it is not shown.
    #[must_use]
    pub fn new(took_ms: u64, total: Option<(u64, bool)>, best: Option<f64>) -> Hits {
        let total = match total {
            None => String::new(),
            Some((total, true)) => format!("\"total\":{total},"),
            Some((total, false)) => format!("\"total\":{{\"value\":{total},\"relation\":\"eq\"}},"),
        };
        let out = format!(
            "{{\"took\":{took_ms},\"timed_out\":false,\"_shards\":{{\"total\":1,\"successful\":1,\"skipped\":0,\
             \"failed\":0}},\"hits\":{{{total}\"max_score\":{},\"hits\":[",
            score(best)
        );
        Hits { out, hits: 0 }
    }

    /// Adds a hit. `index` and `id` are JSON strings with quotes. `rest` are whole members, each with a comma before it.
    pub fn hit(&mut self, index: &str, id: &str, best: Option<f64>, rest: &str) {
        if self.hits > 0 {
            self.out.push(',');
        }
        self.hits += 1;
        for part in [
            "{\"_index\":",
            index,
            ",\"_id\":",
            id,
            ",\"_score\":",
            &score(best),
            rest,
            "}",
        ] {
            self.out.push_str(part);
        }
    }

    /// Bytes written so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.out.len()
    }

    /// Whether no hit was written.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.hits == 0
    }

    /// The whole reply. `members`: whole members behind the hits, each with a comma before it.
    #[must_use]
    pub fn finish(mut self, members: &str) -> String {
        for part in ["]}", members, "}"] {
            self.out.push_str(part);
        }
        self.out
    }
}

/// A score as JSON, always with a point: some clients check the type.
fn score(score: Option<f64>) -> String {
    score.map_or_else(|| "null".to_owned(), |score| format!("{score:?}"))
}
