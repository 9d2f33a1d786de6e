//! A stored document as the pq table keeps it, beside the query that was translated from it.
//!
//! ```text
//! PUT /alerts/_doc/7       {"tags": ["a"]}    id 7,          kept as {"tags": ["a"]}
//! PUT /alerts/_doc/red     {"tags": ["a"]}    id = hash,     kept as {"_id":"red","_source":{"tags": ["a"]}}
//! ```
//!
//! Two names may have the same hash. So a reader compares the kept name with the name of the request: see [`query_id`].

use sha2::{Digest, Sha256};

/// Beginning of an envelope. No document begins so, because `_id` cannot be a field.
const ENVELOPE: &str = "{\"_id\":";
const INSIDE: &str = ",\"_source\":";

/// A stored document and its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source<'a> {
    /// The document's `_id`; `None`: it is the standing query's id in decimal.
    pub name: Option<String>,
    /// The document as it came; empty for a query that SQL stored.
    pub document: &'a str,
}

impl Source<'_> {
    /// The text that the pq table keeps.
    #[must_use]
    pub fn kept(&self) -> String {
        match &self.name {
            None => self.document.to_owned(),
            Some(name) => {
                let name = serde_json::Value::from(name.as_str());
                format!("{ENVELOPE}{name}{INSIDE}{}}}", self.document)
            }
        }
    }

    /// Splits a text that the pq table has kept.
    #[must_use]
    pub fn read(kept: &str) -> Source<'_> {
        opened(kept).unwrap_or(Source {
            name: None,
            document: kept,
        })
    }
}

fn opened(kept: &str) -> Option<Source<'_>> {
    let rest = kept.strip_prefix(ENVELOPE)?;
    let mut names = serde_json::Deserializer::from_str(rest).into_iter::<String>();
    let name = names.next()?.ok()?;
    let document = rest
        .get(names.byte_offset()..)?
        .strip_prefix(INSIDE)?
        .strip_suffix('}')?;
    Some(Source {
        name: Some(name),
        document,
    })
}

/// The standing query's id for an `_id`, and whether that is a name. A decimal number from 1 without leading zeros is the id
/// itself. Any other `_id` is a name, and the id is 63 bits of its SHA-256. A name is kept with its document and compared.
#[must_use]
pub fn query_id(id: &str) -> (u64, bool) {
    let is_decimal = id.bytes().all(|byte| byte.is_ascii_digit()) && !id.starts_with('0');
    if let (true, Ok(number)) = (is_decimal, id.parse()) {
        return (number, false);
    }
    let digest = Sha256::digest(id.as_bytes());
    let bytes = digest.iter().take(8);
    let hash = bytes.fold(0u64, |hash, byte| hash << 8 | u64::from(*byte));
    ((hash >> 1).max(1), true)
}
