//! CALL PQ: documents that are not stored, against standing queries.

mod hits;

pub use hits::PqHits;
use index::Interrupt;
use language::analysis::{Analyzer, Words};
use language::meter::{Meter, Unmetered};
use percolate::{Documents, LOOK_UNITS, PAIR_BYTES, Scratch, StandingQuery};
use relation::expression::Expression;
use relation::schema::{Column, ColumnType, text_names};
use relation::value::Value;

use super::{PercolateView, Snapshot, View};
use crate::command::{Damaged, Kind};
use crate::error::{Error, Result};
use crate::failure;
use crate::table::standing::row::Condition;

/// A document that standing queries are asked about.
#[derive(Clone, Debug, PartialEq)]
pub enum PqDocument {
    /// Plain text: the first text column.
    Text(String),
    /// Values by column name, in lower case; names that are no column of the table are ignored.
    Fields(Vec<(String, Value)>),
}

impl PqDocument {
    /// Bytes of its texts.
    fn text_bytes(&self) -> usize {
        match self {
            PqDocument::Text(text) => text.len(),
            PqDocument::Fields(fields) => {
                let text = |value: &Value| match value {
                    Value::Str(text) => text.len(),
                    _ => 0,
                };
                fields.iter().map(|(_, value)| text(value)).sum()
            }
        }
    }
}

/// Memory of a document's words for each byte of its text: a word of one letter and a blank takes that of two.
const WORDS_FACTOR: usize = 16;

/// Most working memory that a thread keeps from one call to the next, in bytes.
const KEPT_BYTES_MAX: usize = 1 << 20;

/// What is asked of standing queries.
#[derive(Clone, Default)]
pub struct PqRequest<'a> {
    /// The pq table.
    pub table: &'a str,
    /// The documents; the answer names them by their places here.
    pub documents: &'a [PqDocument],
    /// Only these queries: over `id`, `query`, `tags`, `filters`, `hits`, `last_hit` and `source`.
    /// `any(tags)` beside `=` or IN compares single tags.
    pub only: Option<&'a Expression>,
    /// Only queries with a higher id: the last one of the answer before.
    pub after: Option<u64>,
    /// Most queries of the answer; 0 counts only.
    pub limit: Option<u64>,
    /// Most queries of a document, those of the highest weight, ties by id.
    pub top: Option<u32>,
    /// Whether weights are wanted.
    pub weights: bool,
    /// Who may stop it; it looks there once a document, some thousand times a second while it matches, and once a pair that is
    /// weighed.
    pub interrupt: Option<&'a Interrupt>,
    /// Says whether the call may take this many bytes, for its documents and hits together; `None`: any number.
    pub room: Option<&'a dyn Fn(usize) -> bool>,
    /// Whether the call is refused where standing queries cannot be read, because their file is damaged: its asker has no place
    /// for a warning.
    pub whole: bool,
}

impl<'a> PqRequest<'a> {
    /// Where work is counted.
    fn meter(&self) -> &dyn Meter {
        match self.interrupt {
            Some(interrupt) => interrupt,
            None => &Unmetered,
        }
    }

    /// All queries of a table that these documents hit.
    #[must_use]
    pub fn new(table: &'a str, documents: &'a [PqDocument]) -> PqRequest<'a> {
        PqRequest {
            table,
            documents,
            ..PqRequest::default()
        }
    }

    /// Errors: `Overloaded` where the call may not take `bytes` altogether.
    fn room_for(&self, bytes: usize) -> Result<()> {
        match self.room {
            Some(room) if !room(bytes) => Err(Error::Overloaded),
            _ => Ok(()),
        }
    }

    /// Counts the steps since the last look, and says whether to go on.
    fn goes_on(&self) -> bool {
        self.meter().spend(LOOK_UNITS);
        self.check().is_ok()
    }

    /// Whether to go on. Errors: `OutOfTime`, `Interrupted`.
    fn check(&self) -> Result<()> {
        self.interrupt.map_or(Ok(()), goes_on)
    }
}

/// Whether what somebody may stop is to go on.
///
/// # Errors
/// `OutOfTime`, `Interrupted`.
pub fn goes_on(interrupt: &Interrupt) -> Result<()> {
    interrupt.check().map_err(failure::of_index)
}

/// Working memory of [`Snapshot::call_pq`]; one per thread, used again and again.
#[derive(Default)]
pub struct PqScratch {
    words: Vec<Words>,
    matcher: Scratch,
}

