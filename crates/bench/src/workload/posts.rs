//! Posts as NDJSON.

use query::{schema::ColumnType, value::Value};
use serde::Deserialize;

/// One short text with its attributes. Fields that a file lacks are empty or 0; others are not looked at.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default)]
pub struct Post {
    /// The text; a field named `text` is read as well.
    #[serde(alias = "text")]
    pub body: String,
    /// The community it was posted in.
    pub sub: String,
    /// When, ISO 8601.
    pub ts: String,
    /// Votes.
    pub score: i64,
    /// `ts` in seconds since 1970; 0 for a time that cannot be read.
    #[serde(skip)]
    pub seconds: i64,
}

/// The columns that a filter may ask for, with the numbers by which [`Post::attribute`] knows them.
pub(crate) const ATTRIBUTES: [(&str, ColumnType); 3] = [
    ("sub", ColumnType::String),
    ("ts", ColumnType::Timestamp),
    ("score", ColumnType::Int),
];

impl Post {
    /// The value of one of the [`ATTRIBUTES`].
    pub(crate) fn attribute(&self, column: usize) -> Value {
        match column {
            0 => Value::Str(self.sub.clone()),
            1 => Value::Int(self.seconds.into()),
            2 => Value::Int(self.score.into()),
            _ => Value::Null,
        }
    }
}

/// A line that is not a post.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostsError {
    /// From 1.
    pub line: usize,
    /// What is wrong with it.
    pub message: String,
}

impl std::fmt::Display for PostsError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {} is not a post: {}", self.line, self.message)
    }
}

impl std::error::Error for PostsError {}

/// Reads posts, one JSON object a line, in the order of the lines. Empty lines are passed over.
///
/// # Errors
/// The first line that is not a JSON object with fields of the right types.
pub fn posts(ndjson: &[u8]) -> Result<Vec<Post>, PostsError> {
    let lines = ndjson
        .split(|byte| *byte == b'\n')
        .zip(1..)
        .filter(|(text, _)| !text.is_empty());
    let read = |(text, line): (&[u8], usize)| match serde_json::from_slice::<Post>(text) {
        Ok(mut post) => {
            post.seconds = seconds(&post.ts);
            Ok(post)
        }
        Err(error) => Err(PostsError {
            line,
            message: error.to_string(),
        }),
    };
    lines.map(read).collect()
}

fn seconds(written: &str) -> i64 {
    let seconds = match ColumnType::Timestamp.accept(Value::Str(written.to_owned())) {
        Ok(Value::Int(seconds)) => i64::try_from(seconds).ok(),
        _ => None,
    };
    seconds.unwrap_or(0)
}
