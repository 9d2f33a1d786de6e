//! POST /sql: one SELECT as hits, or with `mode=raw` any statements as tables.

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use wire::json::RawReply;

use super::reply::{self, Refusal};
use super::{Door, body, hits, table};
use crate::errors::{self, Failure};
use crate::limits::{STATEMENTS_IN_A_ROW, STATEMENTS_MAX};
use crate::node::Node;
use crate::statement::{self, Outcome, Parsed, Session};

/// Answers a request. The session lives as long as the request.
pub async fn post(State(door): State<Door>, request: Request<Body>) -> Result<Response, Refusal> {
    let node = &door.node;
    let raw_asked = parameter(request.uri().query().unwrap_or("").as_bytes(), "mode");
    let held = node.budget.grant();
    let bytes = body::whole(node, request, &held).await?;
    // A form is decoded beside its body.
    held.reserve(2 * bytes.len()).await?;
    let asked = Asked::read(bytes, raw_asked.as_deref() == Some("raw"));
    let mut session = super::session(node);
    let response = if asked.raw {
        raw(node, &mut session, &asked.text).await
    } else {
        one(node, &mut session, &asked.text).await
    };
    node.close_session(session.id);
    response
}

/// What a body asks for.
struct Asked {
    text: Vec<u8>,
    raw: bool,
}

impl Asked {
    /// A body is a form where it begins as one, `query=` or `mode=`; else it is the statement itself, as no statement
    /// begins so. The content type is not asked: clients name a form whatever they send.
    fn read(body: Vec<u8>, raw: bool) -> Asked {
        if !body.starts_with(b"query=") && !body.starts_with(b"mode=") {
            let text = body.trim_ascii_end().to_vec();
            return Asked { text, raw };
        }
        let raw = raw || parameter(&body, "mode").as_deref() == Some("raw");
        let text = parameter(&body, "query").unwrap_or_default().into_bytes();
        Asked { text, raw }
    }
}

async fn one(node: &Node, session: &mut Session, text: &[u8]) -> Result<Response, Refusal> {
    let statement = match statement::next(node, text).await {
        Some((statement, behind)) if wire::sql::is_blank(behind) => statement,
        _ => return Err(only("exactly one SELECT").into()),
    };
    if statement.is_read() == Some(false) {
        return Err(only("SELECT").into());
    }
    match execute(node, session, statement).await? {
        Outcome::Rows(found) => {
            let took_ms = (node.clock.steady_us() - session.started_us) / 1_000;
            let held = node.budget.grant();
            let _turn = node.turn(found.answer.rows.size_hint().1).await;
            let bytes = tokio::task::block_in_place(|| {
                statement::guarded(node, || hits::write(node, found.answer, took_ms, &held))
            })?;
            Ok(reply::held_bytes(StatusCode::OK, bytes, held))
        }
        Outcome::Done { .. } | Outcome::Pq(_) => Err(only("SELECT").into()),
    }
}

/// Statements in order; the first failure ends the reply, and gives it its status.
async fn raw(node: &Node, session: &mut Session, text: &[u8]) -> Result<Response, Refusal> {
    let mut reply = RawReply::default();
    let mut status = StatusCode::OK;
    let held = node.budget.grant();
    let mut rest = text;
    let mut count = 0;
    while let Some((statement, behind)) = statement::next(node, rest).await {
        rest = behind;
        count += 1;
        let written = match execute(node, session, statement).await {
            Ok(_) if count > STATEMENTS_MAX => Err(Failure::new(
                errors::LIMIT,
                format!("more than {STATEMENTS_MAX} statements in one text"),
            )),
            Ok(outcome) => {
                let _turn = node.turn(outcome.rows()).await;
                tokio::task::block_in_place(|| {
                    statement::guarded(node, || {
                        table::write(node, session, outcome, &mut reply, &held)
                    })
                })
            }
            Err(failure) => Err(failure),
        };
        if let Err(failure) = written {
            status = StatusCode::from_u16(failure.kind.status)
                .unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            reply.done(0, &failure.message, "");
            break;
        }
        if count % STATEMENTS_IN_A_ROW == 0 {
            tokio::task::yield_now().await;
        }
    }
    if count == 0 {
        return Err(Failure::new(errors::EMPTY_STATEMENT, "query was empty").into());
    }
    reply.finish();
    Ok(reply::held_bytes(status, reply.into_bytes(), held))
}

/// A connection that may be gone any moment, and whose session ends with the request, can own no row.
async fn execute(
    node: &Node,
    session: &mut Session,
    statement: Parsed,
) -> Result<Outcome, Failure> {
    if statement.needs_connection() {
        let message = "queue functions need a connection that stays: use the MySQL door";
        return Err(Failure::new(errors::INVALID, message));
    }
    statement::execute(node, session, statement).await
}

fn only(what: &str) -> Failure {
    Failure::new(
        errors::INVALID,
        format!("only {what} is answered as hits; ask with ?mode=raw for the rest"),
    )
}

/// The value of `name` in `name=value&…`, decoded.
pub fn parameter(form: &[u8], name: &str) -> Option<String> {
    form.split(|byte| *byte == b'&').find_map(|pair| {
        let (key, value) = pair.split_at(pair.iter().position(|byte| *byte == b'=')?);
        (key == name.as_bytes()).then(|| decode(&value[1..]))
    })
}

/// Every `name=value` of a form, decoded, in the order written; a name alone has an empty value.
pub fn parameters(form: &[u8]) -> Vec<(String, String)> {
    let pairs = form
        .split(|byte| *byte == b'&')
        .filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let mut parts = pair.splitn(2, |byte| *byte == b'=');
            let mut part = || decode(parts.next().unwrap_or_default());
            (part(), part())
        })
        .collect()
}

/// Undoes the encoding of forms: `+` is a blank, `%41` a byte. A broken escape stands for itself.
fn decode(value: &[u8]) -> String {
    let mut out = Vec::with_capacity(value.len());
    let mut at = 0;
    while let Some(&byte) = value.get(at) {
        let escaped = value.get(at + 1..at + 3).filter(|_| byte == b'%');
        let escaped = escaped.and_then(|hex| std::str::from_utf8(hex).ok());
        let escaped = escaped.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        out.push(escaped.unwrap_or(if byte == b'+' { b' ' } else { byte }));
        at += if escaped.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests;
