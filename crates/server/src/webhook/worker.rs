//! The thread of one table: takes a hit, sends it until it is taken or given up, ends it.

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use engine::{Answer, Command, Error, Reply, SessionId, WaitSource, Webhook};
use query::request::{Item, Select};
use query::value::Value;
use tokio::sync::watch;
use ureq::Agent;

use super::allow::Target;
use super::message::Message;
use super::retry::pause_after;
use crate::limits::{
    WEBHOOK_LOOK_EVERY, WEBHOOK_REPLY_BYTES_MAX, WEBHOOK_TIMEOUT, WEBHOOK_WARN_EVERY,
};
use crate::node::Node;
use crate::status::add;

/// Time between two looks at whether a wait is over.
const GLANCE: Duration = Duration::from_millis(100);

/// How long one `queue_wait` lasts; the worker asks again.
const WAIT_US: u64 = 3_600_000_000;

/// HTTP's "Gone": the target asks for nothing more, so the hit is not sent again.
const GONE: u16 = 410;

pub(super) struct Worker {
    node: Arc<Node>,
    webhook: Webhook,
    session: SessionId,
    agent: Agent,
    stopping: watch::Receiver<bool>,
}

/// A row of the queue.
struct Hit {
    columns: Vec<String>,
    row: Vec<Value>,
    message: Message,
}

/// Why an attempt failed.
struct Refused {
    why: String,
    /// Another attempt is not wanted.
    is_final: bool,
}

impl Worker {
    pub(super) fn new(node: Arc<Node>, webhook: Webhook) -> Worker {
        // What is connected to is what was allowed: no redirect is followed and no proxy asked.
        let config = Agent::config_builder()
            .max_redirects(0)
            .http_status_as_error(false)
            .proxy(None)
            .timeout_global(Some(node.faults.webhook_timeout(WEBHOOK_TIMEOUT)))
            .user_agent(concat!("seine/", env!("CARGO_PKG_VERSION")))
            .build();
        Worker {
            session: node.next_session(),
            stopping: node.stopping(),
            agent: config.into(),
            node,
            webhook,
        }
    }

    /// Until the server stops, or the table is gone or has another address.
    pub(super) fn run(self) {
        let table = &self.webhook.table;
        match Target::parse(&self.webhook.url) {
            Err(why) => {
                tracing::error!(table, why, "hits cannot be sent");
                while !self.is_over() {
                    thread::park_timeout(WEBHOOK_LOOK_EVERY);
                }
            }
            Ok(target) => {
                while self.wait_until_allowed(&target) {
                    if let Err(error) = self.turn(&target) {
                        // What was taken is not ended: it goes back, and is sent again.
                        tracing::warn!(table, %error, "a hit waits in the webhook's queue");
                        self.node.close_session(self.session);
                        self.pause(WEBHOOK_LOOK_EVERY);
                    }
                }
            }
        }
    }

    /// One hit, if one comes.
    fn turn(&self, target: &Target) -> Result<(), Error> {
        let wait = Command::QueueWait {
            sources: vec![WaitSource::all(self.webhook.queue.clone())],
            timeout_us: WAIT_US,
        };
        if !matches!(self.ask(wait)?, Reply::Waited(1)) {
            return Ok(());
        }
        if let Some(hit) = self.owned()?
            && !self.deliver(target, hit)?
        {
            return Ok(()); // over: the closed session gives the row back
        }
        self.ask(Command::QueueEnd).map(drop)
    }

    /// The row that was taken.
    fn owned(&self) -> Result<Option<Hit>, Error> {
        let select = Select {
            table: self.webhook.queue.clone(),
            items: vec![Item::Star],
            matching: None,
            filter: None,
            order: Vec::new(),
            limit: Some(1),
            offset: 0,
            options: Vec::new(),
        };
        let Reply::Rows(Answer { columns, rows, .. }) = self.ask(Command::Read { select })? else {
            return Ok(None);
        };
        let Some(row) = rows.into_iter().next().transpose()? else {
            return Ok(None);
        };
        let message = Message::of(&self.webhook.table, &columns, &row);
        let columns = columns.into_iter().map(|(name, _)| name).collect();
        Ok(Some(Hit {
            columns,
            row,
            message,
        }))
    }

    /// Sends a hit until it is taken or put to the dead; false where the end came first.
    fn deliver(&self, target: &Target, hit: Hit) -> Result<bool, Error> {
        let table = &self.webhook.table;
        for attempt in 1.. {
            if !self.wait_until_allowed(target) {
                return Ok(false);
            }
            let Err(refused) = self.post(target, &hit.message) else {
                add(&self.node.counters.webhooks_delivered, 1);
                return Ok(true);
            };
            add(&self.node.counters.webhooks_failed, 1);
            let pause = pause_after(attempt).filter(|_| !refused.is_final);
            let Some(pause) = pause else {
                let (id, why) = (&hit.message.id, &refused.why);
                tracing::warn!(
                    table,
                    id,
                    why,
                    "a hit is given up; it is in the table of the dead"
                );
                return self.bury(hit, refused.why).map(|()| true);
            };
            tracing::info!(table, attempt, why = refused.why, "a hit was not taken");
            self.pause(self.node.faults.webhook_pause(pause));
        }
        Ok(false)
    }

