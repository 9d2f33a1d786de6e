//! GET /queue/{queue}/events: rows as server-sent events, as they come.
//!
//! Example with `rows=2`: the stream sends rows 1 and 2 and takes no more. POST /queue/{queue}/done with the receipt of row 1
//! wakes it; it sends row 3. The client goes: rows 2 and 3 are free for others at once.
//!
//! Invariants:
//! - The client holds at most `rows` rows at a time.
//! - While its client reads, the stream extends the leases of its rows whenever a third of a lease is over.
//! - When the stream ends, it returns every row whose end it has not seen.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use engine::{Command, Hold, QueueNext, Receipt, Taken, WaitSource};
use session::counters::add;
use session::errors::Failure;
use tokio::sync::mpsc;
use wire::json::QueueReply;

use super::super::reply::{Coming, Refusal, held_piece};
use super::super::{Door, Guest};
use super::request::{QueueRequest, receipt_text};
use super::{TAKEN_COPIES, receipts, write};
use crate::limits::{EVENT_BEAT, EVENT_LEASE};
use crate::server::Server;

/// Pieces of events that may wait for a slow client. No more rows are taken until the client has read one.
const EVENTS_AHEAD: usize = 4;

/// Handles GET /queue/{queue}/events: answers at once, and lets a task of its own take the rows.
pub(super) async fn get(
    State(door): State<Door>,
    request: QueueRequest,
) -> Result<Response, Refusal> {
    let server = Arc::clone(&door.server);
    add(&server.counters.queue_calls, 1);
    let (sender, receiver) = mpsc::channel(EVENTS_AHEAD);
    tokio::spawn(async move {
        let guest = Guest::new(&server);
        let lease_us = request
            .visible_again_us
            .unwrap_or(EVENT_LEASE.as_micros() as u64);
        let mut stream = Stream {
            server: &server,
            guest,
            request,
            lease_us,
            out: Vec::new(),
            looked_us: server.clock.steady_us(),
            sender,
        };
        if let Err(failure) = stream.run().await {
            let data = super::super::reply::body(&failure);
            let event = format!("event: error\ndata: {data}\n\n");
            // Fails if the client is gone: then nobody needs the error.
            let _ = stream.sender.send(event.into()).await;
        }
        stream.give_back().await;
    });
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    let body = Body::new(Coming(receiver));
    Ok((StatusCode::OK, headers, body).into_response())
}

struct Stream<'a> {
    server: &'a Server,
    guest: Guest<'a>,
    request: QueueRequest,
    lease_us: u64,
    /// Receipts of the rows that the client holds. A row that has ended may still be among them until the next look.
    out: Vec<Receipt>,
    /// When the leases were extended last, in steady microseconds.
    looked_us: u64,
    sender: mpsc::Sender<Bytes>,
}

/// The stream ends: the client is gone, or there is no memory for its rows.
struct Ended;

impl Stream<'_> {
    /// Takes and sends rows until the client goes or the server stops.
    async fn run(&mut self) -> Result<(), Failure> {
        let mut stopping = self.server.stopping();
        loop {
            let mut acknowledged = std::pin::pin!(self.server.acknowledged.notified());
            // Enabled before `hold_on`: a row that ends during it wakes the wait below.
            acknowledged.as_mut().enable();
            self.hold_on().await?;
            let room = (self.request.rows as usize).saturating_sub(self.out.len());
            let next = self.next(room as u32);
            let taken = tokio::select! {
                biased;
                () = self.sender.closed() => return Ok(()),
                _ = stopping.wait_for(|stop| *stop) => return Ok(()),
                taken = self.guest.take(next), if room > 0 => taken?,
                () = acknowledged, if room == 0 => continue,
                () = tokio::time::sleep(self.beat()), if room == 0 => Taken::default(),
            };
            if self.send(taken).await.is_err() {
                return Ok(());
            }
        }
    }

    /// Time between two extensions of leases, and between two signs of life: a third of the lease, at most [`EVENT_BEAT`].
    fn beat(&self) -> Duration {
        EVENT_BEAT.min(Duration::from_micros(self.lease_us / 3))
    }

    fn next(&self, rows: u32) -> Command {
        Command::QueueNext(QueueNext {
            sources: vec![WaitSource {
                table: self.request.queue.clone(),
                condition: self.request.condition.clone(),
            }],
            group: self.request.group.clone(),
            rows,
            timeout_us: self.beat().as_micros() as u64,
            hold: Hold::Lease {
                visible_again_us: Some(self.lease_us),
            },
            done: Vec::new(),
        })
    }

    /// Sends rows, or a comment as a sign of life if there are none.
    async fn send(&mut self, taken: Taken) -> Result<(), Ended> {
        if taken.rows.is_empty() {
            let waiting = Bytes::from_static(b": waiting\n\n");
            return self.sender.send(waiting).await.map_err(|_| Ended);
        }
        let group = self.request.group.clone();
        self.out
            .extend(receipts(&self.request.queue, group.clone(), &taken));
        let held = self.server.budget.grant();
        let room = held.cover(TAKEN_COPIES * taken.bytes());
        room.map_err(|_| Ended)?;
        let mut events = Vec::new();
        for row in taken.rows {
            let id = receipt_text(&row, taken.issuer, group.as_deref());
            let one = Taken {
                source: taken.source,
                issuer: taken.issuer,
                columns: taken.columns.clone(),
                rows: vec![row],
            };
            let mut reply = QueueReply::default();
            write(&one, group.as_deref(), &mut reply, &held).map_err(|_| Ended)?;
            events.extend_from_slice(format!("id: {id}\nevent: row\ndata: ").as_bytes());
            events.extend_from_slice(reply.bytes());
            events.extend_from_slice(b"\n\n");
        }
        let events = held_piece(events, held);
        self.sender.send(events).await.map_err(|_| Ended)
    }

    /// Extends the leases of the rows that are out, and drops the receipts of rows that have ended. It does so only when a beat
    /// is over or the client holds `rows` rows.
    async fn hold_on(&mut self) -> Result<(), Failure> {
        let now_us = self.server.clock.steady_us();
        let is_time = now_us.saturating_sub(self.looked_us) >= self.beat().as_micros() as u64;
        let is_full = self.out.len() >= self.request.rows as usize;
        if self.out.is_empty() || !is_time && !is_full {
            return Ok(());
        }
        self.looked_us = now_us;
        let held = self.extend(self.out.clone()).await?;
        if held as usize == self.out.len() {
            return Ok(());
        }
        let mut still_out = Vec::with_capacity(held as usize);
        for receipt in std::mem::take(&mut self.out) {
            if self.extend(vec![receipt.clone()]).await? == 1 {
                still_out.push(receipt);
            }
        }
        self.out = still_out;
        Ok(())
    }

    async fn extend(&self, receipts: Vec<Receipt>) -> Result<u64, Failure> {
        let command = Command::QueueExtend {
            receipts,
            visible_again_us: self.lease_us,
        };
        self.guest.affected(command).await
    }

    /// Returns the rows of a client that is gone, so that others get them at once.
    async fn give_back(&mut self) {
        let receipts = std::mem::take(&mut self.out);
        self.guest.give_back(receipts).await;
    }
}
