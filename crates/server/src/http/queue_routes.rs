//! /queue: puts rows, takes them, and settles them by their receipts. A row taken here is held by its receipt and its lease,
//! not by the connection:
//!
//! ```text
//! POST /queue/mail               {"to": "a"}                    → {"rows": 1}
//! GET  /queue/mail/next?wait=5s                                 → a row with its receipt, leased to this client
//! POST /queue/mail/done          {"receipts": ["1-1-5f…01"]}    → {"done": 1}    the row is gone
//!   or /queue/mail/return        the same                       → {"done": 1}    another client may take the row now
//!   or /queue/mail/extend?visible_again=60s                     → {"done": 1}    the lease lasts 60 s from now
//!   or nothing                   the lease ends, and another client gets the row with delivery 2
//! ```
//!
//! `done` in an answer counts the receipts that were not late.

mod events;
mod request;

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{get, post};
use engine::{Answer, Command, Control, Kind, Receipt, Reply, Taken, TakenRow, Write};
use relation::request::{Insert, Item, Select};
use relation::value::Value;
use request::{QueueRequest, receipt_text};
use serde_json::json;
use session::Grant;
use session::counters::add;
use session::errors::{self, Failure};
use session::statement;
use session::{guarded, json_texts};
use wire::json::{QueueReply, documents};

use super::reply::{self, Refusal};
use super::search::failure;
use super::{Door, Guest, body, guard, hits};
use crate::server::Server;

/// The routes below /queue.
pub(super) fn routes() -> Router<Door> {
    Router::new()
        .route("/queue/{queue}", post(put))
        // axum would answer HEAD by the GET handler, which takes rows: refuse it.
        .route(
            "/queue/{queue}/next",
            get(next).post(next).head(guard::wrong_method),
        )
        .route("/queue/{queue}/done", post(done))
        .route("/queue/{queue}/return", post(give_back))
        .route("/queue/{queue}/extend", post(extend))
        .route(
            "/queue/{queue}/events",
            get(events::get).head(guard::wrong_method),
        )
        .route("/queue/{queue}/peek", get(peek))
        .route(
            "/queue/{queue}/pause",
            post(|State(door), request| set_paused(door, request, true)),
        )
        .route(
            "/queue/{queue}/resume",
            post(|State(door), request| set_paused(door, request, false)),
        )
        .route("/queue/{queue}/purge", post(purge))
}

impl Guest<'_> {
    /// Returns rows at once. If the engine refuses, they come back when their leases end.
    async fn give_back(&self, receipts: Vec<Receipt>) {
        if receipts.is_empty() {
            return;
        }
        let command = Command::QueueReturn {
            receipts,
            delay_us: 0,
        };
        let _ = self.affected(command).await;
    }

    /// Submits a command and gives its count of affected rows.
    async fn affected(&self, command: Command) -> Result<u64, Failure> {
        match self.submit(command).await? {
            Reply::Done { affected, .. } => Ok(affected),
            _ => Err(statement::unexpected()),
        }
    }

    /// Takes the next rows. Errors: the engine's; `STOPPING`, when the server stops during the wait.
    async fn take(&self, command: Command) -> Result<Taken, Failure> {
        let mut stopping = self.server.stopping();
        let reply = tokio::select! {
            reply = self.submit(command) => reply?,
            _ = stopping.wait_for(|stop| *stop) => {
                return Err(Failure::new(errors::STOPPING, "the server stops"));
            }
        };
        match reply {
            Reply::Taken(taken) => Ok(taken),
            _ => Err(statement::unexpected()),
        }
    }
}

/// Levels of JSON that are read without a tree: a list, a row.
const FIELDS_DEPTH: usize = 2;

/// POST /queue/{queue}: puts rows, which are JSON objects in an array or one behind the other. Stores all or none.
async fn put(
    State(door): State<Door>,
    Path(queue): Path<String>,
    request: Request<Body>,
) -> Result<Response, Refusal> {
    let server = &door.server;
    let queue = queue_of(server, &queue)?;
    let held = server.budget.grant();
    let bytes = body::whole(server, request, &held).await?;
    body::room_for_json(&bytes, FIELDS_DEPTH, &held).await?;
    let read = || guarded(server, || documents(&bytes).map_err(failure));
    let guest = Guest::new(server);
    guest.long(&guest.session).await;
    let rows = read()?;
    let count = rows.len();
    guest.submit(insert(server, &queue, rows)).await?;
    add(&server.counters.inserts, 1);
    Ok(answer(&json!({ "rows": count })))
}

