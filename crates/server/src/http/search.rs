//! POST /search: a JSON query as hits.

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use wire::json::JsonError;
use wire::sql::Statement;

use super::reply::{self, Refusal};
use super::{Door, body, hits};
use crate::errors::{self, Failure};
use crate::statement::{self, Outcome, Parsed};

/// Answers a request.
pub async fn post(State(door): State<Door>, request: Request<Body>) -> Result<Response, Refusal> {
    let node = &door.node;
    let (bytes, _room) = body::whole(node, request).await?;
    let select = statement::guarded(node, || wire::json::search(&bytes).map_err(failure))?;
    let mut session = super::session(node);
    let parsed = Parsed::of(Statement::Select(select));
    let outcome = statement::execute(node, &mut session, parsed).await;
    node.close_session(session.id);
    let Outcome::Rows(found) = outcome? else {
        return Err(Failure::new(errors::INTERNAL, "internal error: a search without rows").into());
    };
    let took_ms = (node.clock.steady_us() - session.started_us) / 1_000;
    let bytes = tokio::task::block_in_place(|| {
        statement::guarded(node, || hits::write(node, found.answer, took_ms))
    })?;
    Ok(reply::json_bytes(StatusCode::OK, bytes))
}

/// The failure of a body that cannot be read, or not yet.
pub fn failure(error: JsonError) -> Failure {
    let kind = if error.not_yet {
        errors::NOT_YET
    } else {
        errors::SYNTAX
    };
    Failure::new(kind, error.to_string())
}
