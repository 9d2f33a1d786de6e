//! Reads the body of a request: bounded in size and time, with memory from the budget.

use std::future::poll_fn;
use std::io::Read;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::header::CONTENT_ENCODING;
use axum::http::{HeaderMap, HeaderValue};
use flate2::read::MultiGzDecoder;
use language::pattern::names_regex;
use session::errors::{self, Failure};
use session::limits::PARSE_INLINE_BYTES;
use session::movable::long_turn;
use session::{Grant, Room};

use super::heads::Course;
use crate::limits::BODY_BYTES_MAX;
use crate::listen::{Pace, TooSlow};
use crate::server::Server;

/// Bytes that are unpacked between two checks of the limit.
const UNPACKED_AT_ONCE: usize = 32 << 10;

/// A body that is read piece by piece.
pub(super) struct Pieces {
    body: Body,
    patience: Duration,
    course: Option<Arc<Course>>,
}

impl Pieces {
    /// A body whose pieces may be `patience` apart.
    pub(super) fn new(body: Body, patience: Duration) -> Pieces {
        Pieces {
            body,
            patience,
            course: super::course(),
        }
    }

    /// The next bytes; `None` at the end. Errors: `MALFORMED_BODY`, also after a pause of `patience`.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, Failure> {
        match tokio::time::timeout(self.patience, self.piece()).await {
            Ok(piece) => piece,
            Err(_) => Err(stopped()),
        }
    }

    /// As [`Pieces::next`], without a time limit.
    async fn piece(&mut self) -> Result<Option<Bytes>, Failure> {
        loop {
            let body = &mut self.body;
            let frame = poll_fn(|context| Pin::new(&mut *body).poll_frame(context));
            let frame = match &self.course {
                Some(course) => course.owed(frame).await,
                None => frame.await,
            };
            match frame {
                None => return Ok(None),
                Some(Ok(frame)) => {
                    // Trailers are ignored.
                    if let Ok(bytes) = frame.into_data() {
                        return Ok(Some(bytes));
                    }
                }
                Some(Err(error)) => {
                    let message = format!("the body cannot be read: {error}");
                    return Err(Failure::new(errors::MALFORMED_BODY, message));
                }
            }
        }
    }
}

/// Whether a body is packed by gzip.
///
/// # Errors
/// `UNREAD_ENCODING`: its `Content-Encoding` is neither gzip nor identity.
pub(super) fn is_packed(headers: &HeaderMap) -> Result<bool, Failure> {
    let mut names = headers.get_all(CONTENT_ENCODING).iter();
    let encoding = names.next().map_or(&b"identity"[..], HeaderValue::as_bytes);
    let is_only = names.next().is_none();
    match encoding.to_ascii_lowercase().trim_ascii() {
        b"gzip" | b"x-gzip" if is_only => Ok(true),
        b"identity" | b"" if is_only => Ok(false),
        _ => Err(unread(encoding, "gzip and identity are read")),
    }
}

/// As [`is_packed`], for paths that read no packed bodies.
///
/// # Errors
/// `UNREAD_ENCODING`: it is packed.
pub(super) fn not_packed(headers: &HeaderMap) -> Result<(), Failure> {
    match is_packed(headers) {
        Ok(false) => Ok(()),
        Ok(true) => Err(unread(b"gzip", "this path reads identity alone")),
        Err(failure) => Err(failure),
    }
}

fn unread(encoding: &[u8], read: &str) -> Failure {
    let message = format!("Content-Encoding {}: {read}", encoding.escape_ascii());
    Failure::new(errors::UNREAD_ENCODING, message)
}

/// As [`as_sent`], of a path that reads no packed bodies.
///
/// # Errors
/// Those of [`as_sent`], and `UNREAD_ENCODING`.
pub(super) async fn whole(
    server: &Server,
    request: Request<Body>,
    held: &Grant,
) -> Result<Vec<u8>, Failure> {
    not_packed(request.headers())?;
    as_sent(server, request, held).await
}

/// Reads a whole body of at most [`BODY_BYTES_MAX`], packed or not. Its buffer grows with the bytes that arrive, not with the announced
/// length. `held` takes the memory from the budget before each growth.
///
/// # Errors
/// `PACKET_TOO_LARGE`; `MALFORMED_BODY`: cut off or slower than its [`Pace`]; `LIMIT`, `OVERLOADED`.
pub(super) async fn as_sent(
    server: &Server,
    request: Request<Body>,
    held: &Grant,
) -> Result<Vec<u8>, Failure> {
    within(server, request, held, BODY_BYTES_MAX).await
}

