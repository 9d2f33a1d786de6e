//! Hits that go to an address: `into='https://…'`. The engine keeps them in a queue; here a task for each table takes them, one
//! at a time, and has them sent by a few threads that all tables share.
//!
//! A target that hangs holds a thread for its time limit. So that it holds up no other table, a table whose last attempt failed
//! shares other threads than the rest: see [`worker::Lanes`].

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

use crate::limits::WEBHOOK_LOOK_EVERY;
use crate::server::Server;
use session::{Action, Deed, Session};
use worker::{Sender, Worker};

/// Starts the task that looks for tables with a webhook, and one for each of those, until the server stops. Called once, when
/// recovery is over.
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

/// The tasks, by table. Dropping it ends them; a hit that a task has taken goes back to its queue.
#[derive(Default)]
struct Workers(BTreeMap<String, (Webhook, JoinHandle<()>)>);

impl Workers {
    /// Ends the task of a table that is gone or has another address, and starts those that are missing.
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
                (webhook, tokio::spawn(worker.run()))
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

/// Those of all tables as they are now.
fn webhooks(server: &Server, session: &Session) -> Vec<Webhook> {
    let Ok(snapshot) = server.snapshot(session, Action(Deed::Read, None)) else {
        return Vec::new();
    };
    let tables = snapshot.tables().into_iter();
    tables
        .filter_map(|(name, _)| Webhook::of(&*snapshot.definition(&name).ok()?))
        .collect()
}

/// A session of the server itself.
fn own_session(server: &Server) -> Session {
    let id = server.next_session();
    Session::new(id, String::new(), "webhook".to_owned(), None)
}
