//! /collect: messages over HTTP, on their way to the stores of Scribe's configuration. /tail: messages as they are taken.
//!
//! ```text
//! POST /collect/web          two lines                → {"messages": 2}    both are in the journal, as durable as `web` asks for
//! POST /collect/web  [{"a":1},{"a":2}] as application/json  → {"messages": 2}
//! POST /collect/web?whole=1  a text of several lines  → {"messages": 1}
//! GET  /tail/web*                                     → {"category":"web","message":"a line"} …    a line each, until the client goes
//! ```

mod items;

use std::net::IpAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use collect::Incoming;
use serde_json::json;
use session::errors::{self, Failure};
use session::{Action, Deed};
use tokio::sync::mpsc;

use super::reply::{self, Coming, Refusal, held_piece};
use super::sql::parameters;
use super::{Door, Guest, body, guard};
use crate::limits::EVENT_BEAT;
use crate::scribe::{Following, Intake, Sender, Waiting};
use crate::server::Server;

/// Pieces that wait for a follower's socket; others wait in [`Following`].
const PIECES_AHEAD: usize = 1;

/// The routes below /collect and /tail.
pub(super) fn routes() -> Router<Door> {
    Router::new()
        .route("/collect/{*category}", post(collect))
        .route("/tail/{*category}", get(tail).head(guard::wrong_method))
}

/// POST /collect/{category}: each line of the body is a message, of a JSON array each item, or with `whole=1` the body is one.
/// Takes all or none.
async fn collect(
    State(door): State<Door>,
    Path(category): Path<String>,
    request: Request<Body>,
) -> Result<Response, Refusal> {
    let (server, scribe) = (&door.server, &door.scribe);
    if server.settings().read_only {
        return Err(Failure::from(engine::Error::ReadOnly).into());
    }
    let is_taken = scribe.takes(category.as_bytes())?;
    let is_whole = whole(request.uri().query().unwrap_or(""))?;
    let is_packed = body::is_packed(request.headers())?;
    let is_json = is_json(request.headers());
    let held = server.budget.grant();
    let mut bytes = body::as_sent(server, request, &held).await?;
    if is_packed {
        bytes = body::unpacked_in_turn(&bytes, &held).await?;
    }
    if is_json && !is_whole {
        let length = bytes.len();
        bytes = body::at_length(length, || items::lines(bytes)).await?;
    }
    if bytes.is_empty() {
        return Ok(answer(0));
    }
    // Else the next message would stand on the same line of a file.
    if bytes.last() != Some(&b'\n') {
        bytes.push(b'\n');
    }
    let lines = || bytes.split_inclusive(|byte| *byte == b'\n');
    let count = match is_whole {
        true => 1,
        false => body::at_length(bytes.len(), || lines().count()).await,
    };
    let guest = Guest::new(server);
    let peer = super::peer();
    let host = peer.as_deref().map_or("localhost", |peer| host(&peer.host));
    let unix_s = server.clock.unix_us().div_euclid(1_000_000);
    let message = |body| Incoming {
        category: category.as_bytes(),
        body,
        host,
        unix_s,
        is_line: true,
    };
    let sender = Sender {
        server,
        session: &guest.session,
        held_bytes: bytes.len(),
        count,
        text_bytes: bytes.len() + count * category.len(),
    };
    let taken = match is_whole {
        true => {
            scribe
                .take(&sender, std::iter::once(message(&bytes[..])))
                .await
        }
        false => scribe.take(&sender, lines().map(message)).await,
    };
    match taken {
        Intake::Taken if is_taken => Ok(answer(count)),
        Intake::Taken => Err(no_store(&category).into()),
        Intake::Later => {
            let why = "the messages cannot be taken now: try again later";
            Err(Failure::new(errors::OVERLOADED, why).into())
        }
        Intake::Never(why) => Err(Failure::new(errors::LIMIT, why).into()),
    }
}

fn answer(count: usize) -> Response {
    let body = json!({ "messages": count }).to_string();
    reply::json_bytes(StatusCode::OK, body.into_bytes())
}

fn no_store(category: &str) -> Failure {
    let why = format!("no store takes the category '{category}'");
    Failure::new(errors::NO_STORE, why)
}