/// The command that puts the rows. Neighbouring rows with the same columns share an INSERT.
fn insert(server: &Server, queue: &str, rows: Vec<Vec<(String, Value)>>) -> Command {
    let mut inserts: Vec<(Vec<String>, Vec<Vec<Value>>)> = Vec::new();
    for row in rows {
        let (names, values): (Vec<String>, Vec<Value>) = row.into_iter().unzip();
        match inserts.last_mut() {
            Some((columns, rows)) if *columns == names => rows.push(values),
            _ => inserts.push((names, vec![values])),
        }
    }
    let writes = inserts.into_iter().map(|(columns, rows)| {
        let mut insert = Insert {
            table: queue.to_owned(),
            columns: Some(columns),
            rows,
            replace: false,
        };
        json_texts::of_insert(server, &mut insert);
        Write::Insert(insert)
    });
    let mut writes: Vec<Write> = writes.collect();
    match writes.pop() {
        Some(only) if writes.is_empty() => Command::Write(only),
        last => {
            writes.extend(last);
            Command::Many(writes)
        }
    }
}

/// GET or POST /queue/{queue}/next: ends the rows of the given receipts, then takes the next rows. Waits for the first.
async fn next(State(door): State<Door>, request: QueueRequest) -> Result<Response, Refusal> {
    let server = &door.server;
    add(&server.counters.queue_calls, 1);
    let acknowledges = !request.receipts.is_empty();
    let group = request.group.clone();
    let guest = Guest::new(server);
    let name = request.queue.clone();
    let taken = guest.take(request.next()?).await?;
    if acknowledges {
        server.acknowledged.notify_waiters();
    }
    let mut reply = QueueReply::default();
    reply.begin();
    let held = server.budget.grant();
    let written = match held.cover(TAKEN_COPIES * taken.bytes()) {
        Ok(()) => write(&taken, group.as_deref(), &mut reply, &held),
        Err(failure) => Err(failure),
    };
    if let Err(failure) = written {
        // The client learns of no row, so all of them are free again.
        guest.give_back(receipts(&name, group, &taken)).await;
        return Err(failure.into());
    }
    reply.end();
    Ok(reply::held_bytes(StatusCode::OK, reply.into_bytes(), held))
}

/// Copies of taken rows in memory: as values, and as a reply whose buffer may double.
const TAKEN_COPIES: usize = 3;

/// The receipts of taken rows, in their order.
fn receipts(queue: &str, group: Option<String>, taken: &Taken) -> Vec<Receipt> {
    let receipt = |row: &TakenRow| Receipt {
        table: queue.to_owned(),
        issuer: taken.issuer,
        group: group.clone(),
        row: row.row,
        delivery: row.delivery,
    };
    taken.rows.iter().map(receipt).collect()
}

/// Adds taken rows with their receipts to a reply.
fn write(
    taken: &Taken,
    group: Option<&str>,
    reply: &mut QueueReply,
    held: &Grant,
) -> Result<(), Failure> {
    for row in &taken.rows {
        let receipt = receipt_text(row, taken.issuer, group);
        reply.row(Some((&receipt, row.delivery)));
        for ((name, kind), value) in taken.columns.iter().zip(&row.values) {
            reply.field(name, hits::cell(value, Some(*kind)));
        }
        reply.row_end();
        hits::bounded(reply.bytes().len(), held)?;
    }
    Ok(())
}

/// POST /queue/{queue}/done: ends rows.
async fn done(State(door): State<Door>, request: QueueRequest) -> Result<Response, Refusal> {
    settle(&door.server, request, |request| {
        Ok(Command::QueueDone {
            receipts: request.receipts,
        })
    })
    .await
}

/// POST /queue/{queue}/return: returns rows, at once or after `delay`.
async fn give_back(State(door): State<Door>, request: QueueRequest) -> Result<Response, Refusal> {
    settle(&door.server, request, |request| {
        Ok(Command::QueueReturn {
            receipts: request.receipts,
            delay_us: request.delay_us,
        })
    })
    .await
}

