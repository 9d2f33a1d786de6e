//! Who may ask: the login, and only pages of this server itself.

use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::Door;
use super::reply::Refusal;
use crate::errors::{self, Failure};
use crate::status::add;

/// Lets through who gives the login, where one is set.
pub async fn login(State(door): State<Door>, request: Request, next: Next) -> Response {
    let settings = door.node.settings();
    let given = text(request.headers(), AUTHORIZATION);
    let passes = settings
        .live
        .login
        .as_ref()
        .is_none_or(|login| given.is_some_and(|given| login.accepts_basic(given)));
    if passes {
        return next.run(request).await;
    }
    add(&door.node.counters.logins_refused, 1);
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

/// Refuses requests that a page of another site made a browser send: a name of this machine that is not ours
/// (DNS rebinding), or an origin that is not the host that was asked.
pub async fn own_page(State(door): State<Door>, request: Request, next: Next) -> Response {
    add(&door.node.counters.http_requests, 1);
    match foreign(request.headers(), door.local) {
        None => next.run(request).await,
        Some(what) => {
            let message = format!("{what} is not this server");
            Refusal(Failure::new(errors::FOREIGN_ORIGIN, message)).into_response()
        }
    }
}

/// Every other path.
pub async fn no_such_path(request: Request) -> Response {
    let message = format!("no such path: {}", request.uri().path());
    Refusal(Failure::new(errors::NO_SUCH_PATH, message)).into_response()
}

/// Every other method of a path there is.
pub async fn wrong_method(request: Request) -> Response {
    let message = format!(
        "{} does not take {}",
        request.uri().path(),
        request.method()
    );
    Refusal(Failure::new(errors::WRONG_METHOD, message)).into_response()
}

/// The header that gives a foreign request away. A host name is judged only where `local`: a server that the network
/// reaches cannot know all its names, and asks for a password instead.
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

fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    headers.get(name).map(|value| value.to_str().unwrap_or("?"))
}
