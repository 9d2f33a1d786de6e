//! The parameters behind the `?` of our own paths: one row for each route that reads any. Another name, or one that is there twice,
//! is refused, so that none means nothing in silence.
//!
//! To add a parameter: its name in [`ROUTES`], and its reading in the handler.

use std::collections::HashSet;

use axum::extract::{MatchedPath, Request};
use axum::http::{Extensions, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use language::nearest::nearest;

use super::reply::Refusal;
use super::sql::parameters;
use session::errors::{self, Failure};

/// Names of parameters, by route. A route that is not here reads none.
const ROUTES: [(&str, &[&str]); 13] = [
    ("/sql", &["mode", "raw_response", "query"]),
    ("/pq/{table}/doc", &["refresh"]),
    ("/pq/{table}/doc/{id}", &["refresh"]),
    (
        "/pq/{table}/search",
        &[
            "limit",
            "after",
            "only",
            "top",
            "count_only",
            "weights",
            "highlight",
        ],
    ),
    (
        "/queue/{queue}/next",
        &["rows", "wait", "visible_again", "group", "where"],
    ),
    (
        "/queue/{queue}/events",
        &["rows", "visible_again", "group", "where"],
    ),
    ("/queue/{queue}/peek", &["rows", "where"]),
    ("/queue/{queue}/return", &["delay"]),
    ("/queue/{queue}/extend", &["visible_again"]),
    ("/queue/{queue}/pause", &["group"]),
    ("/queue/{queue}/resume", &["group"]),
    ("/collect/{*category}", &["whole"]),
    // Gives the script another address, for caches; it means nothing else.
    ("/touch.js", &["v"]),
];

/// Routes whose GET has a statement behind the `?`, with any characters.
const STATEMENTS: [&str; 2] = ["/cli", "/cli_json"];

/// The names that the route of a request reads.
pub(super) fn names(extensions: &Extensions) -> &'static [&'static str] {
    let path = extensions.get::<MatchedPath>().map(MatchedPath::as_str);
    let row = ROUTES.iter().find(|(route, _)| Some(*route) == path);
    row.map_or(&[], |(_, names)| names)
}

/// Refuses a name that is none of `names`.
pub(super) fn check(name: &str, names: &[&str]) -> Result<(), Failure> {
    if names.contains(&name) {
        return Ok(());
    }
    let meant = nearest(name, names.iter().copied());
    let known = match (meant, names) {
        (Some(meant), _) => format!("did you mean {meant}?"),
        (None, []) => "this path takes none".to_owned(),
        (None, names) => format!("expected {}", names.join(", ")),
    };
    let message = format!("unknown parameter '{name}', {known}");
    Err(Failure::new(errors::INVALID, message))
}

/// Passes a request on if its route reads each of its parameters.
pub(super) async fn read_alone(request: Request, next: Next) -> Response {
    match checked(&request) {
        Ok(()) => next.run(request).await,
        Err(failure) => Refusal(failure).into_response(),
    }
}

fn checked(request: &Request) -> Result<(), Failure> {
    let Some(address) = request.uri().query() else {
        return Ok(());
    };
    let path = request.extensions().get::<MatchedPath>();
    let is_statement = path.is_some_and(|path| STATEMENTS.contains(&path.as_str()));
    if is_statement && request.method() == Method::GET {
        return Ok(());
    }
    read_once(address.as_bytes(), names(request.extensions()))
}

/// Refuses a form with a name that is none of `names`, or is there twice.
pub(super) fn read_once(form: &[u8], names: &[&str]) -> Result<(), Failure> {
    let mut seen = HashSet::new();
    for (name, _) in parameters(form) {
        check(&name, names)?;
        if !seen.insert(name.clone()) {
            let message = format!("parameter '{name}' is there twice");
            return Err(Failure::new(errors::INVALID, message));
        }
    }
    Ok(())
}

/// A parameter that is on or off; one without a value is on.
pub(super) fn flag(name: &str, value: &str) -> Result<bool, Failure> {
    match value {
        "" | "1" | "true" | "True" => Ok(true),
        "0" | "false" | "False" => Ok(false),
        _ => {
            let message = format!("{name}={value}: expected 1 or 0, true or false");
            Err(Failure::new(errors::INVALID, message))
        }
    }
}
