//! The task of one table: takes a hit, sends it until the target accepts it or the attempts are used up, then ends it.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use engine::{Answer, Command, Control, Error, Memory, Reply, WaitSource, Webhook, Write};
use relation::request::{Delete, Insert, Item, Select};
use relation::value::Value;
use session::Session;
use session::counters::add;
use session::webhook_target::WebhookTarget;
use tokio::sync::Semaphore;
use tokio::time::sleep;
use ureq::Agent;

use super::message::Message;
use super::own_session;
use super::retry::pause_after;
use crate::limits::{
    WEBHOOK_LOOK_EVERY, WEBHOOK_REPLY_BYTES_MAX, WEBHOOK_SENDERS, WEBHOOK_TIMEOUT,
    WEBHOOK_WARN_EVERY,
};
use crate::server::Server;

/// Time of one wait for a hit, in microseconds; then the worker waits again.
const WAIT_US: u64 = 3_600_000_000;

/// HTTP's "Gone": the target refuses the hit for good.
const GONE: u16 = 410;

/// Sender of the messages of all tables: an HTTP client, and two lanes of threads.
#[derive(Clone)]
pub(super) struct Sender {
    agent: Agent,
    lanes: Arc<Lanes>,
}

/// Two lanes with [`WEBHOOK_SENDERS`] threads each. A table whose last attempt failed uses the lane `failing`, any other `sound`.
///
/// Example: four targets begin to hang. For one time limit they block all threads of `sound`, and other tables wait. Then their
/// attempts fail, they move to `failing`, and `sound` is free for the tables whose targets answer.
struct Lanes {
    /// Threads for tables whose last attempt succeeded, or that have made none.
    sound: Arc<Semaphore>,
    /// Threads for tables whose last attempt failed.
    failing: Arc<Semaphore>,
}

impl Sender {
    pub(super) fn new(server: &Server) -> Sender {
        // Only the allowed host may be reached: follow no redirect and ask no proxy.
        let config = Agent::config_builder()
            .max_redirects(0)
            .http_status_as_error(false)
            .proxy(None)
            .timeout_global(Some(server.faults.webhook_timeout(WEBHOOK_TIMEOUT)))
            .user_agent(concat!("seine/", env!("CARGO_PKG_VERSION")))
            .build();
        let lane = || Arc::new(Semaphore::new(WEBHOOK_SENDERS));
        Sender {
            agent: config.into(),
            lanes: Arc::new(Lanes {
                sound: lane(),
                failing: lane(),
            }),
        }
    }

    /// Makes one attempt, on a thread of the table's lane. If the table's task ends, the thread still finishes its attempt.
    async fn send(&self, has_failed: bool, request: Request) -> Result<(), Refused> {
        let lane = match has_failed {
            true => &self.lanes.failing,
            false => &self.lanes.sound,
        };
        let thread = Arc::clone(lane).acquire_owned().await;
        let agent = self.agent.clone();
        let sending = tokio::task::spawn_blocking(move || {
            let _thread = thread;
            request.post(&agent)
        });
        sending.await.unwrap_or_else(|_| {
            Err(Refused {
                why: "a fault of the server while sending".to_owned(),
                is_final: false,
            })
        })
    }
}

pub(super) struct Worker {
    server: Arc<Server>,
    webhook: Webhook,
    session: Session,
    sender: Sender,
    /// Whether the last attempt failed.
    has_failed: bool,
}

/// A row of the webhook's queue.
struct Hit {
    columns: Vec<String>,
    row: Vec<Value>,
    message: Arc<Message>,
}

/// One attempt: message, address and headers.
struct Request {
    url: String,
    message: Arc<Message>,
    seconds: i64,
    signature: Option<String>,
}

/// Why an attempt failed.
struct Refused {
    why: String,
    /// Whether the hit must not be sent again.
    is_final: bool,
}

impl Request {
    /// Sends the message. A status of 200 to 299 means that the target has accepted it.
    fn post(self, agent: &Agent) -> Result<(), Refused> {
        let mut request = agent
            .post(&self.url)
            .header("content-type", "application/json")
            .header("webhook-id", &self.message.id)
            .header("webhook-timestamp", self.seconds.to_string());
        if let Some(signature) = self.signature {
            request = request.header("webhook-signature", signature);
        }
        let mut response = request.send(&self.message.body).map_err(|error| Refused {
            why: error.to_string(),
            is_final: false,
        })?;
        // Read the body so that the connection can be used again. Its content, and an error in it, do not matter.
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
}

impl Worker {
    pub(super) fn new(server: Arc<Server>, webhook: Webhook, sender: Sender) -> Worker {
        Worker {
            session: own_session(&server),
            server,
            webhook,
            sender,
            has_failed: false,
        }
    }

    /// Sends hits until the task is aborted: the server stops, or the table is gone or has another address.
    pub(super) async fn run(mut self) {
        let target = match WebhookTarget::parse(&self.webhook.url) {
            Ok(target) => target,
            Err(why) => {
                let table = &self.webhook.table;
                tracing::error!(table, why, "hits cannot be sent");
                return pending().await;
            }
        };
        loop {
            self.wait_until_allowed(&target).await;
            if let Err(error) = self.turn(&target).await {
                // The taken hit is not ended: closing the session returns it, and it is sent again.
                let table = &self.webhook.table;
                tracing::warn!(table, %error, "a hit waits in the webhook's queue");
                self.server.close_session(&self.session);
                sleep(WEBHOOK_LOOK_EVERY).await;
            }
        }
    }

