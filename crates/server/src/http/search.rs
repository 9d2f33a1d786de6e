//! POST /search: a JSON query, answered with hits.

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use engine::Answer;
use query::options::Options;
use query::request::Select;
use query::tree::Outline;
use wire::json::{Aggregation, JsonError, Shown};
use wire::sql::{Faceted, Statement};

use super::hits::{self, Hits};
use super::reply::{self, Refusal};
use super::{Door, Guest, body};
use session::errors::{self, Failure};
use session::statement::{self, Outcome, Parsed};
use session::{Action, Deed};

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
    let asked = body::at_length(bytes.len(), read)?;
    let mut guest = Guest::new(server);
    let profiled = asked.is_profiled.then(|| asked.select.clone());
    let statement = match asked.facets.is_empty() {
        true => Statement::Select(asked.select),
        false => Statement::Faceted(Box::new(Faceted {
            select: asked.select,
            grouping: None,
            facets: asked.facets,
        })),
    };
    let parsed = Parsed::of(statement).holding(held);
    drop(bytes);
    let outcome = statement::execute(server, &mut guest.session, parsed).await;
    let shape = Shape {
        shown: asked.shown,
        aggregations: asked.aggregations,
        profile: profiled
            .map(|select| outline(&guest, &select))
            .transpose()?
            .flatten(),
    };
    answered(&guest, outcome?, shape).await
}

/// The tree of the words of a SELECT that was done; `None`: it has no MATCH.
fn outline(guest: &Guest<'_>, select: &Select) -> Result<Option<Outline>, Failure> {
    let Some(text) = &select.matching else {
        return Ok(None);
    };
    let options = Options::parse(&select.options);
    let options = options.map_err(|error| Failure::new(errors::SYNTAX, error.to_string()))?;
    let reads = Action(Deed::Read, Some(&select.table));
    let snapshot = guest.snapshot(&guest.session, reads)?;
    let outline = statement::guarded(guest, || {
        Ok(snapshot.outline(&select.table, text, &options)?)
    });
    outline.map(Some)
}

/// What a reply shows of an outcome.
#[derive(Default)]
pub(super) struct Shape {
    pub(super) shown: Shown,
    /// Their groups are the rows behind those of the SELECT.
    pub(super) aggregations: Vec<Aggregation>,
    pub(super) profile: Option<Outline>,
}

/// Answers with the rows of a SELECT as hits, and the groups of its FACETs as aggregations.
pub(super) async fn answered(
    guest: &Guest<'_>,
    outcome: Outcome,
    shape: Shape,
) -> Result<Response, Refusal> {
    let took_ms = (guest.clock.steady_us() - guest.session.started_us) / 1_000;
    let held = guest.budget.grant();
    let _turn = guest.turn(outcome.rows()).await;
    let sets = match outcome {
        Outcome::Rows(found) => vec![found],
        Outcome::Several(sets) => sets,
        Outcome::Done { .. } | Outcome::Pq(_) => Vec::new(),
    };
    // The memory of the rows is held, and the search is listed as running, until the reply is written.
    let (answers, _kept): (Vec<Answer>, Vec<_>) = sets
        .into_iter()
        .map(|found| (found.answer, (found.search, found.held)))
        .unzip();
    let mut answers = answers.into_iter();
    let Some(answer) = answers.next() else {
        return Err(Failure::new(errors::INTERNAL, "internal error: a search without rows").into());
    };
    let hits = Hits {
        answer,
        shown: shape.shown,
        profile: shape.profile,
        aggregations: shape.aggregations,
        groups: answers.collect(),
    };
    let bytes = tokio::task::block_in_place(|| {
        statement::guarded(guest, || hits::write(guest, hits, took_ms, &held))
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
