//! Errors of benchmarks. A benchmark with an error prints no figure.

use std::fmt;

use client::ClientError;

use crate::workload::PostsError;

/// Why a benchmark gave no figure.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// There is no definition of that name.
    UnknownDefinition {
        /// The unknown name.
        name: String,
        /// The known names.
        known: Vec<String>,
    },
    /// A compiled-in definition cannot be parsed.
    BadDefinition(String),
    /// The posts cannot be read.
    Posts(PostsError),
    /// There are no posts, or too few words in them to draw queries from.
    TooFewPosts,
    /// A query of the workload was refused.
    Query(String),
    /// The server refused a statement, or the connection broke.
    Client(ClientError),
    /// The answer was wrong, so its time means nothing.
    WrongAnswer {
        /// Name of the count.
        what: String,
        /// The right count.
        expected: u64,
        /// The measured count.
        counted: u64,
    },
    /// Two answers to the same query or statement differ in rows, weights or total.
    OtherAnswer {
        /// Number of the query in the list, from 1.
        query: usize,
    },
    /// A line of a file of records is malformed.
    BadRecord {
        /// Number of the line, from 1.
        line: usize,
    },
    /// A server gave an unexpected answer over HTTP.
    Http(String),
    /// A peer's queue gave an unexpected answer.
    Peer(String),
    /// One of several servers failed.
    Of {
        /// Name of the server.
        name: String,
        /// The error that ended the job.
        error: Box<Error>,
    },
    /// A file could not be written, or a connection broke.
    Io(std::io::Error),
    /// An option makes no sense.
    BadOption(&'static str),
}

/// Result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// The error with the name of its server.
    pub(crate) fn of(self, name: &str) -> Error {
        Error::Of {
            name: name.to_owned(),
            error: Box::new(self),
        }
    }

    /// Checks that two counts are equal. Errors: [`Error::WrongAnswer`].
    pub(crate) fn unless_equal(what: impl Into<String>, expected: u64, counted: u64) -> Result<()> {
        if expected == counted {
            return Ok(());
        }
        Err(Error::WrongAnswer {
            what: what.into(),
            expected,
            counted,
        })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::UnknownDefinition { name, known } => {
                write!(
                    f,
                    "no benchmark is called {name}; there are {}",
                    known.join(", ")
                )
            }
            Error::BadDefinition(why) => write!(f, "benchmark definition: {why}"),
            Error::Posts(error) => error.fmt(f),
            Error::TooFewPosts => f.write_str("the posts hold too few words to draw queries from"),
            Error::Query(text) => write!(f, "query of the workload refused: {text}"),
            Error::Client(error) => error.fmt(f),
            Error::WrongAnswer {
                what,
                expected,
                counted,
            } => {
                write!(
                    f,
                    "wrong answer: {counted} {what}, expected {expected}; no time is given"
                )
            }
            Error::OtherAnswer { query } => write!(
                f,
                "wrong answer: query {query} differs from its first answer in a row or in the total; no time is given"
            ),
            Error::BadRecord { line } => write!(f, "line {line} is not a record of id<TAB>text"),
            Error::Http(told) | Error::Peer(told) => f.write_str(told),
            Error::Of { name, error } => write!(f, "{name}: {error}"),
            Error::Io(error) => error.fmt(f),
            Error::BadOption(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Posts(error) => error.source(),
            Error::Client(error) => error.source(),
            Error::Io(error) => Some(error),
            Error::Of { error, .. } => Some(error),
            _ => None,
        }
    }
}

impl From<PostsError> for Error {
    fn from(error: PostsError) -> Error {
        Error::Posts(error)
    }
}

impl From<ClientError> for Error {
    fn from(error: ClientError) -> Error {
        Error::Client(error)
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Error {
        Error::Io(error)
    }
}