/// As [`as_sent`], of at most `bytes_max`.
///
/// # Errors
/// Those of [`as_sent`].
pub(super) async fn within(
    server: &Server,
    request: Request<Body>,
    held: &Grant,
    bytes_max: usize,
) -> Result<Vec<u8>, Failure> {
    let body = request.into_body();
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if announced > bytes_max {
        return Err(too_long(bytes_max));
    }
    // A chunked body announces no length.
    let most = match announced {
        0 => bytes_max,
        _ => announced,
    };
    let mut pace = Pace::new(server.settings().live.client_timeout);
    let mut pieces = Pieces::new(body, Duration::MAX);
    let mut bytes = Vec::new();
    loop {
        let piece = pace.next(held, pieces.piece()).await;
        let Some(piece) = piece.map_err(|TooSlow| stopped())?? else {
            return Ok(bytes);
        };
        pace.came(piece.len());
        let length = bytes.len() + piece.len();
        if length > bytes_max {
            return Err(too_long(bytes_max));
        }
        if length > bytes.capacity() {
            let capacity = length.max((bytes.len() * 2).min(most));
            if held.reserve(capacity).await? == Room::Waited {
                pace.again();
            }
            bytes.reserve_exact(capacity - bytes.len());
        }
        bytes.extend_from_slice(&piece);
    }
}

fn stopped() -> Failure {
    Failure::new(
        errors::MALFORMED_BODY,
        "the body stopped in the middle, or came too slowly",
    )
}

/// Takes memory for a JSON body and the values that it is parsed to: see [`wire::json::memory_bytes`].
pub(super) async fn room_for_json(
    bytes: &[u8],
    fields_depth: usize,
    held: &Grant,
) -> Result<(), Failure> {
    let read = || wire::json::memory_bytes(bytes, fields_depth);
    let bytes_all = bytes.len() + at_length(bytes.len(), read).await;
    held.reserve(bytes_all).await.map(|_| ())
}

/// Does work that reads `bytes` bytes; in a turn if there are more than [`PARSE_INLINE_BYTES`].
pub(super) async fn at_length<T>(bytes: usize, work: impl FnOnce() -> T) -> T {
    if bytes > PARSE_INLINE_BYTES {
        long_turn(&super::payer()).await;
    }
    work()
}

/// Reads a text; in a turn if it is long or may hold regular expressions, each of which takes milliseconds to compile.
pub(super) async fn parsed<T>(text: &[u8], read: impl FnOnce() -> T) -> T {
    if text.len() > PARSE_INLINE_BYTES || names_regex(text) {
        long_turn(&super::payer()).await;
    }
    read()
}

fn too_long(bytes_max: usize) -> Failure {
    Failure::new(
        errors::PACKET_TOO_LARGE,
        format!("the body is longer than {bytes_max} bytes"),
    )
}

/// As [`unpacked`], in a turn.
///
/// # Errors
/// Those of [`unpacked`].
pub(super) async fn unpacked_in_turn(body: &[u8], held: &Grant) -> Result<Vec<u8>, Failure> {
    long_turn(&super::payer()).await;
    unpacked(body, held)
}

/// Unpacks a body of gzip, to at most [`BODY_BYTES_MAX`].
///
/// # Errors
/// `SYNTAX`: no gzip; `PACKET_TOO_LARGE`; `OVERLOADED`.
fn unpacked(body: &[u8], held: &Grant) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let mut packed = MultiGzDecoder::new(body);
    let mut piece = vec![0; UNPACKED_AT_ONCE];
    loop {
        let read = packed.read(&mut piece).map_err(|error| {
            let message = format!("the body is no gzip: {error}");
            Failure::new(errors::SYNTAX, message)
        })?;
        if read == 0 {
            return Ok(bytes);
        }
        if bytes.len() + read > BODY_BYTES_MAX {
            let message = format!("the body is longer than {BODY_BYTES_MAX} bytes");
            return Err(Failure::new(errors::PACKET_TOO_LARGE, message));
        }
        // The buffer of the bytes exists twice while it grows.
        held.cover(body.len() + 2 * (bytes.len() + read))?;
        bytes.extend_from_slice(&piece[..read]);
    }
}
