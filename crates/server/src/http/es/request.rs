//! Requests, read whole, and the form of their replies.

use std::io::Write;

use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{ACCEPT, ACCEPT_ENCODING};
use axum::http::{HeaderMap, HeaderValue};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value as Json;
use session::Grant;
use session::errors::Failure;
use wire::es::{EsError, filter_path, pretty};

use super::failed;
use crate::http::body;
use crate::http::sql::parameters;
use crate::server::Server;

/// Smallest reply that is packed by gzip, in bytes. Packing a smaller one costs more than it saves.
const PACKED_BYTES_MIN: usize = 1 << 10;

/// A request that is read whole.
pub(super) struct EsRequest {
    /// Parameters behind the `?`, in order.
    pub parameters: Vec<(String, String)>,
    /// The unpacked body.
    pub body: Vec<u8>,
    /// Form of the reply.
    pub reply: ReplyAs,
    /// Memory of the body and of the values parsed from it.
    _held: Grant,
    /// Memory of the reply.
    pub written: Grant,
}

/// Form of a reply.
pub(super) struct ReplyAs {
    /// JSON, in the version that the request's `Accept` names.
    pub content_type: HeaderValue,
    packed: bool,
    pretty: bool,
    filter_path: Option<String>,
}

impl EsRequest {
    /// Reads a request. An error comes with the form of its reply.
    pub(super) async fn read(
        server: &Server,
        request: Request<Body>,
    ) -> Result<EsRequest, (ReplyAs, EsError)> {
        let parameters = parameters(request.uri().query().unwrap_or("").as_bytes());
        let reply = ReplyAs::read(request.headers(), &parameters);
        let held = server.budget.grant();
        let body = body(server, request, &held).await;
        match body.map_err(|failure| failed(failure, "")) {
            Ok(body) => Ok(EsRequest {
                parameters,
                body,
                reply,
                _held: held,
                written: server.budget.grant(),
            }),
            Err(error) => Err((reply, error)),
        }
    }

    /// Value of a parameter; empty if it has no `=`.
    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    /// Whether a parameter is given and not `false`.
    pub(super) fn is_set(&self, name: &str) -> bool {
        self.parameter(name).is_some_and(|value| value != "false")
    }

    /// The body as JSON; null if it is blank.
    pub(super) fn json(&self) -> Result<Json, EsError> {
        json(&self.body)
    }
}

/// Parses JSON; null if the text is blank.
pub(super) fn json(body: &[u8]) -> Result<Json, EsError> {
    if body.trim_ascii().is_empty() {
        return Ok(Json::Null);
    }
    wire::json::parse(body)
        .map_err(|error| EsError::new(400, "json_parse_exception", error.to_string()))
}

impl ReplyAs {
    fn read(headers: &HeaderMap, parameters: &[(String, String)]) -> ReplyAs {
        let accept = header(headers, &ACCEPT);
        let named = accept
            .split(',')
            .map(str::trim)
            .find(|kind| kind.starts_with("application/vnd.elasticsearch+json"));
        let named = named.and_then(|kind| HeaderValue::from_str(kind).ok());
        let parameter = |name: &str| {
            parameters
                .iter()
                .find(|(known, _)| known == name)
                .map(|(_, value)| value.clone())
        };
        ReplyAs {
            content_type: named.unwrap_or(HeaderValue::from_static("application/json")),
            packed: header(headers, &ACCEPT_ENCODING).contains("gzip"),
            pretty: parameter("pretty").is_some_and(|value| value != "false"),
            filter_path: parameter("filter_path").filter(|paths| !paths.is_empty()),
        }
    }

    /// The body cut to `filter_path`, and with line breaks if `pretty` asks for them.
    pub(super) fn shaped(&self, mut body: String) -> String {
        if let Some(paths) = &self.filter_path {
            body = filter_path(&body, paths);
        }
        if self.pretty { pretty(&body) } else { body }
    }

    /// The bytes to send, and whether they are packed.
    pub(super) fn packed(&self, bytes: Vec<u8>) -> (Vec<u8>, bool) {
        if !self.packed || bytes.len() < PACKED_BYTES_MIN {
            return (bytes, false);
        }
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        // Writing to a vector cannot fail; if it did, the bytes would go unpacked.
        match packed.write_all(&bytes).and_then(|()| packed.finish()) {
            Ok(packed) => (packed, true),
            Err(_) => (bytes, false),
        }
    }
}

/// Reads a body, unpacks it, and takes memory for its JSON values.
async fn body(server: &Server, request: Request<Body>, held: &Grant) -> Result<Vec<u8>, Failure> {
    let is_packed = body::is_packed(request.headers())?;
    let mut bytes = body::as_sent(server, request, held).await?;
    if is_packed {
        bytes = body::unpacked_in_turn(&bytes, held).await?;
    }
    // The documents of a bulk body are copied out of it.
    body::room_for_json(&bytes, 0, held).await?;
    Ok(bytes)
}

fn header<'h>(headers: &'h HeaderMap, name: &axum::http::HeaderName) -> &'h str {
    headers
        .get(name)
        .and_then(|value| value.to_str().ok())
        .unwrap_or("")
}
