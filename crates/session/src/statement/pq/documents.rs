//! The documents of a percolation: from the texts of a CALL PQ to the engine's form, and their labels.

use engine::PqDocument;
use relation::value::Value;
use wire::json;
use wire::sql::PqOptions;

use crate::errors::{self, Failure};

/// Names of a call's documents in the column `documents`.
#[derive(Debug, PartialEq)]
pub enum Labels {
    /// Numbers: the document of index `i` is `i + first`.
    From(u64),
    /// A name for each document, by index.
    Named(Vec<String>),
}

/// The documents of one call.
#[derive(Debug)]
pub struct Batch {
    /// The documents, in the order written.
    pub documents: Vec<PqDocument>,
    /// Names of the documents.
    pub labels: Labels,
    /// Warnings for SHOW WARNINGS.
    pub warnings: Vec<String>,
}

impl Batch {
    /// Documents numbered from 1.
    pub fn numbered(documents: Vec<PqDocument>) -> Batch {
        Batch {
            documents,
            labels: Labels::From(1),
            warnings: Vec::new(),
        }
    }
}

/// Parses the documents of a call: texts, or with `docs_json` JSON objects and lists of them.
pub(super) fn read(written: &[Vec<u8>], options: &PqOptions) -> Result<Batch, Failure> {
    if options.docs_json {
        return read_json(written, options);
    }
    let mut warnings = Vec::new();
    if options.skip_bad_json {
        warnings.push("skip_bad_json makes no sense with docs_json=0".to_owned());
    }
    let documents = written
        .iter()
        .map(|text| PqDocument::Text(String::from_utf8_lossy(text).into_owned()));
    let documents: Vec<PqDocument> = documents.collect();
    let labels = numbered(documents.len(), options.shift);
    Ok(Batch {
        documents,
        labels,
        warnings,
    })
}

fn read_json(written: &[Vec<u8>], options: &PqOptions) -> Result<Batch, Failure> {
    let mut found: Vec<Vec<(String, Value)>> = Vec::new();
    let mut bad: Vec<String> = Vec::new();
    for (index, text) in written.iter().enumerate() {
        let is_blank = text.iter().all(u8::is_ascii_whitespace);
        if is_blank && options.skip_empty {
            continue;
        }
        match json::documents(text) {
            Ok(documents) => found.extend(documents),
            Err(_) => {
                bad.push((index + 1).to_string());
                if options.skip_bad_json {
                    found.extend(json::documents_but_bad(text));
                }
            }
        }
    }
    let mut warnings = Vec::new();
    if !bad.is_empty() {
        let message = format!("Bad JSON objects in strings: {}", bad.join(","));
        if !options.skip_bad_json {
            return Err(Failure::new(errors::SYNTAX, message));
        }
        warnings.push(message);
    }
    let labels = match &options.docs_id {
        None => numbered(found.len(), options.shift),
        Some(field) => {
            if options.shift != 0 {
                warnings.push("shift makes no sense with docs_id".to_owned());
            }
            Labels::Named(take_ids(&mut found, field, &mut warnings))
        }
    };
    let documents = found.into_iter().map(PqDocument::Fields).collect();
    Ok(Batch {
        documents,
        labels,
        warnings,
    })
}

/// Takes each document's id from `field`, and puts the documents in the order of their ids: each row of the answer lists its own
/// in that order. A document without that field is dropped, with a warning.
fn take_ids(
    found: &mut Vec<Vec<(String, Value)>>,
    field: &str,
    warnings: &mut Vec<String>,
) -> Vec<String> {
    let count = found.len();
    let mut named: Vec<(String, Vec<(String, Value)>)> = Vec::with_capacity(count);
    for fields in std::mem::take(found) {
        let id = fields
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(field));
        let id = id.map(|(_, value)| value.to_string());
        named.extend(id.map(|id| (id, fields)));
    }
    // Whole numbers first, by their size; then the others as texts.
    named.sort_by_cached_key(|(id, _)| {
        let number = id.parse::<i128>();
        (number.is_err(), number.unwrap_or_default(), id.clone())
    });
    let mut ids = Vec::with_capacity(named.len());
    for (id, fields) in named {
        ids.push(id);
        found.push(fields);
    }
    let skipped = count - found.len();
    if skipped > 0 {
        warnings.push(format!(
            "skipped {skipped} document(s) without id field '{field}'"
        ));
    }
    ids
}

/// Numbers from `1 + shift`. A negative shift may give numbers below 0, which only names can hold.
fn numbered(count: usize, shift: i64) -> Labels {
    match u64::try_from(shift) {
        Ok(shift) => Labels::From(shift.saturating_add(1)),
        Err(_) => Labels::Named(
            (0..count)
                .map(|index| (index as i128 + 1 + i128::from(shift)).to_string())
                .collect(),
        ),
    }
}

#[cfg(test)]
mod tests;
