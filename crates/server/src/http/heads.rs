//! The stream of an HTTP connection, with a time limit for the head of each request.
//!
//! hyper has only one limit, for a head together with the silence before it. It serves as the limit of the silence here. A head
//! has [`HTTP_HEAD_TIMEOUT`] from its first byte; the first head of a connection has it from the connection's beginning.
//!
//! ```text
//!          first byte              head complete: owes nothing
//! SILENT ──────────────→ HEAD ──────────────────────────────────→ REQUEST
//!    ↑                    ↑ a new connection begins here             │
//!    └───────────────────────────────────────────────────────────────┘
//!              last byte of the reply is written: owes the next request
//! ```

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll, ready};

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use session::places::Peer;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

use crate::limits::HTTP_HEAD_TIMEOUT;
use crate::listen::TimedStream;
use crate::server::Server;

/// Stage between two requests.
const SILENT: u8 = 0;
/// Stage while a head is coming.
const HEAD: u8 = 1;
/// Stage while a body is read or the reply is written.
const REQUEST: u8 = 2;

/// Stage of one HTTP connection.
pub(super) struct Course {
    server: Arc<Server>,
    peer: Arc<Peer>,
    stage: AtomicU8,
}

/// A request in progress. Dropping it ends the request: the connection then owes the next one.
pub(super) struct Underway(Arc<Course>);

impl Course {
    /// The course of a new connection, which owes its first head.
    pub(super) fn new(server: Arc<Server>, peer: Arc<Peer>) -> Arc<Course> {
        Arc::new(Course {
            server,
            peer,
            stage: AtomicU8::new(HEAD),
        })
    }

    /// The connection's entry in [`session::places::Places`].
    pub(super) fn peer(&self) -> &Arc<Peer> {
        &self.peer
    }

    /// Begins a request: its head has come.
    pub(super) fn begin(self: &Arc<Course>) -> Underway {
        self.stage.store(REQUEST, Ordering::Relaxed);
        self.peer.owes_nothing();
        Underway(Arc::clone(self))
    }

    /// Waits for `wait`; the connection owes meanwhile. For more of a body, or for the delay after failed logins.
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

/// The body of a reply. Its request lasts until the last byte is handed to the connection.
pub(super) struct Replying {
    body: Body,
    _underway: Underway,
}

impl Replying {
    /// The body of the reply to this request.
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

/// The stream of a connection. A read fails with `TimedOut` if a head comes too late.
pub(super) struct Timely {
    stream: TimedStream,
    course: Arc<Course>,
    /// Timer of the head that is coming.
    late: Option<Pin<Box<Sleep>>>,
}

impl Timely {
    /// A stream that sets and obeys the stage of `course`.
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
