//! Entries of a log as requests to send again, and when.
//!
//! ```text
//! statement  a stranger's text → may it be sent? Only one SELECT or CALL PQ may
//! plain      a plain line → the SELECT that it means
//! report     what was measured, beside the log, as a report
//! schedule   requests in the order of the log → in the order in which they began, with their times
//! ```

mod plain;
mod report;
mod schedule;
mod statement;

#[cfg(test)]
mod tests;

use std::io::Read;

use super::entry::Entry;
use super::frame::Framed;
use super::line::{begins_object, parse};
use super::source::{Input, read_records};

pub use report::{Cell, Told, grid, report};
pub use schedule::{Due, Schedule};

/// What an entry asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The text to send.
    pub call: Call,
    /// The line names no value of its filters, so the text has none of them.
    pub lacks_filters: bool,
    /// The line does not name the columns that it sorts by, so the text sorts by weight.
    pub lacks_order: bool,
}

/// A text to send, and the door for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// A statement, in the bytes of the log.
    Statement(Vec<u8>),
    /// A body for POST.
    Body {
        /// Path of the request.
        path: String,
        /// JSON.
        body: Vec<u8>,
    },
}

/// Why an entry is not sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Skipped {
    /// The statement failed.
    Failed,
    /// The line has only the beginning of the statement.
    Cut,
    /// The text is something else than one SELECT or CALL PQ.
    Refused,
    /// The text is not UTF-8, which the server takes it for.
    Encoding,
    /// The line names no table, or none that a statement can name.
    NoTable,
}

impl Skipped {
    /// Each reason, in the order in which a report shows them.
    pub const ALL: [Skipped; 5] = [
        Skipped::Failed,
        Skipped::Cut,
        Skipped::Refused,
        Skipped::Encoding,
        Skipped::NoTable,
    ];

    /// Name and words of a report.
    pub fn texts(self) -> (&'static str, &'static str) {
        match self {
            Skipped::Failed => ("skipped_failed", "not sent: failed in the log"),
            Skipped::Cut => ("skipped_cut", "not sent: cut in the log"),
            Skipped::Refused => ("skipped_refused", "refused: not one SELECT or CALL PQ"),
            Skipped::Encoding => ("skipped_encoding", "not sent: not UTF-8"),
            Skipped::NoTable => ("skipped_no_table", "not sent: no table is named"),
        }
    }
}

/// What to send for an entry.
///
/// # Errors
/// Why nothing is sent.
pub fn request(entry: &Entry<'_>) -> Result<Request, Skipped> {
    if entry.error.is_some() {
        return Err(Skipped::Failed);
    }
    if entry.cut_bytes.is_some() {
        return Err(Skipped::Cut);
    }
    let texts = [&entry.statement, &entry.query].map(Option::as_deref);
    if texts
        .into_iter()
        .flatten()
        .any(|text| std::str::from_utf8(text).is_err())
    {
        return Err(Skipped::Encoding);
    }
    let call = match entry.statement.as_deref() {
        Some(body) if begins_object(body) => json_call(entry, body)?,
        Some(text) if statement::may_be_sent(text) => Call::Statement(text.to_vec()),
        Some(_) => return Err(Skipped::Refused),
        None => return plain::request(entry),
    };
    Ok(Request {
        call,
        lacks_filters: false,
        lacks_order: false,
    })
}

/// The full-text queries of a log, in its order. Lines of unknown form and entries without words are left out.
///
/// Cost: all texts are in memory.
pub fn full_texts(log: Box<dyn Read + Send>) -> Vec<String> {
    let mut texts = Vec::new();
    let input = Input {
        name: String::new(),
        server: String::new(),
        read: log,
    };
    read_records(vec![input], &mut |_, _, framed| {
        if let Framed::Text(record) = framed
            && let Some((_, entry)) = parse(record)
            && let Some(query) = entry.query
        {
            texts.push(String::from_utf8_lossy(&query).into_owned());
        }
        true
    });
    texts
}

/// A body and its path. Manticore's body names its table; that of Elasticsearch has it in the path, which the line's table gives.
fn json_call(entry: &Entry<'_>, body: &[u8]) -> Result<Call, Skipped> {
    let value: serde_json::Value = serde_json::from_slice(body).map_err(|_| Skipped::Cut)?;
    let table = plain::single_table(&entry.tables);
    let percolate = value.pointer("/query/percolate");
    let path = if let Some(percolate) = percolate
        && percolate.get("field").is_none()
    {
        format!("/pq/{}/search", table.ok_or(Skipped::NoTable)?)
    } else if value.get("table").or_else(|| value.get("index")).is_some() {
        "/search".to_owned()
    } else {
        format!("/{}/_search", table.ok_or(Skipped::NoTable)?)
    };
    Ok(Call::Body {
        path,
        body: body.to_vec(),
    })
}
