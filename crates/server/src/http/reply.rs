//! Replies of the HTTP door, errors first.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::errors::{self, Failure};

/// Seconds after which a client that was refused for lack of room should come back.
const RETRY_AFTER_S: &str = "1";

/// A failure as an HTTP reply: its status, and JSON with its code, its message and MySQL's number.
pub struct Refusal(pub Failure);

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Refusal {
        Refusal(failure)
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status =
            StatusCode::from_u16(self.0.kind.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = json_bytes(status, body(&self.0).into_bytes());
        if is_overload(&self.0) {
            let after = HeaderValue::from_static(RETRY_AFTER_S);
            response.headers_mut().insert(header::RETRY_AFTER, after);
        }
        response
    }
}

/// JSON that is written already.
pub fn json_bytes(status: StatusCode, body: Vec<u8>) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], body).into_response()
}

/// A whole HTTP reply as bytes, for a connection that gets no other.
pub fn raw(failure: &Failure) -> Vec<u8> {
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
pub fn body(failure: &Failure) -> String {
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