/// Whether the request says that its body is one JSON value.
fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).map(HeaderValue::as_bytes);
    let kind = kind.unwrap_or_default().split(|byte| *byte == b';').next();
    kind.is_some_and(|kind| kind.trim_ascii().eq_ignore_ascii_case(b"application/json"))
}

/// Reads the one parameter, `whole`.
fn whole(query: &str) -> Result<bool, Failure> {
    let mut is_whole = false;
    for (name, value) in parameters(query.as_bytes()) {
        is_whole = match (&*name, &*value) {
            ("whole", "1" | "true" | "") => true,
            ("whole", "0" | "false") => false,
            _ => {
                let why = format!("{name}={value}: there is whole=1");
                return Err(Failure::new(errors::INVALID, why));
            }
        };
    }
    Ok(is_whole)
}

/// An address without its port.
fn host(address: &str) -> &str {
    let without_port = address.rsplit_once(':').map_or(address, |(host, _)| host);
    let host = without_port.trim_matches(['[', ']']);
    match host.parse::<IpAddr>() {
        Ok(_) => host,
        Err(_) => "localhost",
    }
}

/// GET /tail/{category}: messages as they are taken, a JSON object a line; an empty line is a sign of life.
async fn tail(State(door): State<Door>, Path(category): Path<String>) -> Result<Response, Refusal> {
    let server = Arc::clone(&door.server);
    let name = category.strip_suffix('*').unwrap_or(&category);
    if name.len() == category.len() && !door.scribe.takes(name.as_bytes())? {
        return Err(no_store(name).into());
    }
    server.permit(&Guest::new(&server).session, Action(Deed::Read, None))?;
    let following = door.scribe.followers.follow(&category).ok_or_else(|| {
        let why = "as many clients follow as may: try again when one has gone";
        Failure::new(errors::OVERLOADED, why)
    })?;
    let (sender, receiver) = mpsc::channel(PIECES_AHEAD);
    tokio::spawn(show(server, following, sender));
    let headers = [
        (header::CONTENT_TYPE, "application/x-ndjson"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    Ok((StatusCode::OK, headers, Body::new(Coming(receiver))).into_response())
}

/// Sends what waits until the client goes or the server stops.
async fn show(server: Arc<Server>, following: Following, sender: mpsc::Sender<Bytes>) {
    let mut stopping = server.stopping();
    loop {
        tokio::select! {
            biased;
            () = sender.closed() => return,
            _ = stopping.wait_for(|stop| *stop) => return,
            () = following.came() => {}
            () = tokio::time::sleep(EVENT_BEAT) => {}
        }
        let waiting = following.take();
        let piece = match waiting.is_empty() {
            true => Bytes::from_static(b"\n"),
            false => {
                let held = server.budget.grant();
                let mut lines = written(&waiting);
                if held.cover(lines.len()).is_err() {
                    let skipped = waiting.messages.len() as u64 + waiting.skipped;
                    lines = format!("{{\"skipped\":{skipped}}}\n").into_bytes();
                }
                held_piece(lines, held)
            }
        };
        if sender.send(piece).await.is_err() {
            return;
        }
    }
}

/// Messages without the line feed behind them, and the number of those that were skipped.
fn written(waiting: &Waiting) -> Vec<u8> {
    let mut lines = Vec::new();
    for shown in &waiting.messages {
        let body = shown.body.strip_suffix(b"\n").unwrap_or(&shown.body);
        let mut line = json!({
            "category": String::from_utf8_lossy(&shown.category),
            "message": String::from_utf8_lossy(body),
        });
        if shown.length > shown.body.len() {
            line["length"] = shown.length.into();
        }
        lines.extend_from_slice(line.to_string().as_bytes());
        lines.push(b'\n');
    }
    if waiting.skipped > 0 {
        let skipped = json!({ "skipped": waiting.skipped });
        lines.extend_from_slice(skipped.to_string().as_bytes());
        lines.push(b'\n');
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::host;

    #[test]
    fn a_host_is_an_address_without_its_port() {
        for (written, wanted) in [
            ("10.0.0.1:5", "10.0.0.1"),
            ("[::1]:5", "::1"),
            ("unix", "localhost"),
        ] {
            assert_eq!(host(written), wanted);
        }
    }
}
