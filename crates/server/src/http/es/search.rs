//! `_search`, `_msearch`, `_count`: finds the stored queries that documents hit, and the stored documents that pass conditions.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use engine::{Interrupt, PqAnswer, PqDocument, PqRequest, PqScratch};
use percolate::StandingQuery;
use relation::value::Value;
use serde_json::{Map, Value as Json, json};
use session::Grant;
use session::counters::add;
use session::guarded;
use session::limits::REPLY_BYTES_MAX;
use session::statement;
use wire::es::{EsError, Hits, Order, Percolate, Search, columns_of, quoted};
use wire::json::SearchReply;

use super::index::Index;
use super::read::{document, id_of, read};
use super::request::{self, EsRequest};
use super::{Replied, failed, highlight};
use crate::http::{Guest, hits};

/// Name of the field that lists the documents that hit a query.
const SLOT: &str = "_percolator_document_slot";

/// A stored query that the search has found, or may find.
struct Candidate {
    query: Arc<StandingQuery>,
    /// For each percolate clause the indexes of the documents that hit the query, ascending.
    slots: Vec<Vec<u32>>,
    score: f64,
}

/// `_search`: one search in one index.
pub(super) async fn one(guest: &Guest<'_>, name: &str, request: &EsRequest) -> Replied {
    let index = Index::find(guest, name)?;
    let body = with_parameters(request.json()?, request)?;
    let as_number = request.is_set("rest_total_hits_as_int");
    Ok((
        200,
        answered(guest, &index, &body, as_number, &request.written).await?,
    ))
}

/// `_msearch`: a line that names the index, then a line with the search, for each search. A refused search does not stop the
/// others.
pub(super) async fn many(guest: &Guest<'_>, name: Option<&str>, request: &EsRequest) -> Replied {
    let started_us = guest.clock.steady_us();
    let mut lines = request
        .body
        .split(|byte| *byte == b'\n')
        .map(|line| line.trim_ascii());
    let mut replies = Vec::new();
    while let Some(head) = lines.next() {
        let Some(body) = lines.next().filter(|body| !body.is_empty()) else {
            break;
        };
        let reply = match request::json(head).and_then(|head| Ok((head, request::json(body)?))) {
            Ok((head, body)) => {
                let named = head.get("index").map(|index| index.get(0).unwrap_or(index));
                let name = named.and_then(Json::as_str).or(name).unwrap_or_default();
                match Index::find(guest, name) {
                    Ok(index) => {
                        let as_number = request.is_set("rest_total_hits_as_int");
                        answered(guest, &index, &body, as_number, &request.written).await
                    }
                    Err(error) => Err(error),
                }
            }
            Err(error) => Err(error),
        };
        replies.push(match reply {
            // The status of each search stands beside its members.
            Ok(reply) => format!(
                "{},\"status\":200}}",
                reply.strip_suffix('}').unwrap_or(&reply)
            ),
            Err(error) => error.body(),
        });
    }
    let took_ms = (guest.clock.steady_us() - started_us) / 1_000;
    // The joined reply is a copy of all replies.
    let bytes = replies.iter().map(|reply| reply.len() as u64);
    let joined = request.written.take(2 * bytes.sum::<u64>());
    joined.map_err(|failure| failed(failure, ""))?;
    Ok((
        200,
        format!(
            "{{\"took\":{took_ms},\"responses\":[{}]}}",
            replies.join(",")
        ),
    ))
}

/// `_count`: the count of stored queries that a search finds.
pub(super) async fn count(guest: &Guest<'_>, name: &str, request: &EsRequest) -> Replied {
    let index = Index::find(guest, name)?;
    if request.parameter("q").is_some() {
        return Err(EsError::not_yet("q", "a search in the path"));
    }
    let body = request.json()?;
    if let Some(name) = ["aggs", "aggregations"]
        .into_iter()
        .find(|name| body.get(name).is_some())
    {
        let what = format!("[{name}] in _count: ask _search with a size of 0");
        return Err(EsError::illegal("", what));
    }
    let search = wire::es::search(&body, &index.mapping)?;
    let found = candidates(guest, &index, &search, &guest.budget.grant()).await?;
    let shards = json!({"total": 1, "successful": 1, "skipped": 0, "failed": 0});
    Ok((
        200,
        json!({"count": found.len(), "_shards": shards}).to_string(),
    ))
}

