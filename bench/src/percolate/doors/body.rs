//! Bodies of HTTP requests. Documents are encoded before the clock starts.

use std::ops::Range;

use serde_json::json;

use crate::{percolate::Prepared, workload::Post};

/// Encoded documents, and the text around them in a request.
pub(super) struct Body {
    begin: &'static str,
    documents: Vec<String>,
    between: &'static str,
    end: &'static str,
}

impl Body {
    /// Documents for a JSON array. They have attributes only if queries have filters.
    pub(super) fn array(prepared: &Prepared, begin: &'static str, end: &'static str) -> Body {
        let text = |post: &Post| match prepared.filtered {
            true => document(post).to_string(),
            false => json!({"body": post.body}).to_string(),
        };
        Body {
            begin,
            documents: prepared.posts.iter().map(text).collect(),
            between: ",",
            end,
        }
    }

    /// Documents for lines: their texts, or JSON objects if queries have filters.
    pub(super) fn lines(prepared: &Prepared) -> Body {
        let text = |post: &Post| match prepared.filtered {
            true => document(post).to_string(),
            false => post.body.replace(['\n', '\r'], " "),
        };
        Body {
            begin: "",
            documents: prepared.posts.iter().map(text).collect(),
            between: "\n",
            end: "\n",
        }
    }

    /// Writes the request with these documents into `request`, whose text it replaces.
    pub(super) fn write(&self, documents: Range<usize>, request: &mut String) {
        request.clear();
        request.push_str(self.begin);
        for (number, document) in self.documents[documents].iter().enumerate() {
            request.push_str(if number == 0 { "" } else { self.between });
            request.push_str(document);
        }
        request.push_str(self.end);
    }
}

/// A post as a JSON document.
pub(super) fn document(post: &Post) -> serde_json::Value {
    json!({"body": post.body, "sub": post.sub, "ts": post.seconds, "score": post.score})
}
