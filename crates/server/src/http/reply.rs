//! Replies of the HTTP door: errors, and bodies that hold memory until they are sent.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hyper::body::{Frame, SizeHint};
use serde_json::json;
use tokio::sync::mpsc;

use session::Grant;
use session::errors::{self, Failure};

/// Value of Retry-After, in seconds, for a client that was refused by overload.
const RETRY_AFTER_S: &str = "1";

/// A failure as an HTTP reply: its status, and a JSON [`body`].
pub(super) struct Refusal(pub Failure);

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Refusal {
        Refusal(failure)
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = json_bytes(status(self.0.kind.status), body(&self.0).into_bytes());
        if is_overload(&self.0) {
            let after = HeaderValue::from_static(RETRY_AFTER_S);
            response.headers_mut().insert(header::RETRY_AFTER, after);
        }
        response
    }
}

/// A status number of the table of errors.
pub(super) fn status(number: u16) -> StatusCode {
    StatusCode::from_u16(number).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// A JSON reply. It keeps the memory of `held` until the client has taken the body or is gone.
pub(super) fn held_bytes(status: StatusCode, body: Vec<u8>, held: Grant) -> Response {
    self::held(status, "application/json", body, held)
}

/// As [`held_bytes`], for a body of the content type `kind`.
pub(super) fn held(status: StatusCode, kind: &'static str, body: Vec<u8>, held: Grant) -> Response {
    let rest = held_piece(body, held);
    let body = Body::new(Written { rest });
    (status, [(header::CONTENT_TYPE, kind)], body).into_response()
}

/// Bytes that keep the memory of `held` until they are sent or dropped.
pub(super) fn held_piece(body: Vec<u8>, held: Grant) -> Bytes {
    held.keep(body.len());
    Bytes::from_owner(HeldBody { body, _grant: held })
}

/// Bytes of a body that the connection gets at a time. It copies them, and other tasks wait meanwhile.
const PIECE_BYTES: usize = 64 << 10;

/// A finished body that goes out piece by piece.
struct Written {
    rest: Bytes,
}

impl HttpBody for Written {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let next = self.rest.len().min(PIECE_BYTES);
        let piece = self.rest.split_to(next);
        Poll::Ready((next > 0).then(|| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.rest.len() as u64)
    }
}

/// A body whose pieces go out as they come. Dropping it tells the sender that the client is gone.
pub(super) struct Coming(pub mpsc::Receiver<Bytes>);

impl HttpBody for Coming {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let next = self.0.poll_recv(context);
        next.map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}

/// A body with the memory that it holds.
struct HeldBody {
    body: Vec<u8>,
    _grant: Grant,
}

impl AsRef<[u8]> for HeldBody {
    fn as_ref(&self) -> &[u8] {
        &self.body
    }
}

/// A JSON reply that holds no memory of the budget.
pub(super) fn json_bytes(status: StatusCode, body: Vec<u8>) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], body).into_response()
}

/// A whole HTTP reply as bytes, for a connection that is refused before hyper serves it.
pub(super) fn raw(failure: &Failure) -> Vec<u8> {
    let body = body(failure);
    format!(
        "HTTP/1.1 {} Refused\r\ncontent-type: application/json\r\nretry-after: {RETRY_AFTER_S}\r\n\
         content-length: {}\r\nconnection: close\r\n\r\n{body}",
        failure.kind.status,
        body.len()
    )
    .into_bytes()
}

/// `{"error":{"type":…,"reason":…,"errno":…},"status":…}`
pub(super) fn body(failure: &Failure) -> String {
    json!({
        "error": {
            "type": failure.kind.code,
            "reason": failure.message,
            "errno": failure.kind.errno,
        },
        "status": failure.kind.status,
    })
    .to_string()
}

fn is_overload(failure: &Failure) -> bool {
    [
        errors::OVERLOADED,
        errors::QUEUE_FULL,
        errors::TOO_MANY_CONNECTIONS,
        errors::RECOVERING,
    ]
    .contains(&failure.kind)
}
