//! POST /order: an order from a back end, which knows the login. Repeated calls store it once.
//!
//! The id of its row is made of the order's id: bits of a hash, and of further hashes where other rows hold the ids before. So two calls at
//! the same time meet at one row, and the second sees that it is the same order, or that it is another one and takes the next id.

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::json;
use session::counters::add;
use session::errors::{self, Failure};
use sha2::{Digest, Sha256};
use study::attribution::record::{self, BackEndOrder, Order, Told};

use super::store::{self, Row, Stored, StoredRow};
use crate::http::reply::{self, Refusal};
use crate::http::{Door, body};
use crate::limits::{ORDER_IDS_MAX, TOUCH_BODY_BYTES_MAX};
use crate::server::Server;

/// POST /order.
pub(super) async fn take(
    State(door): State<Door>,
    request: Request<Body>,
) -> Result<Response, Refusal> {
    let server = &door.server;
    let taken = taken(server, request).await;
    if taken.is_err() {
        add(&server.counters.touches_failed, 1);
    }
    Ok(taken?)
}

async fn taken(server: &Server, request: Request<Body>) -> Result<Response, Failure> {
    super::settings(server)?;
    body::not_packed(request.headers())?;
    let held = server.budget.grant();
    let bytes = body::within(server, request, &held, TOUCH_BODY_BYTES_MAX).await?;
    let now_s = server.clock.unix_us().div_euclid(1_000_000);
    let told = record::back_end_order(&bytes, now_s * 1_000)
        .map_err(|why| Failure::new(errors::INVALID, why))?;
    let visitor = visitor_of(server, &told).await?;
    let time_s = told.time_s.unwrap_or(now_s);
    let (stored, id) = store_once(server, &told.order, &visitor, time_s).await?;
    let counter = match stored {
        Stored::New => &server.counters.touches_stored,
        Stored::Before => &server.counters.touches_repeated,
    };
    add(counter, 1);
    let body = json!({
        "order": told.order.id,
        "id": id,
        "visitor": visitor,
        "stored": stored == Stored::New,
    });
    let body = body.to_string().into_bytes();
    Ok(reply::json_bytes(StatusCode::OK, body))
}

/// The visitor that the order names, or that of an order that is recorded. Errors: `NO_SUCH_ORDER`.
async fn visitor_of(server: &Server, told: &BackEndOrder) -> Result<String, Failure> {
    if let Some(visitor) = &told.visitor {
        return Ok(visitor.clone());
    }
    let found = store::visitor_of(server, &told.of).await?;
    found.ok_or_else(|| {
        let message = format!(
            "no order {:?} is recorded whose visitor could be taken: name the visitor",
            told.of
        );
        Failure::new(errors::NO_SUCH_ORDER, message)
    })
}

/// Stores an order unless it is there. Gives the id of its row.
async fn store_once(
    server: &Server,
    order: &Order,
    visitor: &str,
    time_s: i64,
) -> Result<(Stored, u64), Failure> {
    for attempt in 0..ORDER_IDS_MAX {
        let id = row_id(&order.id, attempt);
        let row = Row {
            visitor: visitor.to_owned(),
            time_s,
            told: Told::Order(order.clone()),
            is_confirmed: true,
            site: String::new(),
        };
        if store::insert(server, id, row).await? == Stored::New {
            return Ok((Stored::New, id));
        }
        let there = store::row_of_id(server, id).await?;
        match there.filter(|row| row.is_confirmed && row.order_id == order.id) {
            Some(row) => return same(order, visitor, &row).map(|()| (Stored::Before, id)),
            // Another order's row, or one that a page chose.
            None => continue,
        }
    }
    let message = format!(
        "{ORDER_IDS_MAX} row ids of order {:?} are held by other rows",
        order.id
    );
    Err(Failure::new(errors::LIMIT, message))
}

/// Errors: `ORDER_DIFFERS`: the order is recorded otherwise.
fn same(order: &Order, visitor: &str, row: &StoredRow) -> Result<(), Failure> {
    let differs = [
        ("value", row.value != Some(order.value)),
        ("currency", row.currency != order.currency),
        ("visitor", row.visitor != visitor),
    ];
    match differs.iter().find(|(_, differs)| *differs) {
        None => Ok(()),
        Some((what, _)) => Err(Failure::new(
            errors::ORDER_DIFFERS,
            format!("order {:?} is recorded with another {what}", order.id),
        )),
    }
}

/// 63 bits of a hash, above 0.
fn row_id(order: &str, attempt: u32) -> u64 {
    let mut hash = Sha256::new();
    hash.update(attempt.to_be_bytes());
    hash.update(order);
    let bytes: [u8; 32] = hash.finalize().into();
    let (first, _) = bytes.split_first_chunk().unwrap_or((&[0; 8], &[]));
    (u64::from_be_bytes(*first) >> 1).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_id_is_that_of_the_order_and_the_attempt() {
        let ids = [row_id("1042", 0), row_id("1042", 1), row_id("1043", 0)];
        assert_eq!(row_id("1042", 0), ids[0], "the same after a restart");
        assert!(ids.iter().all(|id| (1..=i64::MAX as u64).contains(id)));
        assert!(ids[0] != ids[1] && ids[0] != ids[2]);
    }
}