impl PqScratch {
    /// Has room for the words of `count` documents.
    fn make_room(&mut self, count: usize) {
        let count = self.words.len().max(count);
        self.words.resize_with(count, Words::new);
    }
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
    /// The damaged files that hold standing queries of the table: these queries were not tried.
    pub damaged: Damaged,
}

impl Snapshot {
    /// CALL PQ: which standing queries of a pq table hit which of these documents. Never waits for a writer.
    ///
    /// # Errors
    /// `NoSuchTable`, `Invalid` for another kind of table; `UnknownColumn` in `only`; `Limit` of pairs; `TooCostly`, where
    /// one query takes too much on one document; `OutOfTime` and `Interrupted`,
    /// where it was stopped; `Corrupt` of a `whole` answer. A part of an answer is given only where [`PqAnswer::damaged`] says so:
    /// a reader would take the missing hits for none.
    pub fn call_pq(&self, request: &PqRequest<'_>, scratch: &mut PqScratch) -> Result<PqAnswer> {
        let answer = self.percolated(request, scratch);
        let texts = request.documents.iter().map(PqDocument::text_bytes);
        let bytes = texts.sum::<usize>() * WORDS_FACTOR;
        let is_small = |answer: &PqAnswer| bytes + answer.hits.bytes() <= KEPT_BYTES_MAX;
        if !answer.as_ref().is_ok_and(is_small) {
            *scratch = PqScratch::default();
        }
        answer
    }

    /// The pq table of a request. Errors: `NoSuchTable`, `Invalid`; `Corrupt` where a whole answer lacks queries.
    fn percolated_table(&self, request: &PqRequest<'_>) -> Result<&PercolateView> {
        let View::Percolate(view) = self.view(request.table)? else {
            let table = request.table;
            return Err(Error::invalid(format!("'{table}' is not a pq table")));
        };
        if request.whole {
            view.lost.check(&view.definition.name)?;
        }
        Ok(view)
    }

    fn percolated(&self, request: &PqRequest<'_>, scratch: &mut PqScratch) -> Result<PqAnswer> {
        let view = self.percolated_table(request)?;
        let only = request
            .only
            .map(|only| Condition::new(&view.definition.name, only));
        let only = only.transpose()?;
        let documents = request.documents;
        let fields = text_names(&view.definition.columns);
        scratch.make_room(documents.len());
        let mut text_bytes = 0;
        for (document, words) in documents.iter().zip(&mut scratch.words) {
            request.check()?;
            text_bytes += document.text_bytes();
            request.room_for(text_bytes * WORDS_FACTOR)?;
            analyse(&view.analyzer, &fields, document, words, request.meter());
        }
        request.check()?;
        let words = scratch.words.get(..documents.len()).unwrap_or_default();
        let columns = &view.definition.columns;
        let asked = Documents {
            words,
            attributes: &|document, column| match documents.get(document) {
                Some(document) => attribute(document, columns, column),
                None => Value::Null,
            },
            goes_on: &|| request.goes_on(),
            steps_max: u64::MAX,
            has_room: &|pairs| {
                let bytes = text_bytes * WORDS_FACTOR + pairs * PAIR_BYTES;
                request.room_for(bytes).is_ok()
            },
        };
        let mut found = percolate::Hits::new();
        view.queries
            .matches(&asked, &mut scratch.matcher, &mut found)
            .map_err(|why| {
                request
                    .check()
                    .err()
                    .unwrap_or_else(|| failure::of_matcher(&view.definition.name, why))
            })?;
        let mut answer = PqAnswer {
            queries_total: view.queries.len() as u64,
            queries_always: view.queries.always_len() as u64,
            candidates: found.work().candidates,
            hits: PqHits::all(found),
            damaged: view.lost.damaged(&view.definition.name),
            ..PqAnswer::default()
        };
        if let Some(only) = only {
            let meter = request.meter();
            let is_wanted = |query: &StandingQuery, _: u32| only.accepts(query, meter);
            answer.hits.keep(is_wanted);
            request.check()?;
        }
        if request.weights || request.top.is_some() {
            answer.weights = weights(view, &answer.hits, words, request)?;
        }
        if let Some(top) = request.top {
            keep_top(&mut answer, documents.len(), top as usize);
        }
        answer.total = answer.hits.len() as u64;
        answer.documents_matched = documents_matched(&answer.hits, documents.len());
        let shown = answer.hits.cut(request.after, request.limit);
        answer.weights = match request.weights {
            true => answer.weights.drain(shown).collect(),
            false => Vec::new(),
        };
        Ok(answer)
    }
}

