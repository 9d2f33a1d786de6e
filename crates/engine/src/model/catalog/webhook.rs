//! `into='https://…'`: the address that the hits of a pq table are sent to, and its two queues.
//!
//! A pq table `alerts` with such an address has the queue `alerts_webhook`, of hits that are to be sent, and the queue
//! `alerts_dead`, of hits that the server gave up. CREATE TABLE makes both.

use relation::schema::{Column, ColumnType};

use super::Catalog;
use crate::command::{Definition, Kind, QueueOptions};
use crate::error::{Error, Result};
use crate::limits::{NAME_BYTES_MAX, URL_BYTES_MAX};

/// Columns of a hit itself. A document's columns of these names are left out of the queues.
const OF_HIT: [&str; 6] = ["query_id", "query", "tags", "doc_table", "doc_id", "hit_at"];

/// The column of `<table>_dead` that says why the hit was given up. A document's column of this name is left out, too.
const ERROR: &str = "error";

/// Where the hits of a pq table are sent, and the queues that hold them until then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhook {
    /// The pq table.
    pub table: String,
    /// As given in `into=`.
    pub url: String,
    /// The queue of hits that are to be sent: `<table>_webhook`.
    pub queue: String,
    /// The queue of hits that were given up, with a column `error`: `<table>_dead`.
    pub dead: String,
}

impl Webhook {
    /// The webhook of a definition; `None` unless it is a pq table whose `into=` is an address.
    #[must_use]
    pub fn of(definition: &Definition) -> Option<Webhook> {
        let Kind::Percolate { into, .. } = &definition.kind else {
            return None;
        };
        let url = into.as_ref().filter(|into| is_address(into))?;
        let table = &definition.name;
        Some(Webhook {
            table: table.clone(),
            url: url.clone(),
            queue: format!("{table}_webhook"),
            dead: format!("{table}_dead"),
        })
    }

    /// The definitions of the two queues: of hits, and of dead hits. `pq` must be complete: they have its columns.
    fn queues(&self, pq: &Definition) -> [Definition; 2] {
        let hits = columns(pq);
        let mut dead = hits.clone();
        dead.push(column(ERROR, ColumnType::Text));
        [(&self.queue, hits), (&self.dead, dead)].map(|(name, columns)| Definition {
            name: name.clone(),
            kind: Kind::Queue(QueueOptions::default()),
            columns,
            analysis: language::analysis::Settings::default(),
            sync: pq.sync,
            keep: None,
        })
    }
}

/// Whether `into=` means an address rather than a table.
pub(super) fn is_address(into: &str) -> bool {
    into.contains("://")
}

/// Checks the scheme and length of the address, and the length of the queue's name. The server's sender checks the rest of the
/// address. Errors: `Invalid`, `Limit`.
pub(super) fn check(webhook: &Webhook) -> Result<()> {
    let url = &webhook.url;
    if !url.starts_with("https://") && !url.starts_with("http://") {
        let what = format!("into='{url}' begins neither with https:// nor with http://");
        return Err(Error::Invalid { what });
    }
    if url.len() > URL_BYTES_MAX {
        return Err(Error::Limit {
            what: "bytes of an address",
            max: URL_BYTES_MAX as u64,
        });
    }
    if webhook.queue.len() > NAME_BYTES_MAX {
        return Err(Error::Limit {
            what: "bytes of a name",
            max: NAME_BYTES_MAX as u64,
        });
    }
    Ok(())
}

/// The webhook queues of a complete pq table that do not exist yet; empty without a webhook. A queue of that name with the same
/// columns is used as it is: a dropped table leaves its dead hits behind.
///
/// # Errors
/// `Invalid` where a name is taken by something else.
pub(crate) fn missing_queues(catalog: &Catalog, pq: &Definition) -> Result<Vec<Definition>> {
    let Some(webhook) = Webhook::of(pq) else {
        return Ok(Vec::new());
    };
    let mut missing = Vec::new();
    for queue in webhook.queues(pq) {
        let found = catalog.find(&queue.name);
        match found.ok().and_then(|table| catalog.get(table)) {
            None => missing.push(queue),
            Some(there)
                if matches!(there.kind, Kind::Queue(_)) && there.columns == queue.columns => {}
            Some(_) => {
                let name = &queue.name;
                let what = format!("into= a webhook needs the name '{name}', which is taken");
                return Err(Error::Invalid { what });
            }
        }
    }
    Ok(missing)
}

/// Warnings of CREATE TABLE: each column of the documents that is not sent, because a hit has a column of that name.
pub(crate) fn warnings(pq: &Definition) -> Vec<String> {
    let left_out = pq.columns.iter().filter(|column| is_taken(&column.name));
    let left_out = left_out.map(|column| {
        let name = &column.name;
        format!("column '{name}' is not sent to the webhook: a hit has one of that name")
    });
    match Webhook::of(pq) {
        Some(_) => left_out.collect(),
        None => Vec::new(),
    }
}

fn is_taken(name: &str) -> bool {
    name == ERROR || OF_HIT.contains(&name)
}

/// The columns of the queue of hits: a hit's own columns, then those of the documents. All are nullable.
fn columns(pq: &Definition) -> Vec<Column> {
    let id = ColumnType::Integer {
        bytes: 8,
        unsigned: true,
    };
    let of_hit = OF_HIT.map(|name| {
        let kind = match name {
            "query_id" | "doc_id" => id,
            "query" => ColumnType::Text,
            "hit_at" => ColumnType::Timestamp,
            _ => ColumnType::String,
        };
        column(name, kind)
    });
    let of_document = pq.columns.iter().filter(|column| !is_taken(&column.name));
    let of_document = of_document.map(|given| column(&given.name, given.kind));
    of_hit.into_iter().chain(of_document).collect()
}

fn column(name: &str, kind: ColumnType) -> Column {
    Column {
        name: name.to_owned(),
        kind,
        nullable: true,
        default: None,
        keyed: false,
    }
}