/// POST /queue/{queue}/extend: extends the leases of rows.
async fn extend(State(door): State<Door>, request: QueueRequest) -> Result<Response, Refusal> {
    settle(&door.server, request, |request| {
        let visible_again_us = request.visible_again_us.ok_or_else(|| {
            Failure::new(
                errors::INVALID,
                "visible_again is missing: how long from now",
            )
        })?;
        Ok(Command::QueueExtend {
            receipts: request.receipts,
            visible_again_us,
        })
    })
    .await
}

/// Submits a command on receipts, and answers with the count of those that were not late.
async fn settle(
    server: &Server,
    request: QueueRequest,
    command: impl FnOnce(QueueRequest) -> Result<Command, Failure>,
) -> Result<Response, Refusal> {
    add(&server.counters.queue_calls, 1);
    if request.receipts.is_empty() {
        let message = "no receipts: {\"receipts\": [\"…\"]}";
        return Err(Failure::new(errors::INVALID, message).into());
    }
    let command = command(request)?;
    let affected = Guest::new(server).affected(command).await?;
    server.acknowledged.notify_waiters();
    Ok(answer(&json!({ "done": affected })))
}

/// GET /queue/{queue}/peek: shows the first free rows without taking them.
async fn peek(State(door): State<Door>, request: QueueRequest) -> Result<Response, Refusal> {
    let server = &door.server;
    let select = Select {
        filter: request.condition,
        limit: Some(request.rows.into()),
        ..Select::new(request.queue, vec![Item::Star])
    };
    let guest = Guest::new(server);
    let select = Box::new(select);
    let reply = guest.submit(Command::Read { select }).await?;
    let held = Arc::new(server.budget.grant());
    let memory = held.for_rows(server.settings().live.search_memory_bytes);
    let control = Control {
        memory: Arc::new(memory),
        ..Control::default()
    };
    let found = server.rows_of(&guest.session, reply, &control).await;
    let found = found.map_err(Failure::from)?;
    let held = server.budget.grant();
    guest.long(&guest.session).await;
    let bytes = guarded(server, || peeked(found, &held))?;
    Ok(reply::held_bytes(StatusCode::OK, bytes, held))
}

fn peeked(found: Answer, held: &Grant) -> Result<Vec<u8>, Failure> {
    let mut reply = QueueReply::default();
    reply.begin();
    for row in found.rows {
        reply.row(None);
        for ((name, kind), value) in found.columns.iter().zip(&row?) {
            reply.field(name, hits::cell(value, *kind));
        }
        reply.row_end();
        hits::bounded(reply.bytes().len(), held)?;
    }
    reply.end();
    Ok(reply.into_bytes())
}

async fn set_paused(door: Door, request: QueueRequest, paused: bool) -> Result<Response, Refusal> {
    let command = Command::QueuePause {
        table: request.queue,
        group: request.group,
        paused,
    };
    Guest::new(&door.server).affected(command).await?;
    Ok(answer(&json!({ "paused": paused })))
}

/// POST /queue/{queue}/purge: deletes every row that no client holds.
async fn purge(State(door): State<Door>, request: QueueRequest) -> Result<Response, Refusal> {
    let server = &door.server;
    let table = request.queue;
    let gone = Guest::new(server)
        .affected(Command::QueuePurge { table })
        .await?;
    Ok(answer(&json!({ "rows": gone })))
}

/// The queue's name in lower case. Errors: `NO_SUCH_TABLE`; `INVALID`, not a queue.
fn queue_of(server: &Server, written: &str) -> Result<String, Failure> {
    let queue = written.to_lowercase();
    let snapshot = Guest::new(server).reads(&queue)?;
    if !matches!(snapshot.definition(&queue)?.kind, Kind::Queue(_)) {
        let message = format!("'{queue}' is not a queue");
        return Err(Failure::new(errors::INVALID, message));
    }
    Ok(queue)
}

fn answer(body: &serde_json::Value) -> Response {
    reply::json_bytes(StatusCode::OK, body.to_string().into_bytes())
}