/// The weight of every pair, in the order of the rows.
fn weights(
    view: &PercolateView,
    hits: &PqHits,
    words: &[Words],
    request: &PqRequest<'_>,
) -> Result<Vec<u32>> {
    let fields = text_names(&view.definition.columns);
    let Kind::Percolate { syntax, .. } = &view.definition.kind else {
        return Err(Error::internal("a pq table of another kind"));
    };
    let mut weights = Vec::new();
    for (query, documents) in hits.rows() {
        let parsed = syntax.parse_stored(&query.text, &fields, &view.analyzer);
        let root = parsed.map_err(Error::Query)?.root;
        let found = documents
            .iter()
            .filter_map(|document| words.get(*document as usize));
        for words in found {
            request.check()?;
            let weight = language::weight::of(&root, words);
            weights.push(u32::try_from(weight).unwrap_or(u32::MAX));
        }
    }
    Ok(weights)
}

/// Keeps at most `top` queries of each document, those of the highest weight, ties by id.
fn keep_top(answer: &mut PqAnswer, documents: usize, top: usize) {
    let mut by_document: Vec<Vec<(u32, usize)>> = vec![Vec::new(); documents];
    let pairs = answer.hits.rows().flat_map(|(_, documents)| documents);
    for ((document, weight), pair) in pairs.zip(&answer.weights).zip(0..) {
        if let Some(of_document) = by_document.get_mut(*document as usize) {
            of_document.push((*weight, pair));
        }
    }
    let mut is_kept = vec![false; answer.weights.len()];
    for of_document in &mut by_document {
        of_document.sort_by_key(|(weight, _)| std::cmp::Reverse(*weight)); // stable: pairs come by id
        for (_, pair) in of_document.iter().take(top) {
            if let Some(kept) = is_kept.get_mut(*pair) {
                *kept = true;
            }
        }
    }
    let mut of_pair = is_kept.iter();
    answer.hits.keep(|_, _| of_pair.next() == Some(&true));
    let mut of_weight = is_kept.iter();
    answer.weights.retain(|_| of_weight.next() == Some(&true));
}

/// Makes the words of a document. Once the meter has stopped, some are missing.
fn analyse(
    analyzer: &Analyzer,
    fields: &[&str],
    document: &PqDocument,
    words: &mut Words,
    meter: &dyn Meter,
) {
    words.clear();
    match document {
        PqDocument::Text(text) if !fields.is_empty() => {
            words.push_field_within(analyzer, 0, text, meter)
        }
        PqDocument::Text(_) => {}
        PqDocument::Fields(values) => {
            for (place, field) in fields.iter().enumerate() {
                let given = values.iter().find(|(name, _)| name == field);
                match given.map(|(_, value)| value) {
                    Some(Value::Str(text)) => {
                        words.push_field_within(analyzer, place as u8, text, meter)
                    }
                    None | Some(Value::Null) => {}
                    Some(other) => {
                        let text = other.clone().without_truth().to_string();
                        words.push_field_within(analyzer, place as u8, &text, meter);
                    }
                }
            }
        }
    }
}

/// The value of a document's column as an INSERT would store it; NULL where it would refuse it, and for `id`, the column
/// behind the last, where none is given.
fn attribute(document: &PqDocument, columns: &[Column], place: usize) -> Value {
    let column = columns.get(place);
    let name = column.map_or("id", |column| column.name.as_str());
    let given = match document {
        PqDocument::Text(text) => {
            let first_text = columns
                .iter()
                .find(|column| column.kind == ColumnType::Text);
            let is_it = first_text.is_some_and(|first| first.name == name);
            is_it.then(|| Value::Str(text.clone()))
        }
        PqDocument::Fields(fields) => {
            let field = fields.iter().find(|(field, _)| field == name);
            field.map(|(_, value)| value.clone())
        }
    };
    match (column, given) {
        (None, given) => given.unwrap_or(Value::Null),
        (Some(column), None | Some(Value::Null)) => absent(column),
        (Some(column), Some(mut value)) => {
            if let PqDocument::Fields(_) = document {
                value.read_by(column.kind);
            }
            column.kind.accept(value).unwrap_or(Value::Null)
        }
    }
}

fn absent(column: &Column) -> Value {
    let default = column.default.clone();
    default.unwrap_or_else(|| match column.kind.keeps_null() {
        true => Value::Null,
        false => column.kind.empty(),
    })
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
