//! /touch, /touch.js and /order: touches and orders on their way to the table `touches`.
//!
//! ```text
//! GET  /touch.js   of a page                          the script
//! POST /touch      of a page: navigator.sendBeacon    204, the visitor's cookie     stored, durable, once
//! POST /order      of a back end, with the login      {"order":"1042","stored":true,…}
//! ```
//!
//! The steps of POST /touch; each but the last two may end it:
//!
//! 1. `Origin` is that of a site of `touch.origins`.
//! 2. The client and the site have told less in this minute than they may: [`crate::touch::flood`].
//! 3. The visitor does not object (GPC, DNT).
//! 4. The body is at most 4 KiB, and one touch or order: [`study::attribution::record`].
//! 5. The row is inserted; one with its id is there already: the beacon was repeated.
//! 6. The answer has the visitor's cookie. Neither address nor user agent goes into the row.

mod order;
mod store;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_MAX_AGE, CACHE_CONTROL, CONTENT_TYPE, COOKIE,
    HeaderName, ORIGIN, RETRY_AFTER, SET_COOKIE, VARY,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use session::Remote;
use session::counters::add;
use session::errors::{self, Failure};
use study::attribution::record::{self, Beacon};

use super::guard::{self, text};
use super::reply::Refusal;
use super::{Door, address, body};
use crate::limits::{TOUCH_BODY_BYTES_MAX, TOUCH_PREFLIGHT_S};
use crate::random;
use crate::server::Server;
use crate::touch::flood::Flooded;
use crate::touch::{TouchSettings, proxy, visitor};
use store::{Row, Stored};

pub(crate) use store::prepare;

/// The script, with indents and comments. `GPC` and `DNT` in it stand for what the settings say.
const SCRIPT: &str = include_str!("touches/touch.js");

/// The route of back ends.
pub(super) fn routes() -> Router<Door> {
    Router::new().route("/order", post(order::take))
}

/// The routes of pages: without login, and for other sites.
pub(super) fn open_routes() -> Router<Door> {
    Router::new()
        .route("/touch.js", get(script))
        .route("/touch", post(touch).options(preflight))
        .route_layer(axum::middleware::from_fn(address::read_alone))
        .method_not_allowed_fallback(guard::wrong_method)
}

/// The settings of touches. Errors: `NO_SUCH_PATH`: no site is named.
fn settings(server: &Server) -> Result<TouchSettings, Failure> {
    let touch = server.settings().live.touch.clone();
    match touch.origins.is_empty() {
        false => Ok(touch),
        true => Err(Failure::new(
            errors::NO_SUCH_PATH,
            "no such path: touch.origins names no site whose touches are recorded",
        )),
    }
}

/// GET /touch.js.
async fn script(State(door): State<Door>) -> Result<Response, Refusal> {
    let touch = settings(&door.server)?;
    let headers = [
        (CONTENT_TYPE, "text/javascript; charset=utf-8"),
        (CACHE_CONTROL, "public, max-age=3600"),
    ];
    let script = sent_script(touch.respects_gpc, touch.respects_dnt);
    Ok((headers, script).into_response())
}

/// The script as it is sent: without indents and lines of comment.
fn sent_script(respects_gpc: bool, respects_dnt: bool) -> String {
    let lines = SCRIPT.lines().map(str::trim_start);
    let lines: Vec<&str> = lines.filter(|line| !line.starts_with("//")).collect();
    let digit = |is_on| if is_on { "1" } else { "0" };
    lines
        .join("\n")
        .replace("GPC", digit(respects_gpc))
        .replace("DNT", digit(respects_dnt))
}

/// What is known of a request before its body.
struct Asked {
    origin: String,
    /// Number of the site's entry.
    site: usize,
    client: Remote,
    is_https: bool,
}

impl Asked {
    /// Errors: `FOREIGN_ORIGIN`.
    fn read(headers: &HeaderMap, touch: &TouchSettings) -> Result<Asked, Failure> {
        let origin = text(headers, ORIGIN).unwrap_or_default();
        let Some(site) = touch.origins.find(origin) else {
            let message = format!("origin {origin:?} is none of touch.origins");
            return Err(Failure::new(errors::FOREIGN_ORIGIN, message));
        };
        let peer = super::peer().map_or(Remote::Unix(None), |peer| peer.remote);
        let forwarded_for = last(headers, "x-forwarded-for");
        let forwarded_proto = last(headers, "x-forwarded-proto");
        let seen = proxy::seen(peer, &touch.proxies, forwarded_for, forwarded_proto);
        Ok(Asked {
            origin: origin.to_owned(),
            site,
            client: seen.client,
            is_https: seen.is_https,
        })
    }

    /// Lets the page's script see a response.
    fn allowed(&self, mut response: Response) -> Response {
        let headers = response.headers_mut();
        if let Ok(origin) = HeaderValue::from_str(&self.origin) {
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        }
        let yes = HeaderValue::from_static("true");
        headers.insert(ACCESS_CONTROL_ALLOW_CREDENTIALS, yes);
        headers.insert(VARY, HeaderValue::from_static("Origin"));
        response
    }
}

