//! /pq: stores, deletes and runs standing queries, as in Manticore.

mod search;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{post, put};
use engine::Kind;
use relation::expression::{BinaryOperator, Expression};
use relation::request::{Delete, Insert};
use relation::value::Value;
use session::errors::{self, Failure};
use session::guarded;
use wire::json::{self, PqRule};
use wire::sql::Statement;

use super::address::flag;
use super::document::execute;
use super::reply::{self, Refusal};
use super::search::failure;
use super::sql::parameters;
use super::{Door, Guest, body};
use crate::server::Server;

/// The routes below /pq.
pub(super) fn routes() -> Router<Door> {
    Router::new()
        .route("/pq/{table}/doc", put(store).post(store))
        .route(
            "/pq/{table}/doc/{id}",
            put(store_as).post(store_as).delete(delete),
        )
        .route("/pq/{table}/search", post(search::post))
}

/// Stores a query under an id that the server chooses.
async fn store(
    State(door): State<Door>,
    Path(table): Path<String>,
    request: Request<Body>,
) -> Result<Response, Refusal> {
    write(&door.server, table, 0, request).await
}

/// Stores a query under the id of the path. With `?refresh=1` it replaces the query that has this id.
async fn store_as(
    State(door): State<Door>,
    Path((table, id)): Path<(String, String)>,
    request: Request<Body>,
) -> Result<Response, Refusal> {
    write(&door.server, table, id_of(&id)?, request).await
}

async fn write(
    server: &Server,
    table: String,
    id: u64,
    request: Request<Body>,
) -> Result<Response, Refusal> {
    let table = pq_table(server, &table)?;
    let address = parameters(request.uri().query().unwrap_or("").as_bytes());
    let refresh = address.iter().find(|(name, _)| name == "refresh");
    let refresh = refresh.map(|(name, value)| flag(name, value));
    let replace = refresh.transpose()?.unwrap_or(false);
    let held = server.budget.grant();
    let bytes = body::whole(server, request, &held).await?;
    body::room_for_json(&bytes, 0, &held).await?;
    let read = || guarded(server, || json::pq_rule(&bytes).map_err(failure));
    let rule = body::at_length(bytes.len(), read).await?;
    let (_, stored) = execute(server, &table, insert(&table, id, rule, replace)).await?;
    let result = if replace { "updated" } else { "created" };
    let id = if stored == 0 { id } else { stored };
    let bytes = json::rule_reply(&table, id, result);
    Ok(reply::json_bytes(StatusCode::OK, bytes))
}

fn insert(table: &str, id: u64, rule: PqRule, replace: bool) -> Statement {
    let names = ["id", "query", "tags", "filters"].map(str::to_owned);
    let values = vec![
        Value::Int(i128::from(id)),
        Value::Str(rule.query),
        Value::Str(rule.tags),
        Value::Str(rule.filters),
    ];
    Statement::Insert(Insert {
        table: table.to_owned(),
        columns: Some(names.to_vec()),
        rows: vec![values],
        replace,
    })
}

async fn delete(
    State(door): State<Door>,
    Path((table, id)): Path<(String, String)>,
) -> Result<Response, Refusal> {
    let server = &door.server;
    let table = pq_table(server, &table)?;
    let id = id_of(&id)?;
    let column = Box::new(Expression::Column("id".to_owned()));
    let value = Box::new(Expression::Literal(Value::Int(i128::from(id))));
    let statement = Statement::Delete(Delete::new(
        table.clone(),
        Some(Expression::Binary(BinaryOperator::Equal, column, value)),
    ));
    let (affected, _) = execute(server, &table, statement).await?;
    let (status, result) = match affected {
        0 => (StatusCode::NOT_FOUND, "not found"),
        _ => (StatusCode::OK, "deleted"),
    };
    Ok(reply::json_bytes(
        status,
        json::rule_reply(&table, id, result),
    ))
}

/// The table's name in lower case. Errors: `NO_SUCH_TABLE`; `INVALID`, not a pq table.
fn pq_table(server: &Server, written: &str) -> Result<String, Failure> {
    let table = written.to_lowercase();
    let snapshot = Guest::new(server).reads(&table)?;
    if !matches!(snapshot.definition(&table)?.kind, Kind::Percolate { .. }) {
        let message = format!("'{table}' is not a pq table");
        return Err(Failure::new(errors::INVALID, message));
    }
    Ok(table)
}

fn id_of(written: &str) -> Result<u64, Failure> {
    written.parse().map_err(|_| {
        let message = format!("'{written}' is no id of a standing query");
        Failure::new(errors::INVALID, message)
    })
}
