//! /sql: one SELECT as hits, or with `mode=raw` any statements as tables. A GET has its statement in the address and may only
//! read: any web page can make a browser send a GET.

use std::time::Instant;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::response::Response;
use percent_encoding::percent_decode;
use session::Grant;
use session::errors::{self, Failure};
use session::guarded;
use session::statement::{self, FoundRows, Outcome, Parsed};
use wire::json::{Aggregation, RawReply};

use super::address::{self, flag};
use super::reply::{self, Refusal};
use super::search::{self, Shape};
use super::table::TableReply;
use super::{Door, Guest, body, table};
use crate::limits::{IN_A_ROW_MAX, STATEMENTS_MAX};
use crate::server::Server;

/// Handles /sql. Its session ends with the request.
pub(super) async fn answer(
    State(door): State<Door>,
    request: Request<Body>,
) -> Result<Response, Refusal> {
    let server = &door.server;
    let address = request.uri().query().unwrap_or("").as_bytes();
    let is_raw = is_raw(address)?;
    if request.method() != Method::GET && parameter(address, "query").is_some() {
        let message = "query stands in the address of a GET alone: write it in the body";
        return Err(Failure::new(errors::INVALID, message).into());
    }
    let in_address = |address: &[u8]| parameter(address, "query").unwrap_or_default();
    let request = SqlRequest::of(server, request, in_address).await?;
    if request.raw || is_raw {
        return raw(server, request).await;
    }
    one(Guest::new(server), &request).await
}

/// A request with SQL text.
pub(super) struct SqlRequest {
    text: Vec<u8>,
    raw: bool,
    /// Whether only reads are allowed: it is a GET.
    only_reads: bool,
    /// Memory of the text, until the request is answered.
    _held: Grant,
}

impl SqlRequest {
    /// Reads a request: the text of its body, or for a GET the text that `in_address` finds behind the `?`.
    pub(super) async fn of(
        server: &Server,
        request: Request<Body>,
        in_address: impl FnOnce(&[u8]) -> String,
    ) -> Result<SqlRequest, Failure> {
        let held = server.budget.grant();
        if request.method() == Method::GET {
            let address = request.uri().query().unwrap_or("");
            return Ok(SqlRequest {
                text: in_address(address.as_bytes()).into_bytes(),
                raw: false,
                only_reads: true,
                _held: held,
            });
        }
        let bytes = body::whole(server, request, &held).await?;
        // The decoded form needs as much memory again as the body.
        held.reserve(2 * bytes.len()).await?;
        SqlRequest::read(bytes, held)
    }

    /// A body that begins with `query=`, `mode=` or `raw_response=` is a form; no statement begins so. Any other body is the
    /// statement itself. The content type is ignored: many clients name a form whatever they send.
    fn read(body: Vec<u8>, held: Grant) -> Result<SqlRequest, Failure> {
        let begins = |name: &&[u8]| body.starts_with(name);
        let forms: [&[u8]; 3] = [b"query=", b"mode=", b"raw_response="];
        let is_form = forms.iter().any(begins);
        if is_form {
            address::read_once(&body, &["mode", "raw_response", "query"])?;
        }
        let text = match is_form {
            true => parameter(&body, "query").unwrap_or_default().into_bytes(),
            false => body.trim_ascii_end().to_vec(),
        };
        Ok(SqlRequest {
            text,
            raw: is_form && is_raw(&body)?,
            only_reads: false,
            _held: held,
        })
    }
}

/// Whether a form asks for tables: `mode=raw`, or `raw_response=true` as Manticore's clients write it.
///
/// # Errors
/// `INVALID`: another mode.
fn is_raw(form: &[u8]) -> Result<bool, Failure> {
    let is_mode = match parameter(form, "mode").as_deref() {
        None | Some("") => false,
        Some("raw") => true,
        Some(mode) => {
            let message = format!("mode={mode}: there is raw");
            return Err(Failure::new(errors::INVALID, message));
        }
    };
    let raw = parameter(form, "raw_response");
    let raw = raw.map(|value| flag("raw_response", &value));
    Ok(raw.transpose()?.unwrap_or(false) || is_mode)
}

/// Does all statements and answers with JSON tables.
pub(super) async fn raw(server: &Server, request: SqlRequest) -> Result<Response, Refusal> {
    let mut reply = RawReply::default();
    let held = server.budget.grant();
    let failure = all(server, request, &mut reply, &held).await?;
    let status = status(failure.as_ref());
    if let Some(failure) = failure {
        reply.done(0, &failure.message, "");
    }
    reply.finish();
    Ok(reply::held_bytes(status, reply.into_bytes(), held))
}

/// The status of a reply to several statements: 200, or the status of the failure that ended them.
pub(super) fn status(failure: Option<&Failure>) -> StatusCode {
    failure.map_or(StatusCode::OK, |failure| reply::status(failure.kind.status))
}

