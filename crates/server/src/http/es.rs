//! Elasticsearch's percolator API, on every path that no route of our own has.
//!
//! Example: `PUT /alerts/_doc/7` → [`Route::Store`] → `store::one` → `change::change_all` → an INSERT into the pq table
//! `alerts`. An index is a pq table with a mapping; a stored document is a standing query with its source.

mod change;
mod highlight;
mod index;
mod info;
mod parameters;
mod read;
mod request;
mod route;
mod search;
mod store;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use axum::http::{HeaderValue, Method};
use axum::response::Response;
use wire::es::EsError;

use super::{Door, Guest, guard};
use request::EsRequest;
use route::Route;
use session::Grant;
use session::errors::{self, Failure};

/// A reply: its HTTP status and its JSON.
type Replied = Result<(u16, String), EsError>;

/// Handles a request to a path that no route of our own has.
pub(super) async fn answer(State(door): State<Door>, request: Request<Body>) -> Response {
    let Some(route) = Route::of(request.method(), request.uri().path()) else {
        return guard::no_such_path(request).await;
    };
    let is_head = request.method() == Method::HEAD;
    let request = match EsRequest::read(&door.server, request).await {
        Ok(request) => request,
        Err((headers, error)) => {
            return reply(&headers, is_head, Err(error), door.server.budget.grant());
        }
    };
    let guest = Guest::new(&door.server);
    let replied = match parameters::check(&route, &request.parameters) {
        Ok(()) => run(&guest, route, &request).await,
        Err(error) => Err(error),
    };
    let EsRequest { reply: how, .. } = request;
    guest.long(&guest.session).await;
    reply(&how, is_head, replied, door.server.budget.grant())
}

async fn run(guest: &Guest<'_>, route: Route, request: &EsRequest) -> Replied {
    match route {
        Route::Info => Ok((200, info::root())),
        Route::Health => Ok((200, info::health())),
        Route::CreateIndex(index) => index::create(guest, &index, request).await,
        Route::ShowIndex(index) => index::show(guest, &index, index::IndexPart::Whole),
        Route::ShowMapping(index) => index::show(guest, &index, index::IndexPart::Mappings),
        Route::ShowSettings(index) => index::show(guest, &index, index::IndexPart::Settings),
        Route::PutMapping(index) => index::put_mapping(guest, &index, request),
        Route::DropIndex(index) => index::delete(guest, &index, request).await,
        Route::Refresh(index) => index::refresh(guest, &index),
        Route::Count(index) => search::count(guest, &index, request).await,
        Route::Store {
            index,
            kind,
            id,
            create,
        } => store::one(guest, &index, kind, id, create, request).await,
        Route::Get { index, kind, id } => store::get(guest, &index, kind, &id, request).await,
        Route::GetSource { index, id } => store::get_source(guest, &index, &id).await,
        Route::Delete { index, kind, id } => store::delete(guest, &index, kind, &id).await,
        Route::Bulk(index) => store::bulk(guest, index.as_deref(), request).await,
        Route::Search(index) => search::one(guest, &index, request).await,
        Route::SearchMany(index) => search::many(guest, index.as_deref(), request).await,
        Route::NotYet(what) => Err(EsError::not_yet("", what)),
        Route::WrongMethod => {
            let reason = "incorrect HTTP method for this path";
            Err(EsError::new(405, "method_not_allowed_exception", reason))
        }
    }
}

/// Builds the response in the form that the request asks for.
fn reply(how: &request::ReplyAs, is_head: bool, replied: Replied, held: Grant) -> Response {
    // Shaping and packing each make a copy.
    let replied = replied.and_then(|replied| {
        let room = held.cover(2 * replied.1.len());
        room.map(|()| replied)
            .map_err(|failure| failed(failure, ""))
    });
    let (status, body) = replied.unwrap_or_else(|error| (error.status, error.body()));
    let bytes = if is_head {
        Vec::new()
    } else {
        how.shaped(body).into_bytes()
    };
    let (bytes, is_packed) = how.packed(bytes);
    let mut response = super::reply::held_bytes(super::reply::status(status), bytes, held);
    let headers = response.headers_mut();
    headers.insert(
        "x-elastic-product",
        HeaderValue::from_static("Elasticsearch"),
    );
    headers.insert(CONTENT_TYPE, how.content_type.clone());
    if is_packed {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    response
}

/// Translates a failure into Elasticsearch's status and exception name.
fn failed(failure: Failure, index: &str) -> EsError {
    let Failure { kind, message, .. } = failure;
    let (status, name) = match kind {
        errors::NO_SUCH_TABLE => return EsError::no_index(index),
        errors::TABLE_EXISTS => {
            let reason = format!("index [{index}] already exists");
            return EsError::new(400, "resource_already_exists_exception", reason).about(index);
        }
        errors::QUERY => (400, "query_shard_exception"),
        errors::DUPLICATE_ID => (409, "version_conflict_engine_exception"),
        errors::OVERLOADED | errors::TOO_MANY_CONNECTIONS => {
            (429, "es_rejected_execution_exception")
        }
        errors::DISK_FULL => (429, "cluster_block_exception"),
        errors::RECOVERING | errors::STOPPING | errors::READ_ONLY => {
            (503, "cluster_block_exception")
        }
        errors::NOT_YET => (400, "illegal_argument_exception"),
        errors::PACKET_TOO_LARGE => (413, "content_too_long_exception"),
        other if other.status == 400 || other.status == 413 => (400, "illegal_argument_exception"),
        other => (other.status, other.code),
    };
    EsError::new(status, name, message)
}
