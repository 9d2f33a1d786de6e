//! What is kept of a stored document beside the query that was made of it.

use sha2::{Digest, Sha256};

/// How an envelope begins; no document can, as `_id` is no field.
const ENVELOPE: &str = "{\"_id\":";
const INSIDE: &str = ",\"_source\":";

/// A stored document and the name it was stored under.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source<'a> {
    /// Its `_id`, where that is not the number of the query.
    pub name: Option<String>,
    /// The document as it came; empty for a query that SQL stored.
    pub document: &'a str,
}

impl Source<'_> {
    /// As the pq table keeps it.
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

    /// Reads it again.
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

/// The number of the standing query with that `_id`: the number itself where the id is one in decimal, from 1; else 63 bits of
/// its SHA-256. Whether it is a name, and so has to be kept with the document and compared.
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
