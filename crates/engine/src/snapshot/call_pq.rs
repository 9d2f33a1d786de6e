//! CALL PQ: documents that are not stored, against standing queries.

use percolate::{Documents, Hits, Scratch};
use query::analysis::{Analyzer, Words};
use query::value::Value;

use super::{Snapshot, View};
use crate::error::{Error, Result};
use crate::failure;
use crate::table::search::text_names;

/// A document that standing queries are asked about.
#[derive(Clone, Debug, PartialEq)]
pub enum PqDocument {
    /// Plain text: the first text column.
    Text(String),
    /// Values by column name, in lower case; names that are no text column of the table are ignored.
    Fields(Vec<(String, Value)>),
}

/// Working memory of [`Snapshot::call_pq`]; one per thread, used again and again.
#[derive(Default)]
pub struct PqScratch {
    words: Vec<Words>,
    matcher: Scratch,
}

/// What standing queries found.
#[derive(Debug, Default)]
pub struct PqAnswer {
    /// The queries that were hit, by id, each with the indexes (from 0) of the documents that hit it.
    pub hits: Hits,
    /// Documents that at least one query hit.
    pub documents_matched: u64,
    /// Standing queries in the table.
    pub queries_total: u64,
    /// Those of them without a word that must be there: each is tried on every document.
    pub queries_always: u64,
    /// Pairs of query and document that were tried.
    pub candidates: u64,
}

impl Snapshot {
    /// CALL PQ: which standing queries of a pq table hit which of these documents. Never waits for a writer.
    ///
    /// # Errors
    /// `NoSuchTable`, `Invalid` for another kind of table.
    pub fn call_pq(
        &self,
        table: &str,
        documents: &[PqDocument],
        scratch: &mut PqScratch,
    ) -> Result<PqAnswer> {
        let View::Percolate(view) = self.view(table)? else {
            return Err(Error::invalid(format!("'{table}' is not a pq table")));
        };
        let fields = text_names(&view.definition.columns);
        let analyzer = Analyzer::default();
        let spare = scratch.words.len().max(documents.len());
        scratch.words.resize_with(spare, Words::new);
        for (document, words) in documents.iter().zip(&mut scratch.words) {
            analyse(&analyzer, &fields, document, words);
        }
        let words = scratch.words.get(..documents.len()).unwrap_or_default();
        let mut answer = PqAnswer::default();
        view.queries
            .matches(
                &Documents::of(words),
                &mut scratch.matcher,
                &mut answer.hits,
            )
            .map_err(failure::too_many_pairs)?;
        answer.queries_total = view.queries.len() as u64;
        answer.queries_always = view.queries.always_len() as u64;
        answer.candidates = answer.hits.work().candidates;
        answer.documents_matched = documents_matched(&answer.hits, documents.len());
        Ok(answer)
    }
}

fn analyse(analyzer: &Analyzer, fields: &[&str], document: &PqDocument, words: &mut Words) {
    words.clear();
    match document {
        PqDocument::Text(text) if !fields.is_empty() => words.push_field(analyzer, 0, text),
        PqDocument::Text(_) => {}
        PqDocument::Fields(values) => {
            for (place, field) in fields.iter().enumerate() {
                let given = values.iter().find(|(name, _)| name == field);
                match given.map(|(_, value)| value) {
                    Some(Value::Str(text)) => words.push_field(analyzer, place as u8, text),
                    None | Some(Value::Null) => {}
                    Some(other) => words.push_field(analyzer, place as u8, &other.to_string()),
                }
            }
        }
    }
}

fn documents_matched(hits: &Hits, documents: usize) -> u64 {
    let mut matched = vec![false; documents];
    for (_, hit) in hits.rows() {
        for &document in hit {
            if let Some(matched) = matched.get_mut(document as usize) {
                *matched = true;
            }
        }
    }
    matched.into_iter().filter(|matched| *matched).count() as u64
}
