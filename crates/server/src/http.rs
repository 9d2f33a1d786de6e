//! The HTTP door: SQL, bulk loads, searches, standing queries, queues, health and metrics.
//!
//! To add a route: a line in [`routes`], or in the `routes` of a submodule, and its handler. All routes but the two of health
//! and those of pages of other sites ([`touches`]) need the login, if one is set. A path that is none of ours goes to the Elasticsearch routes ([`es`]).

mod address;
mod body;
mod bulk;
mod cli;
mod collect_routes;
mod document;
mod es;
mod guard;
mod heads;
mod health;
mod histograms;
mod hits;
mod members;
mod pq;
mod queue_routes;
mod reply;
mod search;
mod sql;
mod table;
mod touches;

use std::ops::Deref;
use std::sync::Arc;

use axum::Router;
use axum::handler::Handler;
use axum::routing::{any, get, post};
use engine::{Command, Reply, Snapshot};
use heads::{Course, Timely};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use session::errors::Failure;
use session::places::Peer;
use session::searches::SearchRequest;
use session::{Action, Deed, Session};
use tokio::io::AsyncWriteExt;

use crate::limits::{CONNECTION_BUFFER_BYTES, HTTP_IDLE_TIMEOUT};
use crate::listen::{Listener, Stream, TimedStream};
use crate::scribe::Scribe;
use crate::server::{Admitted, Server};

/// State of every handler.
#[derive(Clone)]
struct Door {
    server: Arc<Server>,
    /// The collector of /collect and /tail.
    scribe: Arc<Scribe>,
    /// Whether only this machine reaches the listener. Its Host header must then be a name of this machine.
    local: bool,
}

pub(crate) use touches::prepare as prepare_touches;

/// Serves one listener until the server stops. Connections then end after their request.
pub(crate) async fn listen(server: Arc<Server>, scribe: Arc<Scribe>, listener: Listener) {
    let local = listener.is_local();
    let router = routes(Door {
        server: Arc::clone(&server),
        scribe,
        local,
    });
    let connected = |stream| connection(Arc::clone(&server), router.clone(), stream);
    server.accept("http", listener, connected).await;
}

fn routes(door: Door) -> Router {
    let guarded = Router::new()
        .route("/sql", get(sql::answer).post(sql::answer))
        .route("/cli", get(cli::text).post(cli::text))
        .route("/cli_json", get(cli::json).post(cli::json))
        .route("/bulk", post(bulk::post))
        .route("/search", post(search::post))
        .route("/metrics", get(health::metrics))
        // Reserved for later pages of this server, so that the Elasticsearch routes do not take them.
        .route("/_seine", any(guard::no_such_path))
        .route("/_seine/", any(guard::no_such_path))
        .route("/_seine/{*path}", any(guard::no_such_path))
        .merge(document::routes())
        .merge(pq::routes())
        .merge(queue_routes::routes())
        .merge(collect_routes::routes())
        .merge(touches::routes())
        .route_layer(axum::middleware::from_fn(address::read_alone))
        .route_layer(axum::middleware::from_fn_with_state(
            door.clone(),
            guard::login,
        ));
    Router::new()
        .merge(guarded)
        .route("/livez", get(health::livez))
        .route("/readyz", get(health::readyz))
        .fallback(es::answer.layer(axum::middleware::from_fn_with_state(
            door.clone(),
            guard::login,
        )))
        .method_not_allowed_fallback(guard::wrong_method)
        .layer(axum::middleware::from_fn_with_state(
            door.clone(),
            guard::own_page,
        ))
        .merge(touches::open_routes())
        .layer(axum::middleware::from_fn_with_state(
            door.clone(),
            guard::underway,
        ))
        .with_state(door)
}

/// A session of one request, without a user name. Dropping it ends the session, however the request ends.
struct Guest<'a> {
    server: &'a Server,
    session: Session,
}

impl<'a> Guest<'a> {
    fn new(server: &'a Server) -> Guest<'a> {
        let id = server.next_session();
        let session = Session::new(id, String::new(), "http".to_owned(), None);
        let session = match peer() {
            Some(peer) => session.at(&peer),
            None => session,
        };
        Guest { server, session }
    }

    /// The published snapshot, to read this table.
    fn reads(&self, table: &str) -> Result<Arc<Snapshot>, Failure> {
        let reads = Action(Deed::Read, Some(table));
        self.server.snapshot(&self.session, reads)
    }

    async fn submit(&self, command: Command) -> Result<Reply, Failure> {
        self.server.submit(&self.session, command).await
    }

    /// The request's entry among the running searches: shown by its address, and ended when its client is gone.
    fn search_request(&self, since_us: u64, address: &str) -> SearchRequest {
        SearchRequest {
            session: self.session.id.0,
            since_us,
            until_us: None,
            text: address.into(),
            client: self.session.client.clone(),
        }
    }
}

impl Deref for Guest<'_> {
    type Target = Server;

    fn deref(&self) -> &Server {
        self.server
    }
}

impl Drop for Guest<'_> {
    fn drop(&mut self) {
        self.server.close_session(&self.session);
    }
}

tokio::task_local! {
    /// Connection of this task. A handler's argument is only the request, so it finds its connection here.
    static COURSE: Arc<Course>;
}

/// The peer of this task's connection; `None` outside of one.
fn peer() -> Option<Arc<Peer>> {
    course().map(|course| Arc::clone(course.peer()))
}

/// The user whose turns this task's long work takes: its client's address.
fn payer() -> Arc<str> {
    peer().map_or_else(|| "http".into(), |peer| peer.remote.to_string().into())
}

/// This task's connection and its stage; `None` outside of one.
fn course() -> Option<Arc<Course>> {
    COURSE.try_with(Arc::clone).ok()
}

async fn connection(server: Arc<Server>, router: Router, stream: Stream) {
    let patience = server.settings().live.client_timeout;
    let admitted = server.admit("http", &stream);
    let mut stream = TimedStream::new(stream, patience);
    let admitted: Admitted = match admitted {
        Ok(admitted) => admitted,
        Err(failure) => {
            // Whether the client reads the refusal does not matter.
            let _ = stream.write_all(&reply::raw(&failure)).await;
            let _ = stream.shutdown().await;
            return;
        }
    };
    let course = Course::new(Arc::clone(&server), Arc::clone(&admitted.peer));
    let stream = Timely::new(stream, Arc::clone(&course));
    COURSE
        .scope(course, converse(&server, router, stream, &admitted))
        .await;
}

/// Serves the requests of a connection, one after the other.
async fn converse(server: &Server, router: Router, stream: Timely, admitted: &Admitted) {
    let service = TowerToHyperService::new(router);
    let mut served = std::pin::pin!(
        http1::Builder::new()
            .max_buf_size(CONNECTION_BUFFER_BYTES)
            .timer(TokioTimer::new())
            .header_read_timeout(HTTP_IDLE_TIMEOUT)
            .serve_connection(TokioIo::new(stream), service)
    );
    let mut stopping = server.stopping();
    tokio::select! {
        ended = served.as_mut() => return report(ended),
        () = admitted.peer.killed.notified() => return,
        _ = stopping.wait_for(|stop| *stop) => served.as_mut().graceful_shutdown(),
    }
    report(served.await);
}

/// Logs a connection that ended with an error, at level debug: it is nearly always the client's doing.
fn report(ended: Result<(), hyper::Error>) {
    if let Err(error) = ended {
        tracing::debug!(%error, "an HTTP connection ended");
    }
}
