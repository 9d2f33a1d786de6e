//! Percolation: CALL PQ, and POST /pq/…/search over HTTP.

mod documents;
mod highlight;

use std::borrow::Cow;
use std::cell::RefCell;
use std::sync::Arc;

use engine::{Interrupt, Kind, PqAnswer, PqRequest, PqScratch};
use relation::expression::parse;
use relation::lexer::Lexer;
use wire::sql::PqOptions;

use super::select::hold;
use super::{Execution, Outcome};
use crate::budget::Grant;
use crate::counters::add;
use crate::errors::{self, Failure};
use crate::faults::ReadFault;
use crate::limits::META_KEYWORDS_MAX;
use crate::node::{Node, guarded};
use crate::rights::{Action, Deed};
use crate::searches::{Search, SearchRequest};
use crate::session::Session;

pub use documents::{Batch, Labels};

/// The column that lists a row's documents.
const DOCUMENTS: &str = "documents";

/// Levels of JSON that are read without a tree: the list of documents, and a document.
const FIELDS_DEPTH: usize = 2;

/// The answer of one percolation, for a door to encode row by row.
pub struct PqRows {
    /// The hits and their totals.
    pub answer: PqAnswer,
    /// Count of documents in the call.
    pub documents_asked: usize,
    /// Names of the documents in the column `documents`.
    pub labels: Labels,
    /// Options of the call; they choose the columns.
    pub options: PqOptions,
    /// Warnings for SHOW WARNINGS.
    pub warnings: Vec<String>,
    /// Microseconds from the statement's start until its documents were parsed.
    pub setup_us: u64,
    /// Microseconds of analysis and matching.
    pub matching_us: u64,
    /// For each row a JSON array parallel to its documents; empty unless the call asked for highlights.
    highlights: Vec<String>,
    /// Memory of the hits and highlights.
    held: Grant,
}

/// One row of the answer: a query and the documents that it hits.
pub struct PqRow<'a> {
    /// The standing query.
    pub query: &'a Arc<percolate::StandingQuery>,
    /// The query's id. Reading it here does not touch the query's memory.
    pub id: u64,
    /// Indexes of the documents in the call, from 0.
    pub documents: &'a [u32],
    /// Weights, parallel to `documents`; empty unless the call asked for them.
    pub weights: &'a [u32],
    /// A JSON array with an object for each document; empty unless the call asked for highlights.
    pub highlights: &'a str,
}

impl PqRow<'_> {
    /// The query's filter in Manticore's form: `price > 5` becomes `price>5`. If that form would not parse back to the same
    /// condition, the filter as it was written.
    pub fn filters(&self) -> Cow<'_, str> {
        let written: &str = &self.query.filters;
        let tree = |text: &str| parse(&mut Lexer::new(text.as_bytes()));
        match tree(written) {
            Ok(condition) => {
                let shown = condition.to_string();
                match tree(shown.as_str()) == Ok(condition) {
                    true => Cow::Owned(shown),
                    false => Cow::Borrowed(written),
                }
            }
            Err(_) => Cow::Borrowed(written), // a blank filter
        }
    }
}

impl PqRows {
    /// Headers of the columns, in order: Manticore's, then our own.
    pub fn columns(&self) -> Vec<&'static str> {
        let options = &self.options;
        if options.count {
            return vec!["count", DOCUMENTS];
        }
        let mut columns = vec!["id"];
        if options.docs {
            columns.push(DOCUMENTS);
        }
        if options.query {
            columns.extend(["query", "tags", "filters"]);
        }
        if options.weights {
            columns.push("weights");
        }
        if options.highlight {
            columns.push("highlights");
        }
        if options.capital {
            columns.push("Documents");
        }
        columns
    }

    /// The rows, by rising query id. None if the call asked for counts only.
    #[inline]
    pub fn rows(&self) -> impl Iterator<Item = PqRow<'_>> {
        let mut weights = self.answer.weights.as_slice();
        let mut highlights = self.highlights.iter();
        let is_counted = self.options.count;
        let rows = self.answer.hits.named().take_while(move |_| !is_counted);
        rows.map(move |(id, query, documents)| {
            let (own, rest) = weights
                .split_at_checked(documents.len())
                .unwrap_or_default();
            weights = rest;
            PqRow {
                query,
                id,
                documents,
                weights: own,
                highlights: highlights.next().map_or("", String::as_str),
            }
        })
    }

    /// The labels of these documents, with commas between them.
    pub fn documents(&self, indexes: &[u32]) -> String {
        let mut text = String::new();
        for index in indexes {
            if !text.is_empty() {
                text.push(',');
            }
            match &self.labels {
                Labels::From(first) => text.push_str(&(u64::from(*index) + first).to_string()),
                Labels::Named(names) => {
                    text.push_str(names.get(*index as usize).map_or("", String::as_str))
                }
            }
        }
        text
    }
}

