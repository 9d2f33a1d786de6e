//! POST /search: a JSON query, answered with hits.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use engine::Snapshot;
use language::tree::Outline;
use relation::expression::Expression;
use relation::options::Options;
use relation::request::{Item, Output, Select};
use wire::es::glob;
use wire::json::{Aggregation, Highlight, JsonError, Shown};
use wire::sql::{Faceted, Statement};

use super::hits::{self, Hits, Marked};
use super::reply::{self, Refusal};
use super::{Door, Guest, body};
use session::errors::{self, Failure};
use session::guarded;
use session::near::in_json;
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
    let read = || guarded(server, || wire::json::search(&bytes).map_err(failure));
    let mut asked = body::parsed(&bytes, read).await?;
    let mut guest = Guest::new(server);
    let table = asked.select.table.clone();
    let marked = asked.highlight.take();
    let marked = marked.map(|how| marked_texts(&guest, &mut asked.select, how));
    let marked = marked.transpose()?;
    let profiled = asked.is_profiled.then(|| asked.select.clone());
    let statement = match asked.facets.is_empty() {
        true => Statement::Select(asked.select),
        false => Statement::Faceted(Box::new(Faceted {
            select: asked.select,
            grouping: None,
            facets: asked.facets,
        })),
    };
    let parsed = Parsed::of(statement).said(server, &bytes).holding(held);
    drop(bytes);
    let outcome = statement::execute(server, &mut guest.session, parsed).await;
    let outcome = outcome.map_err(|failure| in_json(server, &table, failure));
    let shape = Shape {
        shown: asked.shown,
        marked,
        aggregations: asked.aggregations,
        profile: profiled
            .map(|select| outline(&guest, &select))
            .transpose()?
            .flatten(),
    };
    answered(&guest, outcome?, shape).await
}

/// The texts to mark, as further columns of the SELECT.
fn marked_texts(guest: &Guest<'_>, select: &mut Select, how: Highlight) -> Result<Marked, Failure> {
    let text = how.text.as_ref().or(select.matching.as_ref());
    let (marker, own_ms) = read(guest, select, |snapshot, options| {
        let text = text.map_or("", String::as_str);
        let marker = snapshot.marker(&select.table, text, options)?;
        Ok((marker, options.max_query_time_ms))
    })?;
    let own_us = (own_ms > 0).then(|| own_ms.saturating_mul(1_000));
    let of_all = guest.bounds().query_time_max;
    let of_all = of_all.map(|time| u64::try_from(time.as_micros()).unwrap_or(u64::MAX));
    let fits = |pattern: &str, name: &String| glob(pattern, name);
    let is_there = |pattern: &str| marker.fields().iter().any(|name| fits(pattern, name));
    let mut names = how.fields.iter().map(|(name, _)| name);
    if let Some(name) = names.find(|name| !name.contains('*') && !is_there(name)) {
        let message = format!("highlight: '{}' has no text column '{name}'", select.table);
        return Err(Failure::new(errors::INVALID, message));
    }
    let mut texts = Vec::new();
    for (field, name) in marker.fields().iter().enumerate() {
        let found = how.fields.iter().find(|(pattern, _)| fits(pattern, name));
        if let Some((_, pieces)) = found {
            texts.push((field, *pieces));
            select.items.push(Item::Value {
                what: Output::Expression(Expression::Column(name.clone())),
                // No alias: nothing in the search can mean this column by its name.
                name: String::new(),
            });
        }
    }
    Ok(Marked {
        marker,
        how,
        texts,
        time_us_max: own_us.into_iter().chain(of_all).min(),
        interrupt: None,
    })
}

/// Reads the table of a SELECT.
fn read<T>(
    guest: &Guest<'_>,
    select: &Select,
    read: impl FnOnce(&Snapshot, &Options) -> engine::Result<T>,
) -> Result<T, Failure> {
    let options = Options::parse(&select.options);
    let options = options.map_err(|error| Failure::refused(error.to_string()))?;
    let reads = Action(Deed::Read, Some(&select.table));
    let snapshot = guest.snapshot(&guest.session, reads)?;
    guarded(guest, || Ok(read(&snapshot, &options)?))
}

/// The tree of the words of a SELECT that was done; `None`: it has no MATCH.
fn outline(guest: &Guest<'_>, select: &Select) -> Result<Option<Outline>, Failure> {
    let Some(text) = &select.matching else {
        return Ok(None);
    };
    let outline =
        |snapshot: &Snapshot, options: &Options| snapshot.outline(&select.table, text, options);
    read(guest, select, outline).map(Some)
}

/// What a reply shows of an outcome.
#[derive(Default)]
pub(super) struct Shape {
    pub(super) shown: Shown,
    pub(super) marked: Option<Marked>,
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
    let is_long = outcome.reads_long() || shape.marked.is_some();
    let sets = match outcome {
        Outcome::Rows(found) => vec![*found],
        Outcome::Several(sets) => sets,
        Outcome::Done { .. } | Outcome::Pq(_) => Vec::new(),
    };
    let search = sets.first().and_then(|found| found.search.as_ref());
    let marked = shape.marked.map(|marked| Marked {
        interrupt: search.map(|search| {
            let most = marked.time_us_max;
            search.ends_at(most.map(|us| guest.session.started_us.saturating_add(us)));
            Arc::clone(&search.interrupt)
        }),
        ..marked
    });
    // The memory of the rows is held, and the search is listed as running, until the reply is written.
    let (answers, _kept): (Vec<_>, Vec<_>) = sets
        .into_iter()
        .map(|found| ((found.answer, found.members), (found.search, found.held)))
        .unzip();
    let mut answers = answers.into_iter();
    let Some((answer, members)) = answers.next() else {
        return Err(Failure::new(errors::INTERNAL, "internal error: a search without rows").into());
    };
    let hits = Hits {
        answer,
        members,
        shown: shape.shown,
        marked,
        profile: shape.profile,
        aggregations: shape.aggregations,
        groups: answers.map(|(answer, _)| answer).collect(),
    };
    if is_long {
        guest.long(&guest.session).await;
    }
    let written = guarded(guest, || hits::write(guest, hits, took_ms, &held));
    let (bytes, count) = written.inspect_err(|failure| guest.session.failed(failure))?;
    guest.session.returned(count);
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