    /// One attempt. Any status of 200 to 299 means taken.
    fn post(&self, target: &Target, message: &Message) -> Result<(), Refused> {
        let seconds = self.node.clock.unix_us().div_euclid(1_000_000);
        let secret = &self.node.settings().live.webhook_secret;
        let signature = secret.sign(&message.id, seconds, &message.body);
        let mut request = self
            .agent
            .post(&target.url)
            .header("content-type", "application/json")
            .header("webhook-id", &message.id)
            .header("webhook-timestamp", seconds.to_string());
        if let Some(signature) = signature {
            request = request.header("webhook-signature", signature);
        }
        let mut response = request.send(&message.body).map_err(|error| Refused {
            why: error.to_string(),
            is_final: false,
        })?;
        // Read so that the connection can be used again; what it says does not matter, nor whether it ends.
        let body = response.body_mut().with_config();
        drop(body.limit(WEBHOOK_REPLY_BYTES_MAX).read_to_vec());
        let status = response.status();
        if status.is_success() {
            return Ok(());
        }
        Err(Refused {
            why: format!("status {status}"),
            is_final: status.as_u16() == GONE,
        })
    }

    /// Moves a hit to the dead, as one unit.
    fn bury(&self, hit: Hit, why: String) -> Result<(), Error> {
        let Hit {
            mut columns,
            mut row,
            ..
        } = hit;
        columns.push("error".to_owned());
        row.push(Value::Str(why));
        let insert = Command::Insert {
            table: self.webhook.dead.clone(),
            columns: Some(columns),
            rows: vec![row],
            replace: false,
        };
        // In owner mode only the row owned is seen, and so deleted.
        let delete = Command::Delete {
            table: self.webhook.queue.clone(),
            matching: None,
            filter: None,
            limit: None,
        };
        self.ask(Command::Many(vec![insert, delete]))?;
        add(&self.node.counters.webhooks_dead, 1);
        Ok(())
    }

    /// Asks the engine, and waits for its answer. When the end comes, the session is closed, which ends a wait.
    fn ask(&self, command: Command) -> Result<Reply, Error> {
        let (sender, answer) = mpsc::sync_channel(1);
        let reply = Box::new(move |outcome| {
            // Received below, unless this thread is gone.
            let _ = sender.send(outcome);
        });
        let engine = self.node.engine().map_err(|_| Error::Stopped)?;
        engine.submit(self.session, command, reply)?;
        let mut is_closed = false;
        loop {
            match answer.recv_timeout(GLANCE) {
                Ok(outcome) => return outcome,
                Err(RecvTimeoutError::Disconnected) => return Err(Error::Stopped),
                Err(RecvTimeoutError::Timeout) if !is_closed && self.is_over() => {
                    self.node.close_session(self.session);
                    is_closed = true;
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Waits while the host is not among those of `webhook.allow`, and says so now and then; false at the end.
    fn wait_until_allowed(&self, target: &Target) -> bool {
        let mut next_warning_us = 0;
        while !self.is_over() {
            let settings = self.node.settings();
            if settings.live.webhook_allow.holds(target) {
                return true;
            }
            let now_us = self.node.clock.steady_us();
            if now_us >= next_warning_us {
                let table = &self.webhook.table;
                tracing::warn!(table, host = %target, "webhook.allow does not name this host: hits wait");
                next_warning_us = now_us + WEBHOOK_WARN_EVERY.as_micros() as u64;
            }
            self.pause(WEBHOOK_LOOK_EVERY);
        }
        false
    }

    /// Waits; shorter at the end.
    fn pause(&self, pause: Duration) {
        let until_us = self.node.clock.steady_us() + pause.as_micros() as u64;
        while !self.is_over() {
            let left_us = until_us.saturating_sub(self.node.clock.steady_us());
            if left_us == 0 {
                return;
            }
            thread::park_timeout(GLANCE.min(Duration::from_micros(left_us)));
        }
    }

    /// Whether the server stops, or the table is another one now.
    fn is_over(&self) -> bool {
        if *self.stopping.borrow() {
            return true;
        }
        let Ok(engine) = self.node.engine() else {
            return true;
        };
        let now = engine.snapshot().definition(&self.webhook.table);
        now.ok().and_then(|now| Webhook::of(&now)).as_ref() != Some(&self.webhook)
    }
}

impl Drop for Worker {
    /// Also after a panic: what was taken goes back.
    fn drop(&mut self) {
        self.node.close_session(self.session);
    }
}