/// A percolation before its documents are parsed.
pub struct Percolation<'a> {
    /// The pq table.
    pub table: &'a str,
    /// Checked options.
    pub options: PqOptions,
    /// Start, text and client of the statement.
    pub request: SearchRequest,
    /// Fault of this read that a test asked for.
    pub fault: Option<ReadFault>,
}

/// Lists a percolation among the running searches. KILL, the server's `max_query_time` or the end of its client end it.
pub fn watched(node: &Node, request: SearchRequest) -> Search {
    let time_us = node.bounds().query_time_max;
    let time_us = time_us.map(|time| time.as_micros() as u64);
    node.searches.begin(SearchRequest {
        until_us: time_us.map(|us| request.since_us.saturating_add(us)),
        ..request
    })
}

impl Percolation<'_> {
    /// Parses the documents with `read`, which may also set options that stand beside them, and matches. A panic becomes an
    /// error of this call.
    ///
    /// # Errors
    /// Missing table; `INVALID`: not a pq table; errors of `read` and of the engine.
    pub async fn run(
        mut self,
        node: &Node,
        session: &Session,
        read: impl FnOnce(&mut PqOptions) -> Result<Batch, Failure>,
    ) -> Result<PqRows, Failure> {
        let snapshot = node.snapshot(session, Action(Deed::Read, Some(self.table)))?;
        // An error of the table is reported before an error of the documents.
        if !matches!(
            snapshot.definition(self.table)?.kind,
            Kind::Percolate { .. }
        ) {
            let message = format!("'{}' is not a pq table", self.table);
            return Err(Failure::new(errors::INVALID, message));
        }
        let search = watched(node, self.request.clone());
        node.long_within(session, &search.interrupt).await;
        let rows = guarded(node, || {
            let panics = self.fault == Some(ReadFault::Panic);
            assert!(!panics, "SEINE_FAULTS asked for a panic in this read");
            let batch = read(&mut self.options)?;
            if self.fault == Some(ReadFault::Hold) {
                hold(&search.interrupt);
            }
            self.matched(node, &snapshot, batch, &search.interrupt)
        })?;
        add(&node.counters.pq_documents, rows.documents_asked as u64);
        Ok(rows)
    }

    fn matched(
        self,
        node: &Node,
        snapshot: &engine::Snapshot,
        batch: Batch,
        interrupt: &Interrupt,
    ) -> Result<PqRows, Failure> {
        thread_local! {
            static SCRATCH: RefCell<PqScratch> = RefCell::default();
        }
        let options = self.options;
        let read_us = node.clock.steady_us();
        let (held, refused) = (node.budget.grant(), RefCell::new(None));
        let request = PqRequest {
            only: options.only.as_ref(),
            after: options.after,
            limit: if options.count {
                Some(0)
            } else {
                options.limit
            },
            top: options.top,
            weights: options.weights,
            interrupt: Some(interrupt),
            room: Some(&|bytes| match held.cover(bytes) {
                Ok(()) => true,
                Err(failure) => {
                    refused.replace(Some(failure));
                    false
                }
            }),
            ..PqRequest::new(self.table, &batch.documents)
        };
        let answer = SCRATCH.with_borrow_mut(|scratch| snapshot.call_pq(&request, scratch));
        if let Some(failure) = refused.take() {
            return Err(failure);
        }
        let answer = answer?;
        let bytes = answer.hits.bytes() + answer.weights.len() * size_of::<u32>();
        held.keep(bytes);
        let mut warnings = batch.warnings;
        warnings.extend(node.note_damaged(&answer.damaged));
        let mut rows = PqRows {
            answer,
            documents_asked: batch.documents.len(),
            labels: batch.labels,
            options,
            warnings,
            setup_us: read_us - self.request.since_us,
            matching_us: node.clock.steady_us() - read_us,
            highlights: Vec::new(),
            held,
        };
        if rows.options.highlight {
            let definition = snapshot.definition(self.table)?;
            let held = (&rows.held, bytes);
            rows.highlights = highlight::of(&rows, &definition, &batch.documents, interrupt, held)?;
        }
        Ok(rows)
    }
}

