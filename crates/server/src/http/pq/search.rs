//! POST /pq/{table}/search: documents as one JSON body, as lines of JSON or as lines of text. The reply is JSON, or the compact
//! answer of [`wire::pq`] if Accept asks for it.

use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use engine::PqDocument;
use session::Grant;
use session::counters::add;
use session::errors::{self, Failure};
use session::guarded;
use session::statement::{Batch, Percolation, PqRows};
use wire::json::{self, PqHit, PqReply};
use wire::pq::{self, Encoder, Head};
use wire::sql::PqOptions;

use super::super::hits::bounded;
use super::{failure, parameters};
use crate::http::address::flag;
use crate::http::reply::{self, Refusal};
use crate::http::{Door, Guest, body};
use crate::server::Server;

/// Levels of JSON that are read without a tree: the body, its query, `percolate`, the list, a document.
const FIELDS_DEPTH: usize = 5;

/// Form of the documents in the body, by its content type.
#[derive(Clone, Copy)]
enum Form {
    /// One JSON body with documents and options.
    Json,
    /// A JSON document in each line.
    JsonLines,
    /// A text in each line.
    Lines,
}

/// Handles POST /pq/{table}/search.
pub(super) async fn post(
    State(door): State<Door>,
    Path(table): Path<String>,
    request: Request<Body>,
) -> Result<Response, Refusal> {
    let server = &door.server;
    let guest = Guest::new(server);
    let started_us = server.clock.steady_us();
    let form = Form::of(request.headers());
    let is_compact = header(request.headers(), ACCEPT).starts_with(pq::CONTENT_TYPE);
    let mut options = PqOptions {
        docs: true,
        query: true,
        ..PqOptions::default()
    };
    set_parameters(&mut options, request.uri().query().unwrap_or(""))?;
    let held = server.budget.grant();
    let bytes = body::whole(server, request, &held).await?;
    match form {
        Form::Lines => {
            held.reserve(bytes.len() + at_most(&bytes).await).await?;
        }
        Form::Json | Form::JsonLines => {
            body::room_for_json(&bytes, FIELDS_DEPTH, &held).await?;
        }
    }
    let table = table.to_lowercase();
    add(&server.counters.call_pqs, 1);
    let mut logged = server.percolates(&guest.session, started_us, &table, &bytes);
    let percolation = Percolation {
        table: &table,
        options,
        request: guest.search_request(started_us, &format!("POST /pq/{table}/search")),
        fault: server
            .faults
            .any()
            .then(|| server.faults.choose(&bytes))
            .flatten(),
    };
    let run = percolation.run(server, &guest.session, |options| {
        read(&bytes, form, options)
    });
    // The answer is written in the turn of the percolation.
    let answered = run.await.and_then(|rows| {
        drop(held);
        if let Some(logged) = &mut logged {
            logged.found(rows.answer.total);
            logged.returned(rows.answer.hits.len() as u64);
        }
        written(server, &table, &rows, is_compact)
    });
    if let Err(failure) = &answered {
        add(&server.counters.failed, 1);
        if let Some(logged) = &mut logged {
            logged.failed(&failure.message);
        }
    }
    let took_us = server.clock.steady_us() - started_us;
    add(&server.counters.statement_us, took_us);
    Ok(answered?)
}

impl Form {
    fn of(headers: &HeaderMap) -> Form {
        let kind = header(headers, CONTENT_TYPE);
        let kind = kind.split(';').next().unwrap_or_default().trim();
        match kind {
            "application/x-ndjson" | "application/ndjson" => Form::JsonLines,
            "text/plain" => Form::Lines,
            _ => Form::Json,
        }
    }
}

fn header(headers: &HeaderMap, name: HeaderName) -> &str {
    let value = headers.get(name).and_then(|value| value.to_str().ok());
    value.unwrap_or_default()
}

/// Most memory of the documents of a body of text lines, in bytes.
async fn at_most(bytes: &[u8]) -> usize {
    let count = || bytes.iter().filter(|byte| **byte == b'\n').count();
    bytes.len() + body::at_length(bytes.len(), count).await * 2 * size_of::<PqDocument>()
}

/// Parses the documents of a body. A JSON body also sets options.
fn read(bytes: &[u8], form: Form, options: &mut PqOptions) -> Result<Batch, Failure> {
    let documents = match form {
        Form::Json => {
            let search = json::pq_search(bytes, options).map_err(failure)?;
            search.into_iter().map(PqDocument::Fields).collect()
        }
        Form::JsonLines => json_lines(bytes)?,
        Form::Lines => lines(bytes)
            .map(|line| PqDocument::Text(String::from_utf8_lossy(line).into_owned()))
            .collect(),
    };
    Ok(Batch::numbered(documents))
}

