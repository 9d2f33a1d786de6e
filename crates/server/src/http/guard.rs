//! Checks before each handler: the login, reserved places, and requests that pages of other sites send.

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use session::counters::add;
use session::errors::{self, Failure};
use session::places::Peer;

use super::Door;
use super::heads::Replying;
use super::reply::Refusal;
use crate::server::Server;

/// Passes a request on if it has the right login, or if none is set. After failed logins of an address its next login first
/// waits. A request without a login is refused at once and counts as no failure: many clients send their login only when a
/// 401 asks for it.
pub(super) async fn login(State(door): State<Door>, request: Request, next: Next) -> Response {
    let server = &door.server;
    let settings = server.settings();
    let course = super::course();
    let peer = course.as_deref().map(|course| &**course.peer());
    let Some(login) = &settings.live.login else {
        return placed(server, peer, request, next).await;
    };
    match (text(request.headers(), AUTHORIZATION), &course) {
        (Some(given), Some(course)) => {
            let peer = course.peer();
            // A client that guesses passwords may be evicted while it waits.
            course.owed(server.slow_login(peer)).await;
            if login.accepts_basic(given) {
                server.logins.passed(peer.remote);
                return placed(server, Some(peer), request, next).await;
            }
            server.login_failed(peer);
        }
        _ => add(&server.counters.logins_refused, 1),
    }
    let failure = Failure::new(
        errors::ACCESS_DENIED,
        "access denied: wrong user name or password",
    );
    let mut response = Refusal(failure).into_response();
    let scheme = HeaderValue::from_static("Basic realm=\"seine\", charset=\"UTF-8\"");
    response
        .headers_mut()
        .insert(header::WWW_AUTHENTICATE, scheme);
    response
}

/// Passes a request on, unless its connection holds a reserved place and is not the owner's. Only health checks need not pass
/// here.
async fn placed(server: &Server, peer: Option<&Peer>, request: Request, next: Next) -> Response {
    if peer.is_none_or(|peer| !peer.is_reserved || server.is_owner(peer)) {
        return next.run(request).await;
    }
    let mut response = Refusal(server.no_place("too many connections")).into_response();
    let close = HeaderValue::from_static("close");
    response.headers_mut().insert(header::CONNECTION, close);
    response
}

/// Counts a request, and keeps its connection's place until its reply is sent.
pub(super) async fn underway(State(door): State<Door>, request: Request, next: Next) -> Response {
    add(&door.server.counters.http_requests, 1);
    let underway = super::course().map(|course| course.begin());
    let response = next.run(request).await;
    match underway {
        Some(underway) => response.map(|body| Body::new(Replying::new(body, underway))),
        None => response,
    }
}

/// Refuses requests that a browser sends for a page of another site.
///
/// Any of these is a sign of it:
///
/// - a Host that is no name of this machine (DNS rebinding),
/// - an Origin that is not the Host,
/// - a GET or HEAD that the browser marks as another site's.
pub(super) async fn own_page(State(door): State<Door>, request: Request, next: Next) -> Response {
    let refusal = foreign(request.headers(), door.local)
        .map(|what| format!("{what} is not this server"))
        .or_else(|| cross_site(request.method(), request.headers()));
    match refusal {
        None => next.run(request).await,
        Some(message) => Refusal(Failure::new(errors::FOREIGN_ORIGIN, message)).into_response(),
    }
}

/// Answers 404 to an unknown path.
pub(super) async fn no_such_path(request: Request) -> Response {
    let message = format!("no such path: {}", request.uri().path());
    Refusal(Failure::new(errors::NO_SUCH_PATH, message)).into_response()
}

/// Answers 405 to a known path with another method.
pub(super) async fn wrong_method(request: Request) -> Response {
    let message = format!(
        "{} does not take {}",
        request.uri().path(),
        request.method()
    );
    Refusal(Failure::new(errors::WRONG_METHOD, message)).into_response()
}

/// The header that shows a request to be another site's. Host is checked only if `local`: a server that other machines reach
/// cannot know all its names; it asks for a password instead.
fn foreign(headers: &HeaderMap, local: bool) -> Option<String> {
    let host = text(headers, HOST);
    if let Some(origin) = text(headers, ORIGIN) {
        let same = origin
            .strip_prefix("http://")
            .or_else(|| origin.strip_prefix("https://"));
        if same.is_none() || same != host {
            return Some(format!("origin {origin:?}"));
        }
    }
    host.filter(|host| local && !is_this_machine(host))
        .map(|host| format!("host {host:?}"))
}

/// The refusal of a GET or HEAD that a browser sends for a page of another site, or of another port of this host.
///
/// A link, an image or a form sends no Origin, but some GETs change state: they take rows of a queue. The rule covers all
/// paths, so that none is forgotten. Programs do not send `Sec-Fetch-Site`, and pass.
fn cross_site(method: &Method, headers: &HeaderMap) -> Option<String> {
    if method != Method::GET && method != Method::HEAD {
        return None;
    }
    let mut sites = headers.get_all("sec-fetch-site").iter();
    let foreign = sites.find(|site| *site != "none" && *site != "same-origin")?;
    let site = foreign.to_str().unwrap_or("?");
    Some(format!(
        "a page of another site sent this {method} (Sec-Fetch-Site: {site}): only none and same-origin are served"
    ))
}

fn is_this_machine(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or(rest),
        None => host.split(':').next().unwrap_or(host),
    };
    name.eq_ignore_ascii_case("localhost")
        || name
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

/// A header as text; `?` where it is none.
pub(super) fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    headers.get(name).map(|value| value.to_str().unwrap_or("?"))
}