/// Adds parameters of the address to the body, as members of the same name.
fn with_parameters(mut body: Json, request: &EsRequest) -> Result<Json, EsError> {
    if request.parameter("q").is_some() {
        return Err(EsError::not_yet("q", "a search in the path"));
    }
    if request.parameter("scroll").is_some() {
        let what = "scrolling: ask with a size of up to 100000, or by search_after";
        return Err(EsError::not_yet("scroll", what));
    }
    if body.is_null() {
        body = json!({});
    }
    for (parameter, part) in [
        ("_source_includes", "includes"),
        ("_source_excludes", "excludes"),
    ] {
        if let (Some(paths), Some(members)) = (request.parameter(parameter), body.as_object_mut()) {
            let paths: Vec<&str> = paths.split(',').collect();
            match members.entry("_source").or_insert_with(|| json!({})) {
                Json::Object(parts) => parts.insert(part.to_owned(), json!(paths)),
                _ => {
                    let what = "beside a [_source] of the body that is no object";
                    return Err(EsError::illegal(parameter, what));
                }
            };
        }
    }
    for name in ["from", "size", "sort", "_source", "track_total_hits"] {
        if let (Some(value), Some(members)) = (request.parameter(name), body.as_object_mut()) {
            let value = match value {
                "true" => Json::Bool(true),
                "false" => Json::Bool(false),
                text => text.into(),
            };
            // `field:desc` as the body writes it.
            let value = match value.as_str().and_then(|text| text.split_once(':')) {
                Some((field, order)) if name == "sort" => json!({field: order}),
                _ => value,
            };
            members.insert(name.to_owned(), value);
        }
    }
    Ok(body)
}

/// Answers one search, and tells the query log of it.
async fn answered(
    guest: &Guest<'_>,
    index: &Index,
    body: &Json,
    as_number: bool,
    written: &Grant,
) -> Result<String, EsError> {
    let started_us = guest.clock.steady_us();
    let said = guest.query_log.is_on().then(|| body.to_string());
    let mut logged = said.and_then(|said| {
        guest.percolates(&guest.session, started_us, &index.name, said.as_bytes())
    });
    let answer = answer(guest, index, body, as_number, (written, started_us));
    let (reply, found, returned) = answer.await.inspect_err(|error| {
        if let Some(logged) = &mut logged {
            logged.failed(&error.reason);
        }
    })?;
    if let Some(logged) = &mut logged {
        logged.found(found);
        logged.returned(returned);
    }
    Ok(reply)
}

/// The reply to one search, with the hits that were found and that it has.
async fn answer(
    guest: &Guest<'_>,
    index: &Index,
    body: &Json,
    as_number: bool,
    (written, started_us): (&Grant, u64),
) -> Result<(String, u64, u64), EsError> {
    let mut search = wire::es::search(body, &index.mapping)?;
    let held = guest.budget.grant();
    let held = Arc::new(held);
    // From here to its end the search runs in a turn: it waits for nothing.
    let mut found = candidates(guest, index, &search, &held).await?;
    let aggregated = aggregated(guest, index, &mut search, &found, &held)?;
    take(written, 2 * aggregated.len(), index)?;
    let found_all = found.len() as u64;
    let best = found
        .iter()
        .map(|candidate| candidate.score)
        .fold(None, |best: Option<f64>, score| {
            Some(best.map_or(score, |best| best.max(score)))
        });
    sort(&mut found, &search);
    let took_ms = (guest.clock.steady_us() - started_us) / 1_000;
    let is_scored = !matches!(search.order, Some(Order::Number { .. }));
    let total = search.total.then_some((found_all, as_number));
    let mut hits = Hits::new(took_ms, total, best.filter(|_| is_scored));
    let name = quoted(&index.definition.name);
    let shown = found
        .iter()
        .skip(usize::try_from(search.from).unwrap_or(usize::MAX));
    let mut returned = 0;
    for candidate in shown.take(usize::try_from(search.size).unwrap_or(usize::MAX)) {
        returned += 1;
        let id = quoted(&id_of(&candidate.query));
        let rest = rest(candidate, index, &search);
        let before = hits.len();
        hits.hit(&name, &id, is_scored.then_some(candidate.score), &rest);
        // The reply's buffer may double.
        take(written, 2 * (hits.len() - before), index)?;
        if hits.len() > REPLY_BYTES_MAX {
            let what =
                format!("the reply is longer than {REPLY_BYTES_MAX} bytes: ask for fewer hits");
            return Err(EsError::illegal("size", what));
        }
    }
    Ok((hits.finish(&aggregated), found_all, returned))
}