    /// Waits for a hit and delivers it.
    async fn turn(&mut self, target: &WebhookTarget) -> Result<(), Error> {
        let wait = Command::QueueWait {
            sources: vec![WaitSource::all(self.webhook.queue.clone())],
            timeout_us: WAIT_US,
        };
        if !matches!(self.ask(wait).await?, Reply::Waited(1)) {
            return Ok(());
        }
        if let Some(hit) = self.owned().await? {
            self.deliver(target, hit).await?;
        }
        self.ask(Command::QueueEnd).await.map(drop)
    }

    /// The row that the session owns.
    async fn owned(&self) -> Result<Option<Hit>, Error> {
        let select = Select {
            limit: Some(1),
            ..Select::new(&self.webhook.queue, vec![Item::Star])
        };
        let reply = self
            .ask(Command::Read {
                select: Box::new(select),
            })
            .await?;
        let control = Control {
            memory: Arc::new(Memory::new(u64::MAX)),
            ..Control::default()
        };
        let Answer { columns, rows, .. } =
            self.server.rows_of(&self.session, reply, &control).await?;
        let Some(row) = rows.into_iter().next().transpose()? else {
            return Ok(None);
        };
        let message = Message::of(&self.webhook.table, &columns, &row);
        let columns = columns.into_iter().map(|(name, _)| name).collect();
        Ok(Some(Hit {
            columns,
            row,
            message: Arc::new(message),
        }))
    }

    /// Sends a hit until the target accepts it or the hit goes to the dead.
    async fn deliver(&mut self, target: &WebhookTarget, hit: Hit) -> Result<(), Error> {
        let mut attempt = 0;
        loop {
            attempt += 1;
            self.wait_until_allowed(target).await;
            let request = self.request(target, &hit.message);
            let sent = self.sender.send(self.has_failed, request).await;
            self.has_failed = sent.is_err();
            let Err(refused) = sent else {
                add(&self.server.counters.webhooks_delivered, 1);
                return Ok(());
            };
            add(&self.server.counters.webhooks_failed, 1);
            let table = &self.webhook.table;
            let pause = pause_after(attempt).filter(|_| !refused.is_final);
            let Some(pause) = pause else {
                let (id, why) = (&hit.message.id, &refused.why);
                tracing::warn!(
                    table,
                    id,
                    why,
                    "a hit is given up; it is in the table of the dead"
                );
                return self.bury(hit, refused.why).await;
            };
            tracing::info!(table, attempt, why = refused.why, "a hit was not taken");
            sleep(self.server.faults.webhook_pause(pause)).await;
        }
    }

    fn request(&self, target: &WebhookTarget, message: &Arc<Message>) -> Request {
        let seconds = self.server.clock.unix_us().div_euclid(1_000_000);
        let secret = &self.server.settings().live.webhook_secret;
        Request {
            url: target.url.clone(),
            message: Arc::clone(message),
            seconds,
            signature: secret.sign(&message.id, seconds, &message.body),
        }
    }

    /// Moves a hit to the queue of the dead, as one unit.
    async fn bury(&self, hit: Hit, why: String) -> Result<(), Error> {
        let Hit {
            mut columns,
            mut row,
            ..
        } = hit;
        columns.push("error".to_owned());
        row.push(Value::Str(why));
        let insert = Write::Insert(Insert {
            table: self.webhook.dead.clone(),
            columns: Some(columns),
            rows: vec![row],
            replace: false,
        });
        // In owner mode the session sees only the row that it owns, so a DELETE without a condition deletes only that.
        let delete = Write::Delete(Box::new(Delete::new(self.webhook.queue.clone(), None)));
        self.ask(Command::Many(vec![insert, delete])).await?;
        add(&self.server.counters.webhooks_dead, 1);
        Ok(())
    }

    async fn ask(&self, command: Command) -> Result<Reply, Error> {
        let replied = self.server.submit_raw(&self.session, command).await;
        replied.unwrap_or(Err(Error::Stopped))
    }

    /// Waits until `webhook.allow` names the host. Warns in the log once in [`WEBHOOK_WARN_EVERY`].
    async fn wait_until_allowed(&self, target: &WebhookTarget) {
        let mut warned: Option<Duration> = None;
        while !self.server.settings().live.webhook_allow.holds(target) {
            if warned.is_none_or(|since| since >= WEBHOOK_WARN_EVERY) {
                let table = &self.webhook.table;
                tracing::warn!(table, host = %target, "webhook.allow does not name this host: hits wait");
                warned = Some(Duration::ZERO);
            }
            sleep(WEBHOOK_LOOK_EVERY).await;
            warned = warned.map(|since| since + WEBHOOK_LOOK_EVERY);
        }
    }
}

impl Drop for Worker {
    /// Returns the taken hit, also when the task is aborted or panics.
    fn drop(&mut self) {
        self.server.close_session(&self.session);
    }
}
