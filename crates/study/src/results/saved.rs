//! Results as a file. The first line names the version, then a JSON object a line follows, in any order:
//!
//! ```text
//! # seine results 2
//! {"n":1,"query":"SELECT …","found":3,"count":1,"documents":[[7,1680]],"reply":"0b1f…"}
//! {"n":2,"query":"SELECT …","error":{"code":1064,"message":"…"}}
//! ```
//!
//! `reply` is the digest of all result sets: FNV-1a of 128 bits over, for each set, the number of columns, their names, the number
//! of rows and their cells; a length of 8 bytes, the lowest first, stands before each text, and NULL is a length of all ones.
//! Version 1 has lines `words<TAB>total_found<TAB>id:weight id:weight …`, and is read. A new version needs a head of its own here.

use serde::{Deserialize, Serialize};

use super::{Answer, Reply, Results, Rows};

/// The first line of a file.
pub const HEAD: &str = "# seine results 2";

/// The first line of files without errors, other columns and digests.
const HEAD_1: &str = "# seine results 1";

#[derive(Serialize, Deserialize)]
struct Saved {
    n: u64,
    query: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    documents: Vec<(i128, i64)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reply: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<SavedError>,
}

#[derive(Serialize, Deserialize)]
struct SavedError {
    code: u16,
    message: String,
}

/// The results as text.
#[must_use]
pub fn write(results: &Results) -> String {
    let lines = results.answers.iter().map(write_line);
    std::iter::once(format!("{HEAD}\n")).chain(lines).collect()
}

/// The line of an answer, with its end.
#[must_use]
pub fn write_line(answer: &Answer) -> String {
    let mut saved = Saved {
        n: answer.number,
        query: answer.query.clone(),
        found: None,
        count: None,
        documents: Vec::new(),
        reply: None,
        error: None,
    };
    match &answer.reply {
        Reply::Rows(rows) => {
            saved.found = Some(rows.total_found);
            saved.count = Some(rows.count);
            saved.documents.clone_from(&rows.documents);
            saved.reply = rows.digest.map(|digest| format!("{digest:032x}"));
        }
        Reply::Failed { code, message } => {
            saved.error = Some(SavedError {
                code: *code,
                message: message.clone(),
            });
        }
    }
    // Ids outside of 64 bits, which no server has, are the only values that JSON refuses.
    let line = serde_json::to_string(&saved).unwrap_or_default();
    line + "\n"
}

/// Parses a text of [`write`], or of version 1.
///
/// # Errors
/// A message: the head is another one, or the number of the malformed line.
pub fn read(text: &str) -> Result<Results, String> {
    let mut lines = text.lines();
    let parse: fn(usize, &str) -> Option<Answer> = match lines.next() {
        Some(HEAD) => |_, line| answer(line),
        Some(HEAD_1) => answer_1,
        Some(other) if other.starts_with("# seine results ") => {
            return Err(format!(
                "{other:?} is of another version: this one reads {HEAD:?} and {HEAD_1:?}"
            ));
        }
        Some(_) | None => {
            return Err(format!(
                "not a file of results: it does not begin with {HEAD:?}"
            ));
        }
    };
    let answers: Result<Vec<_>, _> = lines
        .enumerate()
        .map(|(place, line)| {
            parse(place, line).ok_or_else(|| format!("line {} is no result", place + 2))
        })
        .collect();
    let mut answers = answers?;
    answers.sort_by_key(|answer| answer.number);
    Ok(Results { answers })
}

fn answer(line: &str) -> Option<Answer> {
    let saved: Saved = serde_json::from_str(line).ok()?;
    let reply = match saved.error {
        Some(SavedError { code, message }) => Reply::Failed { code, message },
        None => Reply::Rows(Rows {
            total_found: saved.found?,
            count: saved.count?,
            documents: saved.documents,
            digest: match saved.reply {
                Some(text) => Some(u128::from_str_radix(&text, 16).ok()?),
                None => None,
            },
        }),
    };
    Some(Answer {
        number: saved.n,
        query: saved.query,
        reply,
    })
}

fn answer_1(place: usize, line: &str) -> Option<Answer> {
    let mut parts = line.split('\t');
    let (query, total, rows) = (parts.next()?, parts.next()?, parts.next()?);
    let row = |row: &str| {
        let (id, weight) = row.split_once(':')?;
        Some((id.parse().ok()?, weight.parse().ok()?))
    };
    let rows = rows.split(' ').filter(|row| !row.is_empty()).map(row);
    let documents: Vec<_> = rows.collect::<Option<_>>()?;
    Some(Answer {
        number: place as u64 + 1,
        query: query.to_owned(),
        reply: Reply::Rows(Rows {
            total_found: total.parse().ok()?,
            count: documents.len() as u64,
            documents,
            digest: None,
        }),
    })
}