/// Does the statements in order and adds each to the reply; `held` keeps the reply's memory. The first failure ends them, and
/// is the value. Errors: `EMPTY_STATEMENT`.
pub(super) async fn all(
    server: &Server,
    request: SqlRequest,
    reply: &mut impl TableReply,
    held: &Grant,
) -> Result<Option<Failure>, Failure> {
    let mut guest = Guest::new(server);
    let mut rest = request.text.as_slice();
    let mut count = 0;
    let mut failed = None;
    let mut since = Instant::now();
    while let Some((statement, behind)) = statement::next(server, &guest.session, rest).await {
        rest = behind;
        count += 1;
        if count > STATEMENTS_MAX {
            failed = Some(too_many());
            break;
        }
        if request.only_reads && !statement.only_reads() {
            failed = Some(posted());
            break;
        }
        let written = match execute(&mut guest, statement).await {
            Ok(outcome) => {
                if outcome.reads_long() {
                    server.long(&guest.session).await;
                }
                guarded(server, || {
                    table::write(server, &mut guest.session, outcome, reply, held)
                })
            }
            Err(failure) => Err(failure),
        };
        if let Err(failure) = written {
            failed = Some(failure);
            break;
        }
        if since.elapsed() >= IN_A_ROW_MAX {
            tokio::task::yield_now().await;
            since = Instant::now();
        }
    }
    if count == 0 {
        return Err(empty());
    }
    Ok(failed)
}

fn empty() -> Failure {
    Failure::new(errors::EMPTY_STATEMENT, "query was empty")
}

fn too_many() -> Failure {
    let message = format!("more than {STATEMENTS_MAX} statements in one text");
    Failure::new(errors::LIMIT, message)
}

fn posted() -> Failure {
    Failure::new(
        errors::WRONG_METHOD,
        "a GET only reads: POST what changes something",
    )
}

async fn one(mut guest: Guest<'_>, request: &SqlRequest) -> Result<Response, Refusal> {
    let statement = match statement::next(&guest, &guest.session, &request.text).await {
        Some((statement, behind)) if wire::sql::is_blank(behind) => statement,
        Some(_) => return Err(only("exactly one SELECT").into()),
        None => return Err(empty().into()),
    };
    if request.only_reads && !statement.only_reads() {
        return Err(posted().into());
    }
    if statement.is_read() == Some(false) {
        return Err(only("SELECT").into());
    }
    let outcome = execute(&mut guest, statement).await?;
    let aggregations = match &outcome {
        Outcome::Rows(_) => Vec::new(),
        Outcome::Several(sets) => facets(sets)?,
        Outcome::Done { .. } | Outcome::Pq(_) => return Err(only("SELECT").into()),
    };
    let shape = Shape {
        aggregations,
        ..Shape::default()
    };
    search::answered(&guest, outcome, shape).await
}

/// The FACETs behind the first set, each as an aggregation with the name of its first column.
fn facets(sets: &[FoundRows]) -> Result<Vec<Aggregation>, Failure> {
    let mut aggregations: Vec<Aggregation> = Vec::new();
    for found in sets.iter().skip(1) {
        let columns = found.answer.columns.iter().map(|(name, _)| name.clone());
        let aggregation = Aggregation::of_facet(&columns.collect::<Vec<_>>());
        let name = &aggregation.name;
        if aggregations.iter().any(|known| known.name == *name) {
            let message =
                format!("two FACETs are named '{name}': give one an alias, or ask with ?mode=raw");
            return Err(Failure::new(errors::INVALID, message));
        }
        aggregations.push(aggregation);
    }
    Ok(aggregations)
}

/// Does a statement, unless it takes or ends a queue's row: the session ends with the request, so it cannot own a row.
async fn execute(guest: &mut Guest<'_>, statement: Parsed) -> Result<Outcome, Failure> {
    if statement.needs_connection() {
        let message = "queue functions need a connection that stays: use the MySQL door";
        return Err(Failure::new(errors::INVALID, message));
    }
    statement::execute(guest.server, &mut guest.session, statement).await
}

fn only(what: &str) -> Failure {
    Failure::new(
        errors::INVALID,
        format!("only {what} is answered as hits; ask with ?mode=raw for the rest"),
    )
}

/// The decoded value of `name` in `name=value&…`. A name without `=` has no value.
pub(super) fn parameter(form: &[u8], name: &str) -> Option<String> {
    let pairs = form.split(|byte| *byte == b'&');
    let mut pairs = pairs
        .filter(|pair| pair.contains(&b'='))
        .flat_map(form_urlencoded::parse);
    pairs
        .find(|(key, _)| key == name)
        .map(|(_, value)| value.into_owned())
}

/// All decoded pairs of a form, in the order written. A name without `=` has an empty value.
pub(super) fn parameters(form: &[u8]) -> Vec<(String, String)> {
    form_urlencoded::parse(form).into_owned().collect()
}

/// Decodes the `%41` escapes of an address. A broken escape stays as it is.
pub(super) fn unescaped(value: &[u8]) -> String {
    percent_decode(value).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests;