/// The member `aggregations` of the reply, with a comma before it; empty: none are asked for.
fn aggregated(
    guest: &Guest<'_>,
    index: &Index,
    search: &mut Search,
    found: &[Candidate],
    held: &Arc<Grant>,
) -> Result<String, EsError> {
    let Some(asked) = search.aggregations.take() else {
        return Ok(String::new());
    };
    let columns: Vec<&str> = asked.columns().collect();
    let address = format!("POST /{}/_search", index.name);
    let request = guest.search_request(guest.clock.steady_us(), &address);
    let running = statement::watched(guest, request);
    let mut rows = Vec::with_capacity(found.len());
    for candidate in found {
        let stored = document(&candidate.query, &index.mapping);
        let row = asked.row(&serde_json::from_str(&stored).unwrap_or(Json::Null));
        let bytes: usize = row.iter().map(Value::memory).sum();
        take(held, size_of::<Vec<Value>>() + bytes, index)?;
        rows.push(row);
    }
    let facets = asked.facets.clone();
    let groups = statement::groups_of_rows(guest, &columns, rows, facets, &running.interrupt, held);
    let mut reply = SearchReply::default();
    let written = groups
        .and_then(|groups| hits::write_aggregations(&asked.shown, groups, &mut reply, held))
        .map_err(|failure| failed(failure, &index.name));
    written.map(|()| format!(",{}", String::from_utf8_lossy(reply.bytes())))
}

/// The JSON members of a hit behind its score.
fn rest(candidate: &Candidate, index: &Index, search: &Search) -> String {
    let mut rest = String::new();
    if !search.source.nothing {
        let whole = document(&candidate.query, &index.mapping);
        let shown = if search.source.is_everything() {
            whole
        } else {
            search.source.of(&whole)
        };
        rest.push_str(",\"_source\":");
        rest.push_str(&shown);
    }
    let mut fields = String::new();
    for (clause, slots) in search.percolates.iter().zip(&candidate.slots) {
        if slots.is_empty() {
            continue;
        }
        let slots: Vec<String> = slots.iter().map(u32::to_string).collect();
        let comma = if fields.is_empty() { "" } else { "," };
        let name = clause
            .name
            .as_ref()
            .map_or_else(|| SLOT.to_owned(), |name| format!("{SLOT}_{name}"));
        fields.push_str(&format!("{comma}{}:[{}]", quoted(&name), slots.join(",")));
    }
    if !fields.is_empty() {
        rest.push_str(&format!(",\"fields\":{{{fields}}}"));
    }
    if let Some(marked) = marked(candidate, index, search) {
        rest.push_str(&format!(",\"highlight\":{marked}"));
    }
    match search.order {
        None => {}
        Some(Order::Score { .. }) => rest.push_str(&format!(",\"sort\":[{:?}]", candidate.score)),
        Some(Order::Number { .. }) => rest.push_str(&format!(",\"sort\":[{}]", candidate.query.id)),
    }
    rest
}

/// The highlights of all clauses; `None`: not asked for, or none.
fn marked(candidate: &Candidate, index: &Index, search: &Search) -> Option<Json> {
    let how = search.highlight.as_ref()?;
    let mut marked = Map::new();
    for (clause, slots) in search.percolates.iter().zip(&candidate.slots) {
        let text = &candidate.query.text;
        marked.extend(highlight::of(index, text, clause, slots, how));
    }
    (!marked.is_empty()).then_some(Json::Object(marked))
}

fn sort(found: &mut Vec<Candidate>, search: &Search) {
    if let Some(after) = search.after {
        found.retain(|candidate| candidate.query.id > after);
    }
    let by_score = |one: &Candidate, other: &Candidate| one.score.total_cmp(&other.score);
    // Candidates come by rising id and the sorts are stable, so the id breaks ties.
    match search.order {
        None | Some(Order::Score { descending: true }) => {
            found.sort_by(|one, other| by_score(other, one))
        }
        Some(Order::Score { descending: false }) => found.sort_by(by_score),
        Some(Order::Number { descending: false }) => {}
        Some(Order::Number { descending: true }) => {
            found.sort_by_key(|candidate| Reverse(candidate.query.id))
        }
    }
}

/// Most memory of a candidate and of its entry in a tree, in bytes.
const CANDIDATE_BYTES: usize = 2 * (size_of::<Candidate>() + size_of::<u64>());

