//! Hits that go to an address: `into='https://…'`. The engine keeps them in a queue; here each table has a thread that
//! takes them, one at a time, and sends them. No table waits for another's target, and nothing waits for these threads.

mod allow;
mod message;
mod retry;
mod sign;
mod worker;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use engine::Webhook;

pub use allow::{Allowed, Target};
pub use message::as_json;
pub use sign::Secret;

use crate::limits::WEBHOOK_LOOK_EVERY;
use crate::node::Node;
use worker::Worker;

/// Starts the thread that looks for tables with a webhook, and one a table, until the server stops. Called once, when
/// recovery is over.
pub fn start(node: &Arc<Node>) {
    let node = Arc::clone(node);
    let watched = thread::Builder::new().name("webhooks".to_owned());
    if let Err(error) = watched.spawn(move || watch(&node)) {
        tracing::error!(%error, "cannot start the thread of webhooks: no hits are sent");
    }
}

fn watch(node: &Arc<Node>) {
    let stopping = node.stopping();
    let mut workers: BTreeMap<String, JoinHandle<()>> = BTreeMap::new();
    while !*stopping.borrow() {
        workers.retain(|_, worker| !worker.is_finished());
        for webhook in webhooks(node) {
            let table = webhook.table.clone();
            if workers.contains_key(&table) {
                continue;
            }
            let worker = Worker::new(Arc::clone(node), webhook);
            let thread = thread::Builder::new().name("webhook".to_owned());
            match thread.spawn(move || worker.run()) {
                Ok(worker) => drop(workers.insert(table, worker)),
                Err(error) => tracing::error!(%error, table, "cannot start a webhook's thread"),
            }
        }
        thread::park_timeout(WEBHOOK_LOOK_EVERY);
    }
}

/// Those of all tables as they are now.
fn webhooks(node: &Node) -> Vec<Webhook> {
    let Ok(engine) = node.engine() else {
        return Vec::new();
    };
    let snapshot = engine.snapshot();
    let tables = snapshot.tables().into_iter();
    tables
        .filter_map(|(name, _)| Webhook::of(&*snapshot.definition(&name).ok()?))
        .collect()
}
