//! Errors in the form of Elasticsearch.

use std::fmt;

use serde_json::{Value as Json, json};

/// An error with Elasticsearch's name of its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EsError {
    /// Status of the HTTP reply.
    pub status: u16,
    /// Elasticsearch's name of the kind, such as `parsing_exception`.
    pub kind: &'static str,
    /// The reason, with the path in the body if there is one.
    pub reason: String,
    /// Name of the index; empty: the error is about none.
    pub index: String,
}

impl fmt::Display for EsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.reason)
    }
}

impl std::error::Error for EsError {}

impl EsError {
    /// An error about no index.
    pub fn new(status: u16, kind: &'static str, reason: impl Into<String>) -> EsError {
        EsError {
            status,
            kind,
            reason: reason.into(),
            index: String::new(),
        }
    }

    /// A malformed body; `path` is the place.
    pub fn parsing(path: &str, what: impl fmt::Display) -> EsError {
        EsError::new(400, "parsing_exception", at(path, what))
    }

    /// A well-formed body with an impossible request.
    pub fn illegal(path: &str, what: impl fmt::Display) -> EsError {
        EsError::new(400, "illegal_argument_exception", at(path, what))
    }

    /// A mapping or a document that does not fit it.
    pub fn mapper(path: &str, what: impl fmt::Display) -> EsError {
        EsError::new(400, "mapper_parsing_exception", at(path, what))
    }

    /// A query that does not fit the mapping.
    pub fn query(path: &str, what: impl fmt::Display) -> EsError {
        EsError::new(400, "query_shard_exception", at(path, what))
    }

    /// A feature of Elasticsearch that is missing here.
    pub fn not_yet(path: &str, what: impl fmt::Display) -> EsError {
        EsError::illegal(path, format!("not yet: {what}"))
    }

    /// No such index.
    pub fn no_index(index: &str) -> EsError {
        let reason = format!("no such index [{index}]");
        EsError::new(404, "index_not_found_exception", reason).about(index)
    }

    /// Sets the index.
    #[must_use]
    pub fn about(mut self, index: &str) -> EsError {
        index.clone_into(&mut self.index);
        self
    }

    /// `{"type":…,"reason":…}`, for the reply and for an item of a bulk reply.
    #[must_use]
    pub fn cause(&self) -> Json {
        let mut cause = json!({"type": self.kind, "reason": self.reason});
        if let (false, Some(fields)) = (self.index.is_empty(), cause.as_object_mut()) {
            fields.insert("index".to_owned(), self.index.as_str().into());
            fields.insert("index_uuid".to_owned(), "_na_".into());
            if self.kind == "index_not_found_exception" {
                fields.insert("resource.type".to_owned(), "index_or_alias".into());
                fields.insert("resource.id".to_owned(), self.index.as_str().into());
            }
        }
        cause
    }

    /// The body of the reply.
    #[must_use]
    pub fn body(&self) -> String {
        let mut error = self.cause();
        let root = error.clone();
        if let Some(fields) = error.as_object_mut() {
            fields.insert("root_cause".to_owned(), Json::Array(vec![root]));
        }
        json!({"error": error, "status": self.status}).to_string()
    }
}

fn at(path: &str, what: impl fmt::Display) -> String {
    if path.is_empty() {
        what.to_string()
    } else {
        format!("[{path}] {what}")
    }
}
