//! Stored documents, which are standing queries, by their `_id`.

use serde_json::json;
use wire::es::{BulkItem, BulkOperation, EsError, Paths, query_id, quoted};

use super::Replied;
use super::change::{Change, Outcome, change_all};
use super::index::Index;
use super::read::{document, id_of, read};
use super::request::EsRequest;
use crate::http::Guest;

/// Most changes in a unit, which the engine stores as a whole or not at all.
const UNIT_CHANGES: usize = 1_000;

/// `PUT|POST /{index}/_doc[/{id}]`, `/_create/{id}` and the typed paths.
pub(super) async fn one(
    guest: &Guest<'_>,
    name: &str,
    kind: Option<String>,
    id: Option<String>,
    create: bool,
    request: &EsRequest,
) -> Replied {
    let index = Index::find(guest, name)?;
    let create = create || request.parameter("op_type") == Some("create");
    let operation = if create {
        BulkOperation::Create
    } else {
        BulkOperation::Index
    };
    let change = Change {
        operation,
        id,
        document: request.body.clone(),
    };
    single(guest, &index, kind.as_deref(), change).await
}

/// `DELETE /{index}/_doc/{id}`.
pub(super) async fn delete(
    guest: &Guest<'_>,
    name: &str,
    kind: Option<String>,
    id: &str,
) -> Replied {
    let index = Index::find(guest, name)?;
    let change = Change {
        operation: BulkOperation::Delete,
        id: Some(id.to_owned()),
        document: Vec::new(),
    };
    single(guest, &index, kind.as_deref(), change).await
}

async fn single(guest: &Guest<'_>, index: &Index, kind: Option<&str>, change: Change) -> Replied {
    let mut done = change_all(guest, index, vec![change]).await?;
    let (_, done) = done
        .pop()
        .ok_or_else(|| EsError::illegal("", "nothing to do"))?;
    let done = done?;
    Ok((
        done.status(),
        done.shown(&index.definition.name, kind).to_string(),
    ))
}

/// `GET /{index}/_doc/{id}`.
pub(super) async fn get(
    guest: &Guest<'_>,
    name: &str,
    kind: Option<String>,
    id: &str,
    request: &EsRequest,
) -> Replied {
    let index = Index::find(guest, name)?;
    let kind = kind.map_or_else(String::new, |kind| format!("\"_type\":{},", quoted(&kind)));
    let head = format!(
        "\"_index\":{},{kind}\"_id\":{}",
        quoted(&index.definition.name),
        quoted(id)
    );
    let Some(source) = source(guest, &index, id).await? else {
        return Ok((404, format!("{{{head},\"found\":false}}")));
    };
    let paths = shown_paths(request);
    let source = if paths.nothing {
        String::new()
    } else if paths.is_everything() {
        format!(",\"_source\":{source}")
    } else {
        format!(",\"_source\":{}", paths.of(&source))
    };
    let numbers = "\"_version\":1,\"_seq_no\":0,\"_primary_term\":1";
    Ok((200, format!("{{{head},{numbers},\"found\":true{source}}}")))
}

/// `GET /{index}/_source/{id}`.
pub(super) async fn get_source(guest: &Guest<'_>, name: &str, id: &str) -> Replied {
    let index = Index::find(guest, name)?;
    match source(guest, &index, id).await? {
        Some(source) => Ok((200, source)),
        None => {
            let reason = format!("document not found [{name}]/[{id}]");
            Err(EsError::new(404, "resource_not_found_exception", reason))
        }
    }
}

async fn source(guest: &Guest<'_>, index: &Index, id: &str) -> Result<Option<String>, EsError> {
    let found = read(guest, &index.name, Some(&[query_id(id).0]))?;
    let found = found.first().filter(|query| id_of(query) == id);
    Ok(found.map(|query| document(query, &index.mapping)))
}

fn shown_paths(request: &EsRequest) -> Paths {
    let list = |name: &str| {
        let list = request.parameter(name);
        let list = list.map(|paths| paths.split(',').map(str::to_owned).collect());
        list.unwrap_or_default()
    };
    let mut paths = Paths {
        nothing: false,
        includes: list("_source_includes"),
        excludes: list("_source_excludes"),
    };
    match request.parameter("_source") {
        None | Some("true" | "") => {}
        Some("false") => paths.nothing = true,
        Some(_) => paths.includes = list("_source"),
    }
    paths
}

/// `_bulk`: does neighbouring items of one index in units. A refused item does not stop the others.
pub(super) async fn bulk(guest: &Guest<'_>, name: Option<&str>, request: &EsRequest) -> Replied {
    let started_us = guest.clock.steady_us();
    let mut replies: Vec<String> = Vec::new();
    let mut errors = false;
    guest.long(&guest.session).await;
    let mut items = wire::es::bulk(&request.body)?.into_iter().peekable();
    while let Some(item) = items.next() {
        let named = item.index.clone().or_else(|| name.map(str::to_owned));
        let named = named.ok_or_else(|| {
            EsError::illegal("", "an item without [_index], and none in the path")
        })?;
        let mut unit = vec![item];
        let is_same = |item: &BulkItem<'_>| item.index.as_deref().or(name) == Some(named.as_str());
        while unit.len() < UNIT_CHANGES
            && let Some(item) = items.next_if(is_same)
        {
            unit.push(item);
        }
        let ids = unit.iter().map(|item| (item.operation, item.id.clone()));
        let ids: Vec<(BulkOperation, Option<String>)> = ids.collect();
        let outcomes = match unit_done(guest, &named, unit).await {
            Ok(outcomes) => outcomes,
            Err(failure) if replies.is_empty() => return Err(failure),
            // Units before it are stored: each change of this one says that it is not.
            Err(failure) => {
                let refused = ids.iter().map(|(_, id)| (id.clone(), Err(failure.clone())));
                refused.collect()
            }
        };
        guest.long(&guest.session).await;
        for ((operation, _), outcome) in ids.into_iter().zip(outcomes) {
            errors |= outcome.1.is_err();
            replies.push(item_reply(operation, &named, outcome));
        }
    }
    let took_ms = (guest.clock.steady_us() - started_us) / 1_000;
    let items = replies.join(",");
    let reply = format!("{{\"took\":{took_ms},\"errors\":{errors},\"items\":[{items}]}}");
    Ok((200, reply))
}

async fn unit_done(
    guest: &Guest<'_>,
    name: &str,
    unit: Vec<BulkItem<'_>>,
) -> Result<Vec<Outcome>, EsError> {
    let index = match Index::find(guest, name) {
        Ok(index) => index,
        Err(error) => {
            let refused = |item: BulkItem<'_>| (item.id, Err(error.clone()));
            return Ok(unit.into_iter().map(refused).collect());
        }
    };
    let change = |item: BulkItem<'_>| Change {
        operation: item.operation,
        id: item.id,
        document: item.document.to_vec(),
    };
    change_all(guest, &index, unit.into_iter().map(change).collect()).await
}

fn item_reply(operation: BulkOperation, index: &str, (id, done): Outcome) -> String {
    let reply = match done {
        Ok(done) => {
            let mut reply = done.shown(index, None);
            reply["status"] = done.status().into();
            reply
        }
        Err(error) => json!({
            "_index": index,
            "_id": id,
            "status": error.status,
            "error": error.cause(),
        }),
    };
    format!("{{\"{}\":{reply}}}", operation.name())
}
