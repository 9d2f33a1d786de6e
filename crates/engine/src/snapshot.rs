//! What readers see: the catalog and every table as of one batch, immutable.

use std::sync::Arc;

use percolate::Hits;
use query::request::Select;
use query::value::Value;

use crate::command::{Answer, Definition};
use crate::error::Result;

/// Every table as of one batch. Readers hold it as long as they like; the engine goes on meanwhile.
pub struct Snapshot {}

/// A document that standing queries are asked about.
#[derive(Clone, Debug, PartialEq)]
pub enum PqDocument {
    /// Plain text: the first text column.
    Text(String),
    /// Values by column name; names that are no column of the table are ignored.
    Fields(Vec<(String, Value)>),
}

/// Working memory of [`Snapshot::call_pq`]; one per thread, used again and again.
#[derive(Default)]
pub struct PqScratch {}

/// What standing queries found.
#[derive(Debug, Default)]
pub struct PqAnswer {
    /// The hits, by query and document.
    pub hits: Hits,
    /// Documents that at least one query hit.
    pub documents_matched: u64,
    /// Standing queries in the table.
    pub queries_total: u64,
    /// Those of them without a word that must be there: each is tried on every document.
    pub queries_always: u64,
    /// Standing queries tried, summed over the documents.
    pub candidates: u64,
}

impl Snapshot {
    /// Names and types (`rt`, `percolate`, `queue`) of the tables, by name.
    #[must_use]
    pub fn tables(&self) -> Vec<(String, &'static str)> {
        Vec::new()
    }

    /// A table as stored.
    ///
    /// # Errors
    /// `NoSuchTable`.
    pub fn definition(&self, name: &str) -> Result<Arc<Definition>> {
        Err(crate::Error::NoSuchTable(name.to_owned()))
    }

    /// SELECT on a search table. pq and queue tables are read by [`crate::Command::Read`].
    ///
    /// # Errors
    /// `NoSuchTable`, `Invalid` for another kind of table, `UnknownColumn`, `Query`, `NotYet`.
    pub fn select(&self, select: &Select) -> Result<Answer> {
        Err(crate::Error::NoSuchTable(select.table.clone()))
    }

    /// CALL PQ: which standing queries of a pq table hit which of these documents.
    ///
    /// # Errors
    /// `NoSuchTable`, `Invalid` for another kind of table.
    pub fn call_pq(
        &self,
        table: &str,
        _documents: &[PqDocument],
        _scratch: &mut PqScratch,
    ) -> Result<PqAnswer> {
        Err(crate::Error::NoSuchTable(table.to_owned()))
    }

    /// The CREATE TABLE statement that makes the table again.
    ///
    /// # Errors
    /// `NoSuchTable`.
    pub fn show_create(&self, name: &str) -> Result<String> {
        Err(crate::Error::NoSuchTable(name.to_owned()))
    }

    /// SHOW TABLE … STATUS: names and values, in a fixed order.
    ///
    /// # Errors
    /// `NoSuchTable`.
    pub fn table_status(&self, name: &str) -> Result<Vec<(String, String)>> {
        Err(crate::Error::NoSuchTable(name.to_owned()))
    }
}
