//! The reply of `_search`, written hit by hit.

use serde_json::Value as Json;

/// A text as JSON has it, with its quotes.
#[must_use]
pub fn quoted(text: &str) -> String {
    Json::from(text).to_string()
}

/// A reply in the making.
#[derive(Debug, Default)]
pub struct Hits {
    out: String,
    hits: u64,
}

impl Hits {
    /// Everything before the hits. `total`: none where it is not shown, and whether it is a number rather than an object.
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

    /// One hit. `index` and `id` in quotes; `rest`: whole members, each with a comma before it.
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

    /// The whole reply.
    #[must_use]
    pub fn finish(mut self) -> String {
        self.out.push_str("]}}");
        self.out
    }
}

/// With a point, as clients that look at types want it.
fn score(score: Option<f64>) -> String {
    score.map_or_else(|| "null".to_owned(), |score| format!("{score:?}"))
}