/// Lines without their ends. The last line needs no end. An empty line is a document without words.
fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let lines = (!bytes.is_empty()).then(|| bytes.split(|byte| *byte == b'\n'));
    lines
        .into_iter()
        .flatten()
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
}

/// Parses a JSON document from each line; skips blank lines.
fn json_lines(bytes: &[u8]) -> Result<Vec<PqDocument>, Failure> {
    let mut documents = Vec::new();
    for (index, line) in lines(bytes).enumerate() {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let found = json::documents(line).map_err(|error| {
            let message = format!("line {}: {error}", index + 1);
            Failure::new(errors::SYNTAX, message)
        })?;
        documents.extend(found.into_iter().map(PqDocument::Fields));
    }
    Ok(documents)
}

/// Sets options from the address, for bodies that cannot hold them. Errors: `SYNTAX`.
fn set_parameters(options: &mut PqOptions, query: &str) -> Result<(), Failure> {
    if query.is_empty() {
        return Ok(());
    }
    let parameters = parameters(query.as_bytes());
    let given = |name: &str| {
        let mut found = parameters.iter().filter(|(known, _)| known == name);
        found.next().map(|(_, value)| value.as_str())
    };
    let number = |name: &str| match given(name) {
        None => Ok(None),
        Some(text) => text.parse::<u64>().map(Some).map_err(|_| {
            let message = format!("{name}: expected a whole number from 0");
            Failure::new(errors::SYNTAX, message)
        }),
    };
    let flag = |name: &str| match given(name) {
        None => Ok(false),
        Some(text) => flag(name, text),
    };
    options.limit = number("limit")?;
    options.after = number("after")?;
    options.top = number("top")?.map(|top| u32::try_from(top).unwrap_or(u32::MAX).max(1));
    options.count = flag("count_only")?;
    options.weights = flag("weights")?;
    options.highlight = flag("highlight")?;
    if let Some(only) = given("only") {
        let only = wire::sql::condition(only.as_bytes());
        let only = only.map_err(|error| Failure::new(errors::SYNTAX, format!("only: {error}")))?;
        options.only = Some(only);
    }
    Ok(())
}

fn written(
    server: &Server,
    table: &str,
    rows: &PqRows,
    is_compact: bool,
) -> Result<Response, Failure> {
    let held = server.budget.grant();
    if is_compact {
        // The compact form has no place to say that queries are missing.
        if let Some((_, sentence)) = rows.answer.damaged.files().into_iter().next() {
            return Err(Failure::new(errors::SICK, sentence));
        }
        let bytes = guarded(server, || compact(rows, &held))?;
        let mut response = reply::held_bytes(StatusCode::OK, bytes, held);
        let kind = HeaderValue::from_static(pq::CONTENT_TYPE);
        response.headers_mut().insert(CONTENT_TYPE, kind);
        return Ok(response);
    }
    let took_ms = (rows.setup_us + rows.matching_us) / 1_000;
    let bytes = guarded(server, || hits(table, rows, took_ms, &held))?;
    Ok(reply::held_bytes(StatusCode::OK, bytes, held))
}

fn hits(table: &str, rows: &PqRows, took_ms: u64, held: &Grant) -> Result<Vec<u8>, Failure> {
    let mut reply = PqReply::default();
    let relation = match rows.answer.damaged.files().is_empty() {
        true => "eq",
        false => "gte",
    };
    let answer = &rows.answer;
    reply.begin(took_ms, answer.total, relation, answer.documents_matched);
    for row in rows.rows() {
        let hit = PqHit {
            id: row.id,
            query: &row.query.text,
            tags: &row.query.tags,
            filters: &row.query.filters,
            documents: row.documents,
            weights: rows.options.weights.then_some(row.weights),
            highlights: rows.options.highlight.then_some(row.highlights),
        };
        reply.hit(table, &hit);
        bounded(reply.bytes().len(), held)?;
    }
    reply.end(&rows.warnings);
    Ok(reply.into_bytes())
}

/// Encodes the compact answer. It reads only ids and documents of the hits, so it touches no memory of the queries.
fn compact(rows: &PqRows, held: &Grant) -> Result<Vec<u8>, Failure> {
    let answer = &rows.answer;
    let shown = if rows.options.count {
        0
    } else {
        answer.hits.len()
    };
    let mut encoder = Encoder::new(&Head {
        documents: u32::try_from(rows.documents_asked).unwrap_or(u32::MAX),
        total: answer.total,
        matched: answer.documents_matched,
        rows: shown as u64,
        weights: rows.options.weights,
    });
    let mut weights = answer.weights.iter().map(|weight| u64::from(*weight));
    for (id, documents) in answer.hits.ids().take(shown) {
        encoder.row(id, documents, weights.by_ref());
        bounded(encoder.bytes().len(), held)?;
    }
    Ok(encoder.finish())
}

#[cfg(test)]
mod tests;
