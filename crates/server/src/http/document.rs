//! /insert, /create, /replace, /update, /delete: one document in a request, as in Manticore.

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::post;
use relation::expression::Expression;
use relation::request::{Delete, Insert};
use relation::value::Value;
use serde_json::{Value as Json, json};
use session::Grant;
use session::errors::{self, Failure};
use session::near::in_json;
use session::statement::{self, Outcome, Parsed};
use session::{guarded, json_texts};
use wire::json::{BulkAction, BulkItem, Change, Deletion, change, deletion, document};
use wire::sql::Statement;

use super::reply::{self, Refusal};
use super::search::failure;
use super::{Door, Guest, body};
use crate::server::Server;

/// Levels of JSON that are read without a tree: the body, its doc.
const FIELDS_DEPTH: usize = 2;

/// The routes of this module.
pub(super) fn routes() -> Router<Door> {
    Router::new()
        .route("/insert", post(insert))
        .route("/create", post(insert))
        .route("/replace", post(replace))
        .route("/update", post(update))
        .route("/delete", post(delete))
}

async fn insert(State(door): State<Door>, request: Request<Body>) -> Result<Response, Refusal> {
    store(&door.server, "insert", request).await
}

async fn replace(State(door): State<Door>, request: Request<Body>) -> Result<Response, Refusal> {
    store(&door.server, "replace", request).await
}

/// POST /update: attributes of one document, or of those that a query finds, are changed in place.
async fn update(State(door): State<Door>, request: Request<Body>) -> Result<Response, Refusal> {
    let server = &door.server;
    let held = server.budget.grant();
    let bytes = read(server, request, 0, &held).await?;
    let read = || guarded(server, || change(&bytes).map_err(failure));
    let Change { id, mut update } = body::parsed(&bytes, read).await?;
    let table = update.table.clone();
    json_texts::of_update(server, &mut update);
    let (affected, _) = execute(server, &table, Statement::Update(update)).await?;
    let Some(id) = id else {
        return answer(
            StatusCode::OK,
            &json!({"table": table, "updated": affected}),
        );
    };
    let result = if affected > 0 { "updated" } else { "noop" };
    answer(
        StatusCode::OK,
        &json!({"table": table, "id": id, "_id": id, "result": result}),
    )
}

async fn store(server: &Server, verb: &str, request: Request<Body>) -> Result<Response, Refusal> {
    let held = server.budget.grant();
    let bytes = read(server, request, FIELDS_DEPTH, &held).await?;
    let read = || guarded(server, || document(verb, &bytes).map_err(failure));
    let item = body::at_length(bytes.len(), read).await?;
    let BulkItem { table, id, action } = item;
    let (fields, replaces) = match action {
        BulkAction::Insert { fields } => (fields, false),
        BulkAction::Replace { fields } => (fields, true),
        BulkAction::Delete | BulkAction::Update(_) => {
            return Err(Failure::new(errors::SYNTAX, "no doc is given").into());
        }
    };
    let (columns, row) = with_id(fields, id);
    let mut insert = Insert {
        table: table.clone(),
        columns: Some(columns),
        rows: vec![row],
        replace: replaces,
    };
    json_texts::of_insert(server, &mut insert);
    let (_, last_id) = execute(server, &table, Statement::Insert(insert)).await?;
    let id = id.unwrap_or(last_id);
    let (result, status) = if replaces {
        ("updated", 200)
    } else {
        ("created", 201)
    };
    answer(
        StatusCode::OK,
        &json!({
            "table": table,
            "id": id,
            "_id": id,
            "created": !replaces,
            "result": result,
            "status": status,
        }),
    )
}

/// Columns and values of a document, parallel; its id is the last, if it has one.
pub(super) fn with_id(
    mut fields: Vec<(String, Value)>,
    id: Option<u64>,
) -> (Vec<String>, Vec<Value>) {
    fields.extend(id.map(|id| ("id".to_owned(), Value::Int(id.into()))));
    fields.into_iter().unzip()
}

/// POST /delete: by an id, by a list of ids, or by a query as in /search.
async fn delete(State(door): State<Door>, request: Request<Body>) -> Result<Response, Refusal> {
    let server = &door.server;
    let held = server.budget.grant();
    let bytes = read(server, request, 0, &held).await?;
    let read = || guarded(server, || deletion(&bytes).map_err(failure));
    let asked = body::parsed(&bytes, read).await?;
    let (table, ids, matching, filter) = match asked {
        Deletion::Ids { table, ids } => {
            let list = ids.iter().map(|id| Value::Int(i128::from(*id))).collect();
            let listed = Expression::In {
                needle: Box::new(Expression::Column("id".to_owned())),
                negated: false,
                list,
            };
            (table, ids, None, Some(listed))
        }
        Deletion::Where(select) => (select.table, Vec::new(), select.matching, select.filter),
    };
    let statement = Statement::Delete(Delete {
        table: table.clone(),
        matching,
        filter,
        order: Vec::new(),
        limit: None,
    });
    let (affected, _) = execute(server, &table, statement).await?;
    let Some(id) = ids.first() else {
        return answer(
            StatusCode::OK,
            &json!({"table": table, "deleted": affected}),
        );
    };
    let found = affected > 0;
    let (status, result) = match found {
        true => (StatusCode::OK, "deleted"),
        false => (StatusCode::NOT_FOUND, "not found"),
    };
    answer(
        status,
        &json!({"table": table, "id": id, "_id": id, "found": found, "result": result}),
    )
}

/// Reads the body. `held` gets the memory of the body and its values.
async fn read(
    server: &Server,
    request: Request<Body>,
    fields_depth: usize,
    held: &Grant,
) -> Result<Vec<u8>, Failure> {
    let bytes = body::whole(server, request, held).await?;
    body::room_for_json(&bytes, fields_depth, held).await?;
    Ok(bytes)
}

/// Does a write. Gives the count of affected rows, and the last id.
pub(super) async fn execute(
    server: &Server,
    table: &str,
    statement: Statement,
) -> Result<(u64, u64), Failure> {
    let mut guest = Guest::new(server);
    let outcome = statement::execute(server, &mut guest.session, Parsed::of(statement)).await;
    match outcome.map_err(|failure| in_json(server, table, failure))? {
        Outcome::Done { affected, last_id } => Ok((affected, last_id)),
        _ => Err(Failure::new(
            errors::INTERNAL,
            "internal error: a write with rows",
        )),
    }
}

fn answer(status: StatusCode, body: &Json) -> Result<Response, Refusal> {
    Ok(reply::json_bytes(status, body.to_string().into_bytes()))
}