/// Takes memory for candidates or for the reply.
fn take(held: &Grant, bytes: usize, index: &Index) -> Result<(), EsError> {
    let taken = held.take(bytes as u64);
    taken.map_err(|failure| failed(failure, &index.name))
}

/// The stored queries that the search finds, by rising id.
async fn candidates(
    guest: &Guest<'_>,
    index: &Index,
    search: &Search,
    held: &Grant,
) -> Result<Vec<Candidate>, EsError> {
    let all = if search.find.needs_hit() {
        Vec::new()
    } else {
        read(guest, &index.name, None)?
    };
    let address = format!("POST /{}/_search", index.name);
    let request = guest.search_request(guest.clock.steady_us(), &address);
    let running = statement::watched(guest, request);
    let interrupt = &running.interrupt;
    guest.long_within(&guest.session, interrupt).await;
    let found = guarded(guest, || {
        Ok(found(guest, index, search, all, interrupt, held))
    });
    found.map_err(|failure| failed(failure, &index.name))?
}

fn found(
    guest: &Guest<'_>,
    index: &Index,
    search: &Search,
    all: Vec<Arc<StandingQuery>>,
    interrupt: &Interrupt,
    held: &Grant,
) -> Result<Vec<Candidate>, EsError> {
    let clauses = search.percolates.len();
    let score = search.score.unwrap_or(1.0);
    let candidate = |query| Candidate {
        query,
        slots: vec![Vec::new(); clauses],
        score,
    };
    let candidate_bytes = CANDIDATE_BYTES + clauses * size_of::<Vec<u32>>();
    take(held, all.len() * candidate_bytes, index)?;
    let mut found: BTreeMap<u64, Candidate> = all
        .into_iter()
        .map(|query| (query.id, candidate(query)))
        .collect();
    for (number, clause) in search.percolates.iter().enumerate() {
        let answer = percolated(guest, index, clause, search.score.is_none(), interrupt)?;
        let documents = answer.hits.pairs() * size_of::<u64>();
        let bytes = answer.hits.len() * candidate_bytes + documents;
        take(held, bytes, index)?;
        let mut weights = answer.weights.iter();
        for (query, documents) in answer.hits.rows() {
            let hit = found
                .entry(query.id)
                .or_insert_with(|| candidate(Arc::clone(query)));
            // The best document gives the score.
            for weight in weights.by_ref().take(documents.len()) {
                hit.score = hit.score.max(f64::from(*weight));
            }
            if let Some(slots) = hit.slots.get_mut(number) {
                slots.extend_from_slice(documents);
            }
        }
    }
    let needs_document = search.find.needs_document();
    let is_found = |candidate: &Candidate| {
        let stored = if needs_document {
            document(&candidate.query, &index.mapping)
        } else {
            String::new()
        };
        let stored = serde_json::from_str(&stored).unwrap_or(Json::Null);
        let hit = |clause: usize| {
            candidate
                .slots
                .get(clause)
                .is_some_and(|slots| !slots.is_empty())
        };
        search.find.holds(&id_of(&candidate.query), &stored, &hit)
    };
    Ok(found.into_values().filter(is_found).collect())
}

fn percolated(
    guest: &Guest<'_>,
    index: &Index,
    clause: &Percolate,
    is_weighed: bool,
    interrupt: &Interrupt,
) -> Result<PqAnswer, EsError> {
    thread_local! {
        static SCRATCH: RefCell<PqScratch> = RefCell::default();
    }
    let documents = clause
        .documents
        .iter()
        .map(|document| columns_of(document, &index.mapping).map(PqDocument::Fields));
    let documents: Vec<PqDocument> = documents.collect::<Result<_, _>>()?;
    add(&guest.counters.pq_documents, documents.len() as u64);
    let snapshot = guest.reads(&index.name);
    let snapshot = snapshot.map_err(|failure| failed(failure, &index.name))?;
    let held = guest.budget.grant();
    let request = PqRequest {
        weights: is_weighed,
        interrupt: Some(interrupt),
        room: Some(&|bytes| held.cover(bytes).is_ok()),
        whole: true,
        ..PqRequest::new(&index.name, &documents)
    };
    let answer = SCRATCH.with_borrow_mut(|scratch| snapshot.call_pq(&request, scratch));
    answer.map_err(|error| failed(error.into(), &index.name))
}
