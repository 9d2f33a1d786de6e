//! Posts as NDJSON.

use relation::schema::ColumnType;
use relation::value::Value;
use serde::Deserialize;

/// A short text with its attributes. Missing fields are empty or 0; unknown fields are ignored.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default)]
pub struct Post {
    /// The text; a field named `text` is accepted as well.
    #[serde(alias = "text")]
    pub body: String,
    /// Name of its community.
    pub sub: String,
    /// Time of the post, in ISO 8601.
    pub ts: String,
    /// Sum of its votes.
    pub score: i64,
    /// `ts` in seconds since 1970; 0: `ts` cannot be parsed.
    #[serde(skip)]
    pub seconds: i64,
}

/// Columns that filters may use. [`Post::attribute`] takes their indexes.
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
    /// Number of the line, from 1.
    pub line: usize,
    /// The reason, in words.
    pub message: String,
}

impl std::fmt::Display for PostsError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {} is not a post: {}", self.line, self.message)
    }
}

impl std::error::Error for PostsError {}

/// Parses posts, a JSON object in each line, in the order of the lines. Skips empty lines.
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
