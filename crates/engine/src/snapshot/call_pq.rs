//! CALL PQ: documents that are not stored, against standing queries.

mod hits;

pub use hits::PqHits;
use percolate::{Documents, Scratch, StandingQuery};
use query::analysis::{Analyzer, Words};
use query::expression::Expression;
use query::value::Value;

use super::{Snapshot, View};
use crate::error::{Error, Result};
use crate::failure;
use crate::table::percolate::row::Condition;
use crate::table::search::text_names;

/// A document that standing queries are asked about.
#[derive(Clone, Debug, PartialEq)]
pub enum PqDocument {
    /// Plain text: the first text column.
    Text(String),
    /// Values by column name, in lower case; names that are no column of the table are ignored.
    Fields(Vec<(String, Value)>),
}

/// What is asked of standing queries.
#[derive(Clone, Debug, Default)]
pub struct PqRequest<'a> {
    /// The pq table.
    pub table: &'a str,
    /// The documents; the answer names them by their places here.
    pub documents: &'a [PqDocument],
    /// Only these queries: over `id`, `query`, `tags`, `filters`, `hits`, `last_hit` and `source`; a column named
    /// `any(tags)` beside `=` or IN compares single tags.
    pub only: Option<&'a Expression>,
    /// Only queries with a higher id: the last one of the answer before.
    pub after: Option<u64>,
    /// At most so many queries; 0 counts only.
    pub limit: Option<u64>,
    /// For each document only so many queries, those of the highest weight, ties by id.
    pub top: Option<u32>,
    /// Whether weights are wanted.
    pub weights: bool,
}

impl<'a> PqRequest<'a> {
    /// All queries of a table that these documents hit.
    #[must_use]
    pub fn new(table: &'a str, documents: &'a [PqDocument]) -> PqRequest<'a> {
        PqRequest {
            table,
            documents,
            ..PqRequest::default()
        }
    }
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
    /// The queries that were hit, by id, each with the indexes (from 0) of the documents that hit it: those shown, after
    /// `after` and `limit`.
    pub hits: PqHits,
    /// Documents that at least one query hit, of those that `only` leaves.
    pub documents_matched: u64,
    /// Queries that were hit, before `after` and `limit`.
    pub total: u64,
    /// Standing queries in the table.
    pub queries_total: u64,
    /// Those of them without a word that must be there: each is tried on every document.
    pub queries_always: u64,
    /// Pairs of query and document that were tried.
    pub candidates: u64,
    /// Where asked for: for each row of `hits` and each of its documents, in order, the weight.
    pub weights: Vec<u32>,
}

impl Snapshot {
    /// CALL PQ: which standing queries of a pq table hit which of these documents. Never waits for a writer.
    ///
    /// # Errors
    /// `NoSuchTable`, `Invalid` for another kind of table; `UnknownColumn` in `only`; `Limit` of pairs.
    pub fn call_pq(&self, request: &PqRequest<'_>, scratch: &mut PqScratch) -> Result<PqAnswer> {
        let View::Percolate(view) = self.view(request.table)? else {
            let table = request.table;
            return Err(Error::invalid(format!("'{table}' is not a pq table")));
        };
        if request.weights || request.top.is_some() {
            let what = "weights of standing queries".to_owned();
            return Err(Error::NotYet { what });
        }
        let only = request
            .only
            .map(|only| Condition::new(&view.definition.name, only));
        let only = only.transpose()?;
        let documents = request.documents;
        let fields = text_names(&view.definition.columns);
        let analyzer = Analyzer::default();
        let spare = scratch.words.len().max(documents.len());
        scratch.words.resize_with(spare, Words::new);
        for (document, words) in documents.iter().zip(&mut scratch.words) {
            analyse(&analyzer, &fields, document, words);
        }
        let words = scratch.words.get(..documents.len()).unwrap_or_default();
        let mut found = percolate::Hits::new();
        view.queries
            .matches(&Documents::of(words), &mut scratch.matcher, &mut found)
            .map_err(failure::too_many_pairs)?;
        let mut answer = PqAnswer {
            queries_total: view.queries.len() as u64,
            queries_always: view.queries.always_len() as u64,
            candidates: found.work().candidates,
            hits: PqHits::all(found),
            ..PqAnswer::default()
        };
        if let Some(only) = only {
            let is_wanted = |query: &StandingQuery, _: u32| only.accepts(query);
            answer.hits.keep(is_wanted);
        }
        answer.total = answer.hits.len() as u64;
        answer.documents_matched = documents_matched(&answer.hits, documents.len());
        answer.hits.cut(request.after, request.limit);
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

fn documents_matched(hits: &PqHits, documents: usize) -> u64 {
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
