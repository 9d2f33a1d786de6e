//! POST /search: a JSON query, answered with hits.

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use engine::Answer;
use wire::json::JsonError;
use wire::sql::Statement;

use super::reply::{self, Refusal};
use super::{Door, Guest, body, hits};
use session::errors::{self, Failure};
use session::statement::{self, Outcome, Parsed};

/// Levels of JSON that are read without a tree: the body, its query, a clause.
const FIELDS_DEPTH: usize = 3;

/// Handles POST /search.
pub(super) async fn post(
    State(door): State<Door>,
    request: Request<Body>,
) -> Result<Response, Refusal> {
    let server = &door.server;
    let held = server.budget.grant();
    let bytes = body::whole(server, request, &held).await?;
    body::room_for_json(&bytes, FIELDS_DEPTH, &held).await?;
    let read = || statement::guarded(server, || wire::json::search(&bytes).map_err(failure));
    let select = body::at_length(bytes.len(), read)?;
    let mut guest = Guest::new(server);
    let parsed = Parsed::of(Statement::Select(select)).holding(held);
    drop(bytes);
    let outcome = statement::execute(server, &mut guest.session, parsed).await;
    let Outcome::Rows(found) = outcome? else {
        return Err(Failure::new(errors::INTERNAL, "internal error: a search without rows").into());
    };
    answered(&guest, found.answer).await
}

/// Answers with the rows as hits.
pub(super) async fn answered(guest: &Guest<'_>, answer: Answer) -> Result<Response, Refusal> {
    let took_ms = (guest.clock.steady_us() - guest.session.started_us) / 1_000;
    let held = guest.budget.grant();
    let _turn = guest.turn(answer.rows.size_hint().1).await;
    let bytes = tokio::task::block_in_place(|| {
        statement::guarded(guest, || hits::write(guest, answer, took_ms, &held))
    })?;
    Ok(reply::held_bytes(StatusCode::OK, bytes, held))
}

/// The failure of a body that cannot be parsed: `NOT_YET` for a known feature that is missing, else `SYNTAX`.
pub(super) fn failure(error: JsonError) -> Failure {
    let kind = if error.not_yet {
        errors::NOT_YET
    } else {
        errors::SYNTAX
    };
    Failure::new(kind, error.to_string())
}
