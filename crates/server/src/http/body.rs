//! Reading the body of a request: bounded, never waiting for ever, and with room for a large one.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use tokio::sync::OwnedSemaphorePermit;

use super::heads::Course;
use crate::errors::{self, Failure};
use crate::limits::{BODY_BYTES_MAX, REQUEST_BYTES_FREE};
use crate::listen::{Pace, TooSlow};
use crate::node::Node;

/// A body, piece by piece.
pub struct Pieces {
    body: Body,
    patience: Duration,
    course: Option<Arc<Course>>,
}

impl Pieces {
    /// Gives up when nothing comes for `patience`.
    pub fn new(body: Body, patience: Duration) -> Pieces {
        Pieces {
            body,
            patience,
            course: super::course(),
        }
    }

    /// The next bytes; `None` at the end.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Failure> {
        match tokio::time::timeout(self.patience, self.piece()).await {
            Ok(piece) => piece,
            Err(_) => Err(stopped()),
        }
    }

    /// The same, however long it takes.
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

/// The whole body of a request, at most [`BODY_BYTES_MAX`] of it, and room for it where it is large, which is to be held as long
/// as the bytes. Memory grows with what arrives, not with what is announced; room is taken once a large part has arrived.
pub async fn whole(
    node: &Node,
    request: Request<Body>,
) -> Result<(Vec<u8>, Option<OwnedSemaphorePermit>), Failure> {
    let body = request.into_body();
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if announced > BODY_BYTES_MAX {
        return Err(too_long(BODY_BYTES_MAX));
    }
    let mut pace = Pace::new(node.settings().live.client_timeout);
    let mut pieces = Pieces::new(body, Duration::MAX);
    let (mut bytes, mut room) = (Vec::new(), None);
    let wanted = || node.is_room_wanted();
    loop {
        let is_wanted = room
            .as_ref()
            .map(|_: &OwnedSemaphorePermit| &wanted as &(dyn Fn() -> bool + Sync));
        let piece = pace.next(is_wanted, pieces.piece()).await;
        let Some(piece) = piece.map_err(|TooSlow| stopped())?? else {
            return Ok((bytes, room));
        };
        pace.came(piece.len());
        bytes.extend_from_slice(&piece);
        if bytes.len() > BODY_BYTES_MAX {
            return Err(too_long(BODY_BYTES_MAX));
        }
        if bytes.len() > REQUEST_BYTES_FREE && room.is_none() {
            // A body in chunks does not say how long it is.
            let most = if announced > 0 {
                announced
            } else {
                BODY_BYTES_MAX
            };
            room = node.room_for(most).await;
            pace.again();
        }
    }
}

fn stopped() -> Failure {
    Failure::new(
        errors::MALFORMED_BODY,
        "the body stopped in the middle, or came too slowly",
    )
}

fn too_long(bytes_max: usize) -> Failure {
    Failure::new(
        errors::PACKET_TOO_LARGE,
        format!("the body is longer than {bytes_max} bytes"),
    )
}
