//! Reading the body of a request: bounded, and never waiting for ever.

use std::future::poll_fn;
use std::pin::Pin;
use std::time::Duration;

use axum::body::{Body, HttpBody};

use crate::errors::{self, Failure};

/// A body, piece by piece.
pub struct Pieces {
    body: Body,
    patience: Duration,
}

impl Pieces {
    /// Gives up when nothing comes for `patience`.
    pub fn new(body: Body, patience: Duration) -> Pieces {
        Pieces { body, patience }
    }

    /// The next bytes; `None` at the end.
    pub async fn next(&mut self) -> Result<Option<impl AsRef<[u8]> + use<>>, Failure> {
        loop {
            let frame = poll_fn(|context| Pin::new(&mut self.body).poll_frame(context));
            let Ok(frame) = tokio::time::timeout(self.patience, frame).await else {
                return Err(Failure::new(
                    errors::MALFORMED_BODY,
                    "the body stopped in the middle",
                ));
            };
            match frame {
                None => return Ok(None),
                Some(Ok(frame)) => {
                    // Trailers are not looked at.
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

/// The whole body, at most `bytes_max` of it. Memory grows with what arrives, not with what is announced.
pub async fn whole(body: Body, patience: Duration, bytes_max: usize) -> Result<Vec<u8>, Failure> {
    let announced = body.size_hint().lower();
    let mut pieces = Pieces::new(body, patience);
    let mut bytes = Vec::new();
    if announced > bytes_max as u64 {
        return Err(too_long(bytes_max));
    }
    while let Some(piece) = pieces.next().await? {
        bytes.extend_from_slice(piece.as_ref());
        if bytes.len() > bytes_max {
            return Err(too_long(bytes_max));
        }
    }
    Ok(bytes)
}

fn too_long(bytes_max: usize) -> Failure {
    Failure::new(
        errors::PACKET_TOO_LARGE,
        format!("the body is longer than {bytes_max} bytes"),
    )
}
