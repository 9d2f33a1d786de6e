//! Errors of a JSON body, with their path.

use std::fmt;

/// A refused JSON body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonError {
    /// Path of the bad part, such as `query.bool.must[1].match`; empty for the body itself, or if it is no JSON.
    pub path: String,
    /// The reason, in lower case, without full stop and path.
    pub message: String,
    /// Whether a later version will serve the request: HTTP 501 in place of 400.
    pub not_yet: bool,
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let not_yet = if self.not_yet { "not yet: " } else { "" };
        if self.path.is_empty() {
            write!(f, "{not_yet}{}", self.message)
        } else {
            write!(f, "{not_yet}{}: {}", self.path, self.message)
        }
    }
}

impl std::error::Error for JsonError {}

impl JsonError {
    pub(super) fn new(path: &str, message: impl Into<String>) -> Self {
        JsonError {
            path: path.to_owned(),
            message: message.into(),
            not_yet: false,
        }
    }

    pub(super) fn not_yet(path: &str, message: impl Into<String>) -> Self {
        JsonError {
            not_yet: true,
            ..JsonError::new(path, message)
        }
    }

    /// An error of serde, without its line number if that is 1.
    pub(super) fn from_serde(error: &serde_json::Error) -> Self {
        let message = error.to_string().replace(" at line 1 column ", " at byte ");
        JsonError::new("", message)
    }
}
