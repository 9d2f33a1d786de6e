//! A connection of a replay.

use std::thread;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::ArgMatches;
use client::{Client, ClientError, QueryResult};
use serde_json::Value;
use study::log::replay::Call;
use study::results::{Reply, ReplySet, Rows, digest_of_text};
use ureq::Agent;

use super::reader::Job;
use super::signals;
use super::tallied::{Measured, Shared};

/// How long a server that went away is looked for.
const AWAY_MAX: Duration = Duration::from_secs(10);

/// Time between two attempts.
const ATTEMPT_EVERY: Duration = Duration::from_millis(100);

/// Bytes of an HTTP reply.
const BODY_BYTES_MAX: u64 = 256 << 20;

/// The server that gets the queries.
pub(super) struct Target {
    pub(super) addr: String,
    user: String,
    password: String,
    pub(super) http: Option<String>,
}

impl Target {
    pub(super) fn of_matches(matches: &ArgMatches) -> Target {
        let text = |name: &str| matches.get_one::<String>(name).cloned();
        Target {
            addr: text("addr").unwrap_or_default(),
            user: text("user").unwrap_or_default(),
            password: std::env::var("SEINE_PASSWORD").unwrap_or_default(),
            http: text("http"),
        }
    }

    pub(super) fn connect(&self) -> client::Result<Client> {
        Client::connect(&self.addr, &self.user, &self.password)
    }
}

/// A connection, made at its first request and anew when it broke.
pub(super) struct Sender<'t> {
    target: &'t Target,
    asks_found: bool,
    client: Option<Client>,
    agent: Option<Agent>,
}

impl<'t> Sender<'t> {
    /// `asks_found`: the number of rows found is asked for after each statement.
    pub(super) fn new(target: &'t Target, asks_found: bool) -> Sender<'t> {
        Sender {
            target,
            asks_found,
            client: None,
            agent: None,
        }
    }

    /// Sends a job and counts its answer. A server that cannot be reached ends the run.
    pub(super) fn send(&mut self, job: &Job, due: Option<Instant>, shared: &Shared<'_>) {
        let (query, sent) = match &job.call {
            Call::Statement(text) => {
                let text = String::from_utf8_lossy(text);
                if self.client.is_none() && !self.reconnect(shared) {
                    return;
                }
                let began = Instant::now();
                let sent = self.statement(&text, began);
                (text, (began, sent))
            }
            Call::Body { path, body } => {
                let began = Instant::now();
                (
                    String::from_utf8_lossy(body),
                    (began, self.body(path, body, began)),
                )
            }
        };
        let (began, (reply, is_lost, took)) = sent;
        let late = due.map_or(Duration::ZERO, |due| began.saturating_duration_since(due));
        let measured = Measured {
            reply,
            is_lost,
            took,
            late,
        };
        shared.add(job, &query, measured);
    }

    /// Whether there is a connection. A server that restarts is waited for.
    fn reconnect(&mut self, shared: &Shared<'_>) -> bool {
        let end = Instant::now() + AWAY_MAX;
        loop {
            match self.target.connect() {
                Ok(client) => {
                    self.client = Some(client);
                    return true;
                }
                Err(error) if Instant::now() >= end => {
                    shared.end(format!("{}: {error}", self.target.addr));
                }
                Err(_) => {}
            }
            if shared.is_ended() || signals::is_asked() {
                return false;
            }
            thread::sleep(ATTEMPT_EVERY);
        }
    }

    /// Reply, whether the connection broke, and the time of the answer.
    fn statement(&mut self, text: &str, began: Instant) -> (Reply, bool, Duration) {
        let Some(client) = &mut self.client else {
            return (lost("no connection"), true, Duration::ZERO);
        };
        let answered = client.query_sets(text);
        let took = began.elapsed();
        let sets = match answered {
            Ok(sets) => sets,
            Err(ClientError::Server(error)) => {
                let (code, message) = (error.code, error.message);
                return (Reply::Failed { code, message }, false, took);
            }
            Err(error) => {
                self.client = None;
                return (lost(error), true, took);
            }
        };
        let sets: Vec<ReplySet> = sets.into_iter().map(reply_set).collect();
        let mut found = None;
        if self.asks_found {
            match client.query("SHOW META LIKE 'total_found'") {
                Ok(meta) => found = number_of(&meta),
                // CALL PQ has no such number everywhere.
                Err(ClientError::Server(_)) => {}
                Err(_) => self.client = None,
            }
        }
        (Reply::Rows(Rows::of_sets(&sets, found)), false, took)
    }

    fn body(&mut self, path: &str, body: &[u8], began: Instant) -> (Reply, bool, Duration) {
        let address = self.target.http.as_deref().unwrap_or_default();
        let agent = self.agent.get_or_insert_with(|| {
            let config = Agent::config_builder().http_status_as_error(false);
            config.build().into()
        });
        let mut request = agent
            .post(format!("http://{address}{path}"))
            .header("content-type", "application/json");
        if !self.target.password.is_empty() {
            let login = format!("{}:{}", self.target.user, self.target.password);
            let login = format!("Basic {}", STANDARD.encode(login));
            request = request.header("authorization", login);
        }
        let answered = request.send(body).and_then(|mut response| {
            let limited = response.body_mut().with_config().limit(BODY_BYTES_MAX);
            let text = limited.read_to_vec()?;
            Ok((response.status().as_u16(), text))
        });
        let took = began.elapsed();
        match answered {
            Ok((200, text)) => (rows_of_json(&text), false, took),
            Ok((code, text)) => {
                let message = String::from_utf8_lossy(&text).trim().to_owned();
                (Reply::Failed { code, message }, false, took)
            }
            Err(error) => (lost(error), true, took),
        }
    }
}

fn lost(error: impl std::fmt::Display) -> Reply {
    Reply::Failed {
        code: 0,
        message: error.to_string(),
    }
}

fn reply_set(result: QueryResult) -> ReplySet {
    ReplySet {
        columns: result
            .columns
            .into_iter()
            .map(|column| column.name)
            .collect(),
        rows: result.rows,
    }
}

fn number_of(meta: &QueryResult) -> Option<u64> {
    let cell = meta.rows.first()?.get(1)?.as_deref()?;
    std::str::from_utf8(cell).ok()?.parse().ok()
}

/// The rows of a search over HTTP. The time that it took is no part of the reply.
fn rows_of_json(text: &[u8]) -> Reply {
    let Ok(mut reply) = serde_json::from_slice::<Value>(text) else {
        return lost("the reply is no JSON");
    };
    if let Some(members) = reply.as_object_mut() {
        members.remove("took");
    }
    let hits = reply.pointer("/hits/hits").and_then(Value::as_array);
    let documents = hits.into_iter().flatten().filter_map(|hit| {
        let id = hit.get("_id")?;
        let id = id.as_i64().map(i128::from);
        let id = id.or_else(|| hit.get("_id")?.as_str()?.parse().ok())?;
        Some((id, hit.get("_score").and_then(Value::as_i64).unwrap_or(0)))
    });
    let documents = documents.collect();
    let count = hits.map_or(0, |hits| hits.len() as u64);
    let total = reply.pointer("/hits/total");
    let total = total.and_then(|total| total.as_u64().or_else(|| total.get("value")?.as_u64()));
    Reply::Rows(Rows {
        total_found: total.unwrap_or(count),
        count,
        documents,
        digest: Some(digest_of_text(reply.to_string().as_bytes())),
    })
}
