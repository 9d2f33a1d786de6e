//! Requests to /queue: options in the address, in the body, or in both.

use std::time::Duration;

use axum::body::Body;
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::response::{IntoResponse, Response};
use engine::{Command, Hold, Issuer, QueueNext, Receipt, RowNumber, TakenRow, WaitSource};
use relation::expression::Expression;
use session::errors::{self, Failure};
use session::guarded;
use session::units::duration_or_zero;
use wire::json::queue_body;

use super::super::reply::Refusal;
use super::super::search::failure;
use super::super::sql::parameters;
use super::super::{Door, address, body};
use super::queue_of;
use crate::limits::{QUEUE_ROWS_MAX, QUEUE_WAIT_MAX};
use crate::server::Server;

/// A request to a queue.
pub(super) struct QueueRequest {
    /// The queue's name, in lower case.
    pub queue: String,
    /// `rows`: most rows, 1 ..= [`QUEUE_ROWS_MAX`]; default 1.
    pub rows: u32,
    /// `wait`: longest wait for the first row, at most [`QUEUE_WAIT_MAX`]; default 0.
    pub wait: Duration,
    /// `visible_again`: the lease of a row; `None`: the queue's own.
    pub visible_again_us: Option<u64>,
    /// `delay`: time before a returned row is free again; default 0.
    pub delay_us: u64,
    /// `group`: a consumer group, in lower case.
    pub group: Option<String>,
    /// `where`: takes only rows for which this is true.
    pub condition: Option<Expression>,
    /// `done` or `receipts` of the body.
    pub receipts: Vec<Receipt>,
}

impl FromRequest<Door> for QueueRequest {
    type Rejection = Response;

    async fn from_request(request: Request, door: &Door) -> Result<QueueRequest, Response> {
        let (mut parts, body) = request.into_parts();
        let queue = Path::<String>::from_request_parts(&mut parts, door).await;
        let Path(queue) = queue.map_err(IntoResponse::into_response)?;
        let read = QueueRequest::read(&door.server, &queue, Request::from_parts(parts, body));
        read.await
            .map_err(|failure| Refusal(failure).into_response())
    }
}

impl QueueRequest {
    /// Reads address and body. An option of the body overrides that of the address.
    async fn read(
        server: &Server,
        queue: &str,
        request: Request<Body>,
    ) -> Result<QueueRequest, Failure> {
        let mut read = QueueRequest {
            queue: queue_of(server, queue)?,
            rows: 1,
            wait: Duration::ZERO,
            visible_again_us: None,
            delay_us: 0,
            group: None,
            condition: None,
            receipts: Vec::new(),
        };
        let names = address::names(request.extensions());
        let asked = parameters(request.uri().query().unwrap_or("").as_bytes());
        for (name, value) in asked {
            body::parsed(value.as_bytes(), || read.set(&name, &value)).await?;
        }
        let held = server.budget.grant();
        let bytes = body::whole(server, request, &held).await?;
        body::room_for_json(&bytes, 0, &held).await?;
        let body = guarded(server, || queue_body(&bytes).map_err(failure))?;
        for (name, value) in body.options {
            address::check(&name, names)?;
            body::parsed(value.as_bytes(), || read.set(&name, &value)).await?;
        }
        for text in &body.receipts {
            let receipt = receipt(&read.queue, text).ok_or_else(|| {
                Failure::new(errors::INVALID, format!("{text:?} is no receipt of a row"))
            })?;
            read.receipts.push(receipt);
        }
        Ok(read)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), Failure> {
        let done = match name {
            "rows" => rows(value).map(|rows| self.rows = rows),
            "wait" => time(value).map(|wait| self.wait = wait.min(QUEUE_WAIT_MAX)),
            "visible_again" => time(value).map(|time| self.visible_again_us = Some(us(time))),
            "delay" => time(value).map(|time| self.delay_us = us(time)),
            "group" => {
                self.group = Some(value.to_lowercase());
                Ok(())
            }
            "where" => condition(&self.queue, value).map(|read| self.condition = read),
            _ => Err("there are rows, wait, visible_again, delay, group and where".to_owned()),
        };
        done.map_err(|why| Failure::new(errors::INVALID, format!("{name}: {why}")))
    }

    /// The command that ends the rows of the receipts, then takes rows on a lease.
    pub(super) fn next(self) -> Result<Command, Failure> {
        let source = WaitSource {
            table: self.queue,
            condition: self.condition,
        };
        Ok(Command::QueueNext(QueueNext {
            sources: vec![source],
            group: self.group,
            rows: self.rows,
            timeout_us: us(self.wait),
            hold: Hold::Lease {
                visible_again_us: self.visible_again_us,
            },
            done: self.receipts,
        }))
    }
}

/// Hexadecimal digits of a token: 16 for the incarnation, then 8 for the table's number.
const TOKEN_DIGITS: usize = 24;

/// A receipt as text: `ROW-DELIVERY-TOKEN`, and `-GROUP` for a consumer group. The token is the issuer. Example, row 17 at its
/// second delivery, of table 3 and a server of incarnation 255: `17-2-00000000000000ff00000003`.
pub(super) fn receipt_text(row: &TakenRow, issuer: Issuer, group: Option<&str>) -> String {
    let Issuer { incarnation, table } = issuer;
    let text = format!("{}-{}-{incarnation:016x}{table:08x}", row.row, row.delivery);
    match group {
        None => text,
        Some(group) => format!("{text}-{group}"),
    }
}

/// Parses a receipt. A client may still hold a receipt of an older version, `ROW-DELIVERY` or `ROW-DELIVERY-GROUP`. It gets the
/// default issuer, which no server has, and so is late.
fn receipt(queue: &str, text: &str) -> Option<Receipt> {
    let mut parts = text.splitn(3, '-');
    let row = RowNumber(parts.next()?.parse().ok()?);
    let delivery = parts.next()?.parse().ok()?;
    let mut rest = parts.next().unwrap_or_default().splitn(2, '-');
    let issuer = issuer(rest.next().unwrap_or_default());
    Some(Receipt {
        table: queue.to_owned(),
        issuer: issuer.unwrap_or_default(),
        group: rest.next().map(str::to_owned),
        row,
        delivery,
    })
}

/// The issuer of a token; `None`: the text is no token.
fn issuer(token: &str) -> Option<Issuer> {
    let is_token =
        token.len() == TOKEN_DIGITS && token.bytes().all(|byte| byte.is_ascii_hexdigit());
    let (incarnation, table) = token.split_at_checked(16).filter(|_| is_token)?;
    Some(Issuer {
        incarnation: u64::from_str_radix(incarnation, 16).ok()?,
        table: u32::from_str_radix(table, 16).ok()?,
    })
}

fn rows(text: &str) -> Result<u32, String> {
    let rows = text.parse().ok();
    rows.filter(|rows| (1..=QUEUE_ROWS_MAX).contains(rows))
        .ok_or_else(|| format!("{text:?} is not a number from 1 to {QUEUE_ROWS_MAX}"))
}

/// A time such as `10s`, `250ms` or `0s`. A number alone is seconds; it may be 0 or have a fraction.
pub(super) fn time(text: &str) -> Result<Duration, String> {
    match text.parse::<f64>().map(Duration::try_from_secs_f64) {
        Ok(Ok(time)) => Ok(time),
        _ => duration_or_zero(text),
    }
}

fn us(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

fn condition(queue: &str, text: &str) -> Result<Option<Expression>, String> {
    wire::sql::wait_source(&format!("{queue}:{text}")).map(|source| source.condition)
}

#[cfg(test)]
mod tests;
