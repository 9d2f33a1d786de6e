//! Results as a file: for each query a line `words<TAB>total_found<TAB>id:weight id:weight …`.

use super::{Answered, Results};
use crate::error::{Error, Result};

const HEAD: &str = "# seine results 1";

/// The results as text.
#[must_use]
pub fn write(results: &Results) -> String {
    let mut text = format!("{HEAD}\n");
    for answer in &results.answers {
        let row = |(id, weight): &(u64, i64)| format!("{id}:{weight}");
        let rows: Vec<String> = answer.rows.iter().map(row).collect();
        text += &format!(
            "{}\t{}\t{}\n",
            answer.query,
            answer.total_found,
            rows.join(" ")
        );
    }
    text
}

/// Parses a text of [`write`].
///
/// # Errors
/// A malformed line; the error names it.
pub fn read(text: &str) -> Result<Results> {
    let mut lines = text.lines();
    if lines.next() != Some(HEAD) {
        return Err(Error::Query(format!(
            "not a file of results: it does not begin with {HEAD:?}"
        )));
    }
    let answers: Result<Vec<_>> = lines
        .enumerate()
        .map(|(place, line)| {
            answer(line).ok_or_else(|| Error::Query(format!("line {} is no result", place + 2)))
        })
        .collect();
    Ok(Results { answers: answers? })
}

fn answer(line: &str) -> Option<Answered> {
    let mut parts = line.split('\t');
    let (query, total, rows) = (parts.next()?, parts.next()?, parts.next()?);
    let row = |row: &str| {
        let (id, weight) = row.split_once(':')?;
        Some((id.parse().ok()?, weight.parse().ok()?))
    };
    let rows: Option<Vec<_>> = rows
        .split(' ')
        .filter(|row| !row.is_empty())
        .map(row)
        .collect();
    Some(Answered {
        query: query.to_owned(),
        total_found: total.parse().ok()?,
        rows: rows?,
    })
}