impl Execution<'_> {
    pub(super) async fn call_pq(
        &mut self,
        table: &str,
        documents: &[Vec<u8>],
        options: PqOptions,
    ) -> Result<Outcome, Failure> {
        let percolation = Percolation {
            table,
            options,
            request: self.search_request(table),
            fault: self.fault,
        };
        let held = self.node.budget.grant();
        let node = self.node;
        let run = percolation.run(node, self.session, |options| {
            if options.docs_json {
                let texts = documents.iter();
                // `skip_bad_json` parses every document as a tree.
                let depth = if options.skip_bad_json {
                    0
                } else {
                    FIELDS_DEPTH
                };
                let bytes = texts.map(|text| wire::json::memory_bytes(text, depth));
                held.cover(bytes.sum())?;
            }
            documents::read(documents, options)
        });
        let mut rows = run.await?;
        for warning in std::mem::take(&mut rows.warnings) {
            self.session.warn(warning);
        }
        self.session.matched(&rows, self.node.clock.steady_us());
        Ok(Outcome::Pq(Box::new(rows)))
    }
}

impl Session {
    /// Sets SHOW META after a CALL PQ. The session must hold its warnings already.
    fn matched(&mut self, rows: &PqRows, now_us: u64) {
        let seconds = |us: u64| format!("{:.3} sec", us as f64 / 1e6);
        let total = seconds(now_us.saturating_sub(self.started_us));
        let mut lines = vec![("total".to_owned(), total)];
        if rows.options.verbose {
            lines.push(("setup".to_owned(), seconds(rows.setup_us)));
        }
        let answer = &rows.answer;
        let numbers = [
            ("queries_matched", answer.total),
            ("queries_failed", 0),
            ("document_matched", answer.documents_matched),
            ("total_queries_stored", answer.queries_total),
            (
                "term_only_queries",
                answer.queries_total.saturating_sub(answer.queries_always),
            ),
            // A lower bound of the queries that were tried on no document.
            (
                "fast_rejected_queries",
                answer.queries_total.saturating_sub(answer.candidates),
            ),
        ];
        lines.extend(numbers.map(|(name, number)| (name.to_owned(), number.to_string())));
        if rows.options.verbose {
            lines.extend(times(rows));
        }
        self.percolated(lines);
    }
}

/// Lines of SHOW META with matching times in microseconds: a time for each matched query, and their sum. The matcher does
/// not run queries one by one, so each gets the same part of the sum. At most [`META_KEYWORDS_MAX`] parts are given.
fn times(rows: &PqRows) -> [(String, String); 2] {
    let count = rows.answer.hits.len() as u64;
    let part = |place: u64| {
        let until = |place: u64| rows.matching_us * place / count.max(1);
        (until(place + 1) - until(place)).to_string()
    };
    let shown = count.min(META_KEYWORDS_MAX as u64);
    let parts: Vec<String> = (0..shown).map(part).collect();
    let matched_us = if count > 0 { rows.matching_us } else { 0 };
    [
        ("time_per_query".to_owned(), parts.join(",")),
        ("time_of_matched_queries".to_owned(), matched_us.to_string()),
    ]
}