/// The last header of a name: a proxy may add one instead of a part.
fn last<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let last = headers.get_all(name).iter().next_back()?;
    last.to_str().ok()
}

/// OPTIONS /touch: whether a page of another origin may send what the script does not: a content type of its own.
async fn preflight(State(door): State<Door>, request: Request<Body>) -> Response {
    let asked = settings(&door.server).and_then(|touch| Asked::read(request.headers(), &touch));
    match asked {
        Ok(asked) => {
            let headers = [
                (ACCESS_CONTROL_ALLOW_METHODS, "POST"),
                (ACCESS_CONTROL_ALLOW_HEADERS, "content-type"),
                (ACCESS_CONTROL_MAX_AGE, TOUCH_PREFLIGHT_S),
            ];
            asked.allowed((StatusCode::NO_CONTENT, headers).into_response())
        }
        Err(failure) => Refusal(failure).into_response(),
    }
}

/// POST /touch.
async fn touch(State(door): State<Door>, request: Request<Body>) -> Response {
    let server = &door.server;
    let touch = match settings(server) {
        Ok(touch) => touch,
        Err(failure) => return Refusal(failure).into_response(),
    };
    let asked = match Asked::read(request.headers(), &touch) {
        Ok(asked) => asked,
        Err(failure) => {
            add(&server.counters.touches_foreign, 1);
            return Refusal(failure).into_response();
        }
    };
    let now_us = server.clock.steady_us();
    let bounds = (touch.per_client, touch.per_origin);
    if let Err(flooded) = server.flood.admit(asked.client, asked.site, bounds, now_us) {
        add(&server.counters.touches_flooded, 1);
        return asked.allowed(too_often(flooded));
    }
    if objects(request.headers(), &touch) {
        add(&server.counters.touches_opted_out, 1);
        return asked.allowed(StatusCode::NO_CONTENT.into_response());
    }
    let cookies = text(request.headers(), COOKIE).unwrap_or_default();
    let known = visitor::of_cookies(cookies).map(str::to_owned);
    let response = match told(server, request, known, &asked.origin).await {
        Ok(visitor) => {
            let cookie = visitor::set_cookie(&visitor, asked.is_https);
            (StatusCode::NO_CONTENT, [(SET_COOKIE, cookie)]).into_response()
        }
        Err(failure) => {
            add(&server.counters.touches_failed, 1);
            Refusal(failure).into_response()
        }
    };
    asked.allowed(response)
}

/// Whether the visitor does not want to be recorded.
fn objects(headers: &HeaderMap, touch: &TouchSettings) -> bool {
    let says_yes = |name: HeaderName| headers.get_all(name).iter().any(|value| value == "1");
    touch.respects_gpc && says_yes(HeaderName::from_static("sec-gpc"))
        || touch.respects_dnt && says_yes(HeaderName::from_static("dnt"))
}

fn too_often(flooded: Flooded) -> Response {
    let Flooded { of, retry_after_s } = flooded;
    let message = format!("too many touches of this {of} in this minute: touch.per_{of}");
    let response = Refusal(Failure::new(errors::TOO_OFTEN, message)).into_response();
    ([(RETRY_AFTER, retry_after_s.to_string())], response).into_response()
}

/// Stores what a page told, and gives the visitor's id: that of the cookie, else that of the row which is there already, else a new one.
async fn told(
    server: &Server,
    request: Request<Body>,
    known: Option<String>,
    site: &str,
) -> Result<String, Failure> {
    body::not_packed(request.headers())?;
    let held = server.budget.grant();
    let bytes = body::within(server, request, &held, TOUCH_BODY_BYTES_MAX).await?;
    let now_ms = server.clock.unix_us().div_euclid(1_000);
    let beacon =
        record::beacon(&bytes, now_ms).map_err(|why| Failure::new(errors::INVALID, why))?;
    let Beacon { id, time_s, told } = beacon;
    let visitor = match &known {
        Some(visitor) => visitor.clone(),
        None => visitor::from_random(random::bytes().map_err(no_random)?),
    };
    let row = Row {
        visitor: visitor.clone(),
        time_s,
        told,
        is_confirmed: false,
        site: site.to_owned(),
    };
    match store::insert(server, id, row).await? {
        Stored::New => {
            add(&server.counters.touches_stored, 1);
            Ok(visitor)
        }
        Stored::Before => {
            add(&server.counters.touches_repeated, 1);
            match known {
                Some(visitor) => Ok(visitor),
                // The answer to the first beacon, with its cookie, did not arrive.
                None => Ok(store::row_of_id(server, id)
                    .await?
                    .map_or(visitor, |row| row.visitor)),
            }
        }
    }
}

fn no_random(error: std::io::Error) -> Failure {
    Failure::new(
        errors::INTERNAL,
        format!("internal error: no random bytes: {error}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_has_at_most_4_kib_and_names_no_host() {
        let script = sent_script(true, false);
        assert!(script.len() <= 4_096, "{} bytes", script.len());
        assert!(script.contains("(1 && n.globalPrivacyControl) || (0 && n.doNotTrack"));
        assert!(!script.contains("http://") && !script.contains("https://"));
    }
}
