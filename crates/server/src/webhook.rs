//! Webhooks: hits of a pq table with `into='https://…'` are sent to that address.
//!
//! The engine puts the hits into a queue. A task for each table takes them from it, one at a time. A few threads that all tables
//! share send them. A hit in its life:
//!
//! ```text
//! queue_wait takes the hit                  the task's session owns the row: a crash returns it
//! attempt 1 → 503, pause 1 s                the table moves to the lane of failing tables
//! attempt 2 → no answer in 15 s, pause 5 s
//! attempt 3 → 200                           queue_end: the row is gone; the table is back in the sound lane
//! ```
//!
//! After the sixth failed attempt, or a status 410, the hit moves to the queue of the dead. A target that hangs blocks a thread
//! for its time limit. Two lanes of threads keep it from blocking tables whose targets answer: see [`worker::Lanes`].

pub(crate) mod allow;
mod message;
mod retry;
pub(crate) mod sign;
mod worker;

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::Webhook;
use tokio::task::JoinHandle;

pub use message::as_json;

use session::movable::Movable;
use session::{Action, Deed, Session};
use worker::{Sender, Worker};

use crate::limits::WEBHOOK_LOOK_EVERY;
use crate::server::Server;

/// Starts the task that starts and ends the tasks of tables with a webhook, until the server stops. Called once, after recovery.
pub(crate) fn start(server: &Arc<Server>) {
    let server = Arc::clone(server);
    tokio::spawn(async move {
        let mut workers = Workers::default();
        let mut stopping = server.stopping();
        let mut look = tokio::time::interval(WEBHOOK_LOOK_EVERY);
        let sender = Sender::new(&server);
        let session = own_session(&server);
        loop {
            tokio::select! {
                _ = stopping.wait_for(|stop| *stop) => return,
                _ = look.tick() => workers.follow(&server, &session, &sender),
            }
        }
    });
}

/// The tasks, by table. Dropping it ends them; a hit that a task has taken returns to its queue.
#[derive(Default)]
struct Workers(BTreeMap<String, (Webhook, JoinHandle<()>)>);

impl Workers {
    /// Ends the tasks of tables that are gone or have another address, and starts missing tasks.
    fn follow(&mut self, server: &Arc<Server>, session: &Session, sender: &Sender) {
        let webhooks = webhooks(server, session);
        self.0.retain(|_, (webhook, task)| {
            let stays = webhooks.contains(webhook) && !task.is_finished();
            if !stays {
                task.abort();
            }
            stays
        });
        for webhook in webhooks {
            self.0.entry(webhook.table.clone()).or_insert_with(|| {
                let worker = Worker::new(Arc::clone(server), webhook.clone(), sender.clone());
                let scheduler = Arc::clone(&server.scheduler);
                (webhook, tokio::spawn(Movable::new(scheduler, worker.run())))
            });
        }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        for (_, task) in self.0.values() {
            task.abort();
        }
    }
}

/// The webhooks of all tables.
fn webhooks(server: &Server, session: &Session) -> Vec<Webhook> {
    let Ok(snapshot) = server.snapshot(session, Action(Deed::Read, None)) else {
        return Vec::new();
    };
    let tables = snapshot.tables().into_iter();
    tables
        .filter_map(|(name, _)| Webhook::of(&*snapshot.definition(&name).ok()?))
        .collect()
}

/// A session of the server's own.
fn own_session(server: &Server) -> Session {
    let id = server.next_session();
    Session::new(id, String::new(), "webhook".to_owned(), None)
}
