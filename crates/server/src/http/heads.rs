//! The stream of an HTTP connection: the head of a request comes in time, or the connection ends.
//!
//! hyper has one time limit for a head and for the silence before it. Here a head has [`HTTP_HEAD_TIMEOUT`] from its first byte,
//! the first one from the beginning of the connection, and hyper's limit is for the silence between two requests.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll, ready};

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

use crate::limits::HTTP_HEAD_TIMEOUT;
use crate::listen::TimedStream;
use crate::server::Server;
use session::places::Peer;

/// Between two requests.
const SILENT: u8 = 0;
/// A head is coming.
const HEAD: u8 = 1;
/// A head has come, and its request is read or answered.
const REQUEST: u8 = 2;

/// What one HTTP connection is in the middle of.
pub(super) struct Course {
    server: Arc<Server>,
    peer: Arc<Peer>,
    stage: AtomicU8,
}

/// A request under way; when it is dropped, the next one may come.
pub(super) struct Underway(Arc<Course>);

impl Course {
    /// Of a new connection.
    pub(super) fn new(server: Arc<Server>, peer: Arc<Peer>) -> Arc<Course> {
        Arc::new(Course {
            server,
            peer,
            stage: AtomicU8::new(HEAD),
        })
    }

    /// The connection.
    pub(super) fn peer(&self) -> &Arc<Peer> {
        &self.peer
    }

    /// A head has come.
    pub(super) fn begin(self: &Arc<Course>) -> Underway {
        self.stage.store(REQUEST, Ordering::Relaxed);
        self.peer.owes_nothing();
        Underway(Arc::clone(self))
    }

    /// Waits for what the client owes: more of a body, or the time that its failed logins cost.
    pub(super) async fn owed<T>(&self, wait: impl Future<Output = T>) -> T {
        self.peer.owes(self.server.clock.steady_us());
        let done = wait.await;
        self.peer.owes_nothing();
        done
    }
}

impl Drop for Underway {
    fn drop(&mut self) {
        self.0.peer.owes(self.0.server.clock.steady_us());
        self.0.stage.store(SILENT, Ordering::Relaxed);
    }
}

/// The body of a reply: its request is under way until the last byte is written.
pub(super) struct Replying {
    body: Body,
    _underway: Underway,
}

impl Replying {
    /// A reply to this request.
    pub(super) fn new(body: Body, underway: Underway) -> Replying {
        Replying {
            body,
            _underway: underway,
        }
    }
}

impl HttpBody for Replying {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The stream.
pub(super) struct Timely {
    stream: TimedStream,
    course: Arc<Course>,
    /// Runs while a head is coming.
    late: Option<Pin<Box<Sleep>>>,
}

impl Timely {
    /// The stream of this connection.
    pub(super) fn new(stream: TimedStream, course: Arc<Course>) -> Timely {
        Timely {
            stream,
            course,
            late: None,
        }
    }
}

impl AsyncRead for Timely {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let polled = Pin::new(&mut this.stream).poll_read(context, buffer);
        let stage = &this.course.stage;
        if polled.is_ready() {
            let _ = stage.compare_exchange(SILENT, HEAD, Ordering::Relaxed, Ordering::Relaxed);
            return polled;
        }
        if stage.load(Ordering::Relaxed) != HEAD {
            this.late = None;
            return Poll::Pending;
        }
        let patience = this.course.server.faults.http_head(HTTP_HEAD_TIMEOUT);
        let late = this
            .late
            .get_or_insert_with(|| Box::pin(sleep_until(Instant::now() + patience)));
        ready!(late.as_mut().poll(context));
        Poll::Ready(Err(io::Error::new(
            io::ErrorKind::TimedOut,
            "the head of a request did not come in time",
        )))
    }
}

impl AsyncWrite for Timely {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}
